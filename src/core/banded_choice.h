// The best candidate of each target, or of all, as a search goes through the candidates in their order.
#pragma once

#include <vector>

#include "banded_cv.h"
#include "choice.h"

namespace voxridge {

class BandedChoice {
 public:
  // `epsilon`: by how much a later candidate must be better, as a share of 1 for r2 and correlation and of the best
  // score so far for the others, which have units.
  BandedChoice(const Targets& targets, const BandedCvOptions& options, double epsilon, BandedCvOutputs& out);

  // Candidates first .. last - 1 are about to be scored.
  void begin(int64_t first, int64_t last);

  // Mean scores of a tile under a candidate. Tiles may come from several threads; the candidates of a tile must come in
  // their order.
  void add(int64_t candidate, int64_t first_target, const FoldMeans& means);
  void add_constant(int64_t first_target, const std::vector<char>& constant);

  // All tiles have been scored under them.
  void end();

  // After the last candidate.
  void finish();

 private:
  int64_t n_targets() const { return targets_.y.cols; }
  void take(int64_t candidate, int64_t target, int64_t alpha, double score);
  bool beats(double score, double best) const;
  void write(int64_t candidate, int64_t target, int64_t alpha, double score);
  void share(int64_t candidate, const arma::mat& scores);

  const Targets& targets_;
  const BandedCvOptions& options_;
  const double epsilon_;
  BandedCvOutputs& out_;
  std::vector<double> best_;  // per target
  int64_t first_ = 0;
  std::vector<arma::mat> shared_scores_;  // alphas x t, of the candidates being scored
  double best_mean_ = 0;                  // over targets
  int64_t best_candidate_ = -1, best_alpha_ = -1;
};

}  // namespace voxridge
