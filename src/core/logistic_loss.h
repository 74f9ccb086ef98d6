// The loss of logistic regression with its intercept minimised out.
//
//   loss(b, u) = sum_i w_i [ y_i softplus(-z_i) + (1 - y_i) softplus(z_i) ],   z_i = offset_i + b + u_i
//
// with u the linear predictor without intercept and offset, and weights that sum to 1. For every u, b is the root of
// sum_i w_i (y_i - sigma(z_i)) = 0, so that what remains is a function of the coefficients alone, strongly convex with
// the penalty.
#pragma once

#include <cstdint>

#include "arma.h"

namespace voxridge {

// The training rows of one target. Both classes have weight.
struct LogisticTarget {
  const double* y = nullptr;  // in [0, 1]
  const double* weights = nullptr;
  const double* offset = nullptr;  // nullptr: none
  int64_t n = 0;
};

struct LogisticLoss {
  double intercept = 0;  // where the search for it starts, and where it ended
  double value = 0;
  arma::vec residual;   // w_i (y_i - sigma(z_i))
  arma::vec curvature;  // w_i sigma'(z_i)
  double curvature_sum = 0;
  double residual_size = 0;  // sum_i |residual_i|

  // At u; without an intercept it stays what it is.
  void evaluate(const LogisticTarget& target, const double* u, bool fit_intercept);

  // How the intercept moves, at first, when u moves along a direction.
  double intercept_shift(const arma::vec& along, bool fit_intercept) const {
    return fit_intercept && curvature_sum > 0 ? -arma::dot(curvature, along) / curvature_sum : 0;
  }

  // The smallest logit, without its offset, on the right side: above 0, a plane separates the classes. A row with both
  // outcomes has none on the right side.
  double margin(const LogisticTarget& target) const;

 private:
  double pass(const LogisticTarget& target, const double* u);

  arma::vec exponential_, own_;  // own_: the logits without offsets
};

// log(p / (1 - p)) of the weighted mean of y.
double null_logit(const LogisticTarget& target);

}  // namespace voxridge
