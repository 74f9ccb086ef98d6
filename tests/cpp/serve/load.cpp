// A server under load, as a program of its own:
//
//   load [SECONDS]         good and hostile clients, swaps of the model, readers of the counters, and a stop each
//   second;
//                          built with a sanitizer by sanitize.sh
//   load soak [REQUESTS]   one server, clients in another process, a tenth of the requests faulty: memory stays flat
//
// The exit status is 0 where every reply was right.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "served.h"

namespace {

using namespace voxridge_test;

struct Counts {
  std::atomic<int64_t> good{0}, wrong{0}, lost{0}, hostile{0}, swaps{0}, reads{0};
};

struct Models {
  std::shared_ptr<const ServedModel> first, second;

  Models() {
    ModelSpec spec;
    spec.p = 8;
    spec.t = 3;
    spec.version = "first";
    first = make_model(spec);
    spec.seed = 2;
    spec.version = "second";
    second = make_model(spec);
  }
  const ServedModel& named(const Reply& reply) const {
    return reply.field("x-model-version") == "second" ? *second : *first;
  }
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  size_t below(size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 33) % n;
  }

 private:
  uint64_t state_;
};

void complain(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
}

void be_good(int port, int id, const Models& models, const std::atomic<bool>& stopping, bool drains, Counts& counts) {
  const std::vector<double> rows = random_rows(1 + 5 * id, 8, static_cast<uint64_t>(id));
  const std::string requests[] = {predict(json_rows(rows, 8)), predict_binary(binary_rows(rows))};
  std::unique_ptr<Client> client;
  for (int k = 0;; ++k) {
    bool may_not_be_lost = false;  // an idle connection may be closed while a request is on its way
    try {
      const bool fresh = client == nullptr;
      if (fresh) client.reset(new Client(port));
      client->send(requests[k % 2]);
      may_not_be_lost = fresh && !stopping && drains;
      const Reply reply = client->read();
      if (reply.status == 408) {  // this machine was too slow
        client.reset();
        continue;
      }
      const ServedModel& model = models.named(reply);
      const std::string wrong =
          k % 2 == 0 ? json_difference(model, rows, reply) : binary_difference(model, rows, reply);
      if (!wrong.empty()) {
        complain(wrong);
        ++counts.wrong;
      }
      ++counts.good;
      if (reply.says_close() || k % 50 == 0) client.reset();
    } catch (const BadReply& error) {
      complain(error.what());
      ++counts.wrong;
      client.reset();
    } catch (const NoReply&) {
      counts.lost += may_not_be_lost;
      if (stopping) return;
      client.reset();
    }
  }
}

void be_hostile(int port, int id, const std::atomic<bool>& stopping, Counts& counts) {
  Random random(static_cast<uint64_t>(id));
  const std::string good = predict(json_rows(random_rows(2, 8, 1), 8));
  std::vector<std::unique_ptr<Client>> held;
  while (!stopping) {
    try {
      std::string bytes = good;
      for (size_t k = random.below(5); k > 0; --k)
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
      if (random.below(4) == 0) bytes.resize(random.below(bytes.size()));
      if (random.below(8) == 0) bytes += std::string(200000, 'x');
      if (random.below(8) == 0) bytes = get("/metrics") + get("/nowhere") + get("/v1/metadata") + bytes;
      std::unique_ptr<Client> client(new Client(port, 1));
      client->send(bytes);
      ++counts.hostile;
      if (random.below(3) == 0) held.push_back(std::move(client));
      if (held.size() > 60) held.erase(held.begin(), held.begin() + 30);
    } catch (const NoReply&) {
    }
  }
}

void one_server(const Models& models, size_t round, double seconds, Counts& counts) {
  ServerOptions options;
  options.n_threads = 2;
  options.limits.header_timeout_s = options.limits.idle_timeout_s = options.limits.write_timeout_s = 1;
  options.limits.max_connections = 50;
  options.limits.max_pipelined = 2;
  options.limits.max_inflight_bytes = int64_t{4} << 20;
  std::unique_ptr<Server> server(new Server(options, models.first));
  const int port = server->port();
  const bool drains = round % 3 != 2;  // else it ends at once
  std::atomic<bool> stopping{false}, over{false};
  std::vector<std::thread> clients, watchers;
  for (int id = 0; id < 3; ++id) {
    clients.emplace_back([&, id] { be_good(port, id, models, stopping, drains, counts); });
  }
  for (int id = 0; id < 2; ++id) {
    const int seed = static_cast<int>(2 * round) + id;
    clients.emplace_back([&, seed] { be_hostile(port, seed, stopping, counts); });
  }
  watchers.emplace_back([&] {
    for (; !over; ++counts.swaps) {
      server->set_model(counts.swaps % 2 == 0 ? models.second : models.first);
      sleep_s(0.0005);
    }
  });
  watchers.emplace_back([&] {
    for (; !over; ++counts.reads) {
      if (server->metrics().empty() || server->status().inflight_bytes < 0 || server->model() == nullptr)
        ++counts.wrong;
      sleep_s(0.001);
    }
  });
  sleep_s(seconds);
  stopping = true;
  if (drains) {
    server->begin_stop(round % 2 == 0 ? 0 : 0.1, 2);
    if (!server->wait(15)) {
      complain("the server did not end");
      ++counts.wrong;
    }
  }
  over = true;
  for (std::thread& one : watchers) one.join();
  server.reset();
  for (std::thread& one : clients) one.join();
}

