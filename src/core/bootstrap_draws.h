// The rows of bootstrap resamples.
//
// Draw i of resample b = 1 .. n_boot is the unit (row, or block of rows) floor(w units / 2^64), w being 64-bit word i
// of Philox4x32-10 with the seed as the key: word block i / 2, words 2 (i mod 2) (high) and 2 (i mod 2) + 1, of the
// counter (b low, b high, word block, stream 2). So a resample depends on the seed and its number alone. Source: Efron
// (1979), Bootstrap methods: another look at the jackknife, doi:10.1214/aos/1176344552; Salmon et al. (2011),
// doi:10.1145/2063384.2063405; the product in place of a remainder: Lemire (2019), doi:10.1145/3230636.
#pragma once

#include <cstdint>
#include <vector>

#include "folds.h"
#include "view.h"

namespace voxridge {

struct ResamplePlan {
  int64_t n = 0;           // rows of the data
  int64_t n_boot = 0;      // resamples
  std::vector<int> block;  // of each row, from 0: whole blocks are drawn; empty: rows are
  uint64_t seed = 0;
  MatrixView<int> given;  // n_boot x n rows from 1 in place of draws
};

struct Resample {
  RowList rows;                // that were drawn, in increasing order
  std::vector<double> counts;  // how often each of them was
  double size = 0;             // their sum
};

class Resamples {
 public:
  explicit Resamples(ResamplePlan plan);

  int64_t n_boot() const { return plan_.n_boot; }

  // Resample b = 1 .. n_boot; 0 are the data themselves.
  Resample operator()(int64_t b) const;

  // The same as draws: rows from 0, in the order drawn; of blocks, in the order of their blocks.
  RowList drawn(int64_t b) const;

 private:
  ResamplePlan plan_;
  std::vector<RowList> members_;  // of the blocks
};

}  // namespace voxridge
