#include "scaled_features.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "arma_view.h"
#include "blas.h"
#include "gram.h"
#include "threads.h"

namespace voxridge {

namespace {

// Of a block that is made for one use. Products of a copy go by the same blocks, so that the memory at hand, and with
// it the number of threads, does not change their rounding.
constexpr int64_t kBlockValues = 1024 * 1024;
constexpr int64_t kBlockRows = 4096;

// C += op(A) B, where B is often a single column: BLAS has a faster routine for that.
void add_product(Trans trans, MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c) {
  if (b.cols != 1) {
    gemm(trans, Trans::no, 1.0, a, b, 1.0, c);
    return;
  }
  const char t = static_cast<char>(trans);
  const int rows = static_cast<int>(a.rows), cols = static_cast<int>(a.cols), ld = static_cast<int>(a.ld), one = 1;
  const double unit = 1;
  if (rows > 0 && cols > 0) {
    arma::blas::gemv(&t, &rows, &cols, &unit, a.data, &ld, b.data, &one, &unit, c.data, &one);
  }
}

// The standard deviation where squares overflow or vanish: in units of the largest deviation. 0 where it has no inverse.
double extreme_deviation(const double* column, double mean, const RowList& rows, const arma::vec& weights) {
  if (!std::isfinite(mean)) return mean;
  double largest = 0, square = 0;
  for (const int64_t row : rows) largest = std::max(largest, std::fabs(column[row] - mean));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double deviation = (column[rows[i]] - mean) / largest;
    square += weights[i] * deviation * deviation;
  }
  const double sd = largest * std::sqrt(square);
  return std::isfinite(1 / sd) ? sd : 0;
}

}  // namespace

Scales weighted_scales(MatrixView<double> x, const RowList& rows, const arma::vec& weights, const Control& control) {
  Scales out{std::vector<double>(x.cols), std::vector<double>(x.cols)};
  parallel_for(x.cols, control.n_threads, [&](int64_t j, int) {
    if (j % 256 == 0) control.check_stop();
    const double* column = x.col(j);
    const double first = rows.empty() ? 0 : column[rows[0]];
    double shift = 0, square = 0;
    for (size_t i = 0; i < rows.size(); ++i) shift += weights[i] * (column[rows[i]] - first);
    out.mean[j] = first + shift;
    for (size_t i = 0; i < rows.size(); ++i) {
      const double deviation = column[rows[i]] - out.mean[j];
      square += weights[i] * deviation * deviation;
    }
    out.sd[j] = square > 1e-280 && square < 1e300 ? std::sqrt(square)
                                                   : extreme_deviation(column, out.mean[j], rows, weights);
    if (!std::isfinite(out.sd[j])) {
      throw Error(ErrorCode::numerical,
                  "the values of feature " + std::to_string(j + 1) + " are too large to be scaled");
    }
  });
  return out;
}

ScaledFeatures::ScaledFeatures(MatrixView<double> x, RowList rows, std::vector<double> means,
                               std::vector<double> factors, double cache_bytes, const Control& control)
    : x_(x), rows_(std::move(rows)), means_(std::move(means)), factors_(std::move(factors)) {
  const int64_t n = this->rows();
  if (8.0 * static_cast<double>(n) * static_cast<double>(cols()) > cache_bytes) return;
  std::vector<double> copy(n * cols());
  for (int64_t j = 0; j < cols(); ++j) {
    if (j % 256 == 0) control.check_stop();
    const double* from = x_.col(j);
    const double mean = means_.empty() ? 0 : means_[j], factor = factors_.empty() ? 1 : factors_[j];
    double* to = copy.data() + j * n;
    for (int64_t i = 0; i < n; ++i) to[i] = (from[rows_[i]] - mean) * factor;
  }
  copy_ = std::move(copy);
}

