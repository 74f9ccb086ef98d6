#include "refit.h"

#include <algorithm>
#include <cmath>

#include "arma_view.h"
#include "control.h"

namespace voxridge {

namespace {

constexpr int64_t kBlockCols = 512;  // of features, where a block has to be copied

}  // namespace

template <class T>
std::shared_ptr<const FactorOnDevice<T>> put_factor(Device<T>& device, std::shared_ptr<const Factor> factor,
                                                    Coefs kind) {
  const auto out = std::make_shared<FactorOnDevice<T>>();
  out->values.assign(factor->values.begin(), factor->values.end());
  out->vectors = device.resident(view_of(factor->vectors), out->memory);
  if (!factor->samples.is_empty()) out->samples = device.resident(view_of(factor->samples), out->samples_memory);
  if (kind == Coefs::primal && !factor->right.is_empty()) {
    out->right = device.resident(view_of(factor->right), out->right_memory);
  }
  out->factor = std::move(factor);
  return out;
}

template <class T>
Refit<T>::Refit(const TileSource<T>& source, std::shared_ptr<const FactorOnDevice<T>> factor, Coefs kind)
    : source_(source), kind_(kind), bands_({source.features().cols()}), models_{std::move(factor)} {
  if (needs_means()) project_means();
}

template <class T>
Refit<T>::Refit(const TileSource<T>& source, const std::vector<std::shared_ptr<const Factor>>& factors,
                const Bands& bands, std::vector<std::vector<double>> weights, Coefs kind)
    : source_(source), kind_(kind), bands_(bands), weights_(std::move(weights)) {
  for (const auto& factor : factors) models_.push_back(put_factor(source.device(), factor, kind));
  if (needs_means()) project_means();
}

template <class T>
void Refit<T>::project_means() {
  const Features& features = source_.features();
  projected_means_.zeros(features.rows(), bands_.count());
  std::vector<double> scratch;
  for (int64_t b = 0; b < bands_.count(); ++b) {
    for (int64_t j = bands_.start(b); j < bands_.start(b + 1); ++j) {
      const double* column = features.block(0, features.rows(), j, 1, scratch).data;
      for (int64_t i = 0; i < features.rows(); ++i) projected_means_(i, b) += features.means()[j] * column[i];
    }
  }
}

template <class T>
typename Refit<T>::Solution Refit<T>::solve(Tile<T>& tile, const std::vector<double>& alphas,
                                            const std::vector<int64_t>& which) const {
  Device<T>& device = source_.device();
  const int64_t rows = models_[0]->vectors.rows;
  const bool least = kind_ == Coefs::dual && source_.form() == Form::primal &&
                     std::find(alphas.begin(), alphas.end(), 0.0) != alphas.end();
  Solution out;
  out.weights = device.reserve(tile.side_memory, rows, tile.cols);
  if (least) out.twice = device.reserve(tile.gathered_memory, rows, tile.cols);
  const auto solve_model = [&](const Model& model, Tile<T>& part, const std::vector<double>& own, Solution to) {
    const MatrixSpan<T> rotated = device.reserve(part.held_memory, model.vectors.cols, part.cols);
    source_.rotate_whole(part, model.vectors, model.samples, rotated);
    device.shrink(rotated, model.values, own, rotated);
    device.gemm(Trans::no, Trans::no, T(1), model.vectors, rotated, T(0), to.weights);
    if (!least) return;
    device.shrink(rotated, model.values, std::vector<double>(part.cols, 0.0), rotated);
    device.gemm(Trans::no, Trans::no, T(1), model.vectors, rotated, T(0), to.twice);
  };
  if (models_.size() == 1) {
    solve_model(*models_[0], tile, alphas, out);
    return out;
  }
  for_each_model(tile, alphas, which,
                 [&](const Model& model, Tile<T>& part, const std::vector<double>& own, const RowList& columns) {
                   Solution some;
                   some.weights = device.reserve(part.side_memory, rows, part.cols);
                   if (least) some.twice = device.reserve(part.gathered_memory, rows, part.cols);
                   solve_model(model, part, own, some);
                   device.put_columns(some.weights, columns, out.weights);
                   if (least) device.put_columns(some.twice, columns, out.twice);
                 });
  return out;
}

// work(model, part, alphas, columns) for the columns of each model as a tile of their own.
template <class T>
template <class Work>
void Refit<T>::for_each_model(const Tile<T>& tile, const std::vector<double>& alphas, const std::vector<int64_t>& which,
                              const Work& work) const {
  Tile<T> part;
  for (size_t k = 0; k < models_.size(); ++k) {
    RowList columns;
    std::vector<double> own;
    for (int64_t j = 0; j < tile.cols; ++j) {
      if (which[j] != static_cast<int64_t>(k)) continue;
      columns.push_back(j);
      own.push_back(alphas[j]);
    }
    if (columns.empty()) continue;
    source_.control().check_stop();
    source_.select(tile, columns, part);
    work(*models_[k], part, own, columns);
  }
}

// Rows of dual-form coefficients X'A times the weights of their bands.
template <class T>
void Refit<T>::weigh_bands(MatrixSpan<double> rows, int64_t first_feature, const std::vector<int64_t>& which) const {
  if (weights_.empty()) return;
  for (int64_t j = 0; j < rows.cols; ++j) {
    for (int64_t b = 0; b < bands_.count(); ++b) {
      const double weight = weights_[which[j]][b];
      const int64_t first = std::max<int64_t>(0, bands_.start(b) - first_feature);
      const int64_t last = std::min(rows.rows, bands_.start(b + 1) - first_feature);
      for (int64_t i = first; i < last; ++i) rows.col(j)[i] = weight == 0 ? 0 : weight * rows.col(j)[i];
    }
  }
}

template <class T>
void Refit<T>::write_primal(Tile<T>& tile, MatrixView<T> weights, const std::vector<int64_t>& which,
                            const CoefOutputs& out) const {
  Device<T>& device = source_.device();
  const Features& features = source_.features();
  const int64_t p = features.cols(), n = features.rows();
  if (source_.form() == Form::primal) {
    device.download(weights, out.coefs);
  } else {
    const double flops = 2.0 * static_cast<double>(n * tile.cols * kBlockCols);
    const int64_t width = kBlockCols * fitting(kFlopsBetweenStops, flops, 1, p / kBlockCols + 1);
    for (int64_t col = 0; col < p; col += width) {
      source_.control().check_stop();
      const int64_t n_cols = std::min(width, p - col);
      const MatrixView<T> x = source_.features_block(0, n, col, n_cols, tile);
      const MatrixSpan<double> rows = out.coefs.block(col, 0, n_cols, tile.cols);
      device.gemm_to_host(Trans::yes, Trans::no, x, weights, tile.work_memory, rows);
      weigh_bands(rows, col, which);
    }
  }
}

// B = right diag(s / (lambda + alpha)) V'Y, into the listed columns.
template <class T>
void Refit<T>::write_right(const Model& model, Tile<T>& part, const std::vector<double>& alphas, const RowList& columns,
                           const CoefOutputs& out) const {
  Device<T>& device = source_.device();
  const MatrixSpan<T> rotated = device.reserve(part.held_memory, model.vectors.cols, part.cols);
  source_.rotate_whole(part, model.vectors, model.samples, rotated);
  device.shrink(rotated, model.values, alphas, rotated);
  std::vector<double> singular = model.values;
  for (double& value : singular) value = std::sqrt(value);
  device.scale_rows(rotated, singular, rotated);
  arma::mat rows(kBlockCols, part.cols, arma::fill::none);
  for (int64_t first = 0; first < model.right.rows; first += kBlockCols) {
    source_.control().check_stop();
    const int64_t n_rows = std::min(kBlockCols, model.right.rows - first);
    const MatrixSpan<double> to = span_of(rows).block(0, 0, n_rows, part.cols);
    device.gemm_to_host(Trans::no, Trans::no, model.right.block(first, 0, n_rows, model.right.cols), rotated,
                        part.work_memory, to);
    for (int64_t j = 0; j < part.cols; ++j) std::copy_n(to.col(j), n_rows, out.coefs.col(columns[j]) + first);
  }
}

template <class T>
void Refit<T>::write_intercept(const Tile<T>& tile, const CoefOutputs& out) const {
  const std::vector<double>& means = source_.features().means();
  for (int64_t j = 0; j < tile.cols && out.intercept != nullptr; ++j) {
    double at_means = 0;
    for (size_t i = 0; i < means.size(); ++i) at_means += means[i] * out.coefs.col(j)[i];
    out.intercept[j] = tile.mean[j] - at_means;
  }
}

// X B, n x columns, on the host.
template <class T>
arma::mat Refit<T>::multiply_features(Tile<T>& tile, MatrixView<T> coefs) const {
  const Features& features = source_.features();
  arma::mat product(features.rows(), coefs.cols, arma::fill::none);
  const MatrixView<T> x = source_.features_block(0, features.rows(), 0, features.cols(), tile);
  source_.device().gemm_to_host(Trans::no, Trans::no, x, coefs, tile.work_memory, span_of(product));
  return product;
}

// Dual weights in fold order: A itself, or from primal coefficients (Y - XB) / alpha. Where alpha is 0 that is 0 / 0,
// and X V diag(1 / lambda^2) V'X'Y has the same product with X'.
template <class T>
void Refit<T>::write_dual(Tile<T>& tile, const Solution& solution, const std::vector<double>& alphas,
                          const std::vector<int64_t>& which, const CoefOutputs& out) const {
  Device<T>& device = source_.device();
  const RowList& order = source_.folds().order;
  const int64_t n = source_.features().rows();
  arma::mat dual(n, tile.cols, arma::fill::none);
  arma::mat coefs;  // in primal form
  if (source_.form() == Form::dual) {
    device.download(solution.weights, span_of(dual));
  } else {
    coefs.set_size(solution.weights.rows, tile.cols);
    device.download(solution.weights, span_of(coefs));
    const arma::mat fitted = multiply_features(tile, solution.weights);
    device.download(tile.y, span_of(dual));
    dual -= fitted;
    for (int64_t j = 0; j < tile.cols; ++j) dual.col(j) /= alphas[j];
    if (solution.twice.data != nullptr) {
      const arma::mat least = multiply_features(tile, solution.twice);
      for (int64_t j = 0; j < tile.cols; ++j) {
        if (alphas[j] == 0) dual.col(j) = least.col(j);
      }
    }
  }
  for (int64_t j = 0; j < tile.cols; ++j) {
    double* to = out.coefs.col(j);
    for (int64_t i = 0; i < n; ++i) to[order[i]] = dual(i, j);
    if (out.intercept == nullptr) continue;
    double at_means = 0;
    if (source_.form() == Form::primal && !coefs.is_empty()) {
      at_means = arma::dot(arma::vec(source_.features().means()), coefs.col(j));
    }
    for (arma::uword b = 0; b < projected_means_.n_cols; ++b) {  // none in primal form, or where there are no features
      const double weight = weights_.empty() ? 1 : weights_[which[j]][b];
      at_means += weight * arma::dot(projected_means_.col(b), dual.col(j));
    }
    out.intercept[j] = tile.mean[j] - at_means;
  }
}

template <class T>
void Refit<T>::run(Tile<T>& tile, const std::vector<double>& alphas, const std::vector<int64_t>& which,
                   const CoefOutputs& out) const {
  const auto by_right = [&](int64_t k) { return models_[k]->right.data != nullptr; };
  if (!std::all_of(which.begin(), which.end(), by_right)) {
    const Solution solution = solve(tile, alphas, which);
    if (kind_ == Coefs::dual) return write_dual(tile, solution, alphas, which, out);
    write_primal(tile, solution.weights, which, out);
  }
  if (std::any_of(which.begin(), which.end(), by_right)) {
    for_each_model(tile, alphas, which,
                   [&](const Model& model, Tile<T>& part, const std::vector<double>& own, const RowList& columns) {
                     if (model.right.data != nullptr) write_right(model, part, own, columns, out);
                   });
  }
  write_intercept(tile, out);
}

void write_missing(const Targets& targets, int64_t first, int64_t count, const CoefOutputs& out) {
  for (int64_t j = 0; j < count; ++j) {
    if (!skipped(targets, first + j)) continue;
    std::fill_n(out.coefs.col(j), out.coefs.rows, targets.missing);
    if (out.intercept != nullptr) out.intercept[j] = targets.missing;
  }
}

template std::shared_ptr<const FactorOnDevice<float>> put_factor(Device<float>&, std::shared_ptr<const Factor>, Coefs);
template std::shared_ptr<const FactorOnDevice<double>> put_factor(Device<double>&, std::shared_ptr<const Factor>, Coefs);
template class Refit<float>;
template class Refit<double>;

}  // namespace voxridge
