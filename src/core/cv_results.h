// What cross-validation gives back, written tile by tile into the caller's memory.
#pragma once

#include <vector>

#include "choice.h"
#include "ridge.h"

namespace voxridge {

// Columns first .. first + cols - 1 of the targets.
struct TileRange {
  int64_t first, cols;
};

class CvResults {
 public:
  CvResults(const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out);

  // Scores of one fold, alphas x columns. `constant`: per column.
  void add_fold(TileRange tile, int64_t fold, int64_t n_folds, const arma::mat& scores,
                const std::vector<char>& constant);

  // Mean scores, and each target's own choice.
  void choose(TileRange tile, const FoldMeans& means);

  // One alpha for all targets that are not skipped, from the sum of their mean scores.
  void choose_shared();

  std::vector<double> chosen_alphas(TileRange tile) const;

 private:
  int64_t n_alphas() const { return static_cast<int64_t>(options_.alphas.size()); }

  const Targets& targets_;
  const RidgeCvOptions& options_;
  RidgeCvOutputs& out_;
};

}  // namespace voxridge
