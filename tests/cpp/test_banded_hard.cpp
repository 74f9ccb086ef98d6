// Banded problems that lose digits to whoever is careless: nearly perfect predictions, tiny penalties, bands of very
// different size, one wild sample. Against the plain loop in long double.
#include <cmath>

#include "banded.h"

namespace voxridge_test {

namespace {

// Noise of 1e-6 deviations: at the best penalty R2 is about 1 - 1e-12.
BandedProblem perfect_problem(int64_t t, uint64_t seed) {
  BandedProblem problem = make_banded(45, {3, 3}, t, 3, seed, 1e-6);
  problem.gammas = {{1, 1}, {0.3, 1}, {1, 0}};
  problem.folds = contiguous_folds(45, 3);
  problem.alphas = log_grid(1e-5, 1e3, 90);
  return problem;
}

// The exact mean score of what was chosen is below the best of all candidates and penalties by at most what double
// precision resolves near 1, twice: neighbouring penalties, and candidates that must be better by an epsilon.
void expect_good_choice(const BandedProblem& problem, const BandedResult& result, const BandedCvOptions& options,
                        double resolution) {
  const std::vector<arma::cube> exact = plain_banded_scores(problem, options, Oracle::exact);
  for (arma::uword j = 0; j < problem.y.n_cols; ++j) {
    double best = -1e300;
    for (const arma::cube& scores : exact) best = std::max(best, plain_means(scores).col(j).max());
    ASSERT_GE(result.gamma_index[j], 0);
    const double got = plain_means(exact[result.gamma_index[j]])(result.alpha_index[j], j);
    EXPECT_LE(best - got, resolution) << "target " << j << ", best 1 - " << 1 - best;
  }
}

}  // namespace

TEST(BandedPerfect, ChoosesWhatThePlainLoopChooses) {
  for (const bool intercept : {false, true}) {
    BandedProblem problem = perfect_problem(5, 1);
    problem.intercept = intercept;
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      BandedCvOptions options;
      options.score = score;
      const BandedResult result = run_banded<double>(problem, options);
      EXPECT_LT(result.n_nodes, 90);
      expect_good_choice(problem, result, options, score == Score::correlation ? 3e-15 : 1.5e-15);
      const PlainFit fit = plain_banded_fit(problem, result.gamma_index, result.alpha_index, Oracle::exact);
      EXPECT_LE(largest_difference(result.coefs, fit.coefs), 1e-11);
    }
  }
}

// Squared errors of 1e-12 of the null error keep their order among the penalties of a candidate, the best of which is
// in the midst of them: the residuals are known to 1e-10 of themselves, their sums of squares interpolated to 1e-1.
TEST(BandedPerfect, TinyErrorsKeepTheirOrder) {
  BandedProblem problem = perfect_problem(30, 6);
  problem.gammas = {{1, 1}, {0.3, 1}};
  problem.alphas = log_grid(1e-16, 1e2, 120);
  BandedCvOptions options;
  options.score = Score::neg_mse;
  const std::vector<arma::cube> scores = plain_banded_scores(problem, options, Oracle::exact);
  const BandedResult result = run_banded<double>(problem, options);
  EXPECT_LT(result.n_nodes, 120);
  for (size_t j = 0; j < 30; ++j) {
    const arma::vec means = plain_means(scores[result.gamma_index[j]]).col(j);
    EXPECT_LE(means[result.alpha_index[j]] / means.max(), 1 + 1e-8) << "target " << j;
  }
}

// Features of rank 6 but many more than samples.
TEST(BandedPerfect, InDualForm) {
  BandedProblem problem = perfect_problem(5, 2);
  problem.x = with_singular_values(45, 60, std::vector<double>(6, 8), 3);
  problem.y = problem.x.head_cols(30) * normal_matrix(30, 5, 4) + 1e-6 * normal_matrix(45, 5, 5);
  problem.sizes = {30, 30};
  const BandedResult result = run_banded<double>(problem, {});
  EXPECT_EQ(result.form, Form::dual);
  EXPECT_LT(result.n_nodes, 90);
  EXPECT_GT(result.scores.max(), 1 - 1e-10);
  expect_good_choice(problem, result, {}, 1.5e-15);
}

