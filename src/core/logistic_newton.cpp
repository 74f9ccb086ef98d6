#include "logistic_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.h"

namespace voxridge {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kArmijo = 1e-4;
constexpr double kNoise = 1e-14;  // relative differences of the objective below this are rounding
constexpr int kStalls = 3;
constexpr double kChordSafety = 10;  // how much worse a second step by one Hessian may be than the first

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
                           const LogisticOptions& options, arma::vec& u, LogisticLoss& loss, const Control& control) {
  LogisticCertificate out;
  const double largest = row_norms.is_empty() ? 0 : row_norms.max();
  bool exact = true;  // is u that of the point, not a part of a step?
  double last_step = std::numeric_limits<double>::infinity(), last_gradient = last_step;
  int stalls = 0;  // steps in a row that neither the objective nor the gradient has noticed
  while (true) {
    control.check_stop();
    const double square = space.squared_size(), size = std::sqrt(square), wanted = lambda * options.tol * size;
    out.objective = loss.value + lambda / 2 * square;
    out.gradient = space.gradient(loss.residual);
    if (!std::isfinite(out.objective) || !std::isfinite(out.gradient)) {
      throw Error(ErrorCode::numerical, "the loss of a logistic regression is not a finite number");
    }
    const bool small = out.gradient <= wanted;
    // where the optimum is 0, steps never get small beside the point, but the certificate says that it is reached
    const bool near = last_step <= options.tol || largest / 2 * out.gradient <= lambda * options.tol;
    const bool noise = stalls >= kStalls || (near && out.gradient <= rounding_floor(loss, row_norms));
    if ((small || noise) && !exact) {
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

    // A Hessian that has just made the gradient so much smaller will do so again: its factor serves once more where
    // that is enough, or nearly so.
    const bool again = out.iterations > 0 && out.gradient * (out.gradient / last_gradient) * kChordSafety <= wanted;
    const bool stuck = out.gradient > last_gradient / 2;
    last_gradient = out.gradient;
    space.make_step(loss, again);
    const NewtonSpace::Step step = space.step();
    const arma::vec before = u, along = step.linear - u;
    const double start = loss.intercept, shift = loss.intercept_shift(along, options.fit_intercept);
    double length = 1;
    for (int halvings = 0;; ++halvings, length /= 2) {
      u = length == 1 ? step.linear : before + length * along;
      loss.intercept = start + length * shift;
      loss.evaluate(target, u.memptr(), options.fit_intercept);
      const double objective = loss.value + lambda / 2 * (square + length * (2 * step.cross + length * step.square));
      if (length * step.slope <= kNoise * std::fabs(out.objective) || halvings == 60) break;
      if (objective <= out.objective - kArmijo * length * step.slope) break;
    }
    space.move(length);
    stalls = stuck && length * step.slope <= kNoise * std::fabs(out.objective) ? stalls + 1 : 0;
    last_step = length * std::sqrt(step.square / std::max(square, step.square));
    exact = length == 1;
    ++out.iterations;
  }
  set_bounds(out, lambda, largest);
  return out;
}

}  // namespace voxridge
