#include "permutation_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "permutation_lattice.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <int kBytes>
VOXRIDGE_INLINE const typename Vector<kBytes>::Double& vector_at(const double* from, int64_t i) {
  return reinterpret_cast<const typename Vector<kBytes>::Double*>(from)[i];
}

// Part i of the values: 16, 32 or 64 bytes.
template <int kBytes>
VOXRIDGE_INLINE void partial_value(const CellRule& rule, const double* sums, int64_t i,
                                   typename Vector<kBytes>::Double& out) {
  using V = typename Vector<kBytes>::Double;
  V along_nuisance = {};  // g
  for (int64_t k = 0; k < rule.n_changed; ++k) {
    const V along = vector_at<kBytes>(sums + (rule.rank + k) * kCellRows, i) * kProductUnit;
    along_nuisance += along * along;
  }
  const V more = along_nuisance * rule.sum_error, less = along_nuisance * rule.left_error;
  V left = 1.0 - along_nuisance - less;
  V value = {};
  for (int64_t k = 0; k < rule.rank; ++k) {
    V along = vector_at<kBytes>(sums + k * kCellRows, i) * kProductUnit;
    if (rule.absolute || rule.rank > 1) along = along < 0.0 ? -along : along;
    along += more;
    const V square = along * along;
    value += along < 0.0 ? -square : square;
  }
  left = value < 0.0 ? left + less + less : left;
  const V none = V{} + kInf;
  out = left < kNuisanceZero ? none : value / left;
}

template <int kBytes>
VOXRIDGE_INLINE void welch_value(const CellRule& rule, const double* sums, int64_t i,
                                 typename Vector<kBytes>::Double& out) {
  using V = typename Vector<kBytes>::Double;
  const double n = static_cast<double>(rule.n), n1 = static_cast<double>(rule.n_first), n2 = n - n1;
  const V a = vector_at<kBytes>(sums, i) * 0x1p-26, b = vector_at<kBytes>(sums + kCellRows, i) * kProductUnit;
  const double t1 = rule.total * 0x1p-26, t2 = rule.total_squares * kProductUnit;
  const V rest = t1 - a, zero = {};
  V squares1 = b - a * a / n1, squares2 = (t2 - b) - rest * rest / n2;
  squares1 = squares1 < zero ? zero : squares1;
  squares2 = squares2 < zero ? zero : squares2;
  const V variance = squares1 / (n1 * (n1 - 1)) + squares2 / (n2 * (n2 - 1));
  // whole numbers: 0 where the means are equal
  const V difference = (vector_at<kBytes>(sums, i) * n - n1 * rule.total) * (0x1p-26 / (n1 * n2));
  V square = difference * difference, top = V{} + kInf;
  if (!rule.absolute) {
    square = difference < 0.0 ? -square : square;
    top = difference < 0.0 ? -top : top;
  }
  top = difference == 0.0 ? zero : top;
  out = variance <= welch_zero(rule.n) ? top : square / variance;
}

template <int kBytes>
VOXRIDGE_INLINE void values_body(const CellRule& rule, const double* sums, double* values) {
  using V = typename Vector<kBytes>::Double;
  V* to = reinterpret_cast<V*>(values);
  const int64_t parts = kCellRows * static_cast<int64_t>(sizeof(double)) / kBytes;
  for (int64_t i = 0; i < parts; ++i) {
    if (rule.statistic == PermutationStatistic::correlation) {
      const V u = vector_at<kBytes>(sums, i);
      to[i] = u;
      if (rule.absolute) to[i] = u < 0.0 ? -u : u;
    } else if (rule.statistic == PermutationStatistic::welch) {
      welch_value<kBytes>(rule, sums, i, to[i]);
    } else {
      partial_value<kBytes>(rule, sums, i, to[i]);
    }
  }
}

