// The logistic function and its relatives, exact to rounding for any logit: one header for fitting, prediction and
// scoring.
//
// With e = exp(-|z|) there is one exponential, which never overflows:
//   sigma(z)    = 1 / (1 + e) for z >= 0, e / (1 + e) below;  1 - sigma(z) is sigma(-z)
//   softplus(z) = log(1 + exp(z)) = max(z, 0) + log1p(e);     log sigma(z) = -softplus(-z)
//   sigma'(z)   = e / (1 + e)^2, where p (1 - p) is 0 from z = 37 on
// NaN stays NaN; sigma(Inf) = 1 and sigma(-Inf) = 0.
#pragma once

#include <cmath>

namespace voxridge {

inline double sigmoid(double z) {
  const double e = std::exp(-std::fabs(z));
  return (z >= 0 ? 1 : e) / (1 + e);
}

inline double softplus(double z) {
  return (z > 0 ? z : z == z ? 0 : z) + std::log1p(std::exp(-std::fabs(z)));
}

inline double log_sigmoid(double z) {
  return -softplus(-z);
}

inline double sigmoid_slope(double z) {
  const double e = std::exp(-std::fabs(z));
  return e / ((1 + e) * (1 + e));
}

// y - sigma(z), which keeps its digits where sigma rounds to 1.
inline double logistic_residual(double y, double z) {
  return y * sigmoid(-z) - (1 - y) * sigmoid(z);
}

// -y log sigma(z) - (1 - y) log sigma(-z); a term of weight 0 is 0, also where its logarithm is infinite.
inline double logistic_loss(double y, double z) {
  return (y > 0 ? y * softplus(-z) : 0) + (y < 1 ? (1 - y) * softplus(z) : 0);
}

inline double logit(double p) {
  return std::log(p) - std::log1p(-p);
}

}  // namespace voxridge
