// The loss of logistic regression with its intercept minimised out.
#include "common.h"

#include "core/logistic_loss.h"
#include "core/sigmoid.h"

namespace voxridge_test {

TEST(LogisticLoss, TheInterceptIsTheRootEvenWhereAllLogitsAreSaturated) {
  const arma::vec y = {0, 1, 0, 1, 1}, w(5, arma::fill::value(0.2));
  for (const double far : {1.0, 30.0, 300.0, 700.0, 1e6}) {
    for (const double start : {0.0, 700.0, -700.0, 1e5}) {
      for (const double sign : {1.0, -1.0}) {
        const arma::vec u = sign * far * arma::vec{-1, 1, -0.5, 0.25, 1};
        const LogisticTarget target{y.memptr(), w.memptr(), nullptr, 5};
        LogisticLoss loss;
        loss.intercept = start;
        loss.evaluate(target, u.memptr(), true);
        ASSERT_TRUE(std::isfinite(loss.intercept)) << far << " " << start << " " << sign;
        // the sum falls with the intercept: it changes its sign within rounding of the root
        const auto sum = [&](double b) {
          double s = 0;
          for (int i = 0; i < 5; ++i) s += w[i] * logistic_residual(y[i], u[i] + b);
          return s;
        };
        const double step = 1e-8 * std::max(1.0, std::fabs(loss.intercept));
        EXPECT_GE(sum(loss.intercept - step), -1e-15) << far << " " << start << " " << sign;
        EXPECT_LE(sum(loss.intercept + step), 1e-15) << far << " " << start << " " << sign;
        double value = 0;
        for (int i = 0; i < 5; ++i) value += w[i] * logistic_loss(y[i], u[i] + loss.intercept);
        EXPECT_NEAR(loss.value, value, 1e-14 * (1 + std::fabs(value)));
      }
    }
  }
}

TEST(LogisticLoss, WithoutAnInterceptItStaysWhatItIs) {
  const arma::vec y = {0, 1}, w = {0.5, 0.5}, u = {3, -2}, offset = {1, 1};
  LogisticLoss loss;
  loss.intercept = 0;
  loss.evaluate({y.memptr(), w.memptr(), offset.memptr(), 2}, u.memptr(), false);
  EXPECT_EQ(loss.intercept, 0);
  EXPECT_NEAR(loss.value, (softplus(4) + softplus(1)) / 2, 1e-15);
  EXPECT_NEAR(loss.residual[0], -sigmoid(4) / 2, 1e-16);
  EXPECT_NEAR(loss.curvature[1], sigmoid_slope(-1) / 2, 1e-16);
  // without the offset
  EXPECT_EQ(loss.margin({y.memptr(), w.memptr(), offset.memptr(), 2}), -3);
}

TEST(LogisticLoss, MarginsAreThoseOfTheWrongestRow) {
  const arma::vec w(3, arma::fill::value(1.0 / 3)), u = {-2, 0.5, 3};
  LogisticLoss loss;
  const auto margin = [&](const arma::vec& y) {
    loss.intercept = 0;
    const LogisticTarget target{y.memptr(), w.memptr(), nullptr, 3};
    loss.evaluate(target, u.memptr(), false);
    return loss.margin(target);
  };
  EXPECT_EQ(margin({0, 1, 1}), 0.5);
  EXPECT_EQ(margin({0, 0, 1}), -0.5);
  EXPECT_EQ(margin({0, 0.5, 1}), -0.5);
  EXPECT_EQ(margin({1, 0, 0}), -3);
}

}  // namespace voxridge_test
