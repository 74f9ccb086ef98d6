#include "clusters.h"

namespace voxridge {

const std::vector<Cluster>& Clusters::run(const double* t, double sign, double threshold, int* label, int base) {
  clusters_.clear();
  found_.clear();
  const int v = static_cast<int>(neighbours_.size());
  const double above = threshold * (1 + kThresholdShare);
  const auto take = [&](int j) {
    if (seen_[j] || !(sign * t[j] > above)) return;
    seen_[j] = 1;
    found_.push_back(j);
    open_.push_back(j);
  };
  for (int first = 0; first < v; ++first) {
    take(first);
    if (open_.empty()) continue;
    Cluster cluster;
    while (!open_.empty()) {
      const int j = open_.back();
      open_.pop_back();
      ++cluster.size;
      cluster.mass += sign * t[j] - threshold;
      if (label != nullptr) label[j] = base + static_cast<int>(clusters_.size()) + 1;
      for (int64_t k = neighbours_.start[j]; k < neighbours_.start[j + 1]; ++k) take(neighbours_.place[k]);
    }
    clusters_.push_back(cluster);
  }
  for (const int j : found_) seen_[j] = 0;
  return clusters_;
}

}  // namespace voxridge