// Only the tile with such targets is searched again, by all candidates, whatever the budget and the threads.
TEST(BandedPerfect, AmongOrdinaryTargets) {
  BandedProblem problem = perfect_problem(520, 3);
  problem.y.cols(0, 511) += normal_matrix(45, 512, 4);
  for (const bool local : {true, false}) {
    BandedCvOptions options;
    options.local_alpha = local;
    const BandedResult roomy = run_banded<double>(problem, options);
    BandedProblem last = problem;
    last.y = problem.y.cols(512, 519);
    BandedResult part = roomy;
    part.gamma_index.assign(roomy.gamma_index.begin() + 512, roomy.gamma_index.end());
    part.alpha_index.assign(roomy.alpha_index.begin() + 512, roomy.alpha_index.end());
    if (local) expect_good_choice(last, part, options, 1.5e-15);
    for (const double memory : {1e3, 2e4, 1e5, 1e6}) {
      for (const int threads : {1, 2}) {
        Control control;
        control.memory_bytes = memory;
        control.n_threads = threads;
        const BandedResult tight = run_banded<double>(problem, options, control);
        // Interpolated scores of the first tile may differ as much as interpolation may.
        EXPECT_LE(largest_difference(tight.scores, roomy.scores), 1e-9);
        // Those of the last tile are exact where they are nearly perfect: under the first two candidates.
        const arma::mat a = tight.scores.submat(0, 512, 1, 519), b = roomy.scores.submat(0, 512, 1, 519);
        EXPECT_LE(largest_difference(a, b), local ? 1e-15 : 1e-9);
        EXPECT_EQ(tight.gamma_index, roomy.gamma_index);
      }
    }
  }
}

// Least squares of minimum norm in the metric of the weights.
TEST(BandedHard, PenaltyZero) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {20, 14}, {10, 11}}) {
    for (const bool intercept : {false, true}) {
      BandedProblem problem = make_banded(24, sizes, 3, 4, 30, 0.01);
      problem.gammas[3] = {0, 1};
      problem.intercept = intercept;
      problem.alphas = {0, 1e-3, 1};
      problem.alpha_factors = {1, 2, 1, 0.5};
      const BandedResult result = run_banded<double>(problem, {});
      EXPECT_EQ(result.route, Route::svd);
      // The smallest singular values are about 0.02 of the largest, squared in scores of -1e3 and better.
      expect_banded(problem, result, {}, 1e-9, Oracle::exact);
    }
  }
}

// 1e-10 of the largest eigenvalue and below.
TEST(BandedHard, TinyPenalties) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {20, 14}, {10, 11}}) {
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      BandedProblem problem = make_banded(24, sizes, 3, 4, 31, 0.01);
      problem.intercept = true;
      problem.alphas = {1e-12, 1e-8, 1e-3, 1};
      BandedCvOptions options;
      options.score = score;
      const BandedResult result = run_banded<double>(problem, options);
      EXPECT_EQ(result.route, Route::svd);
      expect_banded(problem, result, options, 1e-9, Oracle::exact);
    }
  }
}

// Some candidates by singular values and some by eigenvalues, in the same tiles.
TEST(BandedHard, RoutesSideBySide) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {20, 14}}) {
    BandedProblem problem = make_banded(24, sizes, 600, 4, 32);
    problem.intercept = true;
    problem.gammas = {{1, 1}, {1e6, 1e6}, {0.5, 1}, {1e6, 3e5}};
    problem.alphas = {0.1, 10};
    for (const double memory : {1e9, 2e4}) {
      Control control;
      control.memory_bytes = memory;
      const BandedResult result = run_banded<double>(problem, {}, control);
      EXPECT_EQ(result.route, Route::svd);
      expect_banded(problem, result, {}, 1e-10, Oracle::exact);
    }
  }
}

