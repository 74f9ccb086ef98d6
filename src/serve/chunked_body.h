// A body in chunks (RFC 9112, section 7.1), taken byte by byte, so that the answer is the same however the bytes came.
// Extensions and trailer fields are passed over. (The parser of Boost takes lines whole, and judges some of them by how
// much of them it has.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "http_head.h"

namespace voxridge {

class ChunkedBody {
 public:
  explicit ChunkedBody(const Limits& limits) : limits_(limits) {}

  // Appends to `body` and says in `used` how many bytes were taken: all, where there is more to come.
  Reading read(const char* bytes, size_t size, std::string& body, size_t& used, Refusal& refusal);

 private:
  enum class At {
    first_digit,
    digits,
    blanks,     // before an extension
    extension,  // up to the end of the line
    line_feed,  // of the line of a size
    data,
    data_return,
    data_line_feed,
    trailer_start,  // of a line
    trailer_name,
    trailer_value,
    trailer_line_feed,
    last_line_feed,
    end
  };

  Refusal take(char c, uint64_t room);  // of all but data
  Refusal add_digit(int digit, uint64_t room);

  const Limits& limits_;
  At at_ = At::first_digit;
  uint64_t left_ = 0;       // of the chunk
  int64_t line_bytes_ = 0;  // of the line of a size, or of all trailer fields
};

}  // namespace voxridge
