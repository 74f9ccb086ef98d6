// ridge_cv() against a plain loop over folds, penalties and targets in long double.
//
// Tolerances: penalties are at least 1e-4 of the largest eigenvalue here, so double precision gives scores and relative
// coefficients to about 1e-12; interpolated scores are promised to 1e-10 of the null error.
#include "common.h"

#include <cmath>
#include <limits>

namespace voxridge_test {

namespace {

constexpr double kExact = 1e-11;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Shape {
  int64_t n, p, t;
};

}  // namespace

TEST(RidgeCv, ShapesAndIntercepts) {
  for (const Shape s :
       {Shape{20, 35, 4}, Shape{35, 9, 4}, Shape{20, 20, 3}, Shape{16, 12, 1}, Shape{24, 1, 2}, Shape{24, 18, 3}}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(s.n, s.p, s.t, s.n + s.p);
      problem.intercept = intercept;
      if (intercept) {
        problem.x += 3;
        problem.y -= 50;
      }
      SCOPED_TRACE(testing::Message() << s.n << " x " << s.p << ", " << s.t << " targets, intercept " << intercept);
      for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
        RidgeCvOptions options;
        options.score = score;
        const CvResult result = run_cv<double>(problem, options);
        expect_plain(problem, result, options, kExact);
        EXPECT_EQ(result.constant, std::vector<char>(s.t, 0));
        EXPECT_EQ(result.route, Route::eigen);
      }
    }
  }
}

TEST(RidgeCv, KindsOfFolds) {
  for (const bool primal : {false, true}) {
    Problem problem = make_problem(30, primal ? 7 : 40, 3, 5);
    problem.intercept = true;
    problem.y += 2;
    const std::vector<Fold> kinds[] = {contiguous_folds(30, 7), scattered_folds(30, 4), bootstrap_folds(30, 4, 3)};
    for (const std::vector<Fold>& folds : kinds) {
      problem.folds = folds;
      problem.partition = &folds != &kinds[2];
      for (const Score score : {Score::r2, Score::correlation}) {
        RidgeCvOptions options;
        options.score = score;
        expect_plain(problem, run_cv<double>(problem, options), options, kExact);
      }
    }
  }
}

TEST(RidgeCv, OneHeldOutRowEach) {
  for (const int64_t p : {6, 30}) {
    Problem problem = make_problem(25, p, 3, 6);
    problem.folds = contiguous_folds(25, 25);
    problem.intercept = true;
    RidgeCvOptions options;
    options.score = Score::neg_mse;
    expect_plain(problem, run_cv<double>(problem, options), options, kExact);
  }
}

TEST(RidgeCv, FewTrainingRowsManyHeldOut) {
  Problem problem = make_problem(40, 6, 3, 7);  // held-out rows far outnumber features: rotated
  problem.folds = contiguous_folds(40, 2);
  for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
    RidgeCvOptions options;
    options.score = score;
    expect_plain(problem, run_cv<double>(problem, options), options, kExact);
  }
}

TEST(RidgeCv, TargetsAcrossTiles) {
  for (const int64_t t : {513, 1025}) {
    for (const int64_t p : {4, 16}) {
      Problem problem = make_problem(14, p, t, t + p);
      problem.folds = contiguous_folds(14, 3);
      problem.alphas = log_grid(0.1, 100, 3);
      expect_plain(problem, run_cv<double>(problem, {}), {}, kExact);
    }
  }
}

TEST(RidgeCv, ConservativeAndSharedPenalties) {
  for (const int64_t p : {8, 40}) {
    Problem problem = make_problem(30, p, 30, 8, 3);
    problem.alphas = log_grid(1e-1, 1e4, 15);
    RidgeCvOptions options;
    options.conservative = true;
    const CvResult conservative = run_cv<double>(problem, options);
    expect_plain(problem, conservative, options, 1e-9);  // interpolated
    EXPECT_NE(conservative.index, run_cv<double>(problem, {}).index);
    options.conservative = false;
    options.local_alpha = false;
    expect_plain(problem, run_cv<double>(problem, options), options, 1e-9);
  }
}

