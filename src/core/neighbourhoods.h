// Which voxels belong to each location of a decoding: all of them, lists, or spheres built from the affine on the fly.
//
// With A the 3 x 3 part of the affine, a voxel at the integer offset d from a centre lies in its sphere where
// |A d|^2 <= r^2 (1 + 1e-6), whatever the angles and sizes of the grid. Beyond the voxels themselves a sphere costs no
// memory: a volume holds the column at each place, or -1.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace voxridge {

class Neighbourhoods {
 public:
  virtual ~Neighbourhoods() = default;
  virtual int64_t count() const = 0;
  // The columns of a location, from 0, in the order in which it lists them.
  virtual void members(int64_t location, std::vector<int>& columns) const = 0;
};

class WholeNeighbourhood : public Neighbourhoods {
 public:
  explicit WholeNeighbourhood(int64_t n_columns) : n_(n_columns) {}
  int64_t count() const override { return 1; }
  void members(int64_t location, std::vector<int>& columns) const override;

 private:
  int64_t n_;
};

// Location l holds columns voxel[start[l]] .. voxel[start[l + 1] - 1]; the caller keeps `voxel`.
class ListedNeighbourhoods : public Neighbourhoods {
 public:
  ListedNeighbourhoods(std::vector<int64_t> start, const int* voxel_from_1)
      : start_(std::move(start)), voxel_(voxel_from_1) {}
  int64_t count() const override { return static_cast<int64_t>(start_.size()) - 1; }
  void members(int64_t location, std::vector<int>& columns) const override;
  const std::vector<int64_t>& start() const { return start_; }

 private:
  std::vector<int64_t> start_;
  const int* voxel_;
};

using Affine3 = std::array<std::array<double, 3>, 3>;  // rows of A

class Spheres : public Neighbourhoods {
 public:
  // `place`: of each column in the array, from 0, the first axis running fastest; `centers`: columns, from 0.
  Spheres(const std::array<int64_t, 3>& dim, const std::vector<int64_t>& place, const Affine3& affine, double radius_mm,
          std::vector<int> centers);
  int64_t count() const override { return static_cast<int64_t>(centers_.size()); }
  // In the order of places.
  void members(int64_t location, std::vector<int>& columns) const override;

 private:
  using Offset = std::array<int, 3>;
  std::array<int64_t, 3> dim_;
  std::vector<int64_t> place_;
  std::vector<int> centers_, column_at_;
  std::vector<Offset> offsets_;
};

// The offsets within the radius and within an array of this size, the last axis slowest.
std::vector<std::array<int, 3>> sphere_offsets(const Affine3& affine, double radius_mm,
                                               const std::array<int64_t, 3>& dim);

}  // namespace voxridge
