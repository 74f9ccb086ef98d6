// Cholesky factors of symmetric positive definite matrices.
#pragma once

#include "arma.h"

namespace voxridge {

// The lower triangle of `a` becomes that of L, a = L L'; false where `a` is not positive definite.
bool cholesky(arma::mat& a);

// b <- (L L')^-1 b.
void cholesky_solve(const arma::mat& factor, arma::mat& b);

// The same of a matrix made by make(); where rounding has left it indefinite, once more with a little on its diagonal.
template <class Make>
arma::mat robust_cholesky(const Make& make) {
  arma::mat a = make();
  if (cholesky(a)) return a;
  a = make();
  a.diag() += 4 * arma::datum::eps * arma::trace(a);
  if (cholesky(a)) return a;
  return {};
}

}  // namespace voxridge
