// Arithmetic on eight columns side by side: sums over samples, in their order.
#pragma once

#include <cstdint>

#include "lanes.h"
#include "view.h"

namespace voxridge {

struct StripSums {
  DoubleStrip largest;  // absolute value
  DoubleStrip flaw;     // 0, or NaN where a value is not finite
};

// Of the values.
void strip_extent(InstructionSet set, const DoubleStrip* z, int64_t n, StripSums& out);

// Multiplies by the two factors of each lane; gives the sum of the squares, and that about the mean.
void strip_spread(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& scale1, const DoubleStrip& scale2,
                  DoubleStrip& squares, DoubleStrip& spread);

// z - shift, without its parts along the orthonormal columns of q (taken out twice, against rounding), with the sums of
// squares before and after.
void strip_residual(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& shift, MatrixView<double> q,
                    DoubleStrip& before, DoubleStrip& after);

void strip_divide(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& by);

// b = sum of x e over samples, and rest -= x b, by one vector x for all lanes, or by a strip of them.
void strip_along(InstructionSet set, const double* x, const DoubleStrip* e, DoubleStrip* rest, int64_t n,
                 DoubleStrip& b);
void strip_along(InstructionSet set, const DoubleStrip* x, const DoubleStrip* e, DoubleStrip* rest, int64_t n,
                 DoubleStrip& b);

void strip_squares(InstructionSet set, const DoubleStrip* z, int64_t n, DoubleStrip& squares);

}  // namespace voxridge
