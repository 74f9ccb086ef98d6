// Philox4x32-10, a counter-based generator: draw i of stream s under key k is a pure function of (k, s, i), so
// results do not depend on threads, batches, workers or devices.
// Source: Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC'11,
// doi:10.1145/2063384.2063405. Known-answer vectors are in tests/cpp/test_philox.cpp.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace voxridge {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  // `stream` keeps different uses of one seed apart (candidates, permutations, simulated noise ...).
  Philox(uint64_t key, uint64_t stream)
      : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}, stream_(stream) {}

  // Four words for one index.
  Block block(uint64_t index) const {
    Block counter = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(stream_),
                     static_cast<uint32_t>(stream_ >> 32)};
    return rounds(counter, key_);
  }

  static Block rounds(Block c, std::array<uint32_t, 2> k) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t product0 = uint64_t{0xD2511F53} * c[0];
      const uint64_t product1 = uint64_t{0xCD9E8D57} * c[2];
      c = {static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(product1),
           static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(product0)};
      k[0] += 0x9E3779B9;
      k[1] += 0xBB67AE85;
    }
    return c;
  }

  // Two numbers in the open interval (0, 1), 53 bits each.
  std::array<double, 2> uniform_pair(uint64_t index) const {
    const Block b = block(index);
    return {to_unit(b[0], b[1]), to_unit(b[2], b[3])};
  }

  // Two standard normal numbers (Box and Muller 1958, doi:10.1214/aoms/1177706645).
  std::array<double, 2> normal_pair(uint64_t index) const {
    const std::array<double, 2> u = uniform_pair(index);
    const double radius = std::sqrt(-2.0 * std::log(u[0]));
    const double angle = 6.283185307179586476925286766559 * u[1];
    return {radius * std::cos(angle), radius * std::sin(angle)};
  }

 private:
  static double to_unit(uint32_t low, uint32_t high) {
    const uint64_t bits = (uint64_t{high} << 32 | low) >> 11;  // 53 bits
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;
  }

  std::array<uint32_t, 2> key_;
  uint64_t stream_;
};

}  // namespace voxridge
