// What all locations of a decoding share: rows in fold order, codes of the classes, training means, voxel statistics.
#pragma once

#include <vector>

#include "arma.h"
#include "decoding.h"

namespace voxridge {

// A training set and a held-out set in places (rows of the design), with what is known of the outcome in them.
struct DesignFold {
  RowList train, test;
  arma::rowvec mean;          // of the codes or values over the training rows
  std::vector<char> missing;  // classes that are not in the training set
  bool one_class = false;
  bool complement = false;  // are training and held-out rows all rows there are, once each?
};

class DecodingDesign {
 public:
  DecodingDesign(const DecodingProblem& problem, const DecodingOptions& options);

  bool classifies() const { return n_classes > 0; }
  int64_t n() const { return static_cast<int64_t>(order.size()); }
  int64_t n_folds() const { return static_cast<int64_t>(folds.size()); }
  int64_t decisions() const { return n_classes > 2 ? n_classes : 1; }
  DesignFold make_fold(RowList train, RowList test) const;

  int n_classes = 0;                   // 0: regression
  RowList order;                       // order[i]: the row of x at place i
  bool in_order = true;                // are these one after another?
  RowList used;                        // the rows of x in some fold, increasing
  std::vector<int64_t> place_of_used;  // of each of them
  std::vector<int> label;              // per place, from 0
  arma::mat y;                         // places x code columns; values less `shift` in regression
  double shift = 0;
  std::vector<DesignFold> folds;
  std::vector<std::vector<DesignFold>> inner;  // per fold
  std::vector<char> inner_partition;           // per fold: do they partition its training set, in its order?
  bool partition = false;                      // fold f holds out places test_start[f] .. test_start[f + 1] - 1
  std::vector<int64_t> test_start;             // first held-out row of each fold among all of them, and their number
};

// Per voxel, over the rows used: its state, its mean, and what it is multiplied by before anything else. A mean is kept
// in two parts, a value of the voxel and the mean distance from it: rounded to one number a large offset would leave
// columns that do not sum to 0.
struct VoxelTable {
  std::vector<int> state;
  std::vector<double> origin, mean, factor;  // factor: empty without scaling over all rows
  std::vector<char> constant;                // is it constant in the training set of some fold?
};
VoxelTable describe_voxels(const DecodingProblem& problem, const DecodingDesign& design, VoxelScale scale,
                           const Control& control);

// The voxels of one location.
class LocationVoxels {
 public:
  LocationVoxels(MatrixView<double> x, const DecodingDesign& design, const VoxelTable& table)
      : x_(x), design_(design), table_(table) {}

  void set(const std::vector<int>& columns) { columns_ = &columns; }
  int64_t size() const { return static_cast<int64_t>(columns_->size()); }

  // Values at all places, or at some, of voxels first .. first + count - 1: less their means over all rows, scaled over
  // all rows where that is asked for.
  void gather(int64_t first, int64_t count, arma::mat& to) const;
  void gather(const RowList& places, int64_t first, int64_t count, arma::mat& to) const;
  double factor(int64_t j) const { return table_.factor.empty() ? 1 : table_.factor[(*columns_)[j]]; }
  bool constant_in(const RowList& places) const;

  // Voxels that are gathered at a time where the whole location need not be.
  static constexpr int64_t kPanel = 1024;

 private:
  template <class RowAt>
  void fill(int64_t n_rows, int64_t first, int64_t count, RowAt row_at, arma::mat& to) const;
  MatrixView<double> x_;
  const DecodingDesign& design_;
  const VoxelTable& table_;
  const std::vector<int>* columns_ = nullptr;
};

}  // namespace voxridge
