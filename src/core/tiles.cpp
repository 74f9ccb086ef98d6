#include "tiles.h"

#include <algorithm>

#include "budget.h"
#include "score.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr int64_t kPanelCols = 256;   // of features on their way to a device
constexpr double kTrainShare = 1e-4;  // of a target's energy: with less than this in training, subtract nothing

int64_t size_of(const RowList& rows) {
  return static_cast<int64_t>(rows.size());
}

}  // namespace

// In panels of columns, so that the host never holds a second copy.
template <class T>
MatrixView<T> put_features(Device<T>& device, const Features& features, Buffer<T>& memory, const Control& control) {
  const int64_t n = features.rows(), p = features.cols();
  const double bytes = static_cast<double>(sizeof(T)) * static_cast<double>(n) * static_cast<double>(p);
  if (bytes > kCopyShare * control.memory_bytes) return {};
  const MatrixSpan<T> all = device.reserve(memory, n, p);
  std::vector<double> scratch;
  for (int64_t col = 0; col < p; col += kPanelCols) {
    control.check_stop();
    const int64_t n_cols = std::min(kPanelCols, p - col);
    device.upload(features.block(0, n, col, n_cols, scratch), all.block(0, col, n, n_cols));
  }
  return all;
}

template <class T>
MatrixView<T> TileSource<T>::features_block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols,
                                            Tile<T>& tile) const {
  if (kept_.data != nullptr) return kept_.block(row, col, n_rows, n_cols);
  return device_.borrow(features_.block(row, n_rows, col, n_cols, tile.features_scratch), tile.features_memory);
}

template <class T>
void TileSource<T>::load(int64_t index, Tile<T>& tile) const {
  tile.first = index * kTileCols;
  tile.cols = std::min(kTileCols, targets_.y.cols - tile.first);
  const MatrixView<double> from = targets_.columns(tile.first, tile.cols, tile.source_memory);
  tile.mean.assign(tile.cols, 0.0);
  for (int64_t j = 0; targets_.center && j < tile.cols; ++j) {
    if (!skipped(targets_, tile.first + j)) tile.mean[j] = column_mean(from.col(j), from.rows);
  }
  tile.y = device_.reserve(tile.y_memory, from.rows, tile.cols);
  device_.load(from, folds_.order, tile.mean, tile.y);
  for (int64_t j = 0; j < tile.cols; ++j) {
    if (!skipped(targets_, tile.first + j)) continue;
    const std::vector<double> zeros(from.rows, 0.0);
    device_.upload({zeros.data(), from.rows, 1, from.rows}, tile.y.block(0, j, from.rows, 1));
  }
  if (form_ == Form::primal) multiply_features(tile);
}

template <class T>
void TileSource<T>::multiply_rows(Tile<T>& tile, int64_t row, int64_t n_rows, MatrixSpan<T> product) const {
  const MatrixView<T> x = features_block(row, n_rows, 0, features_.cols(), tile);
  const MatrixView<T> y = MatrixView<T>(tile.y).block(row, 0, n_rows, tile.cols);
  device_.gemm(Trans::yes, Trans::no, T(1), x, y, T(0), product);
}

template <class T>
MatrixSpan<T> TileSource<T>::part(Tile<T>& tile, int64_t f) const {
  if (keep_parts()) return tile.parts[f];
  const RowList& rows = folds_.folds[f].test;
  const MatrixSpan<T> product = device_.reserve(tile.work_memory, features_.cols(), tile.cols);
  multiply_rows(tile, rows.front(), size_of(rows), product);
  return product;
}

template <class T>
void TileSource<T>::multiply_features(Tile<T>& tile) const {
  const int64_t p = features_.cols();
  if (folds_.partition) tile.squares = device_.squares(tile.y, {});
  tile.total = device_.reserve(tile.total_memory, p, tile.cols);
  if (!keep_parts()) {
    multiply_rows(tile, 0, features_.rows(), tile.total);
    return;
  }
  tile.part_memory.resize(folds_.count());
  tile.parts.resize(folds_.count());
  for (int64_t f = 0; f < folds_.count(); ++f) {
    const RowList& rows = folds_.folds[f].test;
    tile.parts[f] = device_.reserve(tile.part_memory[f], p, tile.cols);
    multiply_rows(tile, rows.front(), size_of(rows), tile.parts[f]);
  }
  device_.add(tile.parts, tile.total);
}

template <class T>
std::vector<double> TileSource<T>::train_means(const Tile<T>& tile, int64_t f) const {
  return targets_.center ? device_.means(tile.y, folds_.folds[f].train) : std::vector<double>();
}

