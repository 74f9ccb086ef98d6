// Each operation of the host device against a plain loop, in both precisions.
#include "common.h"

#include <limits>

#include "core/device.h"

namespace voxridge_test {

template <class T>
class CpuDevice : public testing::Test {
 protected:
  struct Matrix {
    std::vector<T> data;
    int64_t rows, cols, ld;
    MatrixSpan<T> span() { return {data.data(), rows, cols, ld}; }
    MatrixView<T> view() const { return {data.data(), rows, cols, ld}; }
    T operator()(int64_t i, int64_t j) const { return data[i + j * ld]; }
  };
  // A matrix inside a larger one, so that strides count.
  static Matrix random(int64_t rows, int64_t cols, uint64_t seed, int64_t extra = 3) {
    const arma::mat from = normal_matrix(rows + extra, cols, seed);
    return {std::vector<T>(from.begin(), from.end()), rows, cols, rows + extra};
  }
  static Matrix empty(int64_t rows, int64_t cols) {
    return {std::vector<T>(rows * cols, std::numeric_limits<T>::quiet_NaN()), rows, cols, rows};
  }
  static double eps() { return std::numeric_limits<T>::epsilon(); }

  std::unique_ptr<Device<T>> device = cpu_device<T>();
  Buffer<T> buffer;
};

using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(CpuDevice, Precisions);

TYPED_TEST(CpuDevice, ReserveGrowsAndIsKept) {
  const MatrixSpan<TypeParam> first = this->device->reserve(this->buffer, 3, 4);
  EXPECT_EQ(this->device->reserve(this->buffer, 2, 6).data, first.data);
  EXPECT_EQ(this->buffer.capacity, 12);
  const MatrixSpan<TypeParam> second = this->device->reserve(this->buffer, 5, 5);
  EXPECT_EQ(this->buffer.capacity, 25);
  std::fill_n(second.data, 25, TypeParam(1));
  EXPECT_EQ(second.ld, 5);
  Buffer<TypeParam> unused;
  EXPECT_EQ(this->device->reserve(unused, 0, 7).cols, 7);
}

TYPED_TEST(CpuDevice, LoadSubtractsBeforeRounding) {
  const arma::mat from = normal_matrix(6, 2, 1) + 1e6;
  const RowList rows = {5, 0, 3};
  const std::vector<double> shift = {1e6, 1e6 - 0.5};
  auto to = this->empty(3, 2);
  this->device->load(view_of(from), rows, shift, to.span());
  for (int64_t j = 0; j < 2; ++j) {
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(to(i, j), static_cast<TypeParam>(from(rows[i], j) - shift[j]));
  }
}

TYPED_TEST(CpuDevice, UploadDownloadResident) {
  const arma::mat from = normal_matrix(4, 3, 2);
  auto to = this->empty(4, 3);
  this->device->upload(view_of(from), to.span());
  arma::mat back(4, 3);
  this->device->download(to.view(), span_of(back));
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(back[i], static_cast<double>(static_cast<TypeParam>(from[i])));
  const MatrixView<TypeParam> resident = this->device->resident(view_of(from), this->buffer);
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(resident.data[i], static_cast<TypeParam>(from[i]));
  const bool in_place = std::is_same_v<TypeParam, double>;
  EXPECT_EQ(static_cast<const void*>(resident.data) == from.memptr(), in_place);
  EXPECT_EQ(this->buffer.data == nullptr, in_place);
}

// Products of 9 terms of size about 1: 9 roundings, and as many again for sums.
TYPED_TEST(CpuDevice, Gemm) {
  const double tolerance = 50 * this->eps();
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const auto a = ta ? this->random(9, 5, 3) : this->random(5, 9, 3);
      const auto b = tb ? this->random(4, 9, 4) : this->random(9, 4, 4);
      auto c = this->random(5, 4, 5);
      const auto before = c;
      arma::mat on_host(5, 4);
      this->device->gemm(ta ? Trans::yes : Trans::no, tb ? Trans::yes : Trans::no, TypeParam(2), a.view(), b.view(),
                         TypeParam(-1), c.span());
      this->device->gemm_to_host(ta ? Trans::yes : Trans::no, tb ? Trans::yes : Trans::no, a.view(), b.view(),
                                 this->buffer, span_of(on_host));
      for (int64_t j = 0; j < 4; ++j) {
        for (int64_t i = 0; i < 5; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < 9; ++k) {
            sum += static_cast<double>(ta ? a(k, i) : a(i, k)) * static_cast<double>(tb ? b(j, k) : b(k, j));
          }
          EXPECT_NEAR(c(i, j), 2 * sum - before(i, j), tolerance);
          EXPECT_NEAR(on_host(i, j), sum, tolerance);
        }
      }
    }
  }
}

