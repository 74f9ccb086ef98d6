// Rearrangements: the documented counters, enumerations that meet every arrangement once, blocks.
#include <algorithm>
#include <numeric>
#include <set>

#include "common.h"
#include "core/permutation_rows.h"

namespace voxridge_test {

namespace {

RowPlan plan_of(Rearrangement kind, int64_t n) {
  RowPlan plan;
  plan.kind = kind;
  plan.n = n;
  return plan;
}

std::vector<char> flips_of(const PermutationRows& rows, int64_t r) {
  std::vector<char> out(rows.n());
  rows.flips(r, out.data());
  return out;
}
std::vector<char> labels_of(const PermutationRows& rows, int64_t r) {
  std::vector<char> out(rows.n());
  rows.labels(r, out.data());
  return out;
}
std::vector<int> order_of(const PermutationRows& rows, int64_t r) {
  std::vector<int> out(rows.n());
  rows.order(r, out.data());
  return out;
}

bool is_order(std::vector<int> order) {
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int>(i)) return false;
  }
  return true;
}

}  // namespace

TEST(PermutationRows, FlipsAreBitsOfStreamZero) {
  RowPlan plan = plan_of(Rearrangement::flips, 300);
  plan.seed = 0x123456789abcd;
  const PermutationRows rows(plan);
  for (const int64_t r : {int64_t{0}, int64_t{6}, int64_t{5000000000}}) {
    const std::vector<char> got = flips_of(rows, r);
    for (int i = 0; i < 300; ++i) {
      const uint64_t index = static_cast<uint64_t>(r) + 1;
      const Philox::Block words = Philox::rounds(
          {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(i / 128), 0},
          {0x6789abcd, 0x12345});
      ASSERT_EQ(got[i], words[i % 128 / 32] >> (i % 32) & 1) << r << " " << i;
    }
  }
}

TEST(PermutationRows, OrdersSortTheKeysOfStreamOne) {
  RowPlan plan = plan_of(Rearrangement::orders, 33);
  plan.seed = 7;
  const PermutationRows rows(plan);
  for (int64_t r = 0; r < 20; ++r) {
    std::vector<std::pair<uint64_t, int>> keys;
    for (int i = 0; i < 33; ++i) {
      const Philox::Block words =
          Philox::rounds({static_cast<uint32_t>(r + 1), 0, static_cast<uint32_t>(i / 2), 1}, {7, 0});
      const int at = 2 * (i % 2);
      keys.emplace_back(uint64_t{words[at]} << 32 | words[at + 1], i);
    }
    std::sort(keys.begin(), keys.end());
    const std::vector<int> got = order_of(rows, r);
    ASSERT_TRUE(is_order(got));
    for (int i = 0; i < 33; ++i) ASSERT_EQ(got[i], keys[i].second);
  }
}

TEST(PermutationRows, EnumerationMeetsEveryArrangementOnce) {
  RowPlan flips = plan_of(Rearrangement::flips, 5), orders = plan_of(Rearrangement::orders, 5);
  RowPlan labels = plan_of(Rearrangement::labels, 7);
  labels.first = {0, 1, 0, 0, 1, 1, 0};
  flips.exact = orders.exact = labels.exact = true;
  const PermutationRows f(flips), o(orders), l(labels);
  EXPECT_EQ(f.possible(), 32);
  EXPECT_EQ(o.possible(), 120);
  EXPECT_EQ(l.possible(), 35);
  std::set<std::vector<char>> signs, members;
  std::set<std::vector<int>> all;
  for (int r = 0; r < 32; ++r) signs.insert(flips_of(f, r));
  for (int r = 0; r < 120; ++r) {
    EXPECT_TRUE(is_order(order_of(o, r)));
    all.insert(order_of(o, r));
  }
  for (int r = 0; r < 35; ++r) {
    const std::vector<char> got = labels_of(l, r);
    EXPECT_EQ(std::count(got.begin(), got.end(), 1), 3);
    members.insert(got);
  }
  EXPECT_EQ(signs.size(), 32u);
  EXPECT_EQ(all.size(), 120u);
  EXPECT_EQ(members.size(), 35u);
  EXPECT_TRUE(members.count(labels.first));
}

