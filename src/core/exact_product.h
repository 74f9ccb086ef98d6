// Products of matrices of whole numbers, exact as long as the sums of their absolute products stay below 2^53.
#pragma once

#include <functional>

#include "view.h"

namespace voxridge {

// C = A'B. By the BLAS where it has shown once that it adds whole numbers exactly, which no rule of rounding hinders
// but a fast algorithm (Strassen's) would; otherwise by a loop of our own.
void exact_product(MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c);

// Does this way to C = A'B add random whole numbers of 26 bits as 64-bit integers do?
using Product = std::function<void(MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c)>;
bool adds_exactly(const Product& product);

// The parts, for tests.
bool blas_is_exact();
void product_by_loop(MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c);

}  // namespace voxridge
