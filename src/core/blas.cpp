#include "blas.h"

#include <limits>
#include <string>

#include "arma.h"
#include "error.h"
#include "symbols.h"

namespace voxridge {

namespace {

using SgemmFunction = void (*)(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                               const int*, const float*, const int*, const float*, float*, const int*);

SgemmFunction find_sgemm() {
  static const SgemmFunction found = find_function<SgemmFunction>("sgemm_");
  return found;
}

int blas_size(int64_t size) {
  if (size < 0 || size > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::too_large, "a matrix dimension of " + std::to_string(size) + " does not fit BLAS");
  }
  return static_cast<int>(size);
}

int blas_stride(int64_t ld) {
  return blas_size(ld < 1 ? 1 : ld);
}

template <class T>
void set_to_zero(MatrixSpan<T> c) {
  for (int64_t j = 0; j < c.cols; ++j) std::fill_n(c.col(j), c.rows, T(0));
}

void call_gemm(char ta, char tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
               double beta, double* c, int ldc) {
  arma::blas::gemm(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

void call_gemm(char ta, char tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
               float beta, float* c, int ldc) {
  const SgemmFunction sgemm = find_sgemm();
  if (sgemm == nullptr) throw Error(ErrorCode::internal, "the BLAS has no single precision routines");
  sgemm(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

}  // namespace

bool single_blas_available() {
  return find_sgemm() != nullptr;
}

template <class T>
void gemm(Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b, T beta, MatrixSpan<T> c) {
  const int64_t inner = trans_a == Trans::no ? a.cols : a.rows;
  if (c.rows == 0 || c.cols == 0) return;
  if (inner == 0) {
    if (beta == T(0)) set_to_zero(c);
    return;
  }
  call_gemm(static_cast<char>(trans_a), static_cast<char>(trans_b), blas_size(c.rows), blas_size(c.cols),
            blas_size(inner), alpha, a.data, blas_stride(a.ld), b.data, blas_stride(b.ld), beta, c.data,
            blas_stride(c.ld));
}

template void gemm<double>(Trans, Trans, double, MatrixView<double>, MatrixView<double>, double, MatrixSpan<double>);
template void gemm<float>(Trans, Trans, float, MatrixView<float>, MatrixView<float>, float, MatrixSpan<float>);

void syrk(Trans trans, double alpha, MatrixView<double> a, double beta, MatrixSpan<double> c) {
  const int64_t inner = trans == Trans::no ? a.cols : a.rows;
  if (c.rows == 0) return;
  if (inner == 0) {
    if (beta == 0) set_to_zero(c);
    return;
  }
  const char lower = 'L';
  const char t = static_cast<char>(trans);
  const int n = blas_size(c.rows), k = blas_size(inner), lda = blas_stride(a.ld), ldc = blas_stride(c.ld);
  arma::blas::syrk(&lower, &t, &n, &k, &alpha, a.data, &lda, &beta, c.data, &ldc);
}

}  // namespace voxridge
