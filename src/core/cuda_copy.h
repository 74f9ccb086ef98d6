// Copies between host and GPU by panels of columns, through the two staging buffers of a session in turn: while one panel
// is on its way, the host prepares the next one or puts away the one before.
#pragma once

#include <algorithm>

#include "cuda_sessions.h"
#include "view.h"

namespace voxridge {

constexpr int64_t kStagingBytes = 2 * 1024 * 1024;  // of a panel, as far as one column is not more

template <class T>
constexpr int kCudaType = sizeof(T) == sizeof(float) ? VOXRIDGE_F32 : VOXRIDGE_F64;

template <class T>
int64_t panel_width(int64_t rows) {
  return std::max<int64_t>(1, kStagingBytes / std::max<int64_t>(1, static_cast<int64_t>(sizeof(T)) * rows));
}

// fill(first column, columns, T* panel) writes columns of `to`. It may return before the last one has arrived: for work
// of the same session that makes no difference, others must wait for its synchronize.
template <class T, class Fill>
void send_panels(const CudaLease& lease, MatrixSpan<T> to, const Fill& fill) {
  const int64_t width = panel_width<T>(to.rows);
  for (int64_t col = 0; col < to.cols; col += width) {
    const int64_t n_cols = std::min(width, to.cols - col);
    const int slot = lease.next_staging(sizeof(T) * static_cast<size_t>(to.rows * n_cols));
    T* const panel = static_cast<T*>(lease.staging(slot));
    fill(col, n_cols, panel);
    lease.call(&voxridge_cuda_table::to_device, kCudaType<T>, panel, to.rows, to.rows, n_cols, to.col(col), to.ld, 1);
    lease.call(&voxridge_cuda_table::mark, slot);
  }
}

// take(first column, columns, const T* panel) gets columns of `from`.
template <class T, class Take>
void fetch_panels(const CudaLease& lease, MatrixView<T> from, const Take& take) {
  const int64_t width = panel_width<T>(from.rows);
  const auto columns_at = [&](int64_t col) { return std::min(width, from.cols - col); };
  const auto fetch = [&](int64_t col) {
    const int64_t n_cols = columns_at(col);
    const int slot = lease.next_staging(sizeof(T) * static_cast<size_t>(from.rows * n_cols));
    lease.call(&voxridge_cuda_table::to_host, kCudaType<T>, from.col(col), from.ld, from.rows, n_cols,
               lease.staging(slot), from.rows, 1);
    lease.call(&voxridge_cuda_table::mark, slot);
    return slot;
  };
  int slot = from.cols > 0 ? fetch(0) : 0;
  for (int64_t col = 0; col < from.cols; col += width) {
    const int this_slot = slot;
    if (col + width < from.cols) slot = fetch(col + width);
    lease.call(&voxridge_cuda_table::wait, this_slot);
    take(col, columns_at(col), static_cast<const T*>(lease.staging(this_slot)));
  }
}

// All of a host matrix, rounded to T; complete for work of the same session.
template <class T>
void send_matrix(const CudaLease& lease, MatrixView<double> from, MatrixSpan<T> to) {
  send_panels(lease, to, [&](int64_t col, int64_t n_cols, T* panel) {
    for (int64_t j = 0; j < n_cols; ++j) {
      const double* column = from.col(col + j);
      std::transform(column, column + from.rows, panel + j * from.rows, [](double x) { return static_cast<T>(x); });
    }
  });
}

template <class T>
void fetch_matrix(const CudaLease& lease, MatrixView<T> from, MatrixSpan<double> to) {
  fetch_panels(lease, from, [&](int64_t col, int64_t n_cols, const T* panel) {
    for (int64_t j = 0; j < n_cols; ++j) std::copy_n(panel + j * from.rows, from.rows, to.col(col + j));
  });
}

}  // namespace voxridge
