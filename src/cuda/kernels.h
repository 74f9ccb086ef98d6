// The kernels of the CUDA device, in plain CUDA C++ without CUDA's headers: nvcc compiles them for the plugin, and the
// tests compile the same text for the host (tests/cuda/cuda_on_cpu.h).
//
// All have one shape: a warp takes a column, its lanes take every 32nd row, and both walk on in strides of the grid, so
// any grid is right. Blocks have kThreads threads; elementwise kernels may also share the rows of a column out over
// gridDim.y. Sums are made with gridDim.y = 1. Indices have 64 bits.
#pragma once

#include <cstdint>

namespace voxridge_plugin {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr unsigned kAllLanes = 0xffffffffu;

// A column-major matrix on the device: `ld` elements from one column to the next.
template <class T>
struct DeviceMatrix {
  T* data;
  int64_t ld;
  __device__ T* col(int64_t j) const { return data + j * ld; }
};

// The terms of a sum of matrices, so many at a time.
constexpr int kMaxParts = 16;
template <class T>
struct Parts {
  DeviceMatrix<const T> part[kMaxParts];
  int count;
};

namespace kernels {

inline __device__ int64_t lane() {
  return threadIdx.x % kWarp;
}
inline __device__ int64_t first_column() {
  return static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
}
inline __device__ int64_t column_stride() {
  return static_cast<int64_t>(gridDim.x) * kWarps;
}

// body(i, j) for every element.
template <class Body>
__device__ void for_elements(int64_t rows, int64_t cols, const Body& body) {
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kWarp + lane();
  const int64_t row_stride = static_cast<int64_t>(gridDim.y) * kWarp;
  for (int64_t j = first_column(); j < cols; j += column_stride()) {
    for (int64_t i = first_row; i < rows; i += row_stride) body(i, j);
  }
}

// The sum over the lanes of a warp, given to each of them.
template <class T>
__device__ T warp_sum(T value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  return value;
}

// N sums over the rows of a column. term(i, run) adds the terms of row i to run[0 .. N - 1]. A lane adds at most kRun
// terms in T before they go to its sum in double, so single precision errs by about 1e-7 whatever the number of rows.
constexpr int64_t kRun = 32;
template <class T, int N, class Term>
__device__ void column_sums(int64_t rows, const Term& term, double (&sums)[N]) {
  for (int k = 0; k < N; ++k) sums[k] = 0;
  for (int64_t first = lane(); first < rows; first += kRun * kWarp) {
    const int64_t end = first + kRun * kWarp < rows ? first + kRun * kWarp : rows;
    T run[N] = {};
    for (int64_t i = first; i < end; i += kWarp) term(i, run);
    for (int k = 0; k < N; ++k) sums[k] += static_cast<double>(run[k]);
  }
  for (int k = 0; k < N; ++k) sums[k] = warp_sum(sums[k]);
}

// to[i, j] = from[rows[i], j] - shift[j]; shift may be null.
template <class T>
__global__ void gather(DeviceMatrix<const T> from, int64_t cols, const int64_t* rows, int64_t n_rows,
                       const double* shift, DeviceMatrix<T> to) {
  for_elements(n_rows, cols, [=](int64_t i, int64_t j) {
    const T move = shift == nullptr ? T(0) : static_cast<T>(shift[j]);
    to.col(j)[i] = from.col(j)[rows[i]] - move;
  });
}

// to[, j] = from[, columns[j]], or where `put` to[, columns[j]] = from[, j].
template <class T>
__global__ void copy_columns(bool put, DeviceMatrix<const T> from, int64_t rows, const int64_t* columns,
                             int64_t n_columns, DeviceMatrix<T> to) {
  for_elements(rows, n_columns, [=](int64_t i, int64_t j) {
    if (put) {
      to.col(columns[j])[i] = from.col(j)[i];
    } else {
      to.col(j)[i] = from.col(columns[j])[i];
    }
  });
}

// Means of the listed rows, summed as differences from the first of them: columns far from zero keep their digits.
template <class T>
__global__ void means(DeviceMatrix<const T> from, int64_t cols, const int64_t* rows, int64_t n_rows, double* out) {
  for (int64_t j = first_column(); j < cols; j += column_stride()) {
    const T* column = from.col(j);
    const double origin = n_rows > 0 ? static_cast<double>(column[rows[0]]) : 0;
    double sum[1];
    column_sums<double>(
        n_rows, [=](int64_t i, double* run) { run[0] += static_cast<double>(column[rows[i]]) - origin; }, sum);
    if (lane() == 0) out[j] = n_rows > 0 ? origin + sum[0] / static_cast<double>(n_rows) : 0;
  }
}

// Sums of (from - center[j])^2; center may be null.
template <class T>
__global__ void squares(DeviceMatrix<const T> from, int64_t rows, int64_t cols, const double* center, double* out) {
  for (int64_t j = first_column(); j < cols; j += column_stride()) {
    const T* column = from.col(j);
    const double origin = center == nullptr ? 0 : center[j];
    double sum[1];
    const auto term = [=](int64_t i, double* run) {
      const double d = static_cast<double>(column[i]) - origin;
      run[0] += d * d;
    };
    column_sums<double>(rows, term, sum);
    if (lane() == 0) out[j] = sum[0];
  }
}

// to = the sum of the parts, plus what `to` holds where `onto`.
template <class T>
__global__ void add(Parts<T> parts, bool onto, int64_t rows, int64_t cols, DeviceMatrix<T> to) {
  for_elements(rows, cols, [&](int64_t i, int64_t j) {
    T sum = onto ? to.col(j)[i] : T(0);
    for (int k = 0; k < parts.count; ++k) sum += parts.part[k].col(j)[i];
    to.col(j)[i] = sum;
  });
}

// to = total - part - x scale'; x is not read in columns of scale 0.
template <class T>
__global__ void leave_out(DeviceMatrix<const T> total, DeviceMatrix<const T> part, int64_t rows, int64_t cols,
                          const double* x, const double* scale, DeviceMatrix<T> to) {
  for_elements(rows, cols, [=](int64_t i, int64_t j) {
    T value = total.col(j)[i] - part.col(j)[i];
    if (scale[j] != 0) value -= static_cast<T>(scale[j] * x[i]);
    to.col(j)[i] = value;
  });
}

// to[i, j] = from[i, j] / (lambda[i] + alpha[j]); sums near the smallest numbers count as 0, and give 0.
template <class T>
__global__ void shrink(DeviceMatrix<const T> from, int64_t rows, int64_t cols, const double* lambda,
                       const double* alpha, DeviceMatrix<T> to) {
  for_elements(rows, cols, [=](int64_t i, int64_t j) {
    const double sum = lambda[i] + alpha[j];
    to.col(j)[i] = from.col(j)[i] * (sum > 1e-300 ? static_cast<T>(1 / sum) : T(0));
  });
}

// to[i, j] = weights[i] * from[i, j].
template <class T>
__global__ void scale_rows(DeviceMatrix<const T> from, int64_t rows, int64_t cols, const double* weights,
                           DeviceMatrix<T> to) {
  for_elements(rows, cols, [=](int64_t i, int64_t j) { to.col(j)[i] = from.col(j)[i] * static_cast<T>(weights[i]); });
}

// to = a - b.
template <class T>
__global__ void subtract(DeviceMatrix<const T> a, DeviceMatrix<const T> b, int64_t rows, int64_t cols,
                         DeviceMatrix<T> to) {
  for_elements(rows, cols, [=](int64_t i, int64_t j) { to.col(j)[i] = a.col(j)[i] - b.col(j)[i]; });
}

// out[b, j] = the sum over rows of (target - prediction of block b)^2. The column of targets stays in the cache
// while its blocks of predictions stream past.
template <class T>
__global__ void error_sums(DeviceMatrix<const T> target, int64_t rows, int64_t cols, DeviceMatrix<const T> predictions,
                           int64_t n_blocks, double* out) {
  for (int64_t j = first_column(); j < cols; j += column_stride()) {
    const T* __restrict__ y = target.col(j);
    for (int64_t b = 0; b < n_blocks; ++b) {
      const T* __restrict__ p = predictions.col(j) + b * rows;
      double sum[1];
      const auto term = [=](int64_t i, T* run) {
        const T d = y[i] - p[i];
        run[0] += d * d;
      };
      column_sums<T>(rows, term, sum);
      if (lane() == 0) out[j * n_blocks + b] = sum[0];
    }
  }
}

// out[2b, j] = target'prediction of block b, out[2b + 1, j] = prediction'prediction. A block has one row more than
// the target: sqrt(rows) times the mean prediction. Where p'p vanishes beside its square the prediction is constant but
// for rounding, and both are 0. eps is that of T.
template <class T>
__global__ void product_sums(DeviceMatrix<const T> target, int64_t rows, int64_t cols,
                             DeviceMatrix<const T> predictions, int64_t n_blocks, double eps, double* out) {
  const double bound = static_cast<double>(rows) * static_cast<double>(rows) * eps * eps;
  for (int64_t j = first_column(); j < cols; j += column_stride()) {
    const T* __restrict__ y = target.col(j);
    for (int64_t b = 0; b < n_blocks; ++b) {
      const T* __restrict__ p = predictions.col(j) + b * (rows + 1);
      double sums[2];
      const auto term = [=](int64_t i, T* run) {
        run[0] += y[i] * p[i];
        run[1] += p[i] * p[i];
      };
      column_sums<T>(rows, term, sums);
      if (lane() == 0) {
        const double last = static_cast<double>(p[rows]);
        const bool constant = sums[1] <= bound * (sums[1] + last * last);
        out[(j * n_blocks + b) * 2] = constant ? 0 : sums[0];
        out[(j * n_blocks + b) * 2 + 1] = constant ? 0 : sums[1];
      }
    }
  }
}

}  // namespace kernels
}  // namespace voxridge_plugin
