#include "moment_plan.h"

#include <algorithm>
#include <sstream>

#include "factor.h"
#include "moment_factors.h"

namespace voxridge {

namespace {

constexpr int64_t kMostBlocks = 8;    // that are read at a time
constexpr double kReadShare = 0.125;  // of the memory budget, for what is read

}  // namespace

MomentPlan plan_moments(const MomentInput& input, const RidgeCvOptions& options, const Control& control) {
  const int64_t p = input.features(), t = input.targets.y.cols;
  if (p > kLargestGram) {
    throw Error(ErrorCode::too_large, "there are " + std::to_string(p) + " features; at most " +
                                          std::to_string(kLargestGram) + " can be factored");
  }
  const RowCells& cells = input.cells;
  const double budget = control.memory_bytes, width = static_cast<double>(kTileCols);
  const double per_target = 8 * static_cast<double>(cells.count() * (p + 2));
  // copies of p x tile and of alphas x tile
  const double scores = 8 * 6 * width * static_cast<double>(p + static_cast<int64_t>(options.alphas.size()));
  const int64_t tiles = (t + kTileCols - 1) / kTileCols;
  const int64_t wanted = options.targets_batch > 0 ? (options.targets_batch + kTileCols - 1) / kTileCols : tiles;
  double needed = 0;
  for (int n_threads = control.n_threads; n_threads > 0; --n_threads) {
    int64_t blocks = kMostBlocks;
    while (blocks > 1 && moment_bytes(input, blocks * kBlockRows, n_threads) > kReadShare * budget) --blocks;
    const double scratch = std::max(moment_bytes(input, blocks * kBlockRows, n_threads),
                                    n_threads * std::max(moment_factor_scratch(p), scores));
    const double room = budget - moment_factor_bytes(cells, p) - scratch, tile = per_target * width;
    needed = budget - room + std::min(tile, per_target * static_cast<double>(t));
    if (needed > budget) continue;
    const int64_t group = std::min(fitting(room, tile, 1, tiles), wanted);
    return {n_threads, blocks * kBlockRows, group * kTileCols};
  }
  std::ostringstream text;
  text.precision(3);
  text << "`X` must have moments (" << cells.count() << " Gram matrices of " << p << " features, and their factors) "
       << "within the memory budget of " << budget / 1e9 << " GB, not of " << needed / 1e9
       << " GB. Raise options(voxridge.memory_gb = ), or use fewer folds.";
  throw Error(ErrorCode::memory, text.str());
}

}  // namespace voxridge
