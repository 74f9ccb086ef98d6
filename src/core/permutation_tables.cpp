#include "permutation_tables.h"

#include <algorithm>

namespace voxridge {

namespace {

constexpr int64_t kTableBytes = 256 * 1024;
constexpr int64_t kRowBlock = 4096;  // where tables are built piece by piece, as many sums are kept

// One loop over permutations. Tables, sums, counts and maxima are strips of 64 bytes.
struct Loop {
  const IntStrip* tables;
  const uint8_t* codes;
  int64_t stride;  // between the codes of permutations
  int64_t groups, size, rows;
  IntStrip* sums;  // of earlier groups, or nullptr
  const IntStrip* threshold;
  IntStrip *counts, *maxima;
};

// Part `part` of a strip as a vector.
template <class V, class Strip>
VOXRIDGE_INLINE V& part_of(Strip* strip, int part) {
  return reinterpret_cast<V*>(const_cast<IntStrip*>(strip))[part];
}

template <class V, int kGroups>
VOXRIDGE_INLINE void look_up(const Loop& loop, int part, const uint8_t* code, V& sum) {
  const int64_t groups = kGroups > 0 ? kGroups : loop.groups;
  const IntStrip* table = loop.tables;
  sum = part_of<V>(table + code[0], part);
  for (int64_t g = 1; g < groups; ++g) {
    table += loop.size;
    sum += part_of<V>(table + code[g], part);
  }
}

template <int kBytes>
VOXRIDGE_INLINE void add_body(const Loop& loop, int part, bool first) {
  using Word = typename Vector<kBytes>::Word;
  const uint8_t* code = loop.codes;
  for (int64_t r = 0; r < loop.rows; ++r, code += loop.stride) {
    Word sum;
    look_up<Word, 0>(loop, part, code, sum);
    if (!first) sum += part_of<Word>(loop.sums + r, part);
    part_of<Word>(loop.sums + r, part) = sum;
  }
}

template <int kBytes, int kGroups, bool kAbsolute>
VOXRIDGE_INLINE void count_body(const Loop& loop, int part) {
  using Int = typename Vector<kBytes>::Int;
  using Word = typename Vector<kBytes>::Word;
  const Int threshold = part_of<Int>(loop.threshold, part);
  Int counts = part_of<Int>(loop.counts, part);
  const uint8_t* code = loop.codes;
  for (int64_t r = 0; r < loop.rows; ++r, code += loop.stride) {
    Word sum;
    look_up<Word, kGroups>(loop, part, code, sum);
    if (kGroups == 0 && loop.sums != nullptr) sum += part_of<Word>(loop.sums + r, part);
    Int u = (Int)sum;
    if (kAbsolute) u = u < 0 ? -u : u;
    counts -= u >= threshold;
    Int& largest = part_of<Int>(loop.maxima + r, part);
    largest = largest > u ? largest : u;
  }
  part_of<Int>(loop.counts, part) = counts;
}

template <int kBytes, bool kAbsolute>
VOXRIDGE_INLINE void count_any(const Loop& loop, int part) {
  switch (loop.sums == nullptr ? loop.groups : 0) {
    case 1:
      return count_body<kBytes, 1, kAbsolute>(loop, part);
    case 2:
      return count_body<kBytes, 2, kAbsolute>(loop, part);
    case 3:
      return count_body<kBytes, 3, kAbsolute>(loop, part);
    case 4:
      return count_body<kBytes, 4, kAbsolute>(loop, part);
    case 5:
      return count_body<kBytes, 5, kAbsolute>(loop, part);
    case 6:
      return count_body<kBytes, 6, kAbsolute>(loop, part);
    case 7:
      return count_body<kBytes, 7, kAbsolute>(loop, part);
    case 8:
      return count_body<kBytes, 8, kAbsolute>(loop, part);
    default:
      return count_body<kBytes, 0, kAbsolute>(loop, part);
  }
}

enum class Step { first, more, count, count_absolute };

template <int kBytes>
VOXRIDGE_INLINE void run_body(const Loop& loop, Step step) {
  for (int part = 0; part < 64 / kBytes; ++part) {
    if (step == Step::count)
      count_any<kBytes, false>(loop, part);
    else if (step == Step::count_absolute)
      count_any<kBytes, true>(loop, part);
    else
      add_body<kBytes>(loop, part, step == Step::first);
  }
}

void run_baseline(const Loop& loop, Step step) {
  run_body<16>(loop, step);
}
#ifdef VOXRIDGE_TARGETS
VOXRIDGE_AVX2 void run_avx2(const Loop& loop, Step step) {
  run_body<32>(loop, step);
}
VOXRIDGE_AVX512 void run_avx512(const Loop& loop, Step step) {
  run_body<64>(loop, step);
}
#endif

void run_loop(InstructionSet set, const Loop& loop, Step step) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return run_avx512(loop, step);
  if (set == InstructionSet::avx2) return run_avx2(loop, step);
#endif
  (void)set;
  run_baseline(loop, step);
}

// Sums of all patterns of up to 8 rows; 0 and 1, or signs.
void build(const IntStrip* q, int64_t n, bool signs, IntStrip* table) {
  uint32_t none[kLanes] = {};
  for (int64_t i = 0; signs && i < n; ++i) {
    for (int l = 0; l < kLanes; ++l) none[l] -= static_cast<uint32_t>(q[i].lane[l]);
  }
  std::copy_n(none, kLanes, reinterpret_cast<uint32_t*>(table[0].lane));
  using Word = Vector<16>::Word;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t half = int64_t{1} << j;
    for (int part = 0; part < 4; ++part) {
      const Word row = part_of<Word>(q + j, part), step = signs ? row + row : row;
      for (int64_t c = 0; c < half; ++c) {
        part_of<Word>(table + half + c, part) = part_of<Word>(table + c, part) + step;
      }
    }
  }
}

}  // namespace

