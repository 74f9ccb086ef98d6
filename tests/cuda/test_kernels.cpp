// Every kernel, launched by itself, against plain loops: random shapes, several grids and schedules, both types.
#include "harness.h"
#include "cuda_on_cpu.h"

#include "cuda/kernels.h"

namespace plugin_test {

using namespace voxridge_plugin;
using Index = std::vector<int64_t>;

struct Shape {
  int64_t rows, cols, extra;
  unsigned grid_x, grid_y;
};

template <class T>
DeviceMatrix<const T> in(const Matrix<T>& m) { return {m.data.data(), m.ld}; }
template <class T>
DeviceMatrix<T> out(Matrix<T>& m) { return {m.data.data(), m.ld}; }

template <class... P, class... A>
void run(const Shape& shape, bool sums, void (*kernel)(P...), A... arguments) {
  cuda_on_cpu::launch(shape.grid_x, sums ? 1 : shape.grid_y, kThreads, [=] { kernel(arguments...); });
}

// Around the sizes of a warp and a block, empty ones, and some at random.
template <class Body>
void for_shapes(const Body& body) {
  Random random(11);
  const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 100};
  const auto draw = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  for (int k = 0; k < 24; ++k) {
    Shape shape = {sizes[draw(10)], sizes[draw(8)], draw(3) * draw(9), static_cast<unsigned>(1 + draw(4)),
                   static_cast<unsigned>(1 + draw(3))};
    if (k == 0) shape = {1, 1, 0, 1, 1};
    if (k == 1) shape = {40, 0, 0, 1, 1};
    if (k == 2) shape = {0, 5, 0, 1, 1};
    if (k == 3) shape = {2500, 3, 1, 1, 3};  // several runs of a sum
    if (k == 4) shape = {3, 600, 0, 2, 1};   // several columns for a warp
    context = say(shape.rows) + " x " + say(shape.cols) + ", schedule " + say(k % 4);
    cuda_on_cpu::use_schedule(static_cast<uint64_t>(k % 4));
    body(shape, random, float());
    body(shape, random, double());
  }
  cuda_on_cpu::use_schedule(0);
}

// All elements of `to` are what expected(i, j) says, and what lies between its columns is untouched.
template <class T, class Expected>
void expect_elements(const Matrix<T>& to, const Expected& expected) {
  for (int64_t j = 0; j < to.cols; ++j) {
    for (int64_t i = 0; i < to.rows; ++i) EXPECT(to(i, j) == expected(i, j));
    for (int64_t i = to.rows; j + 1 < to.cols && i < to.ld; ++i) EXPECT(std::isnan(to(i, j)));
  }
}

Index draw_index(int64_t size, int64_t below, Random& random) {
  Index index(static_cast<size_t>(below == 0 ? 0 : size));
  for (int64_t& i : index) i = static_cast<int64_t>(random() % static_cast<uint64_t>(below));
  return index;
}

TEST(gather) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    const Matrix<T> from(s.rows, s.cols, s.extra, random);
    const Index rows = draw_index(s.rows + 7, s.rows, random);
    const int64_t n = static_cast<int64_t>(rows.size());
    const std::vector<double> shift = normals(s.cols, random);
    Matrix<T> to(n, s.cols, s.extra), plain(n, s.cols);
    run(s, false, kernels::gather<T>, in(from), s.cols, rows.data(), n, shift.data(), out(to));
    run(s, false, kernels::gather<T>, in(from), s.cols, rows.data(), n, nullptr, out(plain));
    expect_elements(to, [&](int64_t i, int64_t j) {
      return from(rows[static_cast<size_t>(i)], j) - static_cast<T>(shift[static_cast<size_t>(j)]);
    });
    expect_elements(plain, [&](int64_t i, int64_t j) { return from(rows[static_cast<size_t>(i)], j); });
  });
}

TEST(copy_columns) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    const Matrix<T> wide(s.rows, s.cols + 3, s.extra, random);
    Index columns(static_cast<size_t>(s.cols));  // each at most once
    for (int64_t j = 0; j < s.cols; ++j) columns[static_cast<size_t>(j)] = (s.cols - j + 2);
    Matrix<T> taken(s.rows, s.cols, 2);
    run(s, false, kernels::copy_columns<T>, false, in(wide), s.rows, columns.data(), s.cols, out(taken));
    expect_elements(taken, [&](int64_t i, int64_t j) { return wide(i, columns[static_cast<size_t>(j)]); });
    Matrix<T> put = wide;
    const Matrix<T> from(s.rows, s.cols, 1, random);
    run(s, false, kernels::copy_columns<T>, true, in(from), s.rows, columns.data(), s.cols, out(put));
    expect_elements(put, [&](int64_t i, int64_t j) { return j < 3 ? wide(i, j) : from(i, s.cols + 2 - j); });
  });
}

