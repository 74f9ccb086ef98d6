#include "loo.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "arma_view.h"

namespace voxridge {

namespace {

[[noreturn]] void undefined(double alpha) {
  std::ostringstream text;
  text << "closed-form cross-validation is undefined at alpha = " << alpha
       << ": the fit passes through the samples. Leave that penalty out, or use folds.";
  throw Error(ErrorCode::numerical, text.str());
}

}  // namespace

template <class T>
ClosedFormSearch<T>::ClosedFormSearch(const TileSource<T>& source, std::shared_ptr<const Factor> factor,
                                      ClosedForm kind, Score score, const UserScore& user,
                                      const std::vector<double>& alphas)
    : source_(source), factor_(std::move(factor)), kind_(kind), score_(score), user_(user), alphas_(alphas) {
  vectors_ = source.device().resident(view_of(factor_->vectors), vectors_memory_);
  if (!factor_->samples.is_empty()) samples_ = source.device().resident(view_of(factor_->samples), samples_memory_);
  if (kind == ClosedForm::gcv) {
    prepare_gcv();
    return;
  }
  if (source.form() == Form::primal) {
    std::vector<double> scratch;
    const Features& features = source.features();
    const MatrixView<double> x = features.block(0, features.rows(), 0, features.cols(), scratch);
    left_.set_size(features.rows(), factor_->vectors.n_cols);
    gemm(Trans::no, Trans::no, 1.0, x, view_of(factor_->vectors), 0.0, span_of(left_));
  }
  left_view_ = source.form() == Form::dual ? vectors_ : source.device().resident(view_of(left_), left_memory_);
  prepare_loo();
}

template <class T>
void ClosedFormSearch<T>::prepare_loo() {
  const arma::mat& left = source_.form() == Form::dual ? factor_->vectors : left_;
  const double n = static_cast<double>(left.n_rows), eps = std::numeric_limits<double>::epsilon();
  const bool dual = source_.form() == Form::dual;
  arma::mat weights(left.n_cols, alphas_.size());
  for (size_t a = 0; a < alphas_.size(); ++a) {
    for (arma::uword i = 0; i < left.n_cols; ++i) {
      const double lambda = factor_->values[i], g = inverse(lambda, alphas_[a]);
      weights(i, a) = dual && !factor_->spans_samples ? lambda * g : g;
    }
  }
  divisors_ = arma::square(left) * weights;
  for (size_t a = 0; a < alphas_.size(); ++a) {
    arma::vec column = divisors_.col(a);
    if (factor_->spans_samples) {
      if (factor_->constant_value >= 0) column -= inverse(factor_->constant_value, alphas_[a]) / n;
      if (alphas_[a] == 0 && column.min() <= 0) undefined(alphas_[a]);
    } else {
      column = (source_.features().centered() ? 1 - 1 / n : 1.0) - column;
      if (column.min() <= 10 * n * eps) undefined(alphas_[a]);
    }
    divisors_.col(a) = 1 / column;
  }
}

template <class T>
void ClosedFormSearch<T>::prepare_gcv() {
  const double n = static_cast<double>(source_.features().rows()), eps = std::numeric_limits<double>::epsilon();
  const bool centered = source_.features().centered();
  shares_.set_size(alphas_.size(), factor_->values.n_elem);
  freedom_.set_size(alphas_.size());
  for (size_t a = 0; a < alphas_.size(); ++a) {
    const double alpha = alphas_[a];
    double left = n - static_cast<double>(factor_->values.n_elem);
    for (arma::uword i = 0; i < factor_->values.n_elem; ++i) {
      const double lambda = factor_->values[i], share = lambda + alpha > 0 ? alpha / (lambda + alpha) : 1;
      shares_(a, i) = share * share;
      left += share;
    }
    if (centered) left -= factor_->constant_value >= 0 ? alpha * inverse(factor_->constant_value, alpha) : 1;
    if (left <= 10 * n * eps) undefined(alpha);
    freedom_[a] = left;
  }
}

// Leave-one-out residuals at one alpha, n x columns.
template <class T>
MatrixSpan<T> ClosedFormSearch<T>::residuals(Tile<T>& tile, MatrixView<T> rotated, size_t a) const {
  Device<T>& device = source_.device();
  const bool residual = factor_->spans_samples;
  std::vector<double> values(factor_->values.begin(), factor_->values.end());
  const MatrixSpan<T> shrunk = device.reserve(tile.gathered_memory, rotated.rows, tile.cols);
  device.shrink(rotated, values, std::vector<double>(tile.cols, alphas_[a]), shrunk);
  if (source_.form() == Form::dual && !residual) device.scale_rows(shrunk, values, shrunk);
  const MatrixSpan<T> out = device.reserve(tile.predictions_memory, left_view_.rows, tile.cols);
  device.gemm(Trans::no, Trans::no, T(1), left_view_, shrunk, T(0), out);
  if (!residual) device.subtract(tile.y, out, out);
  device.scale_rows(out, arma::conv_to<std::vector<double>>::from(divisors_.col(a)), out);
  return out;
}

template <class T>
arma::mat ClosedFormSearch<T>::loo_scores(Tile<T>& tile, MatrixView<T> rotated, const HeldOutSums& whole) const {
  Device<T>& device = source_.device();
  const bool by_values = score_ == Score::correlation || score_ == Score::user;
  arma::mat truth, scores(alphas_.size(), tile.cols, arma::fill::none);
  if (by_values) {
    truth.set_size(tile.y.rows, tile.cols);
    device.download(tile.y, span_of(truth));
  }
  for (size_t a = 0; a < alphas_.size(); ++a) {
    source_.control().check_stop();
    const MatrixSpan<T> out = residuals(tile, rotated, a);
    if (!by_values) {
      const arma::rowvec errors(device.squares(out, {}));
      scores.row(a) = scores_from_errors(score_, all_nodes({0.0}), errors, whole);
      continue;
    }
    arma::mat prediction(truth.n_rows, truth.n_cols, arma::fill::none);
    device.download(out, span_of(prediction));
    prediction = truth - prediction;
    std::vector<double> row(tile.cols);
    score_columns(score_, user_, truth, prediction, tile.mean, whole.constant, row.data());
    scores.row(a) = arma::rowvec(row);
  }
  return scores;
}

template <class T>
arma::mat ClosedFormSearch<T>::gcv_scores(Tile<T>& tile, MatrixView<T> rotated, const HeldOutSums& whole) const {
  arma::mat energy(rotated.rows, tile.cols, arma::fill::none);  // of y in each direction of the fit
  source_.device().download(rotated, span_of(energy));
  energy = arma::square(energy);
  if (source_.form() == Form::primal) {
    for (arma::uword i = 0; i < energy.n_rows; ++i) energy.row(i) *= inverse(factor_->values[i], 0);
  }
  arma::rowvec outside = arma::rowvec(whole.null_error) - arma::sum(energy, 0);
  outside.clamp(0, std::numeric_limits<double>::infinity());
  if (factor_->spans_samples) outside.zeros();
  arma::mat errors = shares_ * energy;
  errors.each_row() += outside;
  const double n = static_cast<double>(whole.rows);
  for (size_t a = 0; a < alphas_.size(); ++a) errors.row(a) *= (n / freedom_[a]) * (n / freedom_[a]);
  return scores_from_errors(score_, all_nodes(alphas_), errors, whole);
}

template <class T>
arma::mat ClosedFormSearch<T>::scores(Tile<T>& tile, std::vector<char>& constant) const {
  Device<T>& device = source_.device();
  HeldOutSums whole;
  whole.rows = tile.y.rows;
  whole.null_error = device.squares(tile.y, {});
  whole.outside.assign(tile.cols, 0.0);
  whole.constant = constant = source_.constant_targets(tile, whole.sum_squares);
  const MatrixView<T> rotated = rotate(tile);
  return kind_ == ClosedForm::loo ? loo_scores(tile, rotated, whole) : gcv_scores(tile, rotated, whole);
}

template <class T>
MatrixView<T> ClosedFormSearch<T>::rotate(Tile<T>& tile) const {
  Device<T>& device = source_.device();
  const MatrixSpan<T> rotated = device.reserve(tile.held_memory, vectors_.cols, tile.cols);
  source_.rotate_whole(tile, vectors_, samples_, rotated);
  return rotated;
}

template <class T>
arma::mat ClosedFormSearch<T>::loo_predictions(Tile<T>& tile, const std::vector<size_t>& chosen) const {
  Device<T>& device = source_.device();
  const MatrixView<T> rotated = rotate(tile);
  arma::mat out(tile.y.rows, tile.cols, arma::fill::none), left(tile.y.rows, tile.cols, arma::fill::none);
  device.download(tile.y, span_of(out));
  for (size_t a = 0; a < alphas_.size(); ++a) {
    if (std::find(chosen.begin(), chosen.end(), a) == chosen.end()) continue;
    source_.control().check_stop();
    device.download(residuals(tile, rotated, a), span_of(left));
    for (int64_t j = 0; j < tile.cols; ++j) {
      if (chosen[j] == a) out.col(j) -= left.col(j);
    }
  }
  return out;
}

template class ClosedFormSearch<float>;
template class ClosedFormSearch<double>;

}  // namespace voxridge