TYPED_TEST(CpuDevice, GemmWithoutAnythingToAdd) {
  const auto a = this->empty(3, 0), b = this->empty(0, 2);
  auto c = this->empty(3, 2);  // NaN
  this->device->gemm(Trans::no, Trans::no, TypeParam(1), a.view(), b.view(), TypeParam(0), c.span());
  for (const TypeParam value : c.data) EXPECT_EQ(value, 0);
  auto nothing = this->empty(0, 2);
  this->device->gemm(Trans::no, Trans::no, TypeParam(1), this->empty(0, 3).view(), this->random(3, 2, 1).view(),
                     TypeParam(0), nothing.span());
}

TYPED_TEST(CpuDevice, Gather) {
  const auto from = this->random(6, 2, 6);
  const RowList rows = {4, 4, 1};
  for (const std::vector<double>& shift : {std::vector<double>{}, std::vector<double>{0.25, -3}}) {
    auto to = this->empty(3, 2);
    this->device->gather(from.view(), rows, shift, to.span());
    for (int64_t j = 0; j < 2; ++j) {
      const TypeParam move = shift.empty() ? TypeParam(0) : static_cast<TypeParam>(shift[j]);
      for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(to(i, j), from(rows[i], j) - move);
    }
  }
}

TYPED_TEST(CpuDevice, TakeAndPutColumns) {
  const auto from = this->random(4, 6, 18);
  const RowList columns = {5, 0, 3};
  auto taken = this->random(4, 3, 19, 2), put = this->random(4, 6, 20, 1);
  const auto before = put;
  this->device->take_columns(from.view(), columns, taken.span());
  this->device->put_columns(taken.view(), columns, put.span());
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(taken(i, j), from(i, columns[j]));
    for (int64_t j = 0; j < 6; ++j) {
      const bool there = std::find(columns.begin(), columns.end(), j) != columns.end();
      EXPECT_EQ(put(i, j), there ? from(i, j) : before(i, j));
    }
  }
  this->device->take_columns(from.view(), {}, this->empty(4, 0).span());
}

TYPED_TEST(CpuDevice, MeansAndSquares) {
  const auto from = this->random(40, 3, 7);
  const RowList rows = {0, 5, 5, 39, 17};
  const std::vector<double> means = this->device->means(from.view(), rows);
  const std::vector<double> about_zero = this->device->squares(from.view(), {});
  const std::vector<double> about_mean = this->device->squares(from.view(), means);
  for (int64_t j = 0; j < 3; ++j) {
    double sum = 0, zero = 0, mean = 0;
    for (const int64_t row : rows) sum += static_cast<double>(from(row, j)) / 5;
    for (int64_t i = 0; i < 40; ++i) {
      const double x = from(i, j);
      zero += x * x;
      mean += (x - sum) * (x - sum);
    }
    EXPECT_NEAR(means[j], sum, 1e-15 * 10);   // in double for both precisions, over 5 values
    EXPECT_NEAR(about_zero[j], zero, 1e-12);  // over 40
    EXPECT_NEAR(about_mean[j], mean, 1e-12);
  }
}

TYPED_TEST(CpuDevice, AddAndSubtract) {
  auto a = this->random(5, 3, 8), b = this->random(5, 3, 9, 1), c = this->random(5, 3, 10, 0);
  auto sum = this->empty(5, 3), difference = this->empty(5, 3);
  this->device->add({a.span(), b.span(), c.span()}, sum.span());
  this->device->subtract(a.view(), b.view(), difference.span());
  for (int64_t j = 0; j < 3; ++j) {
    for (int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(sum(i, j), a(i, j) + b(i, j) + c(i, j));
      EXPECT_EQ(difference(i, j), a(i, j) - b(i, j));
    }
  }
}

