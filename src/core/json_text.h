// The strings of JSON (RFC 8259, section 7): read where they stand, and held against a name meanwhile, so that none is
// ever copied.
#pragma once

#include <cstdint>
#include <string>

namespace voxridge {

// Takes the bytes and escapes of a string as they come and says at the end whether it spelled the name.
class Spelling {
 public:
  Spelling() = default;
  explicit Spelling(const std::string& name)
      : at_(name.data()), end_(at_ + name.size()) {}  // `name`: UTF-8, outlives it

  void byte(uint32_t c) {
    same_ = same_ && high_ == 0 && at_ < end_ && static_cast<unsigned char>(*at_) == c;
    if (same_) ++at_;
  }
  void unit(uint32_t u);  // of UTF-16, from an escape
  bool matches() const { return same_ && high_ == 0 && at_ == end_; }

 private:
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool same_ = true;
  uint32_t high_ = 0;  // the first half of a surrogate pair, while it waits for the second
};

// `at`: the opening quote. It goes past the closing one, or to the first byte that is wrong: a control character, what
// is no escape, what is not UTF-8 (RFC 3629), or the end. Half a surrogate pair in an escape is allowed and spells no
// name.
bool read_json_text(const char*& at, const char* end, Spelling& spelling);

}  // namespace voxridge
