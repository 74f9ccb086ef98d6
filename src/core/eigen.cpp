#include "eigen.h"

#include <algorithm>
#include <string>
#include <vector>

#include "error.h"
#include "gpu_algebra.h"

extern "C" {
// Fortran passes the lengths of character arguments last.
void dlatrd_(const char* uplo, const int* n, const int* nb, double* a, const int* lda, double* e, double* tau,
             double* w, const int* ldw, size_t);
void dsytd2_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e, double* tau, int* info,
             size_t);
void dsyr2k_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha, const double* a,
             const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc, size_t,
             size_t);
void dstedc_(const char* compz, const int* n, double* d, double* e, double* z, const int* ldz, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info, size_t);
void dsterf_(const int* n, double* d, double* e, int* info);
void dormtr_(const char* side, const char* uplo, const char* trans, const int* m, const int* n, const double* a,
             const int* lda, const double* tau, double* c, const int* ldc, double* work, const int* lwork, int* info,
             size_t, size_t, size_t);
}

namespace voxridge {

namespace {

constexpr int kPanel = 32;
constexpr int kUnblocked = 128;     // what is left is reduced at once
constexpr int kBackColumns = 1024;  // of the back-transformation, between looks at the stop flag

void check(int info, const char* step) {
  if (info == 0) return;
  throw Error(ErrorCode::numerical,
              std::string("the eigendecomposition of a Gram matrix did not converge (") + step + ")");
}

struct Tridiagonal {
  std::vector<double> diagonal, off_diagonal, tau;
};

// Lower triangle of `a` to tridiagonal form; below the first sub-diagonal stay the reflections.
Tridiagonal reduce(arma::mat& a, const Control& control) {
  const int n = static_cast<int>(a.n_rows), panel = kPanel;
  Tridiagonal t{std::vector<double>(n), std::vector<double>(std::max(1, n - 1)),
                std::vector<double>(std::max(1, n - 1))};
  std::vector<double> w(static_cast<size_t>(n) * panel);
  const double minus_one = -1, one = 1;
  int first = 0;
  for (; n - first > kUnblocked; first += panel) {
    control.check_stop();
    const int rest = n - first, below = rest - panel;
    dlatrd_("L", &rest, &panel, &a(first, first), &n, &t.off_diagonal[first], &t.tau[first], w.data(), &n, 1);
    dsyr2k_("L", "N", &below, &panel, &minus_one, &a(first + panel, first), &n, w.data() + panel, &n, &one,
            &a(first + panel, first + panel), &n, 1, 1);
    for (int j = first; j < first + panel; ++j) {
      a(j + 1, j) = t.off_diagonal[j];
      t.diagonal[j] = a(j, j);
    }
  }
  const int rest = n - first;
  int info = 0;
  dsytd2_("L", &rest, &a(first, first), &n, &t.diagonal[first], t.off_diagonal.data() + std::min(first, n - 1),
          t.tau.data() + std::min(first, n - 1), &info, 1);
  check(info, "reduction");
  return t;
}

arma::mat divide_and_conquer(Tridiagonal& t) {
  const int n = static_cast<int>(t.diagonal.size());
  arma::mat z(n, n, arma::fill::none);
  int info = 0, query = -1, iwork_size = 0;
  double work_size = 0;
  dstedc_("I", &n, t.diagonal.data(), t.off_diagonal.data(), z.memptr(), &n, &work_size, &query, &iwork_size, &query,
          &info, 1);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(std::max(1, lwork));
  std::vector<int> iwork(std::max(1, iwork_size));
  dstedc_("I", &n, t.diagonal.data(), t.off_diagonal.data(), z.memptr(), &n, work.data(), &lwork, iwork.data(),
          &iwork_size, &info, 1);
  check(info, "divide and conquer");
  return z;
}

// vectors <- Q vectors, by blocks of columns. One after the other: LAPACK writes into `a` for a moment while it reads
// the reflections from it, so they must not be applied from two threads at once.
void apply_reflections(arma::mat& a, const Tridiagonal& t, arma::mat& vectors, const Control& control) {
  const int n = static_cast<int>(a.n_rows), width = std::min(n, kBackColumns), query = -1;
  double work_size = 0;
  int info = 0;
  dormtr_("L", "L", "N", &n, &width, a.memptr(), &n, t.tau.data(), vectors.memptr(), &n, &work_size, &query, &info, 1,
          1, 1);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(std::max(1, lwork));
  for (int first = 0; first < n; first += width) {
    control.check_stop();
    const int cols = std::min(width, n - first);
    dormtr_("L", "L", "N", &n, &cols, a.memptr(), &n, t.tau.data(), vectors.colptr(first), &n, work.data(), &lwork,
            &info, 1, 1, 1);
    check(info, "back-transformation");
  }
}

}  // namespace

void symmetric_eigen(arma::mat& a, arma::vec& values, arma::mat& vectors, const Control& control) {
  if (a.is_empty()) {
    values.reset();
    vectors.reset();
    return;
  }
  control.check_stop();
  if (gpu_eigen(a, values, vectors, control)) return;
  Tridiagonal t = reduce(a, control);
  control.check_stop();
  vectors = divide_and_conquer(t);
  apply_reflections(a, t, vectors, control);
  values = arma::vec(t.diagonal);
}

arma::vec symmetric_eigenvalues(arma::mat& a, const Control& control) {
  if (a.is_empty()) return {};
  Tridiagonal t = reduce(a, control);
  const int n = static_cast<int>(a.n_rows);
  int info = 0;
  dsterf_(&n, t.diagonal.data(), t.off_diagonal.data(), &info);
  check(info, "eigenvalues");
  return arma::vec(t.diagonal);
}

}  // namespace voxridge
