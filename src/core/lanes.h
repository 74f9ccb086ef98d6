// Loops over a few numbers side by side, written once and compiled for several instruction sets: the widest that the
// machine has is taken at run time. Integer and IEEE arithmetic, so that the choice cannot change an answer.
#pragma once

#include <cstdint>

namespace voxridge {

enum class InstructionSet { baseline, avx2, avx512 };

// Not on Windows, where GCC does not align the stack for wide vectors.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)
#define VOXRIDGE_TARGETS 1
#define VOXRIDGE_AVX2 __attribute__((target("avx2")))
#define VOXRIDGE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
inline InstructionSet best_instruction_set() {
  static const InstructionSet best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      return InstructionSet::avx512;
    }
    return __builtin_cpu_supports("avx2") ? InstructionSet::avx2 : InstructionSet::baseline;
  }();
  return best;
}
#else
inline InstructionSet best_instruction_set() {
  return InstructionSet::baseline;
}
#endif

#define VOXRIDGE_INLINE inline __attribute__((always_inline))

constexpr int kLanes = 16;       // 32-bit integers in a cache line
constexpr int kDoubleLanes = 8;  // doubles

// Vectors of the width that an instruction set has: a strip is one, two or four of them. (Compilers ignore a vector
// size that depends on a template's argument.)
template <int kBytes>
struct Vector;
template <>
struct Vector<16> {
  using Int = int32_t __attribute__((vector_size(16), may_alias));
  using Word = uint32_t __attribute__((vector_size(16), may_alias));
  using Double = double __attribute__((vector_size(16), may_alias));
  using Long = int64_t __attribute__((vector_size(16), may_alias));
  using HalfInt = int32_t __attribute__((vector_size(8), may_alias));  // as many as doubles
};
template <>
struct Vector<32> {
  using Int = int32_t __attribute__((vector_size(32), may_alias));
  using Word = uint32_t __attribute__((vector_size(32), may_alias));
  using Double = double __attribute__((vector_size(32), may_alias));
  using Long = int64_t __attribute__((vector_size(32), may_alias));
  using HalfInt = int32_t __attribute__((vector_size(16), may_alias));  // as many as doubles
};
template <>
struct Vector<64> {
  using Int = int32_t __attribute__((vector_size(64), may_alias));
  using Word = uint32_t __attribute__((vector_size(64), may_alias));
  using Double = double __attribute__((vector_size(64), may_alias));
  using Long = int64_t __attribute__((vector_size(64), may_alias));
  using HalfInt = int32_t __attribute__((vector_size(32), may_alias));  // as many as doubles
};

// Memory for them.
struct alignas(64) IntStrip {
  int32_t lane[kLanes];
};
struct alignas(64) DoubleStrip {
  double lane[kDoubleLanes];
};

// Part `part` of a strip.
template <int kBytes>
VOXRIDGE_INLINE typename Vector<kBytes>::Int& ints(IntStrip* strip, int part) {
  return reinterpret_cast<typename Vector<kBytes>::Int*>(strip)[part];
}
template <int kBytes>
VOXRIDGE_INLINE const typename Vector<kBytes>::Int& ints(const IntStrip* strip, int part) {
  return reinterpret_cast<const typename Vector<kBytes>::Int*>(strip)[part];
}
template <int kBytes>
VOXRIDGE_INLINE typename Vector<kBytes>::Word& words(IntStrip* strip, int part) {
  return reinterpret_cast<typename Vector<kBytes>::Word*>(strip)[part];
}
template <int kBytes>
VOXRIDGE_INLINE const typename Vector<kBytes>::Word& words(const IntStrip* strip, int part) {
  return reinterpret_cast<const typename Vector<kBytes>::Word*>(strip)[part];
}
template <int kBytes>
VOXRIDGE_INLINE typename Vector<kBytes>::Double& doubles(DoubleStrip* strip, int part) {
  return reinterpret_cast<typename Vector<kBytes>::Double*>(strip)[part];
}
template <int kBytes>
VOXRIDGE_INLINE const typename Vector<kBytes>::Double& doubles(const DoubleStrip* strip, int part) {
  return reinterpret_cast<const typename Vector<kBytes>::Double*>(strip)[part];
}

}  // namespace voxridge
