#include "permutation_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lane_limits.h"

namespace voxridge {

namespace {

constexpr int64_t kTableBytes = 256 * 1024;
constexpr int64_t kRowBlock = 4096;  // where tables are built piece by piece, as many sums are kept

// One loop over permutations. Tables, sums and counts are strips of 64 bytes.
struct Loop {
  const IntStrip* tables;
  const uint16_t* codes;
  int64_t stride;  // between the codes of permutations
  int64_t groups, size, rows;
  IntStrip* sums;  // of earlier groups, or nullptr
  const IntStrip* threshold;
  IntStrip* counts;
  int32_t* maxima;  // of a row
};

// The row of a table that lies `offset` bytes behind its first.
VOXRIDGE_INLINE const IntStrip* row_at(const IntStrip* table, uint16_t offset) {
  return reinterpret_cast<const IntStrip*>(reinterpret_cast<const char*>(table) + offset);
}

// The offsets of a row. Loads are what the loop waits for: four offsets come with one where bytes are in that order.
template <int kGroups>
class Offsets {
 public:
  VOXRIDGE_INLINE explicit Offsets(const uint16_t* code) : code_(code) {
#ifdef VOXRIDGE_TARGETS
    if (kGroups < 4) return;
    std::memcpy(&first_, code, sizeof first_);
    std::memcpy(&last_, code + kGroups - 4, sizeof last_);
#endif
  }
  VOXRIDGE_INLINE uint16_t at(int g) const {
#ifdef VOXRIDGE_TARGETS
    if (kGroups >= 4) {
      return static_cast<uint16_t>(g < 4 ? first_ >> (16 * g) : last_ >> (16 * (g - (kGroups - 4))));
    }
#endif
    return code_[g];
  }

 private:
  const uint16_t* code_;
  uint64_t first_ = 0, last_ = 0;
};

// The sum of what the tables hold for a row. The number of groups is known, and then there is no
// loop and the tables stay in registers, or it is 0: any number.
template <int kBytes, int kGroups>
class LookUp {
 public:
  VOXRIDGE_INLINE explicit LookUp(const Loop& loop) {
    for (int g = 0; g < kGroups; ++g) table_[g] = loop.tables + g * loop.size;
  }
  VOXRIDGE_INLINE void sum(int part, const uint16_t* code, typename Vector<kBytes>::Word& out) const {
    const Offsets<kGroups> offset(code);
    out = words<kBytes>(row_at(table_[0], offset.at(0)), part);
#pragma GCC unroll 8
    for (int g = 1; g < kGroups; ++g) out += words<kBytes>(row_at(table_[g], offset.at(g)), part);
  }

 private:
  const IntStrip* table_[kGroups];
};
template <int kBytes>
class LookUp<kBytes, 0> {
 public:
  VOXRIDGE_INLINE explicit LookUp(const Loop& loop) : tables_(loop.tables), size_(loop.size), groups_(loop.groups) {}
  VOXRIDGE_INLINE void sum(int part, const uint16_t* code, typename Vector<kBytes>::Word& out) const {
    const IntStrip* table = tables_;
    out = words<kBytes>(row_at(table, code[0]), part);
    for (int64_t g = 1; g < groups_; ++g) {
      table += size_;
      out += words<kBytes>(row_at(table, code[g]), part);
    }
  }

