// Symmetric eigendecomposition: by the GPU where the control names one that takes it (gpu_algebra.h), in one call that
// cannot be stopped; else by the host, where it can: LAPACK's dsyevd taken apart into steps of bounded length.
//
// A = Q T Q' (T tridiagonal) by panels of Householder reflections, T = Z L Z' by divide and conquer (dstedc), V = Q Z
// by blocks of columns (dormtr). The same operations in the same order as dsyevd (Golub and Van Loan 2013, section 8.3;
// Gu and Eisenstat 1995, doi:10.1137/S0895479892241287); only the middle step cannot be stopped.
#pragma once

#include "arma.h"
#include "control.h"

namespace voxridge {

// Destroys `a`; only its lower triangle is read. Eigenvalues come in ascending order.
void symmetric_eigen(arma::mat& a, arma::vec& values, arma::mat& vectors, const Control& control);

// The eigenvalues alone, in ascending order, by the root-free QR iteration (dsterf) on T.
arma::vec symmetric_eigenvalues(arma::mat& a, const Control& control);

}  // namespace voxridge
