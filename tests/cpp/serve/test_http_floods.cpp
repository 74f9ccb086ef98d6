// Too much of everything: connections, bytes, nonsense; and servers that come and go leave nothing behind.
#include <atomic>
#include <thread>

#include "hostile.h"

namespace voxridge_test {

namespace {

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

}  // namespace

// Each newcomer takes the place of the connection that has been idle for longest.
TEST_F(HttpHostile, MoreIdleConnectionsThanPlaces) {
  options.limits.max_connections = 20;
  options.limits.idle_timeout_s = 30;
  start(options);
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 60; ++k) {
    clients.emplace_back(new Client(server->port()));
    EXPECT_EQ(clients.back()->ask(get("/livez")).status, 200) << k;
    EXPECT_LE(server->status().connections, 20);
  }
  expect_healthy();
  EXPECT_TRUE(clients.front()->closes(kHealthy));
  EXPECT_EQ(clients.back()->ask(get("/livez")).status, 200) << "the latest keeps its place";
}

// Connections in the middle of a request keep their places, until their deadline.
TEST_F(HttpHostile, MoreBusyConnectionsThanPlaces) {
  options.limits.max_connections = 20;
  start(options);
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 60; ++k) {
    clients.emplace_back(new Client(server->port()));
    clients.back()->send("GET /livez HTTP/1.1\r\n");
  }
  EXPECT_TRUE(wait_until([&] { return server->status().connections == 20; }, 2));
  const double begin = now_s();
  Client healthy(server->port());
  EXPECT_EQ(healthy.ask(predict(kBody)).status, 200);
  EXPECT_LT(now_s() - begin, 3 * (kLimit + kLate) + kSlack) << "three rounds of twenty";
  EXPECT_LE(server->status().connections, 20);
}

TEST_F(HttpHostile, MoreBytesThanRoom) {
  options.limits.max_body_bytes = int64_t{1} << 20;
  options.limits.max_inflight_bytes = int64_t{1} << 20;
  options.limits.request_timeout_s = 10;
  start(options);
  const std::string request = predict(kBody + std::string(300000, ' '));
  std::vector<std::unique_ptr<Client>> clients;
  int64_t most = 0;
  for (int k = 0; k < 20; ++k) {
    clients.emplace_back(new Client(server->port()));
    clients.back()->send(request.substr(0, request.size() - 1));
    sleep_s(0.01);
    most = std::max(most, server->status().inflight_bytes);
  }
  expect_healthy();
  EXPECT_GT(most, 200000);
  EXPECT_LE(most, int64_t{1} << 20);
  int good = 0, refused = 0;
  for (const auto& client : clients) {
    client->send(request.substr(request.size() - 1));
    const Reply reply = client->read();
    good += reply.status == 200;
    if (reply.status == 200) continue;
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.word(), "overloaded");
    EXPECT_EQ(reply.field("retry-after"), "1");
    ++refused;
  }
  EXPECT_GE(good, 1);
  EXPECT_GE(refused, 10);
  EXPECT_TRUE(wait_until([&] { return server->status().inflight_bytes == 0; }, 2));
  Client after(server->port());
  EXPECT_EQ(after.ask(request).status, 200) << "there is room again";
  clients.clear();
  EXPECT_TRUE(wait_until([&] { return server->status().connections == 1; }, 2));
}

// Clients that leave in the middle give their room back.
TEST_F(HttpHostile, ClientsThatLeave) {
  options.limits.max_inflight_bytes = int64_t{2} << 20;
  start(options);
  const std::string request = predict(kBody + std::string(200000, ' '));
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<Client>> clients;
    for (size_t k = 0; k < 15; ++k) {
      clients.emplace_back(new Client(server->port()));
      clients.back()->send(request.substr(0, request.size() * (k + 1) / 16));
    }
    clients.clear();
  }
  EXPECT_TRUE(wait_until([&] { return server->status().inflight_bytes == 0; }, 3));
  expect_all_gone();
}

