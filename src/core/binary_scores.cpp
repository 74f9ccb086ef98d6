#include "binary_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sigmoid.h"

namespace voxridge {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Weights over a power of two, the largest from 1 to 2: sums and products of sums neither overflow nor round otherwise.
class Weights {
 public:
  Weights(const double* weights, int64_t n) : weights_(weights) {
    const double largest = weights != nullptr && n > 0 ? *std::max_element(weights, weights + n) : 1;
    if (largest > 0) shift_ = -std::ilogb(largest);
  }
  double operator[](int64_t i) const { return weights_ == nullptr ? 1 : std::ldexp(weights_[i], shift_); }

 private:
  const double* weights_;
  int shift_ = 0;
};

template <class Term>
double weighted_mean(const double* y, const double* logits, const Weights& weights, int64_t n, Term term) {
  double sum = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double w = weights[i];
    if (w == 0) continue;  // 0 x Inf
    sum += w * term(y[i], logits[i]);
    total += w;
  }
  return total > 0 ? sum / total : kUndefined;
}

double squared_error(double y, double z) {
  const double r = logistic_residual(y, z);
  return r * r;
}

double hit(double y, double z) {
  return z >= 0 ? y : z < 0 ? 1 - y : kUndefined;
}

// The share of pairs of a positive and a negative that the forecasts put in order, ties counting a half. An outcome
// between 0 and 1 is a positive of weight w y and a negative of weight w (1 - y). Pairs in order and out of order are
// summed apart, so that a perfect order gives 1, a reversed one 0 and none 0.5, all exactly.
double area_under_curve(const double* y, const double* logits, const Weights& weights, int64_t n) {
  std::vector<int64_t> order;
  order.reserve(n);
  for (int64_t i = 0; i < n; ++i) {
    if (weights[i] == 0) continue;
    if (std::isnan(logits[i]) || std::isnan(y[i])) return kUndefined;
    order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return logits[a] < logits[b]; });
  double in_order = 0, out_of_order = 0, positives = 0, negatives = 0;
  for (size_t start = 0, end = 0; start < order.size(); start = end) {
    double tied_positives = 0, tied_negatives = 0;
    for (; end < order.size() && logits[order[end]] == logits[order[start]]; ++end) {
      const int64_t i = order[end];
      tied_positives += weights[i] * y[i];
      tied_negatives += weights[i] * (1 - y[i]);
    }
    in_order += tied_positives * (negatives + tied_negatives / 2);
    out_of_order += tied_negatives * (positives + tied_positives / 2);
    positives += tied_positives;
    negatives += tied_negatives;
  }
  return positives > 0 && negatives > 0 ? in_order / (in_order + out_of_order) : kUndefined;
}

}  // namespace

double binary_score(BinaryScore score, const double* y, const double* logits, const double* weights, int64_t n) {
  const Weights w(weights, n);
  switch (score) {
    case BinaryScore::log_loss:
      return weighted_mean(y, logits, w, n, logistic_loss);
    case BinaryScore::brier:
      return weighted_mean(y, logits, w, n, squared_error);
    case BinaryScore::accuracy:
      return weighted_mean(y, logits, w, n, hit);
    case BinaryScore::auc:
      return area_under_curve(y, logits, w, n);
  }
  return kUndefined;
}

}  // namespace voxridge