int run_load(double seconds) {
  const Models models;
  Counts counts;
  const int64_t descriptors = count_descriptors();
  const double end = now_s() + seconds;
  size_t round = 0;
  for (; now_s() < end; ++round) one_server(models, round, 1, counts);
  std::printf("%zu servers, %lld good requests, %lld hostile clients, %lld swaps, %lld reads: %lld wrong, %lld lost\n",
              round, static_cast<long long>(counts.good), static_cast<long long>(counts.hostile),
              static_cast<long long>(counts.swaps), static_cast<long long>(counts.reads),
              static_cast<long long>(counts.wrong), static_cast<long long>(counts.lost));
  if (count_descriptors() != descriptors) {
    complain("descriptors are left open");
    return 1;
  }
  return counts.wrong == 0 && counts.lost == 0 && counts.good > 0 ? 0 : 1;
}

// ---- soak ------------------------------------------------------------------------------------

int64_t resident_bytes() {
  long long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

struct Try {
  std::string request;
  int status;
};

// One in ten is faulty; the last two end the connection.
std::vector<Try> soak_requests(const std::vector<double>& rows) {
  const std::string good[] = {predict(json_rows(rows, 8)), predict_binary(binary_rows(rows)),
                              chunked(json_rows(rows, 8), 50, "A: b\r\n")};
  const Try faulty[] = {{predict("{\"features\":[[1,2]]}"), 422},
                        {predict("{"), 400},
                        {get("/nowhere"), 404},
                        {predict_binary("12345"), 422},
                        {get("/livez", "Content-Length: 1\r\nContent-Length: 1\r\n"), 400},
                        {predict(std::string(2000000, ' ')).substr(0, 5000), 413}};
  std::vector<Try> out;
  for (size_t k = 0; k < 60; ++k) {
    out.push_back(k % 10 == 9 ? faulty[k / 10] : Try{good[k % 3], 200});
  }
  return out;
}

// Sends requests in groups over four connections; says on `to` when the first 10,000 are done.
int soak_client(int port, int64_t count, const ServedModel& model, int to) {
  const std::vector<double> rows = random_rows(2, 8, 1);
  const std::vector<Try> tries = soak_requests(rows);
  std::unique_ptr<Client> clients[4];
  int64_t done = 0, wrong = 0;
  bool told = false;
  for (size_t turn = 0; done < count; ++turn) {
    std::unique_ptr<Client>& client = clients[turn % 4];
    if (client == nullptr) client.reset(new Client(port));
    std::string bytes;
    const size_t first = 10 * turn % tries.size();
    for (size_t k = first; k < first + 10; ++k) bytes += tries[k].request;
    client->send(bytes);
    for (size_t k = first; k < first + 10; ++k, ++done) {
      const Reply reply = client->read();
      bool right = reply.status == tries[k].status;
      if (right && reply.status == 200 && done % 100 == 0 && reply.field("content-type") == "application/json")
        right = json_difference(model, rows, reply).empty();
      wrong += !right;
      if (reply.says_close()) client.reset();
    }
    if (!told && done >= 10000) {
      told = true;
      if (write(to, "1", 1) != 1) return 1;
      usleep(200000);
    }
  }
  std::printf("%lld requests, %lld wrong\n", static_cast<long long>(done), static_cast<long long>(wrong));
  std::fflush(stdout);
  return wrong == 0 ? 0 : 1;
}

int run_soak(int64_t count) {
  int to_client[2], to_server[2];
  if (pipe(to_client) != 0 || pipe(to_server) != 0) return 1;
  const Models models;
  const pid_t client = fork();
  if (client == 0) {
    int port = 0;
    if (read(to_client[0], &port, sizeof(port)) != sizeof(port)) _exit(1);
    int outcome = 1;
    try {
      outcome = soak_client(port, count, *models.first, to_server[1]);
    } catch (const std::runtime_error& error) {
      complain(error.what());
    }
    _exit(outcome);
  }
  close(to_server[1]);
  ServerOptions options;
  options.n_threads = 2;
  Server server(options, models.first);
  const int port = server.port();
  if (write(to_client[1], &port, sizeof(port)) != sizeof(port)) return 1;
  char any;
  const bool warm = read(to_server[0], &any, 1) == 1;
  const int64_t before = resident_bytes();
  const double start = now_s(), cpu = server.status().cpu_seconds;
  int outcome = 1;
  waitpid(client, &outcome, 0);
  const int64_t growth = resident_bytes() - before;
  const ServerStatus status = server.status();
  std::printf("%.0f requests per second, %.0f per CPU second of the server\n",
              static_cast<double>(count) / (now_s() - start), static_cast<double>(count) / (status.cpu_seconds - cpu));
  std::printf("resident after 10,000 requests: %.1f MiB; growth since: %.0f KiB\n",
              static_cast<double>(before) / 1048576, static_cast<double>(growth) / 1024);
  return warm && outcome == 0 && growth <= 1 << 20 && status.inflight_bytes == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "soak") == 0) return run_soak(argc > 2 ? std::atoll(argv[2]) : 1000000);
  return run_load(argc > 1 ? std::atof(argv[1]) : 20);
}
