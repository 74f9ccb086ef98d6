// Threshold-free cluster enhancement as an exact integral: a voxel of height t gets the integral over h from 0 to t of
// e(h)^E h^H, where e(h) is the number of voxels of its cluster at threshold h.
//
// Clusters change at heights of voxels only, so the integral is a sum over these. Voxels enter from the highest down,
// in a forest of clusters (union by size). What a cluster has gathered is kept at its root; where a smaller one is hung
// under a larger one, what the larger had gathered before is taken off, so that a voxel's value is the sum along its
// way to the root.
// Source: Smith and Nichols 2009, doi:10.1016/j.neuroimage.2008.03.061.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "neighbours.h"

namespace voxridge {

class Tfce {
 public:
  Tfce(const Neighbours& neighbours, double E, double H);

  // Of the voxels where sign * t > 0: to[j] = sign * value, and the largest value is returned. Others are left alone.
  double run(const double* t, double sign, double* to);

 private:
  int root_of(int j);
  void bring(int root, double power);

  const Neighbours& neighbours_;
  double H_;
  std::vector<double> size_power_;  // size^E
  std::vector<std::pair<double, int>> order_;
  std::vector<int> parent_, tree_, size_, hung_;  // parent_: -1 outside, itself at a root; tree_: as hung
  std::vector<double> last_, gathered_;           // of roots: h^(H + 1) where it stands
};

}  // namespace voxridge
