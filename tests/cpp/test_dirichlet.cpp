#include "core/dirichlet.h"

#include <cmath>

#include "common.h"

namespace voxridge_test {

namespace {

// draws x bands
arma::mat draws(int64_t n_bands, double concentration, uint64_t key, int64_t n) {
  arma::mat out(n, n_bands);
  for (int64_t i = 0; i < n; ++i) out.row(i) = arma::rowvec(dirichlet(n_bands, concentration, key, i));
  return out;
}

// Kolmogorov's distance of values to the uniform distribution, times the root of their number: over 2.2 once in 1e4.
double distance_to_uniform(arma::vec values) {
  values = arma::sort(values);
  const double n = static_cast<double>(values.n_elem);
  double largest = 0;
  for (arma::uword i = 0; i < values.n_elem; ++i) {
    const double place = static_cast<double>(i);
    largest = std::max({largest, values[i] - place / n, (place + 1) / n - values[i]});
  }
  return std::sqrt(n) * largest;
}

}  // namespace

TEST(Dirichlet, SumsToOne) {
  for (const double concentration : {0.01, 0.1, 1.0, 10.0, 1e6}) {
    for (const int64_t n_bands : {1, 2, 5, 40}) {
      for (uint64_t i = 0; i < 200; ++i) {
        const arma::vec x(dirichlet(n_bands, concentration, 3, i));
        EXPECT_NEAR(arma::accu(x), 1, 1e-15 * static_cast<double>(n_bands + 1));
        EXPECT_GE(x.min(), 0);
      }
    }
  }
}

// Means 1 / B, variances (1 / B) (1 - 1 / B) / (B c + 1), covariances -1 / (B^2 (B c + 1)), each within five standard
// errors of 4e4 draws, as the draws themselves give them.
TEST(Dirichlet, Moments) {
  constexpr int64_t n = 40000;
  const auto expect_mean = [](const arma::vec& values, double mean, const char* what) {
    EXPECT_NEAR(arma::mean(values), mean, 5 * arma::stddev(values) / std::sqrt(static_cast<double>(n))) << what;
  };
  for (const double concentration : {0.1, 1.0, 10.0}) {
    for (const int64_t n_bands : {2, 3, 6}) {
      SCOPED_TRACE(testing::Message() << "concentration " << concentration << ", bands " << n_bands);
      const double bands = static_cast<double>(n_bands), spread = bands * concentration + 1;
      const arma::mat x = draws(n_bands, concentration, 11, n) - 1 / bands;
      for (int64_t b = 0; b < n_bands; ++b) {
        const arma::vec own = x.col(b), next = x.col((b + 1) % n_bands);
        expect_mean(own, 0, "mean");
        expect_mean(arma::square(own), (1 / bands) * (1 - 1 / bands) / spread, "variance");
        expect_mean(own % next, -1 / (bands * bands * spread), "covariance");
        expect_mean(own.head(n - 1) % own.tail(n - 1), 0, "covariance of successive draws");
      }
    }
  }
}

// Marginals that have simple distribution functions.
TEST(Dirichlet, Distributions) {
  const arma::vec uniform = draws(2, 1, 12, 20000).col(1);
  EXPECT_LT(distance_to_uniform(uniform), 2.2);
  const arma::vec of_four = draws(4, 1, 13, 20000).col(2);  // Beta(1, 3)
  EXPECT_LT(distance_to_uniform(1 - arma::pow(1 - of_four, 3)), 2.2);
  const arma::vec arcsine = draws(2, 0.5, 14, 20000).col(0);
  EXPECT_LT(distance_to_uniform(arma::asin(arma::sqrt(arcsine)) * 2 / std::acos(-1.0)), 2.2);
}

// A draw is a function of key and index, and more bands leave the ratios of the first as they are (to the rounding of
// logarithms of size 100).
TEST(Dirichlet, LongerSearchesBeginWithShorterOnes) {
  for (const double concentration : {0.1, 1.0}) {
    for (const uint64_t index : {0, 1, 77}) {
      const std::vector<double> few = dirichlet(3, concentration, 5, index),
                                again = dirichlet(3, concentration, 5, index);
      const std::vector<double> many = dirichlet(9, concentration, 5, index);
      EXPECT_EQ(few, again);
      EXPECT_NE(few, dirichlet(3, concentration, 5, index + 1));
      EXPECT_NE(few, dirichlet(3, concentration, 6, index));
      for (size_t b = 1; b < 3; ++b) {
        if (many[b] > 0) {
          EXPECT_NEAR(few[0] / few[b] / (many[0] / many[b]), 1, 1e-13);
        }
      }
    }
  }
  EXPECT_NE(dirichlet(2, 1, 5, 3), dirichlet(2, 1, 5, 3 + (uint64_t{1} << 31)));
}

// Weights of one band alone, or of equal ones, and never 0 / 0.
TEST(Dirichlet, ExtremeConcentrations) {
  for (const double concentration : {1e-300, 1e-310, 1e-100, 1e-20, 1e-6, 1e-3, 1e10, 1e300}) {
    arma::vec first(500);
    for (uint64_t i = 0; i < 500; ++i) {
      const arma::vec x(dirichlet(3, concentration, 9, i));
      ASSERT_TRUE(x.is_finite()) << concentration;
      ASSERT_NEAR(arma::accu(x), 1, 1e-15);
      if (concentration < 1e-4) {
        ASSERT_GT(x.max(), 1 - 1e-12);
      }
      if (concentration > 1) {
        ASSERT_NEAR(x.max(), 1.0 / 3, 1e-4);
      }
      first[i] = x[0];
    }
    // a third of the draws, within five standard errors: every band has its turn
    if (concentration < 1) {
      EXPECT_NEAR(arma::mean(first), 1.0 / 3, 5 * std::sqrt(2.0 / 9 / 500));
    }
  }
}

TEST(Dirichlet, OneBandHasAllWeight) {
  for (const double concentration : {1e-300, 0.1, 1.0, 1e300}) {
    EXPECT_EQ(dirichlet(1, concentration, 1, 2), std::vector<double>{1});
  }
}

// Written down once, from an implementation of its own in Python; libraries may differ in last digits.
TEST(Dirichlet, KnownValues) {
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& known) {
    ASSERT_EQ(found.size(), known.size());
    for (size_t b = 0; b < known.size(); ++b) EXPECT_NEAR(found[b] / known[b], 1, 1e-13);
  };
  const uint64_t largest_key = (uint64_t{1} << 53) - 1;
  expect(dirichlet(3, 1, 42, 0), {0.64497751382585733, 0.21261475453410392, 0.14240773164003873});
  expect(dirichlet(3, 0.1, 42, 1), {1.9882167322965351e-08, 0.0010849066609701918, 0.99891507345686248});
  expect(dirichlet(4, 10, largest_key, 12345),
         {0.19859254856065683, 0.18262634723219756, 0.31702331014124674, 0.30175779406589887});
  expect({alpha_jitter(42, 0), alpha_jitter(largest_key, 7)}, {1.4106213888268881, 0.78426262937583457});
}

TEST(AlphaJitter, IsEvenInTheLogarithm) {
  arma::vec u(20000);
  for (uint64_t i = 0; i < u.n_elem; ++i) u[i] = std::log10(alpha_jitter(4, i)) + 0.5;
  EXPECT_GT(u.min(), 0);
  EXPECT_LT(u.max(), 1);
  EXPECT_LT(distance_to_uniform(u), 2.2);
  EXPECT_EQ(alpha_jitter(4, 17), alpha_jitter(4, 17));
  EXPECT_NE(alpha_jitter(4, 17), alpha_jitter(5, 17));
}

}  // namespace voxridge_test
