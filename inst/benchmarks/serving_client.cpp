// Sends scoring requests to a server on this machine and measures the answers. One thread, Linux only.
//
//   serving_client MODE PORT PATH TYPE BODY [NAME=VALUE...]       (TYPE: of the content, BODY: a file)
//
//   ask      one request: its answer to the standard output
//   open     rate, connections, seconds, late: requests at fixed times, whether or not earlier ones were answered
//   count    connections, requests: each connection sends its next request when it has the answer to the last
//   beside   half_open, requests: one after the other, while so many connections have sent half a request line
//
// Results are "name: value" lines; times are in seconds. Exit status 1 when something went wrong.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "serving_connections.h"
#include "serving_probes.h"

namespace {

struct Job {
  std::string mode, request;
  int port = 0;
  std::map<std::string, double> numbers;
  double number(const std::string& name) const {
    const auto found = numbers.find(name);
    if (found == numbers.end()) throw std::invalid_argument(name + "= is missing");
    return found->second;
  }
};

// Nearest rank, of sorted values; NaN of none.
double percentile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::nan("");
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

void print_times(const char* name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%s_samples: %zu\n", name, times.size());
  for (const double q : {0.5, 0.9, 0.99, 0.999}) {
    std::printf("%s_p%g: %.9f\n", name, q == 0.999 ? 999.0 : 100 * q, percentile(times, q));
  }
  std::printf("%s_max: %.9f\n", name, percentile(times, 1));
}

// Request k is due at start + k / rate on connection k mod connections. Its latency counts from then, also when it has
// to wait there for an earlier answer, or when this process woke up too late to send it.
//
// Seconds in which more than a share `late` of the wake-ups of some processor came late are also left out, in figures
// of their own: then the machine was busy with other work.
int open_loop(const Job& job) {
  const double rate = job.number("rate"), seconds = job.number("seconds");
  const int n = static_cast<int>(job.number("connections"));
  const size_t total = static_cast<size_t>(rate * seconds);
  Watched connections(job.port, n);
  std::vector<std::deque<size_t>> waiting(static_cast<size_t>(n));  // front: under way
  std::vector<double> latency(total);
  const double start = now() + 0.1;
  const int windows = static_cast<int>(std::ceil(seconds));
  Probes probes(start, windows);
  const auto due = [&](size_t k) { return start + static_cast<double>(k) / rate; };
  size_t next = 0, answered = 0, failed = 0;
  // the mean number under way, counted as it changes: Little's law says rate x mean latency
  double area = 0, last = start, end = start;
  const auto advance = [&](double time) {
    area += static_cast<double>(next - answered) * (time - last);
    last = time;
  };
  while (answered < total) {
    if (next < total) connections.wake_at(due(next));
    connections.wait([&](int i) {
      auto& queue = waiting[static_cast<size_t>(i)];
      end = now();
      advance(end);
      latency[queue.front()] = end - due(queue.front());
      failed += connections[i].status() != 200;
      ++answered;
      queue.pop_front();
      if (!queue.empty()) connections[i].send_bytes(job.request);
    });
    const double time = now();
    for (; next < total && due(next) <= time; ++next) {
      if (due(next) < last)
        area += last - due(next);
      else
        advance(due(next));
      const int i = static_cast<int>(next % static_cast<size_t>(n));
      waiting[static_cast<size_t>(i)].push_back(next);
      if (waiting[static_cast<size_t>(i)].size() == 1) connections[i].send_bytes(job.request);
    }
  }
  probes.finish();
  int disturbed = 0;
  for (int w = 0; w < windows; ++w) disturbed += probes.disturbed(w, job.number("late"));
  std::vector<double> undisturbed;
  double sum = 0;
  for (size_t k = 0; k < total; ++k) {
    sum += latency[k];
    if (!probes.disturbed(static_cast<int>(static_cast<double>(k) / rate), job.number("late")))
      undisturbed.push_back(latency[k]);
  }
  std::printf("rate: %.6f\nfailed: %zu\nmean: %.9f\n", static_cast<double>(total) / (end - start), failed,
              sum / static_cast<double>(total));
  std::printf("under_way: %.9f\nby_little: %.9f\n", area / (end - start), sum / (end - start));
  std::printf("windows: %d\ndisturbed: %d\n", windows, disturbed);
  print_times("all", latency);
  print_times("undisturbed", undisturbed);
  return failed > 0;
}

int count_loop(const Job& job) {
  const size_t total = static_cast<size_t>(job.number("requests"));
  const int n = static_cast<int>(std::min(job.number("connections"), job.number("requests")));
  Watched connections(job.port, n);
  size_t sent = 0, answered = 0, failed = 0;
  const double start = now();
  for (int i = 0; i < n; ++i, ++sent) connections[i].send_bytes(job.request);
  while (answered < total) {
    connections.wait([&](int i) {
      ++answered;
      failed += connections[i].status() != 200;
      if (sent == total) return;
      connections[i].send_bytes(job.request);
      ++sent;
    });
  }
  std::printf("requests: %zu\nfailed: %zu\nseconds: %.6f\n", answered, failed, now() - start);
  return failed > 0;
}

// The request, its reply waited for.
void ask(Connection& connection, const std::string& request) {
  connection.send_bytes(request);
  for (pollfd one{connection.fd(), POLLIN, 0};;) {
    if (poll(&one, 1, 5000) == 0) throw std::runtime_error("no answer for five seconds");
    if (connection.receive()) return;
  }
}

// Times are of new connections, from before they are made.
int beside(const Job& job) {
  std::vector<std::unique_ptr<Connection>> half_open;
  for (int i = 0; i < static_cast<int>(job.number("half_open")); ++i) {
    half_open.push_back(std::make_unique<Connection>(job.port));
    half_open.back()->send_bytes("POST /v1/pre");
  }
  std::vector<double> times;
  size_t failed = 0;
  for (int i = 0; i < static_cast<int>(job.number("requests")); ++i) {
    usleep(5000);
    const double start = now();
    Connection healthy(job.port);
    ask(healthy, job.request);
    times.push_back(now() - start);
    failed += healthy.status() != 200;
  }
  int still_open = 0;
  for (auto& one : half_open) {
    char byte;
    still_open += recv(one->fd(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }
  std::printf("failed: %zu\nstill_open: %d\n", failed, still_open);
  print_times("healthy", times);
  return failed > 0;
}

int ask_once(const Job& job) {
  Connection connection(job.port);
  ask(connection, job.request);
  const std::string body = connection.body();
  fwrite(body.data(), 1, body.size(), stdout);
  return connection.status() != 200;
}

Job read_job(int argc, char** argv) {
  if (argc < 6) throw std::invalid_argument("usage: serving_client MODE PORT PATH TYPE BODY [NAME=VALUE...]");
  Job job;
  job.mode = argv[1];
  job.port = std::atoi(argv[2]);
  std::ifstream file(argv[5], std::ios::binary);
  if (!file) throw std::invalid_argument("cannot read the body");
  std::ostringstream body;
  body << file.rdbuf();
  job.request = std::string("POST ") + argv[3] + " HTTP/1.1\r\nHost: 127.0.0.1:" + argv[2] +
                "\r\nContent-Type: " + argv[4] + "\r\nContent-Length: " + std::to_string(body.str().size()) +
                "\r\n\r\n" + body.str();
  for (int i = 6; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equal = word.find('=');
    if (equal == std::string::npos) throw std::invalid_argument("not NAME=VALUE: " + word);
    job.numbers[word.substr(0, equal)] = std::atof(word.c_str() + equal + 1);
  }
  return job;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Job job = read_job(argc, argv);
    if (job.mode == "ask") return ask_once(job);
    if (job.mode == "open") return open_loop(job);
    if (job.mode == "count") return count_loop(job);
    if (job.mode == "beside") return beside(job);
    throw std::invalid_argument("unknown mode " + job.mode);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "serving_client: %s\n", e.what());
    return 1;
  }
}
