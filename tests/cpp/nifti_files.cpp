#include "nifti_files.h"

#include <dirent.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/bytes.h"

namespace voxridge_test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = testing::TempDir() + "/nifti-XXXXXX";
  folder_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  for (const std::string& name : names()) unlink(path(name).c_str());
  rmdir(folder_.c_str());
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> out;
  DIR* const folder = opendir(folder_.c_str());
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") out.push_back(name);
  }
  closedir(folder);
  std::sort(out.begin(), out.end());
  return out;
}

void write_file(const std::string& path, const Bytes& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  if (!bytes.empty()) {
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  }
  std::fclose(file);
}

Bytes read_file(const std::string& path) {
  Bytes out;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return out;
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file))
    out.push_back(static_cast<unsigned char>(byte));
  std::fclose(file);
  return out;
}

Bytes gzipped(const Bytes& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  Bytes out(deflateBound(&stream, bytes.size()) + 32);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

NiftiHeader make_header(std::vector<int64_t> dim, NiftiType type, int version) {
  NiftiHeader header;
  header.version = version;
  header.n_dims = static_cast<int>(dim.size());
  std::copy(dim.begin(), dim.end(), header.dim.begin());
  header.type = type;
  header.offset = version == 1 ? 352 : 544;
  header.pixdim = {1, 2, 3, 4, 1.5, 1, 1, 1};
  set_affine(header, {2, 0, 0, -10, 0, 3, 0, -20, 0, 0, 4, -30}, 1);
  return header;
}

double stored_value(NiftiType type, int64_t k) {
  const int64_t mixed = (k * 2654435761LL + 12345) % 1000003;
  switch (type) {
    case NiftiType::uint8:
      return static_cast<double>(mixed % 256);
    case NiftiType::int8:
      return static_cast<double>(mixed % 256 - 128);
    case NiftiType::int16:
      return static_cast<double>(mixed % 65536 - 32768);
    case NiftiType::uint16:
      return static_cast<double>(mixed % 65536);
    case NiftiType::float32:
    case NiftiType::float64:
      return static_cast<double>(mixed - 500000) / 1024;
    case NiftiType::uint32:
    case NiftiType::uint64:
      return static_cast<double>(mixed * 4000);
    default:
      return static_cast<double>((mixed - 500000) * 4000);
  }
}

namespace {

template <class T>
void put(Bytes& out, double value, bool big_endian) {
  unsigned char bytes[sizeof(T)];
  store<T>(bytes, static_cast<T>(value));
  if (big_endian) std::reverse(bytes, bytes + sizeof(T));
  out.insert(out.end(), bytes, bytes + sizeof(T));
}

void put_value(Bytes& out, NiftiType type, double value, bool big) {
  switch (type) {
    case NiftiType::uint8:
      return put<uint8_t>(out, value, big);
    case NiftiType::int8:
      return put<int8_t>(out, value, big);
    case NiftiType::int16:
      return put<int16_t>(out, value, big);
    case NiftiType::uint16:
      return put<uint16_t>(out, value, big);
    case NiftiType::int32:
      return put<int32_t>(out, value, big);
    case NiftiType::uint32:
      return put<uint32_t>(out, value, big);
    case NiftiType::int64:
      return put<int64_t>(out, value, big);
    case NiftiType::uint64:
      return put<uint64_t>(out, value, big);
    case NiftiType::float32:
      return put<float>(out, value, big);
    case NiftiType::float64:
      return put<double>(out, value, big);
  }
}

// Reverses the bytes of every field that the reader looks at: (offset, width, count).
void swap_header(Bytes& header, int version) {
  struct Run {
    int at, width, count;
  };
  const std::vector<Run> runs = version == 1
                                    ? std::vector<Run>{{0, 4, 1},   {40, 2, 8},  {68, 2, 1},  {70, 2, 2},  {76, 4, 8},
                                                       {108, 4, 3}, {252, 2, 2}, {256, 4, 6}, {280, 4, 12}}
                                    : std::vector<Run>{{0, 4, 1},   {12, 2, 2},  {16, 8, 8},   {104, 8, 8}, {168, 8, 3},
                                                       {344, 4, 2}, {352, 8, 6}, {400, 8, 12}, {500, 4, 2}};
  for (const Run& run : runs) {
    for (int k = 0; k < run.count; ++k) {
      const auto first = header.begin() + run.at + k * run.width;
      std::reverse(first, first + run.width);
    }
  }
}

}  // namespace

Bytes make_image(const NiftiHeader& header, bool big_endian) {
  Bytes out = format_nifti(header);
  if (big_endian) swap_header(out, header.version);
  const int64_t n = header.voxels() * header.volumes();
  for (int64_t k = 0; k < n; ++k) put_value(out, header.type, stored_value(header.type, k), big_endian);
  return out;
}

}  // namespace voxridge_test
