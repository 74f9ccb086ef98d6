#include "common.h"

#include <limits>

namespace voxridge_test {

namespace {

constexpr double kRoomy = 1e9;
const Control kControl;

}  // namespace

TEST(Features, UsesTheMatrixInPlace) {
  const arma::mat x = normal_matrix(7, 5, 1);
  const Features features(view_of(x), no_folds(7), false, kRoomy, kControl);
  EXPECT_FALSE(features.centered());
  std::vector<double> scratch;
  const MatrixView<double> block = features.block(2, 3, 1, 4, scratch);
  EXPECT_EQ(block.data, x.colptr(1) + 2);
  EXPECT_EQ(block.ld, 7);
  EXPECT_TRUE(scratch.empty());
}

// In place, cached and made when asked for: the same numbers, bit for bit.
TEST(Features, CachedAndUncachedBlocksAgree) {
  const arma::mat x = normal_matrix(12, 6, 2);
  const Folds folds = arrange_folds(12, scattered_folds(12, 3), true);
  for (const bool center : {false, true}) {
    const Features cached(view_of(x), folds, center, kRoomy, kControl);
    const Features uncached(view_of(x), folds, center, 0, kControl);
    std::vector<double> first, second;
    const arma::mat a = copy_of(cached.block(3, 8, 1, 5, first)), b = copy_of(uncached.block(3, 8, 1, 5, second));
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(second.size(), 40u);
    EXPECT_TRUE(same_bits(a, b));
    for (int64_t i = 0; i < 8; ++i) {
      const double mean = center ? cached.means()[1] : 0;
      EXPECT_EQ(a(i, 0), x(folds.order[3 + i], 1) - mean);
    }
  }
}

TEST(Features, SinglePrecisionBlocksAreRoundedOnce) {
  const arma::mat x = normal_matrix(9, 4, 3) + 100;
  Features features(view_of(x), no_folds(9), true, kRoomy, kControl);
  std::vector<float> scratch, unused;
  const MatrixView<float> made = features.block(0, 9, 0, 4, scratch);
  const std::vector<float> before(made.data, made.data + 36);
  features.cache_single(kRoomy, kControl);
  const MatrixView<float> kept = features.block(0, 9, 0, 4, unused);
  EXPECT_TRUE(unused.empty());
  for (int64_t i = 0; i < 36; ++i) {
    EXPECT_EQ(before[i], kept.data[i]);
    EXPECT_EQ(before[i], static_cast<float>(x[i] - features.means()[i / 9]));
  }
}

TEST(Features, GatherTakesRowsLessAShift) {
  const arma::mat x = normal_matrix(6, 3, 4);
  const Features features(view_of(x), no_folds(6), false, kRoomy, kControl);
  std::vector<double> scratch;
  const double shift[] = {1.5, -2};
  const arma::mat got = copy_of(features.gather({5, 0, 5}, 1, 2, shift, scratch));
  for (int64_t j = 0; j < 2; ++j) {
    EXPECT_EQ(got(0, j), x(5, 1 + j) - shift[j]);
    EXPECT_EQ(got(1, j), x(0, 1 + j) - shift[j]);
    EXPECT_EQ(got(2, j), got(0, j));
  }
  EXPECT_EQ(copy_of(features.gather({2}, 0, 3, nullptr, scratch))(0, 2), x(2, 2));
}

// Offsets of 1e6 standard deviations: what is left after centring is off by the rounding of the offset data and mean,
// 2e-16 * 1e6, and by no more. Taking column means through a plain sum of n = 400 values costs about n times that.
TEST(Features, LargeOffsetsCostNoDigits) {
  const arma::mat plain = normal_matrix(400, 3, 5);
  const arma::mat x = plain + 1e6;
  const Features features(view_of(x), no_folds(400), true, kRoomy, kControl);
  std::vector<double> scratch;
  const arma::mat centered = copy_of(features.block(0, 400, 0, 3, scratch));
  LongMat exact(x);
  subtract_rows(exact, column_means(exact));
  EXPECT_LE(largest_difference(centered, exact.rounded()), 2.4e-10);
}

TEST(Features, MeanOfAConstantColumnIsExact) {
  const std::vector<double> column(1000, 0.1);
  EXPECT_EQ(column_mean(column.data(), int64_t{1000}), 0.1);
  EXPECT_EQ(column_mean(column.data(), RowList{3, 7, 999}), 0.1);
  EXPECT_EQ(column_mean(column.data(), int64_t{0}), 0);
  EXPECT_EQ(column_mean(column.data(), RowList{}), 0);
  const std::vector<float> single(1000, 0.1f);
  EXPECT_EQ(column_mean(single.data(), int64_t{1000}), static_cast<double>(0.1f));
}

TEST(Features, NoRowsOrNoColumns) {
  std::vector<double> scratch;
  const Features no_columns({nullptr, 4, 0, 4}, no_folds(4), true, kRoomy, kControl);
  EXPECT_EQ(no_columns.block(0, 4, 0, 0, scratch).cols, 0);
  EXPECT_EQ(no_columns.gather({1, 2}, 0, 0, nullptr, scratch).rows, 2);
  const Features no_rows({nullptr, 0, 3, 0}, no_folds(0), false, kRoomy, kControl);
  EXPECT_EQ(no_rows.block(0, 0, 0, 3, scratch).rows, 0);
}

TEST(Features, NoColumnsInPlaceFromTheMiddle) {
  std::vector<double> scratch;
  const Features features({nullptr, 4, 0, 4}, no_folds(4), false, kRoomy, kControl);
  EXPECT_EQ(features.block(2, 2, 0, 0, scratch).rows, 2);
}

namespace {

// Columns of x as matrices of their own, one of them without columns.
std::vector<arma::mat> split(const arma::mat& x, const std::vector<int64_t>& sizes) {
  std::vector<arma::mat> out;
  int64_t first = 0;
  for (const int64_t size : sizes) {
    out.push_back(size > 0 ? arma::mat(x.cols(first, first + size - 1)) : arma::mat(x.n_rows, 0));
    first += size;
  }
  return out;
}

template <class T>
arma::mat block_of(const Features& features, int64_t row, int64_t n_rows, int64_t col, int64_t n_cols) {
  std::vector<T> scratch;
  const MatrixView<T> block = features.block(row, n_rows, col, n_cols, scratch);
  arma::mat out(n_rows, n_cols);
  for (int64_t j = 0; j < n_cols; ++j) std::copy_n(block.col(j), n_rows, out.colptr(j));
  return out;
}

}  // namespace

// Several matrices side by side are one, bit for bit, in place, cached or not.
TEST(Features, PartsSideBySide) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 0, 3, 1}, {9, 5, 0}, {0, 14}}) {
    int64_t p = 0;
    for (const int64_t size : sizes) p += size;
    const arma::mat x = normal_matrix(12, p, 7) + 5;
    const std::vector<arma::mat> matrices = split(x, sizes);
    std::vector<MatrixView<double>> parts;
    for (const arma::mat& matrix : matrices) parts.push_back(view_of(matrix));
    for (const Folds& folds : {no_folds(12), arrange_folds(12, scattered_folds(12, 3), true)}) {
      for (const bool center : {false, true}) {
        for (const double room : {kRoomy, 0.0}) {
          Features one(view_of(x), folds, center, room, kControl), several(parts, folds, center, room, kControl);
          EXPECT_EQ(several.rows(), 12);
          EXPECT_EQ(several.cols(), p);
          EXPECT_EQ(several.means(), one.means());
          std::vector<double> scratch, other;
          const double shift[] = {1, -2, 0.5, 3};
          for (int64_t col = 0; col + 4 <= p; ++col) {
            EXPECT_TRUE(same_bits(block_of<double>(several, 2, 7, col, 4), block_of<double>(one, 2, 7, col, 4)));
            const arma::mat a = copy_of(one.gather({3, 3, 11}, col, 4, shift, scratch));
            EXPECT_TRUE(same_bits(copy_of(several.gather({3, 3, 11}, col, 4, shift, other)), a));
            const arma::mat single = block_of<float>(one, 2, 7, col, 4);
            EXPECT_TRUE(same_bits(block_of<float>(several, 2, 7, col, 4), single));
            several.cache_single(room, kControl);
            EXPECT_TRUE(same_bits(block_of<float>(several, 2, 7, col, 4), single));
          }
        }
      }
    }
  }
}

