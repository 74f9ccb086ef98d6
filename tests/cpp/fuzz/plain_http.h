// A plain reader of HTTP requests, for the fuzzer to hold the server against. It takes what cannot be misunderstood;
// what could be is `odd`, and the server has to refuse it and close.
#pragma once

#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace plain_http {

struct Request {
  enum Kind { incomplete, whole, odd } kind = incomplete;
  size_t size = 0;  // of a whole one: its bytes, with an empty line before it
  std::string method, target, version, body;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

  int count(const std::string& name) const {
    int out = 0;
    for (const auto& field : fields) out += field.first == name;
    return out;
  }
  std::string value(const std::string& name) const {
    for (const auto& field : fields) {
      if (field.first == name) return field.second;
    }
    return "";
  }
};

inline std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

inline bool is_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

inline std::string without_zeros(const std::string& number) {
  const size_t first = number.find_first_not_of('0');
  return first == std::string::npos ? number.substr(0, 1) : number.substr(first);
}

// Lines end with CR LF, and neither stands elsewhere.
inline bool split_head(const std::string& head, Request& out) {
  std::vector<std::string> lines;
  for (size_t first = 0; first < head.size();) {
    const size_t end = head.find("\r\n", first);
    if (end == std::string::npos) return false;
    lines.push_back(head.substr(first, end - first));
    if (lines.back().find_first_of(std::string("\r\n\0", 3)) != std::string::npos) return false;
    first = end + 2;
  }
  if (lines.empty()) return false;
  const std::string& line = lines[0];
  const size_t one = line.find(' '), two = line.rfind(' ');
  if (one == std::string::npos || one == two || one == 0) return false;
  out.method = line.substr(0, one);
  out.target = line.substr(one + 1, two - one - 1);
  out.version = line.substr(two + 1);
  if (out.version != "HTTP/1.1" && out.version != "HTTP/1.0") return false;
  if (out.target.empty() || out.target.find_first_of(" \t") != std::string::npos) return false;
  for (size_t k = 1; k < lines.size(); ++k) {
    const size_t colon = lines[k].find(':');
    if (colon == std::string::npos || colon == 0) return false;
    if (lines[k].substr(0, colon).find_first_of(" \t") != std::string::npos) return false;
    std::string value = lines[k].substr(colon + 1);
    while (!value.empty() && (value[0] == ' ' || value[0] == '\t')) value.erase(0, 1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.pop_back();
    out.fields.emplace_back(lower(lines[k].substr(0, colon)), value);
  }
  return true;
}

// A body in chunks from `at` on; `at` goes past its end.
inline Request::Kind read_chunks(const std::string& bytes, size_t& at, std::string& body) {
  for (;;) {
    const size_t end = bytes.find("\r\n", at);
    if (end == std::string::npos) return Request::incomplete;
    const std::string line = bytes.substr(at, end - at);
    const size_t digits = line.find_first_not_of("0123456789abcdefABCDEF");
    const std::string hex = without_zeros(line.substr(0, digits));
    if (hex.empty() || hex.size() > 15) return Request::odd;
    if (digits != std::string::npos && line[digits] != ';') return Request::odd;
    if (line.find_first_of(std::string("\r\n\0", 3)) != std::string::npos) return Request::odd;
    const size_t size = std::stoull(hex, nullptr, 16);
    at = end + 2;
    if (size == 0) break;
    if (bytes.size() - at < size + 2) return Request::incomplete;
    body += bytes.substr(at, size);
    at += size;
    if (bytes.compare(at, 2, "\r\n") != 0) return Request::odd;
    at += 2;
  }
  for (;;) {  // trailer fields
    const size_t end = bytes.find("\r\n", at);
    if (end == std::string::npos) return Request::incomplete;
    const bool last = end == at;
    at = end + 2;
    if (last) return Request::whole;
  }
}

// The request that `bytes` begin with.
inline Request read_request(const std::string& bytes) {
  Request out;
  const size_t first = bytes.compare(0, 2, "\r\n") == 0 ? 2 : 0;
  const size_t end = bytes.find("\r\n\r\n", first);
  if (end == std::string::npos) return out;
  size_t at = end + 4;
  out.kind = Request::odd;
  if (!split_head(bytes.substr(first, end + 2 - first), out)) return out;
  const int lengths = out.count("content-length"), encodings = out.count("transfer-encoding");
  if (lengths + encodings > 1) return out;
  if (encodings == 1) {
    if (lower(out.value("transfer-encoding")) != "chunked" || out.version == "HTTP/1.0") return out;
    out.kind = read_chunks(bytes, at, out.body);
  } else if (lengths == 1) {
    const std::string length = without_zeros(out.value("content-length"));
    if (!is_digits(length) || length.size() > 15) return out;
    const size_t size = std::stoull(length);
    out.kind = bytes.size() - at < size ? Request::incomplete : Request::whole;
    out.body = bytes.substr(at, size);
    at += size;
  } else {
    out.kind = Request::whole;
  }
  out.size = at;
  return out;
}

}  // namespace plain_http
