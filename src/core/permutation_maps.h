// Permutation tests of what maps show as a whole: the size or mass of clusters, or threshold-free cluster enhancement.
//
// A batch of permutations gives as many maps, which threads then take one by one; each map is worked on in one order,
// so that results do not depend on threads or batches. Memory: the maps of a batch, and a few numbers per voxel and
// thread.
#pragma once

#include "neighbours.h"
#include "permutation.h"

namespace voxridge {

enum class MapStatistic { extent, mass, tfce };

struct MapRule {
  MapStatistic statistic = MapStatistic::tfce;
  double E = 0.5, H = 2;
  double threshold = 0;       // of clusters
  bool upper = true;          // are positive values looked at?
  bool lower = true;          // negative ones?
  double correlation_df = 0;  // above 0: the statistic is a correlation, and maps are of its t
};

// Memory of the caller.
struct MapOutputs {
  double* map = nullptr;       // per voxel: the observed statistic, 0 where a column is not used
  int* label = nullptr;        // extent, mass: the cluster of each voxel, from 1, or 0
  double* enhanced = nullptr;  // tfce: of both signs
  int* counts = nullptr;       // tfce: permutations at least as extreme, by voxel
  double* maximum = nullptr;   // per permutation; 0 where there is no cluster
};

// Statistics are cut here: a t of infinity would swallow all else.
constexpr double kLargestHeight = 1e6;

// A permuted value of at least this share of the observed one counts as equal to it.
constexpr double kEqualShare = 1 - 1e-6;

void run_map_test(const PermutationTest& test, const MapRule& rule, const Neighbours& neighbours,
                  PermutationOutputs& out, MapOutputs& to, const Control& control);

}  // namespace voxridge
