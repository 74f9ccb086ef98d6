#include "permutation_cells.h"

#include <algorithm>
#include <cmath>

#include "permutation_lattice.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

template <int kBytes>
struct VectorLane {
  using Value = typename Vector<kBytes>::Double;
};

template <int kBytes>
VOXRIDGE_INLINE const typename Vector<kBytes>::Double* vectors_at(const double* from) {
  return reinterpret_cast<const typename Vector<kBytes>::Double*>(from);
}

template <int kBytes>
VOXRIDGE_INLINE void values_body(const CellRule& rule, const double* sums, double* values) {
  using V = typename Vector<kBytes>::Double;
  using Lane = VectorLane<kBytes>;
  const V* from = vectors_at<kBytes>(sums);
  V* to = reinterpret_cast<V*>(values);
  const int64_t parts = kCellRows * static_cast<int64_t>(sizeof(double)) / kBytes;
  for (int64_t i = 0; i < parts; ++i) {
    if (rule.statistic == PermutationStatistic::correlation) {
      correlation_value<Lane>(rule, from + i, to[i]);
    } else if (rule.statistic == PermutationStatistic::welch) {
      welch_value<Lane>(rule, rule.total, rule.total_squares, from + i, parts, to[i]);
    } else {
      partial_value<Lane>(rule, from + i, parts, to[i]);
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
  const V lowest = V{} - kInfinity;
  for (int64_t i = 0; i < rows / lanes; ++i) {
    V value = vectors_at<kBytes>(values)[i];
    count -= value >= threshold;
    if (partial) {
      const L lost = value == kInfinity;
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
    const bool lost = partial && values[r] == kInfinity;
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
    return rest > 0 ? value / static_cast<double>(rule.rank) / (rest / df) : kInfinity;
  }
  return rest > 0 ? signed_root(df * value / rest) : std::copysign(kInfinity, value);
}

}  // namespace voxridge
