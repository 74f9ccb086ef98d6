// Matrix products for double and float over plain pointers. The double routines are linked; the float ones are
// looked up when first used, since R's bundled BLAS has none and a direct reference would keep the package from
// loading.
#pragma once

#include <cstdint>

#include "view.h"

namespace voxridge {

enum class Trans : char { no = 'N', yes = 'T' };

bool single_blas_available();

// C = alpha op(A) op(B) + beta C. Sizes must fit BLAS's 32-bit integers (checked).
template <class T>
void gemm(Trans trans_a, Trans trans_b, T alpha, MatrixView<T> a, MatrixView<T> b, T beta, MatrixSpan<T> c);

// Lower triangle of C = alpha op(A) op(A)' + beta C, op(A) = A or A'.
void syrk(Trans trans, double alpha, MatrixView<double> a, double beta, MatrixSpan<double> c);

}  // namespace voxridge
