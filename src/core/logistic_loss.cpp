#include "logistic_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sigmoid.h"

namespace voxridge {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kReach = 8;  // how far the intercept may go at once, and as far again as it is

}  // namespace

// Residuals and curvatures at the present intercept; returns the sum of the residuals.
double LogisticLoss::pass(const LogisticTarget& target, const double* u) {
  double sum = 0, magnitudes = 0, curvatures = 0;
  for (int64_t i = 0; i < target.n; ++i) {
    own_[i] = intercept + u[i];
    const double z = own_[i] + (target.offset == nullptr ? 0 : target.offset[i]);
    const double e = std::exp(-std::fabs(z)), inverse = 1 / (1 + e);
    const double p = z >= 0 ? inverse : e * inverse, q = z >= 0 ? e * inverse : inverse;
    exponential_[i] = e;
    residual[i] = target.weights[i] * (target.y[i] * q - (1 - target.y[i]) * p);
    curvature[i] = target.weights[i] * e * inverse * inverse;
    sum += residual[i];
    magnitudes += std::fabs(residual[i]);
    curvatures += curvature[i];
  }
  curvature_sum = curvatures;
  residual_size = magnitudes;
  return sum;
}

void LogisticLoss::evaluate(const LogisticTarget& target, const double* u, bool fit_intercept) {
  residual.set_size(target.n);
  curvature.set_size(target.n);
  exponential_.set_size(target.n);
  own_.set_size(target.n);
  double sum = pass(target, u);
  // Newton's method, kept within the bracket of what has been seen: the sum falls with the intercept.
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  for (int step = 0; fit_intercept && std::fabs(sum) > 4 * kEps * residual_size && step < 200; ++step) {
    (sum > 0 ? low : high) = intercept;
    double next = intercept + sum / curvature_sum;
    const double reach = kReach + std::fabs(intercept);
    // Where all logits are saturated, curvatures are next to nothing and Newton's step next to infinite.
    if (std::isinf(low)) {
      if (!(next < high && high - next <= reach)) next = high - reach;
    } else if (std::isinf(high)) {
      if (!(next > low && next - low <= reach)) next = low + reach;
    } else if (!(next > low && next < high)) {
      next = low + (high - low) / 2;
    }
    if (std::fabs(next - intercept) <= kEps * std::max(1.0, std::fabs(intercept)) || next == low || next == high) break;
    intercept = next;
    sum = pass(target, u);
  }
  double loss = 0;
  for (int64_t i = 0; i < target.n; ++i) {
    const double z = own_[i] + (target.offset == nullptr ? 0 : target.offset[i]), y = target.y[i];
    loss += target.weights[i] * (std::max(z, 0.0) - y * z + std::log1p(exponential_[i]));
  }
  value = loss;
}

double LogisticLoss::margin(const LogisticTarget& target) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < target.n; ++i) {
    const double y = target.y[i], z = own_[i];
    smallest = std::min(smallest, y == 1 ? z : y == 0 ? -z : -std::fabs(z));
  }
  return smallest;
}

double null_logit(const LogisticTarget& target) {
  double ones = 0, zeros = 0;
  for (int64_t i = 0; i < target.n; ++i) {
    ones += target.weights[i] * target.y[i];
    zeros += target.weights[i] * (1 - target.y[i]);
  }
  return std::log(ones) - std::log(zeros);
}

}  // namespace voxridge
