// Linear algebra of the factors on the GPU, in double. Matrices come from the host and go back to it, so only work that
// outweighs the way is taken. Every function answers whether it has done the work; it has not where the control names no
// GPU, where the work is too small, and where the GPU has not enough memory, no cuSOLVER, or one that fails. Then the
// host does it with its BLAS and LAPACK, to the same result but for rounding.
#pragma once

#include <memory>

#include "arma.h"
#include "blas.h"
#include "control.h"
#include "view.h"

namespace voxridge {

class CudaLease;

// The sum of A A' (Trans::no) or A'A (Trans::yes) over panels.
class GpuGram {
 public:
  // The sum is n x n; all panels together have `inner` columns (rows). nullptr where the host is to make it.
  static std::unique_ptr<GpuGram> start(Trans trans, int64_t n, int64_t inner, const Control& control);

  void add(MatrixView<double> panel);

  // A panel in memory of the GPU.
  void add_there(MatrixView<double> panel);

  // The lower triangle of the sum; above it lies anything.
  void finish(MatrixSpan<double> sum);

 private:
  GpuGram(Trans trans, int64_t n, int64_t length, const Control& control);
  void multiply(const CudaLease& lease, MatrixView<double> panel);

  const Trans trans_;
  const int64_t n_, length_;  // of a piece of a panel, which is what lies on the GPU at a time
  std::shared_ptr<void> sum_, piece_;
  bool begun_ = false;
};

// Eigenvalues in ascending order and eigenvectors of a symmetric matrix, of which the lower triangle is read.
bool gpu_eigen(const arma::mat& symmetric, arma::vec& values, arma::mat& vectors, const Control& control);

// C = alpha op(A) op(B).
bool gpu_gemm(Trans trans_a, Trans trans_b, double alpha, MatrixView<double> a, MatrixView<double> b,
              MatrixSpan<double> c, const Control& control);

// A op(B), by whom it may be.
arma::mat product(const arma::mat& a, Trans trans_b, const arma::mat& b, const Control& control);

}  // namespace voxridge
