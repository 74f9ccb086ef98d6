// Held-out scores of every penalty, fold and target, without ever holding a prediction longer than a tile.
//
// For one fold the predictions at alpha are M_alpha times the training side (Y in dual form, X'Y in primal form), with
// M_alpha = left diag(1 / (lambda + alpha)) V' of the fold's factor, or, in dual form with folds that partition the
// samples, from the factor of all rows with the fold left out (leave_out.h). The M_alpha of several nodes are stacked,
// so a fold costs a few products: 2 rows m t operations per node. In primal form a fold with more held-out rows than
// features is first turned by an orthogonal basis of its held-out rows, after which p rows carry all of the error that
// depends on alpha.
#pragma once

#include <algorithm>
#include <vector>

#include "score.h"
#include "tiles.h"

namespace voxridge {

// An orthonormal basis of a fold's held-out rows, and what stands for these rows once they are turned by it.
template <class T>
struct HeldOutBasis {
  arma::mat rows;  // basis'X_v, X_v less the training means; for the correlation of the centred rows, with sqrt(rows)
                   // times their mean as one more row
  Buffer<T> memory;
  MatrixSpan<T> basis;  // held-out rows x features
};

// One per fold, null where the held-out rows are not turned. They serve any factors of the same features.
template <class T>
using HeldOutBases = std::vector<std::shared_ptr<const HeldOutBasis<T>>>;

template <class T>
HeldOutBases<T> make_bases(Device<T>& device, const Features& features, const Folds& folds, Form form, Score score,
                           const Control& control);

template <class T>
struct FoldOperator {
  int64_t fold = 0;
  int64_t first_node = 0, n_nodes = 0;
  Buffer<T> memory;
  std::shared_ptr<const FoldFactor> factor;  // behind `samples` where the device uses it in place
  Buffer<T> samples_memory;
  MatrixView<T> samples;  // as in Factor, or empty
  std::shared_ptr<const HeldOutBasis<T>> basis;
  MatrixSpan<T> stacked;           // (n_nodes * block_rows) x inner
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

// Operators of several folds and nodes, made side by side on all threads. `bases`: empty, or one per fold.
template <class T>
std::vector<FoldOperator<T>> make_operators(Device<T>& device, Factors& factors, const std::vector<OperatorPlan>& plans,
                                            Score score, const std::vector<double>& node_alphas,
                                            const HeldOutBases<T>& bases, const Control& control);

// What a fold's operators meet in a tile: the training side, and the held-out targets in the form the score needs. They
// lie in the tile's buffers until the next fold's are made.
template <class T>
struct FoldTile {
  MatrixView<T> side, target;
  HeldOut<T> out;
  HeldOutSums held;
};

template <class T>
FoldTile<T> make_fold_tile(const TileSource<T>& source, const FoldOperator<T>& op, Score score, Tile<T>& tile);

// Do two operators of one fold, made of differently weighted features, meet the same?
template <class T>
bool same_fold_tile(const FoldOperator<T>& a, const FoldOperator<T>& b) {
  return a.fold == b.fold && a.samples.data == nullptr && b.samples.data == nullptr && a.direct == b.direct;
}

// What one tile adds at the operator's nodes: squared errors (n_nodes x cols), for the correlation pairs of products
// (2 n_nodes x cols), for a score of the caller's the scores themselves.
template <class T>
arma::mat operator_sums(const TileSource<T>& source, const FoldOperator<T>& op, Score score, const UserScore& user,
                        const FoldTile<T>& fold, Tile<T>& tile);

}  // namespace voxridge
