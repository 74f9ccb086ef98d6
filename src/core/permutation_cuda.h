// Permutation tests on the GPU: columns are brought into their form and rows are drawn on the host, as for the CPU; the
// GPU adds up and counts. Whole numbers and single IEEE operations: the same bits as on the CPU.
#pragma once

#include "permutation_kernel.h"

namespace voxridge {

// The one that suits the test. What the GPU does not do, columns with partners and null distributions, is left to the
// CPU.
std::unique_ptr<PermutationKernel> make_cuda_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                    PermutationOutputs& out, double* threshold, const Control& control);

std::unique_ptr<PermutationKernel> make_cuda_sums(const PermutationTest& test, const PermutationRows& rows,
                                                  PermutationOutputs& out, double* threshold, const Control& control);
std::unique_ptr<PermutationKernel> make_cuda_products(const PermutationTest& test, const PermutationRows& rows,
                                                      PermutationOutputs& out, double* threshold,
                                                      const Control& control);

// Columns of a tile of which each takes so many bytes of the GPU: some for every thread, all tiles within half of its
// memory.
inline int64_t cuda_tile(int64_t columns, double bytes, int64_t most, const Control& control) {
  const int64_t threads = control.n_threads;
  const int64_t share = (columns + 2 * threads - 1) / (2 * threads), least = 32;
  const int64_t fit = fitting(control.memory_bytes / 2 / static_cast<double>(threads), bytes, least, most);
  return fit < share ? fit : share < least ? least : share;
}

}  // namespace voxridge
