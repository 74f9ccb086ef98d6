// Ridge-penalised logistic regression of one target by Newton's method, with a bound on the distance to its optimum.
//
//   F(b, gamma) = loss(b, Z gamma) + lambda / 2 ||gamma||^2        (loss: logistic_loss.h; Z: centred, scaled features)
//
// With b minimised out, F is lambda-strongly convex in gamma, so with its gradient -g, g = Z'r - lambda gamma,
//   ||gamma - gamma*|| <= ||g|| / lambda,   F - F* <= ||g||^2 / (2 lambda),   max |p - p*| <= max_i ||z_i|| ||g|| / (2
//   lambda)
// (Nesterov 2004, section 2.1.3). The search ends where the first bound is tol ||gamma||, not where steps or losses get
// small.
//
// The same steps are taken in several spaces: of the features, of the samples (gamma = Z'a), or of the features by
// conjugate gradients.
#pragma once

#include <vector>

#include "control.h"
#include "logistic_loss.h"

namespace voxridge {

enum class LogisticStatus {
  converged = 0,
  rounding = 1,  // the gradient is nothing but rounding; the bounds hold as they are
  max_iterations = 2
};

struct LogisticCertificate {
  int iterations = 0;
  LogisticStatus status = LogisticStatus::max_iterations;
  double loss = 0;  // of the data, without the penalty
  double objective = 0;
  double gradient = 0;  // ||g||
  double bound = 0, gap = 0, probability_bound = 0;
  double size = 0;              // ||gamma||
  double margin = 0;            // LogisticLoss::margin()
  std::vector<double> history;  // the objective at the start and after each iteration, where it is kept
};

struct LogisticOptions {
  bool fit_intercept = true;
  double tol = 1e-8;
  int max_iterations = 100;
  bool keep_history = false;
};

// Where Newton's method moves. The point is kept inside.
class NewtonSpace {
 public:
  virtual ~NewtonSpace() = default;

  virtual arma::vec linear() = 0;                          // Z gamma
  virtual double squared_size() const = 0;                 // ||gamma||^2
  virtual double gradient(const arma::vec& residual) = 0;  // makes g; returns ||g||

  // Newton's step from the last gradient, or, with `again`, that of the last Hessian, whose factor is kept.
  virtual void make_step(const LogisticLoss& loss, bool again) = 0;
  struct Step {
    arma::vec linear;   // Z (gamma + dgamma)
    double slope = 0;   // g'dgamma: how fast the objective falls at first
    double cross = 0;   // gamma'dgamma
    double square = 0;  // ||dgamma||^2
  };
  virtual Step step() = 0;               // the last step
  virtual void move(double length) = 0;  // along it
};

// `u` is Z gamma and `loss` that of it, at the start and at the end. `row_norms`: ||z_i||.
LogisticCertificate newton(NewtonSpace& space, const LogisticTarget& target, const arma::vec& row_norms, double lambda,
                           const LogisticOptions& options, arma::vec& u, LogisticLoss& loss, const Control& control);

// The bounds of a certificate from its gradient, size and lambda.
void set_bounds(LogisticCertificate& certificate, double lambda, double largest_norm);

// Below this a gradient is nothing but rounding: 16 eps sum_i |r_i| ||z_i||.
double rounding_floor(const LogisticLoss& loss, const arma::vec& row_norms);

}  // namespace voxridge
