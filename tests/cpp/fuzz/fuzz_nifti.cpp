// Any bytes as an image: the reader refuses them with an Error of kind `file` or fills exactly what it was given.
//
// The last byte of the input says how the others come: bit 0: gzip them first, so that headers are reached through
// the inflater; bit 1: as the two files of a pair; bit 2: with a mask; bits 3 and 4: the type that is read. Without
// bits 0 and 1 the bytes are a file as they are.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/nifti_reader.h"

namespace {

using voxridge::NiftiReader;
constexpr int64_t kMostValues = 1 << 16;

void write_file(const std::string& path, const uint8_t* bytes, size_t n) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, bytes, n) != static_cast<ssize_t>(n)) std::abort();
  close(file);
}

std::vector<uint8_t> gzipped(const uint8_t* bytes, size_t n) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::vector<uint8_t> out(deflateBound(&stream, n) + 32);
  stream.next_in = const_cast<Bytef*>(bytes);
  stream.avail_in = static_cast<uInt>(n);
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

bool small_integers(const voxridge::NiftiHeader& header) {
  using voxridge::NiftiType;
  return !header.scaled() && (header.type == NiftiType::uint8 || header.type == NiftiType::int16 ||
                              header.type == NiftiType::int32 || header.type == NiftiType::int8);
}

template <class T>
void read_all(NiftiReader& reader, bool masked) {
  const voxridge::NiftiHeader& header = reader.header();
  std::vector<int64_t> volumes, index;
  for (int64_t v = header.volumes(); v > 0; --v) volumes.push_back(v - 1);
  if (masked) {
    for (int64_t k = header.voxels() / 3; k < header.voxels(); k += 2) index.push_back(k);
  }
  const int64_t n = index.empty() ? header.voxels() : static_cast<int64_t>(index.size());
  std::vector<T> out(volumes.size() * n);  // exact, so that the sanitizer sees a step beyond
  const bool rows = masked;
  reader.read(volumes, index, out.data(), rows ? 1 : n, rows ? static_cast<int64_t>(volumes.size()) : 1,
              voxridge::Control());
}

void read_image(const std::string& path, int how) {
  try {
    NiftiReader reader(path);
    const voxridge::NiftiHeader& header = reader.header();
    voxridge::affine_of(header);
    if (header.voxels() * header.volumes() > kMostValues) return;
    const bool masked = (how & 4) != 0;
    switch (how >> 3 & 3) {
      case 0:
        return read_all<float>(reader, masked);
      case 1:
        if (small_integers(header)) return read_all<int32_t>(reader, masked);
        [[fallthrough]];
      default:
        return read_all<double>(reader, masked);
    }
  } catch (const voxridge::Error& error) {
    if (error.code() != voxridge::ErrorCode::file || error.where().empty()) std::abort();
  }
}

std::string folder() {
  static const std::string path = [] {
    std::string pattern = std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir) + "/fuzz-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    return pattern;
  }();
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const int how = data[--size];
  if ((how & 2) != 0) {
    const size_t cut = size < 352 ? size : 352;
    write_file(folder() + "/x.hdr", data, cut);
    write_file(folder() + "/x.img", data + cut, size - cut);
    read_image(folder() + "/x.img", how);
  } else if ((how & 1) != 0) {
    const std::vector<uint8_t> packed = gzipped(data, size);
    write_file(folder() + "/x.nii.gz", packed.data(), packed.size());
    read_image(folder() + "/x.nii.gz", how);
  } else {
    write_file(folder() + "/x.nii", data, size);
    read_image(folder() + "/x.nii", how);
  }
  return 0;
}
