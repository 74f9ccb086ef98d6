// Sequential permutation tests: a column stops at its h-th permutation that is at least as extreme as the data, so that
// the work goes to columns of small p.
// Source: Besag and Clifford 1991, doi:10.1093/biomet/78.2.301.
#pragma once

#include "permutation.h"

namespace voxridge {

// `out`: statistics, states and counts (h where a column stopped). `draws`: the permutation that stopped each column,
// counted from 1, or all of them.
void run_sequential_test(const PermutationTest& test, int64_t h, PermutationOutputs& out, int* draws,
                         const Control& control);

}  // namespace voxridge
