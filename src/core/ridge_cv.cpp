// ridge_cv(): order of the work.
//
// All operators of all folds fit the budget (the usual case, one pass): tiles outermost, folds inside, and a tile goes from its
// scores to its coefficients while it is at hand, so Y is read once. Otherwise operators are made in several passes over the
// tiles, fold by fold and node by node, and running means wait in memory between passes.
#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>

#include "choice.h"
#include "ridge.h"
#include "search.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kFactorShare = 0.4;     // of the memory budget
constexpr double kOperatorShare = 0.3;
constexpr double kWaitingShare = 0.2;    // running means between passes
constexpr double kNearlyPerfect = 1e-6;  // share of the null error below which interpolated errors lose their order

template <class T>
double node_tolerance(Score score) {
  if (std::is_same_v<T, float>) return 1e-6;
  return score == Score::correlation ? 1e-12 : 1e-10;
}

// Scores of one tile on their way through the folds.
struct TileScores {
  TileScores(bool with_spread, int64_t n_folds) : means(with_spread), sums(n_folds), nodes_done(n_folds, 0) {}
  FoldMeans means;
  std::vector<arma::mat> sums;  // at the nodes, of each fold that is begun and not finished
  std::vector<int64_t> nodes_done;
  std::vector<char> constant;
  bool nearly_perfect = false;
};

template <class T>
class RidgeCv {
 public:
  RidgeCv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out,
          const Control& control)
      : options_(options), out_(out), control_(control), device_(cpu_device<T>()),
        factors_(preparation.factors(*std::min_element(options.alphas.begin(), options.alphas.end()), control)),
        source_(*device_, preparation.features(), preparation.folds(), targets, factors_.form(), control) {}

  void run();

 private:
  using Pass = std::vector<OperatorPlan>;

  bool wants_coefs() const { return out_.coefs.kind != Coefs::none; }
  int64_t n_alphas() const { return static_cast<int64_t>(options_.alphas.size()); }
  int64_t n_nodes() const { return static_cast<int64_t>(nodes_.nodes.size()); }

  void search_folds();
  void search_closed_form();
  void search_tiles(const std::vector<int64_t>& tiles, const std::vector<Pass>& passes, const Refit<T>* refit);
  std::vector<Pass> plan_passes() const;
  std::vector<FoldOperator<T>> operators_of(const Pass& pass) const;
  void add_operator(const FoldOperator<T>& op, Tile<T>& tile, TileScores& scores);
  void finish_fold(int64_t fold, const Tile<T>& tile, const HeldOutSums& held, TileScores& scores);
  void finish_tile(Tile<T>& tile, const FoldMeans& means, const Refit<T>* refit);
  void choose_shared();
  void refit_all(const Refit<T>& refit);
  std::vector<double> chosen_alphas(const Tile<T>& tile) const;
  void write_fold_scores(const Tile<T>& tile, int64_t fold, int64_t n_folds, const arma::mat& scores);
  void mark_constant(const Tile<T>& tile, const std::vector<char>& constant);

  const RidgeCvOptions& options_;
  RidgeCvOutputs& out_;
  const Control& control_;
  std::unique_ptr<Device<T>> device_;
  Factors& factors_;
  TileSource<T> source_;
  AlphaNodes nodes_;
  std::vector<arma::vec> tile_totals_;  // shared alpha: sums of mean scores over a tile's targets
  std::vector<int64_t> redo_;           // tiles with nearly perfect predictions
  std::mutex redo_lock_;
};

template <class T>
void RidgeCv<T>::run() {
  const int64_t t = source_.targets().y.cols;
  out_.constant.assign(t, 0);
  tile_totals_.resize(tile_count(source_.targets()));
  out_.form = factors_.form();
  out_.route = factors_.route();
  if (options_.cv == CvKind::kfold) {
    search_folds();
  } else {
    search_closed_form();
  }
}

