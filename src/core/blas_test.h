// Is the BLAS that is loaded right? Some are not, on some processors: kernels that were compiled wrongly, threads that
// get in each other's way. Takes a few hundredths of a second.
#pragma once

namespace voxridge {

// The largest error of any product, in units of machine epsilon times the product of the absolute values. A good BLAS
// stays below 4.
struct BlasVerdict {
  double plain = 0;     // one thread: dgemm and sgemm with every transposition, dsyrk, at odd sizes
  double threaded = 0;  // repeated with `n_threads` threads
};
constexpr double kGoodBlas = 16;

BlasVerdict test_blas(int n_threads);

}  // namespace voxridge
