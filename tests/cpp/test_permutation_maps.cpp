// Maps under permutations: maxima and counts, against the maps of a full run taken one by one.
#include "core/permutation_maps.h"

#include <numeric>

#include "brain_cases.h"
#include "core/clusters.h"
#include "core/tfce.h"
#include "permutation_cases.h"

namespace voxridge_test {

namespace {

struct Maps {
  Outcome out;
  std::vector<double> map, enhanced, maximum;
  std::vector<int> label, counts;
};

Maps run_maps(const PermutationTest& test, const MapRule& rule, const Neighbours& neighbours, int n_threads = 1) {
  const auto v = static_cast<size_t>(test.y.cols);
  const bool tfce = rule.statistic == MapStatistic::tfce;
  Maps found = {Outcome(test), std::vector<double>(v), std::vector<double>(tfce ? v : 0),
                std::vector<double>(test.n_permutations), std::vector<int>(tfce ? 0 : v), std::vector<int>(tfce ? v : 0)};
  PermutationOutputs out = found.out.outputs();
  MapOutputs to;
  to.map = found.map.data();
  to.enhanced = found.enhanced.data();
  to.maximum = found.maximum.data();
  to.label = found.label.data();
  to.counts = found.counts.data();
  run_map_test(test, rule, neighbours, out, to, with_threads(n_threads));
  return found;
}

bool same(const Maps& a, const Maps& b) {
  return same_bits(arma::vec(a.map), arma::vec(b.map)) && a.enhanced == b.enhanced && a.maximum == b.maximum &&
         a.label == b.label && a.counts == b.counts && a.out.counts == b.out.counts && a.out.maximum == b.out.maximum;
}

double cut(double x) {
  return std::isnan(x) ? 0 : std::max(-1e6, std::min(1e6, x));
}

// A map in the directions that are looked at.
std::vector<double> looked_at(const MapRule& rule, const double* map, int64_t v, int64_t step) {
  std::vector<double> out(v);
  for (int64_t j = 0; j < v; ++j) {
    double x = map[j * step];
    if (rule.correlation_df > 0) x *= std::sqrt(rule.correlation_df / (1 - x * x));
    x = cut(x);
    out[j] = (x > 0 && !rule.upper) || (x < 0 && !rule.lower) ? 0 : x;
  }
  return out;
}

void expect_maps(const PermutationTest& test, const MapRule& rule, const Neighbours& neighbours) {
  const int64_t v = test.y.cols, m = test.n_permutations;
  const Maps got = run_maps(test, rule, neighbours);
  Outcome plain(test, true);
  std::fill(plain.null.begin(), plain.null.end(), NAN);
  PermutationOutputs to = plain.outputs();
  run_permutation_test(test, to, with_threads(1));
  EXPECT_EQ(got.out.counts, plain.counts);
  EXPECT_EQ(got.out.maximum_counts, plain.maximum_counts);
  EXPECT_EQ(got.out.maximum, plain.maximum);
  Clusters clusters(neighbours);
  Tfce tfce(neighbours, rule.E, rule.H);
  std::vector<int> counts(v, 0);
  for (int64_t r = 0; r < m; ++r) {
    std::vector<double> map = looked_at(rule, plain.null.data() + r, v, m), enhanced(v, 0.0);
    double largest = 0;
    for (const double sign : {1.0, -1.0}) {
      if (rule.statistic == MapStatistic::tfce) {
        largest = std::max(largest, tfce.run(map.data(), sign, enhanced.data()));
        continue;
      }
      for (const Cluster& c : clusters.run(map.data(), sign, rule.threshold)) {
        largest = std::max(largest, rule.statistic == MapStatistic::mass ? c.mass : static_cast<double>(c.size));
      }
    }
    EXPECT_EQ(got.maximum[r], largest);
    for (int64_t j = 0; j < v && rule.statistic == MapStatistic::tfce; ++j) {
      const double seen = (got.enhanced[j] > 0 && rule.upper) || (got.enhanced[j] < 0 && rule.lower)
                              ? std::fabs(got.enhanced[j])
                              : 0;
      counts[j] += std::fabs(enhanced[j]) >= seen * kEqualShare;
    }
  }
  if (rule.statistic == MapStatistic::tfce) { EXPECT_EQ(got.counts, counts); }
  for (const int n_threads : {2, 5}) EXPECT_TRUE(same(run_maps(test, rule, neighbours, n_threads), got));
}

}  // namespace

TEST(PermutationMaps, MaximaAndCountsAreThoseOfSingleMaps) {
  const SmallMask mask = scattered_mask({6, 5, 4}, 0.8, 2);
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, 18);
  arma::mat y = normal_matrix(12, mask.size(), 3);
  y.cols(0, 20) += 0.8;
  y.col(5).fill(1);
  y(2, 30) = NAN;
  const arma::vec ones = unit_ones(12), x = unit_variable(12, 4);
  // more than a batch of 128 and not whole blocks of 8; fewer than threads
  for (const int64_t m : {150, 3}) {
    for (const MapStatistic statistic : {MapStatistic::extent, MapStatistic::mass, MapStatistic::tfce}) {
      for (const std::array<bool, 2>& side : {std::array<bool, 2>{true, true}, {true, false}, {false, true}}) {
        MapRule rule;
        rule.statistic = statistic;
        rule.threshold = statistic == MapStatistic::tfce ? 0 : 1.5;
        rule.upper = side[0];
        rule.lower = side[1];
        PermutationTest flips = one_sample(y, ones), shuffles = correlation(y, x, ones);
        for (PermutationTest* test : {&flips, &shuffles}) {
          test->n_permutations = m;
          test->rows.seed = 8;
          test->absolute = side[0] && side[1];
          test->negate = !side[0];
        }
        expect_maps(flips, rule, neighbours);
        rule.correlation_df = 10;
        expect_maps(shuffles, rule, neighbours);
      }
    }
  }
}

