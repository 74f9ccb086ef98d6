// Threshold-free cluster enhancement, against the integral level by level and in steps.
#include <cmath>
#include <limits>
#include <numeric>

#include "brain_cases.h"
#include "core/tfce.h"

namespace voxridge_test {

namespace {

// The integral between neighbouring heights, where clusters stay as they are.
std::vector<double> by_levels(const SmallMask& mask, const std::vector<double>& t, int connectivity, double E,
                              double H) {
  const int64_t v = mask.size();
  std::vector<double> heights = {0}, out(v, 0.0);
  for (const double x : t) {
    if (x > 0) heights.push_back(x);
  }
  std::sort(heights.begin(), heights.end());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  for (size_t k = 1; k < heights.size(); ++k) {
    std::vector<char> on(v);
    for (int64_t j = 0; j < v; ++j) on[j] = t[j] >= heights[k];
    const std::vector<int64_t> first = flood(mask, on, connectivity), size = sizes_of(first);
    const double gain = (std::pow(heights[k], H + 1) - std::pow(heights[k - 1], H + 1)) / (H + 1);
    for (int64_t j = 0; j < v; ++j) {
      if (on[j]) out[j] += std::pow(static_cast<double>(size[first[j]]), E) * gain;
    }
  }
  return out;
}

// Sums of e^E h^H dh at the middle of steps.
std::vector<double> by_steps(const SmallMask& mask, const std::vector<double>& t, int connectivity, int n_steps) {
  const int64_t v = mask.size();
  const double dh = *std::max_element(t.begin(), t.end()) / n_steps;
  std::vector<double> out(v, 0.0);
  for (int step = 0; step < n_steps; ++step) {
    const double h = (step + 0.5) * dh;
    std::vector<char> on(v);
    for (int64_t j = 0; j < v; ++j) on[j] = t[j] > h;
    const std::vector<int64_t> first = flood(mask, on, connectivity), size = sizes_of(first);
    for (int64_t j = 0; j < v; ++j) {
      if (on[j]) out[j] += std::sqrt(static_cast<double>(size[first[j]])) * h * h * dh;
    }
  }
  return out;
}

std::vector<double> enhance(const SmallMask& mask, const std::vector<double>& t, int connectivity, double E = 0.5,
                            double H = 2, double* largest = nullptr) {
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, connectivity);
  Tfce tfce(neighbours, E, H);
  std::vector<double> out(mask.size(), 0.0);
  double most = 0;
  for (const double sign : {1.0, -1.0}) most = std::max(most, tfce.run(t.data(), sign, out.data()));
  if (largest != nullptr) *largest = most;
  return out;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, size = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    most = std::max(most, std::fabs(a[j] - b[j]));
    size = std::max(size, std::fabs(b[j]));
  }
  return size > 0 ? most / size : most;
}

std::vector<double> normal_map(int64_t v, uint64_t seed) {
  const arma::mat z = normal_matrix(v, 1, seed);
  return {z.begin(), z.end()};
}

}  // namespace

TEST(Tfce, IsTheIntegralLevelByLevel) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const SmallMask mask = scattered_mask({6, 5, 4}, seed % 2 ? 0.55 : 1.0, seed);
    std::vector<double> t = normal_map(mask.size(), seed + 50);
    // whole numbers: many voxels of one height, and 0
    if (seed > 2) std::for_each(t.begin(), t.end(), [](double& x) { x = std::round(2 * x); });
    std::vector<double> minus = t;
    for (double& x : minus) x = -x;
    for (const int connectivity : {6, 18, 26}) {
      for (const std::array<double, 2>& power : {std::array<double, 2>{0.5, 2}, {1, 1}, {0.7, 2.5}}) {
        double largest = 0;
        const std::vector<double> got = enhance(mask, t, connectivity, power[0], power[1], &largest);
        const std::vector<double> up = by_levels(mask, t, connectivity, power[0], power[1]);
        const std::vector<double> down = by_levels(mask, minus, connectivity, power[0], power[1]);
        double most = 0;
        for (int64_t j = 0; j < mask.size(); ++j) {
          EXPECT_NEAR(got[j], up[j] - down[j], 1e-11 * (1 + std::fabs(got[j])));
          most = std::max(most, std::fabs(got[j]));
        }
        EXPECT_EQ(largest, most);
        // the other sign
        const std::vector<double> turned = enhance(mask, minus, connectivity, power[0], power[1]);
        for (int64_t j = 0; j < mask.size(); ++j) EXPECT_EQ(turned[j], -got[j]);
      }
    }
  }
}

