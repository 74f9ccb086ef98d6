#include "fold_search.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "budget.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kNearlyPerfect = 1e-6;  // share of the null error below which interpolated errors lose their order

template <class T>
double node_tolerance(Score score) {
  if (std::is_same_v<T, float>) return 1e-6;
  return score == Score::correlation ? 1e-9 : 1e-11;
}

}  // namespace

// Scores of one tile under one model on their way through the folds.
template <class T>
struct FoldSearch<T>::TileScores {
  TileScores(bool with_spread, int64_t n_folds) : means(with_spread), sums(n_folds), nodes_done(n_folds, 0) {}
  FoldMeans means;
  std::vector<arma::mat> sums;  // at the nodes, of each fold that is begun and not finished
  std::vector<int64_t> nodes_done;
  bool nearly_perfect = false;
};

template <class T>
FoldSearch<T>::FoldSearch(const TileSource<T>& source, const FoldSearchOptions& options, const Control& control,
                          HeldOutBases<T> bases)
    : source_(source),
      options_(options),
      control_(control),
      bases_(bases.empty() ? make_bases(source.device(), source.features(), source.folds(), source.form(),
                                        options.score, control)
                           : std::move(bases)) {}

template <class T>
SearchModel<T> FoldSearch<T>::make_model(std::vector<double> alphas, std::function<std::shared_ptr<Factors>()> factors,
                                         double room, const Control& control) const {
  SearchModel<T> model;
  model.alphas = std::move(alphas);
  model.factors = std::move(factors);
  const std::shared_ptr<Factors> made = model.factors();
  const bool from_full = leaves_folds_out(*made, options_.score);
  made->keep(from_full, !from_full && made->bytes_of_folds() <= kFactorShare * control.memory_bytes, control);
  const Factors::Range range = made->eigenvalue_range(from_full);
  model.nodes = options_.score == Score::user
                    ? all_nodes(model.alphas)
                    : choose_nodes(model.alphas, range.smallest, range.largest, node_tolerance<T>(options_.score),
                                   options_.score == Score::correlation);
  const int64_t n_nodes = static_cast<int64_t>(model.nodes.nodes.size());
  const auto passes = plan_passes(*made, source_.folds(), options_.score, n_nodes, options_.alphas_batch, room);
  if (passes.size() > 1) return model;
  model.operators = make(model, *made, passes[0], control);
  for (const FoldOperator<T>& op : model.operators) {
    model.bytes += static_cast<double>(sizeof(T)) * static_cast<double>(op.stacked.rows * op.stacked.cols);
  }
  return model;
}

template <class T>
std::vector<FoldOperator<T>> FoldSearch<T>::make(const SearchModel<T>& model, Factors& factors,
                                                 const OperatorPass& pass, const Control& control) const {
  std::vector<double> node_alphas;
  for (const int64_t node : model.nodes.nodes) node_alphas.push_back(model.alphas[node]);
  return make_operators(source_.device(), factors, pass, options_.score, node_alphas, bases_, control);
}

template <class T>
void FoldSearch<T>::run(const std::vector<SearchModel<T>>& models, const std::vector<int64_t>& tiles,
                        const OnFold& on_fold, const OnTile& on_tile) {
  on_fold_ = &on_fold;
  on_tile_ = &on_tile;
  redo_.clear();
  if (models.size() == 1 && models[0].operators.empty()) {
    passes_ += run_in_passes(models[0], 0, tiles);
  } else {
    run_together(models, tiles);
    ++passes_;
  }
  if (!redo_.empty()) redo_tiles(models);
}

template <class T>
void FoldSearch<T>::run_together(const std::vector<SearchModel<T>>& models, const std::vector<int64_t>& tiles) {
  const int64_t n_folds = source_.folds().count();
  struct Step {
    size_t model;
    const FoldOperator<T>* op;
  };
  std::vector<std::vector<Step>> steps(n_folds);
  for (size_t m = 0; m < models.size(); ++m) {
    for (const FoldOperator<T>& op : models[m].operators) steps[op.fold].push_back({m, &op});
    control_.expect(static_cast<int64_t>(tiles.size() * models[m].operators.size()));
  }
  for_each_tile<T>(source_, tiles, options_.targets_batch, [&](Tile<T>& tile) {
    std::vector<TileScores> scores(models.size(), TileScores(options_.with_spread, n_folds));
    for (const std::vector<Step>& of_fold : steps) {
      FoldTile<T> fold;
      const FoldOperator<T>* made_for = nullptr;
      for (const Step& step : of_fold) {
        if (made_for == nullptr || !same_fold_tile(*made_for, *step.op)) {
          fold = make_fold_tile(source_, *step.op, options_.score, tile);
          made_for = step.op;
        }
        add_operator(models[step.model], step.model, *step.op, fold, tile, scores[step.model]);
      }
    }
    const auto nearly_perfect = [](const TileScores& one) { return one.nearly_perfect; };
    if (std::any_of(scores.begin(), scores.end(), nearly_perfect)) {
      const std::lock_guard<std::mutex> guard(redo_lock_);
      redo_.push_back(tile.first / kTileCols);
      return;
    }
    for (size_t m = 0; m < models.size(); ++m) (*on_tile_)(m, tile, scores[m].means);
  });
}

