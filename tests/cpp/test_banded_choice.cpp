// Which candidate a target takes, one score at a time; and how a banded search is stopped and shows its progress.
#include <cmath>
#include <limits>

#include "banded.h"
#include "core/banded_choice.h"
#include "core/threads.h"

namespace voxridge_test {

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Chosen {
  std::vector<int> gamma, alpha;
  arma::mat scores;
};

// `scores`: per candidate alphas x targets, candidates in groups of two.
Chosen choose(const std::vector<arma::mat>& scores, BandedCvOptions options, std::vector<char> skip = {}) {
  const arma::uword t = scores[0].n_cols;
  options.gammas.assign(scores.size(), {1});
  options.alpha_factors.resize(scores.size(), 1);
  const arma::mat y(1, t, arma::fill::zeros);
  const Targets targets{view_of(y), std::move(skip)};
  Chosen out{std::vector<int>(t), std::vector<int>(t), arma::mat(scores.size(), t)};
  BandedCvOutputs outputs;
  outputs.gamma_index = out.gamma.data();
  outputs.alpha_index = out.alpha.data();
  outputs.scores = out.scores.memptr();
  BandedChoice choice(targets, options, kEps, outputs);
  for (size_t first = 0; first < scores.size(); first += 2) {
    const size_t last = std::min(first + 2, scores.size());
    choice.begin(first, last);
    for (size_t c = first; c < last; ++c) {
      FoldMeans means;
      means.add(scores[c]);
      choice.add(c, 0, means);
    }
    choice.end();
  }
  choice.finish();
  return out;
}

BandedCvOptions with_alphas(std::vector<double> alphas, bool local = true) {
  BandedCvOptions options;
  options.alphas = std::move(alphas);
  options.local_alpha = local;
  return options;
}

ErrorCode code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::internal;
}

}  // namespace

// More than an epsilon better than the best so far, which small steps do not move.
TEST(BandedChoice, ACandidateMustBeBetterByAnEpsilon) {
  const arma::mat first = {0.5}, same = {0.5}, little = {0.5 + kEps}, more = {0.5 + 1.5 * kEps};
  EXPECT_EQ(choose({first, same, little}, with_alphas({1})).gamma[0], 0);
  EXPECT_EQ(choose({first, little, more}, with_alphas({1})).gamma[0], 2);
  EXPECT_EQ(choose({more, first, little}, with_alphas({1})).gamma[0], 0);
  const Chosen none = choose({arma::mat{-kInfinity}, arma::mat{-1e300}, arma::mat{-2e300}}, with_alphas({1}));
  EXPECT_EQ(none.gamma[0], 1);
  EXPECT_EQ(choose({arma::mat{-kInfinity}, arma::mat{-kInfinity}}, with_alphas({1})).gamma[0], 0);
}

// Scores with units: an epsilon of the best so far, so that a change of units changes no choice.
TEST(BandedChoice, ScoresWithUnits) {
  for (const Score score : {Score::neg_mse, Score::user}) {
    for (const double unit : {1e-200, 1e-20, 1.0, 1e200}) {
      BandedCvOptions options = with_alphas({1});
      options.score = score;
      const arma::mat first = {-unit}, little = {-unit * (1 - kEps / 2)}, more = {-unit * (1 - 4 * kEps)};
      EXPECT_EQ(choose({first, little}, options).gamma[0], 0);
      EXPECT_EQ(choose({first, little, more}, options).gamma[0], 2);
      EXPECT_EQ(choose({arma::mat{0.0}, first}, options).gamma[0], 0);
      EXPECT_EQ(choose({first, arma::mat{0.0}}, options).gamma[0], 1);
    }
  }
}

// Within a candidate ties go to the larger penalty, and scores are those of each candidate's own choice.
TEST(BandedChoice, PenaltiesWithinACandidate) {
  const arma::mat a = {{0.1, 0.3}, {0.2, 0.3}, {0.2, 0.1}}, b = {{0.4, 0.2}, {0.1, 0.2}, {0.1, 0.2}};
  const Chosen chosen = choose({a, b}, with_alphas({10, 1, 5}));
  EXPECT_EQ(chosen.gamma, (std::vector<int>{1, 0}));
  EXPECT_EQ(chosen.alpha, (std::vector<int>{0, 0}));
  EXPECT_TRUE(same_bits(chosen.scores, arma::mat{{0.2, 0.3}, {0.4, 0.2}}));
  BandedCvOptions options = with_alphas({10, 1, 5});
  EXPECT_EQ(choose({a}, options).alpha, (std::vector<int>{2, 0}));
}

