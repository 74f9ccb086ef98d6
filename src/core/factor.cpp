#include "factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "arma_view.h"
#include "blas.h"
#include "eigen.h"
#include "gpu_algebra.h"
#include "gram.h"
#include "svd.h"
#include "threads.h"

namespace voxridge {

namespace {

// Dual Gram matrices of centred rows have the constant vector in their null space. Given the mean eigenvalue instead,
// it keeps apart from true null directions; it meets only zeros (centred targets, centred held-out Gram), so nothing
// changes.
double lift_constant(arma::mat& gram) {
  const double value = arma::trace(gram) / static_cast<double>(gram.n_rows);
  gram += value / static_cast<double>(gram.n_rows);
  return value;
}

Factor eigen_factor(arma::mat gram, const Control& control) {
  Factor out;
  symmetric_eigen(gram, out.values, out.vectors, control);
  out.values.clamp(0, std::numeric_limits<double>::infinity());
  return out;
}

arma::uvec places(const RowList& rows) {
  return arma::conv_to<arma::uvec>::from(rows);
}

}  // namespace

Factors::Factors(const Features& features, const Folds& folds, double smallest_alpha, const Control& control)
    : features_(features),
      folds_(folds),
      weighted_(features),
      form_(choose_form(features, folds)),
      kept_(folds.count()) {
  check_inner();
  gram_ = form_ == Form::primal ? feature_gram(features, control) : sample_gram(features, control);
  choose_route(smallest_alpha);
}

Factors::Factors(const BandGrams& grams, const Folds& folds, const std::vector<double>& gammas, double smallest_alpha,
                 const Control& control)
    : features_(grams.features()),
      folds_(folds),
      grams_(&grams),
      gammas_(gammas),
      factors_(grams.bands().column_factors(gammas)),
      weighted_(features_.scaled(factors_)),
      form_(choose_form(features_, folds)),
      kept_(folds.count()) {
  check_inner();
  gram_ = grams.gram(gammas, control);
  choose_route(smallest_alpha);
}

void Factors::check_made_here() const {
  if (!made_here_) throw Error(ErrorCode::internal, "A factor is asked for that has not been read from its file.");
}

void Factors::check_inner() const {
  if (inner() <= kLargestGram) return;
  throw Error(ErrorCode::too_large, "the smaller of samples and features is " + std::to_string(inner()) + "; at most " +
                                        std::to_string(kLargestGram) + " can be factored");
}

void Factors::choose_route(double smallest_alpha) {
  if (!std::isfinite(arma::trace(gram_))) {
    throw Error(ErrorCode::invalid_argument,
                grams_ == nullptr
                    ? "The squares of `X` overflow. Rescale its columns."
                    : "The squares of `Xs` times their gammas overflow. Rescale the columns or the gammas.");
  }
  top_ = largest_eigenvalue(gram_);
  route_ = serves_by_eigen(smallest_alpha) ? Route::eigen : Route::svd;
  if (route_ == Route::eigen) return;
  gram_.reset();
  if (form_ == Form::dual && weighted_.cols() > weighted_.rows() && folds_.count() > 0) {
    std::vector<double> scratch;
    const arma::mat rows = copy_of(weighted_.block(0, weighted_.rows(), 0, weighted_.cols(), scratch));
    triangle_ = upper_triangle(rows.t()).t();
  }
}

// From vectors of the weighted features to those for the features as they are.
void Factors::unscale(Factor& factor) const {
  if (factors_.empty()) return;
  arma::mat& vectors = form_ == Form::dual ? factor.right : factor.vectors;
  for (arma::uword j = 0; j < vectors.n_cols; ++j) {
    for (arma::uword i = 0; i < vectors.n_rows; ++i) vectors(i, j) *= factors_[i];
  }
}

bool Factors::serves(double smallest_alpha) const {
  return route_ == Route::svd || serves_by_eigen(smallest_alpha);
}

// Not for alpha = 0, which needs a rank cut-off.
bool Factors::serves_by_eigen(double alpha) const {
  return alpha > kSvdBelow * top_ || (alpha > 0 && top_ == 0);
}

double Factors::bytes_of_folds() const {
  double sum = 0;
  for (const Fold& fold : folds_.folds) {
    const double m = form_ == Form::primal ? static_cast<double>(inner()) : static_cast<double>(fold.train.size());
    sum += 8 * m * (m + static_cast<double>(fold.test.size()));
  }
  return sum;
}

Factor Factors::make_full(const Control& control) const {
  check_made_here();
  control.check_stop();
  if (route_ == Route::eigen) {
    arma::mat gram = gram_;
    const bool lift = form_ == Form::dual && features_.centered();
    const double constant_value = lift ? lift_constant(gram) : -1;
    Factor out = eigen_factor(std::move(gram), control);
    out.constant_value = constant_value;
    out.spans_samples = form_ == Form::dual;
    unscale(out);
    return out;
  }
  std::vector<double> scratch;
  const MatrixView<double> x = weighted_.block(0, weighted_.rows(), 0, weighted_.cols(), scratch);
  const ThinSvd svd = thin_svd(copy_of(x));
  Factor out;
  out.values = squared_with_cutoff(svd.singular, features_.rows(), features_.cols(), features_.centered());
  if (form_ == Form::primal) {
    out.vectors = svd.right;
    out.samples = svd.left.each_row() % arma::sqrt(out.values).t();
  } else {
    out.vectors = svd.left;
    out.right = svd.right;
  }
  if (form_ == Form::dual && out.vectors.n_cols == out.vectors.n_rows) {
    const arma::uvec determined = arma::find(out.values > 0);
    const arma::uword missing = out.values.n_elem - determined.n_elem;
    out.spans_samples = missing == (features_.centered() ? 1 : 0);
    if (out.spans_samples) {  // the one that is missing is the constant vector
      out.vectors = out.vectors.cols(determined);
      out.right = out.right.cols(determined);
      out.values = out.values(determined);
    }
  }
  unscale(out);
  return out;
}

FoldFactor Factors::make_fold(int64_t f, const Control& control) const {
  check_made_here();
  control.check_stop();
  const Fold& fold = folds_.folds[f];
  if (route_ == Route::svd) return make_fold_svd(fold, control);
  FoldFactor out;
  if (form_ == Form::dual) {
    DualGram gram = dual_fold_gram(gram_, weighted_, fold, control);
    const double constant_value = features_.centered() ? lift_constant(gram.train) : -1;
    static_cast<Factor&>(out) = eigen_factor(std::move(gram.train), control);
    out.constant_value = constant_value;
    out.left = product(gram.test, Trans::no, out.vectors, control);
    return out;
  }
  arma::mat held_out;
  if (folds_.partition) {
    held_out =
        grams_ == nullptr ? feature_gram(weighted_, fold.test, control) : grams_->held_out_gram(f, gammas_, control);
  }
  PrimalGram gram = primal_fold_gram(gram_, weighted_, fold, folds_.partition ? &held_out : nullptr, control);
  static_cast<Factor&>(out) = eigen_factor(std::move(gram.train), control);
  out.direct = gram.direct;
  out.left = product(weighted_rows(fold.test, gram.train_mean), Trans::no, out.vectors, control);
  out.train_mean = factors_.empty() ? std::move(gram.train_mean) : training_means(features_, fold.train);
  unscale(out);
  return out;
}

arma::mat Factors::weighted_rows(const RowList& rows, const std::vector<double>& shift) const {
  std::vector<double> scratch;
  return copy_of(weighted_.gather(rows, 0, weighted_.cols(), shift.data(), scratch));
}

FoldFactor Factors::make_fold_svd(const Fold& fold, const Control&) const {
  FoldFactor out;
  arma::mat train, test;
  if (!triangle_.is_empty()) {
    train = triangle_.rows(places(fold.train));
    test = triangle_.rows(places(fold.test));
    if (features_.centered()) {
      arma::rowvec mean(train.n_cols);
      for (arma::uword j = 0; j < train.n_cols; ++j) mean[j] = column_mean(train.colptr(j), train.n_rows);
      train.each_row() -= mean;
      test.each_row() -= mean;
    }
  } else {
    const std::vector<double> mean = training_means(weighted_, fold.train);
    train = weighted_rows(fold.train, mean);
    test = weighted_rows(fold.test, mean);
    out.train_mean = training_means(features_, fold.train);
  }
  const ThinSvd svd = thin_svd(train);
  out.values = squared_with_cutoff(svd.singular, train.n_rows, train.n_cols, features_.centered());
  out.vectors = form_ == Form::primal ? svd.right : svd.left;
  out.left = test * svd.right;
  if (form_ == Form::dual) {
    out.left.each_row() %= arma::sqrt(out.values).t();
  } else {
    out.samples = svd.left.each_row() % arma::sqrt(out.values).t();
  }
  unscale(out);
  return out;
}

}  // namespace voxridge