// Many features are used where they are, as long as a block lies in one part; few are copied side by side.
TEST(Features, PartsInPlace) {
  const arma::mat wide = normal_matrix(5, 4, 8), more = normal_matrix(5, 3, 9);
  const Features features({view_of(wide), view_of(more)}, no_folds(5), false, kRoomy, kControl);
  std::vector<double> scratch;
  EXPECT_EQ(features.block(1, 3, 4, 3, scratch).data, more.colptr(0) + 1);
  EXPECT_EQ(features.block(0, 5, 1, 3, scratch).data, wide.colptr(1));
  EXPECT_TRUE(scratch.empty());
  const double* copied = features.block(0, 5, 3, 2, scratch).data;
  EXPECT_EQ(copied, scratch.data());
  const arma::mat narrow = normal_matrix(9, 2, 10), other = normal_matrix(9, 3, 11);
  const Features few({view_of(narrow), view_of(other)}, no_folds(9), false, kRoomy, kControl);
  std::vector<double> unused;
  EXPECT_EQ(few.block(0, 9, 1, 3, unused).ld, 9);
  EXPECT_TRUE(unused.empty());
}

// Factors come after the mean and before the shift; means stay as they were, and so do the features themselves.
TEST(Features, Scaled) {
  const arma::mat x = normal_matrix(8, 4, 12) + 10;
  const std::vector<double> factors = {2, 0, 0.3, 1e-3};
  const double shift[] = {1, -2, 0.5, 0};
  const Folds folds = arrange_folds(8, scattered_folds(8, 3), true);
  for (const bool center : {false, true}) {
    for (const double room : {kRoomy, 0.0}) {
      Features features(view_of(x), folds, center, room, kControl);
      features.cache_single(room, kControl);
      const arma::mat before = block_of<double>(features, 0, 8, 0, 4);
      const Features scaled = features.scaled(factors);
      EXPECT_EQ(scaled.means(), features.means());
      EXPECT_EQ(scaled.cols(), 4);
      std::vector<double> scratch;
      const arma::mat block = block_of<double>(scaled, 0, 8, 0, 4), single = block_of<float>(scaled, 0, 8, 0, 4);
      const arma::mat gathered = copy_of(scaled.gather({7, 0, 0}, 0, 4, shift, scratch));
      for (arma::uword j = 0; j < 4; ++j) {
        for (arma::uword i = 0; i < 8; ++i) {
          EXPECT_EQ(block(i, j), before(i, j) * factors[j]);
          EXPECT_EQ(single(i, j), static_cast<float>(before(i, j) * factors[j]));
        }
        EXPECT_EQ(gathered(0, j), before(7, j) * factors[j] - shift[j]);
        EXPECT_EQ(gathered(2, j), before(0, j) * factors[j] - shift[j]);
      }
      EXPECT_TRUE(same_bits(block_of<double>(features, 0, 8, 0, 4), before));
    }
  }
}

TEST(Features, StopEndsTheCopy) {
  const arma::mat x = normal_matrix(4, 4, 6);
  const std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  EXPECT_THROW(Features(view_of(x), no_folds(4), true, kRoomy, control), Error);
}

}  // namespace voxridge_test
