#include "gram.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "arma_view.h"
#include "blas.h"
#include "gpu_algebra.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kShrunk = 1e-4;  // of the total: beyond this the subtraction would cost over four digits

void mirror(arma::mat& m) {
  m = arma::symmatl(m);
}

// Lower block triangle of total += rows rows' (Trans::no) or columns'columns (Trans::yes) of a panel, by blocks on our
// own threads with BLAS at one: the same bits for any number of threads, and no BLAS threads left spinning beside ours.
void add_panel(Trans trans, MatrixView<double> panel, arma::mat& total, const Control& control) {
  constexpr int64_t block = 160;
  const int64_t n = static_cast<int64_t>(total.n_rows), n_blocks = (n + block - 1) / block;
  const MatrixSpan<double> out = span_of(total);
  const auto part = [&](int64_t first, int64_t count) {
    return trans == Trans::no ? panel.block(first, 0, count, panel.cols) : panel.block(0, first, panel.rows, count);
  };
  parallel_for(n_blocks * (n_blocks + 1) / 2, control.n_threads, [&](int64_t k, int) {
    control.check_stop();
    int64_t i = 0;
    while (k > i) k -= ++i;  // block (i, k) of the triangle
    const int64_t row = i * block, col = k * block;
    const int64_t n_rows = std::min(block, n - row), n_cols = std::min(block, n - col);
    if (row == col) {
      syrk(trans, 1.0, part(row, n_rows), 1.0, out.block(row, col, n_rows, n_cols));
      return;
    }
    const Trans other = trans == Trans::no ? Trans::yes : Trans::no;
    gemm(trans, other, 1.0, part(row, n_rows), part(col, n_cols), 1.0, out.block(row, col, n_rows, n_cols));
  });
}

// What lies on the GPU of some rows and columns; empty where nothing does.
MatrixView<double> part_on_gpu(const Features& features, int64_t row, int64_t n_rows, int64_t col, int64_t n_cols) {
  const MatrixView<double> all = features.on_gpu();
  return all.data == nullptr ? all : all.block(row, col, n_rows, n_cols);
}

// K_ij -> K_ij - r_i - r_j + mean(r); returns false if too little is left of the diagonal.
bool center_train(arma::mat& train, const arma::vec& row_means, double grand_mean) {
  const double before = arma::trace(train);
  for (arma::uword j = 0; j < train.n_cols; ++j) {
    double* column = train.colptr(j);
    const double shift = row_means[j] - grand_mean;
    for (arma::uword i = 0; i < train.n_rows; ++i) column[i] -= row_means[i] + shift;
  }
  return arma::trace(train) > kShrunk * before;
}

DualGram dual_gram_direct(const Features& features, const Fold& fold, const Control& control) {
  DualGram out;
  const int64_t m = static_cast<int64_t>(fold.train.size()), v = static_cast<int64_t>(fold.test.size());
  GramSum sum(Trans::no, m, features.cols(), control);
  out.test.zeros(v, m);
  const std::vector<double> mean = training_means(features, fold.train);
  std::vector<double> train_scratch, test_scratch;
  const int64_t width = gram_panel(m, features.cols());
  for (int64_t col = 0; col < features.cols(); col += width) {
    control.check_stop();
    const int64_t n_cols = std::min(width, features.cols() - col);
    const MatrixView<double> train = features.gather(fold.train, col, n_cols, mean.data() + col, train_scratch);
    const MatrixView<double> test = features.gather(fold.test, col, n_cols, mean.data() + col, test_scratch);
    sum.add(train);
    gemm(Trans::no, Trans::yes, 1.0, test, train, 1.0, span_of(out.test));
  }
  out.train = sum.finish();
  return out;
}

arma::mat shifted_feature_gram(const Features& features, const RowList& rows, const std::vector<double>& shift,
                               const Control& control) {
  std::vector<double> scratch;
  const int64_t n_rows = static_cast<int64_t>(rows.size());
  GramSum sum(Trans::yes, features.cols(), n_rows, control);
  const int64_t height = gram_panel(features.cols(), n_rows);
  for (int64_t row = 0; row < n_rows; row += height) {
    control.check_stop();
    const RowList part(rows.begin() + row, rows.begin() + std::min(row + height, n_rows));
    sum.add(features.gather(part, 0, features.cols(), shift.data(), scratch));
  }
  return sum.finish();
}

}  // namespace

int64_t gram_panel(int64_t n, int64_t available) {
  const double fit = kFlopsBetweenStops / (static_cast<double>(n) * static_cast<double>(n) + 1);
  return std::min(available, std::max<int64_t>(64, static_cast<int64_t>(fit)));
}

GramSum::GramSum(Trans trans, int64_t n, int64_t inner, const Control& control)
    : trans_(trans), control_(control), gpu_(GpuGram::start(trans, n, inner, control)) {
  sum_.zeros(n, n);
}

GramSum::~GramSum() = default;

