// Memory budgets, batches and threads change how a banded search is done and not what comes out.
#include <limits>

#include "banded.h"

namespace voxridge_test {

namespace {

// Three tiles of targets.
BandedProblem wide_problem(const std::vector<int64_t>& sizes, int64_t n_candidates = 6) {
  BandedProblem problem = make_banded(24, sizes, 1100, n_candidates, 20 + sizes[0]);
  problem.intercept = true;
  problem.x += 1;
  problem.folds = scattered_folds(24, 3);
  problem.alphas = log_grid(1, 1e3, 4);
  problem.alpha_factors = {1, 0.5, 2, 1.3, 0.7, 1};
  problem.alpha_factors.resize(n_candidates, 1);
  return problem;
}

// Primal with more held-out rows than features, primal, dual between training rows and all rows, dual.
const std::vector<std::vector<int64_t>> kSizes = {{2, 3}, {5, 4, 2}, {10, 9}, {30, 10}};

}  // namespace

TEST(BandedBatches, ManyTargetsAgainstThePlainLoop) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    const BandedProblem problem = wide_problem(sizes);
    for (const Score score : {Score::r2, Score::correlation}) {
      BandedCvOptions options;
      options.score = score;
      expect_banded(problem, run_banded<double>(problem, options), options, 1e-11);
    }
  }
}

// The same factors, the same tiles: the same bits.
TEST(BandedBatches, TargetBatchesGiveTheSameBits) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    const BandedProblem problem = wide_problem(sizes);
    for (const bool local : {true, false}) {
      BandedCvOptions options;
      options.local_alpha = local;
      const BandedResult plain = run_banded<double>(problem, options);
      for (const int64_t batch : {1, 513, 5000}) {
        options.targets_batch = batch;
        options.targets_batch_refit = 100;
        expect_same_bits(run_banded<double>(problem, options), plain);
      }
    }
  }
}

// Scores of order 1 from sums of 24 and operators of condition 1e3.
TEST(BandedBatches, ThreadsAndPenaltyBatches) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    const BandedProblem problem = wide_problem(sizes);
    for (const Score score : {Score::r2, Score::correlation}) {
      BandedCvOptions options;
      options.score = score;
      const BandedResult plain = run_banded<double>(problem, options);
      for (const int threads : {2, 3, 7, 16}) {
        Control control;
        control.n_threads = threads;
        expect_close(run_banded<double>(problem, options, control), plain, 1e-12);
      }
      for (const int64_t batch : {1, 3, 100}) {
        options.alphas_batch = batch;
        expect_close(run_banded<double>(problem, options), plain, 1e-12);
      }
    }
  }
}

// From everything in memory at once to nothing: uncached X, Gram matrices and factors made anew, candidates one by one
// in several passes with running means in between, coefficients by one candidate after the other.
TEST(BandedBatches, Budgets) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    const BandedProblem problem = wide_problem(sizes);
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      for (const bool local : {true, false}) {
        BandedCvOptions options;
        options.score = score;
        options.local_alpha = local;
        options.conservative = local && score == Score::neg_mse;
        const BandedResult roomy = run_banded<double>(problem, options);
        EXPECT_EQ(roomy.passes, 1);
        int64_t most = 0;
        for (const double memory : {1.0, 4e3, 2e4, 4e4, 1e5, 3e5, 1e6, 1e7}) {
          Control control;
          control.memory_bytes = memory;
          control.n_threads = memory == 4e4 ? 3 : 1;
          const BandedResult tight = run_banded<double>(problem, options, control);
          most = std::max(most, tight.passes);
          SCOPED_TRACE(testing::Message() << problem.x.n_cols << " features, " << memory << " bytes");
          expect_close(tight, roomy, 1e-11);
        }
        EXPECT_GT(most, 6);
      }
    }
  }
}

// With a long grid other nodes may be chosen where the eigenvalues are not known beforehand: what interpolation
// promises, a few times 1e-11 of the null error.
TEST(BandedBatches, BudgetsAndInterpolation) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3}, {30, 10}}) {
    BandedProblem problem = wide_problem(sizes, 4);
    problem.alphas = log_grid(1e-1, 1e4, 40);
    const BandedResult roomy = run_banded<double>(problem, {});
    for (const double memory : {4e3, 2e4, 8e4, 3e5, 1e6}) {
      for (const int threads : {1, 2}) {
        Control control;
        control.memory_bytes = memory;
        control.n_threads = threads;
        const BandedResult tight = run_banded<double>(problem, {}, control);
        EXPECT_EQ(tight.gamma_index, roomy.gamma_index);
        EXPECT_EQ(tight.alpha_index, roomy.alpha_index);
        EXPECT_LE(largest_difference(tight.scores, roomy.scores), 1e-9);
        EXPECT_LE(largest_difference(tight.coefs, roomy.coefs), 1e-11);
      }
    }
  }
}

