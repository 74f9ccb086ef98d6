#include "permutation_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double dot(const double* a, const double* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Sums of squares that are nothing but rounding.
bool is_rounding(double squares, double all, int64_t n) {
  const double relative = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  return squares <= relative * relative * all;
}

void average_ranks(const double* values, int64_t n, double* ranks) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values[a] < values[b]; });
  for (int64_t i = 0; i < n;) {
    int64_t end = i + 1;
    while (end < n && values[order[end]] == values[order[i]]) ++end;
    for (int64_t k = i; k < end; ++k) ranks[order[k]] = 0.5 * static_cast<double>(i + end + 1);
    i = end;
  }
}

}  // namespace

ColumnState PermutationColumns::standardize(const double* column, double mu, double* e) {
  const int64_t n = y_.rows;
  double largest = 0;
  bool finite = true, zero = true;
  for (int64_t i = 0; i < n; ++i) {
    finite = finite && std::isfinite(column[i]);
    zero = zero && column[i] == 0;
  }
  if (!finite) return ColumnState::nonfinite;
  if (zero) return ColumnState::zero;
  double* z = work_.data();
  if (design_.ranks) {
    average_ranks(column, n, z);
  } else {
    std::copy_n(column, n, z);
  }
  // a power of two brings every unit of measurement to the same place
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::max(std::fabs(z[i]), std::fabs(mu)));
  const int exponent = std::ilogb(largest) + 1;
  // in two factors, since one may be beyond the range of a double
  const double scale1 = std::ldexp(1.0, -exponent / 2), scale2 = std::ldexp(1.0, -exponent - -exponent / 2);
  for (int64_t i = 0; i < n; ++i) z[i] = z[i] * scale1 * scale2;
  mu = mu * scale1 * scale2;
  double mean = 0, squares = 0, spread = 0;
  for (int64_t i = 0; i < n; ++i) mean += z[i];
  mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    squares += z[i] * z[i];
    spread += (z[i] - mean) * (z[i] - mean);
  }
  if (is_rounding(spread, squares, n)) return ColumnState::constant;
  for (int64_t i = 0; i < n; ++i) e[i] = z[i] - mu;
  const double before = dot(e, e, n);
  const MatrixView<double> q = design_.nuisance;
  for (int twice = 0; twice < 2 && q.cols > 0; ++twice) {
    std::copy_n(e, n, z);
    for (int64_t k = 0; k < q.cols; ++k) {
      const double along = dot(q.col(k), z, n);
      for (int64_t i = 0; i < n; ++i) e[i] -= q.col(k)[i] * along;
    }
  }
  const double left = dot(e, e, n);
  if (is_rounding(left, before, n)) return ColumnState::nuisance;
  const double norm = std::sqrt(left);
  for (int64_t i = 0; i < n; ++i) e[i] /= norm;
  size_ = std::ldexp(norm, exponent);
  return ColumnState::used;
}

ColumnState PermutationColumns::unit(int64_t j, double* e) {
  return standardize(y_.col(j), design_.mu, e);
}

ColumnState PermutationColumns::paired_unit(int64_t j, double* x) {
  const double size = size_;
  const ColumnState state = standardize(design_.paired.col(j), 0, x);
  size_ = size;
  return state;
}

ColumnStatistic PermutationColumns::statistic(const double* e, const double* x) {
  if (design_.statistic == PermutationStatistic::welch) return welch(e);
  const int64_t n = y_.rows, rank = x != nullptr ? 1 : design_.x.cols;
  double* rest = rest_.data();
  std::copy_n(e, n, rest);
  double b = 0, h = 0;
  for (int64_t k = 0; k < rank; ++k) {
    const double* along = x != nullptr ? x : design_.x.col(k);
    b = dot(along, e, n);
    h += b * b;
    for (int64_t i = 0; i < n; ++i) rest[i] -= along[i] * b;
  }
  double s = dot(rest, rest, n);
  if (is_rounding(s, 1, n)) s = 0;
  ColumnStatistic out;
  out.df = design_.df;
  if (design_.statistic == PermutationStatistic::correlation) {
    out.statistic = out.estimate = s == 0 ? std::copysign(1.0, b) : std::max(-1.0, std::min(1.0, b));
  } else if (design_.statistic == PermutationStatistic::f) {
    out.statistic = s == 0 ? kInf : (h / static_cast<double>(rank)) / (s / design_.df);
    out.estimate = s == 0 ? 1 : h / (h + s);
  } else {
    out.statistic = s == 0 ? std::copysign(kInf, b) : b * std::sqrt(design_.df / s);
    out.estimate = b * size_ * design_.estimate_scale;
  }
  return out;
}

ColumnStatistic PermutationColumns::welch(const double* e) const {
  const int64_t n = y_.rows;
  double count[2] = {0, 0}, mean[2] = {0, 0}, squares[2] = {0, 0}, variance[2];
  for (int64_t i = 0; i < n; ++i) {
    const int group = design_.first[i] ? 0 : 1;
    count[group] += 1;
    mean[group] += e[i];
  }
  for (int g = 0; g < 2; ++g) mean[g] /= count[g];
  for (int64_t i = 0; i < n; ++i) {
    const int group = design_.first[i] ? 0 : 1;
    squares[group] += (e[i] - mean[group]) * (e[i] - mean[group]);
  }
  for (int g = 0; g < 2; ++g) {
    if (is_rounding(squares[g], 1, n)) squares[g] = 0;
    variance[g] = squares[g] / (count[g] * (count[g] - 1));
  }
  const double sum = variance[0] + variance[1], difference = mean[0] - mean[1];
  ColumnStatistic out;
  out.estimate = difference * size_;
  out.statistic = sum > 0 ? difference / std::sqrt(sum) : std::copysign(kInf, difference);
  out.df = sum * sum / (variance[0] * variance[0] / (count[0] - 1) + variance[1] * variance[1] / (count[1] - 1));
  return out;
}

}  // namespace voxridge