TEST(Tfce, IsTheLimitOfSteps) {
  const SmallMask mask = scattered_mask({6, 6, 4}, 0.8, 3);
  std::vector<double> t = normal_map(mask.size(), 9);
  for (double& x : t) x = std::fabs(x);
  const std::vector<double> exact = enhance(mask, t, 26);
  double before = std::numeric_limits<double>::infinity();
  for (const int n_steps : {10, 40, 160}) {
    const double now = distance(by_steps(mask, t, 26, n_steps), exact);
    EXPECT_LT(now, 0.6 * before);
    before = now;
  }
  EXPECT_LT(before, 0.01);
}

TEST(Tfce, OfAVoxelAloneAndOfOneHeightAreFormulas) {
  EXPECT_EQ(enhance(full_mask({1, 1, 1}), {3.0}, 26)[0], 9.0);
  EXPECT_EQ(enhance(full_mask({1, 1, 1}), {-3.0}, 26)[0], -9.0);
  EXPECT_EQ(enhance(full_mask({1, 1, 1}), {0.0}, 26)[0], 0.0);
  EXPECT_TRUE(enhance({{2, 2, 2}, {}}, {}, 26).empty());
  const SmallMask box = full_mask({4, 5, 5});
  for (const double x : enhance(box, std::vector<double>(100, 2.0), 6)) EXPECT_NEAR(x, 10 * 8.0 / 3, 1e-12);
  // two corners of a cube, apart or not
  const SmallMask corners = {{2, 2, 2}, {0, 7}};
  EXPECT_EQ(enhance(corners, {3, 3}, 18)[0], 9.0);
  EXPECT_NEAR(enhance(corners, {3, 3}, 26)[0], 9 * std::sqrt(2.0), 1e-12);
  // NaN takes no part
  const std::vector<double> odd = enhance(full_mask({3, 1, 1}), {3, NAN, -3}, 26);
  EXPECT_EQ(odd, (std::vector<double>{9, 0, -9}));
}

TEST(Tfce, HeightsFromTheSmallestToTheCapAreOneSort) {
  // heights that differ beyond the 22 leading bits of their fractions, equal ones, and 600 powers of ten
  const SmallMask mask = full_mask({6, 6, 5});
  std::vector<double> t = normal_map(mask.size(), 5);
  for (int64_t j = 0; j < mask.size(); ++j) {
    if (j % 4 == 0) t[j] = 3 + 1e-12 * static_cast<double>(j % 7);
    if (j % 4 == 1) t[j] = 3 + 1e-13 * static_cast<double>(j % 13);
    if (j % 4 == 2) t[j] = std::pow(10.0, static_cast<double>(j % 31) * 10 - 304);
  }
  t[17] = t[100] = 1e6;
  t[18] = 5e-324;
  for (double& x : t) x = std::min(x, 1e6);
  const std::vector<double> got = enhance(mask, t, 6);
  std::vector<double> want = by_levels(mask, t, 6, 0.5, 2), minus = t;
  for (double& x : minus) x = -x;
  const std::vector<double> down = by_levels(mask, minus, 6, 0.5, 2);
  for (int64_t j = 0; j < mask.size(); ++j) EXPECT_NEAR(got[j], want[j] - down[j], 1e-10 * std::fabs(got[j]) + 1e-12);
}

TEST(Tfce, NothingIsLeftOverAndTheOrderOfVoxelsDoesNotMatter) {
  const SmallMask mask = scattered_mask({7, 6, 5}, 0.7, 8);
  const Neighbours neighbours = neighbours_of(mask.dim, mask.position, 18);
  Tfce tfce(neighbours, 0.5, 2);
  const std::vector<double> t = normal_map(mask.size(), 1), other = normal_map(mask.size(), 2);
  std::vector<double> first(mask.size(), 0.0), second(mask.size(), 0.0), unused(mask.size());
  tfce.run(t.data(), 1, first.data());
  tfce.run(other.data(), -1, unused.data());
  tfce.run(t.data(), 1, second.data());
  EXPECT_EQ(first, second);
  // in place
  std::vector<double> place = t;
  for (const double sign : {1.0, -1.0}) tfce.run(place.data(), sign, place.data());
  EXPECT_EQ(place, enhance(mask, t, 18));
  // the mirror image has the voxels in the opposite order
  SmallMask mirror = mask;
  const int64_t box = mask.dim[0] * mask.dim[1] * mask.dim[2];
  for (int64_t j = 0; j < mask.size(); ++j) mirror.position[j] = box - 1 - mask.position[mask.size() - 1 - j];
  const std::vector<double> back = enhance(mirror, {t.rbegin(), t.rend()}, 18);
  EXPECT_LT(distance({back.rbegin(), back.rend()}, place), 1e-13);
}

}  // namespace voxridge_test
