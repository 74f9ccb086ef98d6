#include "service.h"

#include <chrono>
#include <ctime>
#include <limits>

#include "../core/memory.h"
#include "http_fields.h"
#include "reply.h"

namespace voxridge {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Service::Service(const ServerOptions& server_options, std::shared_ptr<const ServedModel> model)
    : options(server_options),
      on_loopback(server_options.socket_path.empty() && is_loopback(server_options.host)),
      started_ns(now_ns()),
      closing_at_ns(std::numeric_limits<int64_t>::max()),
      abort_at_ns(std::numeric_limits<int64_t>::max()),
      max_connections(server_options.limits.max_connections),
      model_(std::move(model)) {}

bool Service::allows_host(std::string_view host) const {
  if (!on_loopback || !options.token.empty()) return true;
  for (const std::string_view known : {"localhost", "127.0.0.1", "[::1]"}) {
    if (same_token(host, known)) return true;
  }
  const bool has_colons = options.host.find(':') != std::string::npos;
  if (same_token(host, has_colons ? "[" + options.host + "]" : options.host)) return true;
  for (const std::string& allowed : options.allowed_hosts) {
    if (same_token(host, allowed)) return true;
  }
  return false;
}

std::shared_ptr<const ServedModel> Service::model() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return model_;
}

void Service::set_model(std::shared_ptr<const ServedModel> model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  model_.swap(model);
  model_number_.fetch_add(1, std::memory_order_release);
}

Gauges Service::gauges() const {
  Gauges gauges;
  const std::shared_ptr<const ServedModel> now = model();
  gauges.name = now->facts().name;
  gauges.version = now->version();
  gauges.sha256 = now->sha256();
  gauges.n_targets = now->n_targets();
  gauges.logistic = now->facts().kind == ModelKind::logistic;
  gauges.ready = ready();
  gauges.connections = connections;
  gauges.inflight_bytes = inflight_bytes;
  gauges.model_swaps = model_number();
  gauges.uptime_s = 1e-9 * static_cast<double>(now_ns() - started_ns);
  gauges.cpu_seconds = cpu_seconds ? cpu_seconds() : 0;
  gauges.resident_bytes = memory_resident();
  return gauges;
}

ThreadState::ThreadState(Service& shared)
    : service(shared),
      scorer(*shared.model(), shared.options.limits.max_rows, metrics),
      model_(shared.model()),
      number_(shared.model_number()) {
  tell_time();
}

// The number first: a model that is newer than its number is only looked up once more.
void ThreadState::refresh() {
  number_ = service.model_number();
  model_ = service.model();
}

void ThreadState::tell_time() {
  date = http_date(static_cast<int64_t>(std::time(nullptr)));
}

}  // namespace voxridge
