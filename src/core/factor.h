// One factorisation that serves every penalty.
//
// With V, lambda the eigenvectors and eigenvalues of the smaller Gram matrix of the centred training rows, the ridge
// solution of min ||Y - XB||^2 + alpha ||B||^2 is
//   dual   (Gram X X'): X'B-free weights A = V diag(1 / (lambda + alpha)) V'Y,    B = X'A,   predictions X_v X'A
//   primal (Gram X'X):  B = V diag(1 / (lambda + alpha)) V'(X'Y),                           predictions X_v B
// (Hoerl and Kennard 1970, doi:10.1080/00401706.1970.10488634; dual form: Saunders et al. 1998). A Gram matrix squares
// the condition number of X: where the smallest alpha is below kSvdBelow times the largest eigenvalue, V and
// lambda = s^2 come from the singular value decomposition of the centred rows instead.
// For alpha = 0 eigenvalues under the rank cut-off are exact zeros and are left out: minimum-norm least squares.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "arma.h"
#include "bands.h"
#include "control.h"
#include "features.h"
#include "folds.h"

namespace voxridge {

enum class Route { eigen, svd };

// The Gram route's coefficients err by about 2 eps lambda_max / alpha: 5e-9 here.
constexpr double kSvdBelow = 1e-7;
// LAPACK's 32-bit workspace of dsyevd overflows at 32,767.
constexpr int64_t kLargestGram = 30000;

// 1 / (lambda + alpha), and 0 for a direction that neither data nor penalty determines (sums near the smallest numbers
// count as 0: their inverses overflow).
inline double inverse(double lambda, double alpha) {
  const double sum = lambda + alpha;
  return sum > 1e-300 ? 1 / sum : 0;
}

struct Factor {
  arma::mat
      vectors;  // m x r (dual) or p x r (primal; each row times the factor of its feature, where features have one)
  arma::vec values;            // r, >= 0
  double constant_value = -1;  // eigenvalue given to the constant vector in dual form, -1 where it is not among them
  arma::mat samples;  // primal, svd: X V (rows x r), which takes the place of V'X' in V'X'Y and keeps its digits
  // Dual, svd, all rows: right singular vectors of X (p x r), so that B = right diag(s / (lambda + alpha)) V'Y. X'A is
  // the same, but its large directions drown in the rounding of A's small ones.
  arma::mat right;
  bool spans_samples =
      false;  // dual: the vectors span all that targets can be (without their mean, if that is removed)
};

struct FoldFactor : Factor {
  arma::mat left;  // held-out rows x r: X_v X_t' V (dual) or X_v V (primal), X_v less the training means
  std::vector<double> train_mean;  // of the features, primal form only
  bool direct = false;             // primal: X'Y must come from the training rows themselves
};

// What factors are told apart by, where they are not made here but read from files.
struct FactorKind {
  Form form = Form::dual;
  Route route = Route::eigen;
  double top = 0;  // largest eigenvalue of the whole Gram matrix
};

// Stands for all rows where factors are listed by their folds.
constexpr int64_t kAllRows = -1;

// Factors of one X under one set of folds. Made once, used for any number of targets and penalties.
class Factors {
 public:
  // The features must outlive the factors.
  Factors(const Features& features, const Folds& folds, double smallest_alpha, const Control& control);

  // Factors of features whose bands have these weights. They serve the features without weights: in primal form
  // V'Z'Y = (DV)'X'Y and the coefficients of X are D times those of Z = XD, so D is part of the vectors; in dual form
  // B = D^2 X'A is left to the caller.
  Factors(const BandGrams& grams, const Folds& folds, const std::vector<double>& gammas, double smallest_alpha,
          const Control& control);

  // Factors that others have made: those of `put()`, no more.
  Factors(const Features& features, const Folds& folds, const FactorKind& kind);
  void put(int64_t which, FoldFactor factor);

  const Folds& folds() const { return folds_; }
  Form form() const { return form_; }
  Route route() const { return route_; }
  FactorKind kind() const { return {form_, route_, top_}; }
  int64_t inner() const { return form_ == Form::primal ? features_.cols() : features_.rows(); }

  // Would this penalty need the other route?
  bool serves(double smallest_alpha) const;

  // Makes and keeps the factor of all rows and/or those of all folds, several at a time.
  void keep(bool of_all_rows, bool of_folds, const Control& control);
  // Makes those of the folds listed (kAllRows among them), `side_by_side` of them at a time, and hands them over.
  void make(const std::vector<int64_t>& which, int side_by_side, const Control& control,
            const std::function<void(int64_t, FoldFactor)>& take) const;
  double bytes_of_folds() const;
  void release_folds();

  std::shared_ptr<const Factor> full(const Control& control);
  std::shared_ptr<const FoldFactor> fold(int64_t f, const Control& control) const;

  // Do held-out predictions need no factors of the folds? See leave_out.h.
  bool folds_from_full() const { return form_ == Form::dual && route_ == Route::eigen && folds_.partition; }

  // Smallest and largest non-zero eigenvalue of the folds, or of all rows, which enclose them; {0, infinity} where
  // those factors are not kept.
  struct Range {
    double smallest, largest;
  };
  Range eigenvalue_range(bool of_all_rows) const;

 private:
  void check_inner() const;
  void check_made_here() const;
  void choose_route(double smallest_alpha);
  void unscale(Factor& factor) const;
  bool serves_by_eigen(double alpha) const;
  int factor_threads(const Control& control) const;
  Factor make_full(const Control& control) const;
  FoldFactor make_fold(int64_t f, const Control& control) const;
  FoldFactor make_fold_svd(const Fold& fold, const Control& control) const;
  arma::mat weighted_rows(const RowList& rows, const std::vector<double>& shift) const;

  const Features& features_;
  const Folds& folds_;
  const BandGrams* grams_ = nullptr;  // where the features have weights
  std::vector<double> gammas_, factors_;
  Features weighted_;  // the features times their factors
  Form form_;
  Route route_;
  double top_;             // largest eigenvalue of the whole Gram matrix
  arma::mat gram_;         // of all rows
  arma::mat triangle_;     // svd, n < p, for the folds: L of X = L Q', whose rows have the same products as those of X
  bool made_here_ = true;  // else `gram_` is not there
  std::vector<std::shared_ptr<const FoldFactor>> kept_;
  std::shared_ptr<const Factor> kept_full_;
};

}  // namespace voxridge
