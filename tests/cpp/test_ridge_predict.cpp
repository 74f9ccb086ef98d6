// ridge_fit() and ridge_predict_cv() against the plain loop.
#include "common.h"

#include <cmath>
#include <limits>

namespace voxridge_test {

namespace {

constexpr double kExact = 1e-11;  // as in test_ridge.cpp

void expect_predictions(const Problem& problem, const Predicted& got, const std::vector<double>& alphas, Score score,
                        double tolerance) {
  arma::mat expected(problem.x.n_rows, problem.y.n_cols,
                     arma::fill::value(-12345));  // rows in no fold stay as they were
  arma::mat scores(problem.folds.size(), problem.y.n_cols);
  for (arma::uword j = 0; j < problem.y.n_cols; ++j) {
    const double alpha = alphas[alphas.size() == 1 ? 0 : j];
    Problem one = problem;
    one.y = problem.y.col(j);
    for (size_t f = 0; f < problem.folds.size(); ++f) {
      const RowList& rows = problem.folds[f].test;
      const LongMat prediction = plain_predictions(one, problem.folds[f], alpha);
      for (size_t i = 0; i < rows.size(); ++i) expected(rows[i], j) = static_cast<double>(prediction(i, 0));
      scores(f, j) = plain_score(score, take_rows(LongMat(one.y), rows), prediction, 0);
    }
  }
  EXPECT_LE(largest_difference(got.predictions, expected), tolerance);
  EXPECT_LE(largest_difference(got.scores, scores), tolerance);
}

}  // namespace

TEST(RidgeFit, PrimalCoefficients) {
  for (const int64_t p : {5, 20, 33}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(20, p, 4, 60 + p);
      problem.intercept = intercept;
      problem.x += 2;
      problem.y += 7;
      for (const std::vector<double>& alphas : {std::vector<double>{3}, std::vector<double>{0.5, 3, 100, 1e4}}) {
        const PlainFit exact = plain_fit(problem, alphas), got = run_fit<double>(problem, alphas);
        EXPECT_LE(largest_difference(got.coefs, exact.coefs), kExact);
        if (intercept) {
          EXPECT_LE(largest_difference(got.intercept, exact.intercept), 10 * kExact);
        }
        EXPECT_LE(largest_difference(run_fit<float>(problem, alphas).coefs, exact.coefs), 1e-3);
      }
    }
  }
}

// X' times the dual weights are the primal ones, whatever the form and the penalty, and so are the intercepts.
TEST(RidgeFit, DualCoefficients) {
  for (const int64_t p : {5, 20, 33}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(20, p, 3, 70 + p);
      problem.intercept = intercept;
      problem.y += 7;
      for (const std::vector<double>& alphas : {std::vector<double>{3, 0.01, 1e4}, std::vector<double>{0, 2, 0}}) {
        const PlainFit exact = plain_fit(problem, alphas);
        const PlainFit dual = run_fit<double>(problem, alphas, {}, Coefs::dual);
        arma::mat x = problem.x;
        if (intercept) x.each_row() -= arma::mean(problem.x, 0);
        const double tolerance = 1e-10;  // alpha = 0.01 is 1e-4 of the largest eigenvalue
        EXPECT_LE(largest_difference(x.t() * dual.coefs, exact.coefs), tolerance) << p << " features";
        if (intercept) {
          EXPECT_LE(largest_difference(dual.intercept, exact.intercept), 10 * tolerance);
        }
      }
    }
  }
}

// Many features of rank 10: in the directions that they leave out the dual coefficients are y / alpha, of which nothing
// may reach the primal ones. Singular values down to a tenth of the largest.
TEST(RidgeFit, TinyPenaltiesAndFewDirections) {
  Problem problem = make_problem(24, 40, 3, 64);
  problem.folds.clear();
  problem.x = normal_matrix(24, 10, 65) * normal_matrix(10, 40, 66);
  const LongSvd svd = jacobi_svd(LongMat(problem.x));
  for (const double alpha : {1e-4, 1e-8, 1e-12, 0.0}) {
    const arma::mat exact = svd_ridge(svd, LongMat(problem.y), alpha).rounded();
    EXPECT_LE(largest_difference(run_fit<double>(problem, {alpha}).coefs, exact), 1e-12) << "alpha " << alpha;
  }
}

// Samples that repeat, and enough of them that BLAS factors with two threads: what is null is rounding that no two
// factorisations share. X'(Y - XB) = alpha B to 1e-16 of sums of 1500 products of size 1 with singular values of 1e2.
TEST(RidgeFit, RepeatedSamplesInAThreadedFactor) {
  Problem problem = make_problem(1510, 1700, 1, 67);
  problem.folds.clear();
  for (int64_t i = 0; i < 700; i += 2) problem.x.row(i + 1) = problem.x.row(i);
  Control control;
  control.n_threads = 2;
  const arma::mat coefs = run_fit<double>(problem, {1e-8}, control).coefs;
  const arma::mat gradient = problem.x.t() * (problem.y - problem.x * coefs) - 1e-8 * coefs;
  EXPECT_LE(arma::abs(gradient).max(), 1e-9);
}

