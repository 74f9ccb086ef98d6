// What the tests of hostile clients share: a server whose deadlines are short, and what must hold beside them.
#pragma once

#include "refused.h"

namespace voxridge_test {

inline const std::string kBody = "{\"features\":[[0.5,-1.2]]}";
constexpr double kLimit = 1;    // seconds, of every deadline here
constexpr double kLate = 1;     // of the sweep that enforces them
constexpr double kSlack = 2;    // of a busy machine
constexpr double kHealthy = 1;  // a healthy request is answered within so long, also on a busy machine

class HttpHostile : public RefusalTest {
 protected:
  ServerOptions options;

  HttpHostile() {
    options.limits.header_timeout_s = kLimit;
    options.limits.request_timeout_s = kLimit;
    options.limits.idle_timeout_s = kLimit;
    options.limits.write_timeout_s = kLimit;
  }

  void expect_healthy() {
    const double start = now_s();
    Client client(server->port());
    EXPECT_EQ(client.ask(predict(kBody)).status, 200);
    EXPECT_LT(now_s() - start, kHealthy);
  }

  // The connection began at `start` and ends in time, with 408 or with nothing.
  void expect_timeout(Client& client, double start, bool with_reply) {
    const std::string rest = client.read_to_end();
    const double seconds = now_s() - start;
    EXPECT_GT(seconds, 0.8 * kLimit);
    EXPECT_LT(seconds, kLimit + kLate + kSlack);
    if (with_reply || !rest.empty()) {
      EXPECT_EQ(rest.compare(0, 12, "HTTP/1.1 408"), 0) << rest;
      EXPECT_NE(rest.find("Connection: close"), std::string::npos) << rest;
    }
  }

  void expect_all_gone() {
    EXPECT_TRUE(wait_until([&] { return server->status().connections == 0; }, kLimit + kLate + kSlack));
    const ServerStatus status = server->status();
    EXPECT_EQ(status.inflight_bytes, 0);
    EXPECT_EQ(status.inflight_requests, 0);
    expect_healthy();
  }
};

}  // namespace voxridge_test
