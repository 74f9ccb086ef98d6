#include "common.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/score.h"

namespace voxridge_test {

namespace {

HeldOutSums sums_of(const arma::mat& y) {
  HeldOutSums held;
  held.rows = y.n_rows;
  for (arma::uword j = 0; j < y.n_cols; ++j) {
    held.null_error.push_back(arma::accu(arma::square(y.col(j))));
    held.outside.push_back(0);
    held.sum_squares.push_back(arma::accu(arma::square(y.col(j) - arma::mean(y.col(j)))));
    held.constant.push_back(held.sum_squares.back() == 0);
  }
  return held;
}

}  // namespace

TEST(Score, FromErrorsAtEveryPenalty) {
  const arma::mat y = {{1, 5}, {2, 5}, {4, 5}};
  HeldOutSums held = sums_of(y);
  const arma::mat errors = {{6, 3}, {1.5, 75}};
  const arma::mat r2 = scores_from_errors(Score::r2, all_nodes({1, 2}), errors, held);
  EXPECT_NEAR(r2(0, 0), 1 - 6 / (14.0 / 3), 1e-15);
  EXPECT_NEAR(r2(1, 0), 1 - 1.5 / (14.0 / 3), 1e-15);
  EXPECT_EQ(r2(0, 1), 0);  // constant
  const arma::mat mse = scores_from_errors(Score::neg_mse, all_nodes({1, 2}), errors, held);
  EXPECT_EQ(mse(0, 0), -2);
  EXPECT_EQ(mse(1, 1), -25);
  held.outside = {3, 0};  // out of reach of every prediction
  EXPECT_EQ(scores_from_errors(Score::neg_mse, all_nodes({1, 2}), errors, held)(0, 0), -3);
}

// At the nodes interpolation changes nothing; where errors equal the null error ties stay exact.
TEST(Score, InterpolatedScores) {
  const std::vector<double> alphas = log_grid(1e-2, 1e4, 60);
  const AlphaNodes nodes = choose_nodes(alphas, 1e-1, 1e3, 1e-10);
  ASSERT_FALSE(nodes.all());
  const arma::mat y = normal_matrix(5, 2, 1);
  const HeldOutSums held = sums_of(y);
  arma::mat errors(nodes.nodes.size(), 2);
  const auto error_at = [&](double alpha) {
    return held.null_error[0] * (1 - 1.2 / (3 + alpha) + 0.5 / ((3 + alpha) * (90 + alpha)));
  };
  for (size_t r = 0; r < nodes.nodes.size(); ++r) {
    errors(r, 0) = error_at(alphas[nodes.nodes[r]]);
    errors(r, 1) = held.null_error[1];
  }
  const arma::mat scores = scores_from_errors(Score::neg_mse, nodes, errors, held);
  for (size_t a = 0; a < alphas.size(); ++a) {
    EXPECT_NEAR(scores(a, 0), -error_at(alphas[a]) / 5, 1e-9);
    EXPECT_EQ(scores(a, 1), scores(0, 1));
  }
  for (size_t r = 0; r < nodes.nodes.size(); ++r) EXPECT_EQ(scores(nodes.nodes[r], 0), -errors(r, 0) / 5);
}

TEST(Score, FromProducts) {
  HeldOutSums held = sums_of({{1, 1, 1}, {2, 1, 2}, {4, 1, 4}});
  // y'p, p'p
  const arma::mat products = {{2, 2, 0}, {3, 3, 0}, {100, 1, 1}, {1, 1, 4}};
  const arma::mat r = scores_from_products(all_nodes({1, 2}), {1, 2}, products, held);
  EXPECT_NEAR(r(0, 0), 2 / std::sqrt(3 * 14.0 / 3), 1e-15);
  EXPECT_EQ(r(1, 0), 1);  // never above 1
  EXPECT_EQ(r(0, 1), 0);  // constant target
  EXPECT_EQ(r(0, 2), 0);  // constant prediction
}

// Correlations are of predictions that vanish like 1 / alpha: relative nodes and scaled sums keep them over 18 decades.
TEST(Score, InterpolatedCorrelations) {
  const std::vector<double> alphas = log_grid(1e-2, 1e16, 160);
  const AlphaNodes nodes = choose_nodes(alphas, 1e-1, 1e3, 1e-9, true);
  ASSERT_FALSE(nodes.all());
  const HeldOutSums held = sums_of(normal_matrix(6, 1, 3));
  const double yy = held.sum_squares[0];
  // p = sum of c_i / (lambda_i + alpha) q_i with orthonormal q_i, y'q_i = w_i.
  const std::vector<double> lambda = {0.2, 3, 700}, c = {0.1, -2, 500}, w = {0.3, -0.2, 0.4};
  const auto sums = [&](double alpha) {
    double cross = 0, own = 0;
    for (size_t i = 0; i < 3; ++i) {
      const double p = c[i] / (lambda[i] + alpha);
      cross += p * w[i];
      own += p * p;
    }
    return std::array<double, 2>{cross, own};
  };
  arma::mat products(2 * nodes.nodes.size(), 1);
  for (size_t r = 0; r < nodes.nodes.size(); ++r) {
    products(2 * r, 0) = sums(alphas[nodes.nodes[r]])[0];
    products(2 * r + 1, 0) = sums(alphas[nodes.nodes[r]])[1];
  }
  const arma::mat r = scores_from_products(nodes, alphas, products, held);
  for (size_t a = 0; a < alphas.size(); ++a) {
    const std::array<double, 2> exact = sums(alphas[a]);
    EXPECT_NEAR(r(a, 0), exact[0] / std::sqrt(exact[1] * yy), 1e-9) << "alpha " << alphas[a];
  }
}

TEST(Score, ColumnsAgainstPlainLoops) {
  const arma::mat truth = normal_matrix(9, 4, 4), prediction = truth + normal_matrix(9, 4, 5);
  for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
    std::vector<double> out(4);
    score_columns(score, nullptr, truth, prediction, std::vector<double>(4, 10.0), std::vector<char>(4, 0), out.data());
    for (int64_t j = 0; j < 4; ++j) {
      LongMat y(arma::mat(truth.col(j))), p(arma::mat(prediction.col(j)));
      EXPECT_NEAR(out[j], plain_score(score, y, p, 0), 1e-14);
    }
  }
}

