#include "common.h"

#include <cmath>
#include <limits>

#include "core/predictor.h"
#include "core/sigmoid.h"

namespace voxridge_test {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMissing = -12345;

MatrixView<double> view(const arma::mat& x) {
  return {x.memptr(), static_cast<int64_t>(x.n_rows), static_cast<int64_t>(x.n_cols), static_cast<int64_t>(x.n_rows)};
}

MatrixSpan<double> span(arma::mat& x) {
  return {x.memptr(), static_cast<int64_t>(x.n_rows), static_cast<int64_t>(x.n_cols), static_cast<int64_t>(x.n_rows)};
}

// The order that the header states, written out.
double plain(const arma::mat& x, arma::uword i, const arma::mat& beta, arma::uword t, double b, double offset) {
  double s[8] = {};
  const arma::uword whole = x.n_cols / 8 * 8;
  for (arma::uword j = 0; j < whole; ++j) s[j % 8] += x(i, j) * beta(j, t);
  double z = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  for (arma::uword j = whole; j < x.n_cols; ++j) z += x(i, j) * beta(j, t);
  return (z + b) + offset;
}

struct Case {
  arma::mat x, beta, offset;
  std::vector<double> intercepts;
};

Case make_case(int64_t n, int64_t p, int64_t t, uint64_t seed) {
  Case out{normal_matrix(n, p, seed), normal_matrix(p, t, seed + 1), normal_matrix(n, t, seed + 2), {}};
  const arma::mat b = normal_matrix(t, 1, seed + 3);
  out.intercepts.assign(b.begin(), b.end());
  return out;
}

arma::mat score_all(const Predictor& model, const arma::mat& x, const arma::mat* offset = nullptr, int n_threads = 1,
                    ForecastScale scale = ForecastScale::logit, int64_t* incomplete = nullptr) {
  arma::mat out(x.n_rows, static_cast<arma::uword>(model.n_targets()));
  std::vector<PredictorWorkspace> workspaces;
  Control control;
  control.n_threads = n_threads;
  const MatrixView<double> shifts = offset == nullptr ? MatrixView<double>() : view(*offset);
  const int64_t found = score_columns(model, view(x), shifts, scale, kMissing, span(out), workspaces, control);
  if (incomplete != nullptr) *incomplete = found;
  return out;
}

}  // namespace

TEST(Predictor, AddsInTheStatedOrder) {
  for (const int64_t p : {1, 2, 7, 8, 9, 16, 23, 100}) {
    const Case c = make_case(5, p, 3, 10 + p);
    const Predictor model(view(c.beta), c.intercepts.data());
    const arma::mat got = score_all(model, c.x, &c.offset);
    for (arma::uword i = 0; i < 5; ++i) {
      for (arma::uword t = 0; t < 3; ++t) {
        EXPECT_EQ(got(i, t), plain(c.x, i, c.beta, t, c.intercepts[t], c.offset(i, t))) << p;
      }
    }
  }
}

// In any batch, at any place, with any stride, with any number of threads, by rows or by columns.
TEST(Predictor, ARowHasTheSameBitsEverywhere) {
  const int64_t n = 1000, p = 37, t = 3;
  const Case c = make_case(n, p, t, 1);
  const Predictor model(view(c.beta), c.intercepts.data());
  const arma::mat whole = score_all(model, c.x);
  for (const int n_threads : {2, 5}) EXPECT_TRUE(same_bits(score_all(model, c.x, nullptr, n_threads), whole));
  arma::mat large = normal_matrix(40 * n, p, 2);
  const arma::mat once = score_all(model, large);
  EXPECT_GT(threads_worth(40 * n, p, t, 4), 1);
  EXPECT_TRUE(same_bits(score_all(model, large, nullptr, 4), once));
  for (const int64_t size : {1, 2, 63, 64, 65, 333}) {
    for (int64_t first = 0; first < n; first += 97) {
      const int64_t count = std::min(size, n - first);
      arma::mat out(count, t);
      std::vector<PredictorWorkspace> workspaces;
      score_columns(model, view(c.x).block(first, 0, count, p), {}, ForecastScale::logit, kMissing, span(out), workspaces,
                    Control());
      EXPECT_TRUE(same_bits(out, whole.rows(first, first + count - 1))) << size << " " << first;
    }
  }
  const arma::mat by_rows = c.x.t();
  arma::mat answers(t, n);
  model.score_rows(by_rows.memptr(), n, answers.memptr());
  EXPECT_TRUE(same_bits(answers.t(), whole));
  EXPECT_EQ(model.score(by_rows.colptr(5), 1), whole(5, 1));
}

