// The coefficients at the chosen penalties, and their certificates made again from the coefficients themselves.
#include <algorithm>
#include <cmath>

#include "arma_view.h"
#include "logistic.h"

namespace voxridge {

void LogisticRidge::refit(const Group& group, const std::vector<double>& lambdas, LogisticOutputs& out,
                          const Control& control) const {
  const int64_t p = data_.x.cols, n_lambdas = static_cast<int64_t>(lambdas.size());
  const bool dual = options_.route == LogisticRoute::dual || options_.route == LogisticRoute::rotate;
  const ScaledFeatures features(data_.x, rows_, view_.means, view_.factors, 0, control);
  const ScaledFeatures all(data_.x, row_range(0, data_.x.rows), view_.means, view_.factors, 0, control);
  const auto gammas = [&](const arma::mat& points) -> arma::mat {
    if (options_.route == LogisticRoute::rotate) return all.multiply_transposed(view_.rotation.back * points);
    return dual ? features.multiply_transposed(points) : points;
  };
  // Coefficients for the features as they are, and the intercept that goes with them.
  const auto unscale = [&](const double* gamma, double intercept, double* to) {
    for (int64_t j = 0; j < p; ++j) {
      to[j] = gamma[j] * view_.factors[j];
      if (!view_.means.empty()) intercept -= view_.means[j] * to[j];
    }
    return intercept;
  };
  arma::mat points(group.points.n_rows, group.targets.size());
  for (size_t t = 0; t < group.targets.size(); ++t) {
    points.col(t) = group.points.slice(std::max(0, out.best[group.targets[t]])).col(t);
  }
  const arma::mat gamma = gammas(points), linear = features.multiply(gamma);
  const arma::vec weights = weights_of(data_, rows_);
  double largest = 0;
  if (options_.route == LogisticRoute::dual) {
    for (const int64_t row : rows_) largest = std::max(largest, std::sqrt(view_.kernel(row, row)));
  } else {
    largest = features.row_norms().max();
  }
  arma::mat y(rows_.size(), 1), offset(rows_.size(), 1), residuals(rows_.size(), group.targets.size());
  for (size_t t = 0; t < group.targets.size(); ++t) {
    const int64_t target = group.targets[t];
    const int best = std::max(0, out.best[target]);  // no score anywhere: the largest penalty
    for (size_t i = 0; i < rows_.size(); ++i) {
      y[i] = data_.y.col(target)[rows_[i]];
      if (data_.offset.data != nullptr) offset[i] = data_.offset.col(target)[rows_[i]];
    }
    const LogisticTarget rows{y.memptr(), weights.memptr(), data_.offset.data == nullptr ? nullptr : offset.memptr(),
                              static_cast<int64_t>(rows_.size())};
    LogisticLoss loss;
    loss.intercept = group.intercepts(t, best);
    loss.evaluate(rows, linear.colptr(t), options_.solver.fit_intercept);
    residuals.col(t) = loss.residual;
    LogisticCertificate& to = out.chosen[target];
    to = out.certificates[best + n_lambdas * target];
    to.size = arma::norm(gamma.col(t));
    to.loss = loss.value;
    to.objective = loss.value + lambdas[best] / 2 * to.size * to.size;
    to.margin = loss.margin(rows);
    out.intercepts[target] = unscale(gamma.colptr(t), loss.intercept, out.coefs.col(target));
  }
  const arma::mat products = features.multiply_transposed(residuals);
  for (size_t t = 0; t < group.targets.size(); ++t) {
    const double lambda = lambdas[std::max(0, out.best[group.targets[t]])];
    LogisticCertificate& to = out.chosen[group.targets[t]];
    to.gradient = arma::norm(products.col(t) - lambda * gamma.col(t));
    set_bounds(to, lambda, largest);
  }
  if (!options_.keep_path) return;
  for (int64_t l = 0; l < n_lambdas; ++l) {
    const arma::mat path = gammas(group.points.slice(l));
    for (size_t t = 0; t < group.targets.size(); ++t) {
      const int64_t place = l + n_lambdas * group.targets[t];
      out.path_intercepts[place] = unscale(path.colptr(t), group.intercepts(t, l), out.path_coefs + p * place);
    }
  }
}

}  // namespace voxridge
