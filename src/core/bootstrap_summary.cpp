#include "bootstrap_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxridge {

BootstrapSummary::BootstrapSummary(int64_t n_boot, const IntervalRule& rule, const BootstrapOutputs& out)
    : n_boot_(n_boot), rule_(rule), out_(out) {}

double BootstrapSummary::percentile(double* values, double probability, int64_t& from) const {
  const double h = static_cast<double>(n_boot_ - 1) * probability;
  const int64_t at = std::min(static_cast<int64_t>(h), n_boot_ - 1);
  double* const end = values + n_boot_;
  std::nth_element(values + std::min(from, at), values + at, end);
  from = at + 1;
  if (at + 1 == n_boot_ || h == static_cast<double>(at)) return values[at];
  const double next = *std::min_element(values + at + 1, end);
  return values[at] + (h - static_cast<double>(at)) * (next - values[at]);
}

void BootstrapSummary::operator()(double* values, double shift, int64_t row, int64_t target) {
  if (shift != 0) {
    for (int64_t b = 0; b <= n_boot_; ++b) values[b] += shift;
  }
  out_.estimate.col(target)[row] = values[0];
  double* const x = values + 1;
  if (out_.samples != nullptr) std::copy_n(x, n_boot_, out_.samples + n_boot_ * (row + out_.estimate.rows * target));
  const double count = static_cast<double>(n_boot_);
  double sum = 0, squares = 0;
  for (int64_t b = 0; b < n_boot_; ++b) sum += x[b] - x[0];
  const double mean = x[0] + sum / count;  // exact where all are equal
  for (int64_t b = 0; b < n_boot_; ++b) squares += (x[b] - mean) * (x[b] - mean);
  const double sd = std::sqrt(squares / (count - 1));
  out_.mean.col(target)[row] = mean;
  out_.sd.col(target)[row] = sd;
  out_.z.col(target)[row] = mean / sd;
  double lower = std::numeric_limits<double>::quiet_NaN(), upper = lower;
  if (rule_.reach > 0) {
    lower = mean - rule_.reach * sd;
    upper = mean + rule_.reach * sd;
  } else if (std::isfinite(mean)) {  // so all are, and can be sorted
    int64_t from = 0;
    lower = percentile(x, rule_.lower, from);
    upper = percentile(x, rule_.upper, from);
  }
  out_.lower.col(target)[row] = lower;
  out_.upper.col(target)[row] = upper;
}

}  // namespace voxridge