TEST(BandedChoice, ScoresThatAreNoNumbers) {
  const arma::mat a = arma::vec{kNaN, kNaN}, b = arma::vec{kNaN, -3};
  const Chosen chosen = choose({a, b, a}, with_alphas({1, 2}));
  EXPECT_EQ(chosen.gamma[0], 1);
  EXPECT_EQ(chosen.alpha[0], 1);
  EXPECT_TRUE(std::isnan(chosen.scores(0, 0)) && std::isnan(chosen.scores(2, 0)));
  for (const bool local : {true, false}) {
    EXPECT_EQ(code_of([&] { choose({a, a}, with_alphas({1, 2}, local)); }), ErrorCode::invalid_argument);
  }
}

// One of each for all targets, by their means; skipped targets have no say.
TEST(BandedChoice, OneForAll) {
  const arma::mat a = {{0.1, 0.8, 0.0}, {0.2, 0.0, 0.9}}, b = {{0.3, 0.1, 0.9}, {0.2, 0.4, 0.0}};
  const Chosen chosen = choose({a, b, a}, with_alphas({1, 2}, false), {0, 0, 1});
  EXPECT_EQ(chosen.gamma, (std::vector<int>{0, 0, -1}));
  EXPECT_EQ(chosen.alpha, (std::vector<int>{0, 0, -1}));
  EXPECT_EQ(chosen.scores(0, 1), 0.8);
  EXPECT_EQ(chosen.scores(1, 1), 0.4);
  EXPECT_TRUE(std::isnan(chosen.scores(1, 2)));
  EXPECT_EQ(choose({a, b}, with_alphas({1, 2}, false)).gamma, std::vector<int>(3, 1));
}

TEST(BandedStop, EndsEveryKindOfWork) {
  const std::atomic<bool> stop{true};
  const int before = blas_info().threads;
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 3}, {20, 22}}) {
    const BandedProblem problem = make_banded(24, sizes, 3, 4, 2);
    for (const int threads : {1, 2}) {
      Control control;
      control.n_threads = threads;
      control.stop = &stop;
      for (const CvKind kind : {CvKind::kfold, CvKind::loo, CvKind::gcv}) {
        BandedCvOptions options;
        options.cv = kind;
        EXPECT_EQ(code_of([&] { run_banded<double>(problem, options, control); }), ErrorCode::interrupted);
      }
      EXPECT_EQ(blas_info().threads, before);
    }
  }
}

// Set while tiles are at work, by the score function itself.
TEST(BandedStop, EndsWorkUnderWay) {
  const BandedProblem problem = make_banded(24, {4, 3}, 512 * 4, 5, 3);
  for (const CvKind kind : {CvKind::kfold, CvKind::loo}) {
    for (const double memory : {1e9, 1e4}) {
      std::atomic<bool> stop{false};
      std::atomic<int> calls{0};
      Control control;
      control.stop = &stop;
      control.memory_bytes = memory;
      BandedCvOptions options;
      options.cv = kind;
      options.score = Score::user;
      options.user = [&](MatrixView<double> truth, MatrixView<double>, double* out) {
        std::fill_n(out, truth.cols, 0.0);
        if (++calls == 5) stop = true;
      };
      EXPECT_EQ(code_of([&] { run_banded<double>(problem, options, control); }), ErrorCode::interrupted);
      EXPECT_LE(calls, 5 + 8);  // the penalties of the fold in hand
    }
  }
}

TEST(BandedStop, ErrorsOfTheScoreFunctionArrive) {
  const BandedProblem problem = make_banded(24, {4, 3}, 600, 5, 3);
  const int before = blas_info().threads;
  for (const int threads : {1, 2}) {
    Control control;
    control.n_threads = threads;
    BandedCvOptions options;
    options.score = Score::user;
    options.user = [](MatrixView<double>, MatrixView<double>, double*) { throw std::runtime_error("score"); };
    EXPECT_THROW(run_banded<double>(problem, options, control), std::runtime_error);
    EXPECT_EQ(blas_info().threads, before);
  }
}

TEST(BandedStop, ProgressReachesItsTotal) {
  for (const double noise : {1.0, 1e-6}) {  // with the second, tiles are searched again
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 3}, {20, 22}}) {
      BandedProblem problem = make_banded(24, sizes, 600, 3, 4, noise);
      problem.alphas = log_grid(1e-2, 1e5, 40);
      for (const CvKind kind : {CvKind::kfold, CvKind::gcv}) {
        for (const double memory : {1e9, 3e4}) {
          for (const bool local : {true, false}) {
            Progress progress;
            Control control;
            control.progress = &progress;
            control.memory_bytes = memory;
            control.n_threads = 2;
            BandedCvOptions options;
            options.cv = kind;
            options.local_alpha = local;
            run_banded<double>(problem, options, control);
            EXPECT_GT(progress.total, 0);
            EXPECT_EQ(progress.done, progress.total) << "memory " << memory << ", local " << local;
          }
        }
      }
    }
  }
}

}  // namespace voxridge_test