TEST(RidgeCv, ManyPenaltiesAreInterpolated) {
  for (const Shape s : {Shape{24, 40, 5}, Shape{40, 8, 5}}) {
    Problem problem = make_problem(s.n, s.p, s.t, 9);
    problem.intercept = true;
    problem.alphas = log_grid(1e-2, 1e6, 120);
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      RidgeCvOptions options;
      options.score = score;
      const CvResult result = run_cv<double>(problem, options);
      EXPECT_LT(result.n_nodes, 60);
      // 1e-10 of the null error, which is at most a few times the variance; a correlation loses what 1 / |p|^2
      // amplifies.
      expect_plain(problem, result, options, 2e-9);
    }
  }
}

// Features between the training rows and all rows: all rows have null directions, and a fold eigenvalues that are
// smaller than any other of all rows. Interpolation must know.
TEST(RidgeCv, ManyPenaltiesWithFeaturesBetweenTrainingAndAllRows) {
  for (const bool intercept : {false, true}) {
    Problem problem = make_problem(24, 18, 4, 19);
    problem.intercept = intercept;
    problem.alphas = log_grid(1e-4, 1e4, 100);
    const CvResult result = run_cv<double>(problem, {});
    EXPECT_EQ(result.form, Form::dual);
    expect_plain(problem, result, {}, 1e-8);
  }
}

TEST(RidgeCv, PenaltyZeroIsLeastSquares) {
  for (const Shape s : {Shape{24, 8, 3}, Shape{16, 30, 3}}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(s.n, s.p, s.t, 10, 0.01);
      problem.intercept = intercept;
      problem.alphas = {0, 1e-3, 1, 1e3};
      const CvResult result = run_cv<double>(problem, {});
      EXPECT_EQ(result.route, Route::svd);
      // The smallest singular values are about 0.1 of the largest: 1e-10 is generous.
      expect_plain(problem, result, {}, 1e-10);
    }
  }
}

TEST(RidgeCv, DuplicateAndUnsortedPenalties) {
  Problem problem = make_problem(24, 8, 6, 11);
  problem.alphas = {10, 0.1, 10, 1000, 0.1};
  expect_plain(problem, run_cv<double>(problem, {}), {}, kExact);
  problem.alphas = {3};
  expect_plain(problem, run_cv<double>(problem, {}), {}, kExact);
}

// A constant target scores 0 everywhere and takes the largest penalty; one that is constant over the held-out rows of
// one fold alone is listed too.
TEST(RidgeCv, ConstantTargets) {
  for (const int64_t p : {6, 30}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(24, p, 3, 12);
      problem.intercept = intercept;
      problem.y.col(1).fill(0.1);
      problem.y.submat(0, 2, 5, 2).fill(1e3);  // the first fold
      for (const Score score : {Score::r2, Score::correlation}) {
        RidgeCvOptions options;
        options.score = score;
        const CvResult result = run_cv<double>(problem, options);
        expect_plain(problem, result, options, kExact);
        EXPECT_EQ(result.constant, (std::vector<char>{0, 1, 1}));
        EXPECT_EQ(result.index[1], 7);
        EXPECT_EQ(arma::abs(result.scores.slice(1)).max(), 0);
      }
    }
  }
}

