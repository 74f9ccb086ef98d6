// What the tables of faulty requests share: each request is sent, alone and with a good one behind it, and its reply
// and the fate of the connection are checked.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "served.h"

namespace voxridge_test {

enum class After {
  keep,   // the connection goes on
  close,  // the reply says so, and nothing behind the request is answered
  either  // the design does not say
};

struct Refusal {
  std::string request;
  int status;
  std::string word;  // "": any
  After after;
  int64_t row, column;

  Refusal(const std::string& request_, int status_, const std::string& word_ = "", After after_ = After::close,
          int64_t row_ = 0, int64_t column_ = 0)
      : request(request_), status(status_), word(word_), after(after_), row(row_), column(column_) {}
};

// The beginning of a request, legible.
inline std::string shown(const std::string& request) {
  return ::testing::PrintToString(request.substr(0, 400));
}

// A server for two features, x1 and x2, with the coefficients 2 and 1.
class RefusalTest : public ::testing::Test {
 protected:
  RefusalTest() : model(make_model(spec())) {}

  static ModelSpec spec() {
    ModelSpec out;
    out.coefs = {2, 1};
    return out;
  }
  void start(const ServerOptions& options = {}) { server.reset(new Server(options, model)); }

  void expect_good(Client& client, const Refusal& one) {
    const std::vector<double> rows = {0.5, -1.2, 1, 2};
    const Reply reply = client.ask(predict(json_rows(rows, 2), good_fields));
    EXPECT_EQ(json_difference(*model, rows, reply), "") << "after " << shown(one.request);
  }

  void expect_refused(const Refusal& one) {
    SCOPED_TRACE(shown(one.request));
    for (const bool followed : {false, true}) {
      Client client(server->port());
      client.send(one.request + (followed ? get("/livez") : ""));
      const Reply reply = client.read();
      EXPECT_EQ(reply.status, one.status) << reply.bytes;
      check_error(one, reply);
      if (one.after == After::close) {
        EXPECT_TRUE(reply.says_close()) << reply.bytes;
      }
      if (one.after == After::keep) {
        EXPECT_FALSE(reply.has("connection")) << reply.bytes;
      }
      if (reply.says_close()) {
        EXPECT_TRUE(client.closes()) << "a reply after the last one";
        continue;
      }
      if (followed) {
        EXPECT_EQ(client.read().body, "{\"status\":\"alive\"}");
      }
      expect_good(client, one);
    }
  }
  void expect_refused(const std::vector<Refusal>& cases) {
    for (const Refusal& one : cases) {
      try {
        expect_refused(one);
      } catch (const std::runtime_error& error) {
        ADD_FAILURE() << shown(one.request) << "\n" << error.what();
      }
    }
  }

  // A request that is answered, and the connection goes on.
  void expect_taken(const std::string& request, int status = 200) {
    try {
      Client client(server->port());
      EXPECT_EQ(client.ask(request).status, status) << shown(request);
      EXPECT_EQ(client.ask(get("/livez")).status, 200) << shown(request);
    } catch (const std::runtime_error& error) {
      ADD_FAILURE() << shown(request) << "\n" << error.what();
    }
  }

  std::shared_ptr<const ServedModel> model;
  std::unique_ptr<Server> server;
  std::string good_fields;  // of the good request

 private:
  static void check_error(const Refusal& one, const Reply& reply) {
    const Json error = reply.json()["error"];
    const std::string word = error["code"].letters, message = error["message"].letters;
    EXPECT_NE(word, "");
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << word;
    EXPECT_FALSE(message.empty());
    if (!one.word.empty()) {
      EXPECT_EQ(word, one.word);
    }
    EXPECT_EQ(reply.row(), one.row) << reply.body;
    EXPECT_EQ(reply.column(), one.column) << reply.body;
    EXPECT_EQ(error.items.size(), size_t{2} + (one.row > 0) + (one.column > 0)) << reply.body;
    EXPECT_EQ(reply.field("content-type").compare(0, 16, "application/json"), 0) << reply.bytes;
    if (one.status == 405) {
      EXPECT_TRUE(reply.has("allow"));
    }
    if (one.status == 401) {
      EXPECT_EQ(reply.field("www-authenticate"), "Bearer");
    }
    if (one.status == 503) {
      EXPECT_EQ(reply.field("retry-after"), "1");
    }
  }
};

}  // namespace voxridge_test