template <int kBytes>
VOXRIDGE_INLINE void count_body(const CellRule& rule, const double* values, int64_t rows, double threshold,
                                double* maxima, CellResult& out) {
  using V = typename Vector<kBytes>::Double;
  using L = typename Vector<kBytes>::Long;
  constexpr int64_t lanes = kBytes / static_cast<int64_t>(sizeof(double));
  const bool partial = rule.statistic == PermutationStatistic::t || rule.statistic == PermutationStatistic::f;
  L count = {}, degenerate = {};
  V* largest = reinterpret_cast<V*>(maxima);
  const V lowest = V{} - kInf;
  for (int64_t i = 0; i < rows / lanes; ++i) {
    V value = vector_at<kBytes>(values, i);
    count -= value >= threshold;
    if (partial) {
      const L lost = value == kInf;
      degenerate -= lost;
      value = lost ? lowest : value;
    }
    largest[i] = largest[i] > value ? largest[i] : value;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    out.count += count[lane];
    out.degenerate += degenerate[lane];
  }
  for (int64_t r = rows / lanes * lanes; r < rows; ++r) {
    const bool lost = partial && values[r] == kInf;
    out.count += values[r] >= threshold;
    out.degenerate += lost;
    if (!lost) maxima[r] = std::max(maxima[r], values[r]);
  }
}

#ifdef VOXRIDGE_TARGETS
VOXRIDGE_AVX2 void values_avx2(const CellRule& r, const double* s, double* v) {
  values_body<32>(r, s, v);
}
VOXRIDGE_AVX512 void values_avx512(const CellRule& r, const double* s, double* v) {
  values_body<64>(r, s, v);
}
VOXRIDGE_AVX2 void count_avx2(const CellRule& r, const double* v, int64_t n, double t, double* m, CellResult& out) {
  count_body<32>(r, v, n, t, m, out);
}
VOXRIDGE_AVX512 void count_avx512(const CellRule& r, const double* v, int64_t n, double t, double* m, CellResult& out) {
  count_body<64>(r, v, n, t, m, out);
}
#endif

}  // namespace

void cell_values(const CellRule& rule, const double* sums, double* values, InstructionSet set) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return values_avx512(rule, sums, values);
  if (set == InstructionSet::avx2) return values_avx2(rule, sums, values);
#endif
  (void)set;
  values_body<16>(rule, sums, values);
}

CellResult count_cells(const CellRule& rule, const double* values, int64_t rows, double threshold, double* maxima,
                       InstructionSet set) {
  CellResult out;
#ifdef VOXRIDGE_TARGETS
  if (set != InstructionSet::baseline) {
    set == InstructionSet::avx512 ? count_avx512(rule, values, rows, threshold, maxima, out)
                                  : count_avx2(rule, values, rows, threshold, maxima, out);
    return out;
  }
#endif
  (void)set;
  count_body<16>(rule, values, rows, threshold, maxima, out);
  return out;
}

double cell_threshold(const CellRule& rule, double value, int64_t n_samples) {
  if (rule.statistic == PermutationStatistic::correlation) return value - product_tolerance(n_samples);
  const double root = signed_root(value);
  if (std::isinf(root)) return root;
  const double tolerance =
      rule.statistic == PermutationStatistic::welch
          ? welch_tolerance(root)
          : std::sqrt(static_cast<double>(rule.rank)) * correlation_tolerance(n_samples, rule.n_changed);
  const bool one_sided = !rule.absolute && rule.rank == 1;
  return one_sided ? signed_square(root - tolerance) : signed_square(std::max(root - tolerance, 0.0));
}

double cell_statistic(const CellRule& rule, double value, double df) {
  if (rule.statistic == PermutationStatistic::correlation) return std::max(-1.0, std::min(1.0, value * kProductUnit));
  if (rule.statistic == PermutationStatistic::welch) return signed_root(value);
  const double rest = 1 - std::fabs(value);
  if (rule.statistic == PermutationStatistic::f) {
    return rest > 0 ? value / static_cast<double>(rule.rank) / (rest / df) : kInf;
  }
  return rest > 0 ? signed_root(df * value / rest) : std::copysign(kInf, value);
}

}  // namespace voxridge
