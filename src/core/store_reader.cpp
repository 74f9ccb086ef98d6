#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "byte_source.h"
#include "error.h"
#include "store.h"
#include "threads.h"

namespace voxridge {

// Reads at a place, from any thread.
class StoreReader::File {
 public:
  explicit File(const std::string& path) : name_(file_name(path)) {
#ifdef _WIN32
    file_ = std::fopen(path.c_str(), "rb");
    if (file_ == nullptr) fail();
    if (_fseeki64(file_, 0, SEEK_END) != 0) fail();
    size_ = _ftelli64(file_);
#else
    id_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // not waiting for who writes into a pipe
    struct stat status;
    if (id_ < 0 || fstat(id_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::file, name_ + " is no regular file", "path");
    size_ = status.st_size;
#endif
  }
  ~File() {
#ifdef _WIN32
    if (file_ != nullptr) std::fclose(file_);
#else
    if (id_ >= 0) close(id_);
#endif
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int64_t size() const {
    return size_;
  }
  const std::string& name() const {
    return name_;
  }

  void read(int64_t position, int64_t bytes, unsigned char* to) const {
    while (bytes > 0) {
      const int64_t got = read_some(position, std::min<int64_t>(bytes, 1 << 30), to);
      if (got == 0) throw Error(ErrorCode::store_truncated, name_ + " has become shorter", "size");
      position += got;
      bytes -= got;
      to += got;
    }
  }

  // Will be read soon: the system may fetch it meanwhile.
  void announce(int64_t position, int64_t bytes) const {
#ifdef POSIX_FADV_WILLNEED
    if (bytes > 0) posix_fadvise(id_, position, bytes, POSIX_FADV_WILLNEED);
#else
    (void)position, (void)bytes;
#endif
  }

 private:
  int64_t read_some(int64_t position, int64_t bytes, unsigned char* to) const {
#ifdef _WIN32
    const std::lock_guard<std::mutex> hold(lock_);
    if (_fseeki64(file_, position, SEEK_SET) != 0) fail();
    const size_t got = std::fread(to, 1, static_cast<size_t>(bytes), file_);
    if (got == 0 && std::ferror(file_) != 0) fail();
    return static_cast<int64_t>(got);
#else
    ssize_t got = 0;
    do {
      got = pread(id_, to, static_cast<size_t>(bytes), static_cast<off_t>(position));
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail();
    return got;
#endif
  }

  [[noreturn]] void fail() const {
    throw Error(ErrorCode::file, name_ + " cannot be read: " + std::strerror(errno), "path");
  }

  std::string name_;
  int64_t size_ = 0;
#ifdef _WIN32
  std::FILE* file_ = nullptr;
  mutable std::mutex lock_;
#else
  int id_ = -1;
#endif
};

uint32_t checksum_of(const void* bytes, int64_t size) {
  return static_cast<uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), static_cast<const Bytef*>(bytes), static_cast<size_t>(size)));
}

StoreReader::StoreReader(StoreLayout layout) : layout_(std::move(layout)) {
  for (const StoreSegment& segment : layout_.segments) {
    files_.push_back(std::make_unique<File>(segment.path));
    const int64_t values = segment.cols > 0 ? (segment.cols - 1) * layout_.ld + layout_.rows : 0;
    const int64_t want = layout_.offset + values * layout_.value_bytes(), have = files_.back()->size();
    if (have >= want) continue;
    throw Error(ErrorCode::store_truncated,
                files_.back()->name() + " is " + std::to_string(want - have) + " bytes too short for " +
                    std::to_string(layout_.rows) + " x " + std::to_string(segment.cols) + " values",
                "size", std::to_string(have));
  }
}

StoreReader::~StoreReader() = default;

// Values without gaps between columns.
void StoreReader::read_bytes(int64_t first, int64_t count, unsigned char* to) const {
  const int64_t size = layout_.value_bytes(), column = layout_.rows * size;
  for (size_t s = 0; s < files_.size(); ++s) {
    const StoreSegment& segment = layout_.segments[s];
    const int64_t from = std::max(first, segment.first), end = std::min(first + count, segment.first + segment.cols);
    if (from >= end) continue;
    const auto place = [&](int64_t j) { return layout_.offset + (j - segment.first) * layout_.ld * size; };
    unsigned char* const here = to + (from - first) * column;
    if (layout_.ld == layout_.rows) {
      files_[s]->read(place(from), (end - from) * column, here);
    } else {
      for (int64_t j = from; j < end; ++j) files_[s]->read(place(j), column, here + (j - from) * column);
    }
    const int64_t next = std::min(end + count, segment.first + segment.cols);
    files_[s]->announce(place(end), (next - end) * layout_.ld * size);
  }
}

// The checksums of the stripes that lie wholly in these columns.
void StoreReader::compare(int64_t first, int64_t count, const unsigned char* bytes) const {
  if (layout_.checksums.empty()) return;
  const int64_t column = layout_.rows * layout_.value_bytes();
  for (int64_t stripe = (first + kStripeCols - 1) / kStripeCols; stripe * kStripeCols < first + count; ++stripe) {
    const int64_t from = stripe * kStripeCols, end = std::min(from + kStripeCols, layout_.cols);
    if (end > first + count) break;
    compare_stripe(stripe, checksum_of(bytes + (from - first) * column, (end - from) * column));
  }
}

void StoreReader::compare_stripe(int64_t stripe, uint32_t found) const {
  if (layout_.checksums.empty() || found == layout_.checksums[stripe]) return;
  const int64_t from = stripe * kStripeCols, end = std::min(from + kStripeCols, layout_.cols);
  size_t s = 0;  // the segment where they begin
  while (s + 1 < files_.size() && layout_.segments[s + 1].first <= from) ++s;
  throw Error(ErrorCode::store_corrupt,
              "columns " + std::to_string(from + 1) + " to " + std::to_string(end) + " of the store (" +
                  files_[s]->name() + ") are not those that were written",
              "checksum");
}

void StoreReader::read_rows(int64_t col, int64_t row, int64_t count, unsigned char* to) const {
  const int64_t size = layout_.value_bytes();
  for (size_t s = 0; s < files_.size(); ++s) {
    const StoreSegment& segment = layout_.segments[s];
    if (col < segment.first || col >= segment.first + segment.cols) continue;
    const int64_t place = layout_.offset + ((col - segment.first) * layout_.ld + row) * size;
    files_[s]->read(place, count * size, to);
    files_[s]->announce(place + count * size, std::min(count, layout_.rows - row - count) * size);
  }
}

MatrixView<double> StoreReader::columns(int64_t first, int64_t count, SourceMemory& memory) const {
  const int64_t values = layout_.rows * count;
  memory.values.resize(values);
  unsigned char* bytes = reinterpret_cast<unsigned char*>(memory.values.data());
  if (layout_.single) {
    memory.bytes.resize(values * layout_.value_bytes());
    bytes = memory.bytes.data();
  }
  read_bytes(first, count, bytes);
  compare(first, count, bytes);
  if (layout_.single) {
    for (int64_t i = 0; i < values; ++i) {
      float value;
      std::memcpy(&value, bytes + i * 4, sizeof value);
      memory.values[i] = value;
    }
  }
  return {memory.values.data(), layout_.rows, count, layout_.rows};
}

namespace {

bool all_finite(const unsigned char* bytes, int64_t count, bool single) {
  for (int64_t i = 0; i < count; ++i) {
    double value = 0;
    if (single) {
      float narrow;
      std::memcpy(&narrow, bytes + i * 4, sizeof narrow);
      value = narrow;
    } else {
      std::memcpy(&value, bytes + i * 8, sizeof value);
    }
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

// A part of a column at a time: columns may be long.
StoreFacts scan_store(const StoreReader& store, const Control& control) {
  constexpr int64_t part = 1 << 20;
  const StoreLayout& layout = store.layout();
  const int64_t stripes = (layout.cols + kStripeCols - 1) / kStripeCols;
  StoreFacts out;
  out.checksums.resize(stripes);
  std::vector<char> flawed(layout.cols, 0);
  std::vector<std::vector<unsigned char>> memory(control.n_threads);
  control.expect(stripes);
  parallel_for(stripes, control.n_threads, [&](int64_t stripe, int worker) {
    std::vector<unsigned char>& bytes = memory[worker];
    bytes.resize(std::min(part, layout.rows) * layout.value_bytes());
    uLong checksum = crc32_z(0, nullptr, 0);
    for (int64_t j = stripe * kStripeCols; j < std::min((stripe + 1) * kStripeCols, layout.cols); ++j) {
      for (int64_t row = 0; row < layout.rows; row += part) {
        control.check_stop();
        const int64_t count = std::min(part, layout.rows - row);
        store.read_rows(j, row, count, bytes.data());
        checksum = crc32_z(checksum, bytes.data(), static_cast<size_t>(count * layout.value_bytes()));
        if (!all_finite(bytes.data(), count, layout.single)) flawed[j] = 1;
      }
    }
    out.checksums[stripe] = static_cast<uint32_t>(checksum);
    control.advance(1);
  });
  for (int64_t j = 0; j < layout.cols; ++j) {
    if (flawed[j]) out.nonfinite.push_back(j);
  }
  return out;
}

}  // namespace voxridge
