#include "server.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "../core/error.h"
#include "event_loop.h"

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace voxridge {

namespace {

int process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return static_cast<int>(getpid());
#endif
}

// What every request will do, once: a model that cannot score a row of zeros is not ready.
void check_scores(const ServedModel& model) {
  const std::vector<double> row(static_cast<size_t>(model.n_features()), 0.0);
  std::vector<double> out(static_cast<size_t>(model.n_targets()));
  if (!model.score(row.data(), out.data())) {
    throw Error(ErrorCode::invalid_argument, "The model gives a row of zeros no finite forecast.");
  }
}

void lower(std::atomic<int64_t>& value, int64_t to) {
  int64_t now = value;
  while (to < now && !value.compare_exchange_weak(now, to)) {
  }
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, const std::shared_ptr<const ServedModel>& model)
      : service(options, model), loops(service), port(loops.port()) {
    check_scores(*model);
    service.cpu_seconds = [this] { return loops.cpu_seconds(); };
    try {
      loops.start();
    } catch (...) {
      stop(0, 0);
      loops.join();
      throw Error(ErrorCode::network, "The system gives no thread for the server.");
    }
  }

  void stop(double delay_s, double timeout_s) {
    const int64_t closing_at = now_ns() + to_ns(std::max(delay_s, 0.0));
    lower(service.closing_at_ns, closing_at);
    lower(service.abort_at_ns, closing_at + to_ns(std::max(timeout_s, 0.0)));
    Phase serving = Phase::serving;
    service.phase.compare_exchange_strong(serving, Phase::draining);
    loops.look();
  }

  const int process = process_id();
  Service service;
  EventLoops loops;
  const int port;
};

Server::Server(const ServerOptions& options, std::shared_ptr<const ServedModel> model)
    : impl_(std::make_unique<Impl>(options, model)) {}

Server::~Server() {
  if (!is_of_this_process()) {
    impl_.release();  // its threads are not here, and neither may wait for them nor free what they use
    return;
  }
  begin_stop(0, 0);
  impl_->loops.join();
}

bool Server::is_of_this_process() const {
  return impl_->process == process_id();
}

int Server::port() const {
  return impl_->port;
}

int64_t Server::max_connections() const {
  return impl_->service.max_connections;
}

std::shared_ptr<const ServedModel> Server::model() const {
  return impl_->service.model();
}

void Server::set_model(std::shared_ptr<const ServedModel> model) {
  const std::string difference = impl_->service.model()->difference(*model);
  if (!difference.empty()) throw Error(ErrorCode::invalid_argument, "The model has other " + difference + ".");
  check_scores(*model);
  impl_->service.set_model(std::move(model));
}

void Server::begin_stop(double delay_s, double timeout_s) {
  impl_->stop(delay_s, timeout_s);
}

bool Server::wait(double seconds) {
  const int64_t until = now_ns() + to_ns(seconds);
  while (!impl_->loops.have_ended()) {
    const int64_t left = until - now_ns();
    if (left <= 0) return false;
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<int64_t>(left, 2000000)));
  }
  impl_->loops.join();
  return true;
}

ServerStatus Server::status() const {
  const Service& service = impl_->service;
  const Totals totals(service.slots);
  const Gauges gauges = service.gauges();
  const auto total = [&](Counter Metrics::*counter) {
    return totals([&](const Metrics& slot) -> const Counter& { return slot.*counter; });
  };
  ServerStatus status;
  status.running = !impl_->loops.have_ended();
  status.ready = gauges.ready;
  status.uptime_s = gauges.uptime_s;
  for (const int code : kStatuses) {
    int64_t count = 0;
    for (int i = 0; i < kEndpoints; ++i) count += totals.requests(static_cast<Endpoint>(i), code);
    if (count > 0) status.requests.emplace_back(code, count);
  }
  status.rejects = totals.rejects();
  status.rows = total(&Metrics::rows);
  status.connections = gauges.connections;
  status.connections_total = total(&Metrics::connections);
  status.received_bytes = total(&Metrics::received_bytes);
  status.sent_bytes = total(&Metrics::sent_bytes);
  status.inflight_requests = total(&Metrics::begun) - total(&Metrics::ended);
  status.inflight_bytes = gauges.inflight_bytes;
  status.model_swaps = gauges.model_swaps;
  status.aborted = total(&Metrics::aborted);
  status.latency_bounds.assign(kLatencyBounds.begin(), kLatencyBounds.end());
  for (size_t bin = 0; bin < static_cast<size_t>(kLatencyBins); ++bin) {
    int64_t count = 0;
    for (const Endpoint endpoint : {Endpoint::predict, Endpoint::predict_binary}) {
      const size_t place = static_cast<size_t>(endpoint);
      count += totals([&](const Metrics& slot) -> const Counter& { return slot.latency[place].bins[bin]; });
    }
    status.latency_counts.push_back(count);
  }
  status.cpu_seconds = gauges.cpu_seconds;
  status.resident_bytes = gauges.resident_bytes;
  return status;
}

std::string Server::metrics() const {
  return impl_->service.metrics();
}

}  // namespace voxridge
