// Stored numbers to values.
#pragma once

#include <cstdint>

#include "nifti_header.h"

namespace voxridge {

// `n` values, slope * stored + intercept where the header says so, in double before they are rounded to T. Value k is
// at index[k] - first in `raw`, or at k where there is no index. False where a whole number is beyond what a double
// holds exactly.
template <class T>
bool decode(const NiftiHeader& header, const unsigned char* raw, const int64_t* index, int64_t first, int64_t n,
            T* out);

}  // namespace voxridge
