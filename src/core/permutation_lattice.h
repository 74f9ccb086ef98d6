// The lattices on which permutation statistics are exact integers, so that counts do not depend on any order of
// summation, and how far below the observed value a permuted one still counts as equal to it.
#pragma once

#include <cmath>
#include <cstdint>

#include "../cuda/cell_formula.h"

namespace voxridge {

// Signed or 0/1 sums of a unit column: its L1 norm is at most sqrt(n), so that n rounded values stay below 2^31.
inline double table_scale(int64_t n) {
  const double count = static_cast<double>(n);
  return std::exp2(std::floor(std::log2((2147483647.0 - count / 2) / std::sqrt(count))));
}
inline double table_tolerance(int64_t n) {
  return static_cast<double>(n);
}  // in units of 1 / scale

// Products of two unit vectors rounded to multiples of 2^-26: the sum of the absolute products is about 2^52 at most,
// and every partial sum is a whole number that a double holds.
constexpr double kProductScale = 0x1p26;
inline double product_tolerance(int64_t n) {  // in units of 2^-52
  return std::ceil(std::ldexp(std::sqrt(static_cast<double>(n)), 27)) + static_cast<double>(n);
}

// How far such a sum may be from that of the values before rounding, in their unit: |x - rounded x| <= 2^-27, and the L1
// norm of a unit vector is at most sqrt(n).
inline double product_error(int64_t n) {
  return 0x1p-26 * std::sqrt(static_cast<double>(n));
}

// Of a correlation (or partial correlation) made from such products with q nuisance vectors that rows change.
inline double correlation_tolerance(int64_t n, int64_t q) {
  return 0x1p-24 * std::sqrt(static_cast<double>(n)) * (1 + std::sqrt(static_cast<double>(q)));
}

// t counts as equal within this of the observed one.
inline double welch_tolerance(double t) {
  return 0x1p-20 * (1 + std::fabs(t));
}

// Keeps the sign: comparing squares of signed numbers needs no root.
inline double signed_square(double x) {
  return x * std::fabs(x);
}
inline double signed_root(double x) {
  return std::copysign(std::sqrt(std::fabs(x)), x);
}

}  // namespace voxridge
