// The spaces in which Newton's method for logistic regression moves.
//
// Newton's system with the intercept minimised out, v_i the curvatures of the loss, vv' that of the intercept:
//   features   (Z'(V - vv'/1'v)Z + lambda I) dgamma = g                                    p^3/3 + n p^2
//   samples    gamma = Z'a, K = ZZ':  (V K + lambda I) da = d - db v,  d = r - lambda a,  1'(a + da) = 0,   n^3/3
//              solved by B = lambda I + S K S, S = V^1/2 (Saunders, Gammerman and Vovk 1998 for the dual form)
//   gradients  the first by preconditioned conjugate gradients, 4np per step (Nocedal and Wright 2006, algorithm 7.1)
#pragma once

#include <memory>

#include "logistic_newton.h"
#include "logistic_preconditioner.h"
#include "scaled_features.h"

namespace voxridge {

class FeatureSpace : public NewtonSpace {
 public:
  FeatureSpace(const ScaledFeatures& features, double lambda, bool fit_intercept, arma::vec start,
               const Control& control)
      : features_(features),
        lambda_(lambda),
        fit_intercept_(fit_intercept),
        point_(std::move(start)),
        control_(control) {}

  arma::vec linear() override { return features_.multiply(point_); }
  double squared_size() const override { return arma::dot(point_, point_); }
  double gradient(const arma::vec& residual) override;
  void make_step(const LogisticLoss& loss, bool again) override { step_ = solve(loss, again); }
  Step step() override;
  void move(double length) override { point_ += length * step_; }

  const arma::vec& point() const { return point_; }

 protected:
  virtual arma::vec solve(const LogisticLoss& loss, bool again);

  const ScaledFeatures& features_;
  const double lambda_;
  const bool fit_intercept_;
  arma::vec point_, gradient_, step_;
  const Control& control_;

 private:
  arma::mat factor_;
};

class GradientSpace : public FeatureSpace {
 public:
  GradientSpace(const ScaledFeatures& features, double lambda, bool fit_intercept, arma::vec start,
                const Preconditioner& preconditioner, const Control& control)
      : FeatureSpace(features, lambda, fit_intercept, std::move(start), control), preconditioner_(preconditioner) {}

 protected:
  arma::vec solve(const LogisticLoss& loss, bool again) override;

 private:
  arma::vec curvature_times(const LogisticLoss& loss, const arma::vec& direction) const;

  const Preconditioner& preconditioner_;
  double first_gradient_ = 0;
};

class SampleSpace : public NewtonSpace {
 public:
  SampleSpace(const arma::mat& kernel, double lambda, bool fit_intercept, arma::vec start, arma::vec linear)
      : kernel_(kernel),
        lambda_(lambda),
        fit_intercept_(fit_intercept),
        point_(std::move(start)),
        linear_(std::move(linear)) {}

  arma::vec linear() override { return linear_ = kernel_ * point_; }
  double squared_size() const override { return std::max(0.0, arma::dot(point_, linear_)); }
  double gradient(const arma::vec& residual) override;
  void make_step(const LogisticLoss& loss, bool again) override;
  Step step() override;
  void move(double length) override;

  const arma::vec& point() const { return point_; }

 private:
  arma::vec solve(const arma::vec& right, const arma::vec& kernel_right) const;

  const arma::mat& kernel_;
  const double lambda_;
  const bool fit_intercept_;
  arma::vec point_, linear_;      // a, K a
  arma::vec dual_, gradient_;     // d, K d
  arma::vec step_, next_linear_;  // da, K (a + da)
  // Of the last Hessian: that of B, V^1/2, and (V K + lambda I)^-1 v with its sum.
  arma::mat factor_;
  arma::vec root_, along_;
  double along_sum_ = 0;
};

}  // namespace voxridge