TEST(Predictor, TheKernelDoesNotDependOnWhereItsNumbersLie) {
  std::vector<double> x(200), beta(200);
  const arma::mat from = normal_matrix(100, 2, 3);
  double want = 0;
  for (int64_t shift = 0; shift < 9; ++shift) {
    for (int64_t other = 0; other < 9; ++other) {
      std::copy_n(from.colptr(0), 91, x.data() + shift);
      std::copy_n(from.colptr(1), 91, beta.data() + other);
      const double got = forecast(x.data() + shift, beta.data() + other, 91, 0.5, 0.25);
      if (shift == 0 && other == 0) want = got;
      EXPECT_EQ(got, want);
    }
  }
}

TEST(Predictor, ProbabilitiesAreTheLogisticFunctionOfTheLogits) {
  const Case c = make_case(130, 8, 2, 4);
  const Predictor model(view(c.beta), c.intercepts.data());
  const arma::mat z = score_all(model, c.x, &c.offset);
  const arma::mat p = score_all(model, c.x, &c.offset, 1, ForecastScale::probability);
  for (arma::uword i = 0; i < z.n_elem; ++i) EXPECT_EQ(p[i], sigmoid(z[i]));
}

TEST(Predictor, KnownForecast) {
  const double weights[] = {.84, -1.2, .45, -.12, 2.1, -.78, .32, -.55}, x[] = {.5, -1.2, 3.3, .1, -.4, 1.2, -.9, .4};
  EXPECT_NEAR(forecast(x, weights, 8, -.24, 0), 0.809, 1e-15);
  EXPECT_NEAR(sigmoid(forecast(x, weights, 8, -.24, 0)), 0.691896369435959, 1e-15);
}

TEST(Predictor, RowsAndTargetsWithoutForecasts) {
  Case c = make_case(70, 11, 4, 5);
  const arma::mat want = score_all(Predictor(view(c.beta), c.intercepts.data()), c.x);
  c.beta(3, 1) = kNan;
  c.intercepts[2] = kInf;
  const Predictor model(view(c.beta), c.intercepts.data());
  EXPECT_TRUE(model.has_forecasts(0));
  EXPECT_FALSE(model.has_forecasts(1));
  EXPECT_FALSE(model.has_forecasts(2));
  arma::mat x = c.x;
  x(0, 10) = kNan;
  x(66, 0) = kInf;
  x(69, 5) = -kInf;
  x(4, 4) = 1e300;  // large, but a number
  int64_t incomplete = 0;
  const arma::mat got = score_all(model, x, nullptr, 1, ForecastScale::logit, &incomplete);
  EXPECT_EQ(incomplete, 3);
  for (arma::uword i = 0; i < 70; ++i) {
    const bool missing = i == 0 || i == 66 || i == 69;
    for (arma::uword t = 0; t < 4; ++t) {
      if (missing || t == 1 || t == 2) {
        EXPECT_EQ(got(i, t), kMissing);
      } else if (i != 4) {
        EXPECT_EQ(got(i, t), want(i, t));
      } else {
        EXPECT_TRUE(std::isfinite(got(i, t)));
      }
    }
  }
  EXPECT_TRUE(std::isnan(model.score(c.x.t().eval().memptr(), 2)));
}

TEST(Predictor, HoldsItsOwnCoefficients) {
  Case c = make_case(9, 13, 2, 6);
  const Predictor model(view(c.beta), nullptr);
  const arma::mat before = score_all(model, c.x);
  c.beta.fill(7);
  EXPECT_TRUE(same_bits(score_all(model, c.x), before));
  EXPECT_EQ(model.n_features(), 13);
  EXPECT_EQ(model.n_targets(), 2);
}

TEST(Predictor, NoRowsAndManyFeatures) {
  const arma::mat beta = normal_matrix(100000, 1, 7);
  const Predictor model(view(beta), nullptr);
  EXPECT_EQ(score_all(model, arma::mat(0, 100000)).n_elem, 0U);
  EXPECT_LT(PredictorWorkspace(100000).size(), 64);
  EXPECT_EQ(PredictorWorkspace(8).size(), 64);
  const arma::mat x = normal_matrix(50, 100000, 8);
  const arma::mat got = score_all(model, x, nullptr, 2);
  for (const arma::uword i : {0, 41, 42, 49}) EXPECT_EQ(got(i, 0), plain(x, i, beta, 0, 0, 0));
}

TEST(Predictor, StopsWhenToldTo) {
  const Case c = make_case(300, 8, 1, 9);
  const Predictor model(view(c.beta), nullptr);
  const std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  arma::mat out(300, 1);
  std::vector<PredictorWorkspace> workspaces;
  EXPECT_THROW(
      score_columns(model, view(c.x), {}, ForecastScale::logit, kMissing, span(out), workspaces, control), Error);
}

}  // namespace voxridge_test
