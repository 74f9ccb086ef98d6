#include "permutation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "permutation_cuda.h"
#include "permutation_kernel.h"
#include "threads.h"

namespace voxridge {

namespace {

// All flips, absolute values: a flip and the one of opposite signs, which is as far from the end as the other from the
// start, give the same.
bool is_mirrored(const PermutationTest& test, const PermutationRows& rows, const PermutationOutputs& out) {
  return test.rows.exact && rows.kind() == Rearrangement::flips && test.absolute && out.null == nullptr &&
         rows.possible() == static_cast<double>(test.n_permutations);
}

}  // namespace

std::unique_ptr<PermutationKernel> make_kernel(const PermutationTest& test, const PermutationRows& rows,
                                               PermutationOutputs& out, double* threshold) {
  if (test.design.paired.data != nullptr) return make_paired_kernel(test, rows, out, threshold);
  return test.sums ? make_sum_kernel(test, rows, out, threshold) : make_product_kernel(test, rows, out, threshold);
}

int PermutationKernel::load(int64_t j, int64_t count, PermutationColumns& columns, DoubleStrip* e, DoubleStrip* paired,
                            bool* used) {
  ColumnState state[kDoubleLanes], partner[kDoubleLanes];
  columns.load(j, count, e, state);
  if (paired != nullptr) columns.load_paired(j, count, paired, partner);
  int n_used = 0, some = 0;
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    if (paired != nullptr && state[lane] == ColumnState::used) state[lane] = partner[lane];
    used[lane] = lane < count && state[lane] == ColumnState::used;
    n_used += used[lane];
    if (used[lane]) some = lane;
  }
  if (first_ == 0 && out_.statistic != nullptr) {
    ColumnStatistic found[kDoubleLanes];
    columns.statistics(e, paired, found);
    for (int lane = 0; lane < count; ++lane) {
      const double missing = std::numeric_limits<double>::quiet_NaN();
      out_.state[j + lane] = static_cast<int>(state[lane]);
      out_.statistic[j + lane] = used[lane] ? found[lane].statistic : missing;
      out_.estimate[j + lane] = used[lane] ? found[lane].estimate : missing;
      if (out_.df != nullptr) out_.df[j + lane] = used[lane] ? found[lane].df : missing;
      out_.counts[j + lane] = 0;
    }
  }
  if (n_used == 0 || n_used == kDoubleLanes) return n_used;
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    if (used[lane]) continue;
    for (int64_t i = 0; i < n(); ++i) {
      e[i].lane[lane] = e[i].lane[some];
      if (paired != nullptr) paired[i].lane[lane] = paired[i].lane[some];
    }
  }
  return n_used;
}

void run_permutation_test(const PermutationTest& test, PermutationOutputs& out, const Control& control) {
  const int64_t v = test.y.cols;
  if (!out.take_null) out.null_rows = test.n_permutations;
  const PermutationRows rows(test.rows);
  const int copies = is_mirrored(test, rows, out) ? 2 : 1;
  const int64_t m = test.n_permutations / copies;
  std::vector<double> threshold(v, std::numeric_limits<double>::infinity());
  const std::unique_ptr<PermutationKernel> kernel = control.device == DeviceKind::cuda
                                                        ? make_cuda_kernel(test, rows, out, threshold.data(), control)
                                                        : make_kernel(test, rows, out, threshold.data());
  const int64_t batch = std::max<int64_t>(1, test.batch > 0 ? test.batch : kernel->most_rows());
  const int64_t chunk = kernel->chunk_columns(), chunks = (v + chunk - 1) / chunk;
  control.expect(v * ((m + batch - 1) / batch));
  const BlasThreads blas(1);
  for (int64_t first = 0; first < m; first += batch) {
    const int64_t count = std::min(batch, m - first);
    kernel->start(first, count, control.n_threads, control);
    parallel_for(chunks, control.n_threads, [&](int64_t item, int worker) {
      control.check_stop();
      const int64_t begin = item * chunk, end = std::min(begin + chunk, v);
      kernel->run(begin, end, worker, control);
      control.advance(end - begin);
    });
    kernel->maxima(out.maximum + first);
    if (out.take_null) out.take_null(first, count);
  }
  std::vector<double> sorted(out.maximum, out.maximum + m);
  std::sort(sorted.begin(), sorted.end());
  for (int64_t j = 0; j < v; ++j) {
    const auto from = std::lower_bound(sorted.begin(), sorted.end(), threshold[j]);
    out.maximum_counts[j] = copies * static_cast<int>(sorted.end() - from);
    out.counts[j] *= copies;
  }
  out.degenerate *= copies;
  const bool none = std::none_of(out.state, out.state + v, [](int state) { return state == 0; });
  const double sign = test.negate ? -1.0 : 1.0;
  for (int64_t r = 0; r < m; ++r) {
    out.maximum[r] = none ? std::numeric_limits<double>::quiet_NaN() : sign * kernel->statistic_of(out.maximum[r]);
  }
  if (copies == 2) std::reverse_copy(out.maximum, out.maximum + m, out.maximum + m);
}

}  // namespace voxridge
