#include "common.h"

#include <cmath>
#include <limits>

#include "core/sigmoid.h"

namespace voxridge_test {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEps = std::numeric_limits<double>::epsilon();

// Units in the last place of `want`; subnormal numbers have the spacing of the smallest normal ones.
double ulps(double got, double want) {
  if (got == want) return 0;
  const double next = std::nextafter(std::fabs(want), kInf);
  return std::fabs(got - want) / (next - std::fabs(want));
}

std::vector<double> logits() {
  std::vector<double> out = {0, 1e-300, 1e-17, 1e-8, 1, 36.7, 36.74, 37, 40, 700, 709, 710, 745};
  for (int i = 0; i < 2000; ++i) out.push_back(0.37 * i);
  return out;
}

}  // namespace

// The same formulas in long double, with 11 more bits.
TEST(Sigmoid, IsExactToRounding) {
  for (const double size : logits()) {
    for (const double z : {size, -size}) {
      const long double e = std::exp(-std::fabs(static_cast<long double>(z)));
      const long double p = (z >= 0 ? 1 : e) / (1 + e);
      const long double soft = (z > 0 ? z : 0) + std::log1p(e);
      EXPECT_LE(ulps(sigmoid(z), static_cast<double>(p)), 2) << z;
      EXPECT_LE(ulps(softplus(z), static_cast<double>(soft)), 2) << z;
      EXPECT_LE(ulps(sigmoid_slope(z), static_cast<double>(e / ((1 + e) * (1 + e)))), 4) << z;
      EXPECT_EQ(log_sigmoid(z), -softplus(-z));
    }
  }
}

TEST(Sigmoid, FarOutValues) {
  EXPECT_LE(ulps(sigmoid(-710), 4.47628622567513e-309), 1e10);  // 15 digits as printed
  EXPECT_NEAR(sigmoid(-710) / 4.47628622567513e-309, 1, 1e-14);
  EXPECT_EQ(sigmoid(36.74), 1);
  EXPECT_LT(sigmoid(36.73), 1);
  EXPECT_GT(sigmoid(-745), 0);
  EXPECT_EQ(sigmoid(0), 0.5);
  EXPECT_EQ(logistic_loss(0, 40), 40);
  EXPECT_NEAR(sigmoid_slope(37) / 8.533e-17, 1, 1e-4);
  EXPECT_GT(sigmoid_slope(700), 0);
  EXPECT_EQ(sigmoid(0.809), 1 / (1 + std::exp(-0.809)));
  EXPECT_NEAR(sigmoid(0.809), 0.691896369435959, 1e-15);
}

TEST(Sigmoid, Infinities) {
  EXPECT_EQ(sigmoid(kInf), 1);
  EXPECT_EQ(sigmoid(-kInf), 0);
  EXPECT_EQ(softplus(kInf), kInf);
  EXPECT_EQ(softplus(-kInf), 0);
  EXPECT_EQ(log_sigmoid(kInf), 0);
  EXPECT_EQ(log_sigmoid(-kInf), -kInf);
  EXPECT_EQ(sigmoid_slope(kInf), 0);
  EXPECT_EQ(sigmoid_slope(-kInf), 0);
  EXPECT_EQ(logistic_loss(1, kInf), 0);
  EXPECT_EQ(logistic_loss(0, -kInf), 0);
  EXPECT_EQ(logistic_loss(1, -kInf), kInf);
  EXPECT_EQ(logistic_loss(0, kInf), kInf);
  EXPECT_EQ(logistic_loss(0.5, kInf), kInf);
  EXPECT_EQ(logistic_residual(1, kInf), 0);
  EXPECT_EQ(logistic_residual(0, kInf), -1);
  EXPECT_EQ(logit(0), -kInf);
  EXPECT_EQ(logit(1), kInf);
  EXPECT_EQ(logit(0.5), 0);
}

TEST(Sigmoid, NanStaysNan) {
  for (double (*f)(double) : {sigmoid, softplus, log_sigmoid, sigmoid_slope, logit}) EXPECT_TRUE(std::isnan(f(kNan)));
  for (const double y : {0.0, 0.5, 1.0}) {
    EXPECT_TRUE(std::isnan(logistic_loss(y, kNan))) << y;
    EXPECT_TRUE(std::isnan(logistic_residual(y, kNan))) << y;
  }
}

TEST(Sigmoid, ResidualAndLossKeepTheirDigits) {
  for (const double size : logits()) {
    for (const double z : {size, -size}) {
      EXPECT_EQ(logistic_residual(1, z), sigmoid(-z));
      EXPECT_EQ(logistic_residual(0, z), -sigmoid(z));
      EXPECT_EQ(logistic_loss(1, z), softplus(-z));
      EXPECT_EQ(logistic_loss(0, z), softplus(z));
      EXPECT_LE(std::fabs(logistic_residual(0.25, z) - (0.25 - sigmoid(z))), kEps);
      EXPECT_EQ(logistic_loss(0.25, z), logistic_loss(0.75, -z));
    }
  }
}

TEST(Sigmoid, LogitIsTheInverse) {
  for (const double size : logits()) {
    if (size > 30) continue;
    EXPECT_NEAR(logit(sigmoid(-size)), -size, 4 * kEps * (1 + size));
  }
}

}  // namespace voxridge_test
