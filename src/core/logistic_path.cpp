#include "logistic_path.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "arma_view.h"
#include "logistic_batch.h"
#include "logistic_preconditioner.h"
#include "logistic_spaces.h"
#include "rotation.h"

namespace voxridge {

namespace {

// Iterations of a batch before Newton's method takes over: one of its steps costs as much as about d / 4 of them, and
// few steps are needed.
constexpr int64_t kFewestIterations = 40, kMostIterations = 200;
constexpr int64_t kLargestShared = 5000;  // features: beyond, only the diagonal of the shared curvature is made

class Path {
 public:
  Path(const LogisticRows& rows, LogisticRoute route, const LogisticOptions& options, const Control& control)
      : rows_(rows), route_(route), options_(options), control_(control) {
    const int64_t dims =
        route == LogisticRoute::dual ? static_cast<int64_t>(rows.kernel->n_rows) : rows.features->cols();
    solution_.points.zeros(dims, rows.targets.size());
    solution_.losses.resize(rows.targets.size());
    solution_.certificates.resize(rows.targets.size());
    solution_.linear.zeros(rows.row_norms.n_elem, rows.targets.size());
    for (size_t t = 0; t < rows.targets.size(); ++t) {
      if (options.fit_intercept) solution_.losses[t].intercept = null_logit(rows.targets[t]);
      solution_.losses[t].evaluate(rows.targets[t], solution_.linear.colptr(t), options.fit_intercept);
    }
    if (route == LogisticRoute::primal || route == LogisticRoute::dual) return;
    most_ = static_cast<int>(std::min(kMostIterations, std::max(kFewestIterations, dims / 4)));
    const bool diagonal = route == LogisticRoute::matrix_free && dims > kLargestShared;
    shared_ =
        std::make_unique<SharedCurvature>(*rows.features, *rows.weights, options.fit_intercept, diagonal, control);
  }

  const LogisticSolution& solve(double lambda) {
    extrapolate(std::log(lambda));
    if (shared_ == nullptr) {
      for (size_t t = 0; t < rows_.targets.size(); ++t) finish(t, lambda, nullptr);
      return with_margins();
    }
    Preconditioner preconditioner(*shared_, lambda, 0.25);
    solution_.certificates =
        logistic_batch(*rows_.features, rows_.targets, preconditioner, rows_.row_norms, lambda, options_, most_,
                       solution_.points, solution_.linear, solution_.losses, control_);
    for (size_t t = 0; t < rows_.targets.size(); ++t) {
      if (solution_.certificates[t].status == LogisticStatus::max_iterations) finish(t, lambda, &preconditioner);
    }
    return with_margins();
  }

 private:
  const LogisticSolution& with_margins() {
    for (size_t t = 0; t < rows_.targets.size(); ++t) {
      solution_.certificates[t].margin = solution_.losses[t].margin(rows_.targets[t]);
    }
    return solution_;
  }

  // Starts where a line through the last two solutions, over the logarithm of lambda, leads to, if that is better than
  // the last solution itself.
  void extrapolate(double log_lambda) {
    const double ratio = (log_lambda - last_log_) / (last_log_ - log_before_), lambda = std::exp(log_lambda);
    arma::mat points = solution_.points, linear = solution_.linear;
    if (++n_solved_ > 2 && std::fabs(ratio) <= 2) {
      for (arma::uword t = 0; t < points.n_cols; ++t) {
        const arma::vec point = points.col(t) + ratio * (points.col(t) - points_before_.col(t));
        const arma::vec along = ratio * (linear.col(t) - linear_before_.col(t)), u = linear.col(t) + along;
        LogisticLoss loss = solution_.losses[t];
        loss.intercept += loss.intercept_shift(along, options_.fit_intercept);
        loss.evaluate(rows_.targets[t], u.memptr(), options_.fit_intercept);
        const double now = solution_.losses[t].value + lambda / 2 * square(points.col(t), linear.col(t));
        if (!(loss.value + lambda / 2 * square(point, u) < now)) continue;
        solution_.points.col(t) = point;
        solution_.linear.col(t) = u;
        solution_.losses[t] = std::move(loss);
      }
    }
    points_before_ = std::move(points);
    linear_before_ = std::move(linear);
    log_before_ = last_log_;
    last_log_ = log_lambda;
  }

