#include "logistic_batch.h"

#include <algorithm>
#include <cmath>

#include "error.h"

namespace voxridge {

namespace {

constexpr arma::uword kMemory = 10;
constexpr double kFewLeft = 0.1;  // of the targets: then products for all of them no longer pay
constexpr double kArmijo = 1e-4;
constexpr double kNoise = 1e-14;

// Pairs of steps and of the changes of the gradient that they made.
class History {
 public:
  void add(const arma::vec& step, const arma::vec& change) {
    const double product = arma::dot(step, change);
    if (!(product > arma::datum::eps * arma::norm(step) * arma::norm(change))) return;
    if (steps_.size() == kMemory) {
      steps_.erase(steps_.begin());
      changes_.erase(changes_.begin());
      products_.erase(products_.begin());
    }
    steps_.push_back(step);
    changes_.push_back(change);
    products_.push_back(product);
  }
  void clear() { steps_.clear(), changes_.clear(), products_.clear(); }
  bool empty() const { return steps_.empty(); }

  // The two halves of the recursion, before and after the product with M^-1.
  void before(arma::vec& direction) {
    weights_.resize(steps_.size());
    for (size_t k = steps_.size(); k-- > 0;) {
      weights_[k] = arma::dot(steps_[k], direction) / products_[k];
      direction -= weights_[k] * changes_[k];
    }
  }
  void after(arma::vec& direction) const {
    for (size_t k = 0; k < steps_.size(); ++k) {
      direction += (weights_[k] - arma::dot(changes_[k], direction) / products_[k]) * steps_[k];
    }
  }

 private:
  std::vector<arma::vec> steps_, changes_;
  std::vector<double> products_, weights_;
};

class Batch {
 public:
  Batch(const ScaledFeatures& features, const std::vector<LogisticTarget>& targets,
        const Preconditioner& preconditioner, double lambda, const LogisticOptions& options, arma::mat& points,
        std::vector<LogisticLoss>& losses)
      : features_(features),
        targets_(targets),
        preconditioner_(preconditioner),
        lambda_(lambda),
        options_(options),
        points_(points),
        losses_(losses),
        histories_(targets.size()),
        certificates_(targets.size()),
        gradients_(points.n_rows, points.n_cols) {
    for (size_t t = 0; t < targets.size(); ++t) active_.push_back(t);
  }

  // Exact linear predictors, losses and gradients of the active targets; leaves those out that are done.
  void settle() {
    const arma::uvec columns(active_);
    linear_ = features_.multiply(points_.cols(columns));
    for (size_t k = 0; k < active_.size(); ++k) evaluate(active_[k], linear_.col(k));
    renew_gradients();
  }

