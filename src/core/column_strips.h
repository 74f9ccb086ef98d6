// Arithmetic on eight columns side by side: sums over samples, in their order.
#pragma once

#include <cstdint>

#include "lanes.h"
#include "view.h"

namespace voxridge {

struct StripSums {
  DoubleStrip largest;       // absolute value
  DoubleStrip flaw;          // 0, or NaN where a value is not finite
  DoubleStrip sum, squares;  // of the values
};

// Puts the values of eight columns side by side. Eight times n values from `next` on will be read after these: short
// columns leave the processor no time to see what comes.
void strip_read(InstructionSet set, const double* const* columns, const double* next, int64_t n, DoubleStrip* to,
                StripSums& out);

// Multiplies by the two factors of each lane, and takes the sums again.
void strip_rescale(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& scale1, const DoubleStrip& scale2,
                   StripSums& sums);

// z - shift, with the sums of squares of that, and of z about its mean.
void strip_shift(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& shift, const StripSums& sums,
                 DoubleStrip& squares, DoubleStrip& spread);

// z without its parts along the orthonormal columns of q (taken out twice, against rounding); its sum of squares.
void strip_residual(InstructionSet set, DoubleStrip* z, int64_t n, MatrixView<double> q, DoubleStrip& squares);

void strip_multiply(InstructionSet set, DoubleStrip* z, int64_t n, const DoubleStrip& by);

// b = sum of x e over samples, and rest = left - x b with its sum of squares, by one vector x for all lanes, or by a
// strip of them. `left` may be `rest`.
void strip_along(InstructionSet set, const double* x, const DoubleStrip* e, const DoubleStrip* left, DoubleStrip* rest,
                 int64_t n, DoubleStrip& b, DoubleStrip& squares);
void strip_along(InstructionSet set, const DoubleStrip* x, const DoubleStrip* e, const DoubleStrip* left,
                 DoubleStrip* rest, int64_t n, DoubleStrip& b, DoubleStrip& squares);

// z times scale, rounded to whole numbers, as half 0 or 1 of the strips q, and the sums over samples whose mask is -1
// and not 0. Products stay below 2^31.
void strip_round(InstructionSet set, const DoubleStrip* z, int64_t n, double scale, const int32_t* mask, int half,
                 IntStrip* q, int32_t* sums);

}  // namespace voxridge
