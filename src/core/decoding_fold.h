// Held-out decisions of one fold from its own training rows, for any training set and for voxels scaled within it.
//
// With the training rows Zs = (Z_T - mu) / sd and the held-out rows Zs_B = (Z_B - mu) / sd (sd = 1 without scaling),
//   voxels up to training rows:  slope = Zs_B (Zs'Zs + alpha I)^-1 Zs'(Y_T - mean)
//   otherwise:                   slope = Zs_B Zs' (Zs Zs' + alpha I)^-1 (Y_T - mean)
// Zs'Zs of a training set that is the complement of its held-out rows is a downdate of Z'Z of all rows:
// Z'Z - Z_B'Z_B - n_T mu mu', n_T mu = minus the column sums of Z_B; where too little of a voxel is left it is made
// from the training rows instead. The kernel of unscaled rows is a part of Z Z', centred. A voxel that is constant in
// the training set is divided by 1.
//
// Where elimination loses digits (very small penalties, alpha = 0), and where several penalties are compared, a
// decomposition takes its place: singular vectors of Zs, or eigenvectors of the smaller Gram matrix. Directions under
// the rank cut-off are left out: at alpha = 0 the solution of least norm.
#pragma once

#include <functional>
#include <vector>

#include "arma.h"
#include "decoding_design.h"

namespace voxridge {

// slopes = left diag(1 / (values + alpha)) rows (Y_T - mean), for any alpha; rows = rows of Zs in the basis: r x n_T.
struct FoldDecomposition {
  arma::mat left;
  arma::vec values;
  arma::mat rows;
};

class FoldForms {
 public:
  FoldForms(const DecodingDesign& design, const LocationVoxels& voxels, bool scale, const Control& control)
      : design_(design), voxels_(voxels), scale_(scale), control_(control) {}

  // The voxels have changed.
  void restart() { has_rows_ = has_gram_ = has_kernel_ = has_squares_ = false; }

  // Slopes of the held-out rows of a fold (test x columns of y); `on`, where it is wanted: the matrix from y to them
  // (test x places).
  void fit(const DesignFold& fold, double alpha, arma::mat& slopes, arma::mat* on);

  FoldDecomposition decompose(const DesignFold& fold, double smallest_alpha);

  // Weights are Zs'R / sd, R of places x columns of y, zero outside the training set. Where voxels are few they come
  // straight from their own Gram matrix: true, and then they are in `out` (voxels x columns of y, in units of Z).
  bool weights(const DesignFold& fold, double alpha, arma::mat& out);
  void dual_weights(const DesignFold& fold, double alpha, arma::mat& out);

  // What the training set divides voxels by: of z, values at its rows.
  void deviations(const DesignFold& fold, const arma::mat& z, std::vector<double>& sd) const;

  // Z Z' of all rows.
  const arma::mat& kernel();
  // Z, where voxels are few.
  arma::mat& rows();

 private:
  struct Moments {
    std::vector<double> mean, sd;
  };
  bool primal(const DesignFold& fold) const { return voxels_.size() <= static_cast<int64_t>(fold.train.size()); }
  // With scaling within folds a downdate stays cheaper than a kernel for some voxels more.
  bool downdate_pays(const DesignFold& fold) const {
    return scale_ && fold.complement && voxels_.size() * 10 <= static_cast<int64_t>(fold.train.size()) * 17;
  }
  bool can_copy() const;  // are the voxels few enough to be put side by side?
  arma::mat targets(const DesignFold& fold) const;

  // Standardises rows by themselves, or by the moments of others.
  void standardize(arma::mat& z, Moments& moments) const;
  void apply(const Moments& moments, arma::mat& z) const;

  // decoding_fold.cpp: voxels are few
  void training_gram(const DesignFold& fold, arma::mat& gram, arma::mat& right, Moments& moments);
  bool downdate(const DesignFold& fold, arma::mat& gram, arma::mat& right, Moments& moments);
  bool fit_primal(const DesignFold& fold, double alpha, arma::mat& slopes, arma::mat* on);
  void held_out(const DesignFold& fold, const Moments& moments, arma::mat& z);
  bool downdate_moments(const DesignFold& fold, Moments& moments);

  // decoding_fold_kernel.cpp: voxels are many
  void fold_kernel(const DesignFold& fold, arma::mat& train, arma::mat& test);
  bool part_of_kernel(const DesignFold& fold, arma::mat& train, arma::mat& test);
  bool scaled_at_once(const DesignFold& fold, arma::mat& train, arma::mat& test);
  bool fit_kernel(const DesignFold& fold, double alpha, arma::mat& slopes, arma::mat* on);
  FoldDecomposition by_singular_values(const DesignFold& fold);

  // on(:, places of the training set) += rows
  static void scatter(const DesignFold& fold, const arma::mat& rows, arma::mat& on);

  const DecodingDesign& design_;
  const LocationVoxels& voxels_;
  const bool scale_;
  const Control& control_;
  bool has_rows_ = false, has_gram_ = false, has_kernel_ = false, has_squares_ = false;
  arma::mat rows_, gram_, right_, kernel_;       // Z, Z'Z, Z'Y, Z Z'
  std::vector<double> squares_;                  // the diagonal of Z'Z
  arma::mat system_, b_, test_, block_, panel_;  // scratch
};

// The sum of panel panel' over the voxels of a location, in an order that does not depend on threads.
void sum_of_panels(const LocationVoxels& voxels, int64_t n_rows,
                   const std::function<void(int64_t, int64_t, arma::mat&)>& make, arma::mat& out,
                   const Control& control);

}  // namespace voxridge