  // ||gamma||^2
  double square(const arma::vec& point, const arma::vec& linear) const {
    return route_ == LogisticRoute::dual ? arma::dot(point, linear) : arma::dot(point, point);
  }

  // Newton's method, from where the target is.
  void finish(size_t t, double lambda, const Preconditioner* preconditioner) {
    const arma::vec start = solution_.points.col(t);
    if (route_ == LogisticRoute::dual) {
      finish_dual(t, lambda, start);
    } else if (route_ == LogisticRoute::matrix_free) {
      GradientSpace space(*rows_.features, lambda, options_.fit_intercept, start, *preconditioner, control_);
      run(space, t, lambda);
    } else {
      FeatureSpace space(*rows_.features, lambda, options_.fit_intercept, start, control_);
      run(space, t, lambda);
    }
  }

  // Where K is singular, a has parts that K does not see; they grow as lambda falls, until their rounding hides the
  // rest. Then the fit goes on, with those for smaller lambdas, in the space of the features of K alone.
  void finish_dual(size_t t, double lambda, const arma::vec& start) {
    if (rotated_ == nullptr) {
      SampleSpace space(*rows_.kernel, lambda, options_.fit_intercept, start, solution_.linear.col(t));
      run(space, t, lambda);
      const LogisticCertificate& found = solution_.certificates[t];
      if (found.status != LogisticStatus::rounding || found.bound <= options_.tol * found.size) return;
      rotation_ = rotate(*rows_.kernel, control_);
      const int64_t n = static_cast<int64_t>(rotation_.features.n_rows);
      rotated_ = std::make_unique<ScaledFeatures>(view_of(rotation_.features), row_range(0, n), std::vector<double>(),
                                                  std::vector<double>(), 0, control_);
    }
    FeatureSpace space(*rotated_, lambda, options_.fit_intercept,
                       rotated_->multiply_transposed(solution_.points.col(t)), control_);
    solution_.linear.col(t) = space.linear();
    solution_.losses[t].evaluate(rows_.targets[t], solution_.linear.colptr(t), options_.fit_intercept);
    run(space, t, lambda);
    solution_.points.col(t) = rotation_.back * space.point();
  }

  template <class Space>
  void run(Space& space, size_t t, double lambda) {
    LogisticCertificate& to = solution_.certificates[t];
    const LogisticCertificate before = std::move(to);
    arma::vec linear = solution_.linear.col(t);
    to = newton(space, rows_.targets[t], rows_.row_norms, lambda, options_, linear, solution_.losses[t], control_);
    if (shared_ != nullptr) {
      to.iterations += before.iterations;
      if (!before.history.empty()) {  // its end is the start of the other
        to.history.insert(to.history.begin(), before.history.begin(), before.history.end() - 1);
      }
    }
    if (space.point().n_elem == solution_.points.n_rows) solution_.points.col(t) = space.point();
    solution_.linear.col(t) = linear;
  }

  const LogisticRows& rows_;
  const LogisticRoute route_;
  const LogisticOptions& options_;
  const Control& control_;
  int most_ = 0;
  std::unique_ptr<SharedCurvature> shared_;
  LogisticSolution solution_;
  // The dual on features of its own, once it needs them.
  Rotation rotation_;
  std::unique_ptr<ScaledFeatures> rotated_;
  // Of the solution before, for extrapolate().
  int n_solved_ = 0;
  arma::mat points_before_, linear_before_;
  double last_log_ = 0, log_before_ = 0;
};

}  // namespace

void logistic_path(const LogisticRows& rows, LogisticRoute route, const std::vector<double>& lambdas,
                   const LogisticOptions& options, const Control& control,
                   const std::function<void(size_t, const LogisticSolution&)>& on_lambda) {
  Path path(rows, route, options, control);
  for (size_t l = 0; l < lambdas.size(); ++l) {
    control.check_stop();
    on_lambda(l, path.solve(lambdas[l]));
    control.advance(1);
  }
}

}  // namespace voxridge