// NaN in, NaN out, and nothing else changes.
TEST(RidgeCv, SkippedTargets) {
  for (const int64_t p : {6, 30}) {
    for (const bool local : {true, false}) {
      Problem problem = make_problem(24, p, 5, 13);
      problem.intercept = true;
      problem.y.col(0).fill(kNaN);
      problem.y(7, 3) = std::numeric_limits<double>::infinity();
      problem.skip = {1, 0, 0, 1, 0};
      RidgeCvOptions options;
      options.local_alpha = local;
      const CvResult result = run_cv<double>(problem, options);
      EXPECT_EQ(result.index[0], -1);
      EXPECT_EQ(result.index[3], -1);
      EXPECT_EQ(result.constant, std::vector<char>(5, 0));
      Problem kept = problem;
      kept.y.shed_cols(arma::uvec{0, 3});
      kept.skip.clear();
      const CvResult without = run_cv<double>(kept, options);
      EXPECT_EQ(without.index, (std::vector<int>{result.index[1], result.index[2], result.index[4]}));
      EXPECT_LE(largest_difference(result.coefs.cols(arma::uvec{1, 2, 4}), without.coefs), 1e-13);
      EXPECT_TRUE(result.coefs.cols(arma::uvec{0, 3}).eval().is_finite() == false);
      EXPECT_TRUE(std::isnan(result.means(2, 0)) && std::isnan(result.scores(1, 2, 3)) &&
                  std::isnan(result.intercept[3]));
    }
  }
}

TEST(RidgeCv, UserScores) {
  Problem problem = make_problem(24, 8, 4, 14);
  problem.intercept = true;
  problem.y += 100;
  RidgeCvOptions options;
  options.score = Score::user;
  options.user = [](MatrixView<double> truth, MatrixView<double> prediction, double* out) {
    for (int64_t j = 0; j < truth.cols; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < truth.rows; ++i) sum -= std::pow(truth.col(j)[i] - prediction.col(j)[i], 2);
      out[j] = sum / static_cast<double>(truth.rows);
    }
  };
  for (const int64_t p : {8, 40}) {
    problem.x = normal_matrix(24, p, 15);
    const CvResult result = run_cv<double>(problem, options);
    RidgeCvOptions built_in;
    built_in.score = Score::neg_mse;
    expect_plain(problem, result, built_in, kExact);
  }
  options.user = [](MatrixView<double> truth, MatrixView<double>, double* out) { std::fill_n(out, truth.cols, kNaN); };
  try {
    run_cv<double>(problem, options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

// Scaling X by c and alpha by c^2 scales B by 1 / c; powers of two do so exactly up to what eigensolvers scale.
TEST(RidgeCv, Scaling) {
  Problem problem = make_problem(24, 8, 4, 16), scaled = problem;
  scaled.x *= 1024;
  for (double& alpha : scaled.alphas) alpha *= 1024.0 * 1024.0;
  const CvResult a = run_cv<double>(problem, {}), b = run_cv<double>(scaled, {});
  EXPECT_EQ(a.index, b.index);
  EXPECT_LE(largest_difference(a.coefs, 1024 * b.coefs), 1e-12);
}

// Offsets of 1e6 deviations with an intercept: the data are known to 1e-10 then, and answers to about that.
TEST(RidgeCv, LargeOffsets) {
  for (const int64_t p : {8, 40}) {
    Problem problem = make_problem(24, p, 4, 17);
    problem.intercept = true;
    problem.x += 1e6;
    problem.y += 1e6;
    const CvResult result = run_cv<double>(problem, {});
    expect_plain(problem, result, {}, 1e-8);
  }
}

// A wild row (1e4 deviations) in X or in Y.
TEST(RidgeCv, WildRows) {
  for (const int64_t p : {8, 40}) {
    for (const bool in_x : {false, true}) {
      Problem problem = make_problem(32, p, 3, 18);
      problem.intercept = true;
      (in_x ? problem.x : problem.y).row(9) *= 1e4;
      problem.alphas = log_grid(1, 1e3, 5);
      RidgeCvOptions options;
      options.score = Score::correlation;
      // Rows of size 1 beside means of 1e4 / 32, squared: 1e5 * 2e-16, and a score that weighs the small rows.
      expect_plain(problem, run_cv<double>(problem, options), options, 1e-8);
    }
  }
}

}  // namespace voxridge_test
