// The scoring server: serve() and the verbs of its handle. None of them waits for a request.
#include <Rcpp.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/predictor.h"
#include "r_session.h"
#include "r_view.h"
#include "serve/server.h"

using namespace voxridge_r;
using voxridge::Limits;
using voxridge::ModelFacts;
using voxridge::Predictor;
using voxridge::ServedModel;
using voxridge::Server;

namespace {

struct CountLimit {
  const char* name;
  int64_t Limits::*field;
};
struct TimeLimit {
  const char* name;
  double Limits::*field;
};

constexpr CountLimit kCounts[] = {{"max_rows", &Limits::max_rows},
                                  {"max_body_bytes", &Limits::max_body_bytes},
                                  {"max_header_bytes", &Limits::max_header_bytes},
                                  {"max_uri_bytes", &Limits::max_uri_bytes},
                                  {"max_connections", &Limits::max_connections},
                                  {"max_requests_per_connection", &Limits::max_requests_per_connection},
                                  {"max_inflight_bytes", &Limits::max_inflight_bytes},
                                  {"max_pipelined", &Limits::max_pipelined},
                                  {"max_pending_output", &Limits::max_pending_output}};
constexpr TimeLimit kTimes[] = {{"header_timeout_s", &Limits::header_timeout_s},
                                {"request_timeout_s", &Limits::request_timeout_s},
                                {"idle_timeout_s", &Limits::idle_timeout_s},
                                {"write_timeout_s", &Limits::write_timeout_s}};

Limits limits_of(const Rcpp::NumericVector& values) {
  Limits out;
  for (const CountLimit& one : kCounts) out.*one.field = static_cast<int64_t>(values[one.name]);
  for (const TimeLimit& one : kTimes) out.*one.field = values[one.name];
  return out;
}

SEXP server_tag() {
  return Rf_install("voxridge_server");
}

// In a child of a fork the server has no threads and must not be touched.
void finalize_server(Server* server) {
  if (server->is_of_this_process()) delete server;
}

// nullptr for what comes from a file or another process.
Server* find_server(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != server_tag()) return nullptr;
  Server* const server = static_cast<Server*>(R_ExternalPtrAddr(pointer));
  return server != nullptr && server->is_of_this_process() ? server : nullptr;
}

Server& server_of(SEXP pointer) {
  Server* const server = find_server(pointer);
  if (server == nullptr) throw voxridge::Error(voxridge::ErrorCode::internal, "A handle without its server.");
  return *server;
}

template <class T>
T get(const Rcpp::List& list, const char* name) {
  const SEXP value = list[name];
  return Rf_isNull(value) ? T() : Rcpp::as<T>(value);
}

ModelFacts facts_of(const Rcpp::List& model) {
  using Names = std::vector<std::string>;
  using Numbers = std::vector<double>;
  ModelFacts out;
  const bool logistic = get<std::string>(model, "model") == "logistic";
  out.kind = logistic ? voxridge::ModelKind::logistic : voxridge::ModelKind::ridge;
  out.name = get<std::string>(model, "name");
  out.version = get<std::string>(model, "version");
  out.package_version = get<std::string>(model, "package_version");
  out.features = get<Names>(model, "features");
  out.targets = get<Names>(model, "targets");
  out.classes = get<Names>(model, "classes");
  out.positive = get<Names>(model, "positive");
  out.lambda = get<Numbers>(model, "lambda");
  if (logistic) out.threshold = get<double>(model, "threshold");
  out.prior = get<Numbers>(model, "prior");
  out.shifts = get<Numbers>(model, "shifts");
  return out;
}

// `model`: of served_model(); without coefficients, those of `present`.
std::shared_ptr<const ServedModel> model_of(const Rcpp::List& model, std::shared_ptr<const Predictor> present) {
  const SEXP coefs = model["coefs"];
  if (!Rf_isNull(coefs)) {
    const auto view = view_of(Rcpp::NumericMatrix(coefs));
    present = std::make_shared<Predictor>(view, intercepts_of(model["intercept"], view.cols));
  }
  return std::make_shared<ServedModel>(std::move(present), facts_of(model));
}

template <class Key, class Label>
Rcpp::NumericVector named_counts(const std::vector<std::pair<Key, int64_t>>& counts, Label label) {
  Rcpp::NumericVector out(counts.size());
  Rcpp::CharacterVector names(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    names[i] = label(counts[i].first);
    out[i] = static_cast<double>(counts[i].second);
  }
  out.names() = names;
  return out;
}

// ---- SIGTERM, which ends R at once, without finalisers -----------------------------------------

std::atomic<int> terminations{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not lock");

#ifndef _WIN32
bool is_caught = false;
struct sigaction previous;

extern "C" void count_termination(int) {
  ++terminations;
}
#endif

}  // namespace

// Whether only this machine reaches an address; FALSE for what is none.
// [[Rcpp::export(rng = false)]]
bool core_is_loopback(const std::string& host) {
  return voxridge::is_loopback(host);
}

// What stands where `limits` says nothing, and the bytes that a row takes in JSON.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_server_limits(double n_features) {
  Limits limits;
  limits.max_body_bytes = voxridge::default_body_bytes(static_cast<int64_t>(n_features));
  Rcpp::NumericVector counts, times;
  for (const CountLimit& one : kCounts) counts.push_back(static_cast<double>(limits.*one.field), one.name);
  for (const TimeLimit& one : kTimes) times.push_back(limits.*one.field, one.name);
  return Rcpp::List::create(
      Rcpp::_["counts"] = counts, Rcpp::_["times"] = times,
      Rcpp::_["row_bytes"] = static_cast<double>(voxridge::json_row_bytes(static_cast<int64_t>(n_features))));
}

