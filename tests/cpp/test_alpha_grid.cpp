#include "common.h"

#include <cmath>
#include <limits>

#include "core/alpha_grid.h"

namespace voxridge_test {

namespace {

constexpr double kPairs = 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Largest interpolation error of 1 / (l1 + alpha) / (l2 + alpha), and of 1 / (l1 + alpha), relative to the value at the
// smallest alpha.
struct GridErrors {
  double single = 0, product = 0;
};

GridErrors errors(const AlphaNodes& nodes, const std::vector<double>& alphas, double l1, double l2) {
  const double a0 = *std::min_element(alphas.begin(), alphas.end());
  GridErrors worst;
  for (size_t a = 0; a < alphas.size(); ++a) {
    double single = 0, product = 0;
    for (size_t r = 0; r < nodes.nodes.size(); ++r) {
      const double alpha = alphas[nodes.nodes[r]];
      single += nodes.weights(a, r) * (l1 + a0) / (l1 + alpha);
      product += nodes.weights(a, r) * (l1 + a0) * (l2 + a0) / ((l1 + alpha) * (l2 + alpha));
    }
    const double exact_single = (l1 + a0) / (l1 + alphas[a]),
                 exact_product = exact_single * (l2 + a0) / (l2 + alphas[a]);
    worst.single = std::max(worst.single, std::abs(single - exact_single));
    worst.product = std::max(worst.product, std::abs(product - exact_product));
  }
  return worst;
}

// Over a random spectrum of 30 eigenvalues between smallest and largest (as given to choose_nodes), all pairs.
GridErrors spectrum_errors(const AlphaNodes& nodes, const std::vector<double>& alphas, double smallest, double largest,
                           uint64_t seed) {
  const Philox random(seed, 3);
  std::vector<double> lambda = {smallest, largest};
  for (int i = 0; i < 14; ++i) {
    for (const double u : random.uniform_pair(i))
      lambda.push_back(smallest * std::exp(u * std::log(largest / smallest)));
  }
  GridErrors worst;
  for (const double l1 : lambda) {
    for (const double l2 : lambda) {
      const GridErrors e = errors(nodes, alphas, l1, l2);
      worst.single = std::max(worst.single, e.single);
      worst.product = std::max(worst.product, e.product);
    }
  }
  return worst;
}

std::vector<double> random_grid(int64_t n, double low, double high, uint64_t seed) {
  const Philox random(seed, 4);
  std::vector<double> alphas(n);
  for (int64_t i = 0; i < n; ++i) alphas[i] = low * std::exp(random.uniform_pair(i)[0] * std::log(high / low));
  return alphas;
}

void expect_unit_rows(const AlphaNodes& nodes, size_t n_alphas) {
  ASSERT_EQ(nodes.weights.n_rows, n_alphas);
  ASSERT_EQ(nodes.weights.n_cols, nodes.nodes.size());
  EXPECT_TRUE(std::is_sorted(nodes.nodes.begin(), nodes.nodes.end()));
  for (size_t r = 0; r < nodes.nodes.size(); ++r) {
    for (size_t k = 0; k < nodes.nodes.size(); ++k) EXPECT_EQ(nodes.weights(nodes.nodes[r], k), r == k ? 1 : 0);
  }
}

}  // namespace

// Single functions keep the tolerance between the 100 sampled eigenvalues too (twice it is granted, and 1e-13 for the
// rounding of weights up to 1e2). Products of two eigenvalues are divided differences of these, not sampled themselves:
// measured up to 13 times the tolerance, 20 times are granted.
TEST(AlphaGrid, ErrorsStayUnderTheTolerance) {
  struct Range {
    double smallest, largest, low, high;
  };
  const Range ranges[] = {{1e-2, 1e4, 1e-3, 1e5}, {1e-8, 1, 1e-4, 1e6}, {1, 1.5, 1e-5, 1e5}, {1e3, 1e9, 1e-1, 1e3}};
  for (const double tolerance : {1e-6, 1e-10, 1e-12}) {
    for (const Range& r : ranges) {
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        const std::vector<double> alphas =
            seed == 1 ? log_grid(r.low, r.high, 60) : random_grid(90, r.low, r.high, seed);
        const AlphaNodes nodes = choose_nodes(alphas, r.smallest, r.largest, tolerance);
        expect_unit_rows(nodes, alphas.size());
        const GridErrors e = spectrum_errors(nodes, alphas, r.smallest, r.largest, seed);
        EXPECT_LE(e.single, 2 * tolerance + 1e-13) << "lambda from " << r.smallest << ", seed " << seed;
        EXPECT_LE(e.product, kPairs * tolerance + 1e-13) << "lambda from " << r.smallest << ", seed " << seed;
      }
    }
  }
}

