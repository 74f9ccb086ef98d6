#include "moment_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arma_view.h"
#include "blas.h"
#include "factor.h"
#include "moment_factors.h"
#include "moment_plan.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kNodeTolerance = 1e-11;  // as in fold_search.cpp
constexpr double kNearlyPerfect = 1e-6;   // share of the null error below which interpolated errors lose their order

class MomentSearch {
 public:
  MomentSearch(const MomentInput& input, const RidgeCvOptions& options, RidgeCvOutputs& out, const Control& control)
      : input_(input),
        options_(options),
        out_(out),
        control_(control),
        center_(input.center()),
        p_(input.features()),
        t_(input.targets.y.cols),
        plan_(plan_moments(input, options, control)),
        results_(input.targets, options, out) {}

  void run() {
    out_.form = Form::primal;
    out_.route = Route::eigen;
    const bool keeps = t_ <= plan_.group;
    for (int64_t first = 0; first < t_; first += plan_.group) {
      load(first);
      for_each_tile([&](TileRange tile) {
        search_tile(tile);
        if (options_.local_alpha) refit_tile(tile);
      });
    }
    if (options_.local_alpha) return;
    results_.choose_shared();
    if (out_.coefs.kind == Coefs::none) return;
    for (int64_t first = 0; first < t_; first += plan_.group) {
      if (!keeps) load(first);
      for_each_tile([&](TileRange tile) { refit_tile(tile); });
    }
  }

 private:
  void load(int64_t first);
  void choose_nodes_of_folds();
  void search_tile(TileRange tile);
  arma::mat fold_scores(const MomentFold& fold, TileRange tile, std::vector<char>& constant) const;
  arma::mat gcv_scores(TileRange tile, std::vector<char>& constant) const;
  void refit_tile(TileRange tile);

  // Columns of a tile, counted in the group.
  MergedTargets merged(TileRange tile, const MergedFeatures& features, const std::vector<double>& weights) const {
    return merge_targets(targets_, tile.first - targets_.first, tile.cols, features_, features, weights, center_);
  }

  template <class Work>
  void for_each_tile(const Work& work) {
    const int64_t n_tiles = (targets_.cols + kTileCols - 1) / kTileCols;
    const BlasThreads blas(1);
    control_.expect(n_tiles);
    parallel_for(n_tiles, plan_.n_threads, [&](int64_t i, int) {
      control_.check_stop();
      const int64_t first = i * kTileCols;
      work(TileRange{targets_.first + first, std::min(kTileCols, targets_.cols - first)});
      control_.advance(1);
    });
  }

  const MomentInput& input_;
  const RidgeCvOptions& options_;
  RidgeCvOutputs& out_;
  const Control& control_;
  const bool center_;
  const int64_t p_, t_;
  const MomentPlan plan_;
  CvResults results_;
  FeatureMoments features_;
  TargetMoments targets_;
  MomentFactors factors_;
  AlphaNodes nodes_;
};

// The moments of a group of targets; at the first, the factors too.
void MomentSearch::load(int64_t first) {
  targets_ = TargetMoments();
  targets_.first = first;
  targets_.cols = std::min(plan_.group, t_ - first);
  const bool is_first = factors_.all.values.is_empty();
  sum_moments(input_, plan_.rows_at_a_time, plan_.n_threads, is_first ? &features_ : nullptr, targets_, control_);
  ++out_.passes;
  if (!is_first) return;
  const double smallest = *std::min_element(options_.alphas.begin(), options_.alphas.end());
  factors_ = make_moment_factors(input_.cells, features_, center_, smallest, plan_.n_threads, control_);
  choose_nodes_of_folds();
  out_.n_nodes = static_cast<int64_t>(nodes_.nodes.size());
}

void MomentSearch::choose_nodes_of_folds() {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const MomentFold& fold : factors_.folds) {
    for (const double value : fold.train.values) {
      if (value == 0) continue;  // no direction at all
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
  }
  nodes_ = factors_.folds.empty() ? all_nodes(options_.alphas)
                                  : choose_nodes(options_.alphas, smallest, largest, kNodeTolerance);
}

