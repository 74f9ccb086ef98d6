// The features as the solvers see them: rows in fold order and, where an intercept is fitted, whole-sample column
// means removed first, so that offsets of 1e6 standard deviations cost no digits.
#pragma once

#include <vector>

#include "control.h"
#include "folds.h"
#include "view.h"

namespace voxridge {

// The mean of `rows` values of a column, exact for a constant column: first + mean(x - first).
template <class T>
double column_mean(const T* column, int64_t rows);
template <class T>
double column_mean(const T* column, const RowList& rows);

class Features {
 public:
  // Uses X in place where nothing has to be changed. Otherwise keeps a changed copy if it fits into cache_bytes, and
  // else makes each block when it is asked for.
  Features(MatrixView<double> x, const Folds& folds, bool center, double cache_bytes, const Control& control);

  int64_t rows() const { return x_.rows; }
  int64_t cols() const { return x_.cols; }
  bool centered() const { return !means_.empty(); }
  const std::vector<double>& means() const { return means_; }  // empty without an intercept

  // Rows row .. row + n_rows - 1 (fold order) of columns col .. col + n_cols - 1; `scratch` may hold the result.
  template <class T>
  MatrixView<T> block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols, std::vector<T>& scratch) const;

  // The listed rows of some columns, less `shift` (n_cols values; nullptr: nothing).
  MatrixView<double> gather(const RowList& rows, int64_t col, int64_t n_cols, const double* shift,
                            std::vector<double>& scratch) const;

  // Keeps a float copy for block<float>() if it fits.
  void cache_single(double cache_bytes, const Control& control);

 private:
  double at(int64_t row, int64_t col) const {  // without any copy
    const double value = x_.data[order_[row] + col * x_.ld];
    return means_.empty() ? value : value - means_[col];
  }
  template <class T>
  const std::vector<T>& cache() const;

  MatrixView<double> x_;
  RowList order_;
  bool in_place_;
  std::vector<double> means_;
  std::vector<double> cache_;
  std::vector<float> single_cache_;
};

}  // namespace voxridge
