#include "decoding_tally.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxridge {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kNone = -std::numeric_limits<double>::infinity();

bool falls_short(double score, double observed) {
  return score < observed - kScoreTie;
}

}  // namespace

PermutationTally::PermutationTally(const LabelPermutations& permutations, const DecodingOptions& options,
                                   int64_t n_locations, DecodingOutputs& out)
    : permutations_(permutations),
      metrics_(options.metrics),
      n_permutations_(options.n_permutations),
      n_locations_(n_locations),
      out_(out),
      observed_(n_locations * options.metrics.size(), kMissing) {}

std::vector<double> PermutationTally::none() const {
  return std::vector<double>(n_permutations_ * metrics_.size(), kNone);
}

void PermutationTally::add(int64_t location, const double* scores, double* largest) {
  for (size_t k = 0; k < metrics_.size(); ++k, largest += n_permutations_) {
    const int64_t at = location + n_locations_ * static_cast<int64_t>(k);
    out_.counts[at] = -1;
    out_.null_mean[at] = kMissing;
    if (scores == nullptr) continue;
    const double* null = scores + k * (n_permutations_ + 1);
    const double observed = *null++;
    if (std::isnan(observed)) continue;
    observed_[at] = observed;
    double sum = 0, defined = 0;
    int count = 0;
    for (int64_t r = 0; r < n_permutations_; ++r) {
      count += !falls_short(null[r], observed);  // an undefined score counts as extreme
      if (std::isnan(null[r])) continue;
      sum += null[r];
      ++defined;
      largest[r] = std::max(largest[r], null[r]);
    }
    out_.counts[at] = count;
    if (defined > 0) out_.null_mean[at] = permutations_.shown(metrics_[k], sum / defined);
  }
}

void PermutationTally::finish(std::vector<double>& largest) {
  for (size_t k = 0; k < metrics_.size(); ++k) {
    const auto first = largest.begin() + k * n_permutations_, last = first + n_permutations_;
    double* to = out_.max_null + k * n_permutations_;
    for (auto score = first; score != last; ++score) {
      *to++ = *score == kNone ? kMissing : permutations_.shown(metrics_[k], *score);
    }
    std::sort(first, last);
    for (int64_t l = 0; l < n_locations_; ++l) {
      const int64_t at = l + n_locations_ * static_cast<int64_t>(k);
      const auto from = std::lower_bound(first, last, observed_[at], falls_short);
      out_.max_counts[at] = std::isnan(observed_[at]) ? -1 : static_cast<int>(last - from);
    }
  }
}

}  // namespace voxridge
