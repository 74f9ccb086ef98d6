// From exact sums of products to values that are compared: one column of the data under a block of permutations.
//
//   correlation  u, or |u|, in units of 2^-52
//   t            rho^2 with the sign of rho, or rho^2, where rho^2 = u^2 / (1 - g) and g is the sum of the squares of
//                the products with nuisance vectors that permutations change
//   F            R^2 = |u|^2 / (1 - g)
//   Welch        t^2 with the sign of t, or t^2, from A = sum of y and B = sum of y^2 over the first group
// Squares keep order and sign, so that no cell needs a root. Where 1 - g < 2^-24, the permuted data lie in the nuisance
// space: they count as extreme and stay out of the maximum.
//
// Rounding to the lattice weighs the more the smaller 1 - g is. So that such a cell still counts as equal to the data
// where it is, u and g are each taken at the extreme end of what the exact ones can be, in the share g of that way: the
// tolerance of the threshold is enough for the rest. Without changed nuisance nothing is added.
#pragma once

#include <cstdint>

#include "lanes.h"
#include "permutation_columns.h"

namespace voxridge {

constexpr int64_t kCellRows = 128;

struct CellRule {
  PermutationStatistic statistic = PermutationStatistic::t;
  bool absolute = true;
  int64_t rank = 1;                     // sums of the tested part
  int64_t n_changed = 0;                // and of nuisance vectors, after them
  int64_t n = 0, n_first = 0;           // welch
  double total = 0, total_squares = 0;  // welch: of the column, in units of 2^-26 and 2^-52
  double sum_error = 0, left_error = 0;  // how far u and 1 - g may be from the exact ones
};

struct CellResult {
  int64_t count = 0, degenerate = 0;
};

// The values of `kCellRows` rows from sums (segments of kCellRows each).
void cell_values(const CellRule& rule, const double* sums, double* values, InstructionSet set = best_instruction_set());

// How many of the first `rows` values reach the threshold; raises `maxima`. Infinite values of t and F are degenerate.
CellResult count_cells(const CellRule& rule, const double* values, int64_t rows, double threshold, double* maxima,
                       InstructionSet set = best_instruction_set());

// The threshold of a column whose observed value is this; `n_samples` and `n_changed` say how exact it is.
double cell_threshold(const CellRule& rule, double value, int64_t n_samples);

// The statistic that a value stands for.
double cell_statistic(const CellRule& rule, double value, double df);

}  // namespace voxridge