// `options`: of serve(), checked; `limits`: all of them, by name.
// [[Rcpp::export(rng = false)]]
SEXP core_serve(const Rcpp::List& options, const Rcpp::NumericVector& limits, const Rcpp::List& model) {
  voxridge::ServerOptions settings;
  settings.host = get<std::string>(options, "host");
  settings.port = get<int>(options, "port");
  settings.socket_path = get<std::string>(options, "socket_path");
  settings.n_threads = get<int>(options, "n_threads");
  settings.limits = limits_of(limits);
  settings.token = get<std::string>(options, "token");
  settings.allowed_hosts = get<std::vector<std::string>>(options, "allowed_hosts");
  std::unique_ptr<Server> server;
  with_conditions([&] { server = std::make_unique<Server>(settings, model_of(model, nullptr)); });
  return Rcpp::XPtr<Server, Rcpp::PreserveStorage, finalize_server, true>(server.release(), true, server_tag());
}

// [[Rcpp::export(rng = false)]]
bool core_server_is_here(SEXP pointer) {
  return find_server(pointer) != nullptr;
}

// Where it listens, and how many connections the system lets it have.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_server_place(SEXP pointer) {
  Rcpp::List out;
  with_conditions([&] {
    const Server& server = server_of(pointer);
    out = Rcpp::List::create(Rcpp::_["port"] = server.port(),
                             Rcpp::_["max_connections"] = static_cast<double>(server.max_connections()));
  });
  return out;
}

// What differs from the present model, or "" where the new one has taken its place.
// [[Rcpp::export(rng = false)]]
std::string core_server_update(SEXP pointer, const Rcpp::List& model) {
  std::string difference;
  with_conditions([&] {
    Server& server = server_of(pointer);
    const auto present = server.model();
    const auto next = model_of(model, present->predictor());
    difference = present->difference(*next);
    if (difference.empty()) server.set_model(next);
  });
  return difference;
}

// [[Rcpp::export(rng = false)]]
void core_server_begin_stop(SEXP pointer, double delay_s, double timeout_s) {
  with_conditions([&] { server_of(pointer).begin_stop(delay_s, timeout_s); });
}

// TRUE where it has ended.
// [[Rcpp::export(rng = false)]]
bool core_server_wait(SEXP pointer, double seconds) {
  bool ended = false;
  with_conditions([&] { ended = server_of(pointer).wait(seconds); });
  return ended;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_server_model(SEXP pointer) {
  Rcpp::List out;
  with_conditions([&] {
    const auto model = server_of(pointer).model();
    const ModelFacts& facts = model->facts();
    const bool logistic = facts.kind == voxridge::ModelKind::logistic;
    out = Rcpp::List::create(Rcpp::_["name"] = facts.name, Rcpp::_["version"] = model->version(),
                             Rcpp::_["sha256"] = model->sha256(), Rcpp::_["kind"] = logistic ? "logistic" : "ridge",
                             Rcpp::_["n_features"] = static_cast<int>(model->n_features()),
                             Rcpp::_["n_targets"] = static_cast<int>(model->n_targets()),
                             Rcpp::_["threshold"] = logistic ? Rcpp::wrap(facts.threshold) : R_NilValue,
                             Rcpp::_["prior"] = facts.prior.empty() ? R_NilValue : Rcpp::wrap(facts.prior));
  });
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List core_server_status(SEXP pointer) {
  Rcpp::List out;
  with_conditions([&] {
    const voxridge::ServerStatus s = server_of(pointer).status();
    const auto number = [](int64_t x) { return static_cast<double>(x); };
    out["running"] = s.running;
    out["ready"] = s.ready;
    out["uptime_s"] = s.uptime_s;
    out["requests"] = named_counts(s.requests, [](int code) { return std::to_string(code); });
    out["rejects"] = named_counts(s.rejects, [](const std::string& reason) { return reason; });
    out["rows"] = number(s.rows);
    out["connections"] = number(s.connections);
    out["connections_total"] = number(s.connections_total);
    out["received_bytes"] = number(s.received_bytes);
    out["sent_bytes"] = number(s.sent_bytes);
    out["inflight_requests"] = number(s.inflight_requests);
    out["inflight_bytes"] = number(s.inflight_bytes);
    out["model_swaps"] = number(s.model_swaps);
    out["aborted"] = number(s.aborted);
    out["latency_bounds"] = s.latency_bounds;
    out["latency_counts"] = std::vector<double>(s.latency_counts.begin(), s.latency_counts.end());
    out["cpu_seconds"] = s.cpu_seconds;
    out["resident_bytes"] = std::isnan(s.resident_bytes) ? NA_REAL : s.resident_bytes;
  });
  return out;
}

// SIGTERM is counted (TRUE), or does again what it did before (FALSE).
// [[Rcpp::export(rng = false)]]
void core_catch_sigterm(bool on) {
#ifndef _WIN32
  if (on == is_caught) return;
  if (on) {
    terminations = 0;
    struct sigaction action = {};
    action.sa_handler = count_termination;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, &previous);
  } else {
    sigaction(SIGTERM, &previous, nullptr);
  }
  is_caught = on;
#else
  (void)on;
#endif
}

// [[Rcpp::export(rng = false)]]
int core_sigterm_count() {
  return terminations;
}
