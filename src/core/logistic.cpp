#include "logistic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "arma_view.h"
#include "eigen.h"
#include "lambda_grid.h"
#include "logistic_choice.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr int64_t kLargestPrimal = 2000;
constexpr int64_t kLargestDual = 5000;
constexpr int64_t kManyTargets = 8;
constexpr int64_t kGroupTargets = 64;   // of a batch
constexpr double kGroupValues = 6.4e7;  // its working memory, in doubles
constexpr int64_t kGridRows = 2000;     // for the default grid where rows and features are many

}  // namespace

RouteChoice choose_route(int64_t n, int64_t p, int64_t t) {
  const bool many = t >= kManyTargets;
  if (p <= n && p <= kLargestPrimal) {
    return many ? RouteChoice{LogisticRoute::batch, "p <= n and p <= 2000, 8 targets or more"}
                : RouteChoice{LogisticRoute::primal, "p <= n and p <= 2000, fewer than 8 targets"};
  }
  if (p > n && n <= kLargestDual) {
    return many ? RouteChoice{LogisticRoute::rotate, "p > n and n <= 5000, 8 targets or more"}
                : RouteChoice{LogisticRoute::dual, "p > n and n <= 5000, fewer than 8 targets"};
  }
  return {LogisticRoute::matrix_free, p > n ? "p > n and n > 5000" : "p <= n and p > 2000"};
}

std::string route_name(LogisticRoute route) {
  switch (route) {
    case LogisticRoute::primal:
      return "primal";
    case LogisticRoute::dual:
      return "dual";
    case LogisticRoute::rotate:
      return "rotate";
    case LogisticRoute::batch:
      return "batch";
    default:
      return "matrix_free";
  }
}

LogisticRidge::LogisticRidge(const LogisticData& data, std::vector<Fold> folds, const LogisticCvOptions& options,
                             const Control& control)
    : data_(data),
      folds_(std::move(folds)),
      options_(options),
      rows_(rows_with_weight(data, row_range(0, data.x.rows))) {
  scales_ = weighted_scales(data.x, rows_, weights_of(data, rows_), control);
  if (!options.standardize) std::fill(scales_.sd.begin(), scales_.sd.end(), 1.0);
  view_ = make_logistic_view(data, options.route, scales_, options.solver.fit_intercept, control);
  for (const Fold& fold : folds_) {
    double weight = 0;
    for (const int64_t row : fold.test) weight += data.score_weights[row];
    fold_weights_.push_back(weight);
  }
}

// The eigenvalues of Z'WZ / 4 from its smaller side; where both are large, from some of the rows.
std::vector<double> LogisticRidge::default_lambdas(int64_t n, const Control& control) const {
  RowList rows = rows_;
  if (std::min(static_cast<int64_t>(rows.size()), data_.x.cols) > kLargestDual) {
    const int64_t size = static_cast<int64_t>(rows_.size());
    rows.resize(kGridRows);
    for (int64_t i = 0; i < kGridRows; ++i) rows[i] = rows_[i * size / kGridRows];
  }
  const arma::vec weights = weights_of(data_, rows), roots = arma::sqrt(weights);
  const ScaledFeatures features(data_.x, rows, view_.means, view_.factors, 0, control);
  const bool whole = rows.size() == rows_.size() && !view_.kernel.is_empty();
  arma::mat gram;
  if (data_.x.cols <= static_cast<int64_t>(rows.size())) {
    gram = features.feature_gram(weights, control);
  } else {
    const arma::uvec kept = arma::conv_to<arma::uvec>::from(rows);
    gram = whole ? arma::mat(view_.kernel.submat(kept, kept)) : features.sample_gram(control);
    gram.each_col() %= roots;
    gram.each_row() %= roots.t();
  }
  return lambda_grid(symmetric_eigenvalues(gram, control) / 4, n);
}

// Of the space that the route works in.
int64_t LogisticRidge::dimensions() const {
  if (options_.route == LogisticRoute::dual) return static_cast<int64_t>(rows_.size());
  return options_.route == LogisticRoute::rotate ? static_cast<int64_t>(view_.rotation.features.n_cols) : data_.x.cols;
}

// Square matrices of that size: the kernel of a fold or the shared curvature, a Hessian, its factor; and the features.
double LogisticRidge::job_bytes() const {
  const double dims = static_cast<double>(dimensions()), n = static_cast<double>(data_.x.rows);
  if (options_.route == LogisticRoute::matrix_free) return 8 * dims * 32;
  return 8 * dims * (3 * dims + (options_.route == LogisticRoute::dual ? 0 : n));
}