TEST(PermutationMaps, ThePermutationThatChangesNothingIsTheData) {
  const SmallMask mask = full_mask({5, 4, 3});
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, 26);
  const arma::mat y = arma::round(2 * normal_matrix(9, mask.size(), 6)) + 1;
  const arma::vec ones = unit_ones(9);
  const arma::Mat<int> same_rows(10, 9, arma::fill::ones);
  PermutationTest test = one_sample(y, ones);
  test.rows.given = {same_rows.memptr(), 10, 9, 10};
  test.n_permutations = 10;
  MapRule rule;
  const Maps got = run_maps(test, rule, neighbours);
  EXPECT_EQ(got.counts, std::vector<int>(mask.size(), 10));
  double largest = 0;
  for (const double x : got.enhanced) largest = std::max(largest, std::fabs(x));
  EXPECT_EQ(got.maximum, std::vector<double>(10, largest));
}

TEST(PermutationMaps, OneVoxelAThresholdAboveEverythingAndTheCap) {
  const arma::vec ones = unit_ones(6);
  const SmallMask alone = full_mask({1, 1, 1});
  const Neighbours none = neighbours_of(alone.dim, alone.position, 26);
  const arma::mat y = normal_matrix(6, 1, 1) + 1;
  PermutationTest test = one_sample(y, ones);
  test.n_permutations = 20;
  MapRule rule;
  expect_maps(test, rule, none);
  const Maps got = run_maps(test, rule, none);
  EXPECT_NEAR(std::fabs(got.enhanced[0]), std::pow(std::fabs(got.map[0]), 3) / 3, 1e-12 * std::fabs(got.enhanced[0]));
  rule.statistic = MapStatistic::mass;
  rule.threshold = 1e5;
  const Maps above = run_maps(test, rule, none);
  EXPECT_EQ(above.label, std::vector<int>{0});
  EXPECT_EQ(above.maximum, std::vector<double>(20, 0.0));
  // groups without spread: t is infinite, and is cut
  const SmallMask box = full_mask({2, 2, 2});
  const Neighbours neighbours = neighbours_of(box.dim, box.position, 6);
  arma::mat apart(6, 8, arma::fill::ones);
  apart.rows(0, 2) *= -1;
  const arma::vec x = arma::vec({1, 1, 1, -1, -1, -1}) / std::sqrt(6.0);
  PermutationTest groups = one_sample(apart, x);
  groups.rows.kind = Rearrangement::labels;
  groups.rows.first = {1, 1, 1, 0, 0, 0};
  groups.design.nuisance = {ones.memptr(), 6, 1, 6};
  groups.n_fixed = 1;
  groups.design.df = 4;
  groups.rows.exact = true;
  groups.n_permutations = 20;
  rule.threshold = 3;
  const Maps cut_at = run_maps(groups, rule, neighbours);
  EXPECT_EQ(cut_at.map, std::vector<double>(8, -1e6));
  EXPECT_EQ(cut_at.label, std::vector<int>(8, 1));
  EXPECT_EQ(*std::max_element(cut_at.maximum.begin(), cut_at.maximum.end()), 8 * (1e6 - 3));
  EXPECT_EQ(std::count(cut_at.maximum.begin(), cut_at.maximum.end(), 8 * (1e6 - 3)), 2);
  rule.statistic = MapStatistic::tfce;
  const Maps tfce = run_maps(groups, rule, neighbours);
  EXPECT_EQ(tfce.counts, std::vector<int>(8, 2));
  EXPECT_NEAR(tfce.enhanced[0], -std::sqrt(8.0) * 1e18 / 3, 1e5);
  expect_maps(groups, rule, neighbours);
}

TEST(PermutationMaps, WithoutColumnsInUseThereAreNoMaps) {
  const SmallMask mask = full_mask({3, 2, 1});
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, 6);
  const arma::mat y(7, 6, arma::fill::value(4.0));
  const arma::vec ones = unit_ones(7);
  PermutationTest test = one_sample(y, ones);
  test.n_permutations = 9;
  for (const MapStatistic statistic : {MapStatistic::extent, MapStatistic::tfce}) {
    MapRule rule;
    rule.statistic = statistic;
    rule.threshold = 1;
    const Maps got = run_maps(test, rule, neighbours);
    EXPECT_EQ(got.map, std::vector<double>(6, 0.0));
    EXPECT_EQ(got.maximum, std::vector<double>(9, 0.0));
  }
}

}  // namespace voxridge_test
