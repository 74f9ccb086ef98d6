#include "common.h"

#include <cmath>
#include <limits>

#include "core/choice.h"

namespace voxridge_test {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int64_t best(const std::vector<double>& scores, const std::vector<double>& alphas) {
  return best_alpha(scores.data(), alphas);
}

}  // namespace

TEST(Choice, LargestScore) {
  EXPECT_EQ(best({0.1, 0.3, 0.2}, {1, 2, 3}), 1);
  EXPECT_EQ(best({-0.1, -0.3, -0.2}, {1, 2, 3}), 0);
  EXPECT_EQ(best({-1.0}, {7}), 0);
}

TEST(Choice, TiesGoToTheLargerAlpha) {
  EXPECT_EQ(best({0.5, 0.5, 0.1}, {1, 2, 3}), 1);
  EXPECT_EQ(best({0.5, 0.5, 0.5}, {3, 2, 1}), 0);
  EXPECT_EQ(best({0.5, 0.1, 0.5}, {4, 9, 4}), 0);  // the same alpha twice: the first
  EXPECT_EQ(best({0.0, -0.0}, {1, 2}), 1);
}

TEST(Choice, NaNIsNeverChosen) {
  EXPECT_EQ(best({kNaN, 0.1, kNaN}, {1, 2, 3}), 1);
  EXPECT_EQ(best({kNaN, kNaN}, {1, 2}), -1);
  EXPECT_EQ(best({kNaN, -std::numeric_limits<double>::infinity()}, {1, 2}), 1);
}

// Welford's means and deviations against two passes; 7 folds of numbers of size 1.
TEST(Choice, FoldMeans) {
  const arma::mat first = normal_matrix(7, 6, 1);  // folds x (3 alphas * 2 targets)
  FoldMeans means(true);
  for (arma::uword f = 0; f < 7; ++f) means.add(arma::reshape(first.row(f), 3, 2));
  for (int64_t j = 0; j < 2; ++j) {
    for (int64_t a = 0; a < 3; ++a) {
      const arma::vec values = first.col(a + 3 * j);
      EXPECT_NEAR(means.mean()(a, j), arma::mean(values), 1e-15);
      EXPECT_NEAR(means.spread(a, j), arma::stddev(values, 1), 1e-15);
    }
  }
}

TEST(Choice, EqualFoldsHaveNoSpread) {
  FoldMeans means(true);
  for (int f = 0; f < 3; ++f) means.add(arma::mat(2, 1, arma::fill::value(0.1)));
  EXPECT_EQ(means.mean()(0, 0), 0.1);
  EXPECT_EQ(means.spread(0, 0), 0);
  EXPECT_EQ(conservative_alpha(means, 0, {1, 2}), 1);
}

TEST(Choice, ConservativeTakesTheLargestWithinOneDeviation) {
  FoldMeans means(true);
  // Means 0.5, 0.45, 0.3; at the best alpha the folds are 0.4 and 0.6: deviation 0.1.
  means.add(arma::mat{0.4, 0.2, 0.3}.t());
  means.add(arma::mat{0.6, 0.7, 0.3}.t());
  EXPECT_EQ(conservative_alpha(means, 0, {1, 10, 100}), 1);
  EXPECT_EQ(conservative_alpha(means, 0, {10, 1, 100}), 0);  // not a smaller one
  EXPECT_EQ(best_alpha(means.mean().memptr(), {1, 10, 100}), 0);
}

TEST(Choice, ConservativeMustExceedTheBound) {
  FoldMeans means(true);
  means.add(arma::mat{0.25, 0.25}.t());  // best 0.5 with deviation 0.25; the other is exactly on the bound
  means.add(arma::mat{0.75, 0.25}.t());
  EXPECT_EQ(conservative_alpha(means, 0, {1, 10}), 0);
}

TEST(Choice, ConservativeWithoutScores) {
  FoldMeans means(true);
  means.add(arma::mat{kNaN, kNaN}.t());
  EXPECT_EQ(conservative_alpha(means, 0, {1, 10}), -1);
}

}  // namespace voxridge_test
