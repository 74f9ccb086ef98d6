// Rearrangements of samples: sign flips, group labels and orders, drawn at random, enumerated, or the caller's own.
//
// A random rearrangement is a function of (seed, index) alone: counter (index low, index high, word block, stream) of
// Philox4x32-10 with the seed as the key. A flip of unit i is bit i mod 32 of word (i mod 128) / 32 of word block
// i / 128 of stream 0 (1 is minus). An order sorts units by their 64-bit keys, words 2 (i mod 2) (high) and
// 2 (i mod 2) + 1 (low) of word block i / 2 of stream 1 (or another that the plan names). An enumerated one is unranked
// from its index: bits, combinadics and Lehmer codes, in mixed radix over blocks. Units are samples, or blocks where
// these move as a whole.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace voxridge {

enum class Rearrangement { flips, labels, orders };

struct RowPlan {
  Rearrangement kind = Rearrangement::flips;
  int64_t n = 0;            // samples
  std::vector<int> block;   // of each sample, from 0; empty: one block of all samples (of flips: none)
  bool whole = false;       // blocks move as units, otherwise samples move within them
  std::vector<char> first;  // labels: is the sample in the first group?
  bool exact = false;       // enumerate
  uint64_t seed = 0;
  uint64_t stream = 1;    // of orders
  MatrixView<int> given;  // m x n, the caller's: +-1 (flips), or places counted from 1
};

class PermutationRows {
 public:
  explicit PermutationRows(RowPlan plan);

  int64_t n() const { return plan_.n; }
  Rearrangement kind() const { return plan_.kind; }
  double possible() const { return possible_; }  // size of the set; infinite beyond the range of a double

  // Row r = 0, 1, ... of random, enumerated or given ones (random row r has the index r + 1).
  void flips(int64_t r, char* minus) const;   // is the sign of a sample turned?
  void labels(int64_t r, char* first) const;  // is a sample in the first group?
  void order(int64_t r, int* from) const;     // place i takes what belongs to sample from[i]

 private:
  // Orders of `n` units: sorted keys of the units listed, or a Lehmer code.
  void random_order(int64_t r, const std::vector<int>& units, int* to) const;
  void unit_order(int64_t r, int* to) const;
  bool labels_by_unit() const { return plan_.whole && uniform_; }
  void enumerated_labels(int64_t r, char* first) const;

  RowPlan plan_;
  std::vector<std::vector<int>> members_;  // samples of each block
  std::vector<char> unit_first_;           // whole blocks of one label each: which are in the first group
  bool uniform_ = false;
  double possible_ = 1;
};

double choose(int64_t n, int64_t k);

}  // namespace voxridge
