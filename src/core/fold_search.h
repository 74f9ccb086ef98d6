// Cross-validated scores of many targets under one model or several: tiles outermost, then folds, then models.
//
// A model is a set of factors (of X, or of X with its bands weighted) and the penalties to try with it. Where the
// operators of a model fit the memory at hand, they are made once and any number of such models is scored in one pass
// over the targets, so Y (and X'Y) is read once for all of them. Operators of a model that do not fit are made in
// several passes over the tiles, fold by fold and node by node, and running means wait in memory between passes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "choice.h"
#include "passes.h"
#include "search.h"

namespace voxridge {

template <class T>
struct SearchModel {
  std::vector<double> alphas;
  AlphaNodes nodes;
  std::function<std::shared_ptr<Factors>()> factors;  // makes them again where they are not kept
  std::vector<FoldOperator<T>> operators;             // all of them, or none: then they are made in passes
  double bytes = 0;                                   // of the operators
};

// What a search leaves on a device for a later one of the same features and folds.
template <class T>
struct KeptSearch {
  Score score = Score::r2;
  HeldOutBases<T> bases;  // empty: none were made yet
  SearchModel<T> model;   // without operators: none is kept
  int64_t alphas_batch = 0;
  std::shared_ptr<const Factors> factors;  // that the operators were made of
};

struct FoldSearchOptions {
  Score score = Score::r2;
  UserScore user;
  bool with_spread = false;   // standard deviations over folds are wanted
  int64_t targets_batch = 0;  // 0: as many as the memory allows
  int64_t alphas_batch = 0;
};

template <class T>
class FoldSearch {
 public:
  // Where scores go: those of a fold (alphas x columns; `constant` per column), and the means over folds, once for each
  // tile and model, models of a tile in their order.
  using OnFold = std::function<void(size_t model, int64_t fold, const Tile<T>&, const arma::mat& scores,
                                    const std::vector<char>& constant)>;
  using OnTile = std::function<void(size_t model, Tile<T>&, const FoldMeans&)>;

  // `bases`: those of an earlier search with this score, or none.
  FoldSearch(const TileSource<T>& source, const FoldSearchOptions& options, const Control& control,
             HeldOutBases<T> bases = {});

  const HeldOutBases<T>& bases() const { return bases_; }

  // Makes the factors, and the operators too if those of all folds and nodes take no more than `room` bytes; what needs
  // the factors alone may be released afterwards. Several models may be made at a time.
  SearchModel<T> make_model(std::vector<double> alphas, std::function<std::shared_ptr<Factors>()> factors, double room,
                            const Control& control) const;

  // Either every model has its operators, or there is a single one.
  void run(const std::vector<SearchModel<T>>& models, const std::vector<int64_t>& tiles, const OnFold& on_fold,
           const OnTile& on_tile);

  // How often the tiles have been read.
  int64_t passes() const { return passes_; }

 private:
  struct TileScores;

  std::vector<FoldOperator<T>> make(const SearchModel<T>& model, Factors& factors, const OperatorPass& pass,
                                    const Control& control) const;
  void run_together(const std::vector<SearchModel<T>>& models, const std::vector<int64_t>& tiles);
  int64_t run_in_passes(const SearchModel<T>& model, size_t index, const std::vector<int64_t>& tiles);
  void redo_tiles(const std::vector<SearchModel<T>>& models);
  void add_operator(const SearchModel<T>& model, size_t index, const FoldOperator<T>& op, const FoldTile<T>& fold,
                    Tile<T>& tile, TileScores& scores) const;
  void finish_fold(const SearchModel<T>& model, size_t index, int64_t fold, const Tile<T>& tile,
                   const HeldOutSums& held, TileScores& scores) const;

  const TileSource<T>& source_;
  const FoldSearchOptions& options_;
  const Control& control_;
  const HeldOutBases<T> bases_;
  const OnFold* on_fold_ = nullptr;
  const OnTile* on_tile_ = nullptr;
  std::vector<int64_t> redo_;  // tiles with nearly perfect predictions
  std::mutex redo_lock_;
  int64_t passes_ = 0;
};

}  // namespace voxridge
