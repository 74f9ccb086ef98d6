#include "logistic_newton.h"

#include <cmath>
#include <limits>

#include "error.h"

namespace voxridge {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kArmijo = 1e-4;
constexpr double kNoise = 1e-14;  // relative differences of the objective below this are rounding

}  // namespace

void set_bounds(LogisticCertificate& certificate, double lambda, double largest_norm) {
  certificate.bound = certificate.gradient / lambda;
  certificate.gap = certificate.gradient * certificate.gradient / (2 * lambda);
  certificate.probability_bound = largest_norm / 2 * certificate.bound;
}

double rounding_floor(const LogisticLoss& loss, const arma::vec& row_norms) {
  return 16 * kEps * arma::dot(arma::abs(loss.residual), row_norms);
}

LogisticCertificate newton(NewtonSpace& space, const LogisticTarget& target, const arma::vec& row_norms, double lambda,
                           const LogisticOptions& options, LogisticLoss& loss, const Control& control) {
  LogisticCertificate out;
  arma::vec u = space.linear();
  bool exact = true;  // is u that of the point, not a sum of steps?
  double last_step = std::numeric_limits<double>::infinity();
  loss.evaluate(target, u.memptr(), options.fit_intercept);
  while (true) {
    control.check_stop();
    const double square = space.squared_size(), size = std::sqrt(square);
    out.objective = loss.value + lambda / 2 * square;
    out.gradient = space.gradient(loss.residual);
    if (!std::isfinite(out.objective) || !std::isfinite(out.gradient)) {
      throw Error(ErrorCode::numerical, "the loss of a logistic regression is not a finite number");
    }
    const bool small = out.gradient <= lambda * options.tol * size;
    const bool noise = out.gradient <= rounding_floor(loss, row_norms) && last_step <= options.tol;
    if ((small || noise) && !exact) {  // once more, without the rounding of the steps
      u = space.linear();
      loss.evaluate(target, u.memptr(), options.fit_intercept);
      exact = true;
      continue;
    }
    if (options.keep_history) out.history.push_back(out.objective);
    out.size = size;
    out.loss = loss.value;
    out.status = small ? LogisticStatus::converged : noise ? LogisticStatus::rounding : LogisticStatus::max_iterations;
    if (small || noise || out.iterations >= options.max_iterations) break;

    const NewtonSpace::Step step = space.step(loss);
    const arma::vec before = u;
    const double start = loss.intercept;
    double length = 1;
    int halvings = 0;
    while (true) {
      u = before + length * step.linear;
      loss.intercept = start;
      loss.evaluate(target, u.memptr(), options.fit_intercept);
      const double objective = loss.value + lambda / 2 * (square + length * (2 * step.cross + length * step.square));
      if (length * step.slope <= kNoise * std::fabs(out.objective)) break;
      if (objective <= out.objective - kArmijo * length * step.slope || ++halvings > 60) break;
      length /= 2;
    }
    space.move(length);
    last_step = length * std::sqrt(step.square / std::max(square, step.square));
    exact = false;
    ++out.iterations;
  }
  set_bounds(out, lambda, row_norms.is_empty() ? 0 : row_norms.max());
  return out;
}

}  // namespace voxridge
