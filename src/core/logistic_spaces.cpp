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

NewtonSpace::Step FeatureSpace::step() {
  return {arma::vec(features_.multiply(point_ + step_)), arma::dot(gradient_, step_), arma::dot(point_, step_),
          arma::dot(step_, step_)};
}

arma::vec FeatureSpace::solve(const LogisticLoss& loss, bool again) {
  if (!again) {
    const arma::vec slope = features_.multiply_transposed(loss.curvature);
    factor_ = factor_or_throw(robust_cholesky([&] {
      arma::mat hessian = features_.feature_gram(loss.curvature, control_);
      if (fit_intercept_ && loss.curvature_sum > 0) hessian -= slope * (slope.t() / loss.curvature_sum);
      hessian.diag() += lambda_;
      return hessian;
    }));
  }
  arma::mat out = gradient_;
  cholesky_solve(factor_, out);
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

arma::vec GradientSpace::solve(const LogisticLoss& loss, bool) {
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

// (V K + lambda I)^-1 q = (q - S B^-1 S K q) / lambda: nothing is divided by a curvature, which may be 0.
arma::vec SampleSpace::solve(const arma::vec& right, const arma::vec& kernel_right) const {
  arma::mat solved = root_ % kernel_right;
  cholesky_solve(factor_, solved);
  return (right - root_ % solved.col(0)) / lambda_;
}

void SampleSpace::make_step(const LogisticLoss& loss, bool again) {
  if (!again) {
    root_ = arma::sqrt(loss.curvature);
    factor_ = factor_or_throw(robust_cholesky([&] {
      arma::mat b = kernel_;
      const double* root = root_.memptr();
      for (arma::uword j = 0; j < b.n_cols; ++j) {
        double* column = b.colptr(j);
        for (arma::uword i = j; i < b.n_rows; ++i) column[i] *= root[i] * root[j];
        column[j] += lambda_;
      }
      return b;
    }));
    if (fit_intercept_) {
      along_ = solve(loss.curvature, kernel_ * loss.curvature);
      along_sum_ = arma::accu(along_);
    }
  }
  step_ = solve(dual_, gradient_);
  if (fit_intercept_ && along_sum_ > 0) step_ -= ((arma::accu(step_) + arma::accu(point_)) / along_sum_) * along_;
  next_linear_ = kernel_ * (point_ + step_);
}

NewtonSpace::Step SampleSpace::step() {
  return {next_linear_, arma::dot(gradient_, step_), arma::dot(linear_, step_),
          std::max(0.0, arma::dot(step_, next_linear_ - linear_))};
}

void SampleSpace::move(double length) {
  point_ += length * step_;
  linear_ = length == 1 ? next_linear_ : linear_ + length * (next_linear_ - linear_);
}

}  // namespace voxridge
