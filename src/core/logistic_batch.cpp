#include "logistic_batch.h"

#include <algorithm>
#include <cmath>

#include "error.h"

namespace voxridge {

namespace {

constexpr arma::uword kMemory = 10;
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
  Batch(const ScaledFeatures& features, const std::vector<LogisticTarget>& targets, Preconditioner& preconditioner,
        double lambda, const LogisticOptions& options, arma::mat& points, arma::mat& linear,
        std::vector<LogisticLoss>& losses)
      : features_(features),
        targets_(targets),
        preconditioner_(preconditioner),
        lambda_(lambda),
        options_(options),
        points_(points),
        linear_(linear),
        losses_(losses),
        histories_(targets.size()),
        certificates_(targets.size()),
        exact_(targets.size(), 1),
        gradients_(points.n_rows, points.n_cols) {
    for (size_t t = 0; t < targets.size(); ++t) active_.push_back(t);
    renew_gradients();
    drop_done();
    if (!options.keep_history) return;
    for (LogisticCertificate& one : certificates_) one.history.push_back(one.objective);
  }

  size_t n_active() const { return active_.size(); }
  std::vector<LogisticCertificate>& certificates() { return certificates_; }

  // One iteration of all targets that are not done.
  void iterate() {
    const arma::uvec columns(active_);
    double curvature = 0;
    for (const arma::uword t : active_) curvature += losses_[t].curvature_sum;
    preconditioner_.adapt(curvature / static_cast<double>(active_.size()));
    const arma::mat directions = make_directions(columns), before = gradients_.cols(columns);
    const arma::mat next = features_.multiply(points_.cols(columns) + directions);
    arma::vec lengths(active_.size());
    for (size_t k = 0; k < active_.size(); ++k) lengths[k] = search(active_[k], directions.col(k), next.col(k));
    renew_gradients();
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      ++certificates_[t].iterations;
      if (options_.keep_history) certificates_[t].history.push_back(certificates_[t].objective);
      if (lengths[k] > 0) {
        histories_[t].add(lengths[k] * directions.col(k), before.col(k) - gradients_.col(t));
      } else {
        histories_[t].clear();
      }
    }
    drop_done();
  }

 private:
  arma::mat make_directions(const arma::uvec& columns) {
    arma::mat directions = gradients_.cols(columns);
    for (size_t k = 0; k < active_.size(); ++k) {
      arma::vec direction(directions.colptr(k), directions.n_rows, false, true);
      histories_[active_[k]].before(direction);
    }
    preconditioner_.solve(directions);
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      arma::vec direction(directions.colptr(k), directions.n_rows, false, true);
      histories_[t].after(direction);
      if (arma::dot(direction, gradients_.col(t)) > 0) continue;
      histories_[t].clear();
      arma::mat plain = gradients_.col(t);
      preconditioner_.solve(plain);
      direction = plain.col(0);
    }
    return directions;
  }

  // How far to go from the point towards `next`, the linear predictor of a whole step: the point, its linear predictor
  // and its loss are then there. 0 where nothing descends.
  double search(arma::uword t, const arma::vec& direction, const arma::vec& next) {
    const double slope = arma::dot(direction, gradients_.col(t)), cross = arma::dot(direction, points_.col(t));
    const double square = arma::dot(direction, direction), size = certificates_[t].size;
    const double now = certificates_[t].objective, start = losses_[t].intercept;
    const arma::vec from = linear_.col(t), along = next - from;
    const double shift = losses_[t].intercept_shift(along, options_.fit_intercept);
    double length = 1;
    for (int halvings = 0; halvings < 40; ++halvings, length /= 2) {
      linear_.col(t) = length == 1 ? next : from + length * along;
      losses_[t].intercept = start + length * shift;
      losses_[t].evaluate(targets_[t], linear_.colptr(t), options_.fit_intercept);
      const double objective = losses_[t].value + lambda_ / 2 * (size * size + length * (2 * cross + length * square));
      if (length * slope <= kNoise * std::fabs(now) || objective <= now - kArmijo * length * slope) {
        points_.col(t) += length * direction;
        exact_[t] = length == 1;
        return length;
      }
    }
    linear_.col(t) = from;
    losses_[t].intercept = start;
    losses_[t].evaluate(targets_[t], linear_.colptr(t), options_.fit_intercept);
    return 0;
  }

  void renew_gradients() {
    arma::mat residuals(features_.rows(), active_.size());
    for (size_t k = 0; k < active_.size(); ++k) residuals.col(k) = losses_[active_[k]].residual;
    const arma::mat products = features_.multiply_transposed(residuals);
    for (size_t k = 0; k < active_.size(); ++k) {
      const arma::uword t = active_[k];
      set_gradient(t, products.col(k));
      if (!done(t) || exact_[t]) continue;  // once more, without the rounding of the steps
      linear_.col(t) = features_.multiply(points_.col(t));
      losses_[t].evaluate(targets_[t], linear_.colptr(t), options_.fit_intercept);
      exact_[t] = 1;
      set_gradient(t, features_.multiply_transposed(losses_[t].residual));
    }
  }

  void set_gradient(arma::uword t, const arma::vec& product) {
    LogisticCertificate& to = certificates_[t];
    gradients_.col(t) = product - lambda_ * points_.col(t);
    to.gradient = arma::norm(gradients_.col(t));
    to.size = arma::norm(points_.col(t));
    to.loss = losses_[t].value;
    to.objective = to.loss + lambda_ / 2 * to.size * to.size;
    if (!std::isfinite(to.objective) || !std::isfinite(to.gradient)) {
      throw Error(ErrorCode::numerical, "the loss of a logistic regression is not a finite number");
    }
  }

  bool done(arma::uword t) const { return certificates_[t].gradient <= lambda_ * options_.tol * certificates_[t].size; }

  void drop_done() {
    for (const arma::uword t : active_) {
      if (done(t)) certificates_[t].status = LogisticStatus::converged;
    }
    active_.erase(std::remove_if(active_.begin(), active_.end(), [&](arma::uword t) { return done(t); }),
                  active_.end());
  }

  const ScaledFeatures& features_;
  const std::vector<LogisticTarget>& targets_;
  Preconditioner& preconditioner_;
  const double lambda_;
  const LogisticOptions& options_;
  arma::mat& points_;
  arma::mat& linear_;
  std::vector<LogisticLoss>& losses_;
  std::vector<History> histories_;
  std::vector<LogisticCertificate> certificates_;
  std::vector<char> exact_;  // is the linear predictor that of the point, not a part of a step?
  std::vector<arma::uword> active_;
  arma::mat gradients_;
};

}  // namespace

std::vector<LogisticCertificate> logistic_batch(const ScaledFeatures& features,
                                                const std::vector<LogisticTarget>& targets,
                                                Preconditioner& preconditioner, const arma::vec& row_norms,
                                                double lambda, const LogisticOptions& options, int max_iterations,
                                                arma::mat& points, arma::mat& linear, std::vector<LogisticLoss>& losses,
                                                const Control& control) {
  Batch batch(features, targets, preconditioner, lambda, options, points, linear, losses);
  for (int k = 0; k < max_iterations && batch.n_active() > 0; ++k) {
    control.check_stop();
    batch.iterate();
  }
  const double largest = row_norms.is_empty() ? 0 : row_norms.max();
  for (LogisticCertificate& one : batch.certificates()) set_bounds(one, lambda, largest);
  return batch.certificates();
}

}  // namespace voxridge
