// The only file that includes <armadillo>. Plain Armadillo has 64-bit words and RcppArmadillo 32-bit ones, under
// the same mangled names: the two must never meet in one shared object, so bindings see neither.
#pragma once

#define ARMA_64BIT_WORD 1
#define ARMA_DONT_USE_OPENMP
#define ARMA_DONT_USE_WRAPPER
#define ARMA_DONT_USE_SUPERLU
#define ARMA_DONT_USE_ARPACK
#define ARMA_DONT_USE_HDF5
#define ARMA_WARN_LEVEL 0
#define ARMA_NO_DEBUG

// Streams that swallow everything: nothing in a package may write to std::cout or std::cerr.
#include <ostream>
namespace voxridge {
inline std::ostream& null_stream() {
  static std::ostream stream(nullptr);
  return stream;
}
}  // namespace voxridge
#define ARMA_COUT_STREAM voxridge::null_stream()
#define ARMA_CERR_STREAM voxridge::null_stream()

#include <armadillo>