TEST(AlphaGrid, AThousandPenaltiesNeedAFewNodes) {
  const std::vector<double> alphas = log_grid(1e-5, 1e10, 1000);
  const AlphaNodes nodes = choose_nodes(alphas, 1e-3, 1e5, 1e-10);
  EXPECT_LE(nodes.nodes.size(), 64u);  // 15 decades of penalties, 8 of eigenvalues
  EXPECT_GE(nodes.nodes.size(), 10u);
  const GridErrors e = spectrum_errors(nodes, alphas, 1e-3, 1e5, 1);
  EXPECT_LE(e.single, 2.1e-10);
  EXPECT_LE(e.product, kPairs * 1e-10);
}

// Nothing is known of the eigenvalues: every one from 0 to far beyond the grid must do.
TEST(AlphaGrid, AnyEigenvalues) {
  const std::vector<double> alphas = log_grid(1e-2, 1e4, 80);
  for (const double tolerance : {1e-6, 1e-10, 1e-12}) {
    const AlphaNodes nodes = choose_nodes(alphas, 0, kInfinity, tolerance);
    EXPECT_LT(nodes.nodes.size(), 60u);
    for (const double l1 : {0.0, 1e-12, 1e-9, 5e-8, 1e-7, 1e-4, 1.0, 1e8, 1e9, 3e10, 1e15}) {
      for (const double l2 : {0.0, 1e-9, 1e-5, 1.0, 1e6, 1e12}) {
        const GridErrors e = errors(nodes, alphas, l1, l2);
        EXPECT_LE(e.single, 2 * tolerance + 1e-13) << l1 << " at tolerance " << tolerance;
        EXPECT_LE(e.product, 2 * tolerance + 1e-13) << l1 << " and " << l2 << " at tolerance " << tolerance;
      }
    }
  }
}

TEST(AlphaGrid, AlphaZeroInTheGrid) {
  std::vector<double> alphas = log_grid(1e-2, 1e4, 60);
  alphas.insert(alphas.begin() + 20, 0.0);
  const AlphaNodes nodes = choose_nodes(alphas, 0.5, 800, 1e-10);
  expect_unit_rows(nodes, alphas.size());
  EXPECT_LT(nodes.nodes.size(), 40u);
  const GridErrors e = spectrum_errors(nodes, alphas, 0.5, 800, 2);
  EXPECT_LE(e.single, 2.1e-10);
  EXPECT_LE(e.product, kPairs * 1e-10);
}

TEST(AlphaGrid, DuplicatesShareANode) {
  std::vector<double> alphas = log_grid(1e-2, 1e4, 40);
  alphas.insert(alphas.end(), alphas.begin(), alphas.end());
  const AlphaNodes nodes = choose_nodes(alphas, 1e-1, 1e3, 1e-10);
  EXPECT_LE(nodes.nodes.size(), 40u);
  const GridErrors e = spectrum_errors(nodes, alphas, 1e-1, 1e3, 3);
  EXPECT_LE(e.single, 2.1e-10);
  EXPECT_LE(e.product, kPairs * 1e-10);
  // One penalty many times: one node, every weight 1.
  const AlphaNodes one = choose_nodes(std::vector<double>(10, 3.0), 1e-1, 1e3, 1e-10);
  ASSERT_EQ(one.nodes.size(), 1u);
  for (const double weight : one.weights) EXPECT_NEAR(weight, 1, 1e-14);
}

TEST(AlphaGrid, SmallGridsAndOddOnesAreLeftAsTheyAre) {
  for (const std::vector<double>& alphas :
       {std::vector<double>{2}, std::vector<double>{1, 2, 3}, std::vector<double>{0, 0, 0, 0, 0}}) {
    const AlphaNodes nodes = choose_nodes(alphas, 1, 10, 1e-10);
    EXPECT_TRUE(nodes.all());
    EXPECT_EQ(nodes.nodes.size(), alphas.size());
  }
  EXPECT_TRUE(choose_nodes(log_grid(1e-3, 1e8, 8), 1e-3, 1e5, 1e-10).all());  // fewer than the rank
  // No eigenvalues at all, as for features of zeros.
  EXPECT_EQ(choose_nodes(log_grid(1, 10, 5), kInfinity, 0, 1e-10).nodes.size(), 5u);
  const AlphaNodes all = all_nodes({3, 1, 2});
  EXPECT_EQ(all.nodes, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(all.all());
}

TEST(AlphaGrid, OrderOfTheGridDoesNotMatter) {
  const std::vector<double> up = log_grid(1e-3, 1e5, 70), down(up.rbegin(), up.rend());
  const AlphaNodes a = choose_nodes(up, 1e-2, 1e4, 1e-10), b = choose_nodes(down, 1e-2, 1e4, 1e-10);
  EXPECT_NEAR(static_cast<double>(a.nodes.size()), static_cast<double>(b.nodes.size()), 1);
  const GridErrors e = spectrum_errors(b, down, 1e-2, 1e4, 4);
  EXPECT_LE(e.single, 2.1e-10);
  EXPECT_LE(e.product, kPairs * 1e-10);
}

}  // namespace voxridge_test
