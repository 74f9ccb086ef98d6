// Which operators are in memory together.
#pragma once

#include <vector>

#include "search.h"

namespace voxridge {

// One pass over the tiles.
using OperatorPass = std::vector<OperatorPlan>;

// All nodes of all folds, in as few passes as `room` bytes allow and in operators of at most `alphas_batch` nodes (0:
// any), or of one product's.
std::vector<OperatorPass> plan_passes(const Factors& factors, const Folds& folds, Score score, int64_t n_nodes,
                                      int64_t alphas_batch, double room);

}  // namespace voxridge
