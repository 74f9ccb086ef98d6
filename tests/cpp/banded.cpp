// Banded ridge as a plain loop over candidates, folds, penalties and targets.
#include "banded.h"

#include <cmath>
#include <limits>
#include <map>

namespace voxridge_test {

BandedProblem make_banded(int64_t n, const std::vector<int64_t>& sizes, int64_t t, int64_t n_candidates, uint64_t seed,
                          double noise) {
  int64_t p = 0;
  for (const int64_t size : sizes) p += size;
  BandedProblem problem;
  static_cast<Problem&>(problem) = make_problem(n, p, t, seed, noise);
  problem.sizes = sizes;
  problem.gammas.assign(n_candidates, std::vector<double>(sizes.size(), 1));
  const Philox random(seed, 11);
  for (size_t c = 1; c < problem.gammas.size(); ++c) {
    for (size_t b = 0; b < sizes.size(); ++b) {
      const auto [u, zero] = random.uniform_pair(c * sizes.size() + b);
      const bool keep = b == c % sizes.size();  // one band at least
      problem.gammas[c][b] = zero < 0.25 && !keep ? 0 : 0.05 * std::pow(40.0, u);
    }
  }
  return problem;
}

std::vector<double> candidate_alphas(const BandedProblem& problem, int64_t candidate) {
  std::vector<double> out = problem.alphas;
  for (double& alpha : out) alpha *= problem.alpha_factors.empty() ? 1 : problem.alpha_factors[candidate];
  return out;
}

void absolute_error(MatrixView<double> truth, MatrixView<double> prediction, double* out) {
  for (int64_t j = 0; j < truth.cols; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < truth.rows; ++i) sum += std::abs(truth.col(j)[i] - prediction.col(j)[i]);
    out[j] = -sum / static_cast<double>(truth.rows);
  }
}

namespace {

arma::vec column_gammas(const BandedProblem& problem, const std::vector<double>& gammas) {
  std::vector<double> out;
  for (size_t b = 0; b < gammas.size(); ++b) out.insert(out.end(), problem.sizes[b], gammas[b]);
  return arma::vec(out);
}

// Ridge on weighted features by singular values, in long double; coefficients are for the features themselves.
class ExactRidge {
 public:
  ExactRidge(const BandedProblem& problem, const RowList& rows, const std::vector<double>& gammas) {
    LongMat x = take_rows(LongMat(problem.x), rows);
    y_ = take_rows(LongMat(problem.y), rows);
    x_mean_.assign(x.cols, 0.0L);
    y_mean_.assign(y_.cols, 0.0L);
    if (problem.intercept) {
      x_mean_ = column_means(x);
      y_mean_ = column_means(y_);
    }
    subtract_rows(x, x_mean_);
    subtract_rows(y_, y_mean_);
    for (const double gamma : column_gammas(problem, gammas))
      roots_.push_back(std::sqrt(static_cast<long double>(gamma)));
    for (int64_t j = 0; j < x.cols; ++j) {
      for (int64_t i = 0; i < x.rows; ++i) x(i, j) *= roots_[j];
    }
    svd_ = jacobi_svd(x);
  }

  LongMat coefs(double alpha) const {
    LongMat out = svd_ridge(svd_, y_, alpha);
    for (int64_t j = 0; j < out.cols; ++j) {
      for (int64_t i = 0; i < out.rows; ++i) out(i, j) *= roots_[i];
    }
    return out;
  }

  LongMat predict(LongMat x, double alpha) const {
    subtract_rows(x, x_mean_);
    LongMat out = multiply(x, false, coefs(alpha));
    for (int64_t j = 0; j < out.cols; ++j) {
      for (int64_t i = 0; i < out.rows; ++i) out(i, j) += y_mean_[j];
    }
    return out;
  }