TEST(PermutationRows, BlocksKeepTheirSamplesOrMoveAsUnits) {
  const std::vector<int> block = {0, 1, 2, 0, 1, 2, 1, 0, 2};
  for (const bool exact : {false, true}) {
    RowPlan plan = plan_of(Rearrangement::orders, 9);
    plan.block = block;
    plan.exact = exact;
    const PermutationRows within(plan);
    EXPECT_EQ(within.possible(), 216);
    std::set<std::vector<int>> all;
    for (int r = 0; r < 216; ++r) {
      const std::vector<int> got = order_of(within, r);
      EXPECT_TRUE(is_order(got));
      for (int i = 0; i < 9; ++i) EXPECT_EQ(block[got[i]], block[i]);
      all.insert(got);
    }
    if (exact) {
      EXPECT_EQ(all.size(), 216u);
    }
    plan.whole = true;
    const PermutationRows whole(plan);
    EXPECT_EQ(whole.possible(), 6);
    all.clear();
    for (int r = 0; r < (exact ? 6 : 100); ++r) {
      const std::vector<int> got = order_of(whole, r);
      for (int i = 3; i < 6; ++i) EXPECT_EQ(block[got[i]], block[got[i - 3]]);
      all.insert(got);
    }
    EXPECT_EQ(all.size(), 6u);
    plan.kind = Rearrangement::flips;
    const PermutationRows signs(plan);
    EXPECT_EQ(signs.possible(), 8);
    std::set<std::vector<char>> patterns;
    for (int r = 0; r < (exact ? 8 : 200); ++r) {
      const std::vector<char> got = flips_of(signs, r);
      for (int i = 3; i < 6; ++i) EXPECT_EQ(got[i], got[i - 3]);
      patterns.insert(got);
    }
    EXPECT_EQ(patterns.size(), 8u);
  }
}

TEST(PermutationRows, LabelsOfBlocks) {
  RowPlan plan = plan_of(Rearrangement::labels, 8);
  plan.block = {0, 0, 0, 0, 1, 1, 1, 1};
  plan.first = {1, 0, 0, 0, 1, 1, 0, 0};
  plan.exact = true;
  const PermutationRows within(plan);
  EXPECT_EQ(within.possible(), 24);
  std::set<std::vector<char>> all;
  for (int r = 0; r < 24; ++r) {
    const std::vector<char> got = labels_of(within, r);
    EXPECT_EQ(std::count(got.begin(), got.begin() + 4, 1), 1);
    EXPECT_EQ(std::count(got.begin() + 4, got.end(), 1), 2);
    all.insert(got);
  }
  EXPECT_EQ(all.size(), 24u);
  plan.block = {0, 0, 1, 1, 2, 2, 3, 3};
  plan.first = {1, 1, 0, 0, 0, 0, 1, 1};
  plan.whole = true;
  const PermutationRows units(plan);
  EXPECT_EQ(units.possible(), 6);
  plan.first = {1, 0, 0, 0, 0, 0, 1, 1};  // a block of both groups: its pattern moves
  EXPECT_EQ(PermutationRows(plan).possible(), 24);
  for (int r = 0; r < 24; ++r) {
    const std::vector<char> got = labels_of(PermutationRows(plan), r);
    EXPECT_EQ(std::count(got.begin(), got.end(), 1), 3);
  }
}

TEST(PermutationRows, GivenRowsAreTakenAsTheyAre) {
  const std::vector<int> signs = {1, -1, -1, -1, 1, 1}, orders = {1, 3, 2, 1, 3, 2};  // 2 x 3, by columns
  RowPlan plan = plan_of(Rearrangement::flips, 3);
  plan.given = {signs.data(), 2, 3, 2};
  EXPECT_EQ(flips_of(PermutationRows(plan), 0), (std::vector<char>{0, 1, 0}));
  plan.kind = Rearrangement::orders;
  plan.given = {orders.data(), 2, 3, 2};
  EXPECT_EQ(order_of(PermutationRows(plan), 1), (std::vector<int>{2, 0, 1}));
  plan.kind = Rearrangement::labels;
  plan.first = {1, 0, 0};
  EXPECT_EQ(labels_of(PermutationRows(plan), 1), (std::vector<char>{0, 0, 1}));
}

TEST(PermutationRows, BinomialCoefficients) {
  EXPECT_EQ(choose(40, 20), 137846528820.0);
  EXPECT_EQ(choose(5, 0), 1);
  EXPECT_EQ(choose(5, 6), 0);
}

}  // namespace voxridge_test
