// Memory budgets, batches and threads change how the work is done and not what comes out.
#include "common.h"

#include <limits>

namespace voxridge_test {

namespace {

void expect_same_bits(const CvResult& a, const CvResult& b) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_TRUE(same_bits(a.means, b.means));
  EXPECT_TRUE(same_bits(a.coefs, b.coefs));
  EXPECT_TRUE(same_bits(a.intercept, b.intercept));
  for (arma::uword j = 0; j < a.scores.n_slices; ++j) {
    ASSERT_TRUE(same_bits(a.scores.slice(j), b.scores.slice(j))) << "target " << j;
  }
}

void expect_close(const CvResult& a, const CvResult& b, double tolerance) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_LE(largest_difference(a.means, b.means), tolerance);
  EXPECT_LE(largest_difference(a.coefs, b.coefs), tolerance);
}

Problem wide_problem(int64_t p) {
  Problem problem = make_problem(24, p, 1100, 20 + p);
  problem.intercept = true;
  problem.x += 1;
  problem.folds = scattered_folds(24, 3);
  return problem;
}

}  // namespace

// One thread and two make the same factors with a one-thread BLAS inside, where there are folds enough to go round.
TEST(RidgeCvBatches, ThreadsAndTargetBatchesGiveTheSameBits) {
  for (const int64_t p : {7, 40}) {
    const Problem problem = wide_problem(p);
    const CvResult plain = run_cv<double>(problem, {});
    for (const int threads : {2, 3}) {
      Control control;
      control.n_threads = threads;
      // The factors may differ in their last bits across BLAS threads: 1e-12.
      expect_close(run_cv<double>(problem, {}, control), plain, 1e-12);
    }
    for (const int64_t batch : {1, 512, 513, 5000}) {
      RidgeCvOptions options;
      options.targets_batch = batch;
      options.targets_batch_refit = 100;
      expect_same_bits(run_cv<double>(problem, options), plain);
      options.local_alpha = false;
      const CvResult shared = run_cv<double>(problem, options);
      options.targets_batch = options.targets_batch_refit = 0;
      expect_same_bits(shared, run_cv<double>(problem, options));
    }
  }
}

// The same prepared factors, any number of threads: the same bits.
TEST(RidgeCvBatches, EqualFactorsGiveEqualBits) {
  for (const int64_t p : {7, 40}) {
    const Problem problem = wide_problem(p);
    Control one, three;
    three.n_threads = 3;
    RidgePreparation preparation = prepare(problem, one);
    preparation.keep_factors(one);
    const int64_t t = static_cast<int64_t>(problem.y.n_cols);
    const auto run = [&](const Control& control) {
      CvResult result;
      result.index.assign(t, -2);
      result.means.set_size(problem.alphas.size(), t);
      result.coefs.set_size(problem.x.n_cols, t);
      RidgeCvOptions options;
      options.alphas = problem.alphas;
      RidgeCvOutputs out;
      out.alpha_index = result.index.data();
      out.mean_scores = result.means.memptr();
      out.coefs = {Coefs::primal, span_of(result.coefs), nullptr};
      ridge_cv<double>(preparation, targets_of(problem), options, out, control);
      return result;
    };
    const CvResult first = run(one);
    expect_same_bits(run(three), first);
    expect_same_bits(run(one), first);
  }
}

// A target's answer does not depend on which others are worked on with it, as long as it keeps its place in its tile.
TEST(RidgeCvBatches, TargetsAloneGiveTheSameNumbers) {
  Problem problem = wide_problem(7);
  const CvResult all = run_cv<double>(problem, {});
  Problem some = problem;
  some.y = problem.y.cols(512, 600);
  const CvResult part = run_cv<double>(some, {});
  EXPECT_LE(largest_difference(part.means, all.means.cols(512, 600)), 1e-12);
  EXPECT_LE(largest_difference(part.coefs, all.coefs.cols(512, 600)), 1e-12);
}

