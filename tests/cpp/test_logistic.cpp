// Ridge-penalised logistic regression: routes against one another and against the equations of the optimum.
#include "common.h"

#include "core/logistic.h"
#include "core/sigmoid.h"

namespace voxridge_test {

namespace {

const Control kControl;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const LogisticRoute kRoutes[] = {LogisticRoute::primal, LogisticRoute::dual, LogisticRoute::rotate,
                                 LogisticRoute::batch, LogisticRoute::matrix_free};

struct Classes {
  arma::mat x, y, offset;
  LogisticData data;
};

// Half of the rows 1; views point into the matrices, so this does not move.
std::unique_ptr<Classes> make_classes(int64_t n, int64_t p, int64_t t, uint64_t seed) {
  auto out = std::make_unique<Classes>();
  out->x = normal_matrix(n, p, seed);
  out->y = normal_matrix(n, t, seed + 1);
  if (p > 0) out->y.each_col() += out->x.col(0);
  out->y.each_row() -= arma::mat(arma::median(out->y, 0));
  out->y.transform([](double z) { return z > 0 ? 1.0 : 0.0; });
  if (n > 1 && t > 0) out->y.row(0).zeros(), out->y.row(1).ones();
  out->data.x = view_of(out->x);
  out->data.y = view_of(out->y);
  out->data.weights.assign(n, 1);
  out->data.score_weights.assign(n, 1);
  return out;
}

struct Fitted {
  arma::mat coefs, predictions;
  std::vector<double> intercepts, scores, mean, se;
  std::vector<int> best, best_min, best_1se;
  LogisticOutputs out;
};

Fitted fit(const Classes& classes, LogisticCvOptions options, const std::vector<double>& lambdas,
           std::vector<Fold> folds = {}, const Control& control = kControl) {
  const int64_t n = classes.data.x.rows, p = classes.data.x.cols, t = classes.data.y.cols;
  const int64_t l = static_cast<int64_t>(lambdas.size()), k = static_cast<int64_t>(folds.size());
  Fitted to;
  to.coefs = arma::mat(p, t, arma::fill::value(kNaN));
  to.predictions = arma::mat(n, t, arma::fill::value(kNaN));
  to.intercepts.assign(t, kNaN);
  to.scores.assign(k * l * t, kNaN);
  to.mean.assign(l * t, kNaN);
  to.se.assign(l * t, kNaN);
  to.best.assign(t, -1);
  to.best_min.assign(t, -1);
  to.best_1se.assign(t, -1);
  to.out.coefs = span_of(to.coefs);
  to.out.predictions = span_of(to.predictions);
  to.out.intercepts = to.intercepts.data();
  to.out.scores = to.scores.data();
  to.out.mean = to.mean.data();
  to.out.se = to.se.data();
  to.out.best = to.best.data();
  to.out.best_min = to.best_min.data();
  to.out.best_1se = to.best_1se.data();
  LogisticRidge(classes.data, std::move(folds), options, control).run(lambdas, to.out, control);
  return to;
}

// The gradient of the objective at a fit, and the sum of its residuals.
struct Slope {
  double gradient, intercept;
};
Slope slope_at(const Classes& c, const Fitted& f, double lambda, int64_t t) {
  const double n = static_cast<double>(c.x.n_rows);
  const arma::vec z = c.x * f.coefs.col(t) + f.intercepts[t];
  arma::vec r(z.n_elem);
  for (arma::uword i = 0; i < z.n_elem; ++i) r[i] = logistic_residual(c.y(i, t), z[i]) / n;
  const arma::rowvec mean = arma::mean(c.x, 0), sd = arma::stddev(c.x, 1, 0);
  arma::vec g = (c.x.each_row() - mean).eval().t() * r;
  for (arma::uword j = 0; j < g.n_elem; ++j) {
    g[j] = sd[j] > 0 ? g[j] / sd[j] - lambda * sd[j] * f.coefs(j, t) : 0;
  }
  return {arma::norm(g), arma::accu(r)};
}

}  // namespace

TEST(Logistic, AllRoutesEndWhereTheGradientIsZero) {
  struct Shape {
    int64_t n, p, t;
  };
  for (const Shape s : {Shape{30, 6, 3}, Shape{20, 45, 9}, Shape{16, 16, 1}, Shape{2, 1, 1}, Shape{2, 5, 1}}) {
    const auto classes = make_classes(s.n, s.p, s.t, 1);
    Fitted first;
    for (const LogisticRoute route : kRoutes) {
      LogisticCvOptions options;
      options.route = route;
      options.solver.tol = 1e-10;
      const Fitted f = fit(*classes, options, {1, 0.1});
      for (int64_t t = 0; t < s.t; ++t) {
        const Slope slope = slope_at(*classes, f, 0.1, t);
        const LogisticCertificate& chosen = f.out.chosen[t];
        EXPECT_LE(slope.gradient, 0.1 * 1e-10 * chosen.size + 1e-14) << route_name(route) << " " << s.n << "x" << s.p;
        EXPECT_LE(std::fabs(slope.intercept), 1e-14);
        EXPECT_EQ(chosen.status, LogisticStatus::converged);
        EXPECT_EQ(f.best[t], 1);  // nothing is chosen: the last
      }
      if (route == kRoutes[0]) first = f;
      EXPECT_LE(largest_difference(f.coefs, first.coefs), 1e-8 * (1 + arma::abs(first.coefs).max()));
    }
  }
}

// Of rank 0: after the rotation no feature is left.
TEST(Logistic, ConstantFeaturesLeaveTheIntercept) {
  const auto classes = make_classes(8, 11, 2, 1);
  classes->x.fill(2.5);
  for (const LogisticRoute route : kRoutes) {
    LogisticCvOptions options;
    options.route = route;
    const Fitted f = fit(*classes, options, {1, 0.1}, scattered_folds(8, 2));
    for (int64_t t = 0; t < 2; ++t) {
      EXPECT_NEAR(f.intercepts[t], logit(arma::mean(classes->y.col(t))), 1e-14) << route_name(route);
      EXPECT_EQ(arma::abs(f.coefs.col(t)).max(), 0);
    }
    EXPECT_EQ(LogisticRidge(classes->data, {}, options, kControl).default_lambdas(50, kControl).size(), 50u);
  }
}

TEST(Logistic, NoTargetsAndSkippedOnesAreLeftAlone) {
  const auto none = make_classes(8, 3, 0, 1);
  EXPECT_EQ(fit(*none, {}, {1}).intercepts.size(), 0u);
  const auto classes = make_classes(12, 3, 3, 1);
  classes->y.col(1).fill(kNaN);
  classes->data.skip = {0, 1, 0};
  for (const LogisticRoute route : kRoutes) {
    LogisticCvOptions options;
    options.route = route;
    const Fitted f = fit(*classes, options, {1, 0.1}, scattered_folds(12, 3));
    EXPECT_FALSE(f.coefs.col(0).has_nan());
    EXPECT_TRUE(std::isnan(f.coefs(0, 1)));
    EXPECT_TRUE(std::isnan(f.intercepts[1]));
    EXPECT_EQ(f.best[1], -1);
    EXPECT_FALSE(f.predictions.col(2).has_nan());
  }
}

TEST(Logistic, ThreadsDoNotChangeABit) {
  for (const LogisticRoute route : kRoutes) {
    const auto classes = make_classes(24, route == LogisticRoute::dual ? 40 : 8, 70, 1);
    LogisticCvOptions options;
    options.route = route;
    const Fitted one = fit(*classes, options, {1, 0.1, 0.01}, scattered_folds(24, 3));
    Control control;
    control.n_threads = 4;
    const Fitted four = fit(*classes, options, {1, 0.1, 0.01}, scattered_folds(24, 3), control);
    EXPECT_TRUE(same_bits(one.coefs, four.coefs)) << route_name(route);
    EXPECT_TRUE(same_bits(one.predictions, four.predictions)) << route_name(route);
    EXPECT_EQ(one.scores, four.scores);
  }
}

TEST(Logistic, TheStopFlagEndsAFold) {
  for (const LogisticRoute route : kRoutes) {
    const auto classes = make_classes(20, 30, 2, 1);
    LogisticCvOptions options;
    options.route = route;
    // the flag rises later and later, until the work gets through
    int64_t looks = 0, total = 0;
    for (int64_t limit = 1;; ++limit) {
      std::atomic<bool> stop{false};
      Control control;
      control.stop = &stop;
      looks = 0;
      control.poll = [&] {
        if (++looks == limit) stop = true;
      };
      try {
        fit(*classes, options, {1, 0.1}, scattered_folds(20, 2), control);
        total = looks;
        break;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::interrupted);
        ASSERT_EQ(looks, limit) << "looked again after it was stopped";
      }
      ASSERT_LT(limit, 5000);
    }
    // at least at every penalty of both folds and of all rows
    EXPECT_GE(total, 2 * 3) << route_name(route);
  }
}

TEST(Logistic, ProgressEndsWhereItWasExpectedTo) {
  const auto classes = make_classes(20, 6, 70, 1);
  for (const bool local : {true, false}) {
    for (const double memory : {1e9, 1e3}) {
      Progress progress;
      Control control;
      control.progress = &progress;
      control.memory_bytes = memory;
      LogisticCvOptions options;
      options.route = LogisticRoute::batch;
      options.local_lambda = local;
      fit(*classes, options, {1, 0.1}, scattered_folds(20, 2), control);
      EXPECT_EQ(progress.done.load(), progress.total.load());
      EXPECT_GT(progress.total.load(), 0);
    }
  }
}

}  // namespace voxridge_test
