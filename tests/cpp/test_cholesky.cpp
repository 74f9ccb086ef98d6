// Cholesky factors, and eigenvalues without vectors.
#include "common.h"

#include "core/cholesky.h"
#include "core/eigen.h"

namespace voxridge_test {

TEST(Cholesky, SolvesAndReadsTheLowerTriangleOnly) {
  for (const int64_t n : {1, 2, 7, 40}) {
    const arma::mat root = normal_matrix(n + 3, n, 1);
    const arma::mat a = root.t() * root;
    arma::mat factor = a;
    if (n > 1) factor(0, n - 1) = 1e9;
    ASSERT_TRUE(cholesky(factor));
    arma::mat b = normal_matrix(n, 3, 2);
    const arma::mat want = arma::solve(a, b);
    cholesky_solve(factor, b);
    EXPECT_LE(largest_difference(b, want), 1e-9 * (1 + arma::abs(want).max()));
  }
}

TEST(Cholesky, SaysWhereAMatrixIsNotPositiveDefinite) {
  arma::mat zero(3, 3, arma::fill::zeros), indefinite(2, 2, arma::fill::eye);
  indefinite(1, 1) = -1;
  arma::mat nan(2, 2, arma::fill::eye);
  nan(1, 1) = arma::datum::nan;
  EXPECT_FALSE(cholesky(zero));
  EXPECT_FALSE(cholesky(indefinite));
  EXPECT_FALSE(cholesky(nan));
}

TEST(Cholesky, NothingIsSolvedToo) {
  arma::mat none(0, 0), b(0, 2), no_columns(3, 0), one(3, 3, arma::fill::eye);
  EXPECT_TRUE(cholesky(none));
  cholesky_solve(none, b);
  ASSERT_TRUE(cholesky(one));
  cholesky_solve(one, no_columns);
  EXPECT_EQ(no_columns.n_rows, 3u);
}

TEST(RobustCholesky, AddsALittleOnceWhereRoundingLeftAMatrixIndefinite) {
  // of rank one: 1 1' less rounding
  int made = 0;
  const arma::mat factor = robust_cholesky([&] {
    ++made;
    arma::mat a(4, 4, arma::fill::ones);
    a.diag() -= arma::datum::eps;
    return a;
  });
  EXPECT_EQ(made, 2);
  EXPECT_EQ(factor.n_rows, 4u);
  made = 0;
  EXPECT_TRUE(robust_cholesky([&] {
                ++made;
                return arma::mat(-arma::mat(3, 3, arma::fill::eye));
              }).is_empty());
  EXPECT_EQ(made, 2);
  EXPECT_EQ(robust_cholesky([] { return arma::mat(5, 5, arma::fill::eye); }).n_rows, 5u);
}

TEST(SymmetricEigenvalues, AreThoseOfTheFullDecomposition) {
  const Control control;
  // 200: blocked reduction, then the rest; the others: at once
  for (const int64_t n : {1, 2, 3, 50, 129, 200}) {
    const arma::mat half = normal_matrix(n, n, 1);
    const arma::mat a = half + half.t();
    arma::mat first = a, second = arma::trimatl(a), vectors;
    arma::vec values;
    symmetric_eigen(first, values, vectors, control);
    const arma::vec alone = symmetric_eigenvalues(second, control);
    ASSERT_EQ(alone.n_elem, static_cast<arma::uword>(n));
    EXPECT_TRUE(alone.is_sorted());
    EXPECT_LE(largest_difference(alone, values), 1e-13 * (1 + arma::abs(values).max()));
    EXPECT_NEAR(arma::accu(alone), arma::trace(a), 1e-12 * static_cast<double>(n * n));
  }
  arma::mat none;
  EXPECT_EQ(symmetric_eigenvalues(none, control).n_elem, 0u);
  const std::atomic<bool> stop{true};
  Control stopped;
  stopped.stop = &stop;
  arma::mat large = normal_matrix(200, 200, 2);
  EXPECT_THROW(symmetric_eigenvalues(large, stopped), Error);
}

}  // namespace voxridge_test
