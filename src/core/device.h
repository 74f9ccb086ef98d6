// What a device must supply. Every algorithm is written once, over this interface, for both devices and both
// precisions; T is the precision of the target loop. Factors are made in double from matrices of the host and go back
// there, by the host or by the GPU (gpu_algebra.h).
//
// A buffer belongs to its device: only the functions below look into it. Sums come back to the host in double. Several
// threads may use one device at a time, each with its own buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blas.h"
#include "control.h"
#include "folds.h"
#include "view.h"

namespace voxridge {

// Memory of a device that grows when needed and is freed with its owner.
template <class T>
struct Buffer {
  std::shared_ptr<T> data;
  int64_t capacity = 0;
};

template <class T>
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;

  // rows x cols of uninitialised memory out of `buffer`, enlarged if it is too small.
  virtual MatrixSpan<T> reserve(Buffer<T>& buffer, int64_t rows, int64_t cols) = 0;

  // Targets on their way in: to[i, j] = from[rows[i], j] - shift[j], rounded to T after the subtraction.
  virtual void load(MatrixView<double> from, const RowList& rows, const std::vector<double>& shift,
                    MatrixSpan<T> to) = 0;

  // Host to device, rounding to T, and back.
  virtual void upload(MatrixView<double> from, MatrixSpan<T> to) = 0;
  virtual void download(MatrixView<T> from, MatrixSpan<double> to) = 0;

  // A host matrix for repeated use on the device. The host's may be used in place (then `memory` stays empty), so it
  // must outlive the view.
  virtual MatrixView<T> resident(MatrixView<double> host, Buffer<T>& memory) = 0;

  // Does the device work in the host's memory?
  virtual bool in_place() const = 0;

  // A host matrix for one use on the device: itself, or a copy in `memory`.
  virtual MatrixView<T> borrow(MatrixView<T> host, Buffer<T>& memory) = 0;

  // op(A) op(B) straight into the host's memory.
  virtual void gemm_to_host(Trans trans_a, Trans trans_b, MatrixView<T> a, MatrixView<T> b, Buffer<T>& scratch,
                            MatrixSpan<double> to) = 0;

  // C = alpha op(A) op(B) + beta C.
  virtual void gemm(Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b, T beta,
                    MatrixSpan<T> c) = 0;

  // to[i, j] = from[rows[i], j] - shift[j]; an empty shift subtracts nothing.
  virtual void gather(MatrixView<T> from, const RowList& rows, const std::vector<double>& shift, MatrixSpan<T> to) = 0;

  // to[, j] = from[, columns[j]], and to[, columns[j]] = from[, j].
  virtual void take_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) = 0;
  virtual void put_columns(MatrixView<T> from, const RowList& columns, MatrixSpan<T> to) = 0;

  // Means of the listed rows, per column.
  virtual std::vector<double> means(MatrixView<T> from, const RowList& rows) = 0;

  // Per column the sum of squares about `center` (per column; empty: zero).
  virtual std::vector<double> squares(MatrixView<T> from, const std::vector<double>& center) = 0;

  // to = the sum of the parts.
  virtual void add(const std::vector<MatrixSpan<T>>& parts, MatrixSpan<T> to) = 0;

  // to = total - part - weight x y'.
  virtual void leave_out(MatrixView<T> total, MatrixView<T> part, double weight, const std::vector<double>& x,
                         const std::vector<double>& y, MatrixSpan<T> to) = 0;

  // to[i, j] = from[i, j] / (lambda[i] + alpha[j]) (0 where that sum is 0).
  virtual void shrink(MatrixView<T> from, const std::vector<double>& lambda, const std::vector<double>& alpha,
                      MatrixSpan<T> to) = 0;

  // to[i, j] = weights[i] * from[i, j].
  virtual void scale_rows(MatrixView<T> from, const std::vector<double>& weights, MatrixSpan<T> to) = 0;

  // to = a - b.
  virtual void subtract(MatrixView<T> a, MatrixView<T> b, MatrixSpan<T> to) = 0;

  // The fused score. `predictions` stacks blocks of target.rows rows; out (blocks x cols) gets
  // the sum over rows of (target - prediction)^2 for each block and column.
  virtual void error_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) = 0;

  // The same for sums of products: out (2 blocks x cols) gets target'prediction, then prediction'prediction, for each
  // block. Each block of `predictions` has one row more than the target: sqrt(rows) times the mean prediction. Where
  // the others vanish beside it the prediction is constant and both sums are set to 0.
  virtual void product_sums(MatrixView<T> target, MatrixView<T> predictions, MatrixSpan<double> out) = 0;
};

// The host: Armadillo's BLAS and plain loops.
template <class T>
std::unique_ptr<Device<T>> cpu_device();

// The device that the control names.
template <class T>
std::unique_ptr<Device<T>> make_device(const Control& control);

}  // namespace voxridge
