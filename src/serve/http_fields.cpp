#include "http_fields.h"

#include <limits>

namespace voxridge {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}
bool is_hex(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

template <class Test>
bool all_of(std::string_view text, Test test) {
  for (const char c : text) {
    if (!test(c)) return false;
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// What stands before the mark, which goes with it; all of it where there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return before;
}

}  // namespace

bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

bool read_length(std::string_view value, uint64_t& length) {
  if (value.empty() || !all_of(value, is_digit)) return false;
  length = 0;
  for (const char c : value) {
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (length > (std::numeric_limits<uint64_t>::max() - digit) / 10) return false;
    length = 10 * length + digit;
  }
  return true;
}

bool read_host(std::string_view value, std::string_view& host) {
  size_t size;
  if (!value.empty() && value.front() == '[') {
    size = value.find(']');
    if (size == std::string_view::npos) return false;
    ++size;
    const std::string_view inside = value.substr(1, size - 2);
    if (inside.empty() || !all_of(inside, [](char c) { return is_hex(c) || c == ':' || c == '.'; })) return false;
  } else {
    size = value.find(':');
    if (size == std::string_view::npos) size = value.size();
    const auto in_name = [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "-._~%!$&'()*+,;="); };
    if (!all_of(value.substr(0, size), in_name)) return false;
  }
  const std::string_view port = value.substr(size);
  if (!port.empty() && (port.front() != ':' || !all_of(port.substr(1), is_digit))) return false;
  host = value.substr(0, size);
  return true;
}

bool split_absolute(std::string_view& target, std::string_view& authority) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() < scheme.size() || !same_token(target.substr(0, scheme.size()), scheme)) continue;
    std::string_view rest = target.substr(scheme.size());
    const size_t end = rest.find_first_of("/?#");
    authority = rest.substr(0, end);
    target = end == std::string_view::npos ? std::string_view("/") : rest.substr(end);
    return true;
  }
  return false;
}

bool is_media_type(std::string_view value, std::string_view type) {
  if (!same_token(trimmed(take_until(value, ';')), type)) return false;
  while (!value.empty()) {
    std::string_view parameter = trimmed(take_until(value, ';'));
    if (!same_token(trimmed(take_until(parameter, '=')), "charset")) continue;
    parameter = trimmed(parameter);
    if (!same_token(parameter, "utf-8") && !same_token(parameter, "\"utf-8\"")) return false;
  }
  return true;
}

bool is_bearer(std::string_view value, const std::string& token) {
  constexpr std::string_view kScheme = "Bearer ";
  if (value.size() < kScheme.size() || !same_token(value.substr(0, kScheme.size()), kScheme)) return false;
  value.remove_prefix(kScheme.size());
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  return same_secret(value, token);
}

bool same_secret(std::string_view found, std::string_view secret) {
  // as many steps as what was sent has bytes, whatever the secret
  volatile unsigned char difference = found.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < found.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    difference = static_cast<unsigned char>(difference | static_cast<unsigned char>(found[i] ^ expected));
  }
  return difference == 0 && !secret.empty();
}

}  // namespace voxridge
