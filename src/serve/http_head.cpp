#include "http_head.h"

#define BOOST_DISABLE_ASSERTS  // nothing here ends the process
#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>

#include "http_fields.h"

namespace voxridge {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using Text = boost::beast::string_view;

std::string_view view(Text text) {
  return {text.data(), text.size()};
}

// What of a head is looked at; the parser sees to the grammar.
struct Seen {
  std::string_view method, target;
  int version = 11;
  std::string_view host, length, transfer;
  int hosts = 0, lengths = 0, transfers = 0, content_types = 0, authorizations = 0, expects = 0;
  HttpHead head;
};

class HeadParser : public http::basic_parser<true> {
 public:
  explicit HeadParser(uint32_t header_limit) {
    this->header_limit(header_limit);
    this->body_limit((std::numeric_limits<uint64_t>::max)());
  }
  Seen seen;

 protected:
  void on_request_impl(http::verb, Text method, Text target, int version, error_code&) override {
    seen.method = view(method);
    seen.target = view(target);
    seen.version = version;
  }
  void on_field_impl(http::field name, Text, Text text, error_code&) override {
    if (head_done_) return;  // before Boost 1.90 trailer fields come here too
    const std::string_view value = view(text);
    const auto note = [&](int& count, std::string_view& where) {
      ++count;
      where = value;
    };
    switch (name) {
      case http::field::host:
        return note(seen.hosts, seen.host);
      case http::field::content_length:
        return note(seen.lengths, seen.length);
      case http::field::transfer_encoding:
        return note(seen.transfers, seen.transfer);
      case http::field::content_type:
        return note(seen.content_types, seen.head.content_type);
      case http::field::authorization:
        return note(seen.authorizations, seen.head.authorization);
      case http::field::expect:
        return note(seen.expects, seen.head.expect);
      case http::field::content_encoding:
        if (!same_token(value, "identity")) seen.head.encoded = true;
        return;
      default:
        return;
    }
  }
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_trailer_field_impl(http::field, Text, Text, error_code&) {}  // pure virtual from Boost 1.90 on
  void on_header_impl(error_code&) override { head_done_ = true; }
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(Text body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(uint64_t, Text, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, Text body, error_code&) override { return body.size(); }
  void on_finish_impl(error_code&) override {}

 private:
  bool head_done_ = false;
};

Refusal refusal_of(const error_code& error, const Seen& seen) {
  if (error == http::error::bad_content_length) return Refusal::bad_length;
  if (error == http::error::bad_transfer_encoding) {
    return seen.lengths > 0 ? Refusal::bad_length : Refusal::unsupported_transfer;
  }
  if (error == http::error::header_limit) return Refusal::header_too_large;
  if (error == http::error::body_limit) return Refusal::body_too_large;
  return Refusal::bad_request;
}

// A line that starts with a blank goes on from the one before it, in the grammar of old.
bool has_folded_line(std::string_view head) {
  for (size_t at = head.find('\n'); at + 1 < head.size(); at = head.find('\n', at + 1)) {
    if (head[at + 1] == ' ' || head[at + 1] == '\t') return true;
  }
  return false;
}

// Lines end with CR LF; a line that ends otherwise is not waited for.
bool has_bare_line_feed(std::string_view bytes) {
  for (size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    if (at == 0 || bytes[at - 1] != '\r') return true;
  }
  return false;
}

// Where the request target passes its limit; no place for one that does not.
size_t end_of_long_target(std::string_view bytes, size_t most) {
  const size_t first = bytes.find(' ');
  if (first == std::string_view::npos || bytes.size() - first - 1 <= most) return std::string_view::npos;
  const size_t size = bytes.substr(first + 1, most + 1).find_first_of(" \r\n");
  return size == std::string_view::npos ? first + 1 + most + 1 : std::string_view::npos;
}

Method method_of(std::string_view method) {
  if (method == "POST") return Method::post;
  if (method == "GET") return Method::get;
  if (method == "HEAD") return Method::head;
  return Method::other;
}

// The lengths, then the host: RFC 9112, sections 6 and 3.2.
Refusal interpret(Seen& seen) {
  HttpHead& head = seen.head;
  head.method = method_of(seen.method);
  head.http11 = seen.version == 11;
  if (seen.content_types > 1 || seen.authorizations > 1 || seen.expects > 1) return Refusal::bad_request;
  if (seen.lengths > 1 || (seen.lengths > 0 && seen.transfers > 0)) return Refusal::bad_length;
  if (seen.transfers > 0 && !head.http11) return Refusal::bad_length;
  if (seen.transfers > 1 || (seen.transfers == 1 && !same_token(seen.transfer, "chunked"))) {
    return Refusal::unsupported_transfer;
  }
  head.chunked = seen.transfers == 1;
  head.has_length = seen.lengths == 1;
  if (head.has_length && !read_length(seen.length, head.length)) return Refusal::bad_length;
  if (head.has_body() && (head.method == Method::get || head.method == Method::head)) return Refusal::unexpected_body;
  if (!head.http11) head.expect = {};

  if (seen.hosts > 1 || (seen.hosts == 0 && head.http11)) return Refusal::bad_host;
  head.has_host = seen.hosts == 1;
  std::string_view target = seen.target;
  if (head.has_host && !read_host(seen.host, head.host)) return Refusal::bad_host;
  if (!target.empty() && target.front() != '/') {
    std::string_view authority;
    if (split_absolute(target, authority)) {
      if (authority.empty() || !read_host(authority, head.host)) return Refusal::bad_host;
      head.has_host = true;
    }
  }
  const size_t mark = target.find('?');
  head.has_query = mark != std::string_view::npos;
  head.path = target.substr(0, mark);
  if (head.has_query) head.query = target.substr(mark + 1);
  return Refusal::none;
}

}  // namespace

Reading read_head(const char* bytes, size_t size, const Limits& limits, HttpHead& head, Refusal& refusal) {
  const auto refuse = [&](Refusal why) {
    refusal = why;
    return Reading::refused;
  };
  const std::string_view all(bytes, size);
  const size_t end = all.find("\r\n\r\n");
  const size_t head_size = end == std::string_view::npos ? size : end + 4;
  const size_t most = static_cast<size_t>(limits.max_header_bytes);
  const size_t long_target = end_of_long_target(all, static_cast<size_t>(limits.max_uri_bytes));
  // What passes a limit is not looked at. One byte more, so that the parser never ends on its own limit.
  HeadParser parser(static_cast<uint32_t>(most + 1));
  error_code error;
  parser.put(boost::asio::const_buffer(bytes, std::min({head_size, most, long_target})), error);
  const bool more = error == http::error::need_more;
  if (error && !more) return refuse(refusal_of(error, parser.seen));
  if (long_target <= most) return refuse(Refusal::uri_too_long);
  if (head_size > most) return refuse(Refusal::header_too_large);
  if (more) {
    const bool waits = end == std::string_view::npos && !has_bare_line_feed(all);
    return waits ? Reading::more : refuse(Refusal::bad_request);
  }
  if (has_folded_line(all.substr(0, head_size))) return refuse(Refusal::bad_request);
  const Refusal wrong = interpret(parser.seen);
  if (wrong != Refusal::none) return refuse(wrong);
  head = parser.seen.head;
  head.size = head_size;
  head.keep_alive = parser.keep_alive();
  return Reading::done;
}

class ChunkedBody::Parser : public HeadParser {
 public:
  explicit Parser(uint32_t header_limit) : HeadParser(header_limit) {}
  std::string* body = nullptr;

