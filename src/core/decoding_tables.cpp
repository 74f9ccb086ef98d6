#include "decoding_tables.h"

#include <algorithm>
#include <cstring>

#include "no_contraction.h"

namespace voxridge {

namespace {

template <int kBytes>
using Double = typename Vector<kBytes>::Double;

template <int kBytes>
VOXRIDGE_INLINE void build_body(MatrixView<double> on, int64_t first, DoubleStrip* tables) {
  constexpr int64_t lanes = kBytes / 8;
  for (int64_t start = 0; start < on.cols; start += kGroupSamples, tables += kGroupPatterns) {
    const int64_t count = std::min(kGroupSamples, on.cols - start);
    for (int part = 0; part < 64 / kBytes; ++part) {
      Double<kBytes> column[kGroupSamples] = {}, none = {};
      for (int64_t j = 0; j < count; ++j) {
        std::memcpy(&column[j], on.col(start + j) + first + part * lanes, kBytes);
        none -= column[j];
      }
      doubles<kBytes>(tables, part) = none;
      for (int64_t j = 0; j < count; ++j) {
        const Double<kBytes> step = column[j] + column[j];
        const int64_t half = int64_t{1} << j;
        for (int64_t c = 0; c < half; ++c) {
          doubles<kBytes>(tables + half + c, part) = doubles<kBytes>(tables + c, part) + step;
        }
      }
    }
  }
}

// Eight codes. Loads are what the loop waits for: one brings them all where bytes are in that order.
class EightCodes {
 public:
#ifdef VOXRIDGE_TARGETS
  VOXRIDGE_INLINE explicit EightCodes(const uint8_t* code) {
    std::memcpy(&all_, code, sizeof all_);
  }
  VOXRIDGE_INLINE int64_t at(int k) const {
    return static_cast<int64_t>(all_ >> (8 * k) & 255);
  }

 private:
  uint64_t all_;
#else
  VOXRIDGE_INLINE explicit EightCodes(const uint8_t* code) : code_(code) {}
  VOXRIDGE_INLINE int64_t at(int k) const {
    return code_[k];
  }

