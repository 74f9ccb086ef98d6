// Held-out scores of every penalty, fold and target, without ever holding a prediction longer than a tile.
//
// For one fold the predictions at alpha are M_alpha times the training side (Y in dual form, X'Y in primal form), with
// M_alpha = left diag(1 / (lambda + alpha)) V' of the fold's factor, or, in dual form with folds that partition the
// samples, from the factor of all rows with the fold left out (Factors::leave_out_operator). The M_alpha of several
// nodes are stacked, so a fold costs a few products: 2 rows m t operations per node. In primal form a fold with more
// held-out rows than features is first turned by an orthogonal basis of its held-out rows, after which p rows carry all
// of the error that depends on alpha.
#pragma once

#include <algorithm>
#include <vector>

#include "score.h"
#include "tiles.h"

namespace voxridge {

template <class T>
struct FoldOperator {
  int64_t fold = 0;
  int64_t first_node = 0, n_nodes = 0;
  Buffer<T> memory, basis_memory;
  std::shared_ptr<const FoldFactor> factor;  // behind `samples` where the device uses it in place
  Buffer<T> samples_memory;
  MatrixView<T> samples;           // as in Factor, or empty
  MatrixSpan<T> stacked;           // (n_nodes * block_rows) x inner
  MatrixSpan<T> basis;             // held-out rows x rows, or empty
  int64_t block_rows = 0;          // of a node's predictions (correlation: one more, the mean)
  std::vector<double> train_mean;  // as in FoldFactor
  bool direct = false;
};

// Which nodes of which folds are held in memory together.
struct OperatorPlan {
  int64_t fold, first_node, n_nodes;
};

// How many nodes one product stacks, from a fixed place in the grid: enough rows to run at full speed, few enough to
// stay in cache, and always the same ones whatever the batches, so that batches change no bit.
inline int64_t nodes_per_product(int64_t held_out_rows, int64_t inner) {
  constexpr int64_t stacked_rows = 2048;
  return std::max<int64_t>(1, stacked_rows / std::max<int64_t>(1, std::min(held_out_rows, inner)));
}

// Are operators made by leaving folds out of the factor of all rows? Predictions are then right beside the targets. The
// correlation needs them right beside themselves, however small a large penalty makes them: from the folds' own
// factors.
inline bool leaves_folds_out(const Factors& factors, Score score) {
  return factors.folds_from_full() && score != Score::correlation;
}

// Operators of several folds and nodes, made side by side on all threads.
template <class T>
std::vector<FoldOperator<T>> make_operators(Device<T>& device, Factors& factors, const std::vector<OperatorPlan>& plans,
                                            Score score, const std::vector<double>& node_alphas,
                                            const Control& control);

// What one tile adds at the operator's nodes: squared errors (n_nodes x cols), for the correlation pairs of products
// (2 n_nodes x cols), for a score of the caller's the scores themselves. `held` describes the held-out targets.
template <class T>
arma::mat operator_sums(const TileSource<T>& source, const FoldOperator<T>& op, Score score, const UserScore& user,
                        Tile<T>& tile, HeldOutSums& held);

}  // namespace voxridge
