#include "chunked_body.h"

#include <algorithm>

namespace voxridge {

namespace {

// The value of a hexadecimal digit, or -1.
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

// Of a field: a token (RFC 9110, section 5.6.2).
bool is_in_name(char c) {
  return digit_of(c) >= 0 || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

Reading ChunkedBody::read(const char* bytes, size_t size, std::string& body, size_t& used, Refusal& refusal) {
  used = 0;
  while (at_ != At::end) {
    if (used == size) return Reading::more;
    if (at_ == At::data) {
      const size_t piece = static_cast<size_t>(std::min<uint64_t>(left_, size - used));
      body.append(bytes + used, piece);
      used += piece;
      left_ -= piece;
      if (left_ == 0) at_ = At::data_return;
      continue;
    }
    refusal = take(bytes[used], static_cast<uint64_t>(limits_.max_body_bytes) - body.size());
    if (refusal != Refusal::none) return Reading::refused;
    ++used;
  }
  return Reading::done;
}

// `room`: what the body may still grow by.
Refusal ChunkedBody::add_digit(int digit, uint64_t room) {
  left_ = 16 * left_ + static_cast<uint64_t>(digit);  // no overflow: it was at most 64 MiB or what `limits` says
  at_ = At::digits;
  return left_ > room ? Refusal::body_too_large : Refusal::none;
}

Refusal ChunkedBody::take(char c, uint64_t room) {
  const auto expect = [&](char expected, At next) {
    at_ = next;
    return c == expected ? Refusal::none : Refusal::bad_request;
  };
  const auto to_end_of_line = [&](At here, At line_feed) {
    at_ = c == '\r' ? line_feed : here;
    return c != '\r' && is_control(c) ? Refusal::bad_request : Refusal::none;
  };
  if (++line_bytes_ > limits_.max_header_bytes) return Refusal::header_too_large;
  const int digit = digit_of(c);
  switch (at_) {
    case At::first_digit:
      return digit >= 0 ? add_digit(digit, room) : Refusal::bad_request;
    case At::digits:
      if (digit >= 0) return add_digit(digit, room);
      if (c == '\r') return expect('\r', At::line_feed);
      at_ = c == ';' ? At::extension : At::blanks;
      return c == ';' || is_blank(c) ? Refusal::none : Refusal::bad_request;
    case At::blanks:
      return is_blank(c) ? Refusal::none : expect(';', At::extension);
    case At::extension:
      return to_end_of_line(At::extension, At::line_feed);
    case At::line_feed:
      line_bytes_ = 0;
      return expect('\n', left_ > 0 ? At::data : At::trailer_start);
    case At::data_return:
      return expect('\r', At::data_line_feed);
    case At::data_line_feed:
      line_bytes_ = 0;
      return expect('\n', At::first_digit);
    case At::trailer_start:
      if (c == '\r') return expect('\r', At::last_line_feed);
      at_ = At::trailer_name;
      return is_in_name(c) ? Refusal::none : Refusal::bad_request;
    case At::trailer_name:
      return is_in_name(c) ? Refusal::none : expect(':', At::trailer_value);
    case At::trailer_value:
      return to_end_of_line(At::trailer_value, At::trailer_line_feed);
    case At::trailer_line_feed:
      return expect('\n', At::trailer_start);
    case At::last_line_feed:
      return expect('\n', At::end);
    case At::data:
    case At::end:
      break;
  }
  return Refusal::internal;
}

}  // namespace voxridge
