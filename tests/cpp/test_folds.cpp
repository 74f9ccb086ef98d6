#include "common.h"

namespace voxridge_test {

namespace {

ErrorCode code_of(int64_t n, std::vector<Fold> folds, bool partition) {
  try {
    arrange_folds(n, std::move(folds), partition);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::interrupted;
}

}  // namespace

TEST(Folds, ContiguousFoldsKeepTheOrderOfRows) {
  const Folds folds = arrange_folds(10, contiguous_folds(10, 3), true);
  EXPECT_TRUE(folds.partition);
  EXPECT_TRUE(folds.in_order);
  ASSERT_EQ(folds.count(), 3);
  EXPECT_EQ(folds.folds[0].test, row_range(0, 4));
  EXPECT_EQ(folds.folds[1].test, row_range(4, 3));
  EXPECT_EQ(folds.folds[1].train, (RowList{0, 1, 2, 3, 7, 8, 9}));
}

TEST(Folds, ScatteredFoldsBecomeRanges) {
  const std::vector<Fold> given = scattered_folds(11, 3);
  const Folds folds = arrange_folds(11, given, true);
  EXPECT_FALSE(folds.in_order);
  int64_t first = 0;
  for (int64_t f = 0; f < 3; ++f) {
    const int64_t size = static_cast<int64_t>(given[f].test.size());
    EXPECT_EQ(folds.folds[f].test, row_range(first, size));
    for (int64_t i = 0; i < size; ++i) EXPECT_EQ(folds.order[first + i], given[f].test[i]);
    RowList train;  // as the caller's rows
    for (const int64_t row : folds.folds[f].train) train.push_back(folds.order[row]);
    std::sort(train.begin(), train.end());
    EXPECT_EQ(train, given[f].train);
    first += size;
  }
}

TEST(Folds, GeneralFoldsAreLeftAsTheyAre) {
  const std::vector<Fold> given = bootstrap_folds(9, 2, 1);
  const Folds folds = arrange_folds(9, given, false);
  EXPECT_FALSE(folds.partition);
  EXPECT_TRUE(folds.in_order);
  EXPECT_EQ(folds.order, row_range(0, 9));
  for (int64_t f = 0; f < 2; ++f) {
    EXPECT_EQ(folds.folds[f].train, given[f].train);
    EXPECT_EQ(folds.folds[f].test, given[f].test);
  }
}

TEST(Folds, NoFolds) {
  EXPECT_EQ(no_folds(3).order, (RowList{0, 1, 2}));
  EXPECT_EQ(no_folds(3).count(), 0);
  EXPECT_TRUE(no_folds(0).order.empty());
  EXPECT_TRUE(row_range(5, 0).empty());
}

TEST(Folds, MistakesAreErrors) {
  EXPECT_EQ(code_of(4, {{{}, {0, 1}}}, false), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(4, {{{0, 1}, {}}}, false), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(4, {{{0, 4}, {1}}}, false), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(4, {{{0, 1}, {-1}}}, false), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(4, {{{0, 1}, {2}}}, true), ErrorCode::internal);                 // row 3 is in no fold
  EXPECT_EQ(code_of(3, {{{2}, {0, 1}}, {{0}, {1, 2}}}, true), ErrorCode::internal);  // four held-out rows of three
}

}  // namespace voxridge_test
