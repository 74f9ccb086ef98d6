// ridge_cv(): order of the work.
//
// All operators of all folds fit the budget (the usual case, one pass): tiles outermost, folds inside, and a tile goes
// from its scores to its coefficients while it is at hand, so Y is read once. Otherwise operators are made in several
// passes over the tiles, fold by fold and node by node, and running means wait in memory between passes.
#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "cv_results.h"
#include "passes.h"
#include "ridge.h"
#include "search.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kFactorShare = 0.4;  // of the memory budget
constexpr double kOperatorShare = 0.3;
constexpr double kWaitingShare = 0.2;    // running means between passes
constexpr double kNearlyPerfect = 1e-6;  // share of the null error below which interpolated errors lose their order

template <class T>
double node_tolerance(Score score) {
  if (std::is_same_v<T, float>) return 1e-6;
  return score == Score::correlation ? 1e-9 : 1e-11;
}

// Scores of one tile on their way through the folds.
struct TileScores {
  TileScores(bool with_spread, int64_t n_folds) : means(with_spread), sums(n_folds), nodes_done(n_folds, 0) {}
  FoldMeans means;
  std::vector<arma::mat> sums;  // at the nodes, of each fold that is begun and not finished
  std::vector<int64_t> nodes_done;
  bool nearly_perfect = false;
};

template <class T>
class RidgeCv {
 public:
  RidgeCv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out,
          const Control& control)
      : options_(options),
        out_(out),
        control_(control),
        device_(cpu_device<T>()),
        held_factors_(preparation.factors(*std::min_element(options.alphas.begin(), options.alphas.end()), control)),
        factors_(*held_factors_),
        source_(*device_, preparation.features(), preparation.folds(), targets, factors_.form(), control),
        results_(targets, options, out) {
    const bool multiplies_features = factors_.form() == Form::primal || out.coefs.kind == Coefs::primal;
    if (std::is_same_v<T, float> && multiplies_features) preparation.cache_single(control);
  }

  void run();

 private:
  bool wants_coefs() const { return out_.coefs.kind != Coefs::none; }
  int64_t n_alphas() const { return static_cast<int64_t>(options_.alphas.size()); }
  std::vector<int64_t> all_tiles() const { return row_range(0, tile_count(source_.targets())); }
  int64_t n_nodes() const { return static_cast<int64_t>(nodes_.nodes.size()); }

  void search_folds();
  void search_closed_form();
  void search_tiles(const std::vector<int64_t>& tiles, const Refit<T>* refit);
  void search_in_passes(const std::vector<int64_t>& tiles, const std::vector<OperatorPass>& passes);
  std::vector<FoldOperator<T>> operators_of(const OperatorPass& pass) const;
  void add_operator(const FoldOperator<T>& op, Tile<T>& tile, TileScores& scores);
  void finish_fold(int64_t fold, const Tile<T>& tile, const HeldOutSums& held, TileScores& scores);
  void finish_tile(Tile<T>& tile, const FoldMeans& means, const Refit<T>* refit);
  void refit_tiles(const std::vector<int64_t>& tiles, const Refit<T>& refit);

  const RidgeCvOptions& options_;
  RidgeCvOutputs& out_;
  const Control& control_;
  std::unique_ptr<Device<T>> device_;
  const std::shared_ptr<Factors> held_factors_;
  Factors& factors_;
  TileSource<T> source_;
  AlphaNodes nodes_;
  CvResults results_;
  std::vector<int64_t> redo_;  // tiles with nearly perfect predictions
  std::mutex redo_lock_;
};

template <class T>
void RidgeCv<T>::run() {
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
  const bool from_full = leaves_folds_out(factors_, options_.score);
  const bool keep_folds = !from_full && factors_.bytes_of_folds() <= kFactorShare * control_.memory_bytes;
  factors_.keep(from_full || wants_coefs(), keep_folds, control_);
  const Factors::Range range = factors_.eigenvalue_range(from_full);
  nodes_ = options_.score == Score::user
               ? all_nodes(options_.alphas)
               : choose_nodes(options_.alphas, range.smallest, range.largest, node_tolerance<T>(options_.score),
                              options_.score == Score::correlation);
  out_.n_nodes = n_nodes();

  std::unique_ptr<Refit<T>> refit;
  if (wants_coefs()) refit = std::make_unique<Refit<T>>(source_, factors_.full(control_), out_.coefs);
  const Refit<T>* refit_now = options_.local_alpha ? refit.get() : nullptr;
  search_tiles(all_tiles(), refit_now);
  if (!redo_.empty()) {
    std::sort(redo_.begin(), redo_.end());
    nodes_ = all_nodes(options_.alphas);
    search_tiles(redo_, refit_now);
  }
  if (!options_.local_alpha) results_.choose_shared();
  if (!options_.local_alpha && refit != nullptr) refit_tiles(all_tiles(), *refit);
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
  control_.expect(static_cast<int64_t>(all_tiles().size()));
  for_each_tile<T>(source_, all_tiles(), options_.targets_batch, [&](Tile<T>& tile) {
    std::vector<char> constant;
    FoldMeans means;
    means.add(search.scores(tile, constant));
    results_.add_fold({tile.first, tile.cols}, 0, 1, means.mean(), constant);
    finish_tile(tile, means, options_.local_alpha ? refit.get() : nullptr);
    control_.advance(1);
  });
  if (options_.local_alpha) return;
  results_.choose_shared();
  if (refit != nullptr) refit_tiles(all_tiles(), *refit);
}

