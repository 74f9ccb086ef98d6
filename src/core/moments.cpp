#include "moments.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "arma_view.h"
#include "gram.h"
#include "store_rows.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr int64_t kStripCols = 256;   // targets that a thread reads at a time; a tile is whole strips
constexpr int64_t kReadCols = 16;     // features
constexpr int64_t kMostPieces = 256;  // of a block, that are reckoned with

// Sums over the rows of one column, cell by cell, so far.
struct ColumnSums {
  double& shift;    // the mean of the first piece: others count from it
  double* mean;     // per cell
  double* squares;  // per cell, or nullptr
};

double mean_less(double shift, const double* rows, const Piece& piece) {
  double sum = 0;
  for (const int64_t i : piece.rows) sum += rows[i] - rows[piece.rows[0]];
  return (rows[piece.rows[0]] - shift) + sum / static_cast<double>(piece.rows.size());
}

// What the rows of a column become: piece after piece, less the mean of the piece and followed by the row that stands
// for the step of the mean; as they are where nothing is centred.
void arrange(const double* rows, const std::vector<Piece>& pieces, bool is_first, bool center, ColumnSums sums,
             double* to) {
  if (is_first) sums.shift = mean_less(0, rows, pieces[0]);
  for (const Piece& piece : pieces) {
    const double m = static_cast<double>(piece.rows.size()), n = piece.before;
    const double own = mean_less(sums.shift, rows, piece);
    double square = 0;
    for (const int64_t i : piece.rows) {
      const double deviation = (rows[i] - sums.shift) - own;
      square += deviation * deviation;
      *to++ = center ? deviation : rows[i];
    }
    double& before = sums.mean[piece.cell];
    const double step = n > 0 ? own - before : 0, weight = n * m / (n + m);
    if (center) *to++ = std::sqrt(weight) * step;
    if (sums.squares != nullptr) sums.squares[piece.cell] += square + weight * step * step;
    before = n > 0 ? before + step * (m / (n + m)) : own;
  }
}

// One pass over the rows.
class MomentPass {
 public:
  MomentPass(const MomentInput& input, int n_threads, FeatureMoments* features, TargetMoments& targets,
             const Control& control)
      : input_(input),
        control_(control),
        n_threads_(n_threads),
        features_(features),
        targets_(targets),
        x_(input.x, 0, input.features()),
        n_cells_(input.cells.count()),
        before_(n_cells_, 0.0),
        mean_(n_cells_, input.features(), arma::fill::zeros),
        shift_(input.features(), arma::fill::zeros),
        scratch_(n_threads) {
    if (input.y != nullptr) y_ = std::make_unique<StoreRows>(*input.y, targets.first, targets.cols);
    targets.shift.zeros(targets.cols);
    targets.mean.zeros(n_cells_, targets.cols);
    targets.squares.zeros(n_cells_, targets.cols);
    targets.cross.resize(n_cells_);
    for (arma::mat& cross : targets.cross) cross.zeros(input.features(), targets.cols);
    inside_ = control;
    inside_.n_threads = n_threads;
    for (int64_t cell = 0; features != nullptr && cell < n_cells_; ++cell) {
      grams_.push_back(std::make_unique<GramSum>(Trans::yes, input.features(), input.rows(), inside_));
    }
  }

  void run(int64_t rows_at_a_time) {
    const int64_t n = input_.rows(), n_strips = (targets_.cols + kStripCols - 1) / kStripCols;
    control_.expect((n + rows_at_a_time - 1) / rows_at_a_time * (1 + n_strips));
    for (int64_t row = 0; row < n; row += rows_at_a_time) {
      const int64_t n_rows = std::min(rows_at_a_time, n - row);
      pieces_ = input_.cells.pieces(row, n_rows, before_);
      read_features(row, n_rows);
      add_grams();
      control_.advance(1);
      parallel_for(n_strips, n_threads_, [&](int64_t strip, int worker) {
        add_strip(row, n_rows, strip * kStripCols, scratch_[worker]);
        control_.advance(1);
      });
    }
    x_.compare();
    if (y_ != nullptr) y_->compare();
    if (features_ == nullptr) return;
    features_->rows = before_;
    features_->shift = shift_;
    features_->mean = mean_;
    for (auto& gram : grams_) {
      features_->grams.push_back(gram->finish());
      gram.reset();
    }
  }