// Small budgets: uncached X, factors made anew, several passes with running means in between.
TEST(RidgeCvBatches, SmallBudgets) {
  for (const int64_t p : {7, 40}) {
    for (const bool local : {true, false}) {
      Problem problem = wide_problem(p);
      problem.alphas = log_grid(1e-1, 1e4, 30);
      RidgeCvOptions options;
      options.local_alpha = local;
      options.conservative = local;
      const CvResult roomy = run_cv<double>(problem, options);
      EXPECT_EQ(roomy.passes, 1);
      int64_t most = 0;
      for (const double memory : {1e5, 2e4, 4e3, 1.0}) {
        Control control;
        control.memory_bytes = memory;
        control.n_threads = 2;
        const CvResult tight = run_cv<double>(problem, options, control);
        most = std::max(most, tight.passes);
        // Other nodes may be chosen where the eigenvalues are not known beforehand: what interpolation promises.
        const double tolerance = tight.n_nodes == roomy.n_nodes ? 1e-12 : 1e-9;
        EXPECT_LE(largest_difference(tight.means, roomy.means), tolerance) << "memory " << memory;
        EXPECT_EQ(tight.index, roomy.index) << "memory " << memory;
        EXPECT_LE(largest_difference(tight.coefs, roomy.coefs), 1e-11) << "memory " << memory;
      }
      EXPECT_GT(most, 3);
    }
  }
}

TEST(RidgeCvBatches, SmallBudgetsAgainstThePlainLoop) {
  for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
    for (const int64_t p : {7, 40}) {
      Problem problem = make_problem(24, p, 3, 30);
      problem.folds = bootstrap_folds(24, 3, 4);
      problem.partition = false;
      problem.intercept = true;
      Control control;
      control.memory_bytes = 1;
      RidgeCvOptions options;
      options.score = score;
      const CvResult result = run_cv<double>(problem, options, control);
      EXPECT_EQ(result.passes, 24);  // folds x penalties
      expect_plain(problem, result, options, 1e-9);
    }
  }
}

TEST(RidgeCvBatches, PenaltiesInBatches) {
  const Problem problem = wide_problem(7);
  const CvResult plain = run_cv<double>(problem, {});
  for (const int64_t batch : {1, 3, 100}) {
    RidgeCvOptions options;
    options.alphas_batch = batch;
    expect_close(run_cv<double>(problem, options), plain, 1e-12);
  }
}

// Single precision: 6e-8 per operation, over sums of 40; scores to 1e-4, and a choice no worse than that.
TEST(RidgeCvBatches, SinglePrecision) {
  for (const int64_t p : {7, 40}) {
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      Problem problem = wide_problem(p);
      problem.y += 1000;  // a mean that is removed in double
      RidgeCvOptions options;
      options.score = score;
      for (const double memory : {1e9, 1e4}) {
        Control control;
        control.memory_bytes = memory;
        const CvResult exact = run_cv<double>(problem, options), single = run_cv<float>(problem, options, control);
        EXPECT_LE(largest_difference(single.means, exact.means), 1e-4);
        const PlainFit fit = run_fit<double>(problem, {1.0}), single_fit = run_fit<float>(problem, {1.0}, control);
        EXPECT_LE(largest_difference(single_fit.coefs, fit.coefs), 1e-4);
        for (size_t j = 0; j < exact.index.size(); ++j) {
          const auto column = exact.means.col(j);
          EXPECT_GE(column[single.index[j]], column.max() - 1e-4);
        }
      }
    }
  }
}

TEST(RidgeCvBatches, UnlimitedMemory) {
  const Problem problem = wide_problem(7);
  Control control;
  control.memory_bytes = std::numeric_limits<double>::infinity();
  expect_same_bits(run_cv<double>(problem, {}, control), run_cv<double>(problem, {}));
}

}  // namespace voxridge_test