template <class T>
std::vector<FoldOperator<T>> RidgeCv<T>::operators_of(const OperatorPass& pass) const {
  std::vector<double> node_alphas;
  for (const int64_t node : nodes_.nodes) node_alphas.push_back(options_.alphas[node]);
  return make_operators(*device_, factors_, pass, options_.score, node_alphas, control_);
}

// Scores and choices of some tiles, and their coefficients if `refit` is given.
template <class T>
void RidgeCv<T>::search_tiles(const std::vector<int64_t>& tiles, const Refit<T>* refit) {
  const std::vector<OperatorPass> passes = plan_passes(factors_, source_.folds(), options_.score, n_nodes(),
                                                       options_.alphas_batch, kOperatorShare * control_.memory_bytes);
  out_.passes = std::max(out_.passes, static_cast<int64_t>(passes.size()));
  for (const OperatorPass& pass : passes) control_.expect(static_cast<int64_t>(tiles.size() * pass.size()));
  if (passes.size() > 1) {
    search_in_passes(tiles, passes);
    if (refit != nullptr) refit_tiles(tiles, *refit);
    return;
  }
  const std::vector<FoldOperator<T>> operators = operators_of(passes[0]);
  for_each_tile<T>(source_, tiles, options_.targets_batch, [&](Tile<T>& tile) {
    TileScores scores(options_.conservative, source_.folds().count());
    for (const FoldOperator<T>& op : operators) add_operator(op, tile, scores);
    finish_tile(tile, scores.means, scores.nearly_perfect ? nullptr : refit);
  });
}

// As many tiles at a time as there is room for their running means.
template <class T>
void RidgeCv<T>::search_in_passes(const std::vector<int64_t>& tiles, const std::vector<OperatorPass>& passes) {
  const int64_t n_tiles = static_cast<int64_t>(tiles.size()), n_folds = source_.folds().count();
  const double waiting = 16.0 * static_cast<double>((n_alphas() + n_nodes() * n_folds) * kTileCols);
  int64_t group = fitting(kWaitingShare * control_.memory_bytes, waiting, 1, n_tiles);
  if (options_.targets_batch > 0) group = std::min(group, (options_.targets_batch + kTileCols - 1) / kTileCols);
  for (int64_t first = 0; first < n_tiles; first += group) {
    const std::vector<int64_t> some(tiles.begin() + first, tiles.begin() + std::min(first + group, n_tiles));
    std::map<int64_t, TileScores> scores;
    for (const int64_t tile : some) scores.emplace(tile, TileScores(options_.conservative, n_folds));
    for (size_t k = 0; k < passes.size(); ++k) {
      const std::vector<FoldOperator<T>> operators = operators_of(passes[k]);
      for_each_tile<T>(source_, some, 0, [&](Tile<T>& tile) {
        TileScores& own = scores.at(tile.first / kTileCols);
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
  results_.add_fold({tile.first, tile.cols}, fold, source_.folds().count(), all, held.constant);
  scores.means.add(all);
  if (scores.nearly_perfect && fold + 1 == source_.folds().count()) {
    const std::lock_guard<std::mutex> guard(redo_lock_);
    redo_.push_back(tile.first / kTileCols);
  }
}

template <class T>
void RidgeCv<T>::finish_tile(Tile<T>& tile, const FoldMeans& means, const Refit<T>* refit) {
  results_.choose({tile.first, tile.cols}, means);
  if (refit != nullptr) refit->run(tile, results_.chosen_alphas({tile.first, tile.cols}));
}

template <class T>
void RidgeCv<T>::refit_tiles(const std::vector<int64_t>& tiles, const Refit<T>& refit) {
  control_.expect(static_cast<int64_t>(tiles.size()));
  const int64_t batch = options_.targets_batch_refit > 0 ? options_.targets_batch_refit : options_.targets_batch;
  for_each_tile<T>(source_, tiles, batch, [&](Tile<T>& tile) {
    refit.run(tile, results_.chosen_alphas({tile.first, tile.cols}));
    control_.advance(1);
  });
}

}  // namespace

template <class T>
void ridge_cv(RidgePreparation& preparation, const Targets& targets, const RidgeCvOptions& options, RidgeCvOutputs& out,
              const Control& control) {
  RidgeCv<T>(preparation, targets, options, out, control).run();
  preparation.finish();
}

template void ridge_cv<float>(RidgePreparation&, const Targets&, const RidgeCvOptions&, RidgeCvOutputs&,
                              const Control&);
template void ridge_cv<double>(RidgePreparation&, const Targets&, const RidgeCvOptions&, RidgeCvOutputs&,
                               const Control&);

}  // namespace voxridge