arma::mat solve(const MomentFactor& factor, const arma::mat& cross) {
  arma::mat out(factor.vectors.n_cols, cross.n_cols, arma::fill::none);
  gemm(Trans::yes, Trans::no, 1.0, view_of(factor.vectors), view_of(cross), 0.0, span_of(out));
  return out;
}

// First target of the tile: `first`.
std::vector<char> constant_targets(const MergedTargets& of, double rows, const Targets& targets, int64_t first) {
  std::vector<char> constant(of.squares.n_elem);
  for (arma::uword j = 0; j < of.squares.n_elem; ++j) {
    constant[j] = skipped(targets, first + static_cast<int64_t>(j)) ||
                  is_constant(of.squares[j], of.shift[j] + of.mean[j], static_cast<int64_t>(rows));
  }
  return constant;
}

// Sums of squares about the mean where there is an intercept, else of the values.
arma::rowvec squares_of(const MergedTargets& of, double rows, bool center) {
  if (center) return of.squares;
  return of.squares + rows * arma::square(of.shift + of.mean);
}

std::vector<double> numbers(const arma::rowvec& row) {
  return {row.begin(), row.end()};
}

arma::mat MomentSearch::fold_scores(const MomentFold& fold, TileRange tile, std::vector<char>& constant) const {
  const MomentFactor& factor = fold.train;
  const MergedTargets train = merged(tile, factor.features, factor.weights);
  const arma::mat rotated = solve(factor, train.cross);
  const MergedTargets held = merged(tile, fold.features, fold.held_out);
  const double rows = fold.features.rows;
  const arma::rowvec squares = squares_of(held, rows, center_);

  arma::mat z(fold.map.n_rows, tile.cols, arma::fill::none);
  gemm(Trans::no, Trans::no, 1.0, view_of(fold.turn), view_of(held.cross), 0.0, span_of(z).block(0, 0, p_, tile.cols));
  const arma::rowvec outside =
      arma::clamp(squares - arma::sum(arma::square(z.head_rows(p_)), 0), 0, std::numeric_limits<double>::infinity());
  if (center_) z.row(p_) = std::sqrt(rows) * (held.mean - train.mean);
  const HeldOutSums sums{static_cast<int64_t>(rows), numbers(outside + arma::sum(arma::square(z), 0)), numbers(outside),
                         numbers(held.squares), constant_targets(held, rows, input_.targets, tile.first)};
  constant = sums.constant;

  const auto errors_at = [&](const AlphaNodes& nodes) {
    arma::mat errors(nodes.nodes.size(), tile.cols, arma::fill::none), scaled, left;
    for (size_t k = 0; k < nodes.nodes.size(); ++k) {
      control_.check_stop();
      scaled = rotated;
      arma::vec shares = factor.values;
      for (double& value : shares) value = inverse(value, options_.alphas[nodes.nodes[k]]);
      scaled.each_col() %= shares;
      left = z;
      gemm(Trans::no, Trans::no, -1.0, view_of(fold.map), view_of(scaled), 1.0, span_of(left));
      errors.row(k) = arma::sum(arma::square(left), 0);
    }
    return errors;
  };
  const arma::mat errors = errors_at(nodes_);
  bool nearly_perfect = false;
  for (int64_t j = 0; j < tile.cols && !nodes_.all(); ++j) {
    const double error = errors.col(j).min() + outside[j];
    nearly_perfect = nearly_perfect || (!constant[j] && error < kNearlyPerfect * sums.null_error[j]);
  }
  if (!nearly_perfect) return scores_from_errors(options_.score, nodes_, errors, sums);
  const AlphaNodes all = all_nodes(options_.alphas);
  return scores_from_errors(options_.score, all, errors_at(all), sums);
}

