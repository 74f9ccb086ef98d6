// Decisions of many label vectors at once, from tables of subset sums: for eight held-out rows at a time, and for every
// six samples, the sums over all 64 patterns of signs of the operator's columns. A label vector is then a look-up and
// an addition per six samples instead of a multiplication and an addition per sample. The sums are taken in one order
// whatever the machine, and nothing is multiplied but by 2: the same bits everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes.h"
#include "view.h"

namespace voxridge {

constexpr int64_t kGroupSamples = 6;
constexpr int64_t kGroupPatterns = 64;

inline int64_t sample_groups(int64_t n) {
  return (n + kGroupSamples - 1) / kGroupSamples;
}

// Tables of rows first .. first + 7 of `on` (rows x samples): kGroupPatterns strips per group.
void build_sign_tables(MatrixView<double> on, int64_t first, DoubleStrip* tables,
                       InstructionSet set = best_instruction_set());

// sums[r] = the decisions of label vector r; `codes`: its patterns, `groups` of them (bit i: sample i is +1).
void add_sign_tables(const DoubleStrip* tables, int64_t groups, const uint8_t* codes, int64_t rows, DoubleStrip* sums,
                     InstructionSet set = best_instruction_set());

// Eight bytes, 255 or 0 each: which of eight rows.
using RowBytes = uint64_t;

// One strip of rows under some label vectors: how many are decided rightly is added to `hits`.
struct StripVerdict {
  const DoubleStrip* sums = nullptr;   // of column c and vector r: sums[c * stride + r]
  const DoubleStrip* shift = nullptr;  // per column
  const RowBytes* truth = nullptr;     // rows of class c under vector r: truth[c * truth_stride + r]
  int64_t stride = 0, truth_stride = 0;
  int n_classes = 2;
  RowBytes valid = 0;
};
void count_hits(const StripVerdict& verdict, int64_t rows, int* hits, InstructionSet set = best_instruction_set());

}  // namespace voxridge
