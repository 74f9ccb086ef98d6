#include "decoding_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "binary_scores.h"
#include "score.h"

namespace voxridge {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiedShare = 1.2345e-10;  // of the range of decisions: closer ones are tied

bool left_out(const ScoredRows& rows, int64_t i) {
  return rows.skip != nullptr && rows.skip[i];
}

double accuracy(const ScoredRows& rows) {
  int64_t correct = 0, n = 0;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (left_out(rows, i)) continue;
    correct += decided_class(rows, i) == rows.label[i];
    ++n;
  }
  return n > 0 ? static_cast<double>(correct) / static_cast<double>(n) : kUndefined;
}

double balanced_accuracy(const ScoredRows& rows) {
  thread_local std::vector<int64_t> correct, n;
  correct.assign(rows.n_classes, 0);
  n.assign(rows.n_classes, 0);
  for (int64_t i = 0; i < rows.n; ++i) {
    if (left_out(rows, i)) continue;
    correct[rows.label[i]] += decided_class(rows, i) == rows.label[i];
    ++n[rows.label[i]];
  }
  double sum = 0, present = 0;
  for (int c = 0; c < rows.n_classes; ++c) {
    if (n[c] == 0) continue;
    sum += static_cast<double>(correct[c]) / static_cast<double>(n[c]);
    ++present;
  }
  return present > 0 ? sum / present : kUndefined;
}

// Equal samples have equal decisions but for rounding, which must not order them: decisions become whole multiples of a
// small step. (The step is no short fraction of the range, so that ties do not sit where multiples change.)
void join_ties(std::vector<double>& decision) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double d : decision) {
    if (!std::isfinite(d)) continue;
    low = std::min(low, d);
    high = std::max(high, d);
  }
  const double step = kTiedShare * (high - low) +
                      2 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(low), std::fabs(high));
  if (!(step > 0) || !std::isfinite(step)) return;
  for (double& d : decision) d = std::nearbyint((d - low) / step);
}

double area_under_curve(const ScoredRows& rows) {
  thread_local std::vector<double> truth, decision;
  const int first = rows.n_classes > 2 ? 0 : 1, columns = rows.n_classes > 2 ? rows.n_classes : 1;
  double sum = 0, defined = 0;
  for (int c = 0; c < columns; ++c) {
    truth.clear();
    decision.clear();
    for (int64_t i = 0; i < rows.n; ++i) {
      if (left_out(rows, i)) continue;
      truth.push_back(rows.label[i] == first + c);
      decision.push_back(rows.decision[i + c * rows.ld]);
    }
    join_ties(decision);
    const double area =
        binary_score(BinaryScore::auc, truth.data(), decision.data(), nullptr, static_cast<int64_t>(truth.size()));
    if (std::isnan(area)) continue;
    sum += area;
    ++defined;
  }
  return defined > 0 ? sum / defined : kUndefined;
}

struct Sums {
  double n = 0, value = 0, decision = 0;                   // means
  double value_square = 0, decision_square = 0, both = 0;  // about them
  double error = 0;                                        // sum of squares
};

Sums sums_of(const ScoredRows& rows) {
  Sums s;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (left_out(rows, i)) continue;
    ++s.n;
    s.value += rows.value[i];
    s.decision += rows.decision[i];
    s.error += (rows.value[i] - rows.decision[i]) * (rows.value[i] - rows.decision[i]);
  }
  s.value /= s.n;
  s.decision /= s.n;
  for (int64_t i = 0; i < rows.n; ++i) {
    if (left_out(rows, i)) continue;
    const double y = rows.value[i] - s.value, f = rows.decision[i] - s.decision;
    s.value_square += y * y;
    s.decision_square += f * f;
    s.both += y * f;
  }
  return s;
}

double regression_score(DecodingMetric metric, const ScoredRows& rows) {
  const Sums s = sums_of(rows);
  const int64_t n = static_cast<int64_t>(s.n);
  if (n == 0 || !std::isfinite(s.error)) return kUndefined;
  if (metric == DecodingMetric::mse) return s.error / s.n;
  if (is_constant(s.value_square, s.value, n)) return kUndefined;
  if (metric == DecodingMetric::r2) return 1 - s.error / s.value_square;
  if (n < 3 || is_constant(s.decision_square, s.decision, n)) return kUndefined;
  return std::max(-1.0, std::min(1.0, s.both / std::sqrt(s.value_square) / std::sqrt(s.decision_square)));
}

}  // namespace

int decided_class(const ScoredRows& rows, int64_t i) {
  if (rows.n_classes <= 2) return rows.decision[i] > 0 ? 1 : 0;
  int best = 0;
  for (int c = 1; c < rows.n_classes; ++c) {
    if (rows.decision[i + c * rows.ld] > rows.decision[i + best * rows.ld]) best = c;
  }
  return best;
}

double decoding_score(DecodingMetric metric, const ScoredRows& rows) {
  switch (metric) {
    case DecodingMetric::accuracy:
      return accuracy(rows);
    case DecodingMetric::balanced_accuracy:
      return balanced_accuracy(rows);
    case DecodingMetric::auc:
      return area_under_curve(rows);
    default:
      return regression_score(metric, rows);
  }
}

bool score_possible(DecodingMetric metric, const ScoredRows& rows) {
  if (metric == DecodingMetric::auc) {
    return std::any_of(rows.label, rows.label + rows.n, [&](int label) { return label != rows.label[0]; });
  }
  if (metric != DecodingMetric::r && metric != DecodingMetric::r2) return rows.n > 0;
  ScoredRows truth = rows;
  truth.decision = rows.value;
  return !std::isnan(regression_score(metric, truth));
}

void complete_decisions(int n_classes, arma::mat& decisions) {
  if (n_classes <= 2) return;
  const arma::uword last = decisions.n_cols;
  decisions.resize(decisions.n_rows, last + 1);
  for (arma::uword i = 0; i < decisions.n_rows; ++i) {
    double sum = 2.0 - n_classes;
    for (arma::uword c = 0; c < last; ++c) sum -= decisions(i, c);
    decisions(i, last) = sum;
  }
}

}  // namespace voxridge
