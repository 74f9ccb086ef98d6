// From exact sums of products to the values that permutation tests compare (core/permutation_cells.h says which), once
// for the vectors of the CPU and for the threads of the GPU, so that both give the same bits: plain IEEE operations in
// one order, none of them fused. Without headers of R or CUDA.
//
// `Lane::Value` holds one or several cells and has the operators of double. Sums of a cell lie `stride` values apart. A
// rule has the members rank, n_changed, n, n_first, absolute, sum_error and left_error.
#pragma once

#include <cstdint>
#include <limits>

#if defined(__CUDACC__)
#define VOXRIDGE_CELL inline __device__
#else
#define VOXRIDGE_CELL inline __attribute__((always_inline))
#endif

namespace voxridge {

constexpr double kProductUnit = 0x1p-52, kHalfUnit = 0x1p-26;  // of a sum of products, of a sum of values
constexpr double kNuisanceZero = 0x1p-24;  // data that lie this close to the nuisance space have no part outside it
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// t and F: first the sums of the tested part, then those of nuisance vectors.
template <class Lane, class Rule>
VOXRIDGE_CELL void partial_value(const Rule& rule, const typename Lane::Value* sums, int64_t stride,
                                 typename Lane::Value& out) {
  using V = typename Lane::Value;
  V along_nuisance = {};  // g
  for (int64_t k = 0; k < rule.n_changed; ++k) {
    const V along = sums[(rule.rank + k) * stride] * kProductUnit;
    along_nuisance = along_nuisance + along * along;
  }
  const V more = along_nuisance * rule.sum_error, less = along_nuisance * rule.left_error;
  V left = 1.0 - along_nuisance - less;
  V value = {};
  for (int64_t k = 0; k < rule.rank; ++k) {
    V along = sums[k * stride] * kProductUnit;
    if (rule.absolute || rule.rank > 1) along = along < 0.0 ? -along : along;
    along = along + more;
    const V square = along * along, turned = -square;
    value = value + (along < 0.0 ? turned : square);
  }
  const V wider = left + less + less;
  left = value < 0.0 ? wider : left;
  const V none = V{} + kInfinity;
  out = left < kNuisanceZero ? none : value / left;
}

// Welch's t: the sums of the values and of their squares over the first group. `total`, `total_squares`: over both.
template <class Lane, class Rule>
VOXRIDGE_CELL void welch_value(const Rule& rule, double total, double total_squares, const typename Lane::Value* sums,
                               int64_t stride, typename Lane::Value& out) {
  using V = typename Lane::Value;
  const double n = static_cast<double>(rule.n), n1 = static_cast<double>(rule.n_first), n2 = n - n1;
  const double no_variance = n * 0x1p-48;
  const V a = sums[0] * kHalfUnit, b = sums[stride] * kProductUnit;
  const double t1 = total * kHalfUnit, t2 = total_squares * kProductUnit;
  const V rest = t1 - a, zero = {};
  V squares1 = b - a * a / n1, squares2 = (t2 - b) - rest * rest / n2;
  squares1 = squares1 < zero ? zero : squares1;
  squares2 = squares2 < zero ? zero : squares2;
  const V variance = squares1 / (n1 * (n1 - 1)) + squares2 / (n2 * (n2 - 1));
  // whole numbers: 0 where the means are equal
  const V difference = (sums[0] * n - n1 * total) * (kHalfUnit / (n1 * n2));
  V square = difference * difference, top = V{} + kInfinity;
  if (!rule.absolute) {
    square = difference < 0.0 ? -square : square;
    top = difference < 0.0 ? -top : top;
  }
  top = difference == 0.0 ? zero : top;
  out = variance <= no_variance ? top : square / variance;
}

template <class Lane, class Rule>
VOXRIDGE_CELL void correlation_value(const Rule& rule, const typename Lane::Value* sums, typename Lane::Value& out) {
  const typename Lane::Value u = sums[0];
  out = u;
  if (rule.absolute) out = u < 0.0 ? -u : u;
}

}  // namespace voxridge
