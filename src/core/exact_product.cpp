#include "exact_product.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blas.h"
#include "philox.h"

namespace voxridge {

bool adds_exactly(const Product& product) {
  constexpr int64_t inner = 40, rows = 128, cols = 96;
  const Philox random(20260101, 0);
  std::vector<double> a(inner * rows), b(inner * cols), c(rows * cols);
  uint64_t index = 0;
  const auto fill = [&](std::vector<double>& to) {
    for (double& x : to) {
      const Philox::Block word = random.block(index++);
      // one large pair of values for each sum, so that absolute products sum to less than 2^53
      const double size = static_cast<double>((word[0] >> 6) >> (index % inner == 0 ? 0 : 3 + word[1] % 8));
      x = word[2] & 1 ? -size : size;
    }
  };
  fill(a);
  fill(b);
  product({a.data(), inner, rows, inner}, {b.data(), inner, cols, inner}, {c.data(), rows, cols, rows});
  for (int64_t j = 0; j < cols; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      int64_t sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        sum += static_cast<int64_t>(a[k + i * inner]) * static_cast<int64_t>(b[k + j * inner]);
      }
      if (c[i + j * rows] != static_cast<double>(sum)) return false;
    }
  }
  return true;
}

bool blas_is_exact() {
  static const bool exact = adds_exactly([](MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c) {
    gemm(Trans::yes, Trans::no, 1.0, a, b, 0.0, c);
  });
  return exact;
}

void product_by_loop(MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c) {
  for (int64_t j = 0; j < c.cols; ++j) {
    for (int64_t i = 0; i < c.rows; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < a.rows; ++k) sum += a.col(i)[k] * b.col(j)[k];
      c.col(j)[i] = sum;
    }
  }
}

void exact_product(MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c) {
  if (blas_is_exact()) {
    gemm(Trans::yes, Trans::no, 1.0, a, b, 0.0, c);
  } else {
    product_by_loop(a, b, c);
  }
}

}  // namespace voxridge
