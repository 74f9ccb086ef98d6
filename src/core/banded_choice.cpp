#include "banded_choice.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace voxridge {

BandedChoice::BandedChoice(const Targets& targets, const BandedCvOptions& options, double epsilon, BandedCvOutputs& out)
    : targets_(targets), options_(options), epsilon_(epsilon), out_(out), best_(targets.y.cols, 0.0) {
  out_.constant.assign(n_targets(), 0);
  std::fill_n(out_.alpha_index, n_targets(), -1);
  std::fill_n(out_.gamma_index, n_targets(), -1);
  if (!options.local_alpha) out_.shared_means.assign(options.gammas.size(), targets.missing);
}

void BandedChoice::begin(int64_t first, int64_t last) {
  first_ = first;
  if (!options_.local_alpha) shared_scores_.assign(last - first, arma::mat(options_.alphas.size(), n_targets()));
}

void BandedChoice::write(int64_t candidate, int64_t target, int64_t alpha, double score) {
  const int64_t place = candidate + target * static_cast<int64_t>(options_.gammas.size());
  if (out_.scores != nullptr) out_.scores[place] = score;
  if (out_.candidate_alphas != nullptr) out_.candidate_alphas[place] = static_cast<int>(alpha);
}

bool BandedChoice::beats(double score, double best) const {
  const bool unitless = options_.score == Score::r2 || options_.score == Score::correlation;
  return score > best && (std::isinf(best) || score > best + epsilon_ * (unitless ? 1 : std::abs(best)));
}

void BandedChoice::take(int64_t candidate, int64_t target, int64_t alpha, double score) {
  if (out_.gamma_index[target] >= 0 && !beats(score, best_[target])) return;
  best_[target] = score;
  out_.gamma_index[target] = static_cast<int>(candidate);
  out_.alpha_index[target] = static_cast<int>(alpha);
}

void BandedChoice::add(int64_t candidate, int64_t first_target, const FoldMeans& means) {
  const arma::mat& scores = means.mean();
  if (!options_.local_alpha) {
    shared_scores_[candidate - first_].cols(first_target, first_target + scores.n_cols - 1) = scores;
    return;
  }
  const std::vector<double> alphas = options_.candidate_alphas(candidate);
  for (int64_t j = 0; j < static_cast<int64_t>(scores.n_cols); ++j) {
    const int64_t target = first_target + j;
    const bool skip = skipped(targets_, target);
    const int64_t alpha =
        options_.conservative ? conservative_alpha(means, j, alphas) : best_alpha(scores.colptr(j), alphas);
    if (skip || alpha < 0) {
      write(candidate, target, -1, targets_.missing);
      continue;
    }
    write(candidate, target, alpha, scores(alpha, j));
    take(candidate, target, alpha, scores(alpha, j));
  }
}

void BandedChoice::add_constant(int64_t first_target, const std::vector<char>& constant) {
  for (size_t j = 0; j < constant.size(); ++j) {
    if (constant[j] && !skipped(targets_, first_target + j)) out_.constant[first_target + j] = 1;
  }
}

void BandedChoice::end() {
  for (size_t k = 0; k < shared_scores_.size(); ++k) share(first_ + static_cast<int64_t>(k), shared_scores_[k]);
  shared_scores_.clear();
}

// One alpha of a candidate for all targets.
void BandedChoice::share(int64_t candidate, const arma::mat& scores) {
  arma::vec total(options_.alphas.size(), arma::fill::zeros);
  int64_t count = 0;
  for (int64_t target = 0; target < n_targets(); ++target) {
    if (skipped(targets_, target)) continue;
    total += scores.col(target);
    ++count;
  }
  const int64_t alpha = best_alpha(total.memptr(), options_.candidate_alphas(candidate));
  for (int64_t target = 0; target < n_targets(); ++target) {
    const bool none = skipped(targets_, target) || alpha < 0;
    write(candidate, target, none ? -1 : alpha, none ? targets_.missing : scores(alpha, target));
  }
  if (alpha < 0 || count == 0) return;
  const double mean = total[alpha] / static_cast<double>(count);
  out_.shared_means[candidate] = mean;
  if (best_candidate_ >= 0 && !beats(mean, best_mean_)) return;
  best_mean_ = mean;
  best_candidate_ = candidate;
  best_alpha_ = alpha;
}

void BandedChoice::finish() {
  if (out_.candidate_alphas != nullptr) return;  // others choose, from these and more candidates
  for (int64_t target = 0; target < n_targets(); ++target) {
    if (skipped(targets_, target)) continue;
    if (!options_.local_alpha) {
      out_.gamma_index[target] = static_cast<int>(best_candidate_);
      out_.alpha_index[target] = static_cast<int>(best_alpha_);
    }
    if (out_.gamma_index[target] >= 0) continue;
    throw Error(ErrorCode::invalid_argument, "Target " + std::to_string(target + 1) +
                                                 " has no score that is a number. Rescale `Y` if its squares "
                                                 "overflow.");
  }
}

}  // namespace voxridge
