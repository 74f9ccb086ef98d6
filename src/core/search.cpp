#include "search.h"

#include <algorithm>
#include <cmath>

#include "arma_view.h"

namespace voxridge {

namespace {

// Rotating the held-out rows pays once they clearly outnumber the features.
constexpr double kRotateAbove = 1.25;
constexpr int64_t kStackedRows = 2048;  // of one product: enough to run at full speed, few enough to stay in cache

// On the device, and on the host only where the device uses the host's memory.
template <class T>
MatrixView<T> keep(Device<T>& device, arma::mat matrix, arma::mat& host, Buffer<T>& memory) {
  host = std::move(matrix);
  const MatrixView<T> view = device.resident(view_of(host), memory);
  if (memory.data != nullptr) host.reset();
  return view;
}

}  // namespace

template <class T>
FoldOperator<T> make_operator(Device<T>& device, const FoldFactor& factor, Form form, Score score,
                              const std::vector<double>& node_alphas, const OperatorPlan& plan) {
  FoldOperator<T> op;
  op.fold = plan.fold;
  op.first_node = plan.first_node;
  op.n_nodes = plan.n_nodes;
  op.train_mean = factor.train_mean;
  op.direct = factor.direct;
  arma::mat left = factor.left;
  arma::rowvec mean_row;
  if (score == Score::correlation) {
    mean_row.set_size(left.n_cols);
    for (arma::uword j = 0; j < left.n_cols; ++j) {
      const double mean = column_mean(left.colptr(j), static_cast<int64_t>(left.n_rows));
      left.col(j) -= mean;
      mean_row[j] = std::sqrt(static_cast<double>(left.n_rows)) * mean;
    }
  }
  const bool rotate = form == Form::primal && score != Score::user &&
                      static_cast<double>(left.n_rows) > kRotateAbove * static_cast<double>(left.n_cols);
  if (rotate) {
    arma::mat basis, upper;
    if (!arma::qr_econ(basis, upper, left)) throw Error(ErrorCode::numerical, "a QR decomposition did not converge");
    op.basis = keep<T>(device, std::move(basis), op.host_basis, op.basis_memory);
    left = std::move(upper);
  }
  if (score == Score::correlation) left.insert_rows(left.n_rows, mean_row);
  op.block_rows = static_cast<int64_t>(left.n_rows);

  arma::mat scaled(left.n_rows * plan.n_nodes, left.n_cols, arma::fill::none);
  for (int64_t node = 0; node < plan.n_nodes; ++node) {
    const double alpha = node_alphas[plan.first_node + node];
    arma::rowvec weights(left.n_cols);
    for (arma::uword i = 0; i < left.n_cols; ++i) weights[i] = inverse(factor.values[i], alpha);
    scaled.rows(node * left.n_rows, (node + 1) * left.n_rows - 1) = left.each_row() % weights;
  }
  arma::mat stacked(scaled.n_rows, factor.vectors.n_rows, arma::fill::none);
  gemm(Trans::no, Trans::yes, 1.0, view_of(scaled), view_of(factor.vectors), 0.0, span_of(stacked));
  op.stacked = keep<T>(device, std::move(stacked), op.host_stacked, op.memory);
  return op;
}

namespace {

// The held-out targets as the operator's predictions meet them, and what is known of them beforehand.
template <class T>
MatrixView<T> prepare_target(const TileSource<T>& source, const FoldOperator<T>& op, Score score, const HeldOut<T>& out,
                             Tile<T>& tile, HeldOutSums& held) {
  Device<T>& device = source.device();
  held = {out.y.rows, {}, std::vector<double>(tile.cols, 0.0), out.sum_squares, out.constant};
  MatrixView<T> target = out.y;
  if (score == Score::correlation) {
    const RowList all = row_range(0, out.y.rows);
    const MatrixSpan<T> centered = device.reserve(tile.gathered_memory, out.y.rows, tile.cols);
    device.gather(out.y, all, device.means(out.y, all), centered);
    target = centered;
  } else {
    held.null_error = device.squares(out.y, {});
  }
  if (op.basis.data == nullptr) return target;
  const MatrixSpan<T> rotated = device.reserve(tile.work_memory, op.basis.cols, tile.cols);
  device.gemm(Trans::yes, Trans::no, T(1), op.basis, target, T(0), rotated);
  if (score != Score::correlation) {
    const std::vector<double> reachable = device.squares(rotated, {});
    for (int64_t j = 0; j < tile.cols; ++j) held.outside[j] = std::max(0.0, held.null_error[j] - reachable[j]);
  }
  return rotated;
}

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
arma::mat operator_sums(const TileSource<T>& source, const FoldOperator<T>& op, Score score, const UserScore& user,
                        Tile<T>& tile, HeldOutSums& held) {
  Device<T>& device = source.device();
  const MatrixView<T> side = source.train_side(tile, op.fold, op.train_mean, op.direct);
  const HeldOut<T> out = source.held_out(tile, op.fold);
  const MatrixView<T> target = prepare_target(source, op, score, out, tile, held);
  const int64_t per_node = score == Score::correlation ? 2 : 1;
  const int64_t chunk = std::max<int64_t>(1, kStackedRows / op.block_rows);
  arma::mat sums(per_node * op.n_nodes, tile.cols, arma::fill::none);
  for (int64_t node = 0; node < op.n_nodes; node += chunk) {
    const int64_t n_nodes = std::min(chunk, op.n_nodes - node), n_rows = n_nodes * op.block_rows;
    source.control().check_stop();
    const MatrixSpan<T> predictions = device.reserve(tile.predictions_memory, n_rows, tile.cols);
    const MatrixView<T> stacked = op.stacked.block(node * op.block_rows, 0, n_rows, side.rows);
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

template FoldOperator<float> make_operator(Device<float>&, const FoldFactor&, Form, Score, const std::vector<double>&,
                                           const OperatorPlan&);
template FoldOperator<double> make_operator(Device<double>&, const FoldFactor&, Form, Score,
                                            const std::vector<double>&, const OperatorPlan&);
template arma::mat operator_sums(const TileSource<float>&, const FoldOperator<float>&, Score, const UserScore&,
                                 Tile<float>&, HeldOutSums&);
template arma::mat operator_sums(const TileSource<double>&, const FoldOperator<double>&, Score, const UserScore&,
                                 Tile<double>&, HeldOutSums&);

}  // namespace voxridge