// Features of 1e6 in one band and 1 in the other: weights that make up for it, that do not, and that make it worse.
// Singular values of 1e7 and 1 side by side: the small ones are known to 1e7 * 1e-15 of themselves.
TEST(BandedHard, BandsOfVeryDifferentSize) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {20, 14}}) {
    for (const bool intercept : {false, true}) {
      BandedProblem problem = make_banded(24, sizes, 3, 1, 33);
      problem.x.head_cols(sizes[0]) *= 1e6;
      problem.intercept = intercept;
      problem.alphas = log_grid(0.1, 1e3, 5);
      for (const bool worse : {false, true}) {
        problem.gammas = {{1e-12, 1}, {1e-6, 1}, {0, 1}};
        if (worse) problem.gammas.insert(problem.gammas.end(), {{1, 1}, {1, 1e-6}});
        // Coefficients X'A err by 1e-16 of the largest eigenvalue over alpha, which is 1e15 then.
        const Coefs coefs = worse && sizes[0] == 20 ? Coefs::none : Coefs::primal;
        for (const Score score : {Score::r2, Score::correlation}) {
          BandedCvOptions options;
          options.score = score;
          const BandedResult result = run_banded<double>(problem, options, {}, coefs);
          expect_banded(problem, result, options, 1e-8, Oracle::exact);
        }
      }
    }
  }
}

// A band of weight 0 leaves more samples than directions: as TinyPenaltiesAndFewDirections of plain ridge.
TEST(BandedHard, TinyPenaltiesAndFewDirections) {
  for (const bool intercept : {false, true}) {
    BandedProblem problem = make_banded(24, {10, 30}, 3, 1, 36);
    problem.gammas = {{1, 0}};
    problem.intercept = intercept;
    for (const double alpha : {1e-4, 1e-8, 1e-12}) {
      problem.alphas = {alpha};
      expect_banded(problem, run_banded<double>(problem, {}), {}, 1e-10, Oracle::exact);
    }
  }
}

// One sample 1e4 times as large as the others, in one band, in all, or in the targets. Rows of size 1 beside means of
// 1e4 / 32, squared: 1e5 * 2e-16, and scores that weigh the small rows.
TEST(BandedHard, WildSample) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {20, 20}}) {
    for (const int where : {0, 1, 2}) {
      for (const bool intercept : {false, true}) {
        BandedProblem problem = make_banded(32, sizes, 3, 4, 34);
        problem.intercept = intercept;
        if (where == 0) problem.x.submat(9, 0, 9, sizes[0] - 1) *= 1e4;
        if (where == 1) problem.x.row(9) *= 1e4;
        if (where == 2) problem.y.row(9) *= 1e4;
        problem.gammas[3] = {1e-5, 1};
        problem.alphas = log_grid(1, 1e3, 5);
        BandedCvOptions options;
        options.score = Score::correlation;
        for (const double memory : {1e9, 1e4}) {
          Control control;
          control.memory_bytes = memory;
          const BandedResult result = run_banded<double>(problem, options, control);
          expect_banded(problem, result, options, 1e-8, Oracle::exact);
        }
      }
    }
  }
}

// Offsets of 1e6 deviations with an intercept: the data are known to 1e-10 then, and answers to about that.
TEST(BandedHard, LargeOffsets) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {20, 20}}) {
    BandedProblem problem = make_banded(24, sizes, 4, 4, 35);
    problem.intercept = true;
    problem.x += 1e6;
    problem.y += 1e6;
    expect_banded(problem, run_banded<double>(problem, {}), {}, 1e-8, Oracle::exact);
  }
}

}  // namespace voxridge_test
