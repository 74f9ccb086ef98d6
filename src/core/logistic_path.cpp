#include "logistic_path.h"

#include <algorithm>
#include <memory>

#include "logistic_batch.h"
#include "logistic_preconditioner.h"
#include "logistic_spaces.h"

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

  // Newton's method, from where the target is.
  void finish(size_t t, double lambda, const Preconditioner* preconditioner) {
    const arma::vec start = solution_.points.col(t);
    if (route_ == LogisticRoute::dual) {
      SampleSpace space(*rows_.kernel, lambda, options_.fit_intercept, start, solution_.linear.col(t));
      run(space, t, lambda);
    } else if (route_ == LogisticRoute::matrix_free) {
      GradientSpace space(*rows_.features, lambda, options_.fit_intercept, start, *preconditioner, control_);
      run(space, t, lambda);
    } else {
      FeatureSpace space(*rows_.features, lambda, options_.fit_intercept, start, control_);
      run(space, t, lambda);
    }
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
    solution_.points.col(t) = space.point();
    solution_.linear.col(t) = linear;
  }

  const LogisticRows& rows_;
  const LogisticRoute route_;
  const LogisticOptions& options_;
  const Control& control_;
  int most_ = 0;
  std::unique_ptr<SharedCurvature> shared_;
  LogisticSolution solution_;
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
