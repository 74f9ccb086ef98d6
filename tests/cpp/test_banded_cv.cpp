// banded_cv() against a plain loop over candidates, folds, penalties and targets.
//
// Tolerances: penalties alpha / gamma are at least 1e-4 of the largest eigenvalue and at most 1e6 times it here, so
// normal equations in double and the core give scores and relative coefficients to about 1e-12.
#include <cmath>
#include <limits>

#include "banded.h"
#include "core/banded_refit.h"

namespace voxridge_test {

namespace {

constexpr double kExact = 1e-11;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Score kScores[] = {Score::r2, Score::neg_mse, Score::correlation, Score::user};

BandedCvOptions with_score(Score score) {
  BandedCvOptions options;
  options.score = score;
  if (score == Score::user) options.user = absolute_error;
  return options;
}

struct Shape {
  int64_t n;
  std::vector<int64_t> sizes;
  int64_t t, n_folds;
  Form form;
};

// Few features, many, as many as samples, between the training rows and all rows, and fewer than held-out rows.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{40, {3, 1, 5}, 4, 4, Form::primal},    {24, {30, 12, 25}, 4, 4, Form::dual},
                                         {20, {12, 8}, 3, 4, Form::dual},        {24, {9, 10, 1}, 3, 4, Form::dual},
                                         {60, {4, 6}, 3, 2, Form::primal},       {16, {1, 2}, 1, 8, Form::primal},
                                         {18, {5, 5, 5, 5, 5}, 1, 3, Form::dual}};
  return all;
}

}  // namespace

TEST(BandedCv, ShapesScoresAndIntercepts) {
  for (const Shape& s : shapes()) {
    for (const bool intercept : {false, true}) {
      BandedProblem problem = make_banded(s.n, s.sizes, s.t, 6, s.n + s.t);
      problem.folds = contiguous_folds(s.n, s.n_folds);
      problem.intercept = intercept;
      if (intercept) {
        problem.x += 3;
        problem.y -= 50;
      }
      for (const Score score : kScores) {
        SCOPED_TRACE(testing::Message() << s.n << " x " << problem.x.n_cols << ", intercept " << intercept << ", score "
                                        << static_cast<int>(score));
        const BandedCvOptions options = with_score(score);
        const BandedResult result = run_banded<double>(problem, options);
        expect_banded(problem, result, options, kExact);
        EXPECT_EQ(result.constant, std::vector<char>(s.t, 0));
        EXPECT_EQ(result.form, s.form);
        EXPECT_EQ(result.route, Route::eigen);
        EXPECT_EQ(result.passes, 1);
      }
    }
  }
}

TEST(BandedCv, KindsOfFolds) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 3}, {20, 22}}) {
    BandedProblem problem = make_banded(30, sizes, 3, 5, 5);
    problem.intercept = true;
    problem.y += 2;
    const std::vector<Fold> kinds[] = {contiguous_folds(30, 7), scattered_folds(30, 4), bootstrap_folds(30, 4, 3),
                                       contiguous_folds(30, 30)};
    for (const std::vector<Fold>& folds : kinds) {
      problem.folds = folds;
      problem.partition = &folds != &kinds[2];
      for (const Score score : {Score::neg_mse, Score::correlation, Score::user}) {
        if (folds.size() == 30 && score == Score::correlation) continue;  // of one row
        expect_banded(problem, run_banded<double>(problem, with_score(score)), with_score(score), kExact);
      }
    }
  }
}

TEST(BandedCv, SharedConservativeAndJittered) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {25, 15}}) {
    BandedProblem problem = make_banded(30, sizes, 40, 6, 8, 3);
    problem.alphas = {1000, 1, 10, 0.3, 100};
    const BandedResult plain = run_banded<double>(problem, {});
    for (const bool jitter : {false, true}) {
      if (jitter) problem.alpha_factors = {1, 0.4, 2.9, 1.7, 0.33, 1.2};
      for (const bool local : {true, false}) {
        BandedCvOptions options;
        options.local_alpha = local;
        options.conservative = local;
        const BandedResult result = run_banded<double>(problem, options);
        expect_banded(problem, result, options, kExact);
        EXPECT_NE(result.alpha_index, plain.alpha_index);
        if (local) continue;
        EXPECT_EQ(result.gamma_index, std::vector<int>(40, result.gamma_index[0]));
        EXPECT_EQ(result.alpha_index, std::vector<int>(40, result.alpha_index[0]));
      }
    }
  }
}

