#include "refit.h"

#include <algorithm>

#include "arma_view.h"

namespace voxridge {

namespace {

constexpr double kBlockFlops = 2e10;
constexpr int64_t kBlockCols = 512;  // of features, where a block has to be copied

}  // namespace

template <class T>
Refit<T>::Refit(const TileSource<T>& source, std::shared_ptr<const Factor> factor, const CoefOutputs& out)
    : source_(source),
      factor_(std::move(factor)),
      out_(out),
      values_(factor_->values.begin(), factor_->values.end()),
      vectors_(source.device().resident(view_of(factor_->vectors), memory_)) {
  if (!factor_->samples.is_empty()) samples_ = source.device().resident(view_of(factor_->samples), samples_memory_);
  const Features& features = source.features();
  if (out.kind != Coefs::dual || out.intercept == nullptr || !features.centered()) return;
  projected_means_.zeros(features.rows());
  std::vector<double> scratch;
  for (int64_t j = 0; j < features.cols(); ++j) {
    const double* column = features.block(0, features.rows(), j, 1, scratch).data;
    for (int64_t i = 0; i < features.rows(); ++i) projected_means_[i] += features.means()[j] * column[i];
  }
}

template <class T>
MatrixSpan<T> Refit<T>::solve(Tile<T>& tile, const std::vector<double>& alphas) const {
  Device<T>& device = source_.device();
  const MatrixSpan<T> rotated = device.reserve(tile.held_memory, vectors_.cols, tile.cols);
  source_.rotate_whole(tile, vectors_, samples_, rotated);
  device.shrink(rotated, values_, alphas, rotated);
  const MatrixSpan<T> weights = device.reserve(tile.side_memory, vectors_.rows, tile.cols);
  device.gemm(Trans::no, Trans::no, T(1), vectors_, rotated, T(0), weights);
  return weights;
}

template <class T>
void Refit<T>::write_primal(Tile<T>& tile, MatrixView<T> weights) const {
  Device<T>& device = source_.device();
  const Features& features = source_.features();
  const int64_t p = features.cols(), n = features.rows();
  if (source_.form() == Form::primal) {
    device.download(weights, out_.coefs.block(0, tile.first, p, tile.cols));
    return;
  }
  const double flops = 2.0 * static_cast<double>(n * tile.cols * kBlockCols);
  const int64_t width = kBlockCols * fitting(kBlockFlops, flops, 1, p / kBlockCols + 1);
  for (int64_t col = 0; col < p; col += width) {
    source_.control().check_stop();
    const int64_t n_cols = std::min(width, p - col);
    const MatrixView<T> x = features.block(0, n, col, n_cols, tile.features_scratch);
    device.gemm_to_host(Trans::yes, Trans::no, x, weights, tile.work_memory,
                        out_.coefs.block(col, tile.first, n_cols, tile.cols));
  }
}

// X B, n x columns, on the host.
template <class T>
arma::mat Refit<T>::multiply_features(Tile<T>& tile, MatrixView<T> coefs) const {
  const Features& features = source_.features();
  arma::mat product(features.rows(), coefs.cols, arma::fill::none);
  const MatrixView<T> x = features.block(0, features.rows(), 0, features.cols(), tile.features_scratch);
  source_.device().gemm_to_host(Trans::no, Trans::no, x, coefs, tile.work_memory, span_of(product));
  return product;
}

// Dual weights in fold order: A itself, or from primal coefficients (Y - XB) / alpha. Where alpha is 0 that is 0 / 0,
// and X V diag(1 / lambda^2) V'X'Y has the same product with X'.
template <class T>
void Refit<T>::write_dual(Tile<T>& tile, MatrixView<T> weights, const std::vector<double>& alphas) const {
  Device<T>& device = source_.device();
  const RowList& order = source_.folds().order;
  const int64_t n = source_.features().rows();
  arma::mat dual(n, tile.cols, arma::fill::none);
  if (source_.form() == Form::dual) {
    device.download(weights, span_of(dual));
  } else {
    const arma::mat fitted = multiply_features(tile, weights);
    device.download(tile.y, span_of(dual));
    dual -= fitted;
    for (int64_t j = 0; j < tile.cols; ++j) dual.col(j) /= alphas[j];
    if (std::find(alphas.begin(), alphas.end(), 0.0) != alphas.end()) {
      const MatrixSpan<T> rotated = device.reserve(tile.gathered_memory, vectors_.cols, tile.cols);
      device.gemm(Trans::yes, Trans::no, T(1), vectors_, weights, T(0), rotated);
      device.shrink(rotated, values_, std::vector<double>(tile.cols, 0.0), rotated);
      const MatrixSpan<T> twice = device.reserve(tile.predictions_memory, vectors_.rows, tile.cols);
      device.gemm(Trans::no, Trans::no, T(1), vectors_, rotated, T(0), twice);
      const arma::mat least = multiply_features(tile, twice);
      for (int64_t j = 0; j < tile.cols; ++j) {
        if (alphas[j] == 0) dual.col(j) = least.col(j);
      }
    }
  }
  for (int64_t j = 0; j < tile.cols; ++j) {
    double* to = out_.coefs.col(tile.first + j);
    for (int64_t i = 0; i < n; ++i) to[order[i]] = dual(i, j);
    if (out_.intercept == nullptr) continue;
    const double at_means = projected_means_.is_empty() ? 0 : arma::dot(projected_means_, dual.col(j));
    out_.intercept[tile.first + j] = tile.mean[j] - at_means;
  }
}

template <class T>
void Refit<T>::write_intercept(const Tile<T>& tile) const {
  const std::vector<double>& means = source_.features().means();
  for (int64_t j = tile.first; j < tile.first + tile.cols; ++j) {
    double at_means = 0;
    for (size_t i = 0; i < means.size(); ++i) at_means += means[i] * out_.coefs.col(j)[i];
    out_.intercept[j] = tile.mean[j - tile.first] - at_means;
  }
}

template <class T>
void Refit<T>::run(Tile<T>& tile, const std::vector<double>& alphas) const {
  if (out_.kind == Coefs::none) return;
  const MatrixView<T> weights = solve(tile, alphas);
  if (out_.kind == Coefs::dual) {
    write_dual(tile, weights, alphas);
  } else {
    write_primal(tile, weights);
    if (out_.intercept != nullptr) write_intercept(tile);
  }
  const double missing = source_.targets().missing;
  for (int64_t j = tile.first; j < tile.first + tile.cols; ++j) {
    if (!skipped(source_.targets(), j)) continue;
    std::fill_n(out_.coefs.col(j), out_.coefs.rows, missing);
    if (out_.intercept != nullptr) out_.intercept[j] = missing;
  }
}

template class Refit<float>;
template class Refit<double>;

}  // namespace voxridge