std::vector<LogisticRidge::Group> LogisticRidge::make_groups() const {
  int64_t width = 1;
  if (options_.route != LogisticRoute::primal && options_.route != LogisticRoute::dual) {
    const double dims = static_cast<double>(dimensions());
    width = fitting(kGroupValues, 5.0 * static_cast<double>(data_.x.rows) + 24.0 * dims, 1, kGroupTargets);
  }
  std::vector<Group> groups;
  for (int64_t t = 0; t < data_.y.cols; ++t) {
    if (!data_.skip.empty() && data_.skip[t] != 0) continue;
    if (groups.empty() || static_cast<int64_t>(groups.back().targets.size()) == width) groups.emplace_back();
    groups.back().targets.push_back(t);
  }
  return groups;
}

void LogisticRidge::run_fold(const Group& group, size_t f, const std::vector<double>& lambdas, double* scores,
                             arma::cube* held_out, const Control& control) const {
  const RowList train = rows_with_weight(data_, folds_[f].train);
  LogisticView own;
  if (options_.scale_per_fold) {
    const Scales scales = weighted_scales(data_.x, train, weights_of(data_, train), control);
    own = make_logistic_view(data_, options_.route, options_.standardize ? scales : Scales{scales.mean, scales_.sd},
                             options_.solver.fit_intercept, control);
  }
  const LogisticFold fold(data_, options_.scale_per_fold ? own : view_, options_.route, train, folds_[f].test,
                          group.targets, control);
  const RowList& test = fold.test();
  arma::mat y(test.size(), group.targets.size());
  arma::vec weights(test.size());
  for (size_t i = 0; i < test.size(); ++i) {
    weights[i] = data_.score_weights[test[i]];
    for (size_t t = 0; t < group.targets.size(); ++t) y(i, t) = data_.y.col(group.targets[t])[test[i]];
  }
  if (held_out != nullptr) held_out->set_size(test.size(), group.targets.size(), lambdas.size());
  fold.solve(lambdas, options_.solver, control, [&](size_t l, const LogisticSolution& solution) {
    const arma::mat logits = fold.held_out_logits(solution);
    for (size_t t = 0; t < group.targets.size(); ++t) {
      if (scores == nullptr) continue;
      scores[f + folds_.size() * (l + lambdas.size() * group.targets[t])] = binary_score(
          options_.criterion, y.colptr(t), logits.colptr(t), weights.memptr(), static_cast<int64_t>(test.size()));
    }
    if (held_out != nullptr) held_out->slice(l) = logits;
  });
}

void LogisticRidge::run_all_rows(Group& group, const std::vector<double>& lambdas, LogisticOutputs& out,
                                 const Control& control) const {
  const LogisticFold all(data_, view_, options_.route, rows_, {}, group.targets, control);
  all.solve(lambdas, options_.solver, control, [&](size_t l, const LogisticSolution& solution) {
    if (l == 0) {
      group.points.set_size(solution.points.n_rows, solution.points.n_cols, lambdas.size());
      group.intercepts.set_size(solution.points.n_cols, lambdas.size());
    }
    group.points.slice(l) = solution.points;
    for (size_t t = 0; t < group.targets.size(); ++t) {
      group.intercepts(t, l) = solution.losses[t].intercept;
      out.certificates[l + lambdas.size() * group.targets[t]] = solution.certificates[t];
    }
  });
}

// ---- choice ------------------------------------------------------------------------------------

void LogisticRidge::choose(const std::vector<int64_t>& targets, int64_t n_lambdas, LogisticOutputs& out) const {
  if (folds_.empty()) {
    for (const int64_t t : targets) out.best[t] = static_cast<int>(n_lambdas) - 1;
    return;
  }
  const int64_t size = static_cast<int64_t>(folds_.size()) * n_lambdas;
  const auto chosen = [&](const double* scores, double* mean, double* se) {
    summarise_folds(scores, fold_weights_, n_lambdas, mean, se);
    return choose_lambda(options_.criterion, mean, se, n_lambdas);
  };
  const auto keep = [&](int64_t t, ChosenLambda lambda) {
    out.best_min[t] = lambda.min;
    out.best_1se[t] = lambda.one_se;
    out.best[t] = options_.choose == LambdaChoice::min ? lambda.min : lambda.one_se;
  };
  // A fold's mean over the targets that it has a score for: the same targets at each penalty.
  std::vector<double> shared(size), counts(size), mean(n_lambdas), se(n_lambdas);
  for (const int64_t t : targets) {
    const double* scores = out.scores + size * t;
    keep(t, chosen(scores, out.mean + n_lambdas * t, out.se + n_lambdas * t));
    for (int64_t i = 0; i < size; ++i) {
      if (std::isnan(scores[i])) continue;
      shared[i] += scores[i];
      ++counts[i];
    }
  }
  if (options_.local_lambda) return;
  for (int64_t i = 0; i < size; ++i) shared[i] /= counts[i];  // NaN without targets
  const ChosenLambda all = chosen(shared.data(), mean.data(), se.data());
  for (const int64_t t : targets) keep(t, all);
}