// 1e-11 of the null error is what interpolation promises; sums of squares and their ratio cost a few times that, a
// correlation what 1 / |p|^2 amplifies.
TEST(BandedCv, ManyPenaltiesAreInterpolated) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {25, 15}, {9, 9}}) {
    BandedProblem problem = make_banded(24, sizes, 4, 4, 9);
    problem.intercept = true;
    problem.alphas = log_grid(1e-1, 1e5, 90);
    problem.alpha_factors = {1, 3, 0.4, 1};
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      const BandedResult result = run_banded<double>(problem, with_score(score));
      EXPECT_LT(result.n_nodes, 60);
      expect_banded(problem, result, with_score(score), 5e-9);
    }
  }
}

// No band weighs anything but one: its coefficients are those of ridge on it alone, all others exactly zero.
TEST(BandedCv, BandsOfWeightZeroAreLeftOut) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 3, 2}, {20, 14, 9}, {8, 7, 5}}) {
    for (const std::vector<double>& alphas : {std::vector<double>{1, 100}, {1e-7, 0.1}, {0, 1}}) {
      BandedProblem problem = make_banded(24, sizes, 30, 3, 10);
      problem.intercept = true;
      problem.gammas = {{0.5, 0, 0}, {0, 1, 0}, {0, 0.3, 2}};
      problem.alphas = alphas;
      const BandedResult result = run_banded<double>(problem, {});
      EXPECT_EQ(result.route, alphas[0] < 1 ? Route::svd : Route::eigen);
      expect_banded(problem, result, {}, 1e-8,
                    Oracle::exact);  // of 1e-7, by least squares nearly without rows to spare
      const Bands bands(sizes);
      for (arma::uword j = 0; j < 30; ++j) {
        for (int64_t b = 0; b < 3; ++b) {
          const arma::vec coefs = result.coefs.submat(bands.start(b), j, bands.start(b + 1) - 1, j);
          EXPECT_EQ(arma::abs(coefs).max() == 0, problem.gammas[result.gamma_index[j]][b] == 0);
        }
      }
    }
  }
}

TEST(BandedCv, DualCoefficientsAndNone) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 3}, {20, 22}}) {
    for (const double smallest : {1.0, 1e-7, 0.0}) {
      BandedProblem problem = make_banded(30, sizes, 5, 5, 11);
      problem.folds = scattered_folds(30, 4);
      problem.intercept = true;
      problem.x += 1;
      problem.alphas = {smallest, 10, 100};
      const BandedResult primal = run_banded<double>(problem, {});
      BandedResult dual = run_banded<double>(problem, {}, {}, Coefs::dual);
      const BandedResult none = run_banded<double>(problem, {}, {}, Coefs::none);
      EXPECT_EQ(dual.gamma_index, primal.gamma_index);
      EXPECT_TRUE(same_bits(none.scores, primal.scores));
      // A times alpha are the residuals of the fit.
      arma::mat residuals = problem.y - problem.x * primal.coefs;
      residuals.each_row() -= primal.intercept;
      for (arma::uword j = 0; j < 5; ++j) {
        const double alpha = problem.alphas[dual.alpha_index[j]];
        if (alpha == 0) continue;
        EXPECT_LE(arma::abs(residuals.col(j) - alpha * dual.coefs.col(j)).max(), 1e-10);
      }
      const double tolerance = smallest == 1e-7 ? 1e-7 : 1e-11;  // residuals of 1e-16 over alpha, times X'
      EXPECT_LE(largest_difference(primal_from_dual(problem, dual), primal.coefs), tolerance);
      EXPECT_LE(largest_difference(dual.intercept, primal.intercept), tolerance);
    }
  }
}

