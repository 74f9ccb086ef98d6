#include "logistic_spaces.h"

#include <algorithm>
#include <cmath>

#include "cholesky.h"
#include "error.h"

namespace voxridge {

namespace {

constexpr int kConjugateSteps = 250;

arma::mat factor_or_throw(arma::mat factor) {
  if (factor.is_empty()) {
    throw Error(ErrorCode::numerical, "the curvature of a logistic regression is not positive definite");
  }
  return factor;
}

}  // namespace

// ---- features ----------------------------------------------------------------------------------

double FeatureSpace::gradient(const arma::vec& residual) {
  gradient_ = features_.multiply_transposed(residual) - lambda_ * point_;
  return arma::norm(gradient_);
}

NewtonSpace::Step FeatureSpace::step(const LogisticLoss& loss) {
  step_ = solve(loss);
  return {arma::vec(features_.multiply(step_)), arma::dot(gradient_, step_), arma::dot(point_, step_),
          arma::dot(step_, step_)};
}

arma::vec FeatureSpace::solve(const LogisticLoss& loss) {
  const arma::vec slope = features_.multiply_transposed(loss.curvature);
  const arma::mat factor = factor_or_throw(robust_cholesky([&] {
    arma::mat hessian = features_.feature_gram(loss.curvature, control_);
    if (fit_intercept_ && loss.curvature_sum > 0) hessian -= slope * (slope.t() / loss.curvature_sum);
    hessian.diag() += lambda_;
    return hessian;
  }));
  arma::mat out = gradient_;
  cholesky_solve(factor, out);
  return out;
}

// ---- gradients ---------------------------------------------------------------------------------

arma::vec GradientSpace::curvature_times(const LogisticLoss& loss, const arma::vec& direction) const {
  arma::vec along = features_.multiply(direction);
  const double mean =
      fit_intercept_ && loss.curvature_sum > 0 ? arma::dot(loss.curvature, along) / loss.curvature_sum : 0;
  along = loss.curvature % (along - mean);
  return features_.multiply_transposed(along) + lambda_ * direction;
}

arma::vec GradientSpace::solve(const LogisticLoss& loss) {
  const double size = arma::norm(gradient_);
  first_gradient_ = std::max(first_gradient_, size);
  const double wanted = size * std::min(0.5, std::sqrt(size / first_gradient_));
  arma::vec out(gradient_.n_elem, arma::fill::zeros), residual = gradient_;
  arma::mat scaled = residual;
  preconditioner_.solve(scaled);
  arma::vec direction = scaled;
  double product = arma::dot(residual, direction);
  for (int k = 0; k < kConjugateSteps && arma::norm(residual) > wanted; ++k) {
    control_.check_stop();
    const arma::vec curved = curvature_times(loss, direction);
    const double curvature = arma::dot(direction, curved);
    if (!(curvature > 0)) break;
    const double length = product / curvature;
    out += length * direction;
    residual -= length * curved;
    scaled = residual;
    preconditioner_.solve(scaled);
    const double next = arma::dot(residual, scaled.col(0));
    direction = scaled.col(0) + (next / product) * direction;
    product = next;
  }
  return out;
}

// ---- samples -----------------------------------------------------------------------------------

double SampleSpace::gradient(const arma::vec& residual) {
  dual_ = residual - lambda_ * point_;
  gradient_ = kernel_ * dual_;
  return std::sqrt(std::max(0.0, arma::dot(dual_, gradient_)));
}

NewtonSpace::Step SampleSpace::step(const LogisticLoss& loss) {
  const arma::vec root = arma::sqrt(loss.curvature);
  const arma::mat factor = factor_or_throw(robust_cholesky([&] {
    arma::mat b = kernel_;
    for (arma::uword j = 0; j < b.n_cols; ++j) {
      double* column = b.colptr(j);
      const double* roots = root.memptr();
      for (arma::uword i = j; i < b.n_rows; ++i) column[i] *= roots[i] * roots[j];
      column[j] += lambda_;
    }
    return b;
  }));
  // (V K + lambda I)^-1 q = (q - S B^-1 S K q) / lambda: nothing is divided by a curvature, which may be 0.
  arma::mat right(loss.curvature.n_elem, fit_intercept_ ? 2 : 1), solved(right.n_rows, right.n_cols);
  right.col(0) = dual_;
  solved.col(0) = root % gradient_;
  if (fit_intercept_) {
    right.col(1) = loss.curvature;
    solved.col(1) = root % (kernel_ * loss.curvature);
  }
  cholesky_solve(factor, solved);
  solved.each_col() %= root;
  solved = (right - solved) / lambda_;
  step_ = solved.col(0);
  if (fit_intercept_) {
    const double down = arma::accu(solved.col(1));
    if (std::fabs(down) > 0) step_ -= ((arma::accu(step_) + arma::accu(point_)) / down) * solved.col(1);
  }
  step_linear_ = kernel_ * step_;
  return {step_linear_, arma::dot(gradient_, step_), arma::dot(linear_, step_),
          std::max(0.0, arma::dot(step_, step_linear_))};
}

void SampleSpace::move(double length) {
  point_ += length * step_;
  linear_ += length * step_linear_;
}

}  // namespace voxridge