 private:
  struct Scratch {
    std::vector<unsigned char> bytes;
    std::vector<double> rows, strip;
  };

  // With the row that stands for the step of the mean.
  int64_t height(const Piece& piece) const {
    return static_cast<int64_t>(piece.rows.size()) + (input_.center() ? 1 : 0);
  }

  void read_features(int64_t row, int64_t n_rows) {
    height_ = 0;
    for (const Piece& piece : pieces_) height_ += height(piece);
    panel_.resize(height_ * input_.features());
    const int64_t n_parts = (input_.features() + kReadCols - 1) / kReadCols;
    parallel_for(n_parts, n_threads_, [&](int64_t part, int worker) {
      control_.check_stop();
      Scratch& own = scratch_[worker];
      own.rows.resize(n_rows);
      for (int64_t j = part * kReadCols; j < std::min((part + 1) * kReadCols, input_.features()); ++j) {
        x_.read(j, row, n_rows, own.bytes, own.rows.data());
        arrange(own.rows.data(), pieces_, row == 0, input_.center(), {shift_[j], mean_.colptr(j), nullptr},
                panel_.data() + j * height_);
      }
    });
  }

  MatrixView<double> panel(int64_t first, int64_t n_rows) const {
    return {panel_.data() + first, n_rows, input_.features(), height_};
  }

  void add_grams() {
    if (features_ == nullptr) return;
    int64_t first = 0;
    for (const Piece& piece : pieces_) {
      control_.check_stop();
      grams_[piece.cell]->add(panel(first, height(piece)));
      first += height(piece);
    }
  }

  // Targets col, col + 1, ... of the group.
  void add_strip(int64_t row, int64_t n_rows, int64_t col, Scratch& own) {
    control_.check_stop();
    const int64_t cols = std::min(kStripCols, targets_.cols - col);
    own.rows.resize(n_rows);
    own.strip.resize(height_ * cols);
    for (int64_t j = 0; j < cols; ++j) {
      const double* rows = own.rows.data();
      if (skipped(input_.targets, targets_.first + col + j)) {
        if (y_ != nullptr) y_->read(col + j, row, n_rows, own.bytes, own.rows.data());  // for the checksum
        std::fill(own.rows.begin(), own.rows.end(), 0.0);
      } else if (y_ != nullptr) {
        y_->read(col + j, row, n_rows, own.bytes, own.rows.data());
      } else {
        rows = input_.targets.y.col(targets_.first + col + j) + row;
      }
      arrange(rows, pieces_, row == 0, input_.center(),
              {targets_.shift[col + j], targets_.mean.colptr(col + j), targets_.squares.colptr(col + j)},
              own.strip.data() + j * height_);
    }
    int64_t first = 0;
    for (const Piece& piece : pieces_) {
      control_.check_stop();
      const int64_t n = height(piece);
      gemm(Trans::yes, Trans::no, 1.0, panel(first, n), {own.strip.data() + first, n, cols, height_}, 1.0,
           span_of(targets_.cross[piece.cell]).block(0, col, input_.features(), cols));
      first += n;
    }
  }

  const MomentInput& input_;
  const Control& control_;
  Control inside_;
  int n_threads_;
  FeatureMoments* features_;
  TargetMoments& targets_;
  StoreRows x_;
  std::unique_ptr<StoreRows> y_;
  int64_t n_cells_;
  std::vector<double> before_;
  arma::mat mean_;
  arma::rowvec shift_;
  std::vector<std::unique_ptr<GramSum>> grams_;
  std::vector<Scratch> scratch_;
  std::vector<Piece> pieces_;
  std::vector<double> panel_;  // the features of the pieces
  int64_t height_ = 0;         // its rows
};

