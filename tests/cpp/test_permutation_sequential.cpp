// Sequential stopping, against a literal loop over the permutations of a full run.
#include "core/permutation_sequential.h"

#include "permutation_cases.h"

namespace voxridge_test {

namespace {

struct Stopped {
  Outcome out;
  std::vector<int> draws;
};

Stopped run_sequential(const PermutationTest& test, int64_t h, int n_threads = 1) {
  Stopped found = {Outcome(test), std::vector<int>(test.y.cols, -1)};
  PermutationOutputs to = found.out.outputs();
  run_sequential_test(test, h, to, found.draws.data(), with_threads(n_threads));
  return found;
}

// The literal loop: draw after draw, a full run of one more permutation each would say what counts. Counts of the
// first l permutations come from full tests of l.
void expect_literal(const PermutationTest& test, int64_t h) {
  const int64_t v = test.y.cols, m = test.n_permutations;
  std::vector<int> draws(v, static_cast<int>(m)), counts(v, 0);
  Outcome full(test);
  for (int64_t l = 1; l <= m; ++l) {
    PermutationTest first = test;
    first.n_permutations = l;
    const Outcome now = run(first);
    if (l == m) full = now;
    for (int64_t j = 0; j < v; ++j) {
      if (counts[j] >= h || now.state[j] != 0) continue;
      counts[j] = now.counts[j];
      if (counts[j] == h) draws[j] = static_cast<int>(l);
    }
  }
  for (const int n_threads : {1, 2, 5}) {
    const Stopped got = run_sequential(test, h, n_threads);
    EXPECT_EQ(got.draws, draws);
    EXPECT_EQ(got.out.counts, counts);
    EXPECT_EQ(got.out.state, full.state);
    EXPECT_TRUE(same_bits(arma::vec(got.out.statistic), arma::vec(full.statistic)));
    EXPECT_TRUE(same_bits(arma::vec(got.out.estimate), arma::vec(full.estimate)));
  }
}

arma::mat some_data(int64_t n, int64_t v, bool tied) {
  arma::mat y = normal_matrix(n, v, 3);
  y.cols(0, 4) += 1.5;
  if (tied) y = arma::round(2 * y);
  y.col(7).fill(3);
  y(1, 9) = NAN;
  return y;
}

}  // namespace

TEST(PermutationSequential, StopsAtTheDrawOfALiteralLoop) {
  for (const bool tied : {false, true}) {
    const arma::mat y = some_data(10, 37, tied);
    const arma::vec x = unit_ones(10), z = unit_variable(10, 4);
    for (const int64_t h : {1, 3, 10}) {
      for (const bool absolute : {true, false}) {
        PermutationTest flips = one_sample(y, x), shuffles = correlation(y, z, x);
        for (PermutationTest* test : {&flips, &shuffles}) {
          test->absolute = absolute;
          test->rows.seed = 5;
          test->n_permutations = 60;
          expect_literal(*test, h);
        }
      }
    }
  }
}

TEST(PermutationSequential, TheCallersRowsAreTakenInTheirOrder) {
  // row 3 and every second one from there on change nothing: each of them counts for every column
  const arma::mat y = some_data(8, 21, false);
  const arma::vec x = unit_ones(8);
  arma::Mat<int> rows(40, 8, arma::fill::ones);
  const arma::mat z = normal_matrix(40, 8, 6);
  for (arma::uword r = 0; r < 40; ++r) {
    for (arma::uword i = 0; i < 8; ++i) rows(r, i) = r >= 2 && r % 2 == 0 ? 1 : (z(r, i) < 0 ? -1 : 1);
  }
  PermutationTest test = one_sample(y, x);
  test.rows.given = {rows.memptr(), 40, 8, 40};
  test.n_permutations = 40;
  expect_literal(test, 5);
  const Stopped got = run_sequential(test, 5);
  for (arma::uword j = 0; j < 21; ++j) {
    if (got.out.state[j] == 0) { EXPECT_LE(got.draws[j], 11); }
  }
}

TEST(PermutationSequential, FewPermutationsManyExceedancesAndNothingToTest) {
  const arma::mat y = some_data(9, 12, true);
  const arma::vec x = unit_ones(9);
  PermutationTest test = one_sample(y, x);
  for (const int64_t m : {1, 2, 7}) {
    test.n_permutations = m;
    expect_literal(test, 10);  // no column can stop
  }
  test.n_permutations = 50;
  const arma::mat constant(9, 6, arma::fill::value(2.0));
  PermutationTest none = test;
  none.y = view_of(constant);
  const Stopped got = run_sequential(none, 3);
  EXPECT_EQ(got.out.counts, std::vector<int>(6, 0));
  EXPECT_EQ(got.draws, std::vector<int>(6, 50));
  for (const double s : got.out.statistic) EXPECT_TRUE(std::isnan(s));
  // without columns
  none.y = {y.memptr(), 9, 0, 9};
  EXPECT_TRUE(run_sequential(none, 3).draws.empty());
}

}  // namespace voxridge_test