TEST(Score, ConstantColumns) {
  arma::mat truth = normal_matrix(5, 2, 6), prediction = normal_matrix(5, 2, 7);
  prediction.col(1).fill(0.7);
  std::vector<double> out(2);
  score_columns(Score::correlation, nullptr, truth, prediction, {0, 0}, {1, 0}, out.data());
  EXPECT_EQ(out, (std::vector<double>{0, 0}));
  score_columns(Score::r2, nullptr, truth, prediction, {0, 0}, {1, 0}, out.data());
  EXPECT_EQ(out[0], 0);
  EXPECT_NE(out[1], 0);
}

TEST(Score, UserScoresSeeTheUnitsOfTheCaller) {
  const arma::mat truth = normal_matrix(4, 2, 8), prediction = normal_matrix(4, 2, 9);
  const UserScore user = [](MatrixView<double> t, MatrixView<double> p, double* out) {
    for (int64_t j = 0; j < t.cols; ++j) out[j] = t.col(j)[0] + 2 * p.col(j)[3];
  };
  std::vector<double> out(2);
  score_columns(Score::user, user, truth, prediction, {100, -1}, {0, 0}, out.data());
  EXPECT_EQ(out[0], truth(0, 0) + 100 + 2 * (prediction(3, 0) + 100));
  EXPECT_EQ(out[1], truth(0, 1) - 1 + 2 * (prediction(3, 1) - 1));
}

// Predictions in the caller's units: the offset costs no digits, blocks of targets join, skipped ones may be anything.
TEST(Score, PredictionsOfManyTargets) {
  arma::mat truth = normal_matrix(9, 600, 10), prediction = truth + normal_matrix(9, 600, 11);
  truth += 1e5;
  prediction += 1e5;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  truth.col(3).fill(0.1);
  truth.col(599).fill(nan);
  prediction.col(599).fill(nan);
  std::vector<char> skip(600, 0);
  skip[599] = 1;
  Control control;
  for (const int threads : {1, 3}) {
    control.n_threads = threads;
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      std::vector<double> out(600);
      score_predictions(score, nullptr, view_of(truth), view_of(prediction), skip, -7, out.data(), control);
      EXPECT_EQ(out[599], -7);
      for (int64_t j = 0; j < 599; ++j) {
        if (j == 3 && score != Score::neg_mse) {
          EXPECT_EQ(out[j], 0);
          continue;
        }
        LongMat y(arma::mat(truth.col(j))), p(arma::mat(prediction.col(j)));
        const double want = plain_score(score, y, p, 0);
        EXPECT_NEAR(out[j], want, 1e-11 * std::max(1.0, std::abs(want)));
      }
    }
  }
}

TEST(Score, PredictionsForUserScoresAreBitForBitThoseOfTheCaller) {
  const arma::mat truth = normal_matrix(4, 300, 12), prediction = normal_matrix(4, 300, 13);
  const UserScore user = [](MatrixView<double> t, MatrixView<double> p, double* out) {
    for (int64_t j = 0; j < t.cols; ++j) out[j] = t.col(j)[0] + 2 * p.col(j)[3];
  };
  std::vector<double> out(300);
  score_predictions(Score::user, user, view_of(truth), view_of(prediction), {}, 0, out.data(), Control());
  for (int64_t j = 0; j < 300; ++j) EXPECT_EQ(out[j], truth(0, j) + 2 * prediction(3, j));
  score_predictions(Score::r2, nullptr, {nullptr, 4, 0, 4}, {nullptr, 4, 0, 4}, {}, 0, nullptr, Control());
}

}  // namespace voxridge_test
