// Replies of the server, read strictly: what a careful client would refuse is an exception here. Without sockets and
// without GoogleTest, so that the fuzzer and the load generator share it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace voxridge_test {

// Something that no reply may be.
struct BadReply : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// JSON, without repeated keys.
struct Json {
  enum Kind { null, truth, number, text, array, object } kind = null;
  bool is_true = false;
  double value = 0;
  std::string letters;
  std::vector<Json> items;
  std::vector<std::string> keys;  // of an object, one per item

  const Json* find(const std::string& key) const;        // nullptr: there is none
  const Json& operator[](const std::string& key) const;  // throws BadReply
  std::vector<double> numbers() const;                   // all within, from left to right
  std::vector<std::string> texts() const;
};
Json parse_json(const std::string& text);  // throws BadReply

struct Reply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
  std::string body;
  std::string bytes;  // head and body as they came

  bool has(const std::string& name) const;
  std::string field(const std::string& name) const;  // "" where there is none
  bool says_close() const { return field("connection") == "close"; }

  Json json() const { return parse_json(body); }
  // The word, row and column of an error; "" and 0 where there are none.
  std::string word() const;
  int64_t row() const;
  int64_t column() const;
};

// Takes one reply off the front of `bytes`; false: more must come. `head`: it answers HEAD, so no body follows. Every
// reply but 100 has the fields that the server promises, each once. Throws BadReply.
bool take_reply(std::string& bytes, bool head, Reply& reply);

}  // namespace voxridge_test