  // One iteration of all active targets.
  void iterate() {
    arma::mat directions = gradients_.cols(arma::uvec(active_));
    for (size_t k = 0; k < active_.size(); ++k) {
      arma::vec direction = directions.col(k);
      histories_[active_[k]].before(direction);
      directions.col(k) = direction;
    }
    preconditioner_.solve(directions);
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      arma::vec direction = directions.col(k);
      histories_[t].after(direction);
      if (!(arma::dot(direction, gradients_.col(t)) > 0)) {
        histories_[t].clear();
        arma::mat plain = gradients_.col(t);
        preconditioner_.solve(plain);
        direction = plain.col(0);
      }
      directions.col(k) = direction;
    }
    const arma::mat along = features_.multiply(directions);
    const arma::mat before = gradients_;
    arma::vec lengths(active_.size());
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      lengths[k] = search(t, directions.col(k), along.col(k), linear_.col(k));
      if (lengths[k] == 0) {
        histories_[t].clear();
        continue;
      }
      points_.col(t) += lengths[k] * directions.col(k);
      linear_.col(k) += lengths[k] * along.col(k);
    }
    renew_gradients();
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      ++certificates_[t].iterations;
      if (lengths[k] > 0) histories_[t].add(lengths[k] * directions.col(k), before.col(t) - gradients_.col(t));
      if (options_.keep_history) certificates_[t].history.push_back(certificates_[t].objective);
    }
  }

  bool done(arma::uword t) const { return certificates_[t].gradient <= lambda_ * options_.tol * certificates_[t].size; }

  // Drops the targets that are done, with their columns of linear_.
  void drop_done() {
    std::vector<arma::uword> left, columns;
    for (size_t k = 0; k < active_.size(); ++k) {
      if (done(active_[k])) continue;
      left.push_back(active_[k]);
      columns.push_back(k);
    }
    if (left.size() == active_.size()) return;
    linear_ = arma::mat(linear_.cols(arma::uvec(columns)));
    active_ = left;
  }

  void activate_all() {
    active_.clear();
    for (size_t t = 0; t < targets_.size(); ++t) active_.push_back(t);
  }

  size_t n_active() const { return active_.size(); }
  std::vector<LogisticCertificate>& certificates() { return certificates_; }

 private:
  void evaluate(arma::uword t, const arma::vec& linear) {
    losses_[t].evaluate(targets_[t], linear.memptr(), options_.fit_intercept);
  }

  double objective(arma::uword t, double square) const { return losses_[t].value + lambda_ / 2 * square; }

  void renew_gradients() {
    arma::mat residuals(features_.rows(), active_.size());
    for (size_t k = 0; k < active_.size(); ++k) residuals.col(k) = losses_[active_[k]].residual;
    const arma::mat products = features_.multiply_transposed(residuals);
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      LogisticCertificate& to = certificates_[t];
      gradients_.col(t) = products.col(k) - lambda_ * points_.col(t);
      to.gradient = arma::norm(gradients_.col(t));
      to.size = arma::norm(points_.col(t));
      to.loss = losses_[t].value;
      to.objective = objective(t, to.size * to.size);
      if (!std::isfinite(to.objective) || !std::isfinite(to.gradient)) {
        throw Error(ErrorCode::numerical, "the loss of a logistic regression is not a finite number");
      }
    }
  }

  // How far to go; 0 where nothing descends beyond rounding. Leaves the loss of the new point.
  double search(arma::uword t, const arma::vec& direction, const arma::vec& along, const arma::vec& from) {
    const double slope = arma::dot(direction, gradients_.col(t)), cross = arma::dot(direction, points_.col(t));
    const double square = arma::dot(direction, direction), size = certificates_[t].size;
    const double now = certificates_[t].objective, start = losses_[t].intercept;
    double length = 1;
    for (int halvings = 0; halvings < 40; ++halvings, length /= 2) {
      const arma::vec trial = from + length * along;
      losses_[t].intercept = start;
      evaluate(t, trial);
      if (length * slope <= kNoise * std::fabs(now)) return length;
      const double next = objective(t, size * size + length * (2 * cross + length * square));
      if (next <= now - kArmijo * length * slope) return length;
    }
    losses_[t].intercept = start;
    evaluate(t, from);
    return 0;
  }

  const ScaledFeatures& features_;
  const std::vector<LogisticTarget>& targets_;
  const Preconditioner& preconditioner_;
  const double lambda_;
  const LogisticOptions& options_;
  arma::mat& points_;
  std::vector<LogisticLoss>& losses_;
  std::vector<History> histories_;
  std::vector<LogisticCertificate> certificates_;
  std::vector<arma::uword> active_;
  arma::mat gradients_;  // of all targets
  arma::mat linear_;     // of the active ones
};

}  // namespace

std::vector<LogisticCertificate> logistic_batch(const ScaledFeatures& features,
                                                const std::vector<LogisticTarget>& targets,
                                                const Preconditioner& preconditioner, const arma::vec& row_norms,
                                                double lambda, const LogisticOptions& options, int max_iterations,
                                                arma::mat& points, std::vector<LogisticLoss>& losses,
                                                const Control& control) {
  Batch batch(features, targets, preconditioner, lambda, options, points, losses);
  batch.settle();
  batch.drop_done();
  const double few = kFewLeft * static_cast<double>(targets.size());
  for (int k = 0; k<max_iterations&& static_cast<double>(batch.n_active())> few; ++k) {
    control.check_stop();
    batch.iterate();
    batch.drop_done();
  }
  batch.activate_all();  // once more, without the rounding of the steps
  batch.settle();
  const double largest = row_norms.is_empty() ? 0 : row_norms.max();
  for (size_t t = 0; t < targets.size(); ++t) {
    LogisticCertificate& to = batch.certificates()[t];
    if (batch.done(t)) to.status = LogisticStatus::converged;
    set_bounds(to, lambda, largest);
  }
  return batch.certificates();
}

}  // namespace voxridge
