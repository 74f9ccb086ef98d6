#include "core/bootstrap.h"

#include <atomic>
#include <cmath>

#include "common.h"

namespace voxridge_test {

namespace {

__extension__ using Wide = unsigned __int128;

struct Maps {
  arma::mat estimate, mean, sd, z, lower, upper;
  arma::cube samples;
  int64_t deficient = 0, passes = 0;
};

Maps run(const BootstrapModel& model, const arma::mat& y, const ResamplePlan& plan, const Control& control,
         const IntervalRule& rule = {}) {
  Maps m;
  const int64_t rows = model.outputs(), cols = y.n_cols;
  for (arma::mat* map : {&m.estimate, &m.mean, &m.sd, &m.z, &m.lower, &m.upper}) map->zeros(rows, cols);
  m.samples.zeros(plan.n_boot, rows, cols);
  BootstrapOutputs out{span_of(m.estimate), span_of(m.mean),  span_of(m.sd),     span_of(m.z),
                       span_of(m.lower),    span_of(m.upper), m.samples.memptr()};
  bootstrap_ridge(model, view_of(y), plan, rule, out, control);
  m.deficient = out.deficient;
  m.passes = out.passes;
  return m;
}

ResamplePlan plan_of(int64_t n, int64_t n_boot, uint64_t seed = 1) {
  ResamplePlan plan;
  plan.n = n;
  plan.n_boot = n_boot;
  plan.seed = seed;
  return plan;
}

Problem resampled(const Problem& problem, const RowList& rows) {
  Problem out = problem;
  const arma::uvec at = arma::conv_to<arma::uvec>::from(rows);
  out.x = problem.x.rows(at);
  out.y = problem.y.rows(at);
  return out;
}

}  // namespace

TEST(Bootstrap, DrawsAreThoseOfTheCounter) {
  const uint64_t seed = 0x1234567890abcd;
  const int64_t n = 1000;
  const Resamples resamples(plan_of(n, 3, seed));
  for (uint32_t b = 1; b <= 3; ++b) {
    const RowList rows = resamples.drawn(b);
    ASSERT_EQ(rows.size(), static_cast<size_t>(n));
    for (uint32_t i = 0; i < n; ++i) {
      const Philox::Block words = Philox::rounds({b, 0, i / 2, 2}, {0x7890abcd, 0x123456});
      const uint64_t word = uint64_t{words[2 * (i % 2)]} << 32 | words[2 * (i % 2) + 1];
      ASSERT_EQ(rows[i], static_cast<int64_t>(Wide{word} * n >> 64)) << b << " " << i;
    }
  }
}

TEST(Bootstrap, CountsAreThoseOfTheDraws) {
  ResamplePlan plan = plan_of(10, 20);
  plan.block = {0, 0, 1, 1, 1, 2, 0, 3, 3, 2};
  for (const bool blocks : {false, true}) {
    if (!blocks) plan.block.clear();
    const Resamples resamples(plan);
    for (int64_t b = 0; b <= 20; ++b) {
      const RowList drawn = resamples.drawn(b);
      const Resample made = resamples(b);
      EXPECT_EQ(made.size, static_cast<double>(drawn.size()));
      EXPECT_TRUE(std::is_sorted(made.rows.begin(), made.rows.end()));
      for (size_t i = 0; i < made.rows.size(); ++i) {
        EXPECT_EQ(made.counts[i], std::count(drawn.begin(), drawn.end(), made.rows[i]));
      }
    }
  }
}

// Against fits in long double to the drawn rows. (Its normal equations lose the digits of a tiny penalty: 0, which
// takes the singular values there too, stands for those.)
TEST(Bootstrap, SamplesAreFitsToTheDrawnRows) {
  for (const int64_t p : {4, 20, 45}) {
    Problem problem = make_problem(20, p, 6, 3 + p);
    problem.intercept = true;
    const arma::mat x_new = normal_matrix(5, p, 9);
    for (const std::vector<double>& alphas : {std::vector<double>{2}, std::vector<double>{1, 2, 3, 4, 5, 0}}) {
      for (const bool predicts : {false, true}) {
        BootstrapModel model;
        model.x = view_of(problem.x);
        if (predicts) model.x_new = view_of(x_new);
        model.intercept = true;
        model.alphas = alphas;
        const ResamplePlan plan = plan_of(20, 12);
        const Maps got = run(model, problem.y, plan, Control());
        const Resamples resamples(plan);
        for (int64_t b = 0; b <= 12; ++b) {
          const PlainFit fit = plain_fit(resampled(problem, resamples.drawn(b)), alphas);
          arma::mat want = fit.coefs;
          if (predicts) {
            want = x_new * fit.coefs;
            want.each_row() += fit.intercept;
          }
          const arma::mat values =
              b == 0 ? got.estimate
                     : arma::mat(arma::reshape(arma::mat(got.samples.row(b - 1)), want.n_rows, want.n_cols));
          EXPECT_LT(largest_difference(values, want), 1e-10 * (1 + arma::abs(want).max())) << p << " " << b;
        }
      }
    }
  }
}

TEST(Bootstrap, SummariesAreThoseOfTheSamples) {
  const Problem problem = make_problem(15, 3, 5, 1);
  BootstrapModel model;
  model.x = view_of(problem.x);
  model.alphas = {1};
  for (const int64_t n_boot : {2, 3, 10, 101, 1000}) {
    for (const double tail : {1e-6, 0.025, 0.25, 0.4999}) {
      IntervalRule rule;
      rule.lower = tail;
      rule.upper = 1 - tail;
      const Maps got = run(model, problem.y, plan_of(15, n_boot), Control(), rule);
      for (int64_t j = 0; j < 5; ++j) {
        for (int64_t k = 0; k < 3; ++k) {
          arma::vec values(n_boot);
          for (int64_t b = 0; b < n_boot; ++b) values[b] = got.samples(b, k, j);
          EXPECT_NEAR(got.mean(k, j), arma::mean(values), 1e-13);
          EXPECT_NEAR(got.sd(k, j), arma::stddev(values), 1e-12);
          values = arma::sort(values);
          const auto percentile = [&](double q) {
            const double h = static_cast<double>(n_boot - 1) * q;
            const int64_t at = static_cast<int64_t>(h), next = std::min(at + 1, n_boot - 1);
            return values[at] + (h - static_cast<double>(at)) * (values[next] - values[at]);
          };
          EXPECT_NEAR(got.lower(k, j), percentile(tail), 1e-13);
          EXPECT_NEAR(got.upper(k, j), percentile(1 - tail), 1e-13);
        }
      }
    }
  }
}

// Targets of infinite, huge or equal values harm neither others nor the process.
TEST(Bootstrap, HardTargetsHarmNoOthers) {
  Problem problem = make_problem(12, 4, 5, 2);
  BootstrapModel model;
  model.x = view_of(problem.x);
  model.intercept = true;
  model.alphas = {1};
  const Maps want = run(model, problem.y, plan_of(12, 30), Control());
  problem.y.col(1).fill(1e308);
  problem.y(3, 2) = arma::datum::inf;
  problem.y(3, 3) = arma::datum::nan;
  const Maps got = run(model, problem.y, plan_of(12, 30), Control());
  for (const int j : {0, 4}) {
    EXPECT_TRUE(same_bits(got.lower.col(j), want.lower.col(j)));
    EXPECT_TRUE(same_bits(got.z.col(j), want.z.col(j)));
  }
  EXPECT_FALSE(got.upper.col(3).is_finite());
}

TEST(Bootstrap, BitsDoNotDependOnThreadsOrMemory) {
  for (const int64_t p : {7, 100}) {
    const Problem problem = make_problem(18, p, 270, 4);
    const arma::mat x_new = normal_matrix(130, p, 5);
    for (const bool predicts : {false, true}) {
      for (const size_t n_alphas : {1, 270}) {
        BootstrapModel model;
        model.x = view_of(problem.x);
        if (predicts) model.x_new = view_of(x_new);
        model.intercept = true;
        model.alphas = log_grid(1, 1.0 + static_cast<double>(n_alphas), n_alphas);
        Control control;
        control.memory_bytes = 4e9;
        const Maps want = run(model, problem.y, plan_of(18, 40), control);
        EXPECT_EQ(want.passes, 1);
        for (const int threads : {1, 3}) {
          for (const double memory : {1.0, 2e7, 4e9}) {
            control.n_threads = threads;
            control.memory_bytes = memory;
            const Maps got = run(model, problem.y, plan_of(18, 40), control);
            EXPECT_TRUE(same_bits(got.lower, want.lower) && same_bits(got.upper, want.upper));
            EXPECT_TRUE(same_bits(got.z, want.z) && same_bits(got.estimate, want.estimate));
          }
        }
      }
    }
  }
}

TEST(Bootstrap, StopsWhenAsked) {
  const Problem problem = make_problem(18, 7, 300, 4);
  for (const size_t n_alphas : {1, 300}) {
    BootstrapModel model;
    model.x = view_of(problem.x);
    model.alphas = log_grid(1, 2, n_alphas);
    std::atomic<bool> stop{false};
    Progress progress;
    Control control;
    control.stop = &stop;
    control.progress = &progress;
    run(model, problem.y, plan_of(18, 40), control);
    EXPECT_EQ(progress.done, progress.total);
    int looks = 0;
    control.poll = [&] {
      if (++looks == 5) stop = true;
    };
    EXPECT_THROW(run(model, problem.y, plan_of(18, 40), control), Error);
  }
}

TEST(Bootstrap, OneResampleAndNothingToSay) {
  const Problem problem = make_problem(8, 3, 2, 4);
  BootstrapModel model;
  model.x = view_of(problem.x);
  model.alphas = {1};
  EXPECT_THROW(run(model, problem.y, plan_of(8, 1), Control()), Error);
  const arma::mat none(8, 0);
  EXPECT_EQ(run(model, none, plan_of(8, 5), Control()).passes, 0);
}

}  // namespace voxridge_test
