// Writes a NIfTI image as its values come, in the order of the file (x fastest, volumes last).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "byte_sink.h"
#include "control.h"
#include "nifti_header.h"

namespace voxridge {

class NiftiWriter {
 public:
  // `header`: dimensions, type, affine, units, description; the rest is set here. `level`: 1 to 9 for gzip, 0 for none.
  NiftiWriter(const std::string& path, NiftiHeader header, int level);

  // The next `n` values. Refuses those that the type cannot hold: NaN, fractions or numbers out of range for whole
  // numbers, numbers too large for float32. T: double, or int32_t, whose smallest value is R's NA.
  template <class T>
  void append(const T* values, int64_t n, const Control& control);

  // All values have come: the file takes its place.
  void commit();

 private:
  template <class T>
  [[noreturn]] void refuse(T value) const;

  NiftiHeader header_;
  std::string name_;
  ByteSink sink_;
  std::vector<unsigned char> chunk_;
  int64_t written_ = 0;
};

}  // namespace voxridge
