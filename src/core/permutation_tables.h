// Sums of the rows of a strip of 16 voxels under many patterns of signs, or of members of a group, from tables of
// subset sums: samples go in groups of `bits`, and a group's table holds the sum of every pattern of its samples, so
// that a permutation costs a load and an addition per group. Sums, comparison, count and maximum are one loop over
// integers that wrap around, and the final sums fit.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes.h"

namespace voxridge {

// Of all permutations of a batch: how the samples of each group of `bits` are set, group by group in a row.
struct PatternCodes {
  int bits = 0;
  int64_t groups = 0, rows = 0;
  std::vector<uint16_t> code;  // groups of each row: where in a table the sum is, in bytes
  PatternCodes(int64_t n, int bits_per_group, int64_t n_rows)
      : bits(bits_per_group), groups((n + bits_per_group - 1) / bits_per_group), rows(n_rows), code(groups * n_rows) {}

  // Is sample i on in this row?
  bool is_on(int64_t row, int64_t i) const {
    return code[row * groups + i / bits] / sizeof(IntStrip) >> (i % bits) & 1;
  }

  // `on`: a flag per sample; a set bit adds a sample (with signs: with a plus).
  void set(int64_t row, const char* on, int64_t n) {
    uint16_t* to = code.data() + row * groups;
    for (int64_t g = 0; g < groups; ++g) {
      int pattern = 0;
      for (int b = 0; b < bits && g * bits + b < n; ++b) pattern |= (on[g * bits + b] != 0) << b;
      to[g] = static_cast<uint16_t>(pattern * sizeof(IntStrip));
    }
  }
};

int pattern_bits(int64_t n, int64_t n_rows);  // per group: tables must pay for being built

struct TablePass {
  const IntStrip* q = nullptr;  // a row of the strip per sample
  int64_t n = 0;
  bool signs = false;     // patterns are signs, otherwise members
  bool absolute = false;  // of the sums
  IntStrip threshold;     // counts are of sums (absolute ones) from here on
};

class TableKernel {
 public:
  explicit TableKernel(InstructionSet set = best_instruction_set()) : set_(set) {}

  // Adds to `counts`, raises `maxima` (one per row).
  void run(const TablePass& pass, const PatternCodes& codes, IntStrip& counts, int32_t* maxima);

 private:
  InstructionSet set_;
  std::vector<IntStrip> tables_, sums_;
};

}  // namespace voxridge
