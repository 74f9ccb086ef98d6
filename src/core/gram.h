// Gram matrices for all folds from one pass over X.
//
// Dual (samples x samples): K = X X' once. With training rows t of size m and r_i = mean over j in t of K_ij, the Gram
// matrix of the rows centred on the training means is K_ij - r_i - r_j + mean(r_t), for training and held-out rows i
// alike. Primal (features x features): G = X'X once; a training Gram is G - X_v'X_v - m d d' with d the training mean
// of the globally centred rows. Both lose digits when the rows left out dominate the total (one wild sample), so each
// result is checked against the total and, where it shrank too far, made again from the fold's own centred rows.
#pragma once

#include <memory>
#include <vector>

#include "arma.h"
#include "blas.h"
#include "control.h"
#include "features.h"
#include "folds.h"

namespace voxridge {

class GpuGram;

// The sum of A A' (Trans::no) or A'A (Trans::yes) over panels, by the GPU or by the host: there the same bits for any
// number of threads.
class GramSum {
 public:
  // n x n; all panels together have `inner` columns (rows).
  GramSum(Trans trans, int64_t n, int64_t inner, const Control& control);
  ~GramSum();

  void add(MatrixView<double> panel);
  // The same panel in memory of the GPU (empty: it is not there); false where it could not be used.
  bool add_there(MatrixView<double> panel);
  arma::mat finish();

 private:
  const Trans trans_;
  const Control& control_;
  const std::unique_ptr<GpuGram> gpu_;
  arma::mat sum_;
};

// How many rows or columns of work, of n^2 multiplications and additions each, may go into a panel.
int64_t gram_panel(int64_t n, int64_t available);

// n x n: X X' of the features as they are (centred on whole-sample means where an intercept is fitted), or of some
// columns of them.
arma::mat sample_gram(const Features& features, int64_t col, int64_t n_cols, const Control& control);
inline arma::mat sample_gram(const Features& features, const Control& control) {
  return sample_gram(features, 0, features.cols(), control);
}

// p x p: X'X, of all rows or of some.
arma::mat feature_gram(const Features& features, const Control& control);
arma::mat feature_gram(const Features& features, const RowList& rows, const Control& control);

struct DualGram {
  arma::mat train;  // m x m
  arma::mat test;   // held-out x m
};
DualGram dual_fold_gram(const arma::mat& gram, const Features& features, const Fold& fold, const Control& control);

struct PrimalGram {
  arma::mat train;                 // p x p
  std::vector<double> train_mean;  // p, zero without an intercept
  bool direct = false;             // made from the training rows themselves
};
// `held_out`: X_v'X_v of a fold that leaves rows out of the whole, or nullptr: the training rows' Gram is made
// directly.
PrimalGram primal_fold_gram(const arma::mat& gram, const Features& features, const Fold& fold,
                            const arma::mat* held_out, const Control& control);

// Means of the listed rows per feature (zero where the features are not centred).
std::vector<double> training_means(const Features& features, const RowList& rows);

// A lower bound of the largest eigenvalue, within a few per cent (power iteration from a fixed start).
double largest_eigenvalue(const arma::mat& symmetric);

}  // namespace voxridge