// A constant target scores 0 everywhere and takes the first candidate and the largest penalty; skipped targets take
// nothing and change nothing.
TEST(BandedCv, ConstantAndSkippedTargets) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 3}, {20, 22}}) {
    for (const bool local : {true, false}) {
      BandedProblem problem = make_banded(24, sizes, 6, 5, 12);
      problem.intercept = true;
      problem.y.col(1).fill(0.1);
      problem.y.submat(0, 2, 5, 2).fill(1e3);  // the first fold
      problem.y.col(0).fill(kNaN);
      problem.y(7, 4) = std::numeric_limits<double>::infinity();
      problem.skip = {1, 0, 0, 0, 1, 0};
      for (const Score score : {Score::r2, Score::correlation}) {
        BandedCvOptions options = with_score(score);
        options.local_alpha = local;
        const BandedResult result = run_banded<double>(problem, options);
        expect_banded(problem, result, options, kExact);
        EXPECT_EQ(result.constant, (std::vector<char>{0, 1, 1, 0, 0, 0}));
        EXPECT_EQ(arma::abs(result.scores.col(1)).max(), 0);
        if (local) {
          EXPECT_EQ(result.gamma_index[1], 0);
        }
        if (local) {
          EXPECT_EQ(result.alpha_index[1], 7);
        }
        for (const size_t j : {0, 4}) {
          EXPECT_EQ(result.gamma_index[j], -1);
          EXPECT_EQ(result.alpha_index[j], -1);
          EXPECT_TRUE(std::isnan(result.scores(3, j)) && std::isnan(result.coefs(2, j)) &&
                      std::isnan(result.intercept[j]));
        }
      }
    }
  }
}

TEST(BandedCv, OnlySkippedTargets) {
  BandedProblem problem = make_banded(24, {4, 3}, 2, 3, 13);
  problem.skip = {1, 1};
  for (const bool local : {true, false}) {
    BandedCvOptions options;
    options.local_alpha = local;
    const BandedResult result = run_banded<double>(problem, options);
    EXPECT_EQ(result.gamma_index, std::vector<int>(2, -1));
    EXPECT_TRUE(std::isnan(result.scores(0, 0)) && std::isnan(result.coefs(0, 1)));
  }
}

// Equal weights are plain ridge: by one band the same numbers, by several up to the order of sums.
TEST(BandedCv, WeightsOfOneAreRidge) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{7}, {40}, {4, 3}, {15, 25}}) {
    for (const CvKind kind : {CvKind::kfold, CvKind::loo, CvKind::gcv}) {
      BandedProblem problem = make_banded(24, sizes, 4, 1, 14);
      problem.intercept = true;
      BandedCvOptions options;
      options.cv = kind;
      RidgeCvOptions plain;
      plain.cv = kind;
      const BandedResult banded = run_banded<double>(problem, options);
      const CvResult ridge = run_cv<double>(problem, plain);
      EXPECT_EQ(banded.alpha_index, ridge.index);
      EXPECT_LE(largest_difference(banded.scores, arma::max(ridge.means, 0)), 1e-12);
      EXPECT_LE(largest_difference(banded.coefs, ridge.coefs), 1e-12);
      EXPECT_LE(largest_difference(banded.intercept, ridge.intercept), 1e-12);
    }
  }
}

TEST(BandedCv, AmongEqualCandidatesTheFirstWins) {
  BandedProblem problem = make_banded(24, {4, 3}, 20, 1, 15);
  problem.gammas = {{0, 1}, {1, 0.5}, {1, 0.5}, {0, 1}, {1, 0.5}};
  for (const int gamma : run_banded<double>(problem, {}).gamma_index) EXPECT_LE(gamma, 1);
}

// Weights and penalties times the same factor: the same model.
TEST(BandedCv, ScalingWeightsAndPenalties) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 3}, {25, 15}}) {
    BandedProblem problem = make_banded(24, sizes, 4, 5, 16), scaled = problem;
    for (std::vector<double>& row : scaled.gammas) {
      for (double& gamma : row) gamma *= 1e6;
    }
    for (double& alpha : scaled.alphas) alpha *= 1e6;
    expect_close(run_banded<double>(scaled, {}), run_banded<double>(problem, {}), 1e-12);
  }
}

TEST(BandedCv, AScoreWithoutNumbersIsAnError) {
  const BandedProblem problem = make_banded(24, {4, 3}, 3, 2, 17);
  BandedCvOptions options;
  options.score = Score::user;
  for (const bool local : {true, false}) {
    options.local_alpha = local;
    options.user = [](MatrixView<double> y, MatrixView<double>, double* out) { std::fill_n(out, y.cols, kNaN); };
    try {
      run_banded<double>(problem, options);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
}

}  // namespace voxridge_test
