// Whole permutation tests: against plain loops over enumerated rows, and the same bits for any threads and batches.
#include <cmath>
#include <numeric>

#include "common.h"
#include "core/cuda_plugin.h"
#include "core/cuda_sessions.h"
#include "permutation_cases.h"

namespace voxridge_test {

TEST(Permutation, FlipsOfTiedDataAreCountedAsInWholeNumbers) {
  const int n = 9, v = 40;
  arma::mat y = arma::round(3 * normal_matrix(n, v, 5));
  y.col(7).zeros();
  y.col(8).fill(2);
  y(3, 9) = NAN;
  const arma::vec x = unit_ones(n);
  for (const bool absolute : {true, false}) {
    for (const bool negate : {false, true}) {
      PermutationTest test = one_sample(y, x);
      test.rows.exact = true;
      test.n_permutations = 512;
      test.absolute = absolute;
      test.negate = negate;
      const Outcome got = run(test);
      for (int j = 0; j < v; ++j) {
        if (j == 7 || j == 8 || j == 9) {
          EXPECT_EQ(got.state[j], j == 7 ? 2 : j == 8 ? 1 : 3);
          EXPECT_TRUE(std::isnan(got.statistic[j]));
          continue;
        }
        EXPECT_EQ(got.state[j], 0);
        const auto value = [&](int signs) {
          double u = 0;
          for (int i = 0; i < n; ++i) u += (signs >> i & 1 ? -1 : 1) * y(i, j);
          return absolute ? std::fabs(u) : negate ? -u : u;
        };
        int count = 0;
        for (int signs = 0; signs < 512; ++signs) count += value(signs) >= value(0);
        ASSERT_EQ(got.counts[j], count) << j;
        ASSERT_GE(got.maximum_counts[j], count);
        const double mean = arma::mean(y.col(j)), t = mean / (arma::stddev(y.col(j)) / std::sqrt(double{n}));
        ASSERT_NEAR(got.statistic[j], t, 1e-12 * (1 + std::fabs(t)));
        ASSERT_NEAR(got.estimate[j], mean, 1e-14);
      }
    }
  }
}

TEST(Permutation, HalfOfAllFlipsIsEnoughForAbsoluteValues) {
  const int n = 8;
  arma::mat y = arma::round(2 * normal_matrix(n, 45, 12));
  y.col(3).fill(1);
  arma::mat z = normal_matrix(n, 2, 13);
  arma::mat q, unused;
  arma::qr_econ(q, unused, z);
  arma::vec x = unit_variable(n, 14);
  x -= q * (q.t() * x);
  x /= arma::norm(x);
  const arma::vec ones = unit_ones(n);
  PermutationTest sums = one_sample(y, ones), partial = one_sample(y, x), blocks = sums;
  partial.sums = false;
  partial.design.nuisance = view_of(q);
  partial.design.df = 5;
  blocks.rows.whole = true;
  blocks.rows.block = {0, 0, 1, 1, 1, 2, 3, 4};
  for (PermutationTest* test : {&sums, &partial, &blocks}) {
    test->rows.exact = true;
    test->n_permutations = test == &blocks ? 32 : 256;
    // where values are kept every flip is made
    const Outcome half = run(*test), whole = run(*test, 1, true), two = run(*test, 2);
    EXPECT_EQ(half.counts, whole.counts);
    EXPECT_EQ(half.maximum_counts, whole.maximum_counts);
    EXPECT_EQ(half.maximum, whole.maximum);
    EXPECT_EQ(half.degenerate, whole.degenerate);
    EXPECT_EQ(half.maximum, two.maximum);
    // fewer than all are those that were asked for
    test->n_permutations -= 2;
    EXPECT_EQ(run(*test).counts, run(*test, 1, true).counts);
  }
}

TEST(Permutation, ThreadsBatchesAndOrderChangeNoBit) {
  const int n = 20, v = 700;
  const arma::mat y = normal_matrix(n, v, 6);
  const arma::vec x = unit_ones(n);
  PermutationTest test = one_sample(y, x);
  test.rows.seed = 11;
  test.n_permutations = 301;
  const arma::vec r = arma::normalise(normal_matrix(n, 1, 7) - arma::mean(arma::vectorise(normal_matrix(n, 1, 7))));
  PermutationTest correlation;
  correlation.y = view_of(y);
  correlation.rows.kind = Rearrangement::orders;
  correlation.rows.n = n;
  correlation.n_permutations = 301;
  correlation.design.statistic = PermutationStatistic::correlation;
  correlation.design.nuisance = {x.memptr(), n, 1, n};
  correlation.design.x = {r.memptr(), n, 1, n};
  correlation.n_fixed = 1;
  PermutationTest partial = correlation;
  partial.design.statistic = PermutationStatistic::t;
  partial.n_fixed = 0;
  partial.rows.kind = Rearrangement::flips;
  for (const PermutationTest& which : {test, correlation, partial}) {
    const Outcome one = run(which, 1, true);
    EXPECT_EQ(one.degenerate, 0);
    const arma::uvec order = arma::regspace<arma::uvec>(v - 1, -1, 0);
    const arma::mat turned = y.cols(order);
    for (const int n_threads : {1, 2, 5}) {
      for (const int64_t batch : {37, 128, 0}) {
        PermutationTest again = which;
        again.batch = batch;
        const Outcome got = run(again, n_threads, true);
        EXPECT_EQ(got.counts, one.counts);
        EXPECT_EQ(got.maximum, one.maximum);
        EXPECT_EQ(got.null, one.null);
        again.y = view_of(turned);
        const Outcome other = run(again, n_threads);
        EXPECT_EQ(other.maximum, one.maximum);
        for (int j = 0; j < v; ++j) EXPECT_EQ(other.counts[v - 1 - j], one.counts[j]);
      }
    }
    // what is kept of the null is what was counted
    for (int m = 0; m < 301; ++m) {
      double largest = 0;
      for (int j = 0; j < v; ++j) largest = std::max(largest, std::fabs(one.null[m + 301 * j]));
      ASSERT_EQ(largest, one.maximum[m]);
    }
  }
}

TEST(Permutation, NothingToTest) {
  const arma::mat none(6, 0), zeros(6, 3, arma::fill::zeros);
  const arma::vec x = unit_ones(6);
  PermutationTest test = one_sample(none, x);
  test.n_permutations = 5;
  EXPECT_TRUE(std::isnan(run(test).maximum[0]));
  test.y = view_of(zeros);
  const Outcome got = run(test, 2);
  EXPECT_TRUE(std::isnan(got.maximum[4]));
  EXPECT_EQ(got.state, (std::vector<int>{2, 2, 2}));
}

TEST(Permutation, StopsWhenAsked) {
  const arma::mat y = normal_matrix(20, 100, 8);
  const arma::vec x = unit_ones(20);
  PermutationTest test = one_sample(y, x);
  test.n_permutations = 100;
  const std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  PermutationOutputs out;
  EXPECT_THROW(run_permutation_test(test, out, control), Error);
}

// The core asks for the plugin where the device is needed, and does by itself what the device has no code for.
TEST(Permutation, WithoutAPluginTheGpuIsRefused) {
  set_cuda_plugin("/no/such/plugin.so");
  const arma::mat y = normal_matrix(20, 30, 9);
  const arma::vec x = unit_ones(20);
  PermutationTest test = one_sample(y, x);
  test.n_permutations = 50;
  Control control;
  control.device = DeviceKind::cuda;
  control.gpu_memory = make_cuda_memory(1e8, 1e8);
  const auto code_of = [&](const PermutationTest& which) {
    std::vector<double> numbers(150);
    std::vector<int> ints(90);
    PermutationOutputs to;
    to.statistic = numbers.data();
    to.estimate = numbers.data() + 30;
    to.maximum = numbers.data() + 60;
    to.state = ints.data();
    to.counts = ints.data() + 30;
    to.maximum_counts = ints.data() + 60;
    try {
      run_permutation_test(which, to, control);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of(test), ErrorCode::device_unavailable);
  PermutationTest correlation = test;
  correlation.sums = false;
  correlation.rows.kind = Rearrangement::orders;
  correlation.design.statistic = PermutationStatistic::correlation;
  EXPECT_EQ(code_of(correlation), ErrorCode::device_unavailable);
  correlation.design.paired = view_of(y);
  EXPECT_EQ(code_of(correlation), ErrorCode::internal);  // no error at all
}

}  // namespace voxridge_test
