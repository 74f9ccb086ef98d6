// What the tests of images share: files in the folder for temporary files, headers, and a plain reader of whole images.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/nifti_header.h"

namespace voxridge_test {

using namespace voxridge;
using Bytes = std::vector<unsigned char>;

// A path in a folder of its own, which is taken away at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::vector<std::string> names() const;  // of the files in it, sorted

 private:
  std::string folder_;
};

void write_file(const std::string& path, const Bytes& bytes);
Bytes read_file(const std::string& path);
Bytes gzipped(const Bytes& bytes);

// A header of these dimensions, of an image without scaling.
NiftiHeader make_header(std::vector<int64_t> dim, NiftiType type = NiftiType::int16, int version = 1);

// The whole file: the header, then the numbers `value(k)` in its type, in either byte order.
Bytes make_image(const NiftiHeader& header, bool big_endian = false);
double stored_value(NiftiType type, int64_t k);  // what make_image() puts at place k

}  // namespace voxridge_test
