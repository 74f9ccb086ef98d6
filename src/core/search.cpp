#include "search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "arma_view.h"
#include "gpu_algebra.h"
#include "gram.h"
#include "leave_out.h"
#include "threads.h"

namespace voxridge {

namespace {

// Rotating the held-out rows pays once they clearly outnumber the features.
constexpr double kRotateAbove = 1.25;

// For the correlation predictions are centred, and sqrt(rows) times their mean becomes one more row.
void split_mean(arma::mat& rows) {
  const double n = static_cast<double>(rows.n_rows);
  arma::rowvec mean(rows.n_cols);
  for (arma::uword j = 0; j < rows.n_cols; ++j)
    mean[j] = column_mean(rows.colptr(j), static_cast<int64_t>(rows.n_rows));
  rows.each_row() -= mean;
  rows.insert_rows(rows.n_rows, arma::rowvec(std::sqrt(n) * mean));
}

// The held-out side of a fold's own factor, turned to what the score needs.
struct FoldSide {
  std::shared_ptr<const FoldFactor> factor;
  arma::mat left;
};

arma::mat operator_at(const FoldSide& side, double alpha, const Control& control) {
  arma::mat scaled = side.left;
  for (arma::uword i = 0; i < scaled.n_cols; ++i) scaled.col(i) *= inverse(side.factor->values[i], alpha);
  return side.factor->samples.is_empty() ? product(scaled, Trans::yes, side.factor->vectors, control) : scaled;
}

}  // namespace

template <class T>
HeldOutBases<T> make_bases(Device<T>& device, const Features& features, const Folds& folds, Form form, Score score,
                           const Control& control) {
  HeldOutBases<T> bases(folds.count());
  const double p = static_cast<double>(features.cols());
  if (form == Form::dual || score == Score::user) return bases;
  for_each_job(folds.count(), control, [&](int64_t f, const Control&) {
    const Fold& fold = folds.folds[f];
    if (static_cast<double>(fold.test.size()) <= kRotateAbove * p) return;
    control.check_stop();
    std::vector<double> scratch;
    const std::vector<double> mean = training_means(features, fold.train);
    arma::mat rows = copy_of(features.gather(fold.test, 0, features.cols(), mean.data(), scratch)), last, basis;
    if (score == Score::correlation) {
      split_mean(rows);
      last = rows.row(rows.n_rows - 1);
      rows.shed_row(rows.n_rows - 1);
    }
    const auto made = std::make_shared<HeldOutBasis<T>>();
    if (!arma::qr_econ(basis, made->rows, rows)) {
      throw Error(ErrorCode::numerical, "a QR decomposition did not converge");
    }
    made->rows = arma::join_cols(made->rows, last);
    made->basis = device.reserve(made->memory, basis.n_rows, basis.n_cols);
    device.upload(view_of(basis), made->basis);
    bases[f] = made;
  });
  return bases;
}

namespace {

// Makes the operators of some plans, a node or a fold's node at a time on all threads.
template <class T>
class OperatorMaker {
 public:
  OperatorMaker(Device<T>& device, Factors& factors, const std::vector<OperatorPlan>& plans, Score score,
                const std::vector<double>& node_alphas, const HeldOutBases<T>& bases, const Control& control)
      : device_(device),
        factors_(factors),
        plans_(plans),
        score_(score),
        alphas_(node_alphas),
        bases_(bases),
        control_(control),
        operators_(plans.size()) {
    for (size_t i = 0; i < plans.size(); ++i) {
      operators_[i].fold = plans[i].fold;
      operators_[i].first_node = plans[i].first_node;
      operators_[i].n_nodes = plans[i].n_nodes;
    }
  }

  std::vector<FoldOperator<T>> run() {
    leaves_folds_out(factors_, score_) ? from_full() : from_folds();
    return std::move(operators_);
  }

