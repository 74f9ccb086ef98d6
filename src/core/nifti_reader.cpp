#include "nifti_reader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "bytes.h"
#include "error.h"
#include "nifti_decode.h"

namespace voxridge {

namespace {

constexpr int64_t kChunk = 256 * 1024;
constexpr int64_t kRowBytes = 6 * 1024 * 1024;  // of rows that wait to be written across the columns of a matrix
constexpr int64_t kMostRows = 8;
constexpr int64_t kMostExtensions = 1000;

bool ends_with(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// The files that may be the partner of `path` in a pair, most likely one first; none where it ends otherwise.
std::vector<std::string> partners(const std::string& path, const std::string& from, const std::string& to) {
  for (const std::string& packed : {std::string(".gz"), std::string()}) {
    if (!ends_with(path, from + packed)) continue;
    const std::string stem = path.substr(0, path.size() - from.size() - packed.size()) + to;
    return {stem + packed, stem + (packed.empty() ? ".gz" : "")};
  }
  return {};
}

std::string partner_of(const std::string& path, const std::string& from, const std::string& to) {
  const std::vector<std::string> names = partners(path, from, to);
  for (const std::string& name : names) {
    if (file_exists(name)) return name;
  }
  const std::string wanted = names.empty() ? "of a name that ends in " + to : file_name(names[0]);
  throw Error(ErrorCode::file, file_name(path) + " is one file of a pair, and the other (" + wanted + ") is missing",
              "pair");
}

}  // namespace

std::vector<std::string> nifti_files(const std::string& path) {
  std::vector<std::string> out{path};
  for (const auto& [from, to] : {std::pair(".img", ".hdr"), std::pair(".hdr", ".img")}) {
    for (const std::string& name : partners(path, from, to)) {
      if (out.size() == 1 && file_exists(name)) out.push_back(name);
    }
  }
  return out;
}

NiftiReader::NiftiReader(const std::string& path) {
  const bool is_image = !partners(path, ".img", ".hdr").empty();
  const std::string header_path = is_image ? partner_of(path, ".img", ".hdr") : path;
  name_ = file_name(header_path);
  auto source = std::make_unique<ByteSource>(header_path);
  std::vector<unsigned char> bytes(kNifti2Size);
  int64_t got = source->read(bytes.data(), kNifti1Size);
  const int64_t size = nifti_header_size(bytes.data(), got);
  if (size == 0)
    throw Error(ErrorCode::file, name_ + " is not NIfTI: it begins with no header of 348 or 540 bytes", "sizeof_hdr");
  if (got == kNifti1Size) got += source->read(bytes.data() + got, size - got);
  if (got < size) throw Error(ErrorCode::file, name_ + " is cut off within its header", "size", std::to_string(got));
  header_ = parse_nifti(bytes.data(), name_);
  read_extensions(*source, header_.pair ? INT64_MAX : header_.offset);
  if (header_.pair) {
    open_data(is_image ? path : partner_of(path, ".hdr", ".img"));
  } else {
    source_ = std::move(source);
  }
  check_length();
}

void NiftiReader::open_data(const std::string& path) {
  name_ = file_name(path);
  source_ = std::make_unique<ByteSource>(path);
}

// Lists what follows the header: a flag of 4 bytes, then blocks of (size, code, content), sizes being multiples of 16.
// What is not well formed ends the list.
void NiftiReader::read_extensions(ByteSource& source, int64_t end) {
  unsigned char bytes[8];
  if (source.read(bytes, 4) < 4 || bytes[0] == 0) return;
  const Control control;
  for (int64_t k = 0; k < kMostExtensions && end - source.position() >= 16; ++k) {
    if (source.read(bytes, 8) < 8) return;
    const int64_t size = load<int32_t>(bytes, header_.big_endian), code = load<int32_t>(bytes + 4, header_.big_endian);
    if (size < 16 || size % 16 != 0 || size - 8 > end - source.position()) return;
    if (!source.skip_to(source.position() + size - 8, control)) return;
    header_.extensions.push_back({code, size});
  }
}

void NiftiReader::check_length() const {
  const int64_t end = header_.offset + header_.volume_bytes() * header_.volumes();
  if (!source_->compressed() && source_->size() < end) fail_short(source_->size());
}

void NiftiReader::fail_short(int64_t end) const {
  const int64_t missing = header_.offset + header_.volume_bytes() * header_.volumes() - end;
  throw Error(ErrorCode::file, name_ + " ends " + std::to_string(missing) + " bytes before its last voxel", "size",
              std::to_string(end));
}

void NiftiReader::check_wanted(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index) const {
  const auto outside = [](int64_t value, int64_t size) { return value < 0 || value >= size; };
  for (const int64_t volume : volumes) {
    if (outside(volume, header_.volumes())) {
      throw Error(ErrorCode::file,
                  name_ + " has " + std::to_string(header_.volumes()) + " volumes, not " + std::to_string(volume + 1),
                  "dim[4]", std::to_string(header_.volumes()));
    }
  }
  if (index.empty()) return;
  if (outside(index.front(), header_.voxels()) || outside(index.back(), header_.voxels()) ||
      std::adjacent_find(index.begin(), index.end(), [](int64_t a, int64_t b) { return a >= b; }) != index.end()) {
    throw Error(ErrorCode::file, name_ + " has other dimensions than the mask", "dim");
  }
}

void NiftiReader::fill(unsigned char* to, int64_t bytes) {
  const int64_t got = source_->read(to, bytes);
  if (got < bytes) fail_short(source_->position());
}

template <class T>
void NiftiReader::read_volume(int64_t volume, const std::vector<int64_t>& index, T* row, const Control& control) {
  const int64_t size = bytes_of(header_.type), start = header_.offset + volume * header_.volume_bytes();
  const int64_t begin = index.empty() ? 0 : index.front(), end = index.empty() ? header_.voxels() : index.back() + 1;
  const int64_t most = kChunk / size;
  if (!source_->skip_to(start + begin * size, control)) fail_short(source_->position());
  size_t k = 0;
  for (int64_t first = begin; first < end; first += most) {
    control.check_stop();
    const int64_t last = std::min(end, first + most);
    fill(chunk_.data(), (last - first) * size);
    int64_t n = last - first;
    const int64_t* places = nullptr;
    if (!index.empty()) {
      places = index.data() + k;
      n = std::lower_bound(index.begin() + static_cast<int64_t>(k), index.end(), last) - index.begin() -
          static_cast<int64_t>(k);
    }
    if (!decode(header_, chunk_.data(), places, first, n, row + k)) {
      throw Error(ErrorCode::file, name_ + " has whole numbers beyond 2^53, which a double cannot hold", "datatype",
                  name_of(header_.type));
    }
    k += static_cast<size_t>(n);
  }
}

namespace {

// Places of the volumes in the order of the file; equal ones keep their order.
std::vector<int64_t> file_order(const std::vector<int64_t>& volumes) {
  std::vector<int64_t> order(volumes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return volumes[a] < volumes[b]; });
  return order;
}

}  // namespace

// Each volume goes to the row that `row_of` gives for its place; a repeated one is copied from the row before it.
template <class T, class RowOf>
void NiftiReader::read_rows(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index,
                            const RowOf& row_of, const Control& control) {
  check_wanted(volumes, index);
  const int64_t n = index.empty() ? header_.voxels() : static_cast<int64_t>(index.size());
  chunk_.resize(kChunk);
  const T* previous = nullptr;
  int64_t last = -1;
  for (const int64_t place : file_order(volumes)) {
    T* const row = row_of(place);
    if (volumes[place] != last) {
      read_volume(volumes[place], index, row, control);
    } else if (row != previous) {
      std::copy_n(previous, n, row);
    }
    previous = row;
    last = volumes[place];
    control.advance(1);
  }
}

template <class T>
void NiftiReader::read_blocks(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index, T* rows,
                              int64_t most, const std::function<void(const std::vector<int64_t>& places)>& use,
                              const Control& control) {
  if (volumes.empty()) return;
  const int64_t n = index.empty() ? header_.voxels() : static_cast<int64_t>(index.size());
  std::vector<int64_t> places;
  const auto row_of = [&](int64_t place) {
    if (static_cast<int64_t>(places.size()) == most) {
      use(places);
      places.clear();
    }
    places.push_back(place);
    return rows + (static_cast<int64_t>(places.size()) - 1) * n;
  };
  read_rows<T>(volumes, index, row_of, control);
  use(places);
  finish(volumes, control);
}

template <class T>
void NiftiReader::read(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index, T* out,
                       int64_t volume_step, int64_t voxel_step, const Control& control) {
  if (volumes.empty()) return;
  if (voxel_step == 1) {
    read_rows<T>(volumes, index, [&](int64_t place) { return out + place * volume_step; }, control);
    finish(volumes, control);
    return;
  }
  // Where voxels are no neighbours, a few volumes at a time go across the columns.
  const int64_t n = index.empty() ? header_.voxels() : static_cast<int64_t>(index.size());
  const int64_t n_rows = std::clamp<int64_t>(kRowBytes / (n * static_cast<int64_t>(sizeof(T))), 1, kMostRows);
  std::vector<T> rows(static_cast<size_t>(n_rows * n));
  const auto write_rows = [&](const std::vector<int64_t>& places) {
    for (int64_t k = 0; k < n; ++k) {
      for (size_t r = 0; r < places.size(); ++r) out[places[r] * volume_step + k * voxel_step] = rows[r * n + k];
    }
  };
  read_blocks<T>(volumes, index, rows.data(), n_rows, write_rows, control);
}

// The rest of a gzip stream, so that its checksum is compared, where the last volume was wanted.
void NiftiReader::finish(const std::vector<int64_t>& volumes, const Control& control) {
  if (*std::max_element(volumes.begin(), volumes.end()) == header_.volumes() - 1) source_->finish(control);
}

template void NiftiReader::read_blocks(const std::vector<int64_t>&, const std::vector<int64_t>&, double*, int64_t,
                                       const std::function<void(const std::vector<int64_t>&)>&, const Control&);
template void NiftiReader::read(const std::vector<int64_t>&, const std::vector<int64_t>&, float*, int64_t, int64_t,
                                const Control&);
template void NiftiReader::read(const std::vector<int64_t>&, const std::vector<int64_t>&, double*, int64_t, int64_t,
                                const Control&);
template void NiftiReader::read(const std::vector<int64_t>&, const std::vector<int64_t>&, int32_t*, int64_t, int64_t,
                                const Control&);

}  // namespace voxridge
