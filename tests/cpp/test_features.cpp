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

TEST(Features, StopEndsTheCopy) {
  const arma::mat x = normal_matrix(4, 4, 6);
  const std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  EXPECT_THROW(Features(view_of(x), no_folds(4), true, kRoomy, control), Error);
}

}  // namespace voxridge_test
