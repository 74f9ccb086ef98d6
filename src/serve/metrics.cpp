#include "metrics.h"

#include <algorithm>
#include <cmath>

namespace voxridge {

int status_index(int status) {
  const auto at = std::find(kStatuses.begin(), kStatuses.end(), status);
  return static_cast<int>(at == kStatuses.end() ? kStatuses.size() - 3 : at - kStatuses.begin());  // 500 for others
}

void Metrics::count_latency(Endpoint endpoint, int64_t nanoseconds) {
  Histogram& histogram = latency[static_cast<int>(endpoint)];
  const double seconds = 1e-9 * static_cast<double>(nanoseconds);
  const auto bin = std::lower_bound(kLatencyBounds.begin(), kLatencyBounds.end(), seconds) - kLatencyBounds.begin();
  histogram.bins[static_cast<size_t>(bin)].add();
  histogram.nanoseconds.add(nanoseconds);
}

// Bins are closed above, as a bound `le` says: 0.05 counts in the first.
void Metrics::count_score(int64_t target, double probability) {
  const int bin = std::clamp(static_cast<int>(std::ceil(probability * kScoreBins)) - 1, 0, kScoreBins - 1);
  const size_t at = static_cast<size_t>(target);
  scores[at][static_cast<size_t>(bin)].add();
  score_millionths[at].add(static_cast<int64_t>(1e6 * probability + 0.5));
}

int64_t Totals::requests(Endpoint endpoint, int status) const {
  const size_t place = static_cast<size_t>(endpoint), code = static_cast<size_t>(status_index(status));
  return (*this)([&](const Metrics& slot) -> const Counter& { return slot.requests[place][code]; });
}

std::vector<std::pair<std::string, int64_t>> Totals::rejects() const {
  std::vector<std::pair<std::string, int64_t>> found;
  const auto add = [&](const char* word, int64_t count) {
    if (count > 0) found.emplace_back(word, count);
  };
  for (int i = 1; i < kRefusals; ++i) {
    const size_t at = static_cast<size_t>(i);
    add(text_of(static_cast<Refusal>(i)).word,
        (*this)([&](const Metrics& slot) -> const Counter& { return slot.refusals[at]; }));
  }
  for (int i = 1; i < kBodyFaults; ++i) {
    const size_t at = static_cast<size_t>(i);
    add(fault_word(static_cast<BodyFaultCode>(i)),
        (*this)([&](const Metrics& slot) -> const Counter& { return slot.faults[at]; }));
  }
  return found;
}

}  // namespace voxridge