template <class T>
void RidgeCv<T>::search_folds() {
  const bool from_full = factors_.folds_from_full();
  const bool keep_folds = !from_full && factors_.bytes_of_folds() <= kFactorShare * control_.memory_bytes;
  factors_.keep(from_full || wants_coefs(), keep_folds, control_);
  const Factors::Range range = factors_.eigenvalue_range();
  nodes_ = options_.score == Score::user
               ? all_nodes(options_.alphas)
               : choose_nodes(options_.alphas, range.smallest, range.largest, node_tolerance<T>(options_.score));
  out_.n_nodes = n_nodes();

  std::unique_ptr<Refit<T>> refit;
  if (wants_coefs()) refit = std::make_unique<Refit<T>>(source_, factors_.full(control_), out_.coefs);
  const std::vector<int64_t> tiles = row_range(0, tile_count(source_.targets()));
  const std::vector<Pass> passes = plan_passes();
  out_.passes = static_cast<int64_t>(passes.size());
  const bool fused = options_.local_alpha && passes.size() == 1;
  search_tiles(tiles, passes, fused ? refit.get() : nullptr);
  if (!redo_.empty()) {
    std::sort(redo_.begin(), redo_.end());
    nodes_ = all_nodes(options_.alphas);
    search_tiles(redo_, plan_passes(), fused ? refit.get() : nullptr);
  }
  if (!options_.local_alpha) choose_shared();
  if (refit != nullptr && !fused) refit_all(*refit);
}

template <class T>
void RidgeCv<T>::search_closed_form() {
  const std::shared_ptr<const Factor> factor = factors_.full(control_);
  const ClosedForm kind = options_.cv == CvKind::loo ? ClosedForm::loo : ClosedForm::gcv;
  const ClosedFormSearch<T> search(source_, factor, kind, options_.score, options_.user, options_.alphas);
  std::unique_ptr<Refit<T>> refit;
  if (wants_coefs()) refit = std::make_unique<Refit<T>>(source_, factor, out_.coefs);
  out_.n_nodes = n_alphas();
  out_.passes = 1;
  const std::vector<int64_t> tiles = row_range(0, tile_count(source_.targets()));
  control_.expect(static_cast<int64_t>(tiles.size()));
  for_each_tile<T>(source_, tiles, options_.targets_batch, [&](Tile<T>& tile) {
    std::vector<char> constant;
    FoldMeans means;
    means.add(search.scores(tile, constant));
    mark_constant(tile, constant);
    write_fold_scores(tile, 0, 1, means.mean());
    finish_tile(tile, means, options_.local_alpha ? refit.get() : nullptr);
    control_.advance(1);
  });
  if (options_.local_alpha) return;
  choose_shared();
  if (refit != nullptr) refit_all(*refit);
}

template <class T>
std::vector<typename RidgeCv<T>::Pass> RidgeCv<T>::plan_passes() const {
  std::vector<double> bytes;  // of one node, while it is made
  for (const Fold& fold : source_.folds().folds) {
    const double inner = factors_.form() == Form::primal ? static_cast<double>(factors_.inner())
                                                         : static_cast<double>(fold.train.size());
    bytes.push_back(8 * inner * static_cast<double>(fold.test.size() + 1));
  }
  const double room = kOperatorShare * control_.memory_bytes;
  const int64_t batch = options_.alphas_batch > 0 ? options_.alphas_batch : n_nodes();
  std::vector<Pass> passes(1);
  double used = 0;
  // Nodes first .. last - 1 of a fold, in operators of at most `batch` nodes.
  const auto add = [&](int64_t f, int64_t first, int64_t last) {
    for (; first < last; first += batch) passes.back().push_back({f, first, std::min(batch, last - first)});
  };
  const auto open_pass = [&](double wanted) {
    if (used > 0 && used + wanted > room) {
      passes.emplace_back();
      used = 0;
    }
    used += wanted;
  };
  if (factors_.folds_from_full()) {  // a node's inverse serves all folds: passes by node
    const double per_node = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    const int64_t most = std::clamp<int64_t>(static_cast<int64_t>(room / per_node), 1, n_nodes());
    for (int64_t first = 0; first < n_nodes(); first += most) {
      const int64_t last = std::min(first + most, n_nodes());
      open_pass(per_node * static_cast<double>(last - first));
      for (int64_t f = 0; f < source_.folds().count(); ++f) add(f, first, last);
    }
    return passes;
  }
  for (int64_t f = 0; f < source_.folds().count(); ++f) {  // a fold's factor serves all nodes: passes by fold
    const int64_t most = std::clamp<int64_t>(static_cast<int64_t>(room / bytes[f]), 1, n_nodes());
    for (int64_t first = 0; first < n_nodes(); first += most) {
      const int64_t last = std::min(first + most, n_nodes());
      open_pass(bytes[f] * static_cast<double>(last - first));
      add(f, first, last);
    }
  }
  return passes;
}

