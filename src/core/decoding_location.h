// All folds of one location: which way, which penalty, and what could not be done.
#pragma once

#include <vector>

#include "decoding_closed.h"
#include "decoding_fold.h"

namespace voxridge {

struct LocationFit {
  arma::mat decision;                   // held-out rows x decision columns, NaN where a fold failed
  arma::mat on;                         // held-out rows (padded) x places: from y to decisions less training means
  std::vector<DecodingFailure> failed;  // per fold
  std::vector<double> alpha;            // per fold
};

class LocationSolver {
 public:
  LocationSolver(const DecodingProblem& problem, const DecodingDesign& design, const DecodingOptions& options,
                 const VoxelTable& table, const Control& control)
      : design_(design),
        options_(options),
        voxels_(problem.x, design, table),
        forms_(design, voxels_, options.scale == VoxelScale::fold, control) {
    for (const DesignFold& fold : design.folds) means_.push_back(&fold.mean);
  }

  // `columns` must stay; `padded`: rows of the operator, 0 where none is wanted.
  void run(const std::vector<int>& columns, int64_t padded, LocationFit& out);

  // The penalty of the fit on all rows: the median of those of the folds, on the log scale.
  double overall_alpha(const LocationFit& fit) const;

  const LocationVoxels& voxels() const { return voxels_; }
  FoldForms& forms() { return forms_; }

 private:
  bool run_closed(double alpha, arma::mat* on);
  void run_fold(int64_t f, double alpha, arma::mat* on);
  // decoding_tuning.cpp
  double run_tuned(int64_t f);

  const DecodingDesign& design_;
  const DecodingOptions& options_;
  LocationVoxels voxels_;
  FoldForms forms_;
  std::vector<const arma::rowvec*> means_;
  arma::mat slopes_, some_, on_, rows_;  // slopes: held-out rows x columns of y
  LeaveOutFactor factor_;
};

}  // namespace voxridge
