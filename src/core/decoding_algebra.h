// Triangular factors of the small matrices of a decoding, told when they hold too few digits to be used.
#pragma once

#include "arma.h"

namespace voxridge {

// The least share of a pivot that elimination may leave of its diagonal element: below it over seven digits are lost.
constexpr double kLeastPivot = 1e-7;

// The lower triangle of the n x n matrix `a` becomes that of L, a = L L'; false where a pivot falls below `least` times
// the diagonal element it was.
bool factor_lower(double* a, int64_t n, int64_t ld, double least = kLeastPivot);
inline bool factor_lower(arma::mat& a, double least = kLeastPivot) {
  return factor_lower(a.memptr(), static_cast<int64_t>(a.n_rows), static_cast<int64_t>(a.n_rows), least);
}

// The same of a + alpha I, `a` without negative eigenvalues. A penalty that is small beside them bounds the condition
// of the sum no more, and pivots tell it only roughly: then it is estimated too.
bool factor_ridge(arma::mat& a, double alpha);

// b <- (L L')^-1 b, n x cols.
void solve_lower(const double* l, int64_t n, int64_t ld, double* b, int64_t cols, int64_t ld_b);
inline void solve_lower(const arma::mat& l, arma::mat& b) {
  const int64_t n = static_cast<int64_t>(l.n_rows);
  solve_lower(l.memptr(), n, n, b.memptr(), static_cast<int64_t>(b.n_cols), n);
}

// b <- b L'^-1.
void divide_lower(const arma::mat& l, arma::mat& b);

// L <- L^-1, zeros above the diagonal.
void invert_lower(arma::mat& l);

// a a' or a'a, both triangles.
void gram_of_rows(const arma::mat& a, arma::mat& out);
void gram_of_columns(const arma::mat& a, arma::mat& out);

}  // namespace voxridge
