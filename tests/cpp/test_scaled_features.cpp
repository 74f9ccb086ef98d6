// Centred and scaled features: from a copy or block by block, the same numbers.
#include <cmath>
#include <limits>

#include "common.h"

#include "core/scaled_features.h"

namespace voxridge_test {

namespace {

const Control kControl;

std::vector<double> numbers(const arma::rowvec& from) {
  return std::vector<double>(from.begin(), from.end());
}

struct Case {
  arma::mat x, z;  // z: the rows, centred and scaled in the plain way
  RowList rows;
  std::vector<double> means, factors;
};

Case make_case(int64_t n, int64_t p, uint64_t seed) {
  Case out;
  out.x = normal_matrix(n, p, seed) * 3 + 1;
  for (int64_t i = 0; i < n; i += 1 + i % 2) out.rows.push_back(i);
  out.rows.push_back(0);  // bootstrap samples repeat rows
  const arma::rowvec means = arma::mean(out.x, 0), factors = arma::abs(normal_matrix(1, p, seed + 1)) + 0.1;
  out.means = numbers(means);
  out.factors = numbers(factors);
  out.z = (out.x.rows(arma::conv_to<arma::uvec>::from(out.rows)).eval().each_row() - means).eval().each_row() % factors;
  return out;
}

}  // namespace

TEST(ScaledFeatures, CopiedOrNotTheProductsAreThePlainOnes) {
  // the last two: more rows than a block holds, more columns than a block of that height holds
  struct Shape {
    int64_t n, p, t;
  };
  for (const Shape s : {Shape{20, 7, 3}, Shape{20, 7, 1}, Shape{1, 5, 2}, Shape{9, 1, 2}, Shape{9, 4, 0},
                        Shape{4000, 3, 2}, Shape{300, 800, 2}}) {
    const Case c = make_case(s.n, s.p, 1);
    const int64_t n = static_cast<int64_t>(c.rows.size());
    const arma::mat b = normal_matrix(s.p, s.t, 3), r = normal_matrix(n, s.t, 4);
    const arma::vec w = arma::abs(normal_matrix(n, 1, 5));
    for (const double cache : {0.0, 1e9}) {
      const ScaledFeatures f(view_of(c.x), c.rows, c.means, c.factors, cache, kControl);
      ASSERT_EQ(f.rows(), n);
      ASSERT_EQ(f.cols(), s.p);
      const double scale = arma::abs(c.z).max() * static_cast<double>(std::max(n, s.p));
      EXPECT_LE(largest_difference(f.multiply(b), c.z * b), 1e-14 * scale);
      EXPECT_LE(largest_difference(f.multiply_transposed(r), c.z.t() * r), 1e-13 * scale);
      EXPECT_LE(largest_difference(f.row_norms(), arma::sqrt(arma::sum(arma::square(c.z), 1))), 1e-14 * scale);
      EXPECT_LE(largest_difference(f.weighted_squares(w), arma::square(c.z).t() * w), 1e-12 * scale);
      if (n > 1000) continue;
      EXPECT_LE(largest_difference(f.sample_gram(kControl), c.z * c.z.t()), 1e-12 * scale);
      EXPECT_LE(largest_difference(f.feature_gram(w, kControl), c.z.t() * arma::diagmat(w) * c.z), 1e-12 * scale);
    }
  }
}

TEST(ScaledFeatures, WithoutMeansAndFactorsTheRowsAreAsTheyAre) {
  const arma::mat x = normal_matrix(6, 4, 1);
  for (const double cache : {0.0, 1e9}) {
    const ScaledFeatures f(view_of(x), row_range(2, 3), {}, {}, cache, kControl);
    EXPECT_TRUE(same_bits(f.multiply(arma::mat(4, 4, arma::fill::eye)), x.rows(2, 4)));
  }
}

TEST(ScaledFeatures, NoColumnsAndNoRows) {
  const arma::mat x(5, 0), y = normal_matrix(5, 3, 1);
  for (const double cache : {0.0, 1e9}) {
    const ScaledFeatures none(view_of(x), row_range(0, 5), {}, {}, cache, kControl);
    EXPECT_EQ(arma::accu(arma::abs(none.multiply(arma::mat(0, 2)))), 0);
    EXPECT_EQ(none.multiply(arma::mat(0, 2)).n_rows, 5u);
    EXPECT_EQ(none.multiply_transposed(arma::mat(5, 2, arma::fill::ones)).n_rows, 0u);
    EXPECT_EQ(arma::accu(none.sample_gram(kControl)), 0);
    EXPECT_EQ(none.feature_gram(arma::vec(5, arma::fill::ones), kControl).n_elem, 0u);
    EXPECT_EQ(arma::accu(none.row_norms()), 0);
    const ScaledFeatures empty(view_of(y), {}, {}, {}, cache, kControl);
    EXPECT_EQ(empty.multiply(arma::mat(3, 2, arma::fill::ones)).n_rows, 0u);
    EXPECT_EQ(arma::accu(empty.multiply_transposed(arma::mat(0, 2))), 0);
    EXPECT_EQ(empty.row_norms().n_elem, 0u);
  }
}

TEST(WeightedScales, AreThoseOfTheWeightedRows) {
  const arma::mat x = normal_matrix(30, 300, 1) + 1e6;
  RowList rows = row_range(3, 20);
  arma::vec w = arma::abs(normal_matrix(20, 1, 2));
  w /= arma::accu(w);
  for (const int threads : {1, 3}) {
    Control control;
    control.n_threads = threads;
    const Scales s = weighted_scales(view_of(x), rows, w, control);
    for (int64_t j = 0; j < 300; ++j) {
      long double mean = 0, square = 0;
      for (int64_t i = 0; i < 20; ++i) mean += static_cast<long double>(w[i]) * x(3 + i, j);
      for (int64_t i = 0; i < 20; ++i) {
        const long double deviation = x(3 + i, j) - mean;
        square += w[i] * deviation * deviation;
      }
      EXPECT_NEAR(s.mean[j], static_cast<double>(mean), 1e-9);
      EXPECT_NEAR(s.sd[j], static_cast<double>(std::sqrt(square)), 1e-9);
    }
  }
}

TEST(WeightedScales, AConstantColumnHasNoneExactlyAndSquaresMayOverflow) {
  arma::mat x(7, 2);
  x.col(0).fill(0.1);
  x.col(1).fill(1e300);
  const arma::vec w(7, arma::fill::value(1.0 / 7));
  EXPECT_EQ(weighted_scales(view_of(x), row_range(0, 7), w, kControl).sd, (std::vector<double>{0, 0}));
  x(3, 1) = -1e300;  // one of seven: 2 sqrt(6) / 7
  EXPECT_NEAR(weighted_scales(view_of(x), row_range(0, 7), w, kControl).sd[1] / 1e300, 2 * std::sqrt(6.0) / 7, 1e-12);
  x(3, 1) = -std::numeric_limits<double>::max();
  x(4, 1) = std::numeric_limits<double>::max();
  EXPECT_THROW(weighted_scales(view_of(x), row_range(0, 7), w, kControl), Error);
  const Scales none = weighted_scales(view_of(x), {}, arma::vec(), kControl);
  EXPECT_EQ(none.sd, (std::vector<double>{0, 0}));
}

TEST(ScaledFeatures, StopsBetweenPanels) {
  const arma::mat x = normal_matrix(10, 600, 1);
  const std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  EXPECT_THROW(ScaledFeatures(view_of(x), row_range(0, 10), {}, {}, 1e9, control), Error);
  const ScaledFeatures f(view_of(x), row_range(0, 10), {}, {}, 0, kControl);
  EXPECT_THROW(f.sample_gram(control), Error);
  EXPECT_THROW(f.feature_gram(arma::vec(10, arma::fill::ones), control), Error);
  EXPECT_THROW(weighted_scales(view_of(x), row_range(0, 10), arma::vec(10, arma::fill::value(0.1)), control), Error);
}

}  // namespace voxridge_test
