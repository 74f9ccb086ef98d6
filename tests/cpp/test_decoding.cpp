// Decisions, predictions and weights against literal refits; laws; hard cases.
#include <algorithm>
#include <cmath>

#include "decoding.h"

namespace voxridge_test {

namespace {

// The largest difference of decisions from those of refits, over the largest decision.
double decision_error(const DecodingCase& c) {
  const DecodingResult result = run_decoding(c);
  EXPECT_TRUE(result.failures.empty());
  return relative_difference(result.decision.slice(0), plain_decisions(c, c.options.alphas));
}

const std::vector<VoxelScale> kScales = {VoxelScale::none, VoxelScale::global, VoxelScale::fold};

std::vector<Fold> uneven_folds() {  // 24 rows
  std::vector<Fold> out;
  const std::vector<int64_t> starts = {0, 1, 4, 11, 13, 24};
  for (size_t f = 0; f + 1 < starts.size(); ++f) {
    Fold fold;
    for (int64_t i = 0; i < 24; ++i) {
      (i >= starts[f] && i < starts[f + 1] ? fold.test : fold.train).push_back((i * 7) % 24);
    }
    out.push_back(fold);
  }
  return out;
}

}  // namespace

TEST(Decoding, EqualsRefitsForAllShapesAndScales) {
  for (const VoxelScale scale : kScales) {
    for (const int n_classes : {0, 2, 3, 5}) {
      for (const int64_t p : {1, 2, 7, 17, 18, 19, 20, 21, 23, 24, 25, 30, 60, 1500}) {
        DecodingCase c = n_classes == 0 ? value_case(24, p, 4, 10 + p) : class_case(24, p, n_classes, 4, 10 + p);
        c.options.scale = scale;
        for (const double alpha : {0.1, 1.0, 1e3}) {
          c.options.alphas = {alpha};
          ASSERT_LT(decision_error(c), 1e-10) << p << " voxels, " << n_classes << " classes, alpha " << alpha;
        }
      }
    }
  }
}

TEST(Decoding, UnevenFoldsInAnyOrder) {
  for (const VoxelScale scale : kScales) {
    for (const int64_t p : {1, 5, 16, 23, 40}) {
      DecodingCase c = class_case(24, p, 3, 2, 40 + p);
      c.folds = uneven_folds();
      c.options.scale = scale;
      ASSERT_LT(decision_error(c), 1e-10) << p;
    }
  }
}

TEST(Decoding, TrainingSetsThatAreNotComplements) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    for (const int64_t p : {1, 5, 11, 14, 20, 40}) {
      DecodingCase c = value_case(30, p, 3, 70 + p);
      c.partition = false;
      c.folds.clear();
      for (int64_t f = 0; f < 4; ++f) {  // a gap before the held-out rows, rows tested twice, and rows in no fold
        Fold fold;
        for (int64_t i = 2; i < 30; ++i) {
          if (i >= 5 * f + 4 && i < 5 * f + 11) {
            fold.test.push_back(i);
          } else if (i != 5 * f + 3) {
            fold.train.push_back(i);
          }
        }
        c.folds.push_back(fold);
      }
      c.x.row(0).fill(arma::datum::nan);  // not used
      c.values[1] = arma::datum::nan;
      c.options.scale = scale;
      ASSERT_LT(decision_error(c), 1e-10) << p;
    }
  }
}

TEST(Decoding, PenaltiesFromNothingToHuge) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    for (const int64_t p : {3, 12, 18, 22, 24, 50}) {
      DecodingCase c = class_case(24, p, 2, 4, 100 + p);
      c.options.scale = scale;
      for (const double alpha : {0.0, 1e-8, 1e-4, 1e6, 1e9, 1e12}) {
        c.options.alphas = {alpha};
        ASSERT_LT(decision_error(c), alpha < 1e-6 ? 1e-8 : 1e-10) << p << " voxels, alpha " << alpha;
      }
    }
  }
}

TEST(Decoding, DuplicatesAtPenaltyZeroGiveTheLeastNorm) {
  for (const int64_t p : {4, 9, 40}) {
    DecodingCase c = class_case(24, p, 3, 4, 140 + p);
    c.x.insert_cols(0, c.x);
    for (const double alpha : {0.0, 1e-8, 1.0}) {
      c.options.alphas = {alpha};
      ASSERT_LT(decision_error(c), 1e-7) << p << " " << alpha;
    }
  }
}

TEST(Decoding, LargeOffsetsCostNoDigits) {
  for (const VoxelScale scale : kScales) {
    for (const int64_t p : {5, 40}) {
      DecodingCase c = value_case(24, p, 4, 170 + p), moved = c;
      c.options.scale = moved.options.scale = scale;
      c.x = arma::round(c.x * 64) / 64;  // exact beside the offset
      moved.x = c.x + 134217728.0;
      for (double& value : moved.values) value = std::round(value * 64) / 64;
      c.values = moved.values;
      for (double& value : moved.values) value += 134217728.0;
      const arma::mat here = run_decoding(c).decision.slice(0), there = run_decoding(moved).decision.slice(0);
      ASSERT_LT(largest_difference(there - 134217728.0, here), 1e-7);  // the values themselves are rounded
      moved.values = c.values;
      ASSERT_LT(largest_difference(run_decoding(moved).decision.slice(0), here), 1e-11);
    }
  }
}

