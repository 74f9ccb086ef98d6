#include "logistic_preconditioner.h"

#include "cholesky.h"
#include "error.h"

namespace voxridge {

namespace {

constexpr double kMuch = 0.75;

}  // namespace

SharedCurvature::SharedCurvature(const ScaledFeatures& features, const arma::vec& weights, bool fit_intercept,
                                 bool diagonal_only, const Control& control) {
  const arma::vec means = fit_intercept ? arma::vec(features.multiply_transposed(weights)) : arma::vec();
  if (diagonal_only) {
    matrix_ = features.weighted_squares(weights);
    if (fit_intercept) matrix_ -= arma::square(means);
  } else {
    matrix_ = features.feature_gram(weights, control);
    if (fit_intercept) matrix_ -= means * means.t();
  }
}

Preconditioner::Preconditioner(const SharedCurvature& shared, double lambda, double curvature)
    : shared_(shared), lambda_(lambda), curvature_(0) {
  adapt(curvature);
}

void Preconditioner::adapt(double curvature) {
  if (curvature > kMuch * curvature_ && curvature_ > kMuch * curvature) return;
  curvature_ = curvature;
  const arma::mat& shared = shared_.matrix();
  if (shared.n_cols == 1 && shared.n_rows != 1) {
    factor_ = curvature * shared + lambda_;
    return;
  }
  factor_ = robust_cholesky([&] {
    arma::mat m = curvature * shared;
    m.diag() += lambda_;
    return m;
  });
  if (factor_.n_rows != shared.n_rows) {
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
