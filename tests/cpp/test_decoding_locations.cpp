// Many locations: nothing of one depends on the others, on threads or on order; laws; what is told of failures.
#include <algorithm>
#include <cmath>

#include "decoding.h"

namespace voxridge_test {

namespace {

DecodingCase many_lists(int64_t n, int64_t v, int n_classes, uint64_t seed) {
  DecodingCase c = n_classes > 0 ? class_case(n, v, n_classes, 4, seed) : value_case(n, v, 4, seed);
  for (int64_t l = 0; l < 70; ++l) {
    std::vector<int> list;
    for (int64_t i = 0; i < 1 + l * 17 % 40; ++i) list.push_back(static_cast<int>((l * 5 + i * 3) % v));
    c.lists.push_back(list);
  }
  return c;
}

void expect_slice(const DecodingResult& all, arma::uword l, const DecodingResult& one, arma::uword m) {
  ASSERT_TRUE(same_bits(all.decision.slice(l), one.decision.slice(m)));
  for (arma::uword k = 0; k < all.scores.n_slices; ++k) {
    ASSERT_TRUE(same_bits(arma::mat(all.scores.slice(k).col(l)), arma::mat(one.scores.slice(k).col(m))));
  }
}

}  // namespace

TEST(DecodingLocations, ThreadsAndOrderChangeNoBit) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    for (const int n_classes : {0, 3}) {
      DecodingCase c = many_lists(24, 50, n_classes, 300);
      c.options.scale = scale;
      c.options.n_permutations = 40;
      c.options.rows.kind = Rearrangement::orders;
      c.options.rows.n = 24;
      c.options.rows.seed = 5;
      const DecodingResult one = run_decoding(c);
      for (const int threads : {2, 5}) ASSERT_TRUE(one.same_bits_as(run_decoding(c, threads)));
      DecodingCase turned = c;
      std::reverse(turned.lists.begin(), turned.lists.end());
      const DecodingResult other = run_decoding(turned, 2);
      for (arma::uword l = 0; l < 70; ++l) expect_slice(one, l, other, 69 - l);
      ASSERT_TRUE(same_bits(one.max_null, other.max_null));
    }
  }
}

TEST(DecodingLocations, ALocationEqualsItsColumnsAlone) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::global, VoxelScale::fold}) {
    DecodingCase c = many_lists(24, 50, 2, 310);
    c.options.scale = scale;
    const DecodingResult all = run_decoding(c, 2);
    for (const arma::uword l : {0, 3, 20, 41}) {
      DecodingCase alone = c;
      alone.lists.clear();
      alone.x = c.x.cols(arma::conv_to<arma::uvec>::from(c.lists[l]));
      const DecodingResult one = run_decoding(alone);
      expect_slice(all, l, one, 0);
    }
  }
}

TEST(DecodingLocations, Laws) {
  for (const int64_t p : {6, 40}) {
    for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
      DecodingCase c = class_case(24, p, 3, 4, 320);
      c.options.scale = scale;
      const arma::mat want = run_decoding(c).decision.slice(0);
      DecodingCase moved = c;  // another offset per voxel
      for (arma::uword j = 0; j < moved.x.n_cols; ++j) moved.x.col(j) += 3.0 * static_cast<double>(j) - 50;
      EXPECT_LT(largest_difference(run_decoding(moved).decision.slice(0), want), 1e-12);
      DecodingCase turned = c;  // voxels in another order
      turned.x = arma::fliplr(c.x);
      EXPECT_LT(largest_difference(run_decoding(turned).decision.slice(0), want), 1e-12);
      DecodingCase scaled = c;
      scaled.x = 1e4 * c.x;
      if (scale == VoxelScale::none) scaled.options.alphas = {1e8};
      EXPECT_LT(largest_difference(run_decoding(scaled).decision.slice(0), want), 1e-12);
      DecodingCase renamed = c;  // classes 1 2 3 become 2 3 1
      for (int& label : renamed.classes) label = label % 3 + 1;
      const arma::mat other = run_decoding(renamed).decision.slice(0);
      for (arma::uword j = 0; j < 3; ++j) {
        EXPECT_LT(largest_difference(arma::mat(other.col((j + 1) % 3)), arma::mat(want.col(j))), 1e-12);
      }
    }
  }
}

