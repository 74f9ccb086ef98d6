#include "permutation_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Sums of squares that are nothing but rounding.
bool is_rounding(double squares, double all, int64_t n) {
  const double relative = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  return squares <= relative * relative * all;
}

// Sums of squares are safe from overflow and underflow where the largest value is within 1 / this .. this. Others are
// divided by a power of two first, which changes no answer.
constexpr double kLargestSquared = 0x1p300;

void average_ranks(double* values, int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(n);
  for (int64_t i = 0; i < n;) {
    int64_t end = i + 1;
    while (end < n && values[order[end]] == values[order[i]]) ++end;
    for (int64_t k = i; k < end; ++k) ranks[order[k]] = 0.5 * static_cast<double>(i + end + 1);
    i = end;
  }
  std::copy(ranks.begin(), ranks.end(), values);
}

}  // namespace

// Lanes beyond the last column repeat it.
void PermutationColumns::read(MatrixView<double> from, int64_t j, int64_t count, DoubleStrip* to, StripSums& found) {
  const int64_t n = y_.rows;
  const double* columns[kDoubleLanes];
  if (design_.ranks) ranks_.resize(n * kDoubleLanes);
  for (int64_t lane = 0; lane < kDoubleLanes; ++lane) {
    const int64_t place = j + std::min(lane, count - 1);
    columns[lane] = from.col(design_.which != nullptr ? design_.which[place] : place);
    if (!design_.ranks) continue;
    double* ranks = ranks_.data() + lane * n;
    std::copy_n(columns[lane], n, ranks);
    const bool finite = std::all_of(ranks, ranks + n, [](double x) { return std::isfinite(x); });
    const bool zero = std::all_of(ranks, ranks + n, [](double x) { return x == 0; });
    if (finite && !zero) average_ranks(ranks, n);
    columns[lane] = ranks;
  }
  strip_read(set_, columns, from.col(std::min(j + kDoubleLanes, from.cols - 1)), n, to, found);
}

void PermutationColumns::standardize(double mu, StripSums& found, DoubleStrip* e, ColumnState* state, double* size) {
  const int64_t n = y_.rows;
  int exponent[kDoubleLanes] = {};  // of what a lane was divided by
  bool extreme = false;
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    const bool finite = found.flaw.lane[lane] == 0;
    state[lane] = !finite                         ? ColumnState::nonfinite
                  : found.largest.lane[lane] == 0 ? ColumnState::zero
                                                  : ColumnState::used;
    if (state[lane] != ColumnState::used) continue;
    const double largest = std::max(found.largest.lane[lane], std::fabs(mu));
    if (largest < kLargestSquared && largest > 1 / kLargestSquared) continue;
    exponent[lane] = std::ilogb(largest) + 1;
    extreme = true;
  }
  if (extreme) rescale(exponent, found, e);
  DoubleStrip shift, spread, before, after, factor;
  for (int lane = 0; lane < kDoubleLanes; ++lane) shift.lane[lane] = std::ldexp(mu, -exponent[lane]);
  strip_shift(set_, e, n, shift, found, before, spread);
  after = before;
  if (design_.nuisance.cols > 0) strip_residual(set_, e, n, design_.nuisance, after);
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    factor.lane[lane] = 1;
    if (state[lane] != ColumnState::used) continue;
    if (is_rounding(spread.lane[lane], found.squares.lane[lane], n)) {
      state[lane] = ColumnState::constant;
    } else if (is_rounding(after.lane[lane], before.lane[lane], n)) {
      state[lane] = ColumnState::nuisance;
    } else {
      const double norm = std::sqrt(after.lane[lane]);
      factor.lane[lane] = 1 / norm;
      size[lane] = exponent[lane] == 0 ? norm : std::ldexp(norm, exponent[lane]);
    }
  }
  strip_multiply(set_, e, n, factor);
}

// Divides by a power of two: in two factors, one may be beyond a double.
void PermutationColumns::rescale(const int* exponent, StripSums& found, DoubleStrip* e) const {
  DoubleStrip first, second;
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    const int half = -exponent[lane] / 2;
    first.lane[lane] = std::ldexp(1.0, half);
    second.lane[lane] = std::ldexp(1.0, -exponent[lane] - half);
  }
  strip_rescale(set_, e, y_.rows, first, second, found);
}