// x_cell - x for all cells, times the root of weight and rows.
arma::mat scaled_steps(const arma::mat& means, const arma::rowvec& mean, const std::vector<double>& rows,
                       const std::vector<double>& weights) {
  arma::mat steps = means.each_row() - mean;
  for (arma::uword k = 0; k < steps.n_rows; ++k) steps.row(k) *= std::sqrt(weights[k] * rows[k]);
  return steps;
}

// Exact where all cells have the same mean.
arma::rowvec merged_mean(const arma::mat& means, const std::vector<double>& rows, const std::vector<double>& weights,
                         double total) {
  const auto first = std::find_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
  const arma::rowvec base = means.row(first - weights.begin());
  arma::rowvec sum(means.n_cols, arma::fill::zeros);
  for (arma::uword k = 0; k < means.n_rows; ++k) {
    if (weights[k] > 0) sum += weights[k] * rows[k] * (means.row(k) - base);
  }
  return base + sum / total;
}

}  // namespace

void sum_moments(const MomentInput& input, int64_t rows_at_a_time, int n_threads, FeatureMoments* features,
                 TargetMoments& targets, const Control& control) {
  const BlasThreads blas(1);
  MomentPass(input, n_threads, features, targets, control).run(rows_at_a_time);
}

double moment_bytes(const MomentInput& input, int64_t rows_at_a_time, int n_threads) {
  const double rows = static_cast<double>(std::min(rows_at_a_time, input.rows()));
  const double extra = rows / kBlockRows * static_cast<double>(std::min(input.cells.count(), kMostPieces));
  const double cols = static_cast<double>(input.features()) + static_cast<double>(n_threads * kStripCols);
  return 8 * (rows + extra) * cols + 16 * rows * n_threads;
}

MergedFeatures merge_features(const FeatureMoments& from, const std::vector<double>& weights, bool center,
                              bool with_gram) {
  MergedFeatures out;
  for (size_t k = 0; k < weights.size(); ++k) out.rows += weights[k] * from.rows[k];
  out.mean = merged_mean(from.mean, from.rows, weights, out.rows);
  if (!with_gram) return out;
  out.gram.zeros(from.mean.n_cols, from.mean.n_cols);
  for (size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] > 0) out.gram += weights[k] * from.grams[k];
  }
  if (!center) return out;
  const arma::mat steps = scaled_steps(from.mean, out.mean, from.rows, weights);
  gemm(Trans::yes, Trans::no, 1.0, view_of(steps), view_of(steps), 1.0, span_of(out.gram));
  return out;
}

MergedTargets merge_targets(const TargetMoments& from, int64_t first, int64_t cols, const FeatureMoments& cells,
                            const MergedFeatures& features, const std::vector<double>& weights, bool center) {
  const arma::span all(first, first + cols - 1);
  const arma::mat means = from.mean(arma::span::all, all);
  MergedTargets out;
  out.shift = from.shift(all);
  out.mean = merged_mean(means, cells.rows, weights, features.rows);
  const arma::mat steps = scaled_steps(means, out.mean, cells.rows, weights);
  out.squares = arma::sum(arma::square(steps), 0);
  out.cross.zeros(cells.mean.n_cols, cols);
  for (size_t k = 0; k < weights.size(); ++k) {
    if (!(weights[k] > 0)) continue;
    out.squares += weights[k] * from.squares(k, all);
    out.cross += weights[k] * from.cross[k].cols(first, first + cols - 1);
  }
  if (!center) return out;
  const arma::mat of_features = scaled_steps(cells.mean, features.mean, cells.rows, weights);
  gemm(Trans::yes, Trans::no, 1.0, view_of(of_features), view_of(steps), 1.0, span_of(out.cross));
  return out;
}

}  // namespace voxridge
