// The features as the solvers see them: rows in fold order and, where an intercept is fitted, whole-sample column
// means removed first, so that offsets of 1e6 standard deviations cost no digits.
#pragma once

#include <memory>
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

// Which Gram matrix serves: that of the features or that of the samples.
enum class Form { primal, dual };

class Features {
 public:
  // `parts` side by side, with equal numbers of rows. Uses them in place where nothing has to be changed. Otherwise
  // keeps a changed copy if it fits into cache_bytes, and else makes each block when it is asked for.
  Features(std::vector<MatrixView<double>> parts, const Folds& folds, bool center, double cache_bytes,
           const Control& control);
  Features(MatrixView<double> x, const Folds& folds, bool center, double cache_bytes, const Control& control)
      : Features(std::vector<MatrixView<double>>{x}, folds, center, cache_bytes, control) {}

  int64_t rows() const { return parts_[0].rows; }
  int64_t cols() const { return starts_.back(); }
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

  // All features as they are, in double, in memory of a GPU, where somebody has put them there; he keeps them.
  void set_on_gpu(MatrixView<double> copy) { on_gpu_ = copy; }
  MatrixView<double> on_gpu() const { return on_gpu_; }

  // The same features, each times a factor: block() and gather() then make what they return, means() stay those of the
  // features without their factors. Copies are shared.
  Features scaled(std::vector<double> factors) const;

 private:
  template <class T>
  using Cache = std::shared_ptr<const std::vector<T>>;

  // Where a column begins, and the part it lies in.
  const MatrixView<double>& part_of(int64_t col, int64_t& within) const;
  template <class T, class RowOf>
  void fill(int64_t n_rows, int64_t col, RowOf row_of, double shift, T* to) const;
  template <class T>
  void fill_cache(Cache<T>& cache, const Control& control);
  template <class T>
  const Cache<T>& cache() const;

  std::vector<MatrixView<double>> parts_;
  std::vector<int64_t> starts_;  // first column of each part, and the number of columns
  RowList order_;
  bool in_place_;
  std::vector<double> means_, factors_;
  Cache<double> cache_;
  Cache<float> single_cache_;
  MatrixView<double> on_gpu_;
};

// Primal where the features are fewer than the rows of every training set.
Form choose_form(const Features& features, const Folds& folds);

}  // namespace voxridge
