// Grids of penalties from effective degrees of freedom.
#include "common.h"

#include "core/lambda_grid.h"

namespace voxridge_test {

namespace {

double degrees(const arma::vec& d, double lambda) {
  return arma::accu(d / (d + lambda));
}

}  // namespace

TEST(LambdaGrid, EndsAreTheDegreesOfFreedomThatTheyAreMeantToLeave) {
  const arma::vec flat = {0.3, 0.2, 0.25, 0.1, 0.05};
  const std::vector<double> grid = lambda_grid(flat, 50);
  ASSERT_EQ(grid.size(), 50u);
  EXPECT_NEAR(degrees(flat, grid.front()), 0.05, 1e-9);  // a hundredth of five
  EXPECT_NEAR(degrees(flat, grid.back()), 0.99 * 5, 1e-9);
  for (size_t k = 1; k < 50; ++k) EXPECT_NEAR(grid[k] / grid[k - 1], grid[1] / grid[0], 1e-10);
  EXPECT_LT(grid[1], grid[0]);
  // a hundred: half a degree
  const arma::vec many(100, arma::fill::value(0.25));
  EXPECT_NEAR(degrees(many, lambda_grid(many, 50).front()), 0.5, 1e-9);
}

TEST(LambdaGrid, TheOrderOfEigenvaluesAndTheirUnitDoNotMatter) {
  const arma::vec d = arma::abs(normal_matrix(20, 1, 1)) + 0.01;
  const std::vector<double> grid = lambda_grid(d, 10), turned = lambda_grid(arma::reverse(d), 10);
  const std::vector<double> larger = lambda_grid(arma::vec(1e6 * d), 10);
  for (size_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(turned[k] / grid[k], 1, 1e-10);
    EXPECT_NEAR(larger[k] / grid[k], 1e6, 1e-4);
  }
}

TEST(LambdaGrid, EigenvaluesOfRoundingAreNone) {
  arma::vec d = {1, 0.5, 1e-17, -1e-17, 0};
  const std::vector<double> grid = lambda_grid(d, 50), two = lambda_grid(arma::vec(d.head(2)), 50);
  for (size_t k = 0; k < 50; ++k) EXPECT_NEAR(grid[k] / two[k], 1, 1e-10);
  // and small ones do not take it below 1e-4 of the largest
  d[2] = 1e-9;
  EXPECT_NEAR(lambda_grid(d, 50).back(), 1e-4, 1e-12);
}

TEST(LambdaGrid, NothingToPenalise) {
  for (const arma::vec& d : {arma::vec(), arma::vec(3, arma::fill::zeros)}) {
    const std::vector<double> grid = lambda_grid(d, 5);
    EXPECT_EQ(grid.front(), 1);
    EXPECT_NEAR(grid.back(), 1e-4, 1e-15);
  }
  EXPECT_EQ(lambda_grid(arma::vec{1.0}, 1).size(), 1u);
}

}  // namespace voxridge_test
