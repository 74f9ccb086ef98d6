#include "json_text.h"

namespace voxridge {

namespace {

// One character of several bytes: two to four, neither longer than it need be, nor half a surrogate pair, nor beyond
// U+10FFFF, all of which the range of the second byte tells.
bool read_many_bytes(const char*& at, const char* end, Spelling& spelling) {
  const auto first = static_cast<unsigned char>(*at);
  if (first < 0xc2 || first > 0xf4) return false;
  int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  spelling.byte(first);
  for (++at; more > 0; --more, ++at) {
    if (at == end) return false;
    const auto c = static_cast<unsigned char>(*at);
    if (c < low || c > high) return false;
    spelling.byte(c);
    low = 0x80;
    high = 0xbf;
  }
  return true;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `at`: after the backslash.
bool read_escape(const char*& at, const char* end, Spelling& spelling) {
  if (at == end) return false;
  switch (*at) {
    case '"':
    case '\\':
    case '/':
      spelling.byte(static_cast<unsigned char>(*at));
      break;
    case 'b':
      spelling.byte('\b');
      break;
    case 'f':
      spelling.byte('\f');
      break;
    case 'n':
      spelling.byte('\n');
      break;
    case 'r':
      spelling.byte('\r');
      break;
    case 't':
      spelling.byte('\t');
      break;
    case 'u': {
      uint32_t unit = 0;
      for (int k = 0; k < 4; ++k) {
        ++at;
        const int digit = at == end ? -1 : hex_digit(*at);
        if (digit < 0) return false;
        unit = unit << 4 | static_cast<uint32_t>(digit);
      }
      spelling.unit(unit);
      break;
    }
    default:
      return false;
  }
  ++at;
  return true;
}

}  // namespace

void Spelling::unit(uint32_t u) {
  if (high_ != 0 && u >= 0xdc00 && u < 0xe000) {
    u = 0x10000 + ((high_ - 0xd800) << 10) + (u - 0xdc00);
    high_ = 0;
  } else if (u >= 0xd800 && u < 0xe000) {
    same_ = same_ && high_ == 0 && u < 0xdc00;
    high_ = u;
    return;
  }
  if (u < 0x80) return byte(u);
  if (u < 0x800) {
    byte(0xc0 | u >> 6);
  } else if (u < 0x10000) {
    byte(0xe0 | u >> 12);
    byte(0x80 | (u >> 6 & 0x3f));
  } else {
    byte(0xf0 | u >> 18);
    byte(0x80 | (u >> 12 & 0x3f));
    byte(0x80 | (u >> 6 & 0x3f));
  }
  byte(0x80 | (u & 0x3f));
}

bool read_json_text(const char*& at, const char* end, Spelling& spelling) {
  ++at;
  while (at < end) {
    const auto c = static_cast<unsigned char>(*at);
    if (c == '"') {
      ++at;
      return true;
    }
    if (c < 0x20) return false;
    if (c == '\\') {
      ++at;
      if (!read_escape(at, end, spelling)) return false;
    } else if (c < 0x80) {
      spelling.byte(c);
      ++at;
    } else if (!read_many_bytes(at, end, spelling)) {
      return false;
    }
  }
  return false;
}

}  // namespace voxridge
