#include "decoding_fold.h"

#include <algorithm>
#include <cmath>

#include "arma_view.h"
#include "blas.h"
#include "decoding_algebra.h"
#include "eigen.h"
#include "factor.h"
#include "features.h"
#include "score.h"
#include "svd.h"

namespace voxridge {

namespace {

constexpr double kShrunk = 1e-4;  // of a voxel's sum of squares: beyond this a downdate would cost over four digits
constexpr int64_t kLargestCopy = int64_t{1} << 23;  // numbers: training rows of more are not put side by side

}  // namespace

bool FoldForms::can_copy() const {
  return design_.n() * voxels_.size() <= kLargestCopy;
}

arma::mat FoldForms::targets(const DesignFold& fold) const {
  arma::mat out(fold.train.size(), design_.y.n_cols, arma::fill::none);
  for (arma::uword c = 0; c < out.n_cols; ++c) {
    for (arma::uword i = 0; i < out.n_rows; ++i) out(i, c) = design_.y(fold.train[i], c) - fold.mean[c];
  }
  return out;
}

void FoldForms::standardize(arma::mat& z, Moments& moments) const {
  const int64_t n = static_cast<int64_t>(z.n_rows);
  moments.mean.resize(z.n_cols);
  moments.sd.assign(z.n_cols, 1);
  for (arma::uword j = 0; j < z.n_cols; ++j) {
    double* column = z.colptr(j);
    const double mean = moments.mean[j] = column_mean(column, n);
    double square = 0;
    for (int64_t i = 0; i < n; ++i) {
      column[i] -= mean;
      square += column[i] * column[i];
    }
    if (!scale_ || is_constant(square, mean, n)) continue;
    const double sd = moments.sd[j] = std::sqrt(square / static_cast<double>(n));
    for (int64_t i = 0; i < n; ++i) column[i] /= sd;
  }
}

void FoldForms::apply(const Moments& moments, arma::mat& z) const {
  if (z.is_empty()) return;
  for (arma::uword j = 0; j < z.n_cols; ++j) {
    double* column = z.colptr(j);
    const double mean = moments.mean[j], inverse = 1 / moments.sd[j];
    for (arma::uword i = 0; i < z.n_rows; ++i) column[i] = (column[i] - mean) * inverse;
  }
}

void FoldForms::deviations(const DesignFold& fold, const arma::mat& z, std::vector<double>& sd) const {
  const double n = static_cast<double>(fold.train.size());
  sd.assign(z.n_cols, 1);
  for (arma::uword j = 0; j < z.n_cols && scale_; ++j) {
    const double mean = column_mean(z.colptr(j), fold.train);
    double square = 0;
    for (const int64_t i : fold.train) square += (z(i, j) - mean) * (z(i, j) - mean);
    if (!is_constant(square, mean, static_cast<int64_t>(n))) sd[j] = std::sqrt(square / n);
  }
}

arma::mat& FoldForms::rows() {
  if (!has_rows_) voxels_.gather(0, voxels_.size(), rows_);
  has_rows_ = true;
  return rows_;
}

void FoldForms::scatter(const DesignFold& fold, const arma::mat& rows, arma::mat& on) {
  on.zeros();
  for (size_t j = 0; j < fold.train.size(); ++j) {  // a row may be in the training set more than once
    for (arma::uword i = 0; i < rows.n_rows; ++i) on(i, fold.train[j]) += rows(i, j);
  }
}

void FoldForms::held_out(const DesignFold& fold, const Moments& moments, arma::mat& z) {
  const arma::mat& all = rows();
  z.set_size(fold.test.size(), all.n_cols);
  if (z.is_empty()) return;
  for (arma::uword j = 0; j < z.n_cols; ++j) {
    const double* from = all.colptr(j);
    double* to = z.colptr(j);
    for (arma::uword i = 0; i < z.n_rows; ++i) to[i] = from[fold.test[i]];
  }
  apply(moments, z);
}

// Of a training set that is the complement of its held-out rows.
bool FoldForms::downdate_moments(const DesignFold& fold, Moments& moments) {
  const arma::mat& z = rows();
  const double n = static_cast<double>(fold.train.size());
  const size_t count = fold.test.size();
  if (!has_squares_) {
    squares_.resize(z.n_cols);
    for (arma::uword j = 0; j < z.n_cols; ++j) squares_[j] = arma::dot(z.col(j), z.col(j));
    has_squares_ = true;
  }
  moments.mean.resize(z.n_cols);
  moments.sd.assign(z.n_cols, 1);
  for (arma::uword j = 0; j < z.n_cols; ++j) {
    const double* column = z.colptr(j);
    double sum = 0, square = 0;
    for (size_t i = 0; i < count; ++i) {
      const double value = column[fold.test[i]];
      sum += value;
      square += value * value;
    }
    moments.mean[j] = -sum / n;
    const double rest = squares_[j] - square - sum * sum / n;
    if (!(rest > kShrunk * squares_[j])) return false;
    if (scale_) moments.sd[j] = std::sqrt(rest / n);
  }
  return true;
}

// The training set is the complement of the held-out rows: the Gram matrix of all rows less theirs.
bool FoldForms::downdate(const DesignFold& fold, arma::mat& gram, arma::mat& right, Moments& moments) {
  const arma::mat& z = rows();
  const int64_t p = static_cast<int64_t>(z.n_cols), count = static_cast<int64_t>(fold.test.size());
  const double n = static_cast<double>(fold.train.size());
  if (!has_gram_) {
    gram_.set_size(p, p);
    right_.set_size(p, design_.y.n_cols);
    syrk(Trans::yes, 1.0, view_of(z), 0.0, span_of(gram_));
    gemm(Trans::yes, Trans::no, 1.0, view_of(z), view_of(design_.y), 0.0, span_of(right_));
    has_gram_ = true;
  }
  moments.mean.resize(p);
  moments.sd.assign(p, 1);
  block_.set_size(count + 1, p);  // the held-out rows, and the training mean times the root of n
  for (int64_t j = 0; j < p; ++j) {
    const double* from = z.colptr(j);
    double *to = block_.colptr(j), sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += to[i] = from[fold.test[i]];
    moments.mean[j] = -sum / n;
    to[count] = -sum / std::sqrt(n);
  }
  gram = gram_;
  syrk(Trans::yes, -1.0, view_of(block_), 1.0, span_of(gram));
  for (int64_t j = 0; j < p; ++j) {
    if (!(gram(j, j) > kShrunk * gram_(j, j))) return false;
    if (scale_) moments.sd[j] = std::sqrt(gram(j, j) / n);
  }
  test_.set_size(count + 1, right_.n_cols);
  for (arma::uword c = 0; c < right_.n_cols; ++c) {
    for (int64_t i = 0; i < count; ++i) test_(i, c) = design_.y(fold.test[i], c);
    test_(count, c) = fold.mean[c] * std::sqrt(n);
  }
  right = right_;
  gemm(Trans::yes, Trans::no, -1.0, view_of(block_), view_of(test_), 1.0, span_of(right));
  if (!scale_) return true;
  for (int64_t j = 0; j < p; ++j) {
    const double inverse = 1 / moments.sd[j];
    double* column = gram.colptr(j);
    for (int64_t i = j; i < p; ++i) column[i] *= inverse / moments.sd[i];
    for (arma::uword c = 0; c < right.n_cols; ++c) right(j, c) *= inverse;
  }
  return true;
}

// Zs'Zs (lower triangle), Zs'(Y_T - mean) and what standardises the rows.
void FoldForms::training_gram(const DesignFold& fold, arma::mat& gram, arma::mat& right, Moments& moments) {
  if (fold.complement && downdate(fold, gram, right, moments)) return;
  voxels_.gather(fold.train, 0, voxels_.size(), block_);
  standardize(block_, moments);
  gram.set_size(block_.n_cols, block_.n_cols);
  right.set_size(block_.n_cols, design_.y.n_cols);
  syrk(Trans::yes, 1.0, view_of(block_), 0.0, span_of(gram));
  gemm(Trans::yes, Trans::no, 1.0, view_of(block_), view_of(targets(fold)), 0.0, span_of(right));
}

bool FoldForms::fit_primal(const DesignFold& fold, double alpha, arma::mat& slopes, arma::mat* on) {
  Moments moments;
  training_gram(fold, system_, b_, moments);
  if (!factor_ridge(system_, alpha)) return false;
  held_out(fold, moments, test_);
  if (on == nullptr) {
    solve_lower(system_, b_);
    slopes.set_size(test_.n_rows, b_.n_cols);
    gemm(Trans::no, Trans::no, 1.0, view_of(test_), view_of(b_), 0.0, span_of(slopes));
    return true;
  }
  arma::mat half = test_.t();
  solve_lower(system_, half);
  slopes = half.t() * b_;
  voxels_.gather(fold.train, 0, voxels_.size(), block_);
  apply(moments, block_);
  arma::mat rows = half.t() * block_.t();
  rows.each_col() -= arma::mean(rows, 1).eval();  // of centred rows: rounding
  scatter(fold, rows, *on);
  return true;
}

void FoldForms::fit(const DesignFold& fold, double alpha, arma::mat& slopes, arma::mat* on) {
  if ((primal(fold) || downdate_pays(fold)) && fit_primal(fold, alpha, slopes, on)) return;
  if (!primal(fold) && fit_kernel(fold, alpha, slopes, on)) return;
  FoldDecomposition parts = decompose(fold, 0);
  for (arma::uword k = 0; k < parts.values.n_elem; ++k) parts.left.col(k) *= inverse(parts.values[k], alpha);
  slopes = parts.left * (parts.rows * targets(fold));
  if (on != nullptr) scatter(fold, parts.left * parts.rows, *on);
}

FoldDecomposition FoldForms::by_singular_values(const DesignFold& fold) {
  arma::mat train, test;
  Moments moments;
  voxels_.gather(fold.train, 0, voxels_.size(), train);
  standardize(train, moments);
  voxels_.gather(fold.test, 0, voxels_.size(), test);
  apply(moments, test);
  const ThinSvd svd = thin_svd(train);
  const arma::vec values = squared_with_cutoff(svd.singular, train.n_rows, train.n_cols, true);
  const arma::uvec kept = arma::find(values > 0);
  FoldDecomposition out;
  out.values = values.elem(kept);
  out.left = test * svd.right.cols(kept);
  out.rows = arma::diagmat(svd.singular.elem(kept)) * svd.left.cols(kept).t();
  return out;
}

FoldDecomposition FoldForms::decompose(const DesignFold& fold, double smallest_alpha) {
  const int64_t p = voxels_.size(), n = static_cast<int64_t>(fold.train.size());
  if (smallest_alpha <= 0 && can_copy()) return by_singular_values(fold);
  FoldDecomposition out;
  arma::mat gram, vectors;
  Moments moments;
  if (primal(fold)) {
    training_gram(fold, gram, b_, moments);
  } else {
    fold_kernel(fold, gram, test_);
  }
  symmetric_eigen(gram, out.values, vectors, control_);
  const double top = out.values.is_empty() ? 0 : std::max(0.0, out.values.max());
  if (smallest_alpha < kSvdBelow * top && can_copy()) return by_singular_values(fold);
  const arma::uvec kept = arma::find(out.values > static_cast<double>(std::max(n, p)) * arma::datum::eps * top);
  out.values = arma::vec(out.values.elem(kept));
  vectors = arma::mat(vectors.cols(kept));
  if (primal(fold)) {
    held_out(fold, moments, test_);
    voxels_.gather(fold.train, 0, p, block_);
    apply(moments, block_);
    out.left = test_ * vectors;
    out.rows = vectors.t() * block_.t();
  } else {
    const arma::vec roots = arma::sqrt(out.values);
    out.left = test_ * vectors;
    out.left.each_row() /= roots.t();
    out.rows = vectors.t();
    out.rows.each_col() %= roots;
  }
  return out;
}

}  // namespace voxridge
