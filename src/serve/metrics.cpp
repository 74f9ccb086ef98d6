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
void Metrics::count_scores(const double* probabilities, int64_t n, int64_t t) {
  for (int64_t j = 0; j < t; ++j) {
    std::array<int64_t, kScoreBins> counts{};
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double p = probabilities[i * t + j], place = p * kScoreBins;
      const int bin = static_cast<int>(place);
      sum += p;
      ++counts[static_cast<size_t>(bin > 0 && bin == place ? bin - 1 : bin)];
    }
    const size_t target = static_cast<size_t>(j);
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      if (counts[bin] > 0) scores[target][bin].add(counts[bin]);
    }
    score_millionths[target].add(std::llround(1e6 * sum));
  }
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
