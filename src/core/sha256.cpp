#include "sha256.h"

#include <algorithm>
#include <cstring>

#include "bytes.h"

namespace voxridge {

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRoots[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotated(uint32_t x, int bits) {
  return x >> bits | x << (32 - bits);
}

void store_big_endian(unsigned char* to, uint32_t x) {
  store(to, swapped(x));
}

}  // namespace

void Sha256::update(const void* bytes, size_t size) {
  const unsigned char* from = static_cast<const unsigned char*>(bytes);
  while (size > 0) {
    const size_t used = bytes_ % 64, n = std::min(size, 64 - used);
    std::memcpy(block_.data() + used, from, n);
    bytes_ += n;
    from += n;
    size -= n;
    if (used + n == 64) take_block(block_.data());
  }
}

std::array<unsigned char, 32> Sha256::digest() {
  const uint64_t bits = 8 * bytes_;
  const unsigned char one = 0x80, zero = 0;
  update(&one, 1);
  while (bytes_ % 64 != 56) update(&zero, 1);
  unsigned char length[8];
  store_big_endian(length, static_cast<uint32_t>(bits >> 32));
  store_big_endian(length + 4, static_cast<uint32_t>(bits));
  update(length, 8);
  std::array<unsigned char, 32> out;
  for (size_t k = 0; k < 8; ++k) store_big_endian(out.data() + 4 * k, state_[k]);
  return out;
}

std::string Sha256::to_hex(const std::array<unsigned char, 32>& digest) {
  std::string out;
  for (const unsigned char byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

// The names are those of the standard, section 6.2.2.
void Sha256::take_block(const unsigned char* block) {
  uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = load<uint32_t>(block + 4 * t, true);
  for (int t = 16; t < 64; ++t) {
    const uint32_t low = rotated(w[t - 15], 7) ^ rotated(w[t - 15], 18) ^ w[t - 15] >> 3;
    const uint32_t high = rotated(w[t - 2], 17) ^ rotated(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + low + w[t - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t t1 = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + kRoots[t] + w[t];
    const uint32_t t2 = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t next[8] = {a, b, c, d, e, f, g, h};
  for (size_t k = 0; k < 8; ++k) state_[k] += next[k];
}

}  // namespace voxridge
