#include "decoding_algebra.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "arma_view.h"
#include "blas.h"
#include "error.h"

extern "C" {
// Fortran passes the lengths of character arguments last.
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info, size_t);
void dpocon_(const char* uplo, const int* n, const double* a, const int* lda, const double* norm, double* rcond,
             double* work, int* iwork, int* info, size_t);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda, int* info, size_t, size_t);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb, size_t, size_t, size_t,
            size_t);
}

namespace voxridge {

namespace {

constexpr double kSmallPenalty = 1e-6;  // of the trace
constexpr int64_t kSmall = 16;          // below this LAPACK's calls cost more than its loops save

bool factor_small(double* a, int64_t n, int64_t ld, double least) {
  for (int64_t j = 0; j < n; ++j) {
    double* column = a + j * ld;
    const double before = column[j];
    for (int64_t k = 0; k < j; ++k) {
      const double* left = a + k * ld;
      const double factor = left[j];
      for (int64_t i = j; i < n; ++i) column[i] -= factor * left[i];
    }
    if (!(column[j] > least * before)) return false;
    const double inverse = 1 / std::sqrt(column[j]);
    for (int64_t i = j; i < n; ++i) column[i] *= inverse;
  }
  return true;
}

void solve_small(const double* l, int64_t n, int64_t ld, double* b, int64_t cols, int64_t ld_b) {
  double inverse[kSmall];
  for (int64_t j = 0; j < n; ++j) inverse[j] = 1 / l[j + j * ld];
  for (int64_t c = 0; c < cols; ++c, b += ld_b) {
    for (int64_t j = 0; j < n; ++j) {
      const double value = b[j] *= inverse[j];
      for (int64_t i = j + 1; i < n; ++i) b[i] -= value * l[i + j * ld];
    }
    for (int64_t j = n - 1; j >= 0; --j) {
      double value = b[j];
      for (int64_t i = j + 1; i < n; ++i) value -= l[i + j * ld] * b[i];
      b[j] = value * inverse[j];
    }
  }
}

void mirror(arma::mat& m) {
  for (arma::uword j = 0; j < m.n_cols; ++j) {
    for (arma::uword i = j + 1; i < m.n_rows; ++i) m(j, i) = m(i, j);
  }
}

}  // namespace

bool factor_lower(double* a, int64_t n, int64_t ld, double least) {
  if (n <= kSmall) return factor_small(a, n, ld, least);
  thread_local std::vector<double> before;
  before.resize(n);
  for (int64_t j = 0; j < n; ++j) before[j] = a[j + j * ld];
  const int size = static_cast<int>(n), stride = static_cast<int>(ld);
  int info = 0;
  dpotrf_("L", &size, a, &stride, &info, 1);
  if (info != 0) return false;
  for (int64_t j = 0; j < n; ++j) {
    const double pivot = a[j + j * ld];
    if (!(pivot * pivot > least * before[j])) return false;
  }
  return true;
}

bool factor_ridge(arma::mat& a, double alpha) {
  const int n = static_cast<int>(a.n_rows);
  a.diag() += alpha;
  double norm = 0;  // the largest sum of absolute values of a column
  const bool small = alpha < kSmallPenalty * arma::trace(a);
  for (int j = 0; j < n && small; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::fabs(i < j ? a(j, i) : a(i, j));
    norm = std::max(norm, sum);
  }
  if (!factor_lower(a)) return false;
  if (!small) return true;
  std::vector<double> work(3 * n);
  std::vector<int> integers(n);
  double rcond = 0;
  int info = 0;
  dpocon_("L", &n, a.memptr(), &n, &norm, &rcond, work.data(), integers.data(), &info, 1);
  return info == 0 && rcond > kLeastPivot;
}

void solve_lower(const double* l, int64_t n, int64_t ld, double* b, int64_t cols, int64_t ld_b) {
  if (n == 0 || cols == 0) return;
  if (n <= kSmall) return solve_small(l, n, ld, b, cols, ld_b);
  const int size = static_cast<int>(n), stride = static_cast<int>(ld), count = static_cast<int>(cols),
            stride_b = static_cast<int>(ld_b);
  int info = 0;
  dpotrs_("L", &size, &count, l, &stride, b, &stride_b, &info, 1);
  if (info != 0) throw Error(ErrorCode::internal, "dpotrs was called with a wrong argument");
}

void divide_lower(const arma::mat& l, arma::mat& b) {
  const int rows = static_cast<int>(b.n_rows), n = static_cast<int>(l.n_rows);
  const double one = 1;
  if (rows > 0 && n > 0) {
    dtrsm_("R", "L", "T", "N", &rows, &n, &one, l.memptr(), &n, b.memptr(), &rows, 1, 1, 1, 1);
  }
}

void invert_lower(arma::mat& l) {
  const int n = static_cast<int>(l.n_rows);
  int info = 0;
  dtrtri_("L", "N", &n, l.memptr(), &n, &info, 1, 1);
  if (info != 0) throw Error(ErrorCode::internal, "a triangular factor is singular");
  for (arma::uword j = 1; j < l.n_cols; ++j) std::fill_n(l.colptr(j), j, 0.0);
}

void gram_of_rows(const arma::mat& a, arma::mat& out) {
  out.set_size(a.n_rows, a.n_rows);
  syrk(Trans::no, 1.0, view_of(a), 0.0, span_of(out));
  mirror(out);
}

void gram_of_columns(const arma::mat& a, arma::mat& out) {
  out.set_size(a.n_cols, a.n_cols);
  syrk(Trans::yes, 1.0, view_of(a), 0.0, span_of(out));
  mirror(out);
}

}  // namespace voxridge
