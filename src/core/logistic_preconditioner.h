// A matrix like all Hessians, M = c Z'(W - ww')Z + lambda I, W = diag(w). With c = 1/4 it is at least the Hessian of
// every target at every point, since sigma' <= 1/4 (Boehning and Lindsay 1988, doi:10.1007/BF00049423); with c the mean
// of sigma' over rows and targets it comes closer to them. One factor serves all targets; the step M^-1 g descends at
// first.
#pragma once

#include "control.h"
#include "scaled_features.h"

namespace voxridge {

class SharedCurvature {
 public:
  // Weights sum to 1. `diagonal_only`: only the diagonal is made, where the matrix would be too large.
  SharedCurvature(const ScaledFeatures& features, const arma::vec& weights, bool fit_intercept, bool diagonal_only,
                  const Control& control);

  const arma::mat& matrix() const { return matrix_; }  // Z'(W - ww')Z, or its diagonal

 private:
  arma::mat matrix_;
};

// M of one lambda, factored.
class Preconditioner {
 public:
  Preconditioner(const SharedCurvature& shared, double lambda, double curvature);

  // Makes it again where the mean curvature has changed much.
  void adapt(double curvature);

  void solve(arma::mat& columns) const;  // <- M^-1 columns

 private:
  const SharedCurvature& shared_;
  const double lambda_;
  double curvature_;
  arma::mat factor_;  // of Cholesky, or one column: the diagonal
};

}  // namespace voxridge
