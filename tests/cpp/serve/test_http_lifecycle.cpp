// The end of a server: what has come is answered, what comes later is refused, and nobody waits for longer than asked.
#include <atomic>
#include <thread>

#include "refused.h"

namespace voxridge_test {

namespace {

const std::string kBody = "{\"features\":[[0.5,-1.2]]}";

class HttpLifecycle : public RefusalTest {
 protected:
  void expect_stopped(double at_most) {
    const double begin = now_s();
    EXPECT_TRUE(server->wait(at_most));
    EXPECT_LT(now_s() - begin, at_most);
    EXPECT_TRUE(server->wait(0));
    EXPECT_FALSE(server->status().running);
    EXPECT_FALSE(server->status().ready);
    EXPECT_EQ(server->status().connections, 0);
    EXPECT_EQ(server->status().inflight_bytes, 0);
    EXPECT_EQ(server->status().inflight_requests, 0);
  }
};

}  // namespace

TEST_F(HttpLifecycle, DelayKeepsServing) {
  start();
  Client client(server->port());
  EXPECT_EQ(client.ask(get("/readyz")).status, 200);
  server->begin_stop(1, 5);
  EXPECT_TRUE(server->status().running);
  EXPECT_FALSE(server->status().ready);
  Client fresh(server->port());
  for (const std::string path : {"/readyz", "/healthz"}) {
    const Reply reply = fresh.ask(get(path));
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.body, "{\"status\":\"draining\"}");
  }
  EXPECT_EQ(Client(server->port()).ask(get("/readyz", "", "HEAD"), true).status, 503);
  EXPECT_EQ(Client(server->port()).ask(get("/livez")).body, "{\"status\":\"alive\"}");
  EXPECT_EQ(Client(server->port()).ask(predict(kBody)).status, 200);
  EXPECT_FALSE(server->wait(0.2));
  expect_stopped(6);
  EXPECT_FALSE(Client::is_accepted(server->port()));
  EXPECT_EQ(server->status().aborted, 0);
}

TEST_F(HttpLifecycle, PortIsRefusedAtOnce) {
  start();
  const int port = server->port();
  Client idle(port), half(port);
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  half.send(predict(kBody).substr(0, 100));
  EXPECT_TRUE(wait_until([&] { return server->status().connections == 2; }, 5));
  server->begin_stop(0, 20);
  EXPECT_TRUE(wait_until([&] { return !Client::is_accepted(port); }, 1)) << "although a request is under way";
  EXPECT_TRUE(idle.closes(2));
  EXPECT_FALSE(server->wait(0.1));
  const Reply reply = half.ask(predict(kBody).substr(100));
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.says_close());
  EXPECT_TRUE(half.closes(2));
  expect_stopped(3);
  ServerOptions options;
  options.port = port;
  Server next(options, model);  // the port is free at once
  EXPECT_EQ(Client(port).ask(get("/readyz")).status, 200);
}

TEST_F(HttpLifecycle, WhatHasComeIsAnswered) {
  start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 100; ++k) {
    clients.emplace_back(new Client(server->port()));
    clients.back()->send(predict(kBody));
  }
  server->begin_stop(0, 10);
  for (const auto& client : clients) {
    EXPECT_EQ(client->read().status, 200);
    EXPECT_TRUE(client->closes(5));
  }
  expect_stopped(5);
  EXPECT_EQ(server->status().aborted, 0);
  EXPECT_EQ(server->status().rows, 100);
}

// Also who had to wait for a place.
TEST_F(HttpLifecycle, WhoWaitsForAPlaceIsAnswered) {
  ServerOptions options;
  options.limits.max_connections = 5;
  start(options);
  std::vector<std::unique_ptr<Client>> busy, waiting;
  for (int k = 0; k < 5; ++k) {
    busy.emplace_back(new Client(server->port()));
    busy.back()->send(predict(kBody).substr(0, 120));
  }
  EXPECT_TRUE(wait_until([&] { return server->status().inflight_requests == 5; }, 5));
  for (int k = 0; k < 20; ++k) {
    waiting.emplace_back(new Client(server->port()));
    waiting.back()->send(predict(kBody));
  }
  EXPECT_TRUE(waiting.front()->is_quiet(0.05));
  server->begin_stop(0, 10);
  for (const auto& client : waiting) EXPECT_EQ(client->read().status, 200);
  for (const auto& client : busy) EXPECT_EQ(client->ask(predict(kBody).substr(120)).status, 200);
  expect_stopped(5);
  EXPECT_EQ(server->status().aborted, 0);
}

TEST_F(HttpLifecycle, TimeoutCutsTheRest) {
  start();
  Client half(server->port());
  half.send(predict(kBody).substr(0, 100));
  EXPECT_TRUE(wait_until([&] { return server->status().connections == 1; }, 5));
  const double begin = now_s();
  server->begin_stop(0, 0.5);
  EXPECT_FALSE(server->wait(0.2));
  expect_stopped(4);
  EXPECT_GT(now_s() - begin, 0.4);
  EXPECT_EQ(server->status().aborted, 1);
  EXPECT_TRUE(half.closes(1));
}

