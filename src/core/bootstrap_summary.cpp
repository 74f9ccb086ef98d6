#include "bootstrap_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxridge {

namespace {

// The sum of f(0) .. f(n - 1), in four parts that can be added side by side.
template <class F>
double sum_of(int64_t n, F f) {
  double parts[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; ++k) parts[k] += f(i + k);
  }
  for (; i < n; ++i) parts[0] += f(i);
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

// The standard deviation of numbers whose squares are beyond a double, or next to 0.
double scaled_sd(const double* x, int64_t n, double mean) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i] - mean));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const double squares = sum_of(n, [&](int64_t i) { return (x[i] - mean) / largest * ((x[i] - mean) / largest); });
  return largest * std::sqrt(squares / static_cast<double>(n - 1));
}

// The x that a standard normal number exceeds with this probability.
double normal_exceeded(double probability) {
  double low = -40, high = 40;
  for (int step = 0; step < 60; ++step) {
    const double x = (low + high) / 2;
    (std::erfc(x * std::sqrt(0.5)) / 2 > probability ? low : high) = x;
  }
  return low;
}

}  // namespace

BootstrapSummary::BootstrapSummary(int64_t n_boot, const IntervalRule& rule, const BootstrapOutputs& out)
    : n_boot_(n_boot),
      rule_(rule),
      out_(out),
      lower_(locate(rule.lower)),
      upper_(locate(rule.upper)),
      few_(n_boot + 1) {}

BootstrapSummary::Percentile BootstrapSummary::locate(double probability) const {
  const double h = static_cast<double>(n_boot_ - 1) * probability;
  const int64_t below = std::min(static_cast<int64_t>(h), n_boot_ - 2);
  Percentile out{probability > 0.5, below, h - static_cast<double>(below), 0};
  if (out.from_above) {
    out.at = n_boot_ - 2 - below;
    out.between = 1 - out.between;
  }
  const double needed = static_cast<double>(out.at + 2);
  const double share = (needed + 2 * std::sqrt(needed)) / static_cast<double>(n_boot_);
  out.cut = share < 0.4 ? normal_exceeded(share) : -std::numeric_limits<double>::infinity();
  return out;
}

double BootstrapSummary::find(const Percentile& percentile, const double* values, double mean, double sd) {
  // Values seen from above are those of the other sign.
  const double sign = percentile.from_above ? -1 : 1, limit = sign * mean - percentile.cut * sd;
  double* const few = few_.data();
  int64_t n = 0;
  for (int64_t b = 0; b < n_boot_; ++b) {
    few[n] = sign * values[b];
    n += few[n] <= limit;  // no branch: it would be guessed wrongly
  }
  if (n < percentile.at + 2) {
    for (n = 0; n < n_boot_; ++n) few[n] = sign * values[n];
  }
  std::nth_element(few, few + percentile.at, few + n);
  const double first = few[percentile.at], second = *std::min_element(few + percentile.at + 1, few + n);
  return sign * (first + percentile.between * (second - first));
}

void BootstrapSummary::operator()(double* values, double shift, int64_t row, int64_t target) {
  if (shift != 0) {
    for (int64_t b = 0; b <= n_boot_; ++b) values[b] += shift;
  }
  out_.estimate.col(target)[row] = values[0];
  const double* const x = values + 1;
  if (out_.samples != nullptr) std::copy_n(x, n_boot_, out_.samples + n_boot_ * (row + out_.estimate.rows * target));
  const double count = static_cast<double>(n_boot_);
  const double mean = x[0] + sum_of(n_boot_, [&](int64_t b) { return x[b] - x[0]; }) / count;  // exact for equal values
  const double squares = sum_of(n_boot_, [&](int64_t b) { return (x[b] - mean) * (x[b] - mean); });
  const bool beyond = squares < 1e-280 || std::isinf(squares);
  const double sd = beyond ? scaled_sd(x, n_boot_, mean) : std::sqrt(squares / (count - 1));
  out_.mean.col(target)[row] = mean;
  out_.sd.col(target)[row] = sd;
  out_.z.col(target)[row] = mean / sd;
  double lower = std::numeric_limits<double>::quiet_NaN(), upper = lower;
  if (rule_.reach > 0) {
    lower = mean - rule_.reach * sd;
    upper = mean + rule_.reach * sd;
  } else if (std::isfinite(mean)) {  // so all are, and can be sorted
    lower = find(lower_, x, mean, sd);
    upper = find(upper_, x, mean, sd);
  }
  out_.lower.col(target)[row] = lower;
  out_.upper.col(target)[row] = upper;
}

}  // namespace voxridge
