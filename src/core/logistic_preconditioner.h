// The bound on all curvatures, M = Z'(W - ww')Z / 4 + lambda I, W = diag(w): at least the Hessian of every target at
// every point, since sigma' <= 1/4 (Boehning and Lindsay 1988, doi:10.1007/BF00049423). One factor serves all targets;
// the step M^-1 g always descends.
#pragma once

#include "control.h"
#include "scaled_features.h"

namespace voxridge {

class CurvatureBound {
 public:
  // Weights sum to 1. `diagonal_only`: only the diagonal is made, where the matrix would be too large.
  CurvatureBound(const ScaledFeatures& features, const arma::vec& weights, bool fit_intercept, bool diagonal_only,
                 const Control& control);

  const arma::mat& matrix() const { return matrix_; }  // without lambda; or its diagonal

 private:
  arma::mat matrix_;
};

// M of one lambda, factored.
class Preconditioner {
 public:
  Preconditioner(const CurvatureBound& bound, double lambda);

  void solve(arma::mat& columns) const;  // <- M^-1 columns

 private:
  arma::mat factor_;  // of Cholesky, or one column: the diagonal
};

}  // namespace voxridge
