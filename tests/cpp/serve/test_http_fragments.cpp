// However a request is cut into pieces, its reply is the same, byte for byte; and many requests at once are answered in
// their order.
#include <thread>

#include "refused.h"

namespace voxridge_test {

namespace {

const std::string kBody = "{\"features\":[[0.5,-1.2],[1e2,-0]]}";

class HttpFragments : public RefusalTest {
 protected:
  // All replies to these bytes, sent in pieces that end at `cuts`, without their dates.
  std::string replies(const std::string& bytes, const std::vector<size_t>& cuts, int count) {
    Client client(server->port());
    size_t done = 0;
    for (const size_t cut : cuts) {
      client.send(bytes.substr(done, cut - done));
      done = cut;
      sleep_s(0.0002);  // so that the piece is read before the next comes
    }
    client.send(bytes.substr(done));
    std::string out;
    for (int k = 0; k < count; ++k) {
      const Reply reply = client.read();
      const size_t date = reply.bytes.find("\r\nDate: ");
      out += date == std::string::npos ? reply.bytes : std::string(reply.bytes).erase(date, 37);
      if (reply.says_close()) {
        EXPECT_TRUE(client.closes());
        break;
      }
    }
    return out;
  }

  void expect_same(const std::string& bytes, int count) {
    const std::string whole = replies(bytes, {}, count);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      ASSERT_EQ(replies(bytes, {cut}, count), whole) << "cut after " << bytes.substr(0, cut);
    }
    std::vector<size_t> all;
    for (size_t cut = 1; cut < bytes.size(); ++cut) all.push_back(cut);
    EXPECT_EQ(replies(bytes, all, count), whole) << "byte by byte: " << bytes;
  }
};

}  // namespace

TEST_F(HttpFragments, GoodRequests) {
  start();
  expect_same(predict(kBody), 1);
  expect_same(predict_binary(binary_rows({0.5, -1.2, 1, 2})), 1);
  expect_same("\r\n" + get("/readyz", "X-A: b\r\n"), 1);
}

TEST_F(HttpFragments, Chunks) {
  start();
  expect_same(chunked(kBody, 9, "A: b\r\nHost: evil\r\n"), 1);
  const std::string head = chunked("", 1).substr(0, chunked("", 1).size() - 5);
  expect_same(head + "22;a=\"b\"\r\n" + kBody + "\r\n0;c\r\n\r\n", 1);
}

TEST_F(HttpFragments, FaultsOfTheHead) {
  start();
  for (const std::string& request :
       {get("/livez", "A : b\r\n"), get("/livez", "A: b\r\n c\r\n"), get("/livez?a=b"), get("/nowhere"),
        std::string("GET /livez HTTP/1.1\nHost: localhost\r\n\r\n"), get("/livez", "Host: b\r\n"),
        get("/livez", "Content-Length: 1\r\nContent-Length: 1\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
    expect_same(request, 1);
  }
}

TEST_F(HttpFragments, FaultsOfTheBody) {
  start();
  expect_same(predict("{\"features\":[[1,2],[1]]}"), 1);
  expect_same(predict("{\"features\":[[1,\xff]]}"), 1);
  expect_same(predict_binary(std::string(15, '\0')), 1);
  expect_same(chunked(kBody, 20).substr(0, 132) + "zz\r\n", 1);
}

TEST_F(HttpFragments, Pairs) {
  start();
  expect_same(predict(kBody) + get("/livez"), 2);
  expect_same(get("/readyz") + predict("{}"), 2);
  expect_same(chunked(kBody, 30) + "\r\n" + get("/nowhere"), 2);
  expect_same(get("/livez", "Connection: close\r\n") + get("/readyz"), 2);
}

// Two cuts at random places, and many small pieces.
TEST_F(HttpFragments, RandomCuts) {
  start();
  const std::string bytes = get("/livez") + predict(kBody) + chunked(kBody, 7, "A: b\r\n") +
                            predict("{\"features\":[]}") + predict_binary(binary_rows({1, 2})) +
                            get("/livez", "A : b\r\n") + get("/livez");
  const std::string whole = replies(bytes, {}, 6);
  uint64_t state = 12345;
  for (int k = 0; k < 400; ++k) {
    std::vector<size_t> cuts;
    for (size_t at = 0;;) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      at += 1 + (state >> 33) % (k % 2 == 0 ? 400 : 60);
      if (at >= bytes.size()) break;
      cuts.push_back(at);
    }
    ASSERT_EQ(replies(bytes, cuts, 6), whole) << k;
  }
}

TEST_F(HttpFragments, ThousandRequestsAtOnce) {
  start();
  std::string bytes;
  std::vector<std::vector<double>> rows;
  for (int k = 0; k < 1000; ++k) {
    rows.push_back(random_rows(1 + k % 3, 2, static_cast<uint64_t>(k)));
    bytes += k % 10 == 7  ? predict("{\"features\":[[1,2],[3]]}")
             : k % 2 == 0 ? predict(json_rows(rows.back(), 2))
                          : predict_binary(binary_rows(rows.back()));
  }
  Client client(server->port());
  std::thread writer([&] { client.send(bytes); });
  std::string first_wrong;
  for (int k = 0; k < 1000 && first_wrong.empty(); ++k) {
    try {
      const Reply reply = client.read();
      if (k % 10 == 7)
        first_wrong = reply.status == 422 && reply.row() == 2 ? "" : reply.bytes;
      else
        first_wrong = k % 2 == 0 ? json_difference(*model, rows[static_cast<size_t>(k)], reply)
                                 : binary_difference(*model, rows[static_cast<size_t>(k)], reply);
    } catch (const std::runtime_error& error) {
      first_wrong = error.what();
    }
  }
  writer.join();
  EXPECT_EQ(first_wrong, "");
  EXPECT_TRUE(client.is_quiet(0.05));
}

}  // namespace voxridge_test
