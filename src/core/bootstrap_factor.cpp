#include "bootstrap_factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "arma_view.h"
#include "blas.h"
#include "cholesky.h"
#include "eigen.h"
#include "error.h"
#include "factor.h"
#include "gram.h"
#include "svd.h"

namespace voxridge {

namespace {

constexpr int64_t kPanel = 512;  // columns of X at a time
constexpr double kMargin = 4;    // a resample's largest eigenvalue over that of the data

// Row i times root[i].
void scale_rows(arma::mat& m, const std::vector<double>& weights) {
  for (arma::uword j = 0; j < m.n_cols; ++j) {
    for (arma::uword i = 0; i < m.n_rows; ++i) m(i, j) *= weights[i];
  }
}

std::vector<double> roots_of(const std::vector<double>& counts) {
  std::vector<double> out;
  for (const double count : counts) out.push_back(std::sqrt(count));
  return out;
}

Resample all_rows(int64_t n) {
  return {row_range(0, n), std::vector<double>(n, 1.0), static_cast<double>(n)};
}

}  // namespace

BootstrapFactors::BootstrapFactors(const BootstrapModel& model, const Control& control)
    : model_(model), smallest_alpha_(*std::min_element(model.alphas.begin(), model.alphas.end())) {
  const int64_t small = std::min(model.x.rows, model.x.cols);
  if (small > kLargestGram) {
    throw Error(ErrorCode::too_large, "the smaller of samples and features is " + std::to_string(small) + "; at most " +
                                          std::to_string(kLargestGram) + " can be factored");
  }
  const Form form = model.x.cols <= model.x.rows ? Form::primal : Form::dual;
  const double top = largest_eigenvalue(arma::symmatl(gram(all_rows(model.x.rows), form, control)));
  svd_ = smallest_alpha_ == 0 || smallest_alpha_ <= kMargin * kSvdBelow * top;
}

// m x count: columns first .. first + count - 1 of S; `means` gets their xbar.
arma::mat BootstrapFactors::rows_of(const Resample& resample, int64_t first, int64_t count,
                                    std::vector<double>* means) const {
  const int64_t m = static_cast<int64_t>(resample.rows.size());
  const std::vector<double> roots = roots_of(resample.counts);
  arma::mat out(m, count, arma::fill::none);
  if (means != nullptr) means->assign(count, 0.0);
  for (int64_t j = 0; j < count; ++j) {
    const double* from = model_.x.col(first + j);
    double* to = out.colptr(j);
    for (int64_t i = 0; i < m; ++i) to[i] = from[resample.rows[i]];
    double mean = 0;
    if (model_.intercept) {
      const double start = to[0];  // exact for a constant column
      for (int64_t i = 0; i < m; ++i) mean += resample.counts[i] * (to[i] - start);
      mean = start + mean / resample.size;
    }
    for (int64_t i = 0; i < m; ++i) to[i] = roots[i] * (to[i] - mean);
    if (means != nullptr) (*means)[j] = mean;
  }
  return out;
}

// n_rows x count: rows and columns of x_new, less xbar.
arma::mat BootstrapFactors::new_rows(const std::vector<double>& means, int64_t row, int64_t n_rows, int64_t first,
                                     int64_t count) const {
  arma::mat out = copy_of(model_.x_new.block(row, first, n_rows, count));
  for (int64_t j = 0; j < count; ++j) out.col(j) -= means[j];
  return out;
}

// Lower triangle of S'S or S S'.
arma::mat BootstrapFactors::gram(const Resample& resample, Form form, const Control& control) const {
  const int64_t p = model_.x.cols, m = static_cast<int64_t>(resample.rows.size());
  arma::mat out;
  if (form == Form::primal) {
    const arma::mat rows = rows_of(resample, 0, p, nullptr);
    out.zeros(p, p);
    syrk(Trans::yes, 1, view_of(rows), 0, span_of(out));
  } else {
    out.zeros(m, m);
    for (int64_t first = 0; first < p; first += kPanel) {
      control.check_stop();
      const arma::mat panel = rows_of(resample, first, std::min(kPanel, p - first), nullptr);
      syrk(Trans::no, 1, view_of(panel), 1, span_of(out));
    }
  }
  if (!std::isfinite(arma::trace(out))) {
    throw Error(ErrorCode::invalid_argument, "The squares of `X` overflow. Rescale its columns.");
  }
  return out;
}

ResampleFactor BootstrapFactors::make(Resample resample, const Control& control) const {
  control.check_stop();
  ResampleFactor out;
  out.resample = std::move(resample);
  const std::vector<double>& counts = out.resample.counts;
  const double size = out.resample.size;
  if (svd_) {
    from_svd(out);
  } else {
    out.form = model_.x.cols <= static_cast<int64_t>(counts.size()) ? Form::primal : Form::dual;
    from_gram(out, control);
  }
  if (model_.alphas.size() == 1 && !out.values.is_empty()) {
    for (arma::uword k = 0; k < out.values.n_elem; ++k) out.right.col(k) *= inverse(out.values[k], model_.alphas[0]);
    out.values.reset();
  }
  if (!model_.intercept) return out;
  // Right' 1 = 0 but for rounding, which a large mean of the targets or a small penalty would bring out.
  for (arma::uword k = 0; k < out.right.n_cols; ++k) {
    const double mean = arma::accu(out.right.col(k)) / size;
    for (arma::uword i = 0; i < out.right.n_rows; ++i) out.right(i, k) -= counts[i] * mean;
  }
  if (model_.predicts()) {  // ybar
    out.right.insert_cols(out.right.n_cols, arma::vec(counts) / size);
  }
  return out;
}

void BootstrapFactors::from_gram(ResampleFactor& out, const Control& control) const {
  const Resample& resample = out.resample;
  const std::vector<double> roots = roots_of(resample.counts);
  const bool primal = out.form == Form::primal;
  arma::mat gram = this->gram(resample, out.form, control);
  control.check_stop();
  if (model_.alphas.size() > 1) {
    symmetric_eigen(gram, out.values, out.vectors, control);
    out.values.clamp(0, std::numeric_limits<double>::infinity());
    out.right = primal ? arma::mat(rows_of(resample, 0, model_.x.cols, nullptr) * out.vectors) : out.vectors;
    scale_rows(out.right, roots);
    return;
  }
  gram.diag() += model_.alphas[0];
  if (!cholesky(gram)) throw Error(ErrorCode::numerical, "a Gram matrix with its penalty is not positive definite");
  arma::mat side;
  if (primal) {
    side = rows_of(resample, 0, model_.x.cols, nullptr);
    scale_rows(side, roots);
    side = side.t();
  } else {
    side = arma::diagmat(arma::vec(roots));
  }
  cholesky_solve(gram, side);
  out.right = side.t();
  out.has_left = !primal || model_.predicts();
}

void BootstrapFactors::from_svd(ResampleFactor& out) const {
  const Resample& resample = out.resample;
  const int64_t p = model_.x.cols, m = static_cast<int64_t>(resample.rows.size());
  const arma::mat rows = rows_of(resample, 0, p, nullptr);
  if (!rows.is_finite() || !std::isfinite(arma::norm(rows, "fro"))) {
    throw Error(ErrorCode::invalid_argument, "The squares of `X` overflow. Rescale its columns.");
  }
  ThinSvd svd = thin_svd(rows);
  out.values = squared_with_cutoff(svd.singular, m, p, model_.intercept);
  out.deficient = smallest_alpha_ == 0 && static_cast<int64_t>(arma::accu(out.values > 0)) < p;
  out.vectors = std::move(svd.right);
  out.right = std::move(svd.left);
  scale_rows(out.right, roots_of(resample.counts));
  for (arma::uword k = 0; k < out.right.n_cols; ++k) out.right.col(k) *= std::sqrt(out.values[k]);
}

arma::mat BootstrapFactors::left(const ResampleFactor& factor, int64_t first, int64_t count) const {
  arma::mat out =
      factor.form == Form::primal ? left_of_features(factor, first, count) : left_of_samples(factor, first, count);
  if (model_.predicts() && model_.intercept) out.insert_rows(out.n_rows, arma::rowvec(count, arma::fill::ones));
  return out;
}

// V' for weights, V'(z - xbar) for predictions; V = I where there are no vectors.
arma::mat BootstrapFactors::left_of_features(const ResampleFactor& factor, int64_t first, int64_t count) const {
  if (!model_.predicts()) return factor.vectors.rows(first, first + count - 1).t();
  const int64_t p = model_.x.cols;
  const bool vectors = !factor.vectors.is_empty();
  arma::mat out(vectors ? factor.vectors.n_cols : p, count, arma::fill::zeros);
  std::vector<double> means;
  for (int64_t col = 0; col < p; col += kPanel) {
    const int64_t cols = std::min(kPanel, p - col);
    rows_of(factor.resample, col, cols, &means);
    const arma::mat z = new_rows(means, first, count, col, cols);
    if (vectors) {
      out += factor.vectors.rows(col, col + cols - 1).t() * z.t();
    } else {
      out.rows(col, col + cols - 1) = z.t();
    }
  }
  return out;
}

// S for weights, S (z - xbar) for predictions; times U' where there are vectors.
arma::mat BootstrapFactors::left_of_samples(const ResampleFactor& factor, int64_t first, int64_t count) const {
  arma::mat out;
  if (!model_.predicts()) {
    out = rows_of(factor.resample, first, count, nullptr);
  } else {
    const int64_t p = model_.x.cols;
    out.zeros(factor.resample.rows.size(), count);
    std::vector<double> means;
    for (int64_t col = 0; col < p; col += kPanel) {
      const int64_t cols = std::min(kPanel, p - col);
      const arma::mat panel = rows_of(factor.resample, col, cols, &means);
      out += panel * new_rows(means, first, count, col, cols).t();
    }
  }
  return factor.vectors.is_empty() ? out : arma::mat(factor.vectors.t() * out);
}

double BootstrapFactors::inner() const {
  return static_cast<double>(std::min(model_.x.rows, model_.x.cols));
}

double BootstrapFactors::held() const {
  const double n = static_cast<double>(model_.x.rows), p = static_cast<double>(model_.x.cols), r = inner();
  const double vectors = svd_ ? p * r : model_.alphas.size() > 1 ? r * r : 0;
  return n * (r + 3) + vectors;
}

double BootstrapFactors::scratch() const {
  const double n = static_cast<double>(model_.x.rows), p = static_cast<double>(model_.x.cols), r = inner();
  return svd_ ? 4 * n * p : 4 * n * r + 2 * n * static_cast<double>(kPanel);
}

}  // namespace voxridge
