// The head of an HTTP/1.1 request (RFC 9112), read strictly: what could be understood in two ways is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "limits.h"
#include "refusal.h"

namespace voxridge {

enum class Method { get, head, post, other };

// Views into the bytes of the request.
struct HttpHead {
  size_t size = 0;  // bytes, with the empty line
  Method method = Method::other;
  bool http11 = true;
  bool keep_alive = true;
  std::string_view path, query;  // without the `?`
  bool has_query = false;
  std::string_view host;  // without the port; of the target where it names one; "" for none
  bool has_host = false;
  std::string_view content_type, authorization, expect;
  bool encoded = false;  // a Content-Encoding other than identity
  bool has_length = false, chunked = false;
  uint64_t length = 0;

  bool has_body() const { return chunked || length > 0; }
};

enum class Reading { more, done, refused };

// Reads from the first byte again at each call, so that the answer is the same however the bytes came.
Reading read_head(const char* bytes, size_t size, const Limits& limits, HttpHead& head, Refusal& refusal);

// A body in chunks, after its head. Extensions and trailer fields are passed over.
class ChunkedBody {
 public:
  ChunkedBody(const char* head, size_t size, const Limits& limits);
  ~ChunkedBody();

  // Appends to `body` and says in `used` how many bytes were taken; what is left is to come again, with more.
  Reading read(const char* bytes, size_t size, std::string& body, size_t& used, Refusal& refusal);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
  size_t max_left_;
};

}  // namespace voxridge