TEST(DecodingLocations, VoxelsThatCannotBeUsed) {
  DecodingCase c = class_case(16, 7, 2, 4, 330);
  c.x(3, 0) = arma::datum::nan;
  c.x(9, 1) = arma::datum::inf;
  c.x.col(2).fill(4.7);
  c.lists = {{0, 1}, {2}, {0, 2}, {0, 2, 3}, {2, 3, 4, 1}, {}, {5, 6}};
  c.options.min_voxels = 2;
  const DecodingResult result = run_decoding(c);
  EXPECT_EQ(result.state, (std::vector<int>{3, 3, 1, 0, 0, 0, 0}));
  EXPECT_EQ(result.size, (std::vector<int>{0, 0, 0, 1, 2, 0, 2}));
  const std::vector<DecodingFailure> want = {DecodingFailure::not_finite, DecodingFailure::constant,
                                             DecodingFailure::not_finite, DecodingFailure::too_small,
                                             DecodingFailure::too_small};
  const std::vector<int64_t> where = {0, 1, 2, 3, 5};
  ASSERT_EQ(result.failures.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(result.failures[i].location, where[i]);
    EXPECT_EQ(result.failures[i].fold, -1);
    EXPECT_EQ(result.failures[i].reason, want[i]);
    EXPECT_TRUE(std::isnan(result.scores(0, where[i], 0)));
    EXPECT_TRUE(std::isnan(result.pooled(where[i], 0)));
    EXPECT_EQ(result.classes(0, where[i]), 0);
  }
  DecodingCase some = c;
  some.lists = {{3, 4}};
  expect_slice(result, 4, run_decoding(some), 0);
  const arma::mat weights = result.weights;  // members 0 0 1 | 2 | 0 2 | 0 2 3 | 2 3 4 1 | | 5 6
  EXPECT_TRUE(std::isnan(weights(8, 0)) && std::isfinite(weights(9, 0)) && std::isnan(weights(11, 0)));
}

TEST(DecodingLocations, ConstantInATrainingSet) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    DecodingCase c = class_case(16, 3, 2, 4, 340);
    c.x.col(0).tail(12).fill(1.5);  // constant where the first fold is held out
    c.lists = {{0}, {0, 1}};
    c.options.scale = scale;
    const DecodingResult result = run_decoding(c);
    ASSERT_EQ(result.failures.size(), 1u);
    EXPECT_EQ(result.failures[0].location, 0);
    EXPECT_EQ(result.failures[0].fold, 0);
    EXPECT_EQ(result.failures[0].reason, DecodingFailure::constant);
    EXPECT_TRUE(std::isnan(result.scores(0, 0, 0)));
    EXPECT_TRUE(std::isfinite(result.scores(1, 0, 0)));
    const arma::mat want = plain_decisions(c, {1.0});
    DecodingCase pair = c;
    pair.lists.clear();
    pair.x = c.x.cols(0, 1);
    EXPECT_LT(relative_difference(result.decision.slice(1), plain_decisions(pair, {1.0})), 1e-10);
  }
}

TEST(DecodingLocations, ScoresThatCannotBeDefined) {
  DecodingCase c = class_case(8, 3, 2, 2, 350);
  c.folds = {{{4, 5, 6, 7}, {0, 2}}, {{0, 1, 2, 3}, {4, 5}}};  // the first held-out rows are of one class
  c.partition = false;
  c.options.metrics = {DecodingMetric::accuracy, DecodingMetric::auc};
  c.lists = {{0}, {1}};
  const DecodingResult result = run_decoding(c);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].location, -1);
  EXPECT_EQ(result.failures[0].reason, DecodingFailure::undefined);
  EXPECT_TRUE(std::isfinite(result.scores(0, 0, 0)));
  EXPECT_TRUE(std::isnan(result.scores(0, 0, 1)));
  EXPECT_TRUE(std::isfinite(result.scores(1, 0, 1)));
}

TEST(DecodingLocations, TheStopFlagStopsAndProgressCounts) {
  DecodingCase c = many_lists(24, 50, 2, 360);
  const std::atomic<bool> stop{true};
  Progress progress;
  Control control;
  control.stop = &stop;
  control.progress = &progress;
  std::vector<int64_t> start = {0};
  std::vector<int> voxel;
  for (const auto& list : c.lists) {
    for (const int column : list) voxel.push_back(column + 1);
    start.push_back(static_cast<int64_t>(voxel.size()));
  }
  const ListedNeighbourhoods lists(start, voxel.data());
  std::vector<double> scores(4 * 70), pooled(70);
  std::vector<int> size(70), state(50);
  DecodingOutputs to;
  to.scores = scores.data();
  to.pooled = pooled.data();
  to.size = size.data();
  to.voxel_state = state.data();
  EXPECT_THROW(decode(c.problem(), lists, c.options, to, control), Error);
  control.stop = nullptr;
  decode(c.problem(), lists, c.options, to, control);
  EXPECT_EQ(progress.done, 70);
}

}  // namespace voxridge_test