void PermutationColumns::load(int64_t j, int64_t count, DoubleStrip* e, ColumnState* state) {
  StripSums found;
  read(y_, j, count, e, found);
  standardize(design_.mu, found, e, state, size_);
}

void PermutationColumns::load_paired(int64_t j, int64_t count, DoubleStrip* x, ColumnState* state) {
  double size[kDoubleLanes];
  StripSums found;
  read(design_.paired, j, count, x, found);
  standardize(0, found, x, state, size);
}

void PermutationColumns::statistics(const DoubleStrip* e, const DoubleStrip* x, ColumnStatistic* out) {
  if (design_.statistic == PermutationStatistic::welch) return welch(e, out);
  const int64_t n = y_.rows, rank = x != nullptr ? 1 : design_.x.cols;
  DoubleStrip b = {}, h = {}, s;
  const DoubleStrip* left = e;
  for (int64_t k = 0; k < rank; ++k, left = rest_.data()) {
    if (x != nullptr) {
      strip_along(set_, x, e, left, rest_.data(), n, b, s);
    } else {
      strip_along(set_, design_.x.col(k), e, left, rest_.data(), n, b, s);
    }
    for (int lane = 0; lane < kDoubleLanes; ++lane) h.lane[lane] += b.lane[lane] * b.lane[lane];
  }
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    out[lane] = statistic_of(b.lane[lane], h.lane[lane], s.lane[lane], size_[lane]);
  }
}

ColumnStatistic PermutationColumns::statistic_of(double b, double h, double s, double size) const {
  if (is_rounding(s, 1, y_.rows)) s = 0;
  ColumnStatistic out;
  out.df = design_.df;
  if (design_.statistic == PermutationStatistic::correlation) {
    out.statistic = out.estimate = s == 0 ? std::copysign(1.0, b) : std::max(-1.0, std::min(1.0, b));
  } else if (design_.statistic == PermutationStatistic::f) {
    const double rank = static_cast<double>(design_.x.cols);
    out.statistic = s == 0 ? kInf : (h / rank) / (s / design_.df);
    out.estimate = s == 0 ? 1 : h / (h + s);
  } else {
    out.statistic = s == 0 ? std::copysign(kInf, b) : b * std::sqrt(design_.df / s);
    out.estimate = b * size * design_.estimate_scale;
  }
  return out;
}

void PermutationColumns::welch(const DoubleStrip* e, ColumnStatistic* out) const {
  const int64_t n = y_.rows;
  double count[2] = {0, 0};
  for (int64_t i = 0; i < n; ++i) count[design_.first[i] ? 0 : 1] += 1;
  for (int lane = 0; lane < kDoubleLanes; ++lane) {
    double mean[2] = {0, 0}, squares[2] = {0, 0}, variance[2];
    for (int64_t i = 0; i < n; ++i) mean[design_.first[i] ? 0 : 1] += e[i].lane[lane];
    for (int g = 0; g < 2; ++g) mean[g] /= count[g];
    for (int64_t i = 0; i < n; ++i) {
      const int g = design_.first[i] ? 0 : 1;
      squares[g] += (e[i].lane[lane] - mean[g]) * (e[i].lane[lane] - mean[g]);
    }
    for (int g = 0; g < 2; ++g) {
      if (is_rounding(squares[g], 1, n)) squares[g] = 0;
      variance[g] = squares[g] / (count[g] * (count[g] - 1));
    }
    const double sum = variance[0] + variance[1], difference = mean[0] - mean[1];
    out[lane].estimate = difference * size_[lane];
    out[lane].statistic = sum > 0 ? difference / std::sqrt(sum) : std::copysign(kInf, difference);
    out[lane].df =
        sum * sum / (variance[0] * variance[0] / (count[0] - 1) + variance[1] * variance[1] / (count[1] - 1));
  }
}

}  // namespace voxridge
