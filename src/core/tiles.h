// Targets in tiles of 512 columns, and what a tile contributes to each fold.
//
// Tiles are aligned to the absolute number of the target and always have the same width (but for the last), so a target
// meets the same arithmetic whatever the batch, the thread or the worker: with equal factors, equal bits.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "device.h"
#include "factor.h"
#include "features.h"
#include "target_source.h"

namespace voxridge {

struct Targets {
  MatrixView<double> y;    // the caller's rows; without data where there is a source
  std::vector<char> skip;  // per target: left out (zeros stand in for it); empty: none
  bool center = false;     // an intercept is fitted
  double missing = std::numeric_limits<double>::quiet_NaN();  // what stands in the results of skipped targets
  const TargetSource* source = nullptr;
  int64_t before = 0;  // targets before these, where they are some of more: for messages

  MatrixView<double> columns(int64_t first, int64_t count, SourceMemory& memory) const {
    return source != nullptr ? source->columns(first, count, memory) : y.block(0, first, y.rows, count);
  }
};

inline int64_t tile_count(const Targets& targets) {
  return (targets.y.cols + kTileCols - 1) / kTileCols;
}
inline bool skipped(const Targets& targets, int64_t target) {
  return !targets.skip.empty() && targets.skip[target] != 0;
}

// One worker's tile and its working memory.
template <class T>
struct Tile {
  int64_t first = 0;  // target
  int64_t cols = 0;
  MatrixSpan<T> y;                   // n x cols, fold order, less `mean`
  std::vector<double> mean;          // whole-sample means (zero without an intercept)
  MatrixSpan<T> total;               // primal: X'Y of all rows, p x cols
  std::vector<MatrixSpan<T>> parts;  // primal, few folds: X_v'Y_v of each
  std::vector<double> squares;       // primal, partition: sums of squares of y

  Buffer<T> y_memory, total_memory, side_memory, held_memory, gathered_memory, work_memory, predictions_memory;
  std::vector<Buffer<T>> part_memory;
  Buffer<T> features_memory;
  SourceMemory source_memory;
  std::vector<T> features_scratch;
  std::vector<double> gather_scratch;
};

// The held-out rows of a tile under one fold.
template <class T>
struct HeldOut {
  MatrixSpan<T> y;                  // rows x cols, less the training means
  std::vector<double> train_mean;   // of the tile's y (zero without an intercept)
  std::vector<double> sum_squares;  // about the held-out mean
  std::vector<char> constant;       // that sum is nothing but rounding
};

// All features on the device, in `memory`; nothing where they would take more than their share of the budget.
template <class T>
MatrixView<T> put_features(Device<T>& device, const Features& features, Buffer<T>& memory, const Control& control);

template <class T>
class TileSource {
 public:
  // `kept`: all features on a device of its own, where somebody has put them there already.
  TileSource(Device<T>& device, const Features& features, const Folds& folds, const Targets& targets, Form form,
             const Control& control, MatrixView<T> kept = {})
      : device_(device),
        features_(features),
        folds_(folds),
        targets_(targets),
        form_(form),
        control_(control),
        kept_(kept) {
    if (!device.in_place() && kept.data == nullptr) kept_ = put_features(device, features, kept_memory_, control);
  }

  const Features& features() const { return features_; }
  const Folds& folds() const { return folds_; }
  const Targets& targets() const { return targets_; }
  Device<T>& device() const { return device_; }
  Form form() const { return form_; }
  const Control& control() const { return control_; }

  // Reads a tile of targets; in primal form also X'Y, by fold where the folds partition the samples.
  void load(int64_t index, Tile<T>& tile) const;

  // Rows row .. row + n_rows - 1 (fold order) of columns col .. col + n_cols - 1 of the features, on the device, until
  // the tile asks for others.
  MatrixView<T> features_block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols, Tile<T>& tile) const;

  // All rows: what the factor of all rows is applied to (n x cols of Y, or p x cols of X'Y).
  MatrixView<T> whole_side(const Tile<T>& tile) const { return form_ == Form::primal ? tile.total : tile.y; }

  // V' times that, from XV itself where a factor keeps it.
  void rotate_whole(const Tile<T>& tile, MatrixView<T> vectors, MatrixView<T> samples, MatrixSpan<T> to) const {
    if (samples.data == nullptr) {
      device_.gemm(Trans::yes, Trans::no, T(1), vectors, whole_side(tile), T(0), to);
    } else {
      device_.gemm(Trans::yes, Trans::no, T(1), samples, tile.y, T(0), to);
    }
  }

  // Some columns of a tile, with all that whole_side() and rotate_whole() need.
  void select(const Tile<T>& tile, const RowList& columns, Tile<T>& part) const;

  // The same for the training rows of a fold, both centred on training means. `train_mean` and `direct` as in
  // FoldFactor; with `samples` (the fold's XV) it is V'X'Y.
  MatrixView<T> train_side(Tile<T>& tile, int64_t f, const std::vector<double>& train_mean, bool direct,
                           MatrixView<T> samples = {}) const;

  HeldOut<T> held_out(Tile<T>& tile, int64_t f) const;

  // Which targets are constant over all rows; sums of squares about the mean.
  std::vector<char> constant_targets(const Tile<T>& tile, std::vector<double>& sum_squares) const;

  // Which targets are constant over some rows, given their mean there (of the caller's values) and their sum of squares
  // about it: that sum is at most n^2 eps^2 times the sum of the squares of the values. Skipped targets count as
  // constant.
  std::vector<char> constant_over(const Tile<T>& tile, int64_t n_rows, const std::vector<double>& mean,
                                  const std::vector<double>& sum_squares) const;

  // Bytes of a worker's buffers, predictions not counted.
  double tile_bytes() const;

 private:
  // Each fold's X_v'Y_v is kept while there are few of them, and else made a second time when it is needed.
  bool keep_parts() const { return folds_.partition && folds_.count() <= 16; }
  MatrixSpan<T> part(Tile<T>& tile, int64_t f) const;
  void multiply_rows(Tile<T>& tile, int64_t row, int64_t n_rows, MatrixSpan<T> product) const;
  void multiply_features(Tile<T>& tile) const;
  std::vector<double> train_means(const Tile<T>& tile, int64_t f) const;

  Device<T>& device_;
  const Features& features_;
  const Folds& folds_;
  const Targets& targets_;
  Form form_;
  const Control& control_;
  Buffer<T> kept_memory_;
  MatrixView<T> kept_;  // all features on a device of its own, where they fit
};

// Loads the listed tiles and calls work(tile) for each, one per thread at a time with BLAS at one thread inside.
// `batch` limits how many targets are in flight (0: the threads and the memory budget do).
template <class T>
void for_each_tile(const TileSource<T>& source, const std::vector<int64_t>& indices, int64_t batch,
                   const std::function<void(Tile<T>&)>& work);

// The penalties of some targets out of one for all, or one each.
std::vector<double> tile_alphas(const std::vector<double>& alphas, int64_t first, int64_t count);

}  // namespace voxridge
