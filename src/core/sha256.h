// SHA-256 (FIPS 180-4), for the identity of a model. Not written to resist whoever can measure its time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace voxridge {

class Sha256 {
 public:
  void update(const void* bytes, size_t size);
  std::array<unsigned char, 32> digest();  // ends the message: nothing may follow
  std::string hex() { return to_hex(digest()); }

  static std::string to_hex(const std::array<unsigned char, 32>& digest);

 private:
  void take_block(const unsigned char* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};  // what waits for the rest of its block
  uint64_t bytes_ = 0;
};

}  // namespace voxridge