int pattern_bits(int64_t n_rows) {
  return n_rows > 3000 ? 8 : n_rows > 60 ? 6 : 4;
}

void TableKernel::run(const TablePass& pass, const PatternCodes& codes, IntStrip& counts, IntStrip* maxima) {
  const int64_t size = int64_t{1} << codes.bits;
  const int64_t most = std::max<int64_t>(1, kTableBytes / (size * static_cast<int64_t>(sizeof(IntStrip))));
  const int64_t at_once = std::min(most, codes.groups);
  const bool pieces = at_once < codes.groups;
  const int64_t block = pieces ? kRowBlock : codes.rows;
  tables_.resize(at_once * size);
  if (pieces) sums_.resize(kRowBlock);
  for (int64_t row = 0; row < codes.rows; row += block) {
    for (int64_t group = 0; group < codes.groups; group += at_once) {
      const int64_t here = std::min(at_once, codes.groups - group);
      for (int64_t g = 0; g < here; ++g) {
        const int64_t from = (group + g) * codes.bits;
        build(pass.q + from, std::min<int64_t>(codes.bits, pass.n - from), pass.signs, tables_.data() + g * size);
      }
      Loop loop;
      loop.tables = tables_.data();
      loop.codes = codes.code.data() + row * codes.groups + group;
      loop.stride = codes.groups;
      loop.groups = here;
      loop.size = size;
      loop.rows = std::min(block, codes.rows - row);
      loop.sums = pieces ? sums_.data() : nullptr;
      loop.threshold = &pass.threshold;
      loop.counts = &counts;
      loop.maxima = maxima + row;
      if (group + here == codes.groups) {
        run_loop(set_, loop, pass.absolute ? Step::count_absolute : Step::count);
      } else {
        run_loop(set_, loop, group == 0 ? Step::first : Step::more);
      }
    }
  }
}

}  // namespace voxridge
