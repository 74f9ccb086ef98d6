#include "svd.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "error.h"

extern "C" {
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
             int* info);
}

namespace voxridge {

arma::vec squared_with_cutoff(const arma::vec& singular, int64_t rows, int64_t cols, bool centered) {
  const double top = singular.is_empty() ? 0 : singular.max();
  const double cutoff = static_cast<double>(std::max(rows, cols)) * std::numeric_limits<double>::epsilon() * top;
  const arma::uword most = static_cast<arma::uword>(centered ? rows - 1 : rows);
  arma::vec values(singular.n_elem, arma::fill::zeros);
  for (arma::uword i = 0; i < std::min(most, singular.n_elem); ++i) {
    if (singular[i] > cutoff) values[i] = singular[i] * singular[i];
  }
  return values;
}

arma::mat upper_triangle(arma::mat rows) {
  const int m = static_cast<int>(rows.n_rows), n = static_cast<int>(rows.n_cols), query = -1;
  std::vector<double> tau(std::max(1, n));
  double work_size = 0;
  int info = 0;
  dgeqrf_(&m, &n, rows.memptr(), &m, tau.data(), &work_size, &query, &info);
  const int lwork = static_cast<int>(work_size);
  std::vector<double> work(std::max(1, lwork));
  dgeqrf_(&m, &n, rows.memptr(), &m, tau.data(), work.data(), &lwork, &info);
  return arma::trimatu(rows.head_rows(n));
}

ThinSvd thin_svd(const arma::mat& rows) {
  ThinSvd out;
  if (!arma::svd_econ(out.left, out.singular, out.right, rows, "both", "dc")) {
    throw Error(ErrorCode::numerical, "the singular value decomposition of the features did not converge");
  }
  return out;
}

}  // namespace voxridge