// One penalty for all targets waits for the scores of every target: a candidate at a time where they take much room.
TEST(BandedBatches, SharedScoresWaitInTurns) {
  BandedProblem problem = wide_problem({5, 4}, 6);
  BandedCvOptions options;
  options.local_alpha = false;
  Control control;
  control.memory_bytes = 5 * 8 * 4 * 1100 * 2.5;  // kWaitingShare: two and a half candidates
  const BandedResult turns = run_banded<double>(problem, options, control);
  EXPECT_EQ(turns.passes, 3);
  expect_close(turns, run_banded<double>(problem, options), 1e-12);
}

// Winners' factors in groups, among them tiles without any of their targets; dual coefficients too.
TEST(BandedBatches, CoefficientsInGroups) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 4}, {30, 10}}) {
    BandedProblem problem = wide_problem(sizes);
    // the first tile and the last hear one band each
    problem.y.cols(0, 511) = problem.x.head_cols(2) * normal_matrix(2, 512, 21) + 0.3 * normal_matrix(24, 512, 22);
    problem.gammas = {{1, 0}, {0, 1}, {1, 1}, {1, 0.1}, {0.1, 1}, {5, 1}};
    for (const Coefs kind : {Coefs::primal, Coefs::dual}) {
      const BandedResult roomy = run_banded<double>(problem, {}, {}, kind);
      Control control;
      for (const double memory : {1.0, 2.0 * 8 * sizes[0] * sizes[0] * 25}) {
        control.memory_bytes = memory;
        expect_close(run_banded<double>(problem, {}, control, kind), roomy, 1e-11);
      }
    }
  }
}

// A target's answer does not depend on which others are worked on with it.
TEST(BandedBatches, TargetsAloneGiveTheSameNumbers) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    const BandedProblem problem = wide_problem(sizes);
    BandedProblem some = problem;
    some.y = problem.y.cols(505, 530);
    const BandedResult all = run_banded<double>(problem, {}), part = run_banded<double>(some, {});
    EXPECT_LE(largest_difference(part.scores, all.scores.cols(505, 530)), 1e-12);
    EXPECT_LE(largest_difference(part.coefs, all.coefs.cols(505, 530)), 1e-12);
    EXPECT_TRUE(std::equal(part.gamma_index.begin(), part.gamma_index.end(), all.gamma_index.begin() + 505));
  }
}

// Single precision: 6e-8 per operation, over sums of 40; scores to 1e-4, and a choice no worse than that.
TEST(BandedBatches, SinglePrecision) {
  for (const std::vector<int64_t>& sizes : kSizes) {
    for (const Score score : {Score::r2, Score::neg_mse, Score::correlation}) {
      for (const CvKind kind : {CvKind::kfold, CvKind::loo}) {
        BandedProblem problem = wide_problem(sizes);
        problem.y += 1000;  // a mean that is removed in double
        BandedCvOptions options;
        options.score = score;
        options.cv = kind;
        const BandedResult exact = run_banded<double>(problem, options);
        for (const double memory : {1e9, 2e4}) {
          Control control;
          control.memory_bytes = memory;
          for (const Coefs coefs : {Coefs::primal, Coefs::dual}) {
            const BandedResult single = run_banded<float>(problem, options, control, coefs);
            EXPECT_LE(largest_difference(single.scores, exact.scores), 1e-4);
            for (size_t j = 0; j < 1100; ++j) {
              EXPECT_GE(exact.scores(single.gamma_index[j], j), exact.scores.col(j).max() - 1e-4);
            }
            const arma::mat primal = coefs == Coefs::primal ? single.coefs : primal_from_dual(problem, single);
            const PlainFit fit = plain_banded_fit(problem, single.gamma_index, single.alpha_index, Oracle::normal);
            EXPECT_LE(largest_difference(primal, fit.coefs), 1e-4);
            EXPECT_LE(largest_difference(single.intercept, fit.intercept), 1e-3);  // beside 1000: 1e-6 of it
          }
        }
      }
    }
  }
}

TEST(BandedBatches, UnlimitedMemory) {
  const BandedProblem problem = wide_problem({5, 4, 2});
  Control control;
  control.memory_bytes = std::numeric_limits<double>::infinity();
  expect_same_bits(run_banded<double>(problem, {}, control), run_banded<double>(problem, {}));
}

}  // namespace voxridge_test
