// Leave-one-out and generalised cross-validation against literal refits and the hat matrix.
#include "common.h"

#include <cmath>

namespace voxridge_test {

namespace {

// Penalties of at least 1e-3 of the largest eigenvalue, all in long double: what remains is double rounding.
constexpr double kExact = 1e-11;

// Leave-one-out predictions by n refits, per alpha n x t.
arma::cube refit_predictions(const Problem& problem) {
  const int64_t n = static_cast<int64_t>(problem.x.n_rows);
  arma::cube out(n, problem.y.n_cols, problem.alphas.size());
  const std::vector<Fold> folds = contiguous_folds(n, n);
  for (size_t a = 0; a < problem.alphas.size(); ++a) {
    for (int64_t i = 0; i < n; ++i) {
      out.slice(a).row(i) = plain_predictions(problem, folds[i], problem.alphas[a]).rounded().row(0);
    }
  }
  return out;
}

// alphas x targets, each score over all rows at once.
arma::mat scores_of(const Problem& problem, const arma::cube& predictions, Score score) {
  arma::mat out(problem.alphas.size(), problem.y.n_cols);
  for (size_t a = 0; a < problem.alphas.size(); ++a) {
    for (arma::uword j = 0; j < problem.y.n_cols; ++j) {
      out(a, j) =
          plain_score(score, LongMat(arma::mat(problem.y.col(j))), LongMat(arma::mat(predictions.slice(a).col(j))), 0);
    }
  }
  return out;
}

// n ||y - Hy||^2 / (n - trace H)^2 with the hat matrix, column by column of the identity.
arma::mat plain_gcv(const Problem& problem) {
  const int64_t n = static_cast<int64_t>(problem.x.n_rows);
  arma::mat out(problem.alphas.size(), problem.y.n_cols);
  Problem unit = problem;
  unit.y.eye(n, n);
  for (size_t a = 0; a < problem.alphas.size(); ++a) {
    const PlainFit fit = plain_fit(unit, {problem.alphas[a]});
    arma::mat hat = problem.x * fit.coefs;
    if (problem.intercept) hat.each_row() += fit.intercept;
    const arma::mat left = problem.y - hat * problem.y;
    const double freedom = static_cast<double>(n) - arma::trace(hat);
    out.row(a) = static_cast<double>(n) / (freedom * freedom) * arma::sum(arma::square(left), 0);
  }
  return out;
}

std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const int64_t p : {5, 18, 30}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(18, p, 3, 40 + p);
      problem.intercept = intercept;
      problem.folds.clear();
      problem.alphas = log_grid(0.5, 1e3, 5);
      if (intercept) {
        problem.x += 2;
        problem.y += 10;
      }
      out.push_back(problem);
    }
  }
  return out;
}

}  // namespace

TEST(ClosedForm, LeaveOneOutEqualsRefits) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(testing::Message() << problem.x.n_cols << " features, intercept " << problem.intercept);
    const arma::cube predictions = refit_predictions(problem);
    for (const Score score : {Score::neg_mse, Score::r2, Score::correlation}) {
      RidgeCvOptions options;
      options.cv = CvKind::loo;
      options.score = score;
      const CvResult result = run_cv<double>(problem, options);
      const arma::mat exact = scores_of(problem, predictions, score);
      EXPECT_LE(largest_difference(result.means, exact), kExact);
      EXPECT_LE(largest_difference(arma::mat(result.scores.memptr(), 5, 3), exact), kExact);
      for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(result.index[j], static_cast<int>(exact.col(j).index_max()));
      std::vector<double> chosen;
      for (const int index : result.index) chosen.push_back(problem.alphas[index]);
      EXPECT_LE(largest_difference(result.coefs, plain_fit(problem, chosen).coefs), kExact);
      EXPECT_LE(largest_difference(run_cv<float>(problem, options).means, exact), 1e-3);
    }
  }
}

TEST(ClosedForm, GcvEqualsTheHatMatrix) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(testing::Message() << problem.x.n_cols << " features, intercept " << problem.intercept);
    RidgeCvOptions options;
    options.cv = CvKind::gcv;
    options.score = Score::neg_mse;
    const CvResult result = run_cv<double>(problem, options);
    const arma::mat exact = plain_gcv(problem);
    // The hat matrix itself is made in double, with rows offset by 2: 1e-10.
    EXPECT_LE(largest_difference(result.means, -exact), 1e-10);
    options.score = Score::r2;
    const CvResult r2 = run_cv<double>(problem, options);
    for (arma::uword j = 0; j < 3; ++j) {
      const double variance = arma::var(problem.y.col(j), 1);
      for (arma::uword a = 0; a < 5; ++a) EXPECT_NEAR(r2.means(a, j), 1 - exact(a, j) / variance, 1e-10);
    }
    EXPECT_LE(largest_difference(run_cv<float>(problem, options).means, r2.means), 1e-3);
  }
}

