// Nothing to work on: the sanitizers must have nothing to say, and answers are what the formulas give.
#include "common.h"

#include <cmath>

namespace voxridge_test {

namespace {

void run_everything(const Problem& problem, const std::function<void(const CvResult&)>& check) {
  for (const bool intercept : {false, true}) {
    for (const double memory : {1e9, 1.0}) {
      Problem own = problem;
      own.intercept = intercept;
      Control control;
      control.memory_bytes = memory;
      control.n_threads = 2;
      for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
        for (const bool local : {true, false}) {
          RidgeCvOptions options;
          options.score = score;
          options.local_alpha = local;
          SCOPED_TRACE(testing::Message() << own.x.n_cols << " features, intercept " << intercept << ", score "
                                          << static_cast<int>(score) << ", memory " << memory << ", local " << local);
          check(run_cv<double>(own, options, control));
          check(run_cv<float>(own, options, control, Coefs::dual));
        }
      }
      for (const CvKind kind : {CvKind::loo, CvKind::gcv}) {
        RidgeCvOptions options;
        options.cv = kind;
        SCOPED_TRACE(testing::Message() << own.x.n_cols << " features, intercept " << intercept << ", closed form "
                                        << static_cast<int>(kind));
        check(run_cv<double>(own, options, control));
      }
      run_fit<double>(own, {1.0}, control);
      run_fit<double>(own, {0.0}, control, Coefs::dual);
      run_predict<double>(own, {1.0}, Score::r2, control);
      Problem closed = own;
      closed.folds.clear();
      run_predict<double>(closed, {1.0}, Score::r2, control);
    }
  }
}

}  // namespace

TEST(RidgeEmpty, NoTargets) {
  for (const int64_t p : {3, 20}) {
    run_everything(make_problem(12, p, 0, 1), [](const CvResult& result) {
      EXPECT_TRUE(result.index.empty());
      EXPECT_TRUE(result.constant.empty());
    });
  }
}

TEST(RidgeEmpty, NoFeatures) {
  run_everything(make_problem(12, 0, 3, 2), [](const CvResult& result) {
    // Every penalty predicts the same: the largest is chosen.
    EXPECT_EQ(result.index, (std::vector<int>{7, 7, 7}));
  });
}

// Every penalty predicts the same. Folds find exact ties and take the largest; closed forms, whose scores go through
// other divisions for each penalty, tie to rounding.
TEST(RidgeEmpty, FeaturesOfZeros) {
  const auto check = [](const CvResult& result) {
    ASSERT_FALSE(result.means.has_nan());
    for (arma::uword j = 0; j < 3; ++j) {
      if (result.scores.n_rows > 1) {
        EXPECT_EQ(result.index[j], 7);
      }
      EXPECT_LE(arma::range(result.means.col(j)), 1e-14);
    }
  };
  Problem problem = make_problem(12, 4, 3, 3);
  for (const int64_t p : {4, 20}) {
    problem.x.zeros(12, p);
    run_everything(problem, check);
  }
}

// Least squares on features of zeros: no direction is known, every coefficient is 0.
TEST(RidgeEmpty, FeaturesOfZerosWithoutPenalty) {
  for (const int64_t p : {4, 20}) {
    Problem problem = make_problem(12, p, 3, 7);
    problem.x.zeros();
    problem.alphas = {0, 1};
    for (const bool intercept : {false, true}) {
      problem.intercept = intercept;
      const CvResult result = run_cv<double>(problem, {});
      expect_plain(problem, result, {}, 1e-12);
      EXPECT_EQ(result.index, (std::vector<int>{1, 1, 1}));
    }
  }
}

TEST(RidgeEmpty, TargetsOfZerosAndAllSkipped) {
  for (const int64_t p : {3, 20}) {
    Problem problem = make_problem(12, p, 3, 4);
    problem.y.zeros();
    run_everything(problem, [](const CvResult& result) {
      EXPECT_EQ(result.index, (std::vector<int>{7, 7, 7}));
      EXPECT_EQ(arma::abs(result.means).max(), 0);
    });
    problem.skip = {1, 1, 1};
    run_everything(problem, [](const CvResult& result) { EXPECT_EQ(result.index, (std::vector<int>{-1, -1, -1})); });
  }
}

TEST(RidgeEmpty, TwoRows) {
  for (const int64_t p : {1, 3}) {
    Problem problem = make_problem(2, p, 2, 5);
    problem.folds = contiguous_folds(2, 2);
    RidgeCvOptions options;
    options.score = Score::neg_mse;
    expect_plain(problem, run_cv<double>(problem, options), options, 1e-12);
    problem.intercept = true;  // one training row is its own mean: predictions are the other row's y
    const CvResult result = run_cv<double>(problem, options);
    for (int64_t j = 0; j < 2; ++j)
      EXPECT_NEAR(result.means(0, j), -std::pow(problem.y(0, j) - problem.y(1, j), 2), 1e-12);
  }
}

TEST(RidgeEmpty, NoRowsToFit) {
  Problem problem = make_problem(0, 3, 2, 6);
  problem.folds.clear();
  EXPECT_EQ(arma::abs(run_fit<double>(problem, {1.0}).coefs).max(), 0);
}

}  // namespace voxridge_test
