// Predictions so good that scores differ in their last digits only: the search must choose what the plain loop chooses.
#include "common.h"

#include <cmath>

namespace voxridge_test {

namespace {

// Noise of 1e-6 deviations: at the best penalty R2 is about 1 - 1e-12.
Problem perfect_problem(int64_t n, int64_t p, int64_t t, uint64_t seed) {
  Problem problem = make_problem(n, p, t, seed, 1e-6);
  problem.folds = contiguous_folds(n, 3);
  problem.alphas = log_grid(1e-5, 1e3, 90);
  return problem;
}

// Neighbouring penalties may tie to rounding: a choice counts as right where the exact mean score of the chosen penalty
// is below the best by at most what double precision resolves near `resolution`.
void expect_good_choice(const Problem& problem, const CvResult& result, Score score, double resolution) {
  const arma::mat exact = plain_means(plain_scores(problem, score));
  for (arma::uword j = 0; j < exact.n_cols; ++j) {
    const double best = exact.col(j).max(), worst = exact.col(j).min();
    ASSERT_GE(result.index[j], 0);
    EXPECT_LE(best - exact(result.index[j], j), resolution)
        << "target " << j << " chose " << result.index[j] << " of scores " << worst << " .. 1 - " << 1 - best;
  }
}

}  // namespace

TEST(RidgeCvPerfect, ChoosesWhatThePlainLoopChooses) {
  for (const bool intercept : {false, true}) {
    Problem problem = perfect_problem(45, 6, 6, 1);
    problem.intercept = intercept;
    const arma::mat exact = plain_means(plain_scores(problem, Score::r2));
    EXPECT_LT(1 - exact.max(), 1e-11);
    EXPECT_GT(1 - exact.max(), 1e-14);
    for (const Score score : {Score::r2, Score::neg_mse}) {
      RidgeCvOptions options;
      options.score = score;
      // R2 of 1 - 1e-12 has four digits of 1 - R2; neg_mse has them all, of 1e-12.
      expect_good_choice(problem, run_cv<double>(problem, options), score, score == Score::r2 ? 1e-15 : 1e-15);
    }
  }
}

TEST(RidgeCvPerfect, Correlation) {
  Problem problem = perfect_problem(45, 6, 6, 2);
  RidgeCvOptions options;
  options.score = Score::correlation;
  // Correlations near 1 are rounded to 1e-16 and summed over 15 rows: a few 1e-16.
  expect_good_choice(problem, run_cv<double>(problem, options), Score::correlation, 2e-15);
}

TEST(RidgeCvPerfect, AmongOrdinaryTargets) {
  Problem problem = perfect_problem(45, 6, 520, 3);
  problem.y.cols(0, 511) += normal_matrix(45, 512, 4);  // the first tile is ordinary
  problem.alphas = log_grid(1e-5, 1e3, 60);
  const CvResult result = run_cv<double>(problem, {});
  EXPECT_LT(result.n_nodes, 60);
  Problem last = problem;
  last.y = problem.y.cols(512, 519);
  CvResult part = result;
  part.index.assign(result.index.begin() + 512, result.index.end());
  expect_good_choice(last, part, Score::r2, 1e-15);
}

// The second search, at all penalties, needs more memory than the first and so several passes; coefficients must be
// written all the same.
TEST(RidgeCvPerfect, CoefficientsAfterASecondSearch) {
  for (const int64_t p : {6, 60}) {
    Problem problem = perfect_problem(45, p, 4, 5);
    if (p > 45)
      problem.y = problem.x.cols(0, 2) * normal_matrix(3, 4, 6);  // zero noise; still not perfect when held out
    const CvResult roomy = run_cv<double>(problem, {});
    int tried = 0;
    for (double memory = 1e7; memory > 1e4; memory *= 0.8) {
      Control control;
      control.memory_bytes = memory;
      const CvResult tight = run_cv<double>(problem, {}, control);
      if (tight.passes != 1) continue;
      ++tried;
      ASSERT_EQ(tight.index, roomy.index) << "memory " << memory;
      ASSERT_LE(largest_difference(tight.coefs, roomy.coefs), 1e-9) << "memory " << memory;
    }
    EXPECT_GT(tried, 3);
  }
}

}  // namespace voxridge_test