// Below the switch to singular values, where the eigen route would lose digits.
TEST(ClosedForm, SmallPenalties) {
  for (const int64_t p : {5, 30}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(18, p, 2, 50);
      problem.intercept = intercept;
      problem.folds.clear();
      problem.alphas = {1e-6, 1e-2};
      RidgeCvOptions options;
      options.cv = CvKind::loo;
      options.score = Score::neg_mse;
      const CvResult result = run_cv<double>(problem, options);
      EXPECT_EQ(result.route, Route::svd);
      const arma::mat exact = scores_of(problem, refit_predictions(problem), Score::neg_mse);
      // With p >= n residuals of 1e-6 / lambda are divided by leverages 1 - H of the same size: 1e-8 of the rounding.
      EXPECT_LE(largest_difference(result.means, exact) / arma::abs(exact).max(), p < 18 ? 1e-11 : 1e-7);
    }
  }
}

// Least squares with fewer features than samples.
TEST(ClosedForm, PenaltyZero) {
  for (const CvKind kind : {CvKind::loo, CvKind::gcv}) {
    Problem problem = make_problem(18, 5, 2, 52);
    problem.alphas = {0, 1};
    RidgeCvOptions options;
    options.cv = kind;
    options.score = Score::neg_mse;
    const CvResult result = run_cv<double>(problem, options);
    const arma::mat exact =
        kind == CvKind::loo ? scores_of(problem, refit_predictions(problem), Score::neg_mse) : -plain_gcv(problem);
    EXPECT_LE(largest_difference(result.means, exact), 1e-10);
  }
}

// A fit through all samples: GCV is 0 / 0. Leaving one out has a limit without an intercept, and is computed or
// refused.
TEST(ClosedForm, PenaltyZeroThroughAllSamples) {
  for (const CvKind kind : {CvKind::loo, CvKind::gcv}) {
    for (const bool intercept : {false, true}) {
      Problem problem = make_problem(12, 20, 2, 51);
      problem.alphas = {0, 1};
      problem.intercept = intercept;
      RidgeCvOptions options;
      options.cv = kind;
      options.score = Score::neg_mse;
      try {
        const CvResult result = run_cv<double>(problem, options);
        EXPECT_EQ(kind, CvKind::loo);
        const arma::mat exact = scores_of(problem, refit_predictions(problem), Score::neg_mse);
        EXPECT_LE(largest_difference(result.means, exact), 1e-10);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::numerical);
        EXPECT_TRUE(kind == CvKind::gcv || intercept);
      }
    }
  }
}

TEST(ClosedForm, ConstantTargetsTilesAndSharedPenalty) {
  for (const CvKind kind : {CvKind::loo, CvKind::gcv}) {
    Problem problem = make_problem(18, 5, 520, 53);
    problem.intercept = true;
    problem.y.col(515).fill(3);
    problem.y.col(2).fill(std::nan(""));
    problem.skip.assign(520, 0);
    problem.skip[2] = 1;
    RidgeCvOptions options;
    options.cv = kind;
    Control two;
    two.n_threads = 2;
    const CvResult result = run_cv<double>(problem, options), again = run_cv<double>(problem, options, two);
    EXPECT_EQ(result.index[2], -1);
    EXPECT_EQ(result.index[515], 7);
    EXPECT_EQ(result.constant[515], 1);
    EXPECT_EQ(std::count(result.constant.begin(), result.constant.end(), 1), 1);
    EXPECT_TRUE(std::isnan(result.coefs(0, 2)));
    EXPECT_EQ(again.index, result.index);
    EXPECT_LE(largest_difference(again.coefs, result.coefs), 1e-12);
    options.local_alpha = false;
    const CvResult shared = run_cv<double>(problem, options);
    arma::mat means = result.means;
    means.shed_col(2);
    const int best = static_cast<int>(arma::vec(arma::mean(means, 1)).index_max());
    for (int64_t j = 0; j < 520; ++j) EXPECT_EQ(shared.index[j], j == 2 ? -1 : best);
  }
}

// Closed forms have no folds and so no spread over them: the best penalty itself.
TEST(ClosedForm, ConservativeDoesNotReadWhatIsNotThere) {
  Problem problem = make_problem(18, 5, 2, 54);
  RidgeCvOptions options;
  options.cv = CvKind::gcv;
  const CvResult plain = run_cv<double>(problem, options);
  options.conservative = true;
  EXPECT_EQ(run_cv<double>(problem, options).index, plain.index);
}

}  // namespace voxridge_test
