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
  // `to` may be t.
  double run(const double* t, double sign, double* to);

 private:
  // A voxel of the map at work. Voxels are numbered by their rank, the highest is 0.
  struct Voxel {
    uint64_t height;  // the bits of a positive number: they are in the order of the numbers
    int place;
  };
  // What a root knows of its cluster, and what is left of it where it was hung under another.
  struct Cluster {
    double last, gathered;  // h^(H + 1) where it stands
    int size, under;
  };

  void sort();
  int root_of(int rank);
  void bring(Cluster& root, double power) const;
  void fetch(int rank) const;
  void enter(int rank, double power);

  const Neighbours& neighbours_;
  double H_;
  std::vector<double> size_power_;  // size^E
  std::vector<Voxel> order_, other_;
  std::vector<int> rank_;  // of each voxel of the mask; beyond all ranks where it takes no part
  std::vector<int> parent_, hung_;
  std::vector<Cluster> cluster_;
};

}  // namespace voxridge
