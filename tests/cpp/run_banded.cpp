// Calls of the banded search with outputs filled with a number that it never returns, and comparisons of what comes.
#include "banded.h"

#include <cmath>

#include "core/budget.h"

namespace voxridge_test {

namespace {

constexpr double kUnwritten = -12345.0;
constexpr double kTied = 1e-13;  // scores this close are one to double precision

// |a - b| / (1 + |b|), the largest.
double relative_difference(const arma::mat& a, const arma::mat& b) {
  const arma::mat scale = 1 + arma::abs(b);
  return largest_difference(a / scale, b / scale);
}

}  // namespace

template <class T>
BandedResult run_banded(const BandedProblem& problem, BandedCvOptions options, const Control& control, Coefs coefs) {
  if (options.alphas.empty()) options.alphas = problem.alphas;
  options.gammas = problem.gammas;
  options.alpha_factors = problem.alpha_factors;
  options.alpha_factors.resize(problem.gammas.size(), 1);
  const int64_t n = static_cast<int64_t>(problem.x.n_rows), t = static_cast<int64_t>(problem.y.n_cols);
  const Bands bands(problem.sizes);
  std::vector<arma::mat> matrices;
  for (int64_t b = 0; b < bands.count(); ++b) {
    matrices.push_back(problem.x.submat(0, bands.start(b), n - 1, bands.start(b + 1) - 1));
  }
  std::vector<MatrixView<double>> parts;
  for (const arma::mat& matrix : matrices) parts.push_back(view_of(matrix));
  const Folds folds = options.cv == CvKind::kfold ? arrange_folds(n, problem.folds, problem.partition) : no_folds(n);
  Features features(parts, folds, problem.intercept, kCopyShare * control.memory_bytes, control);
  if (std::is_same_v<T, float>) features.cache_single(kCopyShare * control.memory_bytes, control);

  BandedResult result;
  result.gamma_index.assign(t, -2);
  result.alpha_index.assign(t, -2);
  result.scores.set_size(problem.gammas.size(), t);
  result.scores.fill(kUnwritten);
  BandedCvOutputs out;
  out.gamma_index = result.gamma_index.data();
  out.alpha_index = result.alpha_index.data();
  out.scores = result.scores.memptr();
  if (coefs != Coefs::none) {
    result.coefs.set_size(coefs == Coefs::primal ? problem.x.n_cols : n, t);
    result.coefs.fill(kUnwritten);
    result.intercept.set_size(t);
    result.intercept.fill(problem.intercept ? kUnwritten : 0);
    out.coefs = {coefs, span_of(result.coefs), problem.intercept ? result.intercept.memptr() : nullptr};
  }
  banded_cv<T>(features, bands, folds, targets_of(problem), options, out, control);
  result.constant = out.constant;
  result.form = out.form;
  result.route = out.route;
  result.n_nodes = out.n_nodes;
  result.passes = out.passes;
  return result;
}

arma::mat primal_from_dual(const BandedProblem& problem, const BandedResult& result) {
  arma::mat out = problem.x.t() * result.coefs;
  for (arma::uword j = 0; j < out.n_cols; ++j) {
    arma::uword row = 0;
    for (size_t b = 0; b < problem.sizes.size(); ++b) {
      for (int64_t k = 0; k < problem.sizes[b]; ++k) out(row++, j) *= problem.gammas[result.gamma_index[j]][b];
    }
  }
  return out;
}

void expect_banded(const BandedProblem& problem, const BandedResult& result, const BandedCvOptions& options,
                   double tolerance, Oracle oracle) {
  const std::vector<arma::cube> scores = plain_banded_scores(problem, options, oracle);
  const BandedChoices best = plain_banded_choice(problem, options, scores);
  EXPECT_LE(relative_difference(result.scores, best.scores), tolerance) << "scores";
  ASSERT_EQ(result.gamma_index.size(), best.gamma_index.size());
  for (size_t j = 0; j < best.gamma_index.size(); ++j) {
    const int gamma = result.gamma_index[j], alpha = result.alpha_index[j];
    if (gamma == best.gamma_index[j] && alpha == best.alpha_index[j]) continue;
    ASSERT_TRUE(gamma >= 0 && alpha >= 0 && best.gamma_index[j] >= 0) << "target " << j;
    const double got = arma::mean(scores[gamma].slice(j).col(alpha));
    const double top = arma::mean(scores[best.gamma_index[j]].slice(j).col(best.alpha_index[j]));
    EXPECT_LE(std::abs(got - top), kTied * (1 + std::abs(top)))
        << "target " << j << ": candidate " << gamma << ", alpha " << alpha << " instead of " << best.gamma_index[j]
        << ", " << best.alpha_index[j];
  }
  if (result.coefs.n_rows != problem.x.n_cols) return;
  const PlainFit fit = plain_banded_fit(problem, result.gamma_index, result.alpha_index, oracle);
  const arma::vec finite = fit.coefs.elem(arma::find_finite(fit.coefs));
  const double scale = 1 + (finite.is_empty() ? 0 : arma::abs(finite).max());
  EXPECT_LE(largest_difference(result.coefs, fit.coefs), tolerance * scale) << "coefficients";
  if (problem.intercept) {
    EXPECT_LE(relative_difference(result.intercept, fit.intercept), 10 * tolerance * scale) << "intercepts";
  }
}

void expect_close(const BandedResult& a, const BandedResult& b, double tolerance) {
  EXPECT_EQ(a.gamma_index, b.gamma_index);
  EXPECT_EQ(a.alpha_index, b.alpha_index);
  EXPECT_EQ(a.constant, b.constant);
  EXPECT_LE(relative_difference(a.scores, b.scores), tolerance);
  EXPECT_LE(relative_difference(a.coefs, b.coefs), tolerance);
  EXPECT_LE(relative_difference(a.intercept, b.intercept), tolerance);
}

void expect_same_bits(const BandedResult& a, const BandedResult& b) {
  EXPECT_EQ(a.gamma_index, b.gamma_index);
  EXPECT_EQ(a.alpha_index, b.alpha_index);
  EXPECT_EQ(a.constant, b.constant);
  EXPECT_TRUE(same_bits(a.scores, b.scores));
  EXPECT_TRUE(same_bits(a.coefs, b.coefs));
  EXPECT_TRUE(same_bits(a.intercept, b.intercept));
}

template BandedResult run_banded<double>(const BandedProblem&, BandedCvOptions, const Control&, Coefs);
template BandedResult run_banded<float>(const BandedProblem&, BandedCvOptions, const Control&, Coefs);

}  // namespace voxridge_test