 private:
  LongMat y_;
  std::vector<long double> x_mean_, y_mean_, roots_;
  LongSvd svd_;
};

arma::mat normal_equations(const arma::mat& x, const arma::mat& y, const arma::vec& gammas, double alpha) {
  arma::mat coefs(x.n_cols, y.n_cols, arma::fill::zeros);
  const arma::uvec kept = arma::find(gammas > 0);
  const arma::mat some = x.cols(kept);
  const arma::vec penalty = alpha / gammas(kept);
  const arma::mat left = some.t() * some + arma::diagmat(penalty);
  coefs.rows(kept) = arma::solve(left, some.t() * y);
  return coefs;
}

// Of a fold's held-out rows, at each penalty.
std::vector<arma::mat> predictions(const BandedProblem& problem, const Fold& fold, const std::vector<double>& gammas,
                                   const std::vector<double>& alphas, Oracle oracle) {
  std::vector<arma::mat> out;
  if (oracle == Oracle::exact) {
    const ExactRidge ridge(problem, fold.train, gammas);
    const LongMat held = take_rows(LongMat(problem.x), fold.test);
    for (const double alpha : alphas) out.push_back(ridge.predict(held, alpha).rounded());
    return out;
  }
  const arma::uvec train = arma::conv_to<arma::uvec>::from(fold.train);
  const arma::uvec test = arma::conv_to<arma::uvec>::from(fold.test);
  arma::mat x = problem.x.rows(train), y = problem.y.rows(train), held = problem.x.rows(test);
  arma::rowvec y_mean(y.n_cols, arma::fill::zeros);
  if (problem.intercept) {
    const arma::rowvec x_mean = arma::mean(x, 0);
    y_mean = arma::mean(y, 0);
    x.each_row() -= x_mean;
    held.each_row() -= x_mean;
    y.each_row() -= y_mean;
  }
  for (const double alpha : alphas) {
    out.push_back(held * normal_equations(x, y, column_gammas(problem, gammas), alpha));
    out.back().each_row() += y_mean;
  }
  return out;
}

bool is_constant(const arma::vec& values) {
  const double n = static_cast<double>(values.n_elem), eps = std::numeric_limits<double>::epsilon();
  return arma::accu(arma::square(values - arma::mean(values))) <= n * n * eps * eps * arma::dot(values, values);
}

double score_of(Score score, const arma::vec& y, const arma::vec& prediction) {
  if (score == Score::user) return -arma::mean(arma::abs(y - prediction));
  const double error = arma::accu(arma::square(y - prediction));
  if (score == Score::neg_mse) return -error / static_cast<double>(y.n_elem);
  if (is_constant(y)) return 0;
  const arma::vec a = y - arma::mean(y), b = prediction - arma::mean(prediction);
  if (score == Score::r2) return 1 - error / arma::dot(a, a);
  return is_constant(prediction) ? 0 : arma::dot(a, b) / std::sqrt(arma::dot(a, a) * arma::dot(b, b));
}

arma::rowvec scores_of(Score score, const arma::mat& y, const arma::mat& prediction) {
  arma::rowvec out(y.n_cols);
  for (arma::uword j = 0; j < y.n_cols; ++j) out[j] = score_of(score, y.col(j), prediction.col(j));
  return out;
}

// n ||y - Hy||^2 / (n - trace H)^2 in place of the mean squared error, as a score.
arma::rowvec gcv_scores(const BandedProblem& problem, Score score, const std::vector<double>& gammas, double alpha) {
  const int64_t n = static_cast<int64_t>(problem.x.n_rows);
  BandedProblem unit = problem;
  unit.y.eye(n, n);
  const Fold all{row_range(0, n), row_range(0, n)};
  const arma::mat hat = predictions(unit, all, gammas, {alpha}, Oracle::normal)[0];
  const double freedom = static_cast<double>(n) - arma::trace(hat);
  const arma::rowvec error =
      arma::sum(arma::square(problem.y - hat * problem.y), 0) * static_cast<double>(n * n) / (freedom * freedom);
  if (score == Score::neg_mse) return -error / static_cast<double>(n);
  arma::rowvec out = 1 - error / (static_cast<double>(n) * arma::var(problem.y, 1, 0));
  for (arma::uword j = 0; j < out.n_elem; ++j) {
    if (is_constant(problem.y.col(j))) out[j] = 0;
  }
  return out;
}

// folds x alphas x targets
arma::cube scores_of_candidate(const BandedProblem& problem, const BandedCvOptions& options,
                               const std::vector<double>& gammas, const std::vector<double>& alphas, Oracle oracle) {
  const bool by_fold = options.cv == CvKind::kfold;
  arma::cube out(by_fold ? problem.folds.size() : 1, alphas.size(), problem.y.n_cols);
  std::vector<arma::mat> all(alphas.size(), problem.y);  // predictions of all rows
  for (size_t f = 0; f < problem.folds.size() && options.cv != CvKind::gcv; ++f) {
    const arma::uvec test = arma::conv_to<arma::uvec>::from(problem.folds[f].test);
    const std::vector<arma::mat> predicted = predictions(problem, problem.folds[f], gammas, alphas, oracle);
    for (size_t a = 0; a < alphas.size(); ++a) {
      all[a].rows(test) = predicted[a];
      if (by_fold) out.tube(f, a) = scores_of(options.score, problem.y.rows(test), predicted[a]);
    }
  }
  for (size_t a = 0; a < alphas.size() && !by_fold; ++a) {
    out.tube(0, a) = options.cv == CvKind::gcv ? gcv_scores(problem, options.score, gammas, alphas[a])
                                               : scores_of(options.score, problem.y, all[a]);
  }
  return out;
}

bool is_skipped(const Problem& problem, size_t target) {
  return !problem.skip.empty() && problem.skip[target] != 0;
}

// Skipped targets may hold NaN, which must not reach a solver.
BandedProblem without_skipped(const BandedProblem& problem) {
  BandedProblem out = problem;
  for (size_t j = 0; j < out.y.n_cols; ++j) {
    if (is_skipped(problem, j)) out.y.col(j).zeros();
  }
  return out;
}

}  // namespace

