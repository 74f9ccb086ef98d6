// Clusters, against labels that spread from voxel to voxel.
#include <cmath>
#include <limits>

#include "brain_cases.h"
#include "core/clusters.h"

namespace voxridge_test {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

void expect_clusters(const SmallMask& mask, const std::vector<double>& t, double sign, double threshold,
                     int connectivity) {
  const int64_t v = mask.size();
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, connectivity);
  Clusters clusters(neighbours);
  std::vector<char> on(v);
  for (int64_t j = 0; j < v; ++j) on[j] = sign * t[j] > threshold;
  const std::vector<int64_t> first = flood(mask, on, connectivity), size = sizes_of(first);
  for (const int base : {0, 5}) {
    std::vector<int> label(v, -7);
    const std::vector<Cluster> got = clusters.run(t.data(), sign, threshold, label.data(), base);
    // in the order of their first voxels
    size_t at = 0;
    for (int64_t j = 0; j < v; ++j) {
      if (!on[j]) { EXPECT_EQ(label[j], -7); }
      if (first[j] != j) continue;
      ASSERT_LT(at, got.size());
      EXPECT_EQ(got[at].size, size[j]);
      double mass = 0;
      for (int64_t k = 0; k < v; ++k) {
        if (first[k] != j) continue;
        mass += sign * t[k] - threshold;
        EXPECT_EQ(label[k], base + static_cast<int>(at) + 1);
      }
      EXPECT_NEAR(got[at].mass, mass, 1e-12 * (1 + mass));
      ++at;
    }
    EXPECT_EQ(at, got.size());
    // without labels, and once more: nothing is left over from the last call
    const std::vector<Cluster>& again = clusters.run(t.data(), sign, threshold);
    ASSERT_EQ(again.size(), got.size());
    for (size_t c = 0; c < got.size(); ++c) EXPECT_EQ(again[c].mass, got[c].mass);
  }
}

}  // namespace

TEST(Clusters, AreThoseOfSpreadingLabels) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const SmallMask mask = scattered_mask({6, 5, 4}, seed % 2 ? 0.6 : 0.95, seed);
    std::vector<double> t(mask.size());
    const arma::mat z = normal_matrix(mask.size(), 1, seed + 100);
    for (int64_t j = 0; j < mask.size(); ++j) t[j] = seed > 3 ? std::round(2 * z(j, 0)) : z(j, 0);
    for (const int connectivity : {6, 18, 26}) {
      for (const double sign : {1.0, -1.0}) {
        for (const double threshold : {0.0, 0.5, 1.0}) expect_clusters(mask, t, sign, threshold, connectivity);
      }
    }
  }
}

TEST(Clusters, AThresholdIsStrictAndMayBeAboveEverything) {
  const SmallMask mask = full_mask({3, 2, 2});
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, 6);
  Clusters clusters(neighbours);
  const std::vector<double> equal(12, 2.0);
  EXPECT_TRUE(clusters.run(equal.data(), 1, 2.0).empty());
  EXPECT_TRUE(clusters.run(equal.data(), -1, 1.0).empty());
  EXPECT_TRUE(clusters.run(equal.data(), 1, 1e6).empty());
  // as equal as rounded data can be
  EXPECT_TRUE(clusters.run(equal.data(), 1, 2.0 / (1 + 0.5 * kThresholdShare)).empty());
  const std::vector<Cluster> all = clusters.run(equal.data(), 1, 2.0 / (1 + 2 * kThresholdShare));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].size, 12);
  const std::vector<double> odd = {NAN, 3, NAN, 3, NAN, 3, kInf, -kInf, 0, -3, NAN, 1};
  expect_clusters(mask, std::vector<double>(12, -3.5), -1, 3.0, 26);
  int64_t voxels = 0;
  for (const Cluster& cluster : clusters.run(odd.data(), 1, 2)) voxels += cluster.size;
  EXPECT_EQ(voxels, 4);
}

TEST(Clusters, OneVoxelAndNoVoxel) {
  expect_clusters(full_mask({1, 1, 1}), {4}, 1, 3, 26);
  expect_clusters(full_mask({1, 1, 1}), {-4}, 1, 3, 26);
  expect_clusters({{2, 2, 2}, {}}, {}, 1, 3, 26);
  // two corners of a cube touch with 26 neighbours only
  expect_clusters({{2, 2, 2}, {0, 7}}, {4, 4}, 1, 3, 26);
  expect_clusters({{2, 2, 2}, {0, 7}}, {4, 4}, 1, 3, 18);
}

}  // namespace voxridge_test
