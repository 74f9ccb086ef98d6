// The lanes of a vector against a limit, and the largest of them.
#pragma once

#include <cstdint>

#include "lanes.h"

#ifdef VOXRIDGE_TARGETS
#include <immintrin.h>
#endif

namespace voxridge {

// Is a value above the limit? Vectors of the compiler have no such question of their own.
template <int kBytes>
struct Above {
  static bool any(const typename Vector<kBytes>::Int& u, int32_t limit) {
    const typename Vector<kBytes>::Int above = u > limit;
    int32_t all = 0;
    for (int lane = 0; lane < kBytes / 4; ++lane) all |= above[lane];
    return all != 0;
  }
};
#ifdef VOXRIDGE_TARGETS
template <>
struct Above<32> {
  VOXRIDGE_AVX2 static inline bool any(const Vector<32>::Int& u, int32_t limit) {
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32((__m256i)u, _mm256_set1_epi32(limit))) != 0;
  }
};
template <>
struct Above<64> {
  VOXRIDGE_AVX512 static inline bool any(const Vector<64>::Int& u, int32_t limit) {
    return _mm512_cmpgt_epi32_mask((__m512i)u, _mm512_set1_epi32(limit)) != 0;
  }
};
#endif

template <int kBytes>
VOXRIDGE_INLINE int32_t largest_of(const typename Vector<kBytes>::Int& u) {
  int32_t largest = u[0];
  for (int lane = 1; lane < kBytes / 4; ++lane) largest = largest > u[lane] ? largest : u[lane];
  return largest;
}

}  // namespace voxridge
