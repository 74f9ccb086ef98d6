#include "logistic_fold.h"

#include <cmath>

#include "arma_view.h"

namespace voxridge {

namespace {

arma::uvec indices(const RowList& rows) {
  return arma::conv_to<arma::uvec>::from(rows);
}

arma::mat gather(MatrixView<double> from, const RowList& rows, const std::vector<int64_t>& columns) {
  arma::mat out(rows.size(), columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    for (size_t i = 0; i < rows.size(); ++i) out(i, j) = from.col(columns[j])[rows[i]];
  }
  return out;
}

}  // namespace

LogisticView make_logistic_view(const LogisticData& data, LogisticRoute route, const Scales& scales, bool fit_intercept,
                                const Control& control) {
  LogisticView view;
  if (fit_intercept) view.means = scales.mean;
  view.factors.resize(data.x.cols);
  for (int64_t j = 0; j < data.x.cols; ++j) {
    const double size = scales.sd[j] * (data.penalty.empty() ? 1 : std::sqrt(data.penalty[j]));
    view.factors[j] = size > 0 ? 1 / size : 0;
  }
  if (route != LogisticRoute::dual && route != LogisticRoute::rotate) return view;
  const ScaledFeatures features(data.x, row_range(0, data.x.rows), view.means, view.factors, 0, control);
  view.kernel = features.sample_gram(control);
  if (route == LogisticRoute::rotate) {
    view.rotation = rotate(std::move(view.kernel), control);
    view.kernel.reset();
  }
  return view;
}

RowList rows_with_weight(const LogisticData& data, const RowList& from) {
  RowList rows;
  for (const int64_t row : from) {
    if (data.weights[row] > 0) rows.push_back(row);
  }
  return rows;
}

arma::vec weights_of(const LogisticData& data, const RowList& rows) {
  arma::vec weights(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) weights[i] = data.weights[rows[i]];
  return weights / arma::accu(weights);
}

LogisticFold::LogisticFold(const LogisticData& data, const LogisticView& view, LogisticRoute route, RowList train,
                           RowList test, std::vector<int64_t> targets, const Control& control)
    : data_(data),
      view_(view),
      route_(route),
      train_(std::move(train)),
      test_(std::move(test)),
      targets_(std::move(targets)),
      weights_(weights_of(data, train_)),
      y_(gather(data.y, train_, targets_)) {
  if (data.offset.data != nullptr) offset_ = gather(data.offset, train_, targets_);
  if (route == LogisticRoute::dual) {
    kernel_ = view.kernel.submat(indices(train_), indices(train_));
    test_kernel_ = view.kernel.submat(indices(test_), indices(train_));
    return;
  }
  const auto features = [&](const RowList& rows, double cache_bytes) {
    return route == LogisticRoute::rotate
               ? std::make_unique<ScaledFeatures>(view_of(view.rotation.features), rows, std::vector<double>(),
                                                  std::vector<double>(), cache_bytes, control)
               : std::make_unique<ScaledFeatures>(data.x, rows, view.means, view.factors, cache_bytes, control);
  };
  features_ = features(train_, control.memory_bytes / 2);
  test_features_ = features(test_, 0);
}

void LogisticFold::solve(const std::vector<double>& lambdas, const LogisticOptions& options, const Control& control,
                         const std::function<void(size_t, const LogisticSolution&)>& on_lambda) const {
  LogisticRows rows;
  rows.features = features_.get();
  rows.kernel = &kernel_;
  rows.row_norms = route_ == LogisticRoute::dual ? arma::vec(arma::sqrt(kernel_.diag())) : features_->row_norms();
  rows.weights = &weights_;
  for (size_t t = 0; t < targets_.size(); ++t) {
    rows.targets.push_back({y_.colptr(t), weights_.memptr(), offset_.is_empty() ? nullptr : offset_.colptr(t),
                            static_cast<int64_t>(train_.size())});
  }
  logistic_path(rows, route_, lambdas, options, control, on_lambda);
}

arma::mat LogisticFold::held_out_logits(const LogisticSolution& solution) const {
  arma::mat out = route_ == LogisticRoute::dual ? arma::mat(test_kernel_ * solution.points)
                                                : test_features_->multiply(solution.points);
  for (size_t t = 0; t < targets_.size(); ++t) {
    out.col(t) += solution.losses[t].intercept;
    if (data_.offset.data == nullptr) continue;
    for (size_t i = 0; i < test_.size(); ++i) out(i, t) += data_.offset.col(targets_[t])[test_[i]];
  }
  return out;
}

}  // namespace voxridge
