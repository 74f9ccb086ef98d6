// How work on moments is cut so that it fits its memory. No cut changes a bit.
#pragma once

#include "moments.h"
#include "ridge.h"

namespace voxridge {

struct MomentPlan {
  int n_threads;           // fewer than there are where each needs too much
  int64_t rows_at_a_time;  // that are read
  int64_t group;           // targets, whole tiles, of one pass over the rows
};

// Throws (ErrorCode::memory) where not even one tile on one thread fits.
MomentPlan plan_moments(const MomentInput& input, const RidgeCvOptions& options, const Control& control);

}  // namespace voxridge
