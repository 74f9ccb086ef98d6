#include "byte_sink.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#ifdef _WIN32
#include <io.h>
#include <process.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "byte_source.h"
#include "error.h"

namespace voxridge {

namespace {

constexpr int64_t kOutput = 256 * 1024;
constexpr int kGzip = 15 + 16;
constexpr int kMemory = 8;  // zlib's default
constexpr size_t kLongestName = 255;   // that file systems allow, in bytes
constexpr size_t kLongestShown = 200;  // of it, in the name of the part

// .<name>.<process>.<number>.part beside the target: hidden, and its own for every writer.
std::string part_of(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::string name = file_name(path);
  const std::string shown = name.size() <= kLongestShown ? name : "image";
  return path.substr(0, path.size() - name.size()) + "." + shown + "." + std::to_string(getpid()) + "." +
         std::to_string(static_cast<uint64_t>(now) + count++) + ".part";
}

std::FILE* open_new(const std::string& path) {
#ifdef _WIN32
  return std::fopen(path.c_str(), "wbx");
#else
  const int id = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return id < 0 ? nullptr : fdopen(id, "wb");
#endif
}

bool to_disk(std::FILE* file) {
#ifdef _WIN32
  return std::fflush(file) == 0 && _commit(_fileno(file)) == 0;
#else
  return std::fflush(file) == 0 && fsync(fileno(file)) == 0;
#endif
}

bool replace(const std::string& from, const std::string& to) {
#ifdef _WIN32
  return MoveFileExA(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
#else
  return std::rename(from.c_str(), to.c_str()) == 0;
#endif
}

}  // namespace

ByteSink::ByteSink(const std::string& path, int level)
    : path_(path), part_(part_of(path)), file_(open_new(part_), std::fclose) {
  if (!file_) {
    part_.clear();
    fail("opened");
  }
  if (file_name(path).size() > kLongestName) {  // known now, not after hours of writing
    file_.reset();
    std::remove(part_.c_str());
    errno = ENAMETOOLONG;
    fail("opened");
  }
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  if (level == 0) return;
  deflater_ = std::make_unique<z_stream_s>();
  output_.resize(kOutput);
  if (deflateInit2(deflater_.get(), level, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK) return;
  deflater_.reset();
  file_.reset();
  std::remove(part_.c_str());
  throw Error(ErrorCode::memory, "zlib has not enough memory");
}

ByteSink::~ByteSink() {
  if (deflater_) deflateEnd(deflater_.get());
  file_.reset();
  if (!part_.empty()) std::remove(part_.c_str());
}

void ByteSink::fail(const std::string& what) const {
  throw Error(ErrorCode::file, file_name(path_) + " cannot be " + what + ": " + std::strerror(errno), "path");
}

void ByteSink::write(const void* from, int64_t bytes) {
  deflater_ ? deflate_some(from, bytes, Z_NO_FLUSH) : write_plain(from, bytes);
}

void ByteSink::write_plain(const void* from, int64_t bytes) {
  if (std::fwrite(from, 1, static_cast<size_t>(bytes), file_.get()) != static_cast<size_t>(bytes)) fail("written");
}

void ByteSink::deflate_some(const void* from, int64_t bytes, int flush) {
  z_stream_s& stream = *deflater_;
  stream.next_in = static_cast<Bytef*>(const_cast<void*>(from));
  while (true) {
    const uInt piece = static_cast<uInt>(std::min<int64_t>(bytes, 1 << 30));
    stream.avail_in = piece;
    bytes -= piece;
    int status = Z_OK;
    do {
      stream.next_out = output_.data();
      stream.avail_out = static_cast<uInt>(kOutput);
      status = deflate(&stream, bytes == 0 ? flush : Z_NO_FLUSH);
      if (status == Z_STREAM_ERROR) throw Error(ErrorCode::internal, "zlib refused its stream");
      write_plain(output_.data(), kOutput - stream.avail_out);
    } while (stream.avail_out == 0 && status != Z_STREAM_END);
    if (bytes == 0) return;
  }
}

void ByteSink::commit() {
  if (deflater_) deflate_some("", 0, Z_FINISH);
  if (!to_disk(file_.get())) fail("written");
  std::FILE* const file = file_.release();
  if (std::fclose(file) != 0) fail("written");
  if (!replace(part_, path_)) fail("put in its place");
  part_.clear();
}

}  // namespace voxridge
