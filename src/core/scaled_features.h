// Features centred and scaled, (x_ij - mean_j) factor_j, for some rows: a copy where that fits the memory, and else
// made block by block when they are needed.
#pragma once

#include <vector>

#include "arma.h"
#include "control.h"
#include "folds.h"
#include "view.h"

namespace voxridge {

// Weighted means and standard deviations (divisor 1) of the columns, over some rows whose weights sum to 1. A constant
// column has standard deviation 0, exactly.
struct Scales {
  std::vector<double> mean, sd;
};
Scales weighted_scales(MatrixView<double> x, const RowList& rows, const arma::vec& weights, const Control& control);

class ScaledFeatures {
 public:
  // Without means and factors (empty): the rows as they are. `x` must outlive this.
  ScaledFeatures(MatrixView<double> x, RowList rows, std::vector<double> means, std::vector<double> factors,
                 double cache_bytes, const Control& control);

  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }
  int64_t cols() const { return x_.cols; }

  arma::mat multiply(const arma::mat& coefs) const;               // rows x t
  arma::mat multiply_transposed(const arma::mat& weights) const;  // cols x t

  // Z Z', rows x rows, and Z' diag(weights) Z, cols x cols.
  arma::mat sample_gram(const Control& control) const;
  arma::mat feature_gram(const arma::vec& weights, const Control& control) const;

  arma::vec row_norms() const;
  arma::vec weighted_squares(const arma::vec& weights) const;  // the diagonal of feature_gram()

 private:
  // A block, with its rows times `row_factors` (by row of this; nullptr: 1).
  MatrixView<double> block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols, const double* row_factors,
                           std::vector<double>& scratch) const;
  // Calls work(row, col, block) for all blocks, row by row of blocks.
  template <class Work>
  void for_each_block(const Work& work) const;

  MatrixView<double> x_;
  RowList rows_;
  std::vector<double> means_, factors_;
  std::vector<double> copy_;  // all of it, or nothing
};

}  // namespace voxridge