TYPED_TEST(CpuDevice, LeaveOut) {
  const auto total = this->random(4, 2, 11), part = this->random(4, 2, 12);
  const std::vector<double> x = {1, -2, 0.5, 3}, y = {0.5, 0};
  auto with_means = this->empty(4, 2), without = this->empty(4, 2);
  this->device->leave_out(total.view(), part.view(), 7, x, y, with_means.span());
  this->device->leave_out(total.view(), part.view(), 7, x, {}, without.span());
  for (int64_t j = 0; j < 2; ++j) {
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(with_means(i, j), static_cast<double>(total(i, j)) - part(i, j) - 7 * x[i] * y[j], 40 * this->eps());
      EXPECT_EQ(without(i, j), total(i, j) - part(i, j));
    }
  }
}

TYPED_TEST(CpuDevice, ShrinkAndScaleRows) {
  const auto from = this->random(3, 2, 13);
  const std::vector<double> lambda = {4, 0, 1e-3}, alpha = {0, 2};
  auto shrunk = this->empty(3, 2), scaled = this->empty(3, 2);
  this->device->shrink(from.view(), lambda, alpha, shrunk.span());
  this->device->scale_rows(from.view(), lambda, scaled.span());
  for (int64_t j = 0; j < 2; ++j) {
    for (int64_t i = 0; i < 3; ++i) {
      const double sum = lambda[i] + alpha[j], expected = sum == 0 ? 0 : from(i, j) / sum;
      EXPECT_NEAR(shrunk(i, j), expected, 4 * this->eps() * std::abs(expected));
      EXPECT_NEAR(scaled(i, j), lambda[i] * from(i, j), 4 * this->eps() * lambda[i]);
    }
  }
}

// Lanes of 16 and a rest: lengths on both sides. Sums of up to 50 squares of size 2.
TYPED_TEST(CpuDevice, ErrorSums) {
  for (const int64_t rows : {1, 15, 16, 17, 50}) {
    const auto target = this->random(rows, 2, 14), predictions = this->random(3 * rows, 2, 15);
    arma::mat out(3, 2);
    this->device->error_sums(target.view(), predictions.view(), span_of(out));
    for (int64_t j = 0; j < 2; ++j) {
      for (int64_t b = 0; b < 3; ++b) {
        double sum = 0;
        for (int64_t i = 0; i < rows; ++i) {
          const double d = static_cast<double>(target(i, j)) - predictions(b * rows + i, j);
          sum += d * d;
        }
        EXPECT_NEAR(out(b, j), sum, 10 * this->eps() * sum);
      }
    }
  }
}

TYPED_TEST(CpuDevice, ProductSums) {
  for (const int64_t rows : {1, 16, 35}) {
    const auto target = this->random(rows, 2, 16);
    auto predictions = this->random(2 * (rows + 1), 2, 17);
    const int64_t second = rows + 1;  // the second block: nothing but a mean
    for (int64_t i = 0; i < rows; ++i) predictions.data[second + i] = static_cast<TypeParam>(0.3 * this->eps());
    predictions.data[second + rows] = 5;
    arma::mat out(4, 2);
    this->device->product_sums(target.view(), predictions.view(), span_of(out));
    EXPECT_EQ(out(2, 0), 0);
    EXPECT_EQ(out(3, 0), 0);
    double cross = 0, own = 0;
    for (int64_t i = 0; i < rows; ++i) {
      cross += static_cast<double>(target(i, 1)) * predictions(i, 1);
      own += static_cast<double>(predictions(i, 1)) * predictions(i, 1);
    }
    EXPECT_NEAR(out(0, 1), cross, 40 * this->eps() * (1 + own));
    EXPECT_NEAR(out(1, 1), own, 10 * this->eps() * own);
  }
}

TYPED_TEST(CpuDevice, NothingAtAll) {
  auto none = this->empty(0, 0), columns = this->empty(0, 3);
  EXPECT_TRUE(this->device->means(none.view(), {}).empty());
  EXPECT_EQ(this->device->squares(columns.view(), {}), std::vector<double>(3, 0.0));
  this->device->load({nullptr, 0, 0, 0}, {}, {}, none.span());
  arma::mat out(2, 3, arma::fill::ones);
  this->device->error_sums(columns.view(), columns.view(), span_of(out));
  EXPECT_EQ(arma::abs(out).max(), 0);
}

}  // namespace voxridge_test