template <class T>
std::vector<FoldOperator<T>> RidgeCv<T>::operators_of(const Pass& pass) const {
  std::vector<double> node_alphas;
  for (const int64_t node : nodes_.nodes) node_alphas.push_back(options_.alphas[node]);
  return make_operators(*device_, factors_, pass, options_.score, node_alphas, control_);
}

template <class T>
void RidgeCv<T>::search_tiles(const std::vector<int64_t>& tiles, const std::vector<Pass>& passes,
                              const Refit<T>* refit) {
  const int64_t n_tiles = static_cast<int64_t>(tiles.size());
  int64_t n_plans = 0;
  for (const Pass& pass : passes) n_plans += static_cast<int64_t>(pass.size());
  control_.expect(n_tiles * n_plans);
  if (passes.size() == 1) {
    const std::vector<FoldOperator<T>> operators = operators_of(passes[0]);
    for_each_tile<T>(source_, tiles, options_.targets_batch, [&](Tile<T>& tile) {
      TileScores scores(options_.conservative, source_.folds().count());
      for (const FoldOperator<T>& op : operators) add_operator(op, tile, scores);
      finish_tile(tile, scores.means, scores.nearly_perfect ? nullptr : refit);
    });
    return;
  }
  // Several passes: as many tiles at a time as there is room for their running means.
  const double waiting = 16.0 * static_cast<double>(n_alphas() + n_nodes() * source_.folds().count()) *
                         static_cast<double>(kTileCols);
  int64_t group = std::max<int64_t>(1, static_cast<int64_t>(kWaitingShare * control_.memory_bytes / waiting));
  if (options_.targets_batch > 0) group = std::min(group, (options_.targets_batch + kTileCols - 1) / kTileCols);
  for (int64_t first = 0; first < n_tiles; first += group) {
    const int64_t last = std::min(first + group, n_tiles);
    const std::vector<int64_t> some(tiles.begin() + first, tiles.begin() + last);
    const int64_t n_tiles_all = tile_count(source_.targets());
    std::vector<TileScores> scores(n_tiles_all, TileScores(options_.conservative, source_.folds().count()));
    for (size_t k = 0; k < passes.size(); ++k) {
      const std::vector<FoldOperator<T>> operators = operators_of(passes[k]);
      for_each_tile<T>(source_, some, 0, [&](Tile<T>& tile) {
        TileScores& own = scores[tile.first / kTileCols];
        for (const FoldOperator<T>& op : operators) add_operator(op, tile, own);
        if (k + 1 == passes.size()) finish_tile(tile, own.means, nullptr);
      });
    }
  }
}

template <class T>
void RidgeCv<T>::add_operator(const FoldOperator<T>& op, Tile<T>& tile, TileScores& scores) {
  control_.check_stop();
  HeldOutSums held;
  const arma::mat part = operator_sums(source_, op, options_.score, options_.user, tile, held);
  const int64_t per_node = options_.score == Score::correlation ? 2 : 1;
  arma::mat& sums = scores.sums[op.fold];
  if (sums.is_empty()) sums.set_size(per_node * n_nodes(), tile.cols);
  sums.rows(per_node * op.first_node, per_node * (op.first_node + op.n_nodes) - 1) = part;
  scores.nodes_done[op.fold] += op.n_nodes;
  if (scores.nodes_done[op.fold] == n_nodes()) finish_fold(op.fold, tile, held, scores);
  control_.advance(1);
}

template <class T>
void RidgeCv<T>::finish_fold(int64_t fold, const Tile<T>& tile, const HeldOutSums& held, TileScores& scores) {
  const arma::mat sums = std::move(scores.sums[fold]);
  arma::mat all;
  if (options_.score == Score::user) {
    all = sums;
  } else if (options_.score == Score::correlation) {
    all = scores_from_products(nodes_, options_.alphas, sums, held);
  } else {
    all = scores_from_errors(options_.score, nodes_, sums, held);
    for (int64_t j = 0; j < tile.cols && !nodes_.all(); ++j) {
      const double error = sums.col(j).min() + held.outside[j];
      if (!held.constant[j] && error < kNearlyPerfect * held.null_error[j]) scores.nearly_perfect = true;
    }
  }
  mark_constant(tile, held.constant);
  write_fold_scores(tile, fold, source_.folds().count(), all);
  scores.means.add(all);
  if (scores.nearly_perfect && fold + 1 == source_.folds().count()) {
    const std::lock_guard<std::mutex> guard(redo_lock_);
    redo_.push_back(tile.first / kTileCols);
  }
}

