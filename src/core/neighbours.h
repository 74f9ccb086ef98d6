// Which voxels of a mask touch: those that share a face (6), a face or an edge (18), or also a corner (26).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace voxridge {

struct Neighbours {
  std::vector<int64_t> start;  // neighbours of voxel j: place[start[j]] .. place[start[j + 1] - 1], increasing
  std::vector<int> place;
  int64_t size() const { return static_cast<int64_t>(start.size()) - 1; }
};

// `position`: places of the voxels in the array, from 0, increasing; the first axis runs fastest.
Neighbours neighbours_of(const std::array<int64_t, 3>& dim, const std::vector<int64_t>& position, int connectivity);

}  // namespace voxridge
