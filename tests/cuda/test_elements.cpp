// The elementwise kernels against plain loops: random shapes, several grids and schedules, both types.
#include "kernel_fixture.h"

namespace plugin_test {

// All elements of `to` are what expected(i, j) says, and what lies between its columns is untouched.
template <class T, class Expected>
void expect_elements(const Matrix<T>& to, const Expected& expected) {
  for (int64_t j = 0; j < to.cols; ++j) {
    for (int64_t i = 0; i < to.rows; ++i) EXPECT(to(i, j) == expected(i, j));
    for (int64_t i = to.rows; j + 1 < to.cols && i < to.ld; ++i) EXPECT(std::isnan(to(i, j)));
  }
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

}  // namespace plugin_test