template <class T>
void RidgeCv<T>::mark_constant(const Tile<T>& tile, const std::vector<char>& constant) {
  for (int64_t j = 0; j < tile.cols; ++j) {
    if (constant[j] && !skipped(source_.targets(), tile.first + j)) out_.constant[tile.first + j] = 1;
  }
}

template <class T>
void RidgeCv<T>::write_fold_scores(const Tile<T>& tile, int64_t fold, int64_t n_folds, const arma::mat& scores) {
  if (out_.fold_scores == nullptr) return;
  for (int64_t j = 0; j < tile.cols; ++j) {
    double* to = out_.fold_scores + fold + (tile.first + j) * n_alphas() * n_folds;
    const bool skip = skipped(source_.targets(), tile.first + j);
    for (int64_t a = 0; a < n_alphas(); ++a) {
      to[a * n_folds] = skip ? std::numeric_limits<double>::quiet_NaN() : scores(a, j);
    }
  }
}

template <class T>
void RidgeCv<T>::finish_tile(Tile<T>& tile, const FoldMeans& means, const Refit<T>* refit) {
  arma::vec& total = tile_totals_[tile.first / kTileCols];
  total.zeros(n_alphas());
  for (int64_t j = 0; j < tile.cols; ++j) {
    const int64_t target = tile.first + j;
    const bool skip = skipped(source_.targets(), target);
    if (out_.mean_scores != nullptr) {
      double* to = out_.mean_scores + target * n_alphas();
      std::copy_n(means.mean().colptr(j), n_alphas(), to);
      if (skip) std::fill_n(to, n_alphas(), std::numeric_limits<double>::quiet_NaN());
    }
    out_.alpha_index[target] = -1;
    if (skip) continue;
    total += means.mean().col(j);
    const int64_t chosen = options_.conservative ? conservative_alpha(means, j, options_.alphas)
                                                 : best_alpha(means.mean().colptr(j), options_.alphas);
    if (chosen < 0) {
      throw Error(ErrorCode::invalid_argument,
                  "the score function gave no finite score for target " + std::to_string(target + 1));
    }
    out_.alpha_index[target] = static_cast<int>(chosen);
  }
  if (refit != nullptr) refit->run(tile, chosen_alphas(tile));
}

template <class T>
std::vector<double> RidgeCv<T>::chosen_alphas(const Tile<T>& tile) const {
  std::vector<double> alphas(tile.cols, options_.alphas[0]);
  for (int64_t j = 0; j < tile.cols; ++j) {
    const int index = out_.alpha_index[tile.first + j];
    if (index >= 0) alphas[j] = options_.alphas[index];
  }
  return alphas;
}

// One alpha for all targets: tiles are added in their order, so the sum does not depend on which thread was first.
template <class T>
void RidgeCv<T>::choose_shared() {
  arma::vec total(n_alphas(), arma::fill::zeros);
  for (const arma::vec& part : tile_totals_) total += part;
  const int64_t chosen = best_alpha(total.memptr(), options_.alphas);
  for (int64_t target = 0; target < source_.targets().y.cols; ++target) {
    if (out_.alpha_index[target] >= 0) out_.alpha_index[target] = static_cast<int>(chosen);
  }
}

template <class T>
void RidgeCv<T>::refit_all(const Refit<T>& refit) {
  const std::vector<int64_t> tiles = row_range(0, tile_count(source_.targets()));
  control_.expect(static_cast<int64_t>(tiles.size()));
  const int64_t batch = options_.targets_batch_refit > 0 ? options_.targets_batch_refit : options_.targets_batch;
  for_each_tile<T>(source_, tiles, batch, [&](Tile<T>& tile) {
    refit.run(tile, chosen_alphas(tile));
    control_.advance(1);
  });
}

}  // namespace

template <class T>
void ridge_cv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options,
              RidgeCvOutputs& out, const Control& control) {
  if (std::is_same_v<T, float>) preparation.cache_single(control);
  RidgeCv<T>(preparation, targets, options, out, control).run();
  preparation.finish();
}

template void ridge_cv<float>(RidgePreparation&, const Targets&, const RidgeCvOptions&, RidgeCvOutputs&,
                              const Control&);
template void ridge_cv<double>(RidgePreparation&, const Targets&, const RidgeCvOptions&, RidgeCvOutputs&,
                               const Control&);

}  // namespace voxridge