 private:
  const IntStrip* tables_;
  int64_t size_, groups_;
};

template <int kBytes>
VOXRIDGE_INLINE void add_body(const Loop& loop, int part, bool first) {
  using Word = typename Vector<kBytes>::Word;
  const LookUp<kBytes, 0> tables(loop);
  const uint16_t* code = loop.codes;
  const int64_t stride = loop.stride, rows = loop.rows;
  IntStrip* sums = loop.sums;
  for (int64_t r = 0; r < rows; ++r, code += stride) {
    Word sum;
    tables.sum(part, code, sum);
    if (!first) sum += words<kBytes>(sums + r, part);
    words<kBytes>(sums + r, part) = sum;
  }
}

template <int kBytes, int kGroups, bool kAbsolute>
VOXRIDGE_INLINE void count_body(const Loop& loop, int part) {
  using Int = typename Vector<kBytes>::Int;
  using Word = typename Vector<kBytes>::Word;
  const Int threshold = ints<kBytes>(loop.threshold, part);
  Int counts = ints<kBytes>(loop.counts, part);
  const LookUp<kBytes, kGroups> tables(loop);
  const uint16_t* code = loop.codes;
  const int64_t stride = kGroups > 0 ? kGroups : loop.stride, rows = loop.rows;
  const IntStrip* sums = loop.sums;
  int32_t* maxima = loop.maxima;
  for (int64_t r = 0; r < rows; ++r, code += stride) {
    Word sum;
    tables.sum(part, code, sum);
    if (kGroups == 0 && sums != nullptr) sum += words<kBytes>(sums + r, part);
    Int u = (Int)sum;
    if (kAbsolute) u = u < 0 ? -u : u;
    counts -= u >= threshold;
    if (__builtin_expect(Above<kBytes>::any(u, maxima[r]), 0)) {
      const Int high = u;  // of its own, so that u stays in a register
      maxima[r] = largest_of<kBytes>(high);
    }
  }
  ints<kBytes>(loop.counts, part) = counts;
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

// Sums of all patterns of up to 8 rows; 0 and 1, or signs.
template <int kBytes>
VOXRIDGE_INLINE void build_body(const IntStrip* q, int64_t n, bool signs, IntStrip* table) {
  using Word = typename Vector<kBytes>::Word;
  for (int part = 0; part < 64 / kBytes; ++part) {
    Word none = {};
    for (int64_t i = 0; signs && i < n; ++i) none -= words<kBytes>(q + i, part);
    words<kBytes>(table, part) = none;
    for (int64_t j = 0; j < n; ++j) {
      const Word row = words<kBytes>(q + j, part), step = signs ? row + row : row;
      const int64_t half = int64_t{1} << j;
      for (int64_t c = 0; c < half; ++c) words<kBytes>(table + half + c, part) = words<kBytes>(table + c, part) + step;
    }
  }
}

void run_baseline(const Loop& loop, Step step) {
  run_body<16>(loop, step);
}
void build_baseline(const IntStrip* q, int64_t n, bool signs, IntStrip* table) {
  build_body<16>(q, n, signs, table);
}
#ifdef VOXRIDGE_TARGETS
VOXRIDGE_AVX2 void run_avx2(const Loop& loop, Step step) {
  run_body<32>(loop, step);
}
VOXRIDGE_AVX2 void build_avx2(const IntStrip* q, int64_t n, bool signs, IntStrip* table) {
  build_body<32>(q, n, signs, table);
}
VOXRIDGE_AVX512 void run_avx512(const Loop& loop, Step step) {
  run_body<64>(loop, step);
}
VOXRIDGE_AVX512 void build_avx512(const IntStrip* q, int64_t n, bool signs, IntStrip* table) {
  build_body<64>(q, n, signs, table);
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

void build(InstructionSet set, const IntStrip* q, int64_t n, bool signs, IntStrip* table) {
#ifdef VOXRIDGE_TARGETS
  if (set == InstructionSet::avx512) return build_avx512(q, n, signs, table);
  if (set == InstructionSet::avx2) return build_avx2(q, n, signs, table);
#endif
  (void)set;
  build_baseline(q, n, signs, table);
}

}  // namespace

// A row of a table costs about twice what it costs to load one.
int pattern_bits(int64_t n, int64_t n_rows) {
  int best = 4;
  double least = std::numeric_limits<double>::infinity();
  for (int bits = 4; bits <= 8; ++bits) {
    const double cost = std::ceil(static_cast<double>(n) / bits) * (static_cast<double>(n_rows) + std::exp2(bits + 1));
    if (cost >= least) continue;
    least = cost;
    best = bits;
  }
  return best;
}

void TableKernel::run(const TablePass& pass, const PatternCodes& codes, IntStrip& counts, int32_t* maxima) {
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
        build(set_, pass.q + from, std::min<int64_t>(codes.bits, pass.n - from), pass.signs, tables_.data() + g * size);
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
