// Numbers in the bytes of a file, in either byte order, at any alignment.
#pragma once

#include <cstdint>
#include <cstring>

namespace voxridge {

inline bool host_is_big_endian() {
  const uint16_t one = 1;
  unsigned char first;
  std::memcpy(&first, &one, 1);
  return first == 0;
}

inline uint8_t swapped(uint8_t x) {
  return x;
}
inline uint16_t swapped(uint16_t x) {
  return __builtin_bswap16(x);
}
inline uint32_t swapped(uint32_t x) {
  return __builtin_bswap32(x);
}
inline uint64_t swapped(uint64_t x) {
  return __builtin_bswap64(x);
}

template <int size>
struct Bits;
template <>
struct Bits<1> {
  using type = uint8_t;
};
template <>
struct Bits<2> {
  using type = uint16_t;
};
template <>
struct Bits<4> {
  using type = uint32_t;
};
template <>
struct Bits<8> {
  using type = uint64_t;
};

// `swap`: the bytes are in the order that is not the host's.
template <class T, bool swap>
T load_as(const unsigned char* from) {
  typename Bits<sizeof(T)>::type bits;
  std::memcpy(&bits, from, sizeof(T));
  if (swap) bits = swapped(bits);
  T out;
  std::memcpy(&out, &bits, sizeof(T));
  return out;
}

template <class T>
T load(const unsigned char* from, bool big_endian) {
  return big_endian == host_is_big_endian() ? load_as<T, false>(from) : load_as<T, true>(from);
}

// Little endian.
template <class T>
void store(unsigned char* to, T value) {
  typename Bits<sizeof(T)>::type bits;
  std::memcpy(&bits, &value, sizeof(T));
  if (host_is_big_endian()) bits = swapped(bits);
  std::memcpy(to, &bits, sizeof(T));
}

}  // namespace voxridge
