// The kernels that make sums against plain loops in long double: random shapes, several grids and schedules, both
// types.
#include "kernel_fixture.h"

namespace plugin_test {

TEST(means) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    Matrix<T> from(s.rows, s.cols, s.extra, random);
    for (int64_t j = 0; j < s.cols; ++j) {
      for (int64_t i = 0; i < s.rows; ++i) from(i, j) += j % 2 ? T(1e5) : T(0);
    }
    const Index rows = draw_index(s.rows + 7, s.rows, random);
    const int64_t n = static_cast<int64_t>(rows.size());
    std::vector<double> mean(static_cast<size_t>(s.cols), -1.0);
    run(s, true, kernels::means<T>, in(from), s.cols, rows.data(), n, mean.data());
    for (int64_t j = 0; j < s.cols; ++j) {
      long double sum = 0, size = 0;
      for (const int64_t row : rows) sum += from(row, j), size += std::fabs(from(row, j));
      const long double count = static_cast<long double>(n > 0 ? n : 1);
      EXPECT(close(mean[static_cast<size_t>(j)], sum / count, 1e-15, size / count));
    }
  });
}

TEST(squares) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    const Matrix<T> from(s.rows, s.cols, s.extra, random);
    const std::vector<double> center = normals(s.cols, random);
    for (const bool centred : {false, true}) {
      std::vector<double> squares(static_cast<size_t>(s.cols), -1.0);
      run(s, true, kernels::squares<T>, in(from), s.rows, s.cols, centred ? center.data() : nullptr, squares.data());
      for (int64_t j = 0; j < s.cols; ++j) {
        long double sum = 0;
        for (int64_t i = 0; i < s.rows; ++i) {
          const long double d = static_cast<long double>(from(i, j)) - (centred ? center[static_cast<size_t>(j)] : 0);
          sum += d * d;
        }
        EXPECT(close(squares[static_cast<size_t>(j)], sum, 1e-13, sum));
      }
    }
  });
}

TEST(error_sums) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    const int64_t blocks = 1 + s.extra % 4;
    const Matrix<T> target(s.rows, s.cols, s.extra, random), predictions(s.rows * blocks, s.cols, 3, random);
    std::vector<double> sums(static_cast<size_t>(blocks * s.cols), -1.0);
    run(s, true, kernels::error_sums<T>, in(target), s.rows, s.cols, in(predictions), blocks, sums.data());
    for (int64_t j = 0; j < s.cols; ++j) {
      for (int64_t b = 0; b < blocks; ++b) {
        long double sum = 0;
        for (int64_t i = 0; i < s.rows; ++i) {
          const long double d = static_cast<long double>(target(i, j)) - predictions(b * s.rows + i, j);
          sum += d * d;
        }
        const double found = sums[static_cast<size_t>(j * blocks + b)];
        EXPECT_SAID(close(found, sum, kSumTolerance<T>, sum), say(found) + " for " + say(sum));
      }
    }
  });
}

TEST(product_sums) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    const int64_t blocks = 1 + s.extra % 4, height = s.rows + 1;
    const Matrix<T> target(s.rows, s.cols, s.extra, random);
    Matrix<T> predictions(height * blocks, s.cols, 2, random);
    const double eps = std::numeric_limits<T>::epsilon(), n = static_cast<double>(s.rows);
    // Every third block predicts a constant: about its mean nothing is left but rounding.
    const auto constant = [](int64_t b, int64_t j) { return (b + j) % 3 == 0; };
    for (int64_t j = 0; j < s.cols; ++j) {
      for (int64_t b = 0; b < blocks; ++b) {
        predictions(b * height + s.rows, j) = static_cast<T>(std::sqrt(n) * 2.5);
        for (int64_t i = 0; constant(b, j) && i < s.rows; ++i) {
          predictions(b * height + i, j) *= static_cast<T>(eps / 4);
        }
      }
    }
    std::vector<double> sums(static_cast<size_t>(2 * blocks * s.cols), -1.0);
    run(s, true, kernels::product_sums<T>, in(target), s.rows, s.cols, in(predictions), blocks, eps, sums.data());
    for (int64_t j = 0; j < s.cols; ++j) {
      for (int64_t b = 0; b < blocks; ++b) {
        long double yp = 0, pp = 0, yy = 0;
        for (int64_t i = 0; i < s.rows; ++i) {
          const long double y = target(i, j), p = predictions(b * height + i, j);
          yp += y * p, pp += p * p, yy += y * y;
        }
        // One row is not enough to be far below the bound of rows^2 eps^2: see the next test.
        if (constant(b, j) && s.rows > 1) yp = pp = 0;
        if (constant(b, j) && s.rows == 1) continue;
        const double* found = &sums[static_cast<size_t>(2 * (j * blocks + b))];
        EXPECT_SAID(close(found[0], yp, kSumTolerance<T>, std::sqrt(yy * pp)), say(found[0]) + " for " + say(yp));
        EXPECT_SAID(close(found[1], pp, kSumTolerance<T>, pp), say(found[1]) + " for " + say(pp));
      }
    }
  });
}

// Just below and just above p'p = rows^2 eps^2 (p'p + last^2).
TEST(product_sums_bound) {
  const double eps = std::numeric_limits<double>::epsilon();
  for (const int64_t rows : {1, 5, 64, 333}) {
    for (const double side : {0.99, 1.01}) {
      const double n = static_cast<double>(rows), last = 7;
      Matrix<double> target(rows, 1), prediction(rows + 1, 1);
      for (int64_t i = 0; i < rows; ++i) {
        target(i, 0) = 1;
        prediction(i, 0) = side * eps * last * std::sqrt(n);
      }
      prediction(rows, 0) = last;
      double sums[2] = {-1, -1};
      run({rows, 1, 0, 1, 1}, true, kernels::product_sums<double>, in(target), rows, int64_t{1}, in(prediction),
          int64_t{1}, eps, static_cast<double*>(sums));
      EXPECT((sums[1] == 0) == (side < 1));
      EXPECT((sums[0] == 0) == (side < 1));
    }
  }
}

// A missing value spoils its own column and block, no other.
TEST(sums_of_missing_values) {
  Random random(3);
  Matrix<float> target(40, 3, 0, random), predictions(2 * 40, 3, 0, random);
  predictions(45, 1) = std::numeric_limits<float>::quiet_NaN();
  std::vector<double> sums(6);
  run({40, 3, 0, 1, 1}, true, kernels::error_sums<float>, in(target), int64_t{40}, int64_t{3}, in(predictions),
      int64_t{2}, sums.data());
  for (size_t k = 0; k < 6; ++k) EXPECT(std::isnan(sums[k]) == (k == 3));
}

}  // namespace plugin_test
