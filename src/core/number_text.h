// Numbers and their decimal text, whatever locale the process has set: reading rounds to the nearest double (ties to
// even), and what is written is short and reads back to the same double.
#pragma once

#include <cstddef>

namespace voxridge {

constexpr size_t kNumberBytes = 24;  // the longest text, that of -2.2250738585072014e-308

// The text of a JSON number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?. Any length; at most 800 bytes are read from
// where they stand. False, with an infinite value, where the number rounds beyond the largest double. Too small a
// number becomes a subnormal one or zero, with its sign.
bool read_number(const char* text, const char* end, double& value);

// Writes at most kNumberBytes without a closing zero and returns how many: a JSON number. JSON has no text for NaN and
// Inf: they become `null`.
size_t write_number(double value, char* to);

// The same by the C library alone, for compilers without std::from_chars and std::to_chars for double.
bool read_number_plain(const char* text, const char* end, double& value);
size_t write_number_plain(double value, char* to);

}  // namespace voxridge
