#include "number_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

namespace voxridge {

namespace {

// A number halfway between two doubles has at most 767 digits: of more it matters only whether one of them is not 0.
constexpr int kDigits = 800;
constexpr int64_t kLargest = 309, kSmallest = -324;       // from 10^kLargest on: infinite; below 10^kSmallest: zero
constexpr int64_t kEndlessExponent = 1000000000000000LL;  // no text has so many digits to make up for it

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// digits x 10^exponent, without the decimal point, whose sign is the locale's.
struct PlainText {
  char text[kDigits + 16];
  int size = 0;  // 0: the number is zero
  int64_t exponent = 0;
  bool negative = false;
  bool dropped = false;  // a digit that is not 0 found no place

  void take(char digit, bool fraction) {
    if (size == 0 && digit == '0') {
      exponent -= fraction;  // a leading zero
    } else if (size < kDigits) {
      text[size++] = digit;
      exponent -= fraction;
    } else {
      dropped = dropped || digit != '0';
      exponent += !fraction;
    }
  }
};

void read_plain_text(const char* at, const char* end, PlainText& out) {
  out.negative = at < end && *at == '-';
  if (out.negative) ++at;
  for (; at < end && is_digit(*at); ++at) out.take(*at, false);
  if (at < end && *at == '.') {
    for (++at; at < end && is_digit(*at); ++at) out.take(*at, true);
  }
  if (at < end) {  // e or E
    ++at;
    const bool minus = at < end && *at == '-';
    if (at < end && !is_digit(*at)) ++at;
    int64_t exponent = 0;
    for (; at < end && exponent < kEndlessExponent; ++at) exponent = 10 * exponent + (*at - '0');
    out.exponent += minus ? -exponent : exponent;
  }
}

}  // namespace

bool read_number_plain(const char* text, const char* end, double& value) {
  PlainText plain;
  read_plain_text(text, end, plain);
  // Below 10^magnitude, and not below a tenth of that.
  const int64_t magnitude = plain.size + plain.exponent;
  double size = 0;
  if (plain.size > 0 && magnitude > kLargest) {
    size = std::numeric_limits<double>::infinity();
  } else if (plain.size > 0 && magnitude > kSmallest) {
    if (plain.dropped) {
      plain.text[plain.size++] = '1';
      --plain.exponent;
    }
    std::snprintf(plain.text + plain.size, 8, "e%d", static_cast<int>(plain.exponent));
    size = std::strtod(plain.text, nullptr);  // digits and an exponent: the same in every locale
  }
  value = plain.negative ? -size : size;
  return !std::isinf(size);
}

size_t write_number_plain(double value, char* to) {
  char text[64];
  for (int digits = 15; digits <= 17; ++digits) {
    const int size = std::snprintf(text, sizeof(text), "%.*g", digits, value);
    // Whatever this locale has for the decimal point, of one or more bytes, becomes one.
    size_t n = 0;
    for (int k = 0; k < size; ++k) {
      if (is_digit(text[k]) || text[k] == '-' || text[k] == '+' || text[k] == 'e') {
        to[n++] = text[k];
      } else if (to[n - 1] != '.') {
        to[n++] = '.';
      }
    }
    double back = 0;
    if (digits == 17 || (read_number_plain(to, to + n, back) && back == value)) return n;
  }
  return 0;
}

bool read_number(const char* text, const char* end, double& value) {
#if defined(__cpp_lib_to_chars)
  // Longer texts may have exponents that some libraries cut off. Those of too large or too small a number leave `value`
  // as it is, and some libraries count inexact subnormal numbers among these.
  if (end - text <= kDigits && std::from_chars(text, end, value).ec == std::errc()) return !std::isinf(value);
#endif
  return read_number_plain(text, end, value);
}

size_t write_number(double value, char* to) {
  if (!std::isfinite(value)) {
    std::memcpy(to, "null", 4);
    return 4;
  }
#if defined(__cpp_lib_to_chars)
  return static_cast<size_t>(std::to_chars(to, to + kNumberBytes, value).ptr - to);
#else
  return write_number_plain(value, to);
#endif
}

}  // namespace voxridge
