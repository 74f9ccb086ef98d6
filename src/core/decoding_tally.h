// From scores under permutations to what is reported of them: counts per location, and the largest over locations.
#pragma once

#include "decoding_permutations.h"

namespace voxridge {

class PermutationTally {
 public:
  PermutationTally(const LabelPermutations& permutations, const DecodingOptions& options, int64_t n_locations,
                   DecodingOutputs& out);

  // The largest scores of no location: permutations x metrics. Every thread has its own.
  std::vector<double> none() const;

  // The scores of a location (LabelPermutations::score), nullptr where it has none. Different locations may be added by
  // different threads.
  void add(int64_t location, const double* scores, double* largest);

  // After all locations: the largest of all threads (spent).
  void finish(std::vector<double>& largest);

 private:
  const LabelPermutations& permutations_;
  const std::vector<DecodingMetric>& metrics_;
  const int64_t n_permutations_, n_locations_;
  DecodingOutputs& out_;
  std::vector<double> observed_;  // locations x metrics
};

}  // namespace voxridge