template <class T>
MatrixView<T> TileSource<T>::train_side(Tile<T>& tile, int64_t f, const std::vector<double>& train_mean, bool direct,
                                        MatrixView<T> samples) const {
  const Fold& fold = folds_.folds[f];
  const std::vector<double> y_mean = train_means(tile, f);
  const int64_t m = size_of(fold.train), p = features_.cols();
  if (form_ == Form::dual) {
    const MatrixSpan<T> side = device_.reserve(tile.side_memory, m, tile.cols);
    device_.gather(tile.y, fold.train, y_mean, side);
    return side;
  }
  const auto train_targets = [&] {
    const MatrixSpan<T> y = device_.reserve(tile.gathered_memory, m, tile.cols);
    device_.gather(tile.y, fold.train, y_mean, y);
    return MatrixView<T>(y);
  };
  if (samples.data != nullptr) {
    const MatrixSpan<T> side = device_.reserve(tile.side_memory, samples.cols, tile.cols);
    device_.gemm(Trans::yes, Trans::no, T(1), samples, train_targets(), T(0), side);
    return side;
  }
  const MatrixSpan<T> side = device_.reserve(tile.side_memory, p, tile.cols);
  if (!direct) {
    const int64_t row = fold.test.front(), n_rows = size_of(fold.test);
    const std::vector<double>& all = tile.squares;
    const std::vector<double> held = device_.squares(MatrixView<T>(tile.y).block(row, 0, n_rows, tile.cols), {});
    for (int64_t j = 0; j < tile.cols && !direct; ++j) direct = all[j] - held[j] < kTrainShare * all[j];
  }
  if (!direct) {
    device_.leave_out(tile.total, part(tile, f), static_cast<double>(m), train_mean, y_mean, side);
    return side;
  }
  const MatrixView<double> rows = features_.gather(fold.train, 0, p, train_mean.data(), tile.gather_scratch);
  const MatrixSpan<T> x = device_.reserve(tile.work_memory, m, p);
  device_.upload(rows, x);
  device_.gemm(Trans::yes, Trans::no, T(1), x, train_targets(), T(0), side);
  return side;
}

template <class T>
void TileSource<T>::select(const Tile<T>& tile, const RowList& columns, Tile<T>& part) const {
  part.first = tile.first;
  part.cols = size_of(columns);
  part.mean.clear();
  for (const int64_t j : columns) part.mean.push_back(tile.mean[j]);
  part.y = device_.reserve(part.y_memory, tile.y.rows, part.cols);
  device_.take_columns(tile.y, columns, part.y);
  if (form_ == Form::dual) return;
  part.total = device_.reserve(part.total_memory, tile.total.rows, part.cols);
  device_.take_columns(tile.total, columns, part.total);
}

template <class T>
HeldOut<T> TileSource<T>::held_out(Tile<T>& tile, int64_t f) const {
  const RowList& rows = folds_.folds[f].test;
  const int64_t n = size_of(rows);
  HeldOut<T> out;
  out.train_mean = train_means(tile, f);
  out.y = device_.reserve(tile.held_memory, n, tile.cols);
  device_.gather(tile.y, rows, out.train_mean, out.y);
  std::vector<double> mean = device_.means(out.y, row_range(0, n));
  out.sum_squares = device_.squares(out.y, mean);
  for (int64_t j = 0; j < tile.cols; ++j) mean[j] += tile.mean[j] + (out.train_mean.empty() ? 0 : out.train_mean[j]);
  out.constant = constant_over(tile, n, mean, out.sum_squares);
  return out;
}

template <class T>
std::vector<char> TileSource<T>::constant_targets(const Tile<T>& tile, std::vector<double>& sum_squares) const {
  std::vector<double> mean = device_.means(tile.y, row_range(0, tile.y.rows));
  sum_squares = device_.squares(tile.y, mean);
  for (int64_t j = 0; j < tile.cols; ++j) mean[j] += tile.mean[j];
  return constant_over(tile, tile.y.rows, mean, sum_squares);
}

template <class T>
std::vector<char> TileSource<T>::constant_over(const Tile<T>& tile, int64_t n_rows, const std::vector<double>& mean,
                                               const std::vector<double>& sum_squares) const {
  std::vector<char> constant(tile.cols);
  for (int64_t j = 0; j < tile.cols; ++j) {
    constant[j] = skipped(targets_, tile.first + j) || is_constant(sum_squares[j], mean[j], n_rows);
  }
  return constant;
}

template <class T>
double TileSource<T>::tile_bytes() const {
  const double n = static_cast<double>(features_.rows()), p = static_cast<double>(features_.cols());
  double rows = 3 * n;
  if (form_ == Form::primal) rows += p * static_cast<double>(3 + (keep_parts() ? folds_.count() : 0));
  if (targets_.source != nullptr) rows += n * static_cast<double>(sizeof(double) + sizeof(float)) / sizeof(T);
  return rows * static_cast<double>(kTileCols) * sizeof(T);
}

template <class T>
void for_each_tile(const TileSource<T>& source, const std::vector<int64_t>& indices, int64_t batch,
                   const std::function<void(Tile<T>&)>& work) {
  const Control& control = source.control();
  const int64_t wanted = std::min<int64_t>(control.n_threads, static_cast<int64_t>(indices.size()));
  int64_t workers = fitting(control.memory_bytes, source.tile_bytes(), 1, wanted);
  if (batch > 0) workers = std::min(workers, (batch + kTileCols - 1) / kTileCols);
  const BlasThreads blas(1);
  std::vector<Tile<T>> tiles(std::max<int64_t>(1, workers));
  parallel_for(static_cast<int64_t>(indices.size()), static_cast<int>(workers), [&](int64_t i, int worker) {
    control.check_stop();
    source.load(indices[i], tiles[worker]);
    work(tiles[worker]);
  });
}

std::vector<double> tile_alphas(const std::vector<double>& alphas, int64_t first, int64_t count) {
  if (alphas.size() == 1) return std::vector<double>(count, alphas[0]);
  return std::vector<double>(alphas.begin() + first, alphas.begin() + first + count);
}

template void for_each_tile(const TileSource<float>&, const std::vector<int64_t>&, int64_t,
                            const std::function<void(Tile<float>&)>&);
template void for_each_tile(const TileSource<double>&, const std::vector<int64_t>&, int64_t,
                            const std::function<void(Tile<double>&)>&);
template MatrixView<float> put_features(Device<float>&, const Features&, Buffer<float>&, const Control&);
template MatrixView<double> put_features(Device<double>&, const Features&, Buffer<double>&, const Control&);
template class TileSource<float>;
template class TileSource<double>;

}  // namespace voxridge
