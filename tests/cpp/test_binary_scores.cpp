#include "common.h"

#include <cmath>
#include <limits>

#include "core/binary_scores.h"

namespace voxridge_test {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Forecasts {
  std::vector<double> y, logits, weights;
  double score(BinaryScore which) const {
    return binary_score(which, y.data(), logits.data(), weights.empty() ? nullptr : weights.data(),
                        static_cast<int64_t>(y.size()));
  }
};

// Outcomes (proportions among them where `shares`), forecasts with ties where `steps` > 0, weights with zeros.
Forecasts random_forecasts(int64_t n, uint64_t seed, bool shares, double steps, bool weighted) {
  const Philox random(seed, 11);
  Forecasts out;
  for (int64_t i = 0; i < n; ++i) {
    const auto u = random.uniform_pair(2 * i), v = random.uniform_pair(2 * i + 1);
    double z = 8 * u[0] - 4;
    if (steps > 0) z = std::round(z * steps) / steps;
    out.y.push_back(shares ? u[1] : u[1] < 0.4 ? 1 : 0);
    out.logits.push_back(z);
    if (weighted) out.weights.push_back(v[0] < 0.2 ? 0 : v[1]);
  }
  return out;
}

// All pairs of rows.
long double plain_auc(const Forecasts& f) {
  long double pairs = 0, positives = 0, negatives = 0;
  const auto weight = [&](size_t i) { return f.weights.empty() ? 1.0L : f.weights[i]; };
  for (size_t i = 0; i < f.y.size(); ++i) {
    positives += weight(i) * f.y[i];
    negatives += weight(i) * (1 - static_cast<long double>(f.y[i]));
    for (size_t j = 0; j < f.y.size(); ++j) {
      const long double order = f.logits[i] > f.logits[j] ? 1 : f.logits[i] == f.logits[j] ? 0.5L : 0;
      pairs += weight(i) * f.y[i] * weight(j) * (1 - static_cast<long double>(f.y[j])) * order;
    }
  }
  return pairs / (positives * negatives);
}

long double plain_mean(const Forecasts& f, BinaryScore which) {
  long double sum = 0, total = 0;
  for (size_t i = 0; i < f.y.size(); ++i) {
    const long double w = f.weights.empty() ? 1.0L : f.weights[i], y = f.y[i];
    const long double p = 1 / (1 + std::exp(-static_cast<long double>(f.logits[i])));
    total += w;
    if (which == BinaryScore::log_loss) sum -= w * (y * std::log(p) + (1 - y) * std::log(1 - p));
    if (which == BinaryScore::brier) sum += w * (y - p) * (y - p);
    if (which == BinaryScore::accuracy) sum += w * (p >= 0.5L ? y : 1 - y);
  }
  return sum / total;
}

}  // namespace

TEST(BinaryScores, AgreeWithTheDefinitions) {
  uint64_t seed = 0;
  for (const bool shares : {false, true}) {
    for (const double steps : {0.0, 1.0, 0.3}) {
      for (const bool weighted : {false, true}) {
        for (const int64_t n : {2, 3, 7, 60}) {
          Forecasts f = random_forecasts(n, ++seed, shares, steps, weighted);
          f.y[0] = 1;
          f.y[1] = 0;
          if (weighted) f.weights[0] = f.weights[1] = 0.7;
          EXPECT_NEAR(f.score(BinaryScore::auc), static_cast<double>(plain_auc(f)), 1e-14) << seed;
          for (const BinaryScore which : {BinaryScore::log_loss, BinaryScore::brier, BinaryScore::accuracy})
            EXPECT_NEAR(f.score(which), static_cast<double>(plain_mean(f, which)), 1e-14) << seed;
        }
      }
    }
  }
}

TEST(BinaryScores, PerfectOrderIsExact) {
  Forecasts f;
  for (int i = 0; i < 1000; ++i) {
    f.y.push_back(i >= 300);
    f.logits.push_back(i);
    f.weights.push_back(0.1 + i % 7);
  }
  EXPECT_EQ(f.score(BinaryScore::auc), 1);
  for (double& y : f.y) y = 1 - y;
  EXPECT_EQ(f.score(BinaryScore::auc), 0);
  f.logits.assign(1000, 3);
  EXPECT_EQ(f.score(BinaryScore::auc), 0.5);
}