MatrixView<double> ScaledFeatures::block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols,
                                         const double* row_factors, std::vector<double>& scratch) const {
  const bool copied = !copy_.empty();
  if (copied && row_factors == nullptr) return {copy_.data() + row + col * rows(), n_rows, n_cols, rows()};
  scratch.resize(n_rows * n_cols);
  for (int64_t j = 0; j < n_cols; ++j) {
    double* to = scratch.data() + j * n_rows;
    if (copied) {
      const double* from = copy_.data() + row + (col + j) * rows();
      for (int64_t i = 0; i < n_rows; ++i) to[i] = from[i] * row_factors[row + i];
      continue;
    }
    const double* from = x_.col(col + j);
    const double mean = means_.empty() ? 0 : means_[col + j], factor = factors_.empty() ? 1 : factors_[col + j];
    for (int64_t i = 0; i < n_rows; ++i) to[i] = (from[rows_[row + i]] - mean) * factor;
    if (row_factors == nullptr) continue;
    for (int64_t i = 0; i < n_rows; ++i) to[i] *= row_factors[row + i];
  }
  return {scratch.data(), n_rows, n_cols, n_rows};
}

template <class Work>
void ScaledFeatures::for_each_block(const Work& work) const {
  std::vector<double> scratch;
  const int64_t height = std::min(rows(), kBlockRows);
  const int64_t width = std::max<int64_t>(1, kBlockValues / std::max<int64_t>(1, height));
  for (int64_t row = 0; row < rows(); row += height) {
    const int64_t n_rows = std::min(height, rows() - row);
    for (int64_t col = 0; col < cols(); col += width) {
      work(row, col, block(row, n_rows, col, std::min(width, cols() - col), nullptr, scratch));
    }
  }
}

arma::mat ScaledFeatures::multiply(const arma::mat& coefs) const {
  arma::mat out(rows(), coefs.n_cols, arma::fill::zeros);
  for_each_block([&](int64_t row, int64_t col, MatrixView<double> z) {
    add_product(Trans::no, z, view_of(coefs).block(col, 0, z.cols, view_of(coefs).cols),
                span_of(out).block(row, 0, z.rows, span_of(out).cols));
  });
  return out;
}

arma::mat ScaledFeatures::multiply_transposed(const arma::mat& weights) const {
  arma::mat out(cols(), weights.n_cols, arma::fill::zeros);
  for_each_block([&](int64_t row, int64_t col, MatrixView<double> z) {
    add_product(Trans::yes, z, view_of(weights).block(row, 0, z.rows, view_of(weights).cols),
                span_of(out).block(col, 0, z.cols, span_of(out).cols));
  });
  return out;
}

arma::mat ScaledFeatures::sample_gram(const Control& control) const {
  GramSum gram(Trans::no, rows(), cols(), control);
  std::vector<double> scratch;
  const int64_t fitting = kBlockValues / std::max<int64_t>(1, rows());
  const int64_t width = std::min(gram_panel(rows(), cols()), std::max<int64_t>(64, fitting));
  for (int64_t col = 0; col < cols(); col += width) {
    gram.add(block(0, rows(), col, std::min(width, cols() - col), nullptr, scratch));
  }
  return gram.finish();
}

arma::mat ScaledFeatures::feature_gram(const arma::vec& weights, const Control& control) const {
  GramSum gram(Trans::yes, cols(), rows(), control);
  std::vector<double> scratch;
  const arma::vec roots = arma::sqrt(weights);
  const int64_t fitting = kBlockValues / std::max<int64_t>(1, cols());
  const int64_t height = std::min(gram_panel(cols(), rows()), std::max<int64_t>(64, fitting));
  for (int64_t row = 0; row < rows(); row += height) {
    gram.add(block(row, std::min(height, rows() - row), 0, cols(), roots.memptr(), scratch));
  }
  return gram.finish();
}

arma::vec ScaledFeatures::row_norms() const {
  arma::vec squares(rows(), arma::fill::zeros);
  for_each_block([&](int64_t row, int64_t, MatrixView<double> z) {
    for (int64_t j = 0; j < z.cols; ++j) {
      for (int64_t i = 0; i < z.rows; ++i) squares[row + i] += z.col(j)[i] * z.col(j)[i];
    }
  });
  return arma::sqrt(squares);
}

arma::vec ScaledFeatures::weighted_squares(const arma::vec& weights) const {
  arma::vec out(cols(), arma::fill::zeros);
  for_each_block([&](int64_t row, int64_t col, MatrixView<double> z) {
    for (int64_t j = 0; j < z.cols; ++j) {
      for (int64_t i = 0; i < z.rows; ++i) out[col + j] += weights[row + i] * z.col(j)[i] * z.col(j)[i];
    }
  });
  return out;
}

}  // namespace voxridge