void LogisticRidge::predict(const Group& group, LogisticOutputs& out) const {
  for (size_t f = 0; f < group.held_out.size(); ++f) {
    const RowList& test = folds_[f].test;
    for (size_t t = 0; t < group.targets.size(); ++t) {
      const int best = group.held_out[f].n_slices == 1 ? 0 : out.best[group.targets[t]];
      if (best < 0) continue;
      for (size_t i = 0; i < test.size(); ++i) {
        out.predictions.col(group.targets[t])[test[i]] = group.held_out[f](i, t, best);
      }
    }
  }
}

// ---- all of it ---------------------------------------------------------------------------------

void LogisticRidge::run(const std::vector<double>& lambdas, LogisticOutputs& out, const Control& control) const {
  std::vector<Group> groups = make_groups();
  const int64_t n_lambdas = static_cast<int64_t>(lambdas.size()), n_folds = static_cast<int64_t>(folds_.size());
  const int64_t n_groups = static_cast<int64_t>(groups.size());
  out.certificates.resize(n_lambdas * data_.y.cols);
  out.chosen.resize(data_.y.cols);
  if (groups.empty()) return;
  // Groups in turns, so that what is kept until the choice fits the memory. A penalty for all targets needs all scores
  // first; where these take several turns, the folds are fitted once more at that penalty, for the predictions.
  const double dims = static_cast<double>(dimensions());
  const double kept = 8.0 * static_cast<double>(n_lambdas) * (dims + static_cast<double>(data_.x.rows)) *
                      static_cast<double>(groups[0].targets.size());
  const int64_t turn = fitting(control.memory_bytes / 4, kept, 1, n_groups);
  Control side_by_side = control;
  side_by_side.n_threads = static_cast<int>(fitting(control.memory_bytes / 2, job_bytes(), 1, control.n_threads));
  const bool twice = !options_.local_lambda && n_folds > 0 && turn < n_groups;
  control.expect(n_groups * (n_folds + 1) * n_lambdas + (twice ? n_groups * n_folds : 0));
  // The folds, and with_all the fits to all rows, of some groups.
  const auto fit = [&](int64_t first, int64_t count, const std::vector<double>& some, double* scores, bool with_all) {
    const int64_t n_jobs = n_folds + (with_all ? 1 : 0);
    for (int64_t g = first; with_all && g < first + count; ++g) groups[g].held_out.resize(n_folds);
    for_each_job(count * n_jobs, side_by_side, [&](int64_t job, const Control& inside) {
      Group& group = groups[first + job / n_jobs];
      const int64_t f = job % n_jobs;
      if (f == n_folds) {
        run_all_rows(group, lambdas, out, inside);
      } else {
        run_fold(group, f, some, scores, with_all ? &group.held_out[f] : nullptr, inside);
      }
    });
  };
  const auto targets_of = [&](int64_t first, int64_t count) {
    std::vector<int64_t> targets;
    for (int64_t g = first; g < first + count; ++g) {
      targets.insert(targets.end(), groups[g].targets.begin(), groups[g].targets.end());
    }
    return targets;
  };
  if (twice) {
    for (int64_t first = 0; first < n_groups; first += turn) {
      fit(first, std::min(turn, n_groups - first), lambdas, out.scores, false);
    }
    choose(targets_of(0, n_groups), n_lambdas, out);
  }
  for (int64_t first = 0; first < n_groups; first += turn) {
    const int64_t count = std::min(turn, n_groups - first);
    if (twice) {
      const int best = std::max(0, out.best[groups[first].targets[0]]);
      fit(first, count, {lambdas[best]}, nullptr, true);
    } else {
      fit(first, count, lambdas, out.scores, true);
      choose(targets_of(first, count), n_lambdas, out);
    }
    for_each_job(count, control, [&](int64_t job, const Control& inside) {
      Group& group = groups[first + job];
      predict(group, out);
      refit(group, lambdas, out, inside);
      group = Group{group.targets, {}, {}, {}};
    });
  }
}

}  // namespace voxridge
