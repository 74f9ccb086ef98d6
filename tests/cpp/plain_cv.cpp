// Cross-validated ridge regression as a plain loop over folds, penalties and targets.
#include <cmath>
#include <limits>

#include "common.h"

namespace voxridge_test {

Problem make_problem(int64_t n, int64_t p, int64_t t, uint64_t seed, double noise) {
  Problem problem;
  problem.x = normal_matrix(n, p, 1000 * seed + 1);
  const arma::mat b = normal_matrix(p, t, 1000 * seed + 2) / std::sqrt(static_cast<double>(std::max<int64_t>(p, 1)));
  problem.y = noise * normal_matrix(n, t, 1000 * seed + 3);
  if (p > 0) problem.y += problem.x * b;
  problem.folds = contiguous_folds(n, 4);
  problem.alphas = log_grid(1e-1, 1e4, 8);
  return problem;
}

namespace {

constexpr long double kEps = 2.220446049250313e-16L;

bool is_constant(const LongMat& values, int64_t col, long double sum_squares) {
  const long double n = static_cast<long double>(values.rows);
  long double squares = 0;
  for (int64_t i = 0; i < values.rows; ++i) squares += values(i, col) * values(i, col);
  return sum_squares <= n * n * kEps * kEps * squares;
}

}  // namespace

double plain_score(Score score, const LongMat& y, const LongMat& prediction, int64_t col) {
  const long double n = static_cast<long double>(y.rows);
  const long double y_mean = column_means(y)[col], p_mean = column_means(prediction)[col];
  long double error = 0, yy = 0, pp = 0, yp = 0;
  for (int64_t i = 0; i < y.rows; ++i) {
    const long double a = y(i, col) - y_mean, b = prediction(i, col) - p_mean;
    error += (y(i, col) - prediction(i, col)) * (y(i, col) - prediction(i, col));
    yy += a * a;
    pp += b * b;
    yp += a * b;
  }
  if (score == Score::neg_mse) return static_cast<double>(-error / n);
  if (is_constant(y, col, yy)) return 0;
  if (score == Score::r2) return static_cast<double>(1 - error / yy);
  if (is_constant(prediction, col, pp)) return 0;
  return static_cast<double>(yp / std::sqrt(pp * yy));
}

LongMat plain_predictions(const Problem& problem, const Fold& fold, double alpha) {
  const LongMat all_x(problem.x), all_y(problem.y);
  LongMat x = take_rows(all_x, fold.train), y = take_rows(all_y, fold.train), held = take_rows(all_x, fold.test);
  std::vector<long double> y_mean(y.cols, 0.0L);
  if (problem.intercept) {
    const std::vector<long double> x_mean = column_means(x);
    y_mean = column_means(y);
    subtract_rows(x, x_mean);
    subtract_rows(held, x_mean);
    subtract_rows(y, y_mean);
  }
  LongMat out = multiply(held, false, plain_ridge(x, y, alpha));
  for (int64_t j = 0; j < out.cols; ++j) {
    for (int64_t i = 0; i < out.rows; ++i) out(i, j) += y_mean[j];
  }
  return out;
}

arma::cube plain_scores(const Problem& problem, Score score) {
  arma::cube out(problem.folds.size(), problem.alphas.size(), problem.y.n_cols);
  for (size_t f = 0; f < problem.folds.size(); ++f) {
    const LongMat truth = take_rows(LongMat(problem.y), problem.folds[f].test);
    for (size_t a = 0; a < problem.alphas.size(); ++a) {
      const LongMat prediction = plain_predictions(problem, problem.folds[f], problem.alphas[a]);
      LongMat y(truth.rows, 1), p(truth.rows, 1);
      for (int64_t j = 0; j < truth.cols; ++j) {
        for (int64_t i = 0; i < truth.rows; ++i) {
          y(i, 0) = truth(i, j);
          p(i, 0) = prediction(i, j);
        }
        out(f, a, j) = plain_score(score, y, p, 0);
      }
    }
  }
  for (size_t j = 0; j < problem.skip.size(); ++j) {
    if (problem.skip[j]) out.slice(j).fill(std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

arma::mat plain_means(const arma::cube& scores) {
  arma::mat means(scores.n_cols, scores.n_slices, arma::fill::none);
  for (arma::uword j = 0; j < scores.n_slices; ++j) means.col(j) = arma::mean(scores.slice(j), 0).t();
  return means;
}

namespace {

int best_of(const arma::vec& means, const std::vector<double>& alphas) {
  int best = -1;
  for (size_t a = 0; a < alphas.size(); ++a) {
    if (std::isnan(means[a])) continue;
    if (best < 0 || means[a] > means[best] || (means[a] == means[best] && alphas[a] > alphas[best])) {
      best = static_cast<int>(a);
    }
  }
  return best;
}

}  // namespace

std::vector<int> plain_choice(const arma::cube& scores, const std::vector<double>& alphas, bool conservative) {
  const arma::mat means = plain_means(scores);
  std::vector<int> chosen;
  for (arma::uword j = 0; j < means.n_cols; ++j) {
    int best = best_of(means.col(j), alphas);
    if (conservative && best >= 0) {
      const double bound = means(best, j) - arma::stddev(arma::vec(scores.slice(j).col(best)), 1);
      for (size_t a = 0; a < alphas.size(); ++a) {
        if (means(a, j) > bound && alphas[a] > alphas[best]) best = static_cast<int>(a);
      }
    }
    chosen.push_back(best);
  }
  return chosen;
}

int plain_shared_choice(const arma::cube& scores, const std::vector<double>& alphas) {
  const arma::mat means = plain_means(scores);
  arma::vec total(alphas.size(), arma::fill::zeros);
  for (arma::uword j = 0; j < means.n_cols; ++j) {
    if (!means.col(j).has_nan()) total += means.col(j);
  }
  return best_of(total, alphas);
}

PlainFit plain_fit(const Problem& problem, const std::vector<double>& alphas) {
  LongMat x(problem.x), y(problem.y);
  std::vector<long double> x_mean(x.cols, 0.0L), y_mean(y.cols, 0.0L);
  if (problem.intercept) {
    x_mean = column_means(x);
    y_mean = column_means(y);
    subtract_rows(x, x_mean);
    subtract_rows(y, y_mean);
  }
  PlainFit fit{arma::mat(x.cols, y.cols, arma::fill::none), arma::rowvec(y.cols)};
  std::vector<double> distinct = alphas;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const double alpha : distinct) {
    const LongMat b = plain_ridge(x, y, alpha);
    for (int64_t j = 0; j < y.cols; ++j) {
      if (alphas[alphas.size() == 1 ? 0 : j] != alpha) continue;
      long double at_means = 0;
      for (int64_t i = 0; i < x.cols; ++i) {
        fit.coefs(i, j) = static_cast<double>(b(i, j));
        at_means += x_mean[i] * b(i, j);
      }
      fit.intercept[j] = static_cast<double>(y_mean[j] - at_means);
      if (!problem.skip.empty() && problem.skip[j]) {
        fit.coefs.col(j).fill(std::numeric_limits<double>::quiet_NaN());
        fit.intercept[j] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  return fit;
}

}  // namespace voxridge_test
