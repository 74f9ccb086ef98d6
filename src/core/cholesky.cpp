#include "cholesky.h"

#include "error.h"

extern "C" {
// Fortran passes the lengths of character arguments last.
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, size_t);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info, size_t);
}

namespace voxridge {

bool cholesky(arma::mat& a) {
  const int n = static_cast<int>(a.n_rows);
  if (n == 0) return true;
  int info = 0;
  dpotrf_("L", &n, a.memptr(), &n, &info, 1);
  return info == 0 && std::isfinite(arma::accu(a.diag()));
}

void cholesky_solve(const arma::mat& factor, arma::mat& b) {
  const int n = static_cast<int>(factor.n_rows), cols = static_cast<int>(b.n_cols);
  if (n == 0 || cols == 0) return;
  int info = 0;
  dpotrs_("L", &n, &cols, factor.memptr(), &n, b.memptr(), &n, &info, 1);
  if (info != 0) throw Error(ErrorCode::internal, "dpotrs was called with a wrong argument");
}

}  // namespace voxridge
