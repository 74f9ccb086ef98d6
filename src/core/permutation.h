// Permutation tests of many columns at once: how many permutations are at least as extreme as the data, by column and
// for the maximum over columns.
//
// u, the sum of products of a permuted row with a column, is an exact integer (permutation_lattice.h), and statistics
// are increasing functions of it, so that counts are the same for any batch, thread, order of columns or BLAS. Two ways
// to u: tables of subset sums where rows are signs or 0/1 (permutation_tables.h), matrix products otherwise
// (permutation_products.h). No table of permutations x columns exists unless it is asked for.
// Sources: Winkler et al. 2014, doi:10.1016/j.neuroimage.2014.01.060 (Freedman-Lane, maximum statistics); Phipson and
// Smyth 2010, doi:10.2202/1544-6115.1585 (p of random permutations).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "control.h"
#include "permutation_columns.h"
#include "permutation_rows.h"

namespace voxridge {

struct PermutationTest {
  MatrixView<double> y;
  ColumnDesign design;
  RowPlan rows;
  bool sums = false;     // u is the sum of the values under signs, or of those in the first group
  int64_t n_fixed = 0;   // the first vectors of the nuisance that no rearrangement changes
  bool absolute = true;  // compare absolute values
  bool negate = false;   // compare negative values: the other direction
  int64_t n_permutations = 0;
  int64_t batch = 0;  // permutations at once; 0: as suits the caches
};

// Memory of the caller; `df` and `null` may be nullptr.
struct PermutationOutputs {
  double *statistic = nullptr, *estimate = nullptr, *df = nullptr;  // per column, NaN where it is not used
  int* state = nullptr;                                             // ColumnState
  int* counts = nullptr;                                            // permutations at least as extreme
  int* maximum_counts = nullptr;                                    // permutations whose maximum is
  double* maximum = nullptr;  // per permutation, as the statistic; NaN where no column is used
  double* null = nullptr;     // permutations x columns, as the statistic; columns not in use are left alone
  int64_t null_rows = 0;      // of `null`, where take_null is given: the permutations of a batch; otherwise all of them
  std::function<void(int64_t first, int64_t count)> take_null;  // called after each batch
  int64_t degenerate = 0;                                       // permuted data that lie in the nuisance space
};

void run_permutation_test(const PermutationTest& test, PermutationOutputs& out, const Control& control);

}  // namespace voxridge
