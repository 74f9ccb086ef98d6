// Reads NIfTI images volume by volume, all voxels or those of a mask, into memory of the caller. One reader is one file
// handle and buffers of constant size; there is no global state, so each thread may have its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "byte_source.h"
#include "control.h"
#include "nifti_header.h"

namespace voxridge {

// The files that belong to an image: `path` itself, and where its name is that of one file of a pair, the other one.
std::vector<std::string> nifti_files(const std::string& path);

class NiftiReader {
 public:
  // Reads the header only. `path`: .nii or either file of a pair, each plain or gzip.
  explicit NiftiReader(const std::string& path);

  const NiftiHeader& header() const { return header_; }
  const std::string& name() const { return name_; }  // of the file that holds the data

  // Value of voxel index[k] in volume volumes[v] -> out[v * volume_step + k * voxel_step]. Volumes and voxels count
  // from 0; volumes come in any order and may repeat, voxels increase; no index means all voxels. T: float, double, or
  // int32_t for unscaled integers that fit it. When the last volume is read, so is the rest of a gzip stream, whose
  // checksum is compared. A reader goes forward: another call may ask for later volumes only.
  template <class T>
  void read(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index, T* out, int64_t volume_step,
            int64_t voxel_step, const Control& control);

  // The same, `most` volumes at a time in the order of the file: row k of `rows` (voxels next to each other) is volume
  // volumes[places[k]] whenever `use` is called.
  template <class T>
  void read_blocks(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index, T* rows, int64_t most,
                   const std::function<void(const std::vector<int64_t>& places)>& use, const Control& control);

 private:
  void open_data(const std::string& path);
  void read_extensions(ByteSource& source, int64_t end);
  void check_wanted(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index) const;
  void check_length() const;
  template <class T, class RowOf>
  void read_rows(const std::vector<int64_t>& volumes, const std::vector<int64_t>& index, const RowOf& row_of,
                 const Control& control);
  void finish(const std::vector<int64_t>& volumes, const Control& control);
  template <class T>
  void read_volume(int64_t volume, const std::vector<int64_t>& index, T* row, const Control& control);
  void fill(unsigned char* to, int64_t bytes);
  [[noreturn]] void fail_short(int64_t end) const;

  NiftiHeader header_;
  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::vector<unsigned char> chunk_;
};

}  // namespace voxridge
