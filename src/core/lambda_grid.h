// Penalties for a path of ridge-penalised logistic regressions, from effective degrees of freedom.
//
// With d_k the eigenvalues of the bound on all curvatures, Z'(W - ww')Z / 4, a penalty leaves
// df(lambda) = sum_k d_k / (d_k + lambda) degrees of freedom (Hastie, Tibshirani and Friedman 2009, section 3.4.1).
// The grid runs, evenly in log lambda, from df = min(1/2, r / 100) to df = 0.99 r, r being the number of eigenvalues
// that are not 0, and not below 1e-4 of the largest.
#pragma once

#include <vector>

#include "arma.h"

namespace voxridge {

// Descending. `values` may be in any order.
std::vector<double> lambda_grid(const arma::vec& values, int64_t n);

}  // namespace voxridge