TEST(add) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    std::vector<Matrix<T>> matrices;
    Parts<T> parts = {};
    for (int k = 0; k < 3; ++k) {
      matrices.emplace_back(s.rows, s.cols, k, random);
      parts.part[k] = in(matrices.back());
    }
    for (parts.count = 1; parts.count <= 3; ++parts.count) {
      const Matrix<T> before(s.rows, s.cols, s.extra, random);
      for (const bool onto : {false, true}) {
        Matrix<T> to = before;
        run(s, false, kernels::add<T>, parts, onto, s.rows, s.cols, out(to));
        for (int64_t j = 0; j < s.cols; ++j) {
          for (int64_t i = 0; i < s.rows; ++i) {
            T sum = onto ? before(i, j) : T(0);
            for (int k = 0; k < parts.count; ++k) sum += matrices[static_cast<size_t>(k)](i, j);
            EXPECT(to(i, j) == sum);
          }
        }
      }
    }
  });
}

TEST(leave_out) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    const Matrix<T> total(s.rows, s.cols, s.extra, random), part(s.rows, s.cols, 2, random);
    const std::vector<double> x = normals(s.rows, random);
    std::vector<double> scale = normals(s.cols, random);
    for (size_t j = 0; j < scale.size(); j += 2) scale[j] = 0;
    Matrix<T> to(s.rows, s.cols, s.extra), without(s.rows, s.cols);
    run(s, false, kernels::leave_out<T>, in(total), in(part), s.rows, s.cols, x.data(), scale.data(), out(to));
    expect_elements(to, [&](int64_t i, int64_t j) {
      const T value = total(i, j) - part(i, j);
      return value - static_cast<T>(scale[static_cast<size_t>(j)] * x[static_cast<size_t>(i)]);
    });
    const std::vector<double> none(static_cast<size_t>(s.cols), 0.0);
    run(s, false, kernels::leave_out<T>, in(total), in(part), s.rows, s.cols, nullptr, none.data(), out(without));
    expect_elements(without, [&](int64_t i, int64_t j) { return total(i, j) - part(i, j); });
  });
}

TEST(shrink) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    Matrix<T> matrix(s.rows, s.cols, s.extra, random);
    const Matrix<T> from = matrix;
    std::vector<double> lambda = normals(s.rows, random), alpha = normals(s.cols, random);
    for (double& value : lambda) value = value > 0 ? std::exp(8 * value) : 0;
    for (double& value : alpha) value = value > 0 ? std::exp(8 * value) : (value > -0.5 ? 0 : 1e-301);
    run(s, false, kernels::shrink<T>, in(matrix), s.rows, s.cols, lambda.data(), alpha.data(), out(matrix));
    expect_elements(matrix, [&](int64_t i, int64_t j) {
      const double sum = lambda[static_cast<size_t>(i)] + alpha[static_cast<size_t>(j)];
      return from(i, j) * static_cast<T>(sum > 1e-300 ? 1 / sum : 0);
    });
  });
}

TEST(scale_rows) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    Matrix<T> matrix(s.rows, s.cols, s.extra, random);
    const Matrix<T> from = matrix;
    const std::vector<double> weights = normals(s.rows, random);
    run(s, false, kernels::scale_rows<T>, in(matrix), s.rows, s.cols, weights.data(), out(matrix));
    expect_elements(matrix,
                    [&](int64_t i, int64_t j) { return from(i, j) * static_cast<T>(weights[static_cast<size_t>(i)]); });
  });
}

TEST(subtract) {
  for_shapes([](const Shape& s, Random& random, auto zero) {
    using T = decltype(zero);
    Matrix<T> a(s.rows, s.cols, s.extra, random);
    const Matrix<T> before = a, b(s.rows, s.cols, 1, random);
    run(s, false, kernels::subtract<T>, in(a), in(b), s.rows, s.cols, out(a));
    expect_elements(a, [&](int64_t i, int64_t j) { return before(i, j) - b(i, j); });
  });
}

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