void GramSum::add(MatrixView<double> panel) {
  if (gpu_ != nullptr) {
    gpu_->add(panel);
  } else {
    add_panel(trans_, panel, sum_, control_);
  }
}

bool GramSum::add_there(MatrixView<double> panel) {
  if (gpu_ == nullptr || panel.data == nullptr) return false;
  gpu_->add_there(panel);
  return true;
}

arma::mat GramSum::finish() {
  if (gpu_ != nullptr) gpu_->finish(span_of(sum_));
  mirror(sum_);
  return std::move(sum_);
}

std::vector<double> training_means(const Features& features, const RowList& rows) {
  std::vector<double> means(features.cols(), 0.0);
  if (!features.centered()) return means;
  std::vector<double> scratch;
  for (int64_t j = 0; j < features.cols(); ++j) {
    means[j] = column_mean(features.block(0, features.rows(), j, 1, scratch).data, rows);
  }
  return means;
}

arma::mat sample_gram(const Features& features, int64_t col, int64_t n_cols, const Control& control) {
  GramSum sum(Trans::no, features.rows(), n_cols, control);
  if (sum.add_there(part_on_gpu(features, 0, features.rows(), col, n_cols))) return sum.finish();
  std::vector<double> scratch;
  const int64_t width = gram_panel(features.rows(), n_cols), last = col + n_cols;
  for (; col < last; col += width) {
    control.check_stop();
    const int64_t some = std::min(width, last - col);
    sum.add(features.block(0, features.rows(), col, some, scratch));
  }
  return sum.finish();
}

arma::mat feature_gram(const Features& features, const Control& control) {
  GramSum sum(Trans::yes, features.cols(), features.rows(), control);
  if (sum.add_there(part_on_gpu(features, 0, features.rows(), 0, features.cols()))) return sum.finish();
  std::vector<double> scratch;
  const int64_t height = gram_panel(features.cols(), features.rows());
  for (int64_t row = 0; row < features.rows(); row += height) {
    control.check_stop();
    const int64_t n_rows = std::min(height, features.rows() - row);
    sum.add(features.block(row, n_rows, 0, features.cols(), scratch));
  }
  return sum.finish();
}

DualGram dual_fold_gram(const arma::mat& gram, const Features& features, const Fold& fold, const Control& control) {
  const arma::uvec train = arma::conv_to<arma::uvec>::from(fold.train);
  const arma::uvec test = arma::conv_to<arma::uvec>::from(fold.test);
  DualGram out{gram.submat(train, train), gram.submat(test, train)};
  if (!features.centered()) return out;
  const arma::vec train_means = arma::mean(out.train, 1);
  const arma::vec test_means = arma::mean(out.test, 1);
  const double grand_mean = arma::mean(train_means);
  if (!center_train(out.train, train_means, grand_mean)) return dual_gram_direct(features, fold, control);
  for (arma::uword j = 0; j < out.test.n_cols; ++j) {
    out.test.col(j) -= test_means + (train_means[j] - grand_mean);
  }
  return out;
}

arma::mat feature_gram(const Features& features, const RowList& rows, const Control& control) {
  const int64_t n_rows = static_cast<int64_t>(rows.size());
  if (features.on_gpu().data != nullptr && n_rows > 0 && rows.back() - rows.front() == n_rows - 1 &&
      std::is_sorted(rows.begin(), rows.end(), std::less_equal<int64_t>())) {  // one after another
    GramSum sum(Trans::yes, features.cols(), n_rows, control);
    if (sum.add_there(part_on_gpu(features, rows.front(), n_rows, 0, features.cols()))) return sum.finish();
  }
  return shifted_feature_gram(features, rows, std::vector<double>(features.cols(), 0.0), control);
}

PrimalGram primal_fold_gram(const arma::mat& gram, const Features& features, const Fold& fold,
                            const arma::mat* held_out, const Control& control) {
  PrimalGram out;
  out.train_mean = training_means(features, fold.train);
  if (held_out != nullptr) {
    const arma::vec mean(out.train_mean.data(), out.train_mean.size(), false, true);
    out.train = gram - *held_out;
    if (features.centered()) out.train -= (static_cast<double>(fold.train.size()) * mean) * mean.t();
    const arma::vec left = out.train.diag(), total = gram.diag();
    if (arma::all(left >= kShrunk * total)) return out;
  }
  out.direct = true;
  out.train = shifted_feature_gram(features, fold.train, out.train_mean, control);
  return out;
}

double largest_eigenvalue(const arma::mat& symmetric) {
  if (symmetric.n_rows == 0) return 0;
  arma::vec direction = symmetric.col(arma::vec(symmetric.diag()).index_max());
  double value = 0;
  for (int step = 0; step < 8; ++step) {
    const double length = arma::norm(direction);
    if (!(length > 0)) return value;
    direction /= length;
    const arma::vec next = symmetric * direction;
    value = arma::dot(direction, next);
    direction = next;
  }
  return value;
}

}  // namespace voxridge
