#include "features.h"

#include <algorithm>
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

Features::Features(std::vector<MatrixView<double>> parts, const Folds& folds, bool center, double cache_bytes,
                   const Control& control)
    : parts_(std::move(parts)), starts_{0}, order_(folds.order) {
  for (const MatrixView<double>& part : parts_) starts_.push_back(starts_.back() + part.cols);
  // Few features in several parts are cheaper to have side by side.
  in_place_ = !center && folds.in_order && (parts_.size() == 1 || cols() >= rows());
  if (center) {
    means_.resize(cols());
    for (int64_t j = 0; j < cols(); ++j) {
      int64_t within = 0;
      means_[j] = column_mean(part_of(j, within).col(within), rows());
    }
  }
  if (in_place_ || 8.0 * static_cast<double>(rows()) * static_cast<double>(cols()) > cache_bytes) return;
  fill_cache(cache_, control);
}

const MatrixView<double>& Features::part_of(int64_t col, int64_t& within) const {
  const size_t part = std::upper_bound(starts_.begin(), starts_.end(), col) - starts_.begin() - 1;
  within = col - starts_[part];
  return parts_[part];
}

// to[i] = what is at row row_of(i) of the column, less `shift`.
template <class T, class RowOf>
void Features::fill(int64_t n_rows, int64_t col, RowOf row_of, double shift, T* to) const {
  int64_t within = 0;
  const double* from = part_of(col, within).col(within);
  const double mean = means_.empty() ? 0 : means_[col], factor = factors_.empty() ? 1 : factors_[col];
  for (int64_t i = 0; i < n_rows; ++i) {
    to[i] = static_cast<T>((from[order_[row_of(i)]] - mean) * factor - shift);
  }
}

template <class T>
void Features::fill_cache(Cache<T>& cache, const Control& control) {
  const auto values = std::make_shared<std::vector<T>>(rows() * cols());
  parallel_for(cols(), control.n_threads, [&](int64_t j, int) {
    if (j % 256 == 0) control.check_stop();
    fill(
        rows(), j, [](int64_t i) { return i; }, 0.0, values->data() + j * rows());
  });
  cache = values;
}

void Features::cache_single(double cache_bytes, const Control& control) {
  const double bytes = 4.0 * static_cast<double>(rows()) * static_cast<double>(cols());
  if (single_cache_ == nullptr && bytes <= cache_bytes) fill_cache(single_cache_, control);
}

Features Features::scaled(std::vector<double> factors) const {
  Features out = *this;
  out.factors_ = std::move(factors);
  out.on_gpu_ = {};
  return out;
}

template <>
const Features::Cache<double>& Features::cache<double>() const {
  return cache_;
}
template <>
const Features::Cache<float>& Features::cache<float>() const {
  return single_cache_;
}

template <class T>
MatrixView<T> Features::block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols, std::vector<T>& scratch) const {
  if (factors_.empty()) {
    if constexpr (std::is_same_v<T, double>) {
      int64_t within = 0;
      if (in_place_ && n_cols > 0) {
        const MatrixView<double>& part = part_of(col, within);
        if (within + n_cols <= part.cols) return part.block(row, within, n_rows, n_cols);
      }
    }
    if (cache<T>() != nullptr) return {cache<T>()->data() + row + col * rows(), n_rows, n_cols, rows()};
  }
  scratch.resize(n_rows * n_cols);
  for (int64_t j = 0; j < n_cols; ++j) {
    fill(
        n_rows, col + j, [&](int64_t i) { return row + i; }, 0.0, scratch.data() + j * n_rows);
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
    const auto row_of = [&](int64_t i) { return rows[i]; };
    fill(n_rows, col + j, row_of, shift == nullptr ? 0 : shift[j], scratch.data() + j * n_rows);
  }
  return {scratch.data(), n_rows, n_cols, n_rows};
}

Form choose_form(const Features& features, const Folds& folds) {
  int64_t rows = features.rows();
  for (const Fold& fold : folds.folds) rows = std::min(rows, static_cast<int64_t>(fold.train.size()));
  return features.cols() < rows ? Form::primal : Form::dual;
}

}  // namespace voxridge
