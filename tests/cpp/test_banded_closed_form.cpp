// Leave-one-out and generalised cross-validation of banded ridge against refits and the hat matrix.
#include "banded.h"

namespace voxridge_test {

namespace {

BandedCvOptions options_for(CvKind kind, Score score) {
  BandedCvOptions options;
  options.cv = kind;
  options.score = score;
  if (score == Score::user) options.user = absolute_error;
  return options;
}

const std::vector<std::vector<int64_t>> kSizes = {{3, 2}, {9, 9}, {20, 11}};

}  // namespace

// As in test_banded_cv.cpp: normal equations with penalties of at least 1e-4 of the largest eigenvalue.
TEST(BandedClosedForm, EveryScore) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    for (const bool intercept : {false, true}) {
      BandedProblem problem = make_banded(18, sizes, 4, 5, 60);
      problem.intercept = intercept;
      problem.alphas = {100, 1, 10};
      problem.alpha_factors = {1, 2, 0.3, 1, 1};
      if (intercept) {
        problem.x += 2;
        problem.y += 10;
      }
      for (const Score score : {Score::r2, Score::neg_mse, Score::correlation, Score::user}) {
        SCOPED_TRACE(testing::Message() << problem.x.n_cols << " features, intercept " << intercept << ", score "
                                        << static_cast<int>(score));
        BandedCvOptions options = options_for(CvKind::loo, score);
        expect_banded(problem, run_banded<double>(problem, options), options, 1e-11);
        if (score == Score::correlation || score == Score::user) continue;
        options.cv = CvKind::gcv;
        expect_banded(problem, run_banded<double>(problem, options), options, 1e-11);
        options.local_alpha = false;
        expect_banded(problem, run_banded<double>(problem, options), options, 1e-11);
      }
    }
  }
}

// Weights of zero, repeated columns and columns without variance: null directions of every kind beside the others.
TEST(BandedClosedForm, NullDirections) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BandedProblem problem = make_banded(40, {5, 6, 7}, 3, 1, 60 + seed);
    problem.gammas = {{1, 0, 0}, {0, 0.1, 0}, {0, 0, 1}, {0, 3, 0.5}, {1, 1, 1}};
    problem.intercept = seed % 2 == 0;
    problem.x.col(6) = problem.x.col(7);
    problem.x.col(13) = problem.x.col(1) - problem.x.col(12);
    problem.x.col(9).fill(2);
    problem.alphas = {0.5, 20};
    for (const CvKind kind : {CvKind::loo, CvKind::gcv, CvKind::kfold}) {
      const BandedCvOptions options = options_for(kind, Score::r2);
      expect_banded(problem, run_banded<double>(problem, options), options, 1e-11);
    }
  }
}

// Below the switch to singular values. Residuals of alpha / lambda are divided by leverages of the same size where the
// features span all samples: 1e-8 of the rounding.
TEST(BandedClosedForm, SmallPenalties) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    BandedProblem problem = make_banded(18, sizes, 3, 3, 70);
    problem.alphas = {1e-6, 1e-2};
    problem.gammas = {{1, 1}, {0.2, 1}, {1, 0.05}};
    BandedCvOptions options = options_for(CvKind::loo, Score::neg_mse);
    const BandedResult result = run_banded<double>(problem, options);
    EXPECT_EQ(result.route, Route::svd);
    expect_banded(problem, result, options, problem.x.n_cols < 18 ? 1e-11 : 1e-7, Oracle::exact);
  }
}

// Groups of candidates, tiles, threads.
TEST(BandedClosedForm, BudgetsBatchesAndThreads) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    BandedProblem problem = make_banded(18, sizes, 1100, 5, 80);
    problem.intercept = true;
    problem.alphas = {1, 10, 100};
    problem.y.col(515).fill(3);
    problem.skip.assign(1100, 0);
    problem.skip[2] = 1;
    for (const CvKind kind : {CvKind::loo, CvKind::gcv}) {
      for (const bool local : {true, false}) {
        BandedCvOptions options = options_for(kind, Score::r2);
        options.local_alpha = local;
        const BandedResult roomy = run_banded<double>(problem, options);
        expect_banded(problem, roomy, options, 1e-11);
        EXPECT_EQ(roomy.passes, 1);
        for (const double memory : {2e4, 1e5}) {
          for (const int threads : {1, 3}) {
            Control control;
            control.memory_bytes = memory;
            control.n_threads = threads;
            options.targets_batch = 600;
            const BandedResult tight = run_banded<double>(problem, options, control);
            expect_close(tight, roomy, 1e-12);
            if (memory == 2e4) {
              EXPECT_GT(tight.passes, 1);
            }
          }
        }
      }
    }
  }
}

// Least squares through all samples: refused where closed forms are undefined.
TEST(BandedClosedForm, PenaltyZeroThroughAllSamples) {
  BandedProblem problem = make_banded(12, {10, 10}, 2, 1, 90);
  problem.alphas = {0, 1};
  try {
    run_banded<double>(problem, options_for(CvKind::gcv, Score::r2));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::numerical);
  }
}

}  // namespace voxridge_test
