#include "logistic_preconditioner.h"

#include "cholesky.h"
#include "error.h"

namespace voxridge {

CurvatureBound::CurvatureBound(const ScaledFeatures& features, const arma::vec& weights, bool fit_intercept,
                               bool diagonal_only, const Control& control) {
  const arma::vec means = fit_intercept ? arma::vec(features.multiply_transposed(weights)) : arma::vec();
  if (diagonal_only) {
    matrix_ = features.weighted_squares(weights);
    if (fit_intercept) matrix_ -= arma::square(means);
  } else {
    matrix_ = features.feature_gram(weights, control);
    if (fit_intercept) matrix_ -= means * means.t();
  }
  matrix_ /= 4;
}

Preconditioner::Preconditioner(const CurvatureBound& bound, double lambda) {
  if (bound.matrix().n_cols == 1 && bound.matrix().n_rows != 1) {
    factor_ = bound.matrix() + lambda;
    return;
  }
  factor_ = robust_cholesky([&] {
    arma::mat m = bound.matrix();
    m.diag() += lambda;
    return m;
  });
  if (factor_.n_rows != bound.matrix().n_rows) {
    throw Error(ErrorCode::numerical, "a curvature matrix of a logistic regression is not positive definite");
  }
}

void Preconditioner::solve(arma::mat& columns) const {
  if (factor_.n_cols == factor_.n_rows) {
    cholesky_solve(factor_, columns);
  } else {
    columns.each_col() /= factor_.col(0);
  }
}

}  // namespace voxridge
