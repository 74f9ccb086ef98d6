// Spheres against distances of all pairs of voxels, on grids of any shape.
#include <cmath>
#include <set>

#include "common.h"
#include "core/neighbourhoods.h"

namespace voxridge_test {

namespace {

struct Grid {
  std::array<int64_t, 3> dim;
  Affine3 affine;
  std::vector<int64_t> place;
};

// Two thirds of the places of an array.
Grid make_grid(std::array<int64_t, 3> dim, const Affine3& affine, uint64_t seed) {
  Grid out{dim, affine, {}};
  const Philox random(seed, 0);
  for (int64_t i = 0; i < dim[0] * dim[1] * dim[2]; ++i) {
    if (random.uniform_pair(i)[0] < 0.67) out.place.push_back(i);
  }
  return out;
}

std::vector<int> brute_force(const Grid& grid, int center, double radius) {
  const auto at = [&](int64_t place) {
    const double index[3] = {static_cast<double>(place % grid.dim[0]),
                             static_cast<double>(place / grid.dim[0] % grid.dim[1]),
                             static_cast<double>(place / (grid.dim[0] * grid.dim[1]))};
    std::array<double, 3> mm = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) mm[i] += grid.affine[i][j] * index[j];
    }
    return mm;
  };
  const std::array<double, 3> middle = at(grid.place[center]);
  std::vector<int> out;
  for (size_t j = 0; j < grid.place.size(); ++j) {
    const std::array<double, 3> here = at(grid.place[j]);
    const double distance = std::hypot(here[0] - middle[0], here[1] - middle[1], here[2] - middle[2]);
    if (distance <= radius * (1 + 4e-7)) out.push_back(static_cast<int>(j));
  }
  return out;
}

}  // namespace

TEST(Neighbourhoods, SpheresAreTheVoxelsWithinTheRadius) {
  const Affine3 isotropic = {{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}};
  const Affine3 anisotropic = {{{-3.1, 0, 0}, {0, 3.75, 0}, {0, 0, 7.5}}};
  const Affine3 oblique = {{{2.1, 0.9, -0.4}, {-0.8, 2.6, 0.7}, {0.5, -0.6, 3.3}}};
  const Affine3 sheared = {{{2, 1.9, 0}, {0, 1, 0}, {0.3, 0, 2}}};
  uint64_t seed = 0;
  for (const Affine3& affine : {isotropic, anisotropic, oblique, sheared}) {
    for (const std::array<int64_t, 3> dim : {std::array<int64_t, 3>{7, 6, 5}, {9, 8, 1}, {1, 1, 12}}) {
      const Grid grid = make_grid(dim, affine, ++seed);
      std::vector<int> centers;
      for (size_t j = 0; j < grid.place.size(); ++j) centers.push_back(static_cast<int>(j));
      for (const double radius : {0.1, 2.0, 4.0, 6.3, 10.0, 500.0}) {
        const Spheres spheres(dim, grid.place, affine, radius, centers);
        ASSERT_EQ(spheres.count(), static_cast<int64_t>(grid.place.size()));
        std::vector<int> got;
        for (const int center : centers) {
          spheres.members(center, got);
          ASSERT_EQ(got, brute_force(grid, center, radius)) << "radius " << radius << ", centre " << center;
        }
      }
    }
  }
}

TEST(Neighbourhoods, TheBorderBelongsToTheSphere) {
  const Affine3 affine = {{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}};
  const std::array<int64_t, 3> dim = {40, 40, 40};
  EXPECT_EQ(sphere_offsets(affine, 10, dim).size(), 515u);    // lattice points within distance 5
  EXPECT_EQ(sphere_offsets(affine, 9.99, dim).size(), 485u);  // without the 30 at 5 exactly
  EXPECT_EQ(sphere_offsets(affine, 1.9, dim).size(), 1u);
  EXPECT_EQ(sphere_offsets(affine, 1e9, {2, 3, 1}).size(), 15u);  // as far as the array reaches
}

TEST(Neighbourhoods, CentersMayBeAnySubsetInAnyOrder) {
  const Affine3 affine = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const std::vector<int64_t> place = {0, 1, 2, 4, 5, 8};
  const Spheres spheres({3, 3, 1}, place, affine, 1, {5, 0, 4});
  std::vector<int> got;
  spheres.members(0, got);
  EXPECT_EQ(got, (std::vector<int>{4, 5}));
  spheres.members(1, got);
  EXPECT_EQ(got, (std::vector<int>{0, 1}));
  spheres.members(2, got);
  EXPECT_EQ(got, (std::vector<int>{2, 3, 4, 5}));
}

TEST(Neighbourhoods, AListKeepsItsOrder) {
  const std::vector<int> voxel = {3, 1, 2, 2};
  const ListedNeighbourhoods lists({0, 2, 2, 4}, voxel.data());
  std::vector<int> got;
  EXPECT_EQ(lists.count(), 3);
  lists.members(0, got);
  EXPECT_EQ(got, (std::vector<int>{2, 0}));
  lists.members(1, got);
  EXPECT_TRUE(got.empty());
  lists.members(2, got);
  EXPECT_EQ(got, (std::vector<int>{1, 1}));
}

TEST(Neighbourhoods, AnImpossibleSphereIsRefused) {
  EXPECT_THROW(sphere_offsets({{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}}, 3, {4, 4, 4}), Error);
}

}  // namespace voxridge_test
