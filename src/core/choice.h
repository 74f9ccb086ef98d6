// Choosing a penalty from scores.
#pragma once

#include <cstdint>
#include <vector>

#include "arma.h"

namespace voxridge {

// Running mean over folds and, where asked for, the sum of squared deviations (Welford 1962, doi:10.2307/1266577).
class FoldMeans {
 public:
  explicit FoldMeans(bool with_spread = false) : with_spread_(with_spread) {}
  void add(const arma::mat& scores);
  const arma::mat& mean() const { return mean_; }
  // Population standard deviation over folds; 0 where it was not asked for.
  double spread(int64_t alpha, int64_t target) const;

 private:
  bool with_spread_;
  double count_ = 0;
  arma::mat mean_, squares_;
};

// Place of the largest score; among equals the largest alpha. -1 if every score is NaN.
int64_t best_alpha(const double* scores, const std::vector<double>& alphas);

// The largest alpha whose mean score exceeds the best mean minus the spread over folds at the best alpha.
int64_t conservative_alpha(const FoldMeans& means, int64_t target, const std::vector<double>& alphas);

}  // namespace voxridge
