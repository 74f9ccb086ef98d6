// Scores of decisions against their definitions.
#include <cmath>

#include "core/decoding_metrics.h"
#include "decoding.h"

namespace voxridge_test {

namespace {

double score_classes(DecodingMetric metric, int n_classes, const std::vector<int>& label, const arma::mat& decision) {
  const int64_t n = static_cast<int64_t>(label.size());
  return decoding_score(metric, {n, n_classes, label.data(), nullptr, decision.memptr(), n, nullptr});
}
double score_values(DecodingMetric metric, const std::vector<double>& value, const std::vector<double>& predicted) {
  const int64_t n = static_cast<int64_t>(value.size());
  return decoding_score(metric, {n, 0, nullptr, value.data(), predicted.data(), n, nullptr});
}

}  // namespace

TEST(DecodingMetrics, TwoClasses) {
  const std::vector<int> label = {0, 0, 0, 1};
  const arma::mat decision = arma::vec({-1, 0, 2, 0.5});  // 0 is the first class
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::accuracy, 2, label, decision), 0.75);
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::balanced_accuracy, 2, label, decision), (2.0 / 3 + 1) / 2);
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::auc, 2, label, decision), 2.0 / 3);
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::auc, 2, label, arma::vec({1, 1, 0, 1})), (0.5 + 0.5 + 1) / 3);
  EXPECT_TRUE(std::isnan(score_classes(DecodingMetric::auc, 2, {1, 1}, arma::vec({1, 2}))));
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::balanced_accuracy, 2, {1, 1}, arma::vec({1, -2})), 0.5);
}

TEST(DecodingMetrics, SeveralClasses) {
  const arma::mat decision = {{1, 1, 0}, {0, 2, 2}, {-1, -2, -1}, {-arma::datum::inf, -5, -6}};
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::accuracy, 3, {0, 1, 2, 1}, decision), 0.75);  // ties: the first
  // class 0: {1} over {0, -1, -Inf}; class 1: {2, -5} over {1, -2}: 2 of 4; class 2: {-1} over {0, 2, -6}: 1 of 3
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::auc, 3, {0, 1, 2, 1}, decision), (1 + 0.5 + 1.0 / 3) / 3);
  // class 2 is not there: the mean over the other two
  EXPECT_DOUBLE_EQ(score_classes(DecodingMetric::auc, 3, {0, 1, 0, 1}, decision), (0.75 + 0.5) / 2);
}

TEST(DecodingMetrics, Values) {
  const std::vector<double> value = {1, 2, 4, 5}, predicted = {2, 2, 3, 6};
  EXPECT_DOUBLE_EQ(score_values(DecodingMetric::mse, value, predicted), 0.75);
  EXPECT_DOUBLE_EQ(score_values(DecodingMetric::r2, value, predicted), 1 - 3.0 / 10);
  EXPECT_NEAR(score_values(DecodingMetric::r, value, predicted),
              arma::as_scalar(arma::cor(arma::vec(value), arma::vec(predicted))), 1e-15);
  EXPECT_TRUE(std::isnan(score_values(DecodingMetric::r, {1, 2}, {1, 2})));
  EXPECT_TRUE(std::isnan(score_values(DecodingMetric::r, {1, 2, 3}, {2, 2, 2})));
  EXPECT_TRUE(std::isnan(score_values(DecodingMetric::r2, {2, 2, 2}, {1, 2, 3})));
  EXPECT_DOUBLE_EQ(score_values(DecodingMetric::mse, {2}, {5}), 9);
}

TEST(DecodingMetrics, RowsLeftOutDoNotCount) {
  const std::vector<int> label = {0, 1, 1};
  const arma::vec decision = {-1, 1, -1};
  const std::vector<char> skip = {0, 0, 1}, all = {1, 1, 1};
  EXPECT_EQ(decoding_score(DecodingMetric::accuracy, {3, 2, label.data(), nullptr, decision.memptr(), 3, skip.data()}),
            1);
  EXPECT_TRUE(std::isnan(
      decoding_score(DecodingMetric::accuracy, {3, 2, label.data(), nullptr, decision.memptr(), 3, all.data()})));
}

}  // namespace voxridge_test