TEST(RidgeFit, TilesSkippedTargetsAndSmallBudgets) {
  for (const int64_t p : {5, 33}) {
    Problem problem = make_problem(20, p, 1025, 80);
    problem.intercept = true;
    problem.skip.assign(1025, 0);
    problem.skip[1024] = 1;
    problem.y.col(1024).fill(std::nan(""));
    std::vector<double> alphas(1025, 1.0);
    alphas[513] = 50;
    const PlainFit exact = plain_fit(problem, alphas);
    Control control;
    control.n_threads = 2;
    for (const double memory : {1e9, 1.0}) {
      control.memory_bytes = memory;
      const PlainFit got = run_fit<double>(problem, alphas, control);
      EXPECT_LE(largest_difference(got.coefs, exact.coefs), kExact);
      EXPECT_LE(largest_difference(got.intercept, exact.intercept), kExact);
    }
  }
}

TEST(RidgePredict, OnePenaltyOrOneEach) {
  for (const int64_t p : {5, 33}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(24, p, 3, 90 + p);
      problem.intercept = intercept;
      problem.y += 4;
      const std::vector<Fold> kinds[] = {contiguous_folds(24, 4), scattered_folds(24, 5), bootstrap_folds(24, 3, 9)};
      for (const std::vector<Fold>& folds : kinds) {
        problem.folds = folds;
        problem.partition = &folds != &kinds[2];
        for (const std::vector<double>& alphas : {std::vector<double>{2}, std::vector<double>{0.5, 20, 1e3}}) {
          for (const Score score : {Score::r2, Score::correlation}) {
            expect_predictions(problem, run_predict<double>(problem, alphas, score), alphas, score, kExact);
          }
          Control tight;
          tight.memory_bytes = 1;
          const Predicted got = run_predict<double>(problem, alphas, Score::neg_mse, tight);
          expect_predictions(problem, got, alphas, Score::neg_mse, kExact);
          const Predicted single = run_predict<float>(problem, alphas, Score::r2);
          EXPECT_LE(largest_difference(single.predictions, got.predictions), 1e-3);
        }
      }
    }
  }
}

TEST(RidgePredict, PenaltyZero) {
  for (const int64_t p : {5, 33}) {
    Problem problem = make_problem(24, p, 2, 95);
    problem.intercept = true;
    expect_predictions(problem, run_predict<double>(problem, {0}, Score::r2), {0}, Score::r2, 1e-10);
    expect_predictions(problem, run_predict<double>(problem, {1, 0}, Score::r2), {1, 0}, Score::r2, 1e-10);
  }
}

TEST(RidgePredict, ConstantAndSkippedTargets) {
  Problem problem = make_problem(24, 5, 3, 96);
  problem.intercept = true;
  problem.y.col(0).fill(2.5);
  problem.y.col(1).fill(std::nan(""));
  problem.skip = {0, 1, 0};
  const Predicted got = run_predict<double>(problem, {2}, Score::r2);
  EXPECT_EQ(got.constant, (std::vector<char>{1, 0, 0}));
  EXPECT_LE(arma::abs(got.predictions.col(0) - 2.5).max(), 1e-13);
  EXPECT_EQ(arma::abs(got.scores.col(0)).max(), 0);
  EXPECT_TRUE(std::isnan(got.predictions(3, 1)) && std::isnan(got.scores(0, 1)));
}

TEST(RidgePredict, LeaveOneOut) {
  for (const int64_t p : {5, 33}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(16, p, 3, 97);
      problem.intercept = intercept;
      problem.folds.clear();
      const std::vector<double> alphas = {5, 0.5, 5};
      const Predicted got = run_predict<double>(problem, alphas, Score::correlation);
      Problem literal = problem;
      literal.folds = contiguous_folds(16, 16);
      for (arma::uword j = 0; j < 3; ++j) {
        arma::mat exact(16, 1);
        for (int64_t i = 0; i < 16; ++i) {
          exact(i, 0) = plain_predictions(literal, literal.folds[i], alphas[j]).rounded()(0, j);
        }
        EXPECT_LE(largest_difference(got.predictions.col(j), exact), kExact);
        EXPECT_NEAR(got.scores(0, j),
                    plain_score(Score::correlation, LongMat(arma::mat(problem.y.col(j))), LongMat(exact), 0), kExact);
      }
    }
  }
}

// A search and the predictions at its choice see the same scores.
TEST(RidgePredict, AgreesWithTheSearch) {
  for (const int64_t p : {5, 33}) {
    Problem problem = make_problem(24, p, 5, 98);
    problem.intercept = true;
    const CvResult search = run_cv<double>(problem, {});
    std::vector<double> chosen;
    for (const int index : search.index) chosen.push_back(problem.alphas[index]);
    const Predicted got = run_predict<double>(problem, chosen, Score::r2);
    for (arma::uword j = 0; j < 5; ++j) {
      EXPECT_LE(largest_difference(got.scores.col(j), search.scores.slice(j).col(search.index[j])), kExact);
    }
  }
}

}  // namespace voxridge_test
