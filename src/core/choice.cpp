#include "choice.h"

#include <algorithm>
#include <cmath>

namespace voxridge {

void FoldMeans::add(const arma::mat& scores) {
  count_ += 1;
  if (mean_.is_empty()) {
    mean_ = scores;
    if (with_spread_) squares_.zeros(scores.n_rows, scores.n_cols);
    return;
  }
  for (arma::uword i = 0; i < scores.n_elem; ++i) {
    if (std::isinf(mean_[i]) || std::isinf(scores[i])) {  // a score of minus infinity in any fold is one over all
      mean_[i] = std::min(mean_[i], scores[i]);
      continue;
    }
    const double step = scores[i] - mean_[i];
    mean_[i] += step / count_;
    if (with_spread_) squares_[i] += step * (scores[i] - mean_[i]);
  }
}

double FoldMeans::spread(int64_t alpha, int64_t target) const {
  return squares_.is_empty() ? 0 : std::sqrt(squares_(alpha, target) / count_);
}

int64_t best_alpha(const double* scores, const std::vector<double>& alphas) {
  int64_t best = -1;
  for (size_t a = 0; a < alphas.size(); ++a) {
    if (std::isnan(scores[a])) continue;
    const bool better = best < 0 || scores[a] > scores[best] || (scores[a] == scores[best] && alphas[a] > alphas[best]);
    if (better) best = static_cast<int64_t>(a);
  }
  return best;
}

int64_t conservative_alpha(const FoldMeans& means, int64_t target, const std::vector<double>& alphas) {
  const double* scores = means.mean().colptr(target);
  const int64_t best = best_alpha(scores, alphas);
  if (best < 0) return best;
  const double bound = scores[best] - means.spread(best, target);
  int64_t chosen = best;
  for (size_t a = 0; a < alphas.size(); ++a) {
    if (scores[a] > bound && alphas[a] > alphas[chosen]) chosen = static_cast<int64_t>(a);
  }
  return chosen;
}

}  // namespace voxridge
