// Clusters of neighbouring voxels beyond a threshold.
#pragma once

#include <cstdint>
#include <vector>

#include "neighbours.h"

namespace voxridge {

struct Cluster {
  int64_t size = 0;
  double mass = 0;  // sum of what lies beyond the threshold
};

// Statistics come from rounded data: up to this share beyond the threshold they count as equal to it, and so are not
// beyond it.
constexpr double kThresholdShare = 1e-6;

class Clusters {
 public:
  explicit Clusters(const Neighbours& neighbours) : neighbours_(neighbours), seen_(neighbours.size(), 0) {}

  // Of the voxels where sign * t > threshold (>= 0), in the order of their first voxels. `label`, where given, gets
  // base + 1, base + 2, ... in the voxels of each.
  const std::vector<Cluster>& run(const double* t, double sign, double threshold, int* label = nullptr, int base = 0);

 private:
  const Neighbours& neighbours_;
  std::vector<char> seen_;
  std::vector<int> found_, open_;
  std::vector<Cluster> clusters_;
};

}  // namespace voxridge
