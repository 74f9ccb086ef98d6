// A scoring server over HTTP/1.1: threads with an event loop each, and one listening socket. Nothing here knows R: the
// process may compute, sleep or collect garbage meanwhile.
//
//   Server server(options, model);   listening, and ready, when the constructor returns
//   server.set_model(other);         requests from now on see the other model
//   server.begin_stop(0, 10);        no longer ready; answers what has come, then closes
//   while (!server.wait(0.1)) {}     until the last thread has ended
//
// All members may be called from any thread of the process that made the server, and none waits for a request, except
// wait(). A fork takes no threads along: in the child every socket of a server is closed at once, and the object
// must not be touched (is_of_this_process()).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "limits.h"
#include "served_model.h"

namespace voxridge {

// Whether only this machine reaches an address, however it is written; false for what is none.
bool is_loopback(const std::string& host);

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, not a name
  int port = 0;                    // 0: any free one
  std::string socket_path;         // of a Unix-domain socket, instead of host and port
  int n_threads = 1;
  Limits limits;
  std::string token;                       // "": none is asked for
  std::vector<std::string> allowed_hosts;  // names beyond those of the loopback; on it they are checked without a token
};

struct ServerStatus {
  bool running = false;  // some thread has not ended
  bool ready = false;
  double uptime_s = 0;
  std::vector<std::pair<int, int64_t>> requests;         // by status code, of those that have come
  std::vector<std::pair<std::string, int64_t>> rejects;  // by reason, of those that have come
  int64_t rows = 0;
  int64_t connections = 0;        // now
  int64_t connections_total = 0;  // ever
  int64_t received_bytes = 0, sent_bytes = 0;
  int64_t inflight_requests = 0, inflight_bytes = 0;
  int64_t model_swaps = 0;
  int64_t aborted = 0;                  // requests that were cut off, by the end of a drain or by their client
  std::vector<double> latency_bounds;   // seconds; one count more than bounds: the last is of those above
  std::vector<int64_t> latency_counts;  // of scoring, from the last byte read to the last byte given to the kernel
  double cpu_seconds = 0;               // of the server's threads
  double resident_bytes = 0;            // of the process, NaN where the system does not tell
};

class Server {
 public:
  // Throws Error: port_in_use, network (an address that cannot be had), file (a path of a socket), invalid_argument
  // (a zero row has no score). Nothing is left open then.
  Server(const ServerOptions& options, std::shared_ptr<const ServedModel> model);
  ~Server();  // without a drain; in another process than its own it does nothing
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  bool is_of_this_process() const;
  int port() const;                 // 0 for a Unix-domain socket
  int64_t max_connections() const;  // the limit, or less where the system gives fewer descriptors

  std::shared_ptr<const ServedModel> model() const;
  void set_model(std::shared_ptr<const ServedModel> model);  // whose difference() from the present one is ""

  // Replies of readiness turn to "draining" at once; after `delay_s` no connection is accepted, requests under way are
  // answered and idle connections closed; `timeout_s` later the rest is cut off. A second call can only shorten both.
  void begin_stop(double delay_s, double timeout_s);
  bool wait(double seconds);  // true: the threads have ended and everything is closed

  ServerStatus status() const;
  std::string metrics() const;  // the text of GET /metrics

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxridge
