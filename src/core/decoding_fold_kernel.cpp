// Folds whose training rows are fewer than the voxels, and the weights of either side.
#include <algorithm>
#include <cmath>

#include "arma_view.h"
#include "blas.h"
#include "decoding_algebra.h"
#include "decoding_fold.h"
#include "factor.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr double kShrunk = 1e-4;
constexpr int64_t kSums = 8;               // side by side, whatever the number of threads
constexpr int64_t kRowsSideBySide = 1500;  // beyond this memory counts

void mirror(arma::mat& m) {
  m = arma::symmatl(m);
}

}  // namespace

void sum_of_panels(const LocationVoxels& voxels, int64_t n_rows,
                   const std::function<void(int64_t, int64_t, arma::mat&)>& make, arma::mat& out,
                   const Control& control) {
  const int64_t p = voxels.size(), width = LocationVoxels::kPanel, panels = (p + width - 1) / width;
  const int64_t n_sums = n_rows > kRowsSideBySide ? 1 : std::max<int64_t>(1, std::min(kSums, panels));
  std::vector<arma::mat> sums(n_sums);
  parallel_for(n_sums, control.n_threads, [&](int64_t s, int) {
    arma::mat panel;
    sums[s].zeros(n_rows, n_rows);
    for (int64_t k = s * panels / n_sums; k < (s + 1) * panels / n_sums; ++k) {
      control.check_stop();
      make(k * width, std::min(width, p - k * width), panel);
      syrk(Trans::no, 1.0, view_of(panel), 1.0, span_of(sums[s]));
    }
  });
  for (int64_t s = 1; s < n_sums; ++s) sums[0] += sums[s];
  out.swap(sums[0]);
  mirror(out);
}

const arma::mat& FoldForms::kernel() {
  if (has_kernel_) return kernel_;
  if (voxels_.size() <= LocationVoxels::kPanel) {
    voxels_.gather(0, voxels_.size(), panel_);
    gram_of_rows(panel_, kernel_);
  } else {
    const auto make = [&](int64_t first, int64_t count, arma::mat& to) { voxels_.gather(first, count, to); };
    sum_of_panels(voxels_, design_.n(), make, kernel_, control_);
  }
  has_kernel_ = true;
  return kernel_;
}

// From the kernel of all rows, by removing training means; false where that would cost over four digits.
bool FoldForms::part_of_kernel(const DesignFold& fold, arma::mat& train, arma::mat& test) {
  const arma::mat& all = kernel();
  const arma::uvec rows = arma::conv_to<arma::uvec>::from(fold.train);
  const arma::uvec held_out = arma::conv_to<arma::uvec>::from(fold.test);
  train = all.submat(rows, rows);
  test = all.submat(held_out, rows);
  const arma::vec train_means = arma::mean(train, 1), test_means = arma::mean(test, 1);
  const double grand_mean = arma::mean(train_means), before = arma::trace(train);
  for (arma::uword j = 0; j < train.n_cols; ++j) {
    train.col(j) -= train_means + (train_means[j] - grand_mean);
    if (!test.is_empty()) test.col(j) -= test_means + (train_means[j] - grand_mean);
  }
  return arma::trace(train) > kShrunk * before;
}

// The training set is the complement of the held-out rows, and scales them all.
bool FoldForms::scaled_at_once(const DesignFold& fold, arma::mat& train, arma::mat& test) {
  Moments moments;
  if (!downdate_moments(fold, moments)) return false;
  panel_ = rows();
  apply(moments, panel_);
  block_.set_size(panel_.n_rows, panel_.n_rows);
  syrk(Trans::no, 1.0, view_of(panel_), 0.0, span_of(block_));
  const auto part = [&](const RowList& rows, arma::mat& to) {
    to.set_size(rows.size(), fold.train.size());
    for (arma::uword j = 0; j < to.n_cols; ++j) {
      for (arma::uword i = 0; i < to.n_rows; ++i) {
        to(i, j) = block_(std::max(rows[i], fold.train[j]), std::min(rows[i], fold.train[j]));
      }
    }
  };
  part(fold.train, train);
  part(fold.test, test);
  return true;
}

void FoldForms::fold_kernel(const DesignFold& fold, arma::mat& train, arma::mat& test) {
  if (!scale_ && part_of_kernel(fold, train, test)) return;
  if (scale_ && fold.complement && can_copy() && scaled_at_once(fold, train, test)) return;
  const int64_t n_train = static_cast<int64_t>(fold.train.size()), n_test = static_cast<int64_t>(fold.test.size());
  // Training and held-out rows on top of each other: one symmetric product holds both parts.
  RowList both = fold.train;
  both.insert(both.end(), fold.test.begin(), fold.test.end());
  arma::mat all;
  const auto make = [&](int64_t first, int64_t count, arma::mat& to) {
    Moments moments;
    arma::mat part;
    voxels_.gather(fold.train, first, count, part);
    standardize(part, moments);
    voxels_.gather(both, first, count, to);
    apply(moments, to);
    to.head_rows(n_train) = part;
  };
  sum_of_panels(voxels_, n_train + n_test, make, all, control_);
  train = all.submat(0, 0, arma::size(n_train, n_train));
  test.set_size(n_test, n_train);
  if (n_test > 0) test = all.submat(n_train, 0, arma::size(n_test, n_train));
}

bool FoldForms::fit_kernel(const DesignFold& fold, double alpha, arma::mat& slopes, arma::mat* on) {
  fold_kernel(fold, system_, test_);
  const double n = static_cast<double>(fold.train.size()), level = arma::trace(system_) / n;
  system_ += level / n;  // the constant direction is empty, and must not become the smallest
  if (!(level > 0) || !factor_ridge(system_, alpha)) return false;
  if (on == nullptr) {
    b_ = targets(fold);
    solve_lower(system_, b_);
    slopes = test_ * b_;
    return true;
  }
  arma::mat rows = test_.t();
  solve_lower(system_, rows);
  rows = rows.t().eval();
  rows.each_col() -= arma::mean(rows, 1).eval();
  slopes = rows * targets(fold);
  scatter(fold, rows, *on);
  return true;
}

bool FoldForms::weights(const DesignFold& fold, double alpha, arma::mat& out) {
  if (!primal(fold)) return false;
  Moments moments;
  training_gram(fold, system_, out, moments);
  if (!factor_ridge(system_, alpha)) return false;
  solve_lower(system_, out);
  for (arma::uword j = 0; j < out.n_rows; ++j) out.row(j) /= moments.sd[j];
  return true;
}

void FoldForms::dual_weights(const DesignFold& fold, double alpha, arma::mat& out) {
  bool done = false;
  b_ = targets(fold);
  if (!primal(fold)) {
    fold_kernel(fold, system_, test_);
    const double n = static_cast<double>(fold.train.size()), level = arma::trace(system_) / n;
    system_ += level / n;
    done = level > 0 && factor_ridge(system_, alpha);
    if (done) solve_lower(system_, b_);
  }
  if (!done) {  // V = Zs' rows' / values
    const FoldDecomposition parts = decompose(fold, 0);
    arma::mat inner = parts.rows * targets(fold);
    for (arma::uword k = 0; k < inner.n_rows; ++k) inner.row(k) *= inverse(parts.values[k], alpha) / parts.values[k];
    b_ = parts.rows.t() * inner;
  }
  out.zeros(design_.n(), b_.n_cols);
  for (size_t i = 0; i < fold.train.size(); ++i) out.row(fold.train[i]) += b_.row(i);
}

}  // namespace voxridge