 private:
  // By leaving the folds out of the inverse of all rows: one inverse per node.
  void from_full() {
    const std::shared_ptr<const Factor> full = factors_.full(control_);
    std::map<int64_t, std::vector<size_t>> plans_of;  // node -> plans
    for (size_t i = 0; i < plans_.size(); ++i) {
      for (int64_t k = 0; k < plans_[i].n_nodes; ++k) plans_of[plans_[i].first_node + k].push_back(i);
    }
    const std::vector<std::pair<int64_t, std::vector<size_t>>> jobs(plans_of.begin(), plans_of.end());
    const BlasThreads blas(1);
    parallel_for(static_cast<int64_t>(jobs.size()), control_.n_threads, [&](int64_t k, int) {
      const int64_t node = jobs[k].first;
      const arma::mat g = inverse_gram(*full, alphas_[node], control_);
      for (const size_t i : jobs[k].second) {
        control_.check_stop();
        store(i, node - plans_[i].first_node, leave_out_operator(g, factors_.folds().folds[plans_[i].fold], control_));
      }
    });
  }

  // From each fold's own factor.
  void from_folds() {
    std::vector<std::shared_ptr<const FoldSide>> sides(plans_.size());
    std::vector<std::pair<size_t, int64_t>> jobs;  // plan, its node
    for (size_t i = 0; i < plans_.size(); ++i) {
      const bool same = i > 0 && plans_[i - 1].fold == plans_[i].fold;
      sides[i] = same ? sides[i - 1] : std::make_shared<const FoldSide>(make_side(plans_[i].fold));
      if (!bases_.empty()) operators_[i].basis = bases_[plans_[i].fold];
      operators_[i].train_mean = sides[i]->factor->train_mean;
      operators_[i].direct = sides[i]->factor->direct;
      if (!sides[i]->factor->samples.is_empty()) {
        operators_[i].factor = sides[i]->factor;
        operators_[i].samples = device_.resident(view_of(sides[i]->factor->samples), operators_[i].samples_memory);
      }
      for (int64_t k = 0; k < plans_[i].n_nodes; ++k) jobs.emplace_back(i, k);
    }
    const BlasThreads blas(1);
    parallel_for(static_cast<int64_t>(jobs.size()), control_.n_threads, [&](int64_t k, int) {
      control_.check_stop();
      const auto [i, node] = jobs[k];
      store(i, node, operator_at(*sides[i], alphas_[plans_[i].first_node + node], control_));
    });
  }

  FoldSide make_side(int64_t f) const {
    FoldSide side{factors_.fold(f, control_), {}};
    if (!bases_.empty() && bases_[f] != nullptr) {
      side.left = product(bases_[f]->rows, Trans::no, side.factor->vectors, control_);
      return side;
    }
    side.left = side.factor->left;
    if (score_ == Score::correlation) split_mean(side.left);
    return side;
  }

  void store(size_t i, int64_t node, const arma::mat& rows) {
    const std::lock_guard<std::mutex> guard(lock_);
    FoldOperator<T>& op = operators_[i];
    if (op.stacked.data == nullptr) {
      op.block_rows = static_cast<int64_t>(rows.n_rows);
      op.stacked = device_.reserve(op.memory, op.block_rows * op.n_nodes, rows.n_cols);
    }
    device_.upload(view_of(rows), op.stacked.block(node * op.block_rows, 0, op.block_rows, op.stacked.cols));
  }