 private:
  const uint8_t* code_;
#endif
};

template <int kBytes>
VOXRIDGE_INLINE const Double<kBytes>& looked_up(const DoubleStrip* tables, int64_t code, int part) {
  return reinterpret_cast<const Double<kBytes>*>(tables + code)[part];
}

template <int kBytes>
VOXRIDGE_INLINE void add_body(const DoubleStrip* tables, int64_t groups, const uint8_t* codes, int64_t rows,
                              DoubleStrip* sums) {
  for (int part = 0; part < 64 / kBytes; ++part) {
    const uint8_t* code = codes;
    for (int64_t r = 0; r < rows; ++r, code += groups) {
      Double<kBytes> even = {}, odd = {};
      int64_t g = 0;
      for (; g + 8 <= groups; g += 8) {
        const EightCodes eight(code + g);
        const DoubleStrip* table = tables + g * kGroupPatterns;
#pragma GCC unroll 4
        for (int k = 0; k < 8; k += 2) {
          even += looked_up<kBytes>(table + k * kGroupPatterns, eight.at(k), part);
          odd += looked_up<kBytes>(table + (k + 1) * kGroupPatterns, eight.at(k + 1), part);
        }
      }
      for (; g < groups; ++g) even += looked_up<kBytes>(tables + g * kGroupPatterns, code[g], part);
      doubles<kBytes>(sums + r, part) = even + odd;
    }
  }
}

// As many bytes as a vector has doubles. (A vector size that depends on a template's argument is ignored.)
template <int kBytes>
struct Narrow;
template <>
struct Narrow<16> {
  using Bytes = int8_t __attribute__((vector_size(2)));
};
template <>
struct Narrow<32> {
  using Bytes = int8_t __attribute__((vector_size(4)));
};
template <>
struct Narrow<64> {
  using Bytes = int8_t __attribute__((vector_size(8)));
};

// The lanes of a part where a mask is set.
template <int kBytes>
VOXRIDGE_INLINE RowBytes bytes_of(const typename Vector<kBytes>::Long& mask, int part) {
  const auto narrow = __builtin_convertvector(mask, typename Narrow<kBytes>::Bytes);
  RowBytes out = 0;
  std::memcpy(reinterpret_cast<char*>(&out) + part * (kBytes / 8), &narrow, sizeof narrow);
  return out;
}

template <int kBytes>
VOXRIDGE_INLINE void hits_body(const StripVerdict& v, int64_t rows, int* hits) {
  using Long = typename Vector<kBytes>::Long;
  const bool two = v.n_classes == 2;
  const double total_of_codes = 2.0 - v.n_classes;
  for (int part = 0; part < 64 / kBytes; ++part) {
    RowBytes lanes = 0;
    std::memset(reinterpret_cast<char*>(&lanes) + part * (kBytes / 8), 255, kBytes / 8);
    const RowBytes valid = v.valid & lanes;
    for (int64_t r = 0; r < rows; ++r) {
      Double<kBytes> best = {}, total = {};
      RowBytes hit = v.truth[r];
      if (!two) total = best = doubles<kBytes>(v.sums + r, part) + doubles<kBytes>(v.shift, part);
      for (int c = 1; c < v.n_classes; ++c) {
        Double<kBytes> now;
        if (!two && c + 1 == v.n_classes) {
          now = total_of_codes - total;
        } else {
          const int column = two ? 0 : c;
          now = doubles<kBytes>(v.sums + column * v.stride + r, part) + doubles<kBytes>(v.shift + column, part);
          total += now;
        }
        const Long larger = now > best;
        const RowBytes taken = bytes_of<kBytes>(larger, part);
        best = larger ? now : best;
        hit = (hit & ~taken) | (v.truth[c * v.truth_stride + r] & taken);
      }
      hits[r] += __builtin_popcountll(hit & valid) >> 3;
    }
  }
}

void build_baseline(MatrixView<double> on, int64_t first, DoubleStrip* tables) {
  build_body<16>(on, first, tables);
}
void add_baseline(const DoubleStrip* t, int64_t groups, const uint8_t* codes, int64_t rows, DoubleStrip* sums) {
  add_body<16>(t, groups, codes, rows, sums);
}
void hits_baseline(const StripVerdict& v, int64_t rows, int* hits) {
  hits_body<16>(v, rows, hits);
}
#ifdef VOXRIDGE_TARGETS
VOXRIDGE_AVX2 void build_avx2(MatrixView<double> on, int64_t first, DoubleStrip* tables) {
  build_body<32>(on, first, tables);
}
VOXRIDGE_AVX2 void add_avx2(const DoubleStrip* t, int64_t groups, const uint8_t* codes, int64_t rows,
                            DoubleStrip* sums) {
  add_body<32>(t, groups, codes, rows, sums);
}
VOXRIDGE_AVX2 void hits_avx2(const StripVerdict& v, int64_t rows, int* hits) {
  hits_body<32>(v, rows, hits);
}
VOXRIDGE_AVX512 void build_avx512(MatrixView<double> on, int64_t first, DoubleStrip* tables) {
  build_body<64>(on, first, tables);
}
VOXRIDGE_AVX512 void add_avx512(const DoubleStrip* t, int64_t groups, const uint8_t* codes, int64_t rows,
                                DoubleStrip* sums) {
  add_body<64>(t, groups, codes, rows, sums);
}
VOXRIDGE_AVX512 void hits_avx512(const StripVerdict& v, int64_t rows, int* hits) {
  hits_body<64>(v, rows, hits);
}
#endif

}  // namespace

void build_sign_tables(MatrixView<double> on, int64_t first, DoubleStrip* tables, InstructionSet set) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return build_avx512(on, first, tables);
  if (set == InstructionSet::avx2) return build_avx2(on, first, tables);
#endif
  (void)set;
  build_baseline(on, first, tables);
}

void add_sign_tables(const DoubleStrip* tables, int64_t groups, const uint8_t* codes, int64_t rows, DoubleStrip* sums,
                     InstructionSet set) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return add_avx512(tables, groups, codes, rows, sums);
  if (set == InstructionSet::avx2) return add_avx2(tables, groups, codes, rows, sums);
#endif
  (void)set;
  add_baseline(tables, groups, codes, rows, sums);
}

void count_hits(const StripVerdict& verdict, int64_t rows, int* hits, InstructionSet set) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return hits_avx512(verdict, rows, hits);
  if (set == InstructionSet::avx2) return hits_avx2(verdict, rows, hits);
#endif
  (void)set;
  hits_baseline(verdict, rows, hits);
}

}  // namespace voxridge