TEST_F(HttpHostile, OversizedEverything) {
  options.limits.request_timeout_s = 10;
  options.limits.header_timeout_s = 10;
  start(options);
  const std::string head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string big(3000000, 'a');
  std::string many;
  for (int k = 0; k < 100000; ++k) many += "A: b\r\n";
  std::string ones, empty;
  for (int k = 0; k < 1000000; ++k) empty += "\r\n";
  for (int k = 0; k < 2000000; ++k) ones += "1\r\n \r\n";
  for (const std::string& request :
       {big, empty, "GET /" + big, "GET / HTTP/1.1\r\n" + big, "GET / HTTP/1.1\r\nA: " + big,
        "GET / HTTP/1.1\r\n" + many, std::string(3000000, '\0'), std::string(3000000, '\n'), chunks + big,
        chunks + "1;" + big, chunks + std::string(3000000, '0'), chunks + "0\r\nA: " + big, chunks + "0\r\n" + many,
        chunks + ones, head + "Content-Length: " + std::string(5000, '1') + "\r\n\r\n", predict(big),
        predict("{\"features\":[[" + std::string(1000000, '[')), predict("{\"" + std::string(1000000, 'a')),
        predict("{\"features\":[[" + std::string(1000000, '9'))}) {
    SCOPED_TRACE(request.substr(0, 150));
    Client client(server->port());
    std::thread writer([&] { client.send(request); });
    try {
      const Reply reply = client.read();
      EXPECT_GE(reply.status, 400);
      EXPECT_LT(reply.status, 500);
      EXPECT_NE(reply.status, 408);
    } catch (const std::runtime_error& error) {
      ADD_FAILURE() << error.what();
    }
    client.finish_sending();
    writer.join();
    expect_healthy();
    EXPECT_LE(server->status().inflight_bytes, int64_t{3} << 20);
  }
}

TEST_F(HttpHostile, RandomBytes) {
  start(options);
  Random random(4321);
  const std::string seeds[] = {predict(kBody), chunked(kBody, 5), get("/livez"), predict_binary(binary_rows({1, 2}))};
  const std::string signs = "\r\n :;,{}[]\"0123456789aGETPOST/.\xff\x80";
  for (int k = 0; k < 600; ++k) {
    std::string bytes = seeds[random.below(4)];
    if (k % 3 == 0) bytes.assign(random.below(2000), ' ');
    for (size_t change = 1 + random.below(k % 3 == 0 ? 2000 : 4); change > 0 && !bytes.empty(); --change) {
      const size_t at = random.below(bytes.size());
      if (random.below(3) == 0)
        bytes.erase(at, 1);
      else
        bytes[at] = k % 2 == 0 ? static_cast<char>(random.below(256)) : signs[random.below(signs.size())];
    }
    Client client(server->port());
    client.send(bytes);
    client.finish_sending();
    std::string rest = client.read_to_end();
    try {
      Reply reply;
      while (!rest.empty() && take_reply(rest, false, reply)) {
        EXPECT_TRUE(reply.status < 500 || reply.status == 501) << bytes << "\n" << reply.bytes;
      }
      EXPECT_EQ(rest, "");
    } catch (const BadReply& error) {
      ADD_FAILURE() << error.what() << "\n" << bytes;
    }
  }
  expect_all_gone();
}

TEST_F(HttpHostile, CyclesLeaveNothingBehind) {
  options.n_threads = 2;
  int64_t descriptors = 0, threads = 0;
  for (int k = 0; k < 103; ++k) {
    start(options);
    {
      Client client(server->port());
      EXPECT_EQ(client.ask(predict(kBody)).status, 200);
      client.send(k % 2 == 0 ? "GET /li" : "");
      if (k % 3 == 0) {
        server->begin_stop(0, 0.1);
        EXPECT_TRUE(server->wait(5));
      }
      server.reset();
    }
    if (k == 2) {
      descriptors = count_descriptors();
      threads = count_threads();
    }
  }
  EXPECT_EQ(count_descriptors(), descriptors);
  EXPECT_TRUE(wait_until([&] { return count_threads() == threads; }, 2));
}

}  // namespace voxridge_test
