// The binary body of a scoring request: rows of little-endian float64, one after another, at any alignment.
#pragma once

#include "body_fault.h"

namespace voxridge {

// Gives each row to the sink, through `row`, which has place for n_features numbers. The length of the body is checked
// first; then the first fault in byte order decides. Allocates nothing.
BodyFault read_binary_rows(const void* body, size_t size, const BodyForm& form, double* row, RowSink& sink);

}  // namespace voxridge