TEST_F(HttpLifecycle, SecondCallShortens) {
  for (const bool shorten : {true, false}) {
    start();
    Client half(server->port());
    half.send("GET /li");
    EXPECT_TRUE(wait_until([&] { return server->status().connections == 1; }, 5));
    const double begin = now_s();
    server->begin_stop(shorten ? 30 : 0, shorten ? 30 : 0.3);
    server->begin_stop(shorten ? 0 : 30, shorten ? 0.3 : 30);
    expect_stopped(5);
    EXPECT_LT(now_s() - begin, 4);
    server->begin_stop(0, 0);
    EXPECT_TRUE(server->wait(0));
  }
}

TEST_F(HttpLifecycle, DeadlinesBeyondAllTimes) {
  ServerOptions options;
  Limits& limits = options.limits;
  limits.header_timeout_s = limits.request_timeout_s = limits.idle_timeout_s = limits.write_timeout_s = 1e300;
  start(options);
  Client client(server->port()), half(server->port());
  half.send("GET /li");
  EXPECT_EQ(client.ask(predict(kBody)).status, 200);
  sleep_s(1.2);  // past a sweep
  EXPECT_EQ(client.ask(predict(kBody)).status, 200);
  server->begin_stop(1e300, 1e300);
  EXPECT_EQ(client.ask(predict(kBody)).status, 200);
  server->begin_stop(0, 0);
  EXPECT_TRUE(server->wait(1e300));
}

TEST_F(HttpLifecycle, StopUnderLoadLosesNothing) {
  for (const bool keep_alive : {false, true}) {
    ServerOptions options;
    options.n_threads = 2;
    start(options);
    const int port = server->port();
    std::atomic<bool> stopping{false};
    std::atomic<int> good{0}, lost{0}, wrong{0};
    std::vector<std::thread> clients;
    for (int k = 0; k < 8; ++k) {
      clients.emplace_back([&, k] {
        const std::vector<double> rows = random_rows(1 + k, 2, static_cast<uint64_t>(k));
        std::unique_ptr<Client> client;
        for (;;) {
          bool sent_in_time = false;
          try {
            if (client == nullptr || !keep_alive) client.reset(new Client(port));
            client->send(predict(json_rows(rows, 2)));
            sent_in_time = !stopping;
            const Reply reply = client->read();
            wrong += !json_difference(*model, rows, reply).empty();
            ++good;
            if (reply.says_close()) client.reset();
          } catch (const BadReply&) {
            ++wrong;
          } catch (const NoReply&) {  // no connection, or the end of an idle one
            lost += sent_in_time;
            if (stopping) return;
            client.reset();
          }
        }
      });
    }
    sleep_s(0.5);
    stopping = true;
    server->begin_stop(0, 10);
    expect_stopped(8);
    for (std::thread& one : clients) one.join();
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(good, 50);
    EXPECT_EQ(server->status().aborted, 0);
  }
}

TEST_F(HttpLifecycle, EndWithoutDrainUnderLoad) {
  for (int round = 0; round < 10; ++round) {
    ServerOptions options;
    options.n_threads = 2;
    start(options);
    std::vector<std::unique_ptr<Client>> clients;
    for (size_t k = 0; k < 20; ++k) {
      clients.emplace_back(new Client(server->port()));
      clients.back()->send(predict(kBody).substr(0, k % 2 == 0 ? std::string::npos : 9 * k));
    }
    const double begin = now_s();
    server.reset();
    EXPECT_LT(now_s() - begin, 2);
    for (const auto& client : clients) client->read_to_end();
  }
}

// Each reply holds the scores of the version that it names, while models change and others read the counters.
TEST_F(HttpLifecycle, SwapUnderLoad) {
  ModelSpec other = spec();
  other.coefs = {-3, 0.5};
  other.version = "second";
  const std::shared_ptr<const ServedModel> second = make_model(other);
  ServerOptions options;
  options.n_threads = 2;
  start(options);
  std::atomic<bool> over{false};
  std::atomic<int> seen[2] = {{0}, {0}};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      const std::vector<double> rows = random_rows(20, 2, static_cast<uint64_t>(k));
      Client client(server->port());
      while (!over) {
        const bool binary = k % 2 == 0;
        const Reply reply = client.ask(binary ? predict_binary(binary_rows(rows)) : predict(json_rows(rows, 2)));
        const bool is_second = reply.field("x-model-version") == "second";
        const ServedModel& named = is_second ? *second : *model;
        wrong += !(binary ? binary_difference(named, rows, reply) : json_difference(named, rows, reply)).empty();
        ++seen[is_second];
      }
    });
  }
  threads.emplace_back([&] {
    Client client(server->port());
    while (!over) {
      const Reply reply = client.ask(get("/v1/metadata"));
      wrong += reply.json()["version"].letters != reply.field("x-model-version");
    }
  });
  threads.emplace_back([&] {
    while (!over) {
      wrong += server->status().inflight_bytes < 0 || server->metrics().empty() || server->model() == nullptr;
      sleep_s(0.001);
    }
  });
  int swaps = 0;
  for (const double end = now_s() + 1; now_s() < end; sleep_s(0.002))
    server->set_model(++swaps % 2 == 0 ? model : second);
  over = true;
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(seen[0], 10);
  EXPECT_GT(seen[1], 10);
  EXPECT_EQ(server->status().model_swaps, swaps);
}

}  // namespace voxridge_test
