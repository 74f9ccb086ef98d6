#include "features.h"

#include <type_traits>

#include "threads.h"

namespace voxridge {

template <class T>
double column_mean(const T* column, int64_t rows) {
  if (rows == 0) return 0;
  const double first = column[0];
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i) sum += column[i] - first;
  return first + sum / static_cast<double>(rows);
}

template <class T>
double column_mean(const T* column, const RowList& rows) {
  if (rows.empty()) return 0;
  const double first = column[rows[0]];
  double sum = 0;
  for (const int64_t row : rows) sum += column[row] - first;
  return first + sum / static_cast<double>(rows.size());
}

template double column_mean<double>(const double*, int64_t);
template double column_mean<float>(const float*, int64_t);
template double column_mean<double>(const double*, const RowList&);
template double column_mean<float>(const float*, const RowList&);

Features::Features(MatrixView<double> x, const Folds& folds, bool center, double cache_bytes, const Control& control)
    : x_(x), order_(folds.order), in_place_(!center && folds.in_order) {
  if (center) {
    means_.resize(x.cols);
    for (int64_t j = 0; j < x.cols; ++j) means_[j] = column_mean(x.col(j), x.rows);
  }
  if (in_place_ || 8.0 * static_cast<double>(x.rows) * static_cast<double>(x.cols) > cache_bytes) return;
  cache_.resize(x.rows * x.cols);
  parallel_for(x.cols, control.n_threads, [&](int64_t j, int) {
    if (j % 256 == 0) control.check_stop();
    for (int64_t i = 0; i < x_.rows; ++i) cache_[i + j * x_.rows] = at(i, j);
  });
}

void Features::cache_single(double cache_bytes, const Control& control) {
  const double bytes = 4.0 * static_cast<double>(x_.rows) * static_cast<double>(x_.cols);
  if (!single_cache_.empty() || bytes > cache_bytes) return;
  single_cache_.resize(x_.rows * x_.cols);
  parallel_for(x_.cols, control.n_threads, [&](int64_t j, int) {
    if (j % 256 == 0) control.check_stop();
    for (int64_t i = 0; i < x_.rows; ++i) single_cache_[i + j * x_.rows] = static_cast<float>(at(i, j));
  });
}

template <>
const std::vector<double>& Features::cache<double>() const {
  return cache_;
}
template <>
const std::vector<float>& Features::cache<float>() const {
  return single_cache_;
}

template <class T>
MatrixView<T> Features::block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols, std::vector<T>& scratch) const {
  if constexpr (std::is_same_v<T, double>) {
    if (in_place_) return x_.block(row, col, n_rows, n_cols);
  }
  if (!cache<T>().empty()) return {cache<T>().data() + row + col * x_.rows, n_rows, n_cols, x_.rows};
  scratch.resize(n_rows * n_cols);
  for (int64_t j = 0; j < n_cols; ++j) {
    for (int64_t i = 0; i < n_rows; ++i) scratch[i + j * n_rows] = static_cast<T>(at(row + i, col + j));
  }
  return {scratch.data(), n_rows, n_cols, n_rows};
}

template MatrixView<double> Features::block(int64_t, int64_t, int64_t, int64_t, std::vector<double>&) const;
template MatrixView<float> Features::block(int64_t, int64_t, int64_t, int64_t, std::vector<float>&) const;

MatrixView<double> Features::gather(const RowList& rows, int64_t col, int64_t n_cols, const double* shift,
                                    std::vector<double>& scratch) const {
  const int64_t n_rows = static_cast<int64_t>(rows.size());
  scratch.resize(n_rows * n_cols);
  for (int64_t j = 0; j < n_cols; ++j) {
    const double move = shift == nullptr ? 0 : shift[j];
    for (int64_t i = 0; i < n_rows; ++i) scratch[i + j * n_rows] = at(rows[i], col + j) - move;
  }
  return {scratch.data(), n_rows, n_cols, n_rows};
}

}  // namespace voxridge