// As many tiles at a time as there is room for their running means. Returns the number of passes.
template <class T>
int64_t FoldSearch<T>::run_in_passes(const SearchModel<T>& model, size_t index, const std::vector<int64_t>& tiles) {
  const std::shared_ptr<Factors> factors = model.factors();
  const int64_t n_nodes = static_cast<int64_t>(model.nodes.nodes.size()), n_folds = source_.folds().count();
  const std::vector<OperatorPass> passes = plan_passes(*factors, source_.folds(), options_.score, n_nodes,
                                                       options_.alphas_batch, kOperatorShare * control_.memory_bytes);
  for (const OperatorPass& pass : passes) control_.expect(static_cast<int64_t>(tiles.size() * pass.size()));

  const int64_t n_tiles = static_cast<int64_t>(tiles.size()), n_alphas = static_cast<int64_t>(model.alphas.size());
  const double waiting = 16.0 * static_cast<double>((n_alphas + n_nodes * n_folds) * kTileCols);
  int64_t group = fitting(kWaitingShare * control_.memory_bytes, waiting, 1, n_tiles);
  if (options_.targets_batch > 0) group = std::min(group, (options_.targets_batch + kTileCols - 1) / kTileCols);
  for (int64_t first = 0; first < n_tiles; first += group) {
    const std::vector<int64_t> some(tiles.begin() + first, tiles.begin() + std::min(first + group, n_tiles));
    std::map<int64_t, TileScores> scores;
    for (const int64_t tile : some) scores.emplace(tile, TileScores(options_.with_spread, n_folds));
    for (size_t k = 0; k < passes.size(); ++k) {
      const std::vector<FoldOperator<T>> operators = make(model, *factors, passes[k], control_);
      for_each_tile<T>(source_, some, 0, [&](Tile<T>& tile) {
        TileScores& own = scores.at(tile.first / kTileCols);
        for (const FoldOperator<T>& op : operators) {
          add_operator(model, index, op, make_fold_tile(source_, op, options_.score, tile), tile, own);
        }
        if (k + 1 < passes.size()) return;
        if (!own.nearly_perfect) return (*on_tile_)(index, tile, own.means);
        const std::lock_guard<std::mutex> guard(redo_lock_);
        redo_.push_back(tile.first / kTileCols);
      });
    }
  }
  return static_cast<int64_t>(passes.size());
}

// Once more with every penalty a node: nothing is interpolated.
template <class T>
void FoldSearch<T>::redo_tiles(const std::vector<SearchModel<T>>& models) {
  const std::vector<int64_t> tiles = [&] {
    std::sort(redo_.begin(), redo_.end());
    return std::move(redo_);
  }();
  for (size_t m = 0; m < models.size(); ++m) {
    SearchModel<T> exact;
    exact.alphas = models[m].alphas;
    exact.factors = models[m].factors;
    exact.nodes = all_nodes(exact.alphas);
    run_in_passes(exact, m, tiles);
  }
}

template <class T>
void FoldSearch<T>::add_operator(const SearchModel<T>& model, size_t index, const FoldOperator<T>& op,
                                 const FoldTile<T>& fold, Tile<T>& tile, TileScores& scores) const {
  control_.check_stop();
  const arma::mat part = operator_sums(source_, op, options_.score, options_.user, fold, tile);
  const int64_t per_node = options_.score == Score::correlation ? 2 : 1;
  const int64_t n_nodes = static_cast<int64_t>(model.nodes.nodes.size());
  arma::mat& sums = scores.sums[op.fold];
  if (sums.is_empty()) sums.set_size(per_node * n_nodes, tile.cols);
  sums.rows(per_node * op.first_node, per_node * (op.first_node + op.n_nodes) - 1) = part;
  scores.nodes_done[op.fold] += op.n_nodes;
  if (scores.nodes_done[op.fold] == n_nodes) finish_fold(model, index, op.fold, tile, fold.held, scores);
  control_.advance(1);
}

template <class T>
void FoldSearch<T>::finish_fold(const SearchModel<T>& model, size_t index, int64_t fold, const Tile<T>& tile,
                                const HeldOutSums& held, TileScores& scores) const {
  const arma::mat sums = std::move(scores.sums[fold]);
  arma::mat all;
  if (options_.score == Score::user) {
    all = sums;
  } else if (options_.score == Score::correlation) {
    all = scores_from_products(model.nodes, model.alphas, sums, held);
  } else {
    all = scores_from_errors(options_.score, model.nodes, sums, held);
    for (int64_t j = 0; j < tile.cols && !model.nodes.all(); ++j) {
      const double error = sums.col(j).min() + held.outside[j];
      if (!held.constant[j] && error < kNearlyPerfect * held.null_error[j]) scores.nearly_perfect = true;
    }
  }
  (*on_fold_)(index, fold, tile, all, held.constant);
  scores.means.add(all);
}

template class FoldSearch<float>;
template class FoldSearch<double>;

}  // namespace voxridge