std::vector<arma::cube> plain_banded_scores(const BandedProblem& given, const BandedCvOptions& options, Oracle oracle) {
  BandedProblem problem = without_skipped(given);
  const int64_t n = static_cast<int64_t>(problem.x.n_rows);
  if (options.cv == CvKind::loo) problem.folds = contiguous_folds(n, n);
  std::vector<arma::cube> out;
  for (size_t c = 0; c < problem.gammas.size(); ++c) {
    out.push_back(scores_of_candidate(problem, options, problem.gammas[c], candidate_alphas(problem, c), oracle));
    for (size_t j = 0; j < problem.y.n_cols; ++j) {
      if (is_skipped(problem, j)) out[c].slice(j).fill(std::numeric_limits<double>::quiet_NaN());
    }
  }
  return out;
}

BandedChoices plain_banded_choice(const BandedProblem& problem, const BandedCvOptions& options,
                                  const std::vector<arma::cube>& scores) {
  const size_t t = problem.y.n_cols;
  BandedChoices out{std::vector<int>(t, -1), std::vector<int>(t, -1), arma::mat(scores.size(), t)};
  std::vector<double> best(t);
  for (size_t c = 0; c < scores.size(); ++c) {
    const std::vector<double> alphas = candidate_alphas(problem, c);
    const arma::mat means = plain_means(scores[c]);
    std::vector<int> chosen = plain_choice(scores[c], alphas, options.conservative);
    if (!options.local_alpha) std::fill(chosen.begin(), chosen.end(), plain_shared_choice(scores[c], alphas));
    for (size_t j = 0; j < t; ++j) out.scores(c, j) = means(std::max(chosen[j], 0), j);
    const arma::rowvec row = out.scores.row(c);
    const double mean = arma::mean(arma::rowvec(row.elem(arma::find_finite(row)).t()));
    for (size_t j = 0; j < t; ++j) {
      if (is_skipped(problem, j)) continue;
      const double score = options.local_alpha ? row[j] : mean;
      const double unit = options.score == Score::r2 || options.score == Score::correlation ? 1 : std::abs(best[j]);
      if (out.gamma_index[j] >= 0 && !(score > best[j] + std::numeric_limits<double>::epsilon() * unit)) continue;
      best[j] = score;
      out.gamma_index[j] = static_cast<int>(c);
      out.alpha_index[j] = chosen[j];
    }
  }
  return out;
}

PlainFit plain_banded_fit(const BandedProblem& given, const std::vector<int>& gamma_index,
                          const std::vector<int>& alpha_index, Oracle oracle) {
  const BandedProblem problem = without_skipped(given);
  std::map<std::pair<int, int>, std::vector<arma::uword>> targets;
  for (size_t j = 0; j < problem.y.n_cols; ++j) targets[{gamma_index[j], alpha_index[j]}].push_back(j);
  PlainFit fit{arma::mat(problem.x.n_cols, problem.y.n_cols), arma::rowvec(problem.y.n_cols)};
  for (const auto& [choice, columns] : targets) {
    const arma::uvec where(columns);
    if (choice.first < 0) {
      fit.coefs.cols(where).fill(std::numeric_limits<double>::quiet_NaN());
      fit.intercept.cols(where).fill(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const std::vector<double>& gammas = problem.gammas[choice.first];
    const double alpha = candidate_alphas(problem, choice.first)[choice.second];
    if (oracle == Oracle::exact) {
      BandedProblem some = problem;
      some.y = problem.y.cols(where);
      const ExactRidge ridge(some, row_range(0, static_cast<int64_t>(some.x.n_rows)), gammas);
      fit.coefs.cols(where) = ridge.coefs(alpha).rounded();
      fit.intercept.cols(where) = ridge.predict(LongMat(1, some.x.n_cols), alpha).rounded();
      continue;
    }
    arma::mat x = problem.x, y = problem.y.cols(where);
    const arma::rowvec x_mean = arma::mean(x, 0), y_mean = arma::mean(y, 0);
    if (problem.intercept) {
      x.each_row() -= x_mean;
      y.each_row() -= y_mean;
    }
    const arma::mat coefs = normal_equations(x, y, column_gammas(problem, gammas), alpha);
    fit.coefs.cols(where) = coefs;
    fit.intercept.cols(where) = y_mean - x_mean * coefs;
  }
  return fit;
}

}  // namespace voxridge_test