TEST(Decoding, OneWildSampleKeepsItsDigits) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    for (const int64_t p : {5, 40}) {
      DecodingCase c = class_case(24, p, 2, 4, 180 + p);
      c.x.row(3) *= 1e6;
      c.options.scale = scale;
      const arma::mat got = run_decoding(c).decision.slice(0), want = plain_decisions(c, {1.0});
      // where it is held out; a training set that holds it has no digits left beside it
      ASSERT_LT(relative_difference(got.head_rows(6), want.head_rows(6)), 1e-10) << p;
    }
  }
}

TEST(Decoding, WeightsEqualThoseOfRefits) {
  for (const VoxelScale scale : kScales) {
    for (const int n_classes : {0, 2, 4}) {
      for (const int64_t p : {1, 6, 19, 24, 70, 1100}) {
        DecodingCase c = n_classes == 0 ? value_case(24, p, 4, 200 + p) : class_case(24, p, n_classes, 4, 200 + p);
        c.options.scale = scale;
        c.options.alphas = {3.0};
        const DecodingResult result = run_decoding(c, 2);
        arma::mat x = c.x, want;
        arma::rowvec sd(p, arma::fill::ones);
        if (scale == VoxelScale::global) {
          sd = arma::stddev(x, 1, 0);
          x.each_row() /= sd;
        }
        const auto expect = [&](const Fold& fold, const arma::mat& got) {
          refit(x, plain_targets(c), fold, 3.0, scale == VoxelScale::fold, &want);
          want.each_col() /= sd.t();
          ASSERT_LT(relative_difference(got, want), 1e-10) << p << " voxels, " << n_classes << " classes";
        };
        expect({row_range(0, 24), {0}}, result.weights);
        for (size_t f = 0; f < 4; ++f) expect(c.folds[f], result.fold_weights.slice(f));
        // Haufe: Cov(X) W Cov(S)^-1
        const arma::mat s = c.x * result.weights;
        const arma::mat pattern = arma::cov(c.x) * result.weights * arma::pinv(arma::mat(arma::cov(s)), 1e-9);
        ASSERT_LT(relative_difference(result.patterns, pattern), 1e-8);
      }
    }
  }
}

TEST(Decoding, SmallestSets) {
  DecodingCase c = class_case(4, 3, 2, 2, 230);  // two samples per fold
  ASSERT_LT(decision_error(c), 1e-11);
  c = class_case(9, 4, 3, 9, 231);  // one held-out row at a time
  ASSERT_LT(decision_error(c), 1e-11);
  c = value_case(9, 40, 9, 232);
  c.options.metrics = {DecodingMetric::mse};
  ASSERT_LT(decision_error(c), 1e-11);
}

TEST(Decoding, ClassesAndScoresFollowTheDecisions) {
  for (const int n_classes : {2, 4}) {
    DecodingCase c = class_case(40, 6, n_classes, 5, 240);
    c.options.metrics = {DecodingMetric::accuracy, DecodingMetric::balanced_accuracy, DecodingMetric::auc};
    const DecodingResult result = run_decoding(c);
    const arma::mat want = plain_decisions(c, c.options.alphas);
    arma::uword row = 0;
    for (size_t f = 0; f < 5; ++f) {
      double correct = 0;
      for (const int64_t i : c.folds[f].test) {
        const int best = n_classes == 2 ? 1 + (want(row, 0) > 0) : 1 + static_cast<int>(want.row(row).index_max());
        ASSERT_EQ(result.classes(row, 0), best);
        correct += best == c.classes[i];
        ++row;
      }
      ASSERT_DOUBLE_EQ(result.scores(f, 0, 0), correct / 8);
    }
    ASSERT_DOUBLE_EQ(result.pooled(0, 0), arma::mean(result.scores.slice(0).col(0)));
  }
}

TEST(Decoding, MissingClassesAreToldOnceAndKept) {
  DecodingCase c = class_case(12, 5, 3, 3, 250);
  c.lists = {{0, 1}, {2, 3, 4}};
  for (int i = 0; i < 12; ++i) c.classes[i] = i < 4 ? 3 : 1 + i % 2;  // class 3 is in the first fold alone
  const DecodingResult result = run_decoding(c);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].location, -1);
  EXPECT_EQ(result.failures[0].fold, 0);
  EXPECT_EQ(result.failures[0].reason, DecodingFailure::class_missing);
  EXPECT_TRUE(result.decision.slice(0).submat(0, 2, 3, 2).is_finite() == false);
  EXPECT_EQ(result.decision(0, 2, 1), -arma::datum::inf);
  EXPECT_EQ(result.scores(0, 0, 0), 0);  // class 3 cannot be named
  EXPECT_TRUE(std::isfinite(result.scores(1, 0, 0)));
}

TEST(Decoding, OneClassInATrainingSetLeavesTheFoldOut) {
  DecodingCase c = class_case(8, 3, 2, 2, 251);
  c.classes = {1, 2, 1, 2, 2, 2, 2, 2};
  const DecodingResult result = run_decoding(c);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].reason, DecodingFailure::one_class);
  EXPECT_TRUE(std::isnan(result.scores(0, 0, 0)));
  EXPECT_EQ(result.classes(0, 0), 0);
  EXPECT_DOUBLE_EQ(result.pooled(0, 0), result.scores(1, 0, 0));
}

}  // namespace voxridge_test
