// Calls of the core with outputs filled with a number that it never returns, so that what it leaves out shows.
#include "common.h"

#include <cmath>

namespace voxridge_test {

namespace {

constexpr double kUnwritten = -12345.0;

CoefOutputs outputs_for(Coefs kind, arma::mat& coefs, arma::rowvec& intercept, const Problem& problem) {
  if (kind == Coefs::none) return {};
  coefs.set_size(kind == Coefs::primal ? problem.x.n_cols : problem.x.n_rows, problem.y.n_cols);
  coefs.fill(kUnwritten);
  intercept.set_size(problem.y.n_cols);
  intercept.fill(problem.intercept ? kUnwritten : 0);
  return {kind, span_of(coefs), problem.intercept ? intercept.memptr() : nullptr};
}

}  // namespace

Targets targets_of(const Problem& problem) {
  return {view_of(problem.y), problem.skip, problem.intercept};
}

RidgePreparation prepare(const Problem& problem, const Control& control) {
  const int64_t n = static_cast<int64_t>(problem.x.n_rows);
  Folds folds = problem.folds.empty() ? no_folds(n) : arrange_folds(n, problem.folds, problem.partition);
  return RidgePreparation(view_of(problem.x), std::move(folds), problem.intercept, control);
}

template <class T>
CvResult run_cv(const Problem& problem, RidgeCvOptions options, const Control& control, Coefs coefs) {
  if (options.alphas.empty()) options.alphas = problem.alphas;
  const int64_t n = static_cast<int64_t>(problem.x.n_rows), t = static_cast<int64_t>(problem.y.n_cols);
  const bool by_folds = options.cv == CvKind::kfold;
  Folds folds = by_folds ? arrange_folds(n, problem.folds, problem.partition) : no_folds(n);
  RidgePreparation preparation(view_of(problem.x), std::move(folds), problem.intercept, control);
  CvResult result;
  result.index.assign(t, -2);
  result.scores.set_size(by_folds ? problem.folds.size() : 1, options.alphas.size(), t);
  result.scores.fill(kUnwritten);
  result.means.set_size(options.alphas.size(), t);
  result.means.fill(kUnwritten);
  RidgeCvOutputs out;
  out.alpha_index = result.index.data();
  out.fold_scores = result.scores.memptr();
  out.mean_scores = result.means.memptr();
  out.coefs = outputs_for(coefs, result.coefs, result.intercept, problem);
  ridge_cv<T>(preparation, targets_of(problem), options, out, control);
  result.constant = out.constant;
  result.form = out.form;
  result.route = out.route;
  result.n_nodes = out.n_nodes;
  result.passes = out.passes;
  return result;
}

template <class T>
PlainFit run_fit(const Problem& problem, const std::vector<double>& alphas, const Control& control, Coefs coefs) {
  Problem whole = problem;
  whole.folds.clear();
  RidgePreparation preparation = prepare(whole, control);
  PlainFit fit;
  CoefOutputs out = outputs_for(coefs, fit.coefs, fit.intercept, whole);
  ridge_fit<T>(preparation, targets_of(whole), alphas, out, control);
  return fit;
}

template <class T>
Predicted run_predict(const Problem& problem, const std::vector<double>& alphas, Score score, const Control& control) {
  RidgePreparation preparation = prepare(problem, control);
  Predicted result;
  result.predictions.set_size(problem.x.n_rows, problem.y.n_cols);
  result.predictions.fill(kUnwritten);
  result.scores.set_size(std::max<size_t>(1, problem.folds.size()), problem.y.n_cols);
  result.scores.fill(kUnwritten);
  RidgePredictOutputs out;
  out.predictions = span_of(result.predictions);
  out.scores = result.scores.memptr();
  ridge_predict_cv<T>(preparation, targets_of(problem), alphas, score, nullptr, out, control);
  result.constant = out.constant;
  return result;
}

namespace {

constexpr double kTied = 1e-13;  // scores this close are one to double precision

// |a - b| / (1 + |b|), the largest.
double relative_difference(const arma::mat& a, const arma::mat& b) {
  const arma::mat scale = 1 + arma::abs(b);
  return largest_difference(a / scale, b / scale);
}

}  // namespace

void expect_plain(const Problem& problem, const CvResult& result, const RidgeCvOptions& options, double tolerance) {
  const arma::cube expected = plain_scores(problem, options.score);
  const arma::mat means = plain_means(expected);
  for (arma::uword j = 0; j < expected.n_slices; ++j) {
    EXPECT_LE(relative_difference(result.scores.slice(j), expected.slice(j)), tolerance) << "scores of target " << j;
  }
  EXPECT_LE(relative_difference(result.means, means), tolerance) << "mean scores";
  std::vector<int> chosen = plain_choice(expected, problem.alphas, options.conservative);
  if (!options.local_alpha) {
    const int shared = plain_shared_choice(expected, problem.alphas);
    for (int& index : chosen) index = index < 0 ? -1 : shared;
  }
  ASSERT_EQ(result.index.size(), chosen.size());
  for (size_t j = 0; j < chosen.size(); ++j) {
    if (result.index[j] == chosen[j]) continue;
    ASSERT_TRUE(result.index[j] >= 0 && chosen[j] >= 0) << "target " << j;
    const double got = means(result.index[j], j), best = means(chosen[j], j);
    EXPECT_LE(std::abs(got - best), kTied * (1 + std::abs(best)))
        << "target " << j << ": " << result.index[j] << " instead of " << chosen[j];
    chosen[j] = result.index[j];
  }
  if (result.coefs.is_empty()) return;
  std::vector<double> alphas;
  for (const int index : chosen) alphas.push_back(problem.alphas[std::max(index, 0)]);
  const PlainFit fit = plain_fit(problem, alphas);
  const double scale = 1 + arma::abs(fit.coefs.elem(arma::find_finite(fit.coefs))).max();
  EXPECT_LE(largest_difference(result.coefs, fit.coefs), tolerance * scale) << "coefficients";
  if (problem.intercept) {
    EXPECT_LE(largest_difference(result.intercept, fit.intercept), tolerance * scale * 10);
  }
}

template CvResult run_cv<double>(const Problem&, RidgeCvOptions, const Control&, Coefs);
template CvResult run_cv<float>(const Problem&, RidgeCvOptions, const Control&, Coefs);
template PlainFit run_fit<double>(const Problem&, const std::vector<double>&, const Control&, Coefs);
template PlainFit run_fit<float>(const Problem&, const std::vector<double>&, const Control&, Coefs);
template Predicted run_predict<double>(const Problem&, const std::vector<double>&, Score, const Control&);
template Predicted run_predict<float>(const Problem&, const std::vector<double>&, Score, const Control&);

}  // namespace voxridge_test
