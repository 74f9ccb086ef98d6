// Clients that are slow, many or mad: each meets its limit, and a healthy request beside them is answered at once.
#include <thread>

#include "hostile.h"

namespace voxridge_test {

TEST_F(HttpHostile, HalfOpenConnections) {
  start(options);
  const std::string partial = predict(kBody);
  std::vector<std::unique_ptr<Client>> clients;
  const double begin = now_s();
  for (size_t k = 0; k < 500; ++k) {
    clients.emplace_back(new Client(server->port()));
    clients.back()->send(partial.substr(0, k % (partial.size() - 1)));
  }
  for (int k = 0; k < 20; ++k) expect_healthy();
  for (const auto& client : clients) client->read_to_end();
  EXPECT_LT(now_s() - begin, kLimit + kLate + kSlack + 1);
  expect_all_gone();
}

TEST_F(HttpHostile, Deadlines) {
  start(options);
  const double begin = now_s();
  Client silent(server->port()), head(server->port()), body(server->port()), chunk(server->port()),
      idle(server->port());
  head.send("GET /livez HTTP/1.1\r\nHost: loc");
  body.send(predict(kBody).substr(0, predict(kBody).size() - 1));
  chunk.send(chunked(kBody, 10).substr(0, 130));
  EXPECT_EQ(idle.ask(get("/livez")).status, 200);
  std::vector<std::thread> waiting;
  waiting.emplace_back([&] { expect_timeout(silent, begin, false); });
  waiting.emplace_back([&] { expect_timeout(head, begin, true); });
  waiting.emplace_back([&] { expect_timeout(body, begin, true); });
  waiting.emplace_back([&] { expect_timeout(chunk, begin, true); });
  waiting.emplace_back([&] {
    EXPECT_EQ(idle.read_to_end(), "");
    EXPECT_GT(now_s() - begin, 0.8 * kLimit);
    EXPECT_LT(now_s() - begin, kLimit + kLate + kSlack);
  });
  for (std::thread& one : waiting) one.join();
  expect_all_gone();
}

// Bytes that keep coming move no deadline, in the second request of a connection as little as in the first.
TEST_F(HttpHostile, TricklesMeetTheSameDeadlines) {
  start(options);
  const std::string slow_head = "GET /livez HTTP/1.1\r\nA: " + std::string(300, 'a');
  const std::string slow_body = predict(kBody + std::string(300, ' '));
  std::vector<std::thread> clients;
  for (int kind = 0; kind < 4; ++kind) {
    clients.emplace_back([&, kind] {
      Client client(server->port());
      if (kind >= 2) {
        EXPECT_EQ(client.ask(get("/livez")).status, 200);
      }
      const std::string& bytes = kind % 2 == 0 ? slow_head : slow_body;
      const double begin = now_s();
      size_t done = kind % 2 == 0 ? 20 : bytes.size() - 310;
      client.send(bytes.substr(0, done));
      while (done < bytes.size() && now_s() < begin + kLimit + kLate + kSlack && client.is_quiet(0.02)) {
        client.send(bytes.substr(done++, 1));
      }
      expect_timeout(client, begin, true);
    });
  }
  for (std::thread& one : clients) one.join();
  expect_all_gone();
}

TEST_F(HttpHostile, ReaderThatTakesNothing) {
  ModelSpec wide;
  wide.t = 64;
  model = make_model(wide);
  start(options);
  const std::string request = predict_binary(binary_rows(random_rows(512, 2, 1)));  // a reply of 256 KiB
  {
    Client client(server->port(), 20, 4096);
    std::thread writer([&] {
      try {
        for (int k = 0; k < 200 && client.send(request); ++k) {
        }
      } catch (const NoReply&) {
        ADD_FAILURE() << "the connection is neither read nor cut";
      }
    });
    const double begin = now_s();
    for (int k = 0; k < 5; ++k) expect_healthy();
    EXPECT_TRUE(wait_until([&] { return server->status().aborted > 0; }, kLimit + kLate + kSlack + 1));
    EXPECT_GT(now_s() - begin, 0.8 * kLimit);
    EXPECT_TRUE(wait_until([&] { return server->status().connections == 0; }, 2));
    EXPECT_LT(server->status().inflight_bytes, int64_t{1} << 20);
    writer.join();
  }
  EXPECT_TRUE(wait_until([&] { return server->status().inflight_bytes == 0; }, 2));
}

// Slow, but it takes some: nothing is cut, and nothing is lost.
TEST_F(HttpHostile, ReaderThatTakesLittle) {
  ModelSpec wide;
  wide.t = 64;
  model = make_model(wide);
  start(options);
  const std::vector<double> rows = random_rows(512, 2, 1);
  const int count = 30;  // 7.5 MiB of replies
  std::string requests;
  for (int k = 0; k < count; ++k) requests += predict_binary(binary_rows(rows));
  Client client(server->port(), 20, 65536);
  std::thread writer([&] { client.send(requests); });
  for (int k = 0; k < count; ++k) {
    if (k % 10 == 5) sleep_s(0.5 * kLimit);
    ASSERT_EQ(binary_difference(*model, rows, client.read()), "") << k;
  }
  writer.join();
}

}  // namespace voxridge_test