  Device<T>& device_;
  Factors& factors_;
  const std::vector<OperatorPlan>& plans_;
  Score score_;
  const std::vector<double>& alphas_;
  const HeldOutBases<T>& bases_;
  const Control& control_;
  std::vector<FoldOperator<T>> operators_;
  std::mutex lock_;
};

}  // namespace

template <class T>
std::vector<FoldOperator<T>> make_operators(Device<T>& device, Factors& factors, const std::vector<OperatorPlan>& plans,
                                            Score score, const std::vector<double>& node_alphas,
                                            const HeldOutBases<T>& bases, const Control& control) {
  return OperatorMaker<T>(device, factors, plans, score, node_alphas, bases, control).run();
}

namespace {

// Scores of stacked predictions by the caller's function.
template <class T>
void user_scores(Device<T>& device, const UserScore& score, const HeldOut<T>& out, MatrixView<T> predictions,
                 const Tile<T>& tile, MatrixSpan<double> scores) {
  const int64_t rows = out.y.rows;
  std::vector<double> shift = tile.mean, row(tile.cols);
  for (size_t j = 0; j < out.train_mean.size(); ++j) shift[j] += out.train_mean[j];
  arma::mat truth(rows, tile.cols, arma::fill::none), prediction(rows, tile.cols, arma::fill::none);
  device.download(out.y, span_of(truth));
  for (int64_t node = 0; node < scores.rows; ++node) {
    device.download(predictions.block(node * rows, 0, rows, tile.cols), span_of(prediction));
    score_columns(Score::user, score, truth, prediction, shift, out.constant, row.data());
    for (int64_t j = 0; j < tile.cols; ++j) scores.col(j)[node] = row[j];
  }
}

}  // namespace

template <class T>
FoldTile<T> make_fold_tile(const TileSource<T>& source, const FoldOperator<T>& op, Score score, Tile<T>& tile) {
  Device<T>& device = source.device();
  FoldTile<T> fold;
  fold.side = source.train_side(tile, op.fold, op.train_mean, op.direct, op.samples);
  fold.out = source.held_out(tile, op.fold);
  const HeldOut<T>& out = fold.out;
  HeldOutSums& held = fold.held;
  held = {out.y.rows, {}, std::vector<double>(tile.cols, 0.0), out.sum_squares, out.constant};
  fold.target = out.y;
  if (score == Score::correlation) {
    const RowList all = row_range(0, out.y.rows);
    const MatrixSpan<T> centered = device.reserve(tile.gathered_memory, out.y.rows, tile.cols);
    device.gather(out.y, all, device.means(out.y, all), centered);
    fold.target = centered;
  } else {
    held.null_error = device.squares(out.y, {});
  }
  if (op.basis == nullptr) return fold;
  const MatrixSpan<T> rotated = device.reserve(tile.work_memory, op.basis->basis.cols, tile.cols);
  device.gemm(Trans::yes, Trans::no, T(1), op.basis->basis, fold.target, T(0), rotated);
  if (score != Score::correlation) {
    const std::vector<double> reachable = device.squares(rotated, {});
    for (int64_t j = 0; j < tile.cols; ++j) held.outside[j] = std::max(0.0, held.null_error[j] - reachable[j]);
  }
  fold.target = rotated;
  return fold;
}

template <class T>
arma::mat operator_sums(const TileSource<T>& source, const FoldOperator<T>& op, Score score, const UserScore& user,
                        const FoldTile<T>& fold, Tile<T>& tile) {
  Device<T>& device = source.device();
  const MatrixView<T> side = fold.side, target = fold.target;
  const HeldOut<T>& out = fold.out;
  const int64_t per_node = score == Score::correlation ? 2 : 1;
  const int64_t chunk =
      nodes_per_product(out.y.rows, source.form() == Form::primal ? source.features().cols() : side.rows);
  arma::mat sums(per_node * op.n_nodes, tile.cols, arma::fill::none);
  for (int64_t node = 0; node < op.n_nodes; node += chunk) {
    const int64_t n_nodes = std::min(chunk, op.n_nodes - node), n_rows = n_nodes * op.block_rows;
    source.control().check_stop();
    const MatrixSpan<T> predictions = device.reserve(tile.predictions_memory, n_rows, tile.cols);
    const MatrixView<T> stacked = MatrixView<T>(op.stacked).block(node * op.block_rows, 0, n_rows, side.rows);
    device.gemm(Trans::no, Trans::no, T(1), stacked, side, T(0), predictions);
    const MatrixSpan<double> part = span_of(sums).block(per_node * node, 0, per_node * n_nodes, tile.cols);
    if (score == Score::correlation) {
      device.product_sums(target, predictions, part);
    } else if (score == Score::user) {
      user_scores<T>(device, user, out, predictions, tile, part);
    } else {
      device.error_sums(target, predictions, part);
    }
  }
  return sums;
}

#define VOXRIDGE_INSTANTIATE(T)                                                                                       \
  template HeldOutBases<T> make_bases(Device<T>&, const Features&, const Folds&, Form, Score, const Control&);        \
  template std::vector<FoldOperator<T>> make_operators(Device<T>&, Factors&, const std::vector<OperatorPlan>&, Score, \
                                                       const std::vector<double>&, const HeldOutBases<T>&,            \
                                                       const Control&);                                               \
  template FoldTile<T> make_fold_tile(const TileSource<T>&, const FoldOperator<T>&, Score, Tile<T>&);                 \
  template arma::mat operator_sums(const TileSource<T>&, const FoldOperator<T>&, Score, const UserScore&,             \
                                   const FoldTile<T>&, Tile<T>&);
VOXRIDGE_INSTANTIATE(float)
VOXRIDGE_INSTANTIATE(double)

}  // namespace voxridge
