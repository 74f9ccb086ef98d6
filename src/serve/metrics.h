// What a server counts. Each thread writes its own slot and whoever asks adds them up, so that counting costs a plain
// addition.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/body_fault.h"
#include "endpoint.h"
#include "refusal.h"

namespace voxridge {

// Written by one thread, read by any.
class Counter {
 public:
  void add(int64_t n = 1) { count_.store(count_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  int64_t get() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_{0};
};

constexpr std::array<int, 17> kStatuses = {200, 400, 401, 404, 405, 408, 411, 413, 414,
                                           415, 417, 421, 422, 431, 500, 501, 503};
int status_index(int status);

// Upper bounds in seconds; above the last there is one more bin.
constexpr std::array<double, 13> kLatencyBounds = {50e-6, 100e-6, 250e-6, 500e-6, 1e-3,   2.5e-3, 5e-3,
                                                   10e-3, 25e-3,  50e-3,  100e-3, 250e-3, 1};
constexpr int kLatencyBins = static_cast<int>(kLatencyBounds.size()) + 1;
constexpr int kScoreBins = 20;     // of probabilities, equally wide
constexpr int kScoreTargets = 16;  // with more, forecasts are not counted
constexpr int kBodyFaults = static_cast<int>(BodyFaultCode::non_finite_value) + 1;

struct Histogram {
  std::array<Counter, kLatencyBins> bins;
  Counter nanoseconds;  // in all
};

struct Metrics {
  std::array<std::array<Counter, kStatuses.size()>, kEndpoints> requests;
  std::array<Counter, kRefusals> refusals;
  std::array<Counter, kBodyFaults> faults;
  std::array<Histogram, kEndpoints> latency;
  std::array<std::array<Counter, kScoreBins>, kScoreTargets> scores;
  std::array<Counter, kScoreTargets> score_millionths;  // the sum
  Counter rows, received_bytes, sent_bytes, connections, begun, ended, aborted;

  void count_latency(Endpoint endpoint, int64_t nanoseconds);
  void count_scores(const double* probabilities, int64_t n,
                    int64_t t);  // n x t, one row after another; t <= kScoreTargets
};

// The sum of all slots.
class Totals {
 public:
  explicit Totals(const std::vector<const Metrics*>& slots) : slots_(slots) {}

  // `which` picks a counter of a slot.
  template <class Which>
  int64_t operator()(Which which) const {
    int64_t sum = 0;
    for (const Metrics* slot : slots_) sum += which(*slot).get();
    return sum;
  }

  int64_t requests(Endpoint endpoint, int status) const;
  std::vector<std::pair<std::string, int64_t>> rejects() const;  // those that have come

 private:
  const std::vector<const Metrics*>& slots_;
};

// What is not counted but looked up.
struct Gauges {
  std::string name, version, sha256;
  int64_t n_targets = 1;
  bool logistic = true, ready = false;
  int64_t connections = 0, inflight_bytes = 0, model_swaps = 0;
  double uptime_s = 0, cpu_seconds = 0, resident_bytes = 0;
};

// Text format 0.0.4 of Prometheus.
std::string metrics_text(const Totals& totals, const Gauges& gauges);

}  // namespace voxridge
