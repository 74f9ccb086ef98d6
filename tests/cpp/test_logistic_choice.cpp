// Which penalty of a path: means over folds, standard errors and ties.
#include "common.h"

#include "core/logistic_choice.h"

namespace voxridge_test {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST(LogisticChoice, FoldsCountByTheirWeightAndUndefinedOnesNot) {
  const std::vector<double> scores = {1, 2, kNaN, 4, 4, 4, kNaN, kNaN, kNaN, kNaN, 5, kNaN};
  const std::vector<double> weights = {1, 3, 2};
  double mean[4], se[4];
  summarise_folds(scores.data(), weights, 4, mean, se);
  EXPECT_NEAR(mean[0], 1.75, 1e-15);
  EXPECT_NEAR(se[0], std::sqrt((0.5625 + 3 * 0.0625) / 4 / 1), 1e-15);
  EXPECT_EQ(mean[1], 4);
  EXPECT_EQ(se[1], 0);
  EXPECT_TRUE(std::isnan(mean[2]));
  EXPECT_EQ(mean[3], 5);
  EXPECT_TRUE(std::isnan(se[3]));
}

TEST(LogisticChoice, TiesGoToTheLargerPenalty) {
  const double mean[] = {0.7, 0.5, 0.4, 0.4, 0.6}, se[] = {0, 0, 0.1, 0.3, 0};
  const ChosenLambda loss = choose_lambda(BinaryScore::log_loss, mean, se, 5);
  EXPECT_EQ(loss.min, 2);
  EXPECT_EQ(loss.one_se, 1);
  const ChosenLambda area = choose_lambda(BinaryScore::auc, mean, se, 5);
  EXPECT_EQ(area.min, 0);
  const double undefined[] = {kNaN, kNaN}, some[] = {kNaN, 0.4};
  EXPECT_EQ(choose_lambda(BinaryScore::auc, undefined, undefined, 2).min, -1);
  EXPECT_EQ(choose_lambda(BinaryScore::auc, undefined, undefined, 2).one_se, -1);
  EXPECT_EQ(choose_lambda(BinaryScore::brier, some, undefined, 2).min, 1);
  EXPECT_EQ(choose_lambda(BinaryScore::brier, some, undefined, 2).one_se, 1);
}

}  // namespace voxridge_test
