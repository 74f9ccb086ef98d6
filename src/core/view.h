// Views of dense column-major matrices: the only shape in which data enters or leaves the core.
#pragma once

#include <cstdint>

namespace voxridge {

// Read-only: somebody else owns `data`; column j starts at data + j * ld.
template <class T>
struct MatrixView {
  const T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;

  const T* col(int64_t j) const { return data + j * ld; }
  MatrixView block(int64_t row, int64_t col0, int64_t n_rows, int64_t n_cols) const {
    return {data + row + col0 * ld, n_rows, n_cols, ld};
  }
};

// The same, writable. `data == nullptr` means "this output is not wanted".
template <class T>
struct MatrixSpan {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;

  T* col(int64_t j) const { return data + j * ld; }
  MatrixSpan block(int64_t row, int64_t col0, int64_t n_rows, int64_t n_cols) const {
    return {data + row + col0 * ld, n_rows, n_cols, ld};
  }
  operator MatrixView<T>() const { return {data, rows, cols, ld}; }
};

}  // namespace voxridge