 protected:
  size_t on_chunk_body_impl(uint64_t, Text piece, error_code&) override {
    body->append(piece.data(), piece.size());
    return piece.size();
  }
};

ChunkedBody::ChunkedBody(const char* head, size_t size, const Limits& limits)
    : parser_(std::make_unique<Parser>(static_cast<uint32_t>(limits.max_header_bytes + 1))),
      max_left_(static_cast<size_t>(limits.max_header_bytes)) {
  parser_->body_limit(static_cast<uint64_t>(limits.max_body_bytes));
  error_code error;
  parser_->put(boost::asio::const_buffer(head, size), error);
}

ChunkedBody::~ChunkedBody() = default;

Reading ChunkedBody::read(const char* bytes, size_t size, std::string& body, size_t& used, Refusal& refusal) {
  parser_->body = &body;
  used = 0;
  while (!parser_->is_done()) {
    error_code error;
    used += parser_->put(boost::asio::const_buffer(bytes + used, size - used), error);
    if (error == http::error::need_more || (!error && used == size && !parser_->is_done())) {
      // what is left is the beginning of a line: a size with its extensions, or a trailer field
      const std::string_view left(bytes + used, size - used);
      if (left.size() <= max_left_ && !has_bare_line_feed(left)) return Reading::more;
      refusal = left.size() > max_left_ ? Refusal::header_too_large : Refusal::bad_request;
      return Reading::refused;
    }
    if (error) {
      refusal = refusal_of(error, parser_->seen);
      return Reading::refused;
    }
  }
  return Reading::done;
}

}  // namespace voxridge
