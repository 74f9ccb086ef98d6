// The header of a NIfTI-1 or NIfTI-2 image and what it says: shape, data type, scale, and where voxels lie.
// Source: the header files nifti1.h and nifti2.h of the NIfTI data format working group.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace voxridge {

// Stored numbers that are read and written; the values are the format's codes.
enum class NiftiType : int {
  uint8 = 2,
  int16 = 4,
  int32 = 8,
  float32 = 16,
  float64 = 64,
  int8 = 256,
  uint16 = 512,
  uint32 = 768,
  int64 = 1024,
  uint64 = 1280
};
int bytes_of(NiftiType type);
const char* name_of(NiftiType type);
NiftiType nifti_type(const std::string& name);  // "int16", ...

struct NiftiExtension {
  int64_t code = 0, size = 0;
};

struct NiftiHeader {
  int version = 1;
  bool big_endian = false;
  bool pair = false;  // the data lie in a file of their own
  int n_dims = 4;     // of the file, at most 4: further dimensions are 1
  std::array<int64_t, 4> dim{1, 1, 1, 1};
  std::array<double, 8> pixdim{};
  NiftiType type = NiftiType::float32;
  double slope = 0, intercept = 0;  // as they stand in the file; see scaled()
  int64_t offset = 0;               // of the first voxel in the file that holds the data
  int qform_code = 0, sform_code = 0;
  std::array<double, 6> quaternion{};  // b, c, d, and the offsets x, y, z
  std::array<double, 12> srow{};
  int units = 0;
  int intent_code = 0;
  std::string description;
  std::vector<NiftiExtension> extensions;

  int64_t voxels() const { return dim[0] * dim[1] * dim[2]; }
  int64_t volumes() const { return dim[3]; }
  int64_t volume_bytes() const { return voxels() * bytes_of(type); }

  // Values are slope * stored + intercept; else as stored, also for a slope that is 0, NaN or infinite.
  bool scaled() const { return slope != 0 && std::isfinite(slope) && !(slope == 1 && intercept == 0); }
};

constexpr int64_t kNifti1Size = 348, kNifti2Size = 540;

// Of the first bytes of a file: 348 or 540 where they begin a header, in either byte order; else 0.
int64_t nifti_header_size(const unsigned char* bytes, int64_t n);

// `bytes`: as many as nifti_header_size() said. Refuses what is not a real-valued image of 1 to 4 dimensions.
NiftiHeader parse_nifti(const unsigned char* bytes, const std::string& name);

// The bytes of a header, little endian; nothing is checked.
std::vector<unsigned char> format_nifti(const NiftiHeader& header);

// ---- where voxels lie ------------------------------------------------------------------------

// Voxel (i, j, k), from 0, lies at matrix * (i, j, k, 1) in mm: 3 x 4, row by row.
using Affine = std::array<double, 12>;

struct NiftiAffine {
  Affine matrix{};
  std::string source;       // "sform", "qform" or "pixdim"
  double disagreement = 0;  // largest distance in mm, over the corners of the image, between sform and qform
  bool repaired = false;    // a voxel size was 0, negative or not finite: 1, or its absolute value, stands in
};

// sform before qform before voxel sizes alone; a matrix that is singular or not finite is passed over.
NiftiAffine affine_of(const NiftiHeader& header);

// Sets voxel sizes and sform; qform too where the matrix is a rotation times voxel sizes within 1e-4, else its code is
// 0.
void set_affine(NiftiHeader& header, const Affine& matrix, int code);

// Largest distance over the corners of a grid.
double corner_distance(const Affine& a, const Affine& b, const std::array<int64_t, 4>& dim);

}  // namespace voxridge
