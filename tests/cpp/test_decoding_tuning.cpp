// Penalties chosen within training sets, against the same choice by refits.
#include <algorithm>
#include <cmath>

#include "core/decoding_metrics.h"
#include "decoding.h"

namespace voxridge_test {

namespace {

struct Choice {
  double score = -arma::datum::inf, error = 0, alpha = 0;
};

// All decision columns of the inner folds of one fold at one penalty.
Choice plain_choice(const DecodingCase& c, const std::vector<Fold>& inner, double alpha) {
  arma::mat x = c.x;
  if (c.options.scale == VoxelScale::global) x.each_row() /= arma::stddev(x, 1, 0).eval();
  const arma::mat y = plain_targets(c);
  Choice out{0, 0, alpha};
  double defined = 0;
  for (const Fold& fold : inner) {
    const arma::mat decision = refit(x, y, fold, alpha, c.options.scale == VoxelScale::fold);
    out.error += arma::accu(arma::square(decision - y.rows(arma::conv_to<arma::uvec>::from(fold.test))));
    std::vector<int> label;
    std::vector<double> value;
    for (const int64_t i : fold.test) {
      if (!c.classes.empty()) label.push_back(c.classes[i] - 1);
      if (c.classes.empty()) value.push_back(c.values[i]);
    }
    const int64_t n = static_cast<int64_t>(fold.test.size());
    const double score = decoding_score(c.options.metrics[0],
                                        {n, c.n_classes, label.data(), value.data(), decision.memptr(), n, nullptr});
    if (std::isnan(score)) continue;
    out.score += better_sign(c.options.metrics[0]) * score;
    ++defined;
  }
  if (defined > 0) out.score /= defined;
  return out;
}

void expect_choice(const DecodingCase& c) {
  const DecodingResult result = run_decoding(c);
  std::vector<double> chosen;
  for (size_t f = 0; f < c.folds.size(); ++f) {
    Choice best;
    for (const double alpha : c.options.alphas) {
      const Choice here = plain_choice(c, c.options.inner[f], alpha);
      const bool tied = std::fabs(here.score - best.score) < 1e-10;
      if (tied ? here.error < best.error : here.score > best.score) best = here;
    }
    ASSERT_EQ(result.alpha(f, 0), best.alpha) << f;
    chosen.push_back(best.alpha);
  }
  ASSERT_LT(relative_difference(result.decision.slice(0), plain_decisions(c, chosen)), 1e-9);
}

// Every outer fold leaves the others as inner folds.
void nest(DecodingCase& c) {
  for (const Fold& outer : c.folds) {
    std::vector<Fold> inner;
    for (const Fold& other : c.folds) {
      if (other.test == outer.test) continue;
      Fold fold;
      fold.test = other.test;
      for (const int64_t i : outer.train) {
        if (std::find(fold.test.begin(), fold.test.end(), i) == fold.test.end()) fold.train.push_back(i);
      }
      inner.push_back(fold);
    }
    c.options.inner.push_back(inner);
  }
}

}  // namespace

TEST(DecodingTuning, ChoosesAsRefitsDo) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::global, VoxelScale::fold}) {
    for (const int n_classes : {0, 2, 4}) {
      for (const int64_t p : {1, 6, 17, 24, 29, 60}) {
        DecodingCase c = n_classes == 0 ? value_case(30, p, 5, 500 + p) : class_case(30, p, n_classes, 5, 500 + p);
        c.x += 0.7 * normal_matrix(30, p, 600 + p);
        c.options.scale = scale;
        c.options.alphas = {1e-2, 1, 30, 1e3, 1e6};
        nest(c);
        expect_choice(c);
      }
    }
  }
}

TEST(DecodingTuning, InnerFoldsThatAreNotAPartition) {
  DecodingCase c = class_case(30, 12, 3, 5, 540);
  c.options.alphas = {0.1, 10, 1e3};
  nest(c);
  for (std::vector<Fold>& inner : c.options.inner) {
    inner.pop_back();
    for (Fold& fold : inner) fold.train.pop_back();
  }
  expect_choice(c);
}

TEST(DecodingTuning, TinyPenaltiesKeepTheirDigits) {
  for (const int64_t p : {6, 17, 24, 60}) {
    DecodingCase c = class_case(30, p, 2, 5, 550 + p);
    c.options.alphas = {0, 1e-9, 1e-3, 10};
    nest(c);
    const DecodingResult result = run_decoding(c);
    std::vector<double> chosen;
    for (arma::uword f = 0; f < 5; ++f) chosen.push_back(result.alpha(f, 0));
    ASSERT_LT(relative_difference(result.decision.slice(0), plain_decisions(c, chosen)), 1e-8);
  }
}

TEST(DecodingTuning, TiesGoToTheSmallerErrorThenToTheLargerPenalty) {
  DecodingCase c = class_case(16, 3, 2, 4, 560);
  for (arma::uword i = 0; i < 16; ++i) c.x.row(i) += c.classes[i] == 1 ? -40 : 40;  // always right
  c.options.alphas = {1e-3, 1, 1e3, 1e5};
  nest(c);
  expect_choice(c);
  c.options.alphas = {5, 5};
  EXPECT_EQ(run_decoding(c).alpha(0, 0), 5);
}

TEST(DecodingTuning, WeightsTakeTheMedianPenalty) {
  DecodingCase c = value_case(30, 8, 5, 570);
  c.options.alphas = {0.1, 10, 1e3};
  nest(c);
  const DecodingResult result = run_decoding(c);
  arma::mat want;
  const double median = arma::median(arma::vec(result.alpha.col(0)));
  refit(c.x, plain_targets(c), {row_range(0, 30), {0}}, median, false, &want);
  EXPECT_LT(relative_difference(result.weights, want), 1e-10);
  for (arma::uword f = 0; f < 5; ++f) {
    refit(c.x, plain_targets(c), c.folds[f], result.alpha(f, 0), false, &want);
    EXPECT_LT(relative_difference(result.fold_weights.slice(f), want), 1e-10);
  }
}

}  // namespace voxridge_test
