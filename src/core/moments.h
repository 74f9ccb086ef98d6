// Means and sums of products of features and targets per cell of rows (row_cells.h), from one pass over files that are
// larger than memory.
//
// With an intercept the sums are about the cell's own mean. A block of m rows joins the n rows before it as
//   S_n+m = S_n + S_m + n m / (n + m) d d',   d = mean_m - mean_n
// (Chan, Golub, LeVeque 1983, doi:10.1080/00031305.1983.10483115): the block's rows less their mean, and one more row
// sqrt(n m / (n + m)) d, go into the product. Cells are merged by the same law. Means count from a shift, the mean of
// the first block. So neither offsets nor drifts of 1e6 standard deviations cost a digit.
#pragma once

#include <vector>

#include "arma.h"
#include "control.h"
#include "row_cells.h"
#include "store.h"
#include "tiles.h"

namespace voxridge {

struct MomentInput {
  const StoreReader& x;
  const Targets& targets;
  const StoreReader* y;  // where the targets lie, or nullptr: in memory
  const RowCells& cells;

  bool center() const { return targets.center; }
  int64_t rows() const { return x.layout().rows; }
  int64_t features() const { return x.layout().cols; }
};

struct FeatureMoments {
  std::vector<double> rows;      // per cell
  arma::rowvec shift;            // p
  arma::mat mean;                // cells x p, less the shift
  std::vector<arma::mat> grams;  // per cell, p x p: sums of products, about the means where an intercept is fitted
};

struct TargetMoments {
  int64_t first = 0, cols = 0;   // of the targets
  arma::rowvec shift;            // cols
  arma::mat mean, squares;       // cells x cols; the mean less the shift, squares about the mean
  std::vector<arma::mat> cross;  // per cell, p x cols: X'Y, about the means where an intercept is fitted
};

// The moments of some targets (whole tiles), and those of the features where they are wanted. Reads so many rows at a
// time (a multiple of kBlockRows) on so many threads; neither changes a bit.
void sum_moments(const MomentInput& input, int64_t rows_at_a_time, int n_threads, FeatureMoments* features,
                 TargetMoments& targets, const Control& control);

// Bytes that it works in.
double moment_bytes(const MomentInput& input, int64_t rows_at_a_time, int n_threads);

// Of the cells together, each with its weight.
struct MergedFeatures {
  double rows = 0;
  arma::rowvec mean;  // p, less the shift
  arma::mat gram;     // empty where it was not asked for
};
MergedFeatures merge_features(const FeatureMoments& from, const std::vector<double>& weights, bool center,
                              bool with_gram);

struct MergedTargets {
  arma::rowvec shift, mean, squares;
  arma::mat cross;
};
// Columns first .. first + cols - 1 of the group. `features`: merged with the same weights.
MergedTargets merge_targets(const TargetMoments& from, int64_t first, int64_t cols, const FeatureMoments& cells,
                            const MergedFeatures& features, const std::vector<double>& weights, bool center);

}  // namespace voxridge