// The formulas of loo.h.
arma::mat MomentSearch::gcv_scores(TileRange tile, std::vector<char>& constant) const {
  const MomentFactor& factor = factors_.all;
  const MergedTargets all = merged(tile, factor.features, factor.weights);
  const double n = factor.features.rows, least = std::numeric_limits<double>::epsilon() * factor.values.max();
  const arma::rowvec squares = squares_of(all, n, center_);
  arma::mat energy = arma::square(solve(factor, all.cross));
  for (arma::uword i = 0; i < energy.n_rows; ++i) energy.row(i) *= inverse(std::max(least, factor.values[i]), 0);
  const arma::rowvec outside = arma::clamp(squares - arma::sum(energy, 0), 0, std::numeric_limits<double>::infinity());
  arma::mat errors(options_.alphas.size(), tile.cols);
  for (size_t a = 0; a < options_.alphas.size(); ++a) {
    const double alpha = options_.alphas[a];
    arma::vec shares = factor.values;
    for (double& value : shares) value = value + alpha > 0 ? alpha / (value + alpha) : 1;
    const double freedom = n - static_cast<double>(p_) + arma::accu(shares) - (center_ ? 1 : 0);
    if (freedom <= 10 * n * std::numeric_limits<double>::epsilon()) {
      throw Error(ErrorCode::numerical,
                  "generalised cross-validation is undefined where the fit passes through the "
                  "samples. Leave out the smallest penalties, or use folds.");
    }
    errors.row(a) = (arma::square(shares).t() * energy + outside) * std::pow(n / freedom, 2);
  }
  constant = constant_targets(all, n, input_.targets, tile.first);
  const HeldOutSums sums{static_cast<int64_t>(n), numbers(squares), std::vector<double>(tile.cols, 0.0),
                         numbers(all.squares), constant};
  return scores_from_errors(options_.score, all_nodes(options_.alphas), errors, sums);
}

void MomentSearch::search_tile(TileRange tile) {
  FoldMeans means(options_.conservative);
  const int64_t n_folds = std::max<int64_t>(1, static_cast<int64_t>(factors_.folds.size()));
  for (int64_t f = 0; f < n_folds; ++f) {
    std::vector<char> constant;
    const arma::mat scores =
        factors_.folds.empty() ? gcv_scores(tile, constant) : fold_scores(factors_.folds[f], tile, constant);
    results_.add_fold(tile, f, n_folds, scores, constant);
    means.add(scores);
  }
  results_.choose(tile, means);
}

void MomentSearch::refit_tile(TileRange tile) {
  if (out_.coefs.kind == Coefs::none) return;
  const MomentFactor& factor = factors_.all;
  const MergedTargets all = merged(tile, factor.features, factor.weights);
  arma::mat weights = solve(factor, all.cross);
  const std::vector<double> alphas = results_.chosen_alphas(tile);
  for (int64_t j = 0; j < tile.cols; ++j) {
    for (int64_t i = 0; i < p_; ++i) weights(i, j) *= inverse(factor.values[i], alphas[j]);
  }
  StoreWriter* const store = out_.coefs.store;
  arma::mat kept(store != nullptr ? p_ : 0, store != nullptr ? tile.cols : 0, arma::fill::none);
  CoefOutputs columns = out_.coefs.columns(tile.first, tile.cols);
  if (store != nullptr) columns.coefs = span_of(kept);
  gemm(Trans::no, Trans::no, 1.0, view_of(factor.vectors), view_of(weights), 0.0, columns.coefs);
  for (int64_t j = 0; columns.intercept != nullptr && j < tile.cols; ++j) {
    const arma::rowvec coefs(columns.coefs.col(j), p_);
    columns.intercept[j] = (all.shift[j] + all.mean[j]) - arma::dot(features_.shift + factor.features.mean, coefs);
  }
  write_missing(input_.targets, tile.first, tile.cols, columns);
  if (store != nullptr) store->write(tile.first, view_of(kept));
}

}  // namespace

void ridge_cv_from_moments(const MomentInput& input, const RidgeCvOptions& options, RidgeCvOutputs& out,
                           const Control& control) {
  MomentSearch(input, options, out, control).run();
}

}  // namespace voxridge
