// What the threads of a server share, and what each has for itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "metrics.h"
#include "scorer.h"
#include "server.h"

namespace voxridge {

// Nanoseconds of a clock that only goes forward.
int64_t now_ns();
// Three years are as good as for ever, and can be added.
inline int64_t to_ns(double seconds) {
  return static_cast<int64_t>(1e9 * std::min(seconds, 1e8));
}

enum class Phase { serving, draining, closing };  // draining: as serving, but not ready

class Service {
 public:
  Service(const ServerOptions& options, std::shared_ptr<const ServedModel> model);

  const ServerOptions options;
  const bool on_loopback;  // an address that only this machine reaches
  const int64_t started_ns;
  std::atomic<Phase> phase{Phase::serving};
  std::atomic<int64_t> closing_at_ns, abort_at_ns;  // when the next phases begin
  std::atomic<int64_t> connections{0};
  std::atomic<int64_t> inflight_bytes{0};
  std::atomic<int64_t> max_connections;

  bool ready() const { return phase.load() == Phase::serving; }
  bool closing() const { return phase.load() == Phase::closing; }
  bool allows_host(std::string_view host) const;

  std::shared_ptr<const ServedModel> model() const;
  void set_model(std::shared_ptr<const ServedModel> model);
  // Changes with the model.
  int64_t model_number() const { return model_number_.load(std::memory_order_acquire); }

  // The slots of all threads; set before the first one starts.
  std::vector<const Metrics*> slots;
  std::function<double()> cpu_seconds;  // of the threads; set with them
  Gauges gauges() const;
  std::string metrics() const { return metrics_text(Totals(slots), gauges()); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ServedModel> model_;
  std::atomic<int64_t> model_number_{0};
};

// Of one thread.
class ThreadState {
 public:
  explicit ThreadState(Service& service);

  Service& service;
  Metrics metrics;
  Scorer scorer;
  std::string out;   // replies that wait to be sent
  std::string body;  // of the reply that is being made
  std::string date;

  // The model that requests see from now on.
  const ServedModel& model() {
    if (number_ != service.model_number()) refresh();
    return *model_;
  }
  void tell_time();  // sets the date

 private:
  void refresh();

  std::shared_ptr<const ServedModel> model_;
  int64_t number_;
};

}  // namespace voxridge