TEST(BinaryScores, SaturatedLogitsAreNoTies) {
  EXPECT_EQ((Forecasts{{0, 1, 1}, {40, 41, 42}, {}}).score(BinaryScore::auc), 1);
  EXPECT_EQ((Forecasts{{0, 1}, {-kInf, kInf}, {}}).score(BinaryScore::auc), 1);
  EXPECT_EQ((Forecasts{{0, 1}, {kInf, kInf}, {}}).score(BinaryScore::auc), 0.5);
}

TEST(BinaryScores, NothingIsClipped) {
  EXPECT_EQ((Forecasts{{0, 1}, {kInf, 0}, {}}).score(BinaryScore::log_loss), kInf);
  EXPECT_EQ((Forecasts{{0, 1}, {-kInf, kInf}, {}}).score(BinaryScore::log_loss), 0);
  EXPECT_EQ((Forecasts{{0}, {40}, {}}).score(BinaryScore::log_loss), 40);
  EXPECT_EQ((Forecasts{{0}, {kInf}, {}}).score(BinaryScore::brier), 1);
  EXPECT_GT((Forecasts{{1}, {40}, {}}).score(BinaryScore::brier), 0);
}

TEST(BinaryScores, RowsOfWeightZeroAreAbsent) {
  const Forecasts f{{0, 1, 0, 1}, {kInf, 1, kNan, 2}, {0, 1, 0, 3}};
  const Forecasts kept{{1, 1}, {1, 2}, {1, 3}};
  for (const BinaryScore which : {BinaryScore::log_loss, BinaryScore::brier, BinaryScore::accuracy})
    EXPECT_EQ(f.score(which), kept.score(which));
  EXPECT_TRUE(std::isnan(f.score(BinaryScore::auc)));  // one class of positive weight
}

TEST(BinaryScores, UndefinedIsNan) {
  for (const BinaryScore which : {BinaryScore::log_loss, BinaryScore::brier, BinaryScore::accuracy, BinaryScore::auc}) {
    EXPECT_TRUE(std::isnan(binary_score(which, nullptr, nullptr, nullptr, 0)));
    EXPECT_TRUE(std::isnan((Forecasts{{0, 1}, {1, 2}, {0, 0}}).score(which)));
    EXPECT_TRUE(std::isnan((Forecasts{{0, 1, 1}, {1, kNan, 2}, {}}).score(which)));
  }
  EXPECT_TRUE(std::isnan((Forecasts{{1, 1}, {1, 2}, {}}).score(BinaryScore::auc)));
  EXPECT_TRUE(std::isnan((Forecasts{{0, 0}, {1, 2}, {}}).score(BinaryScore::auc)));
}

// Repeating rows, and another unit of the weights, change nothing, also at the ends of the range of double.
TEST(BinaryScores, WeightsAreRelative) {
  const Forecasts base = random_forecasts(40, 99, false, 2, true);
  for (const BinaryScore which : {BinaryScore::log_loss, BinaryScore::brier, BinaryScore::accuracy, BinaryScore::auc}) {
    Forecasts repeated, counted = base;
    for (size_t i = 0; i < base.y.size(); ++i) {
      counted.weights[i] = static_cast<double>(i % 4);
      for (size_t copy = 0; copy < i % 4; ++copy) {
        repeated.y.push_back(base.y[i]);
        repeated.logits.push_back(base.logits[i]);
      }
    }
    EXPECT_NEAR(counted.score(which), repeated.score(which), 1e-14);
    for (const double unit : {0x1p-1000, 0x1p1000, 0x1p4}) {
      Forecasts scaled = base;
      for (double& w : scaled.weights) w *= unit;
      EXPECT_EQ(scaled.score(which), base.score(which)) << unit;
    }
  }
}

}  // namespace voxridge_test
