// Decoding by ridge: classification by +-1 codes or regression, out of fold, at many locations of one data set.
//
// Code column c is +1 for class c, -1 otherwise; two classes use one column (the second is +1). The decision is the
// ridge prediction with an unpenalised intercept; the largest decides, ties go to the first class, and of two classes
// the second is taken where the decision is above 0. Codes of a row sum to 2 - C, so that C - 1 columns are solved.
//
// Every location is worked on alone and in one order, whatever the number of threads: decoding_closed.h where the
// training sets are complements and voxels are not scaled within folds, decoding_fold.h otherwise. Label permutations:
// decoding_permutations.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control.h"
#include "folds.h"
#include "neighbourhoods.h"
#include "permutation_rows.h"
#include "view.h"

namespace voxridge {

enum class VoxelScale { none, global, fold };  // by mean and population sd of all rows, or of the training rows
enum class DecodingMetric { accuracy, balanced_accuracy, auc, r, r2, mse };
enum class DecodingFailure { none, too_small, constant, not_finite, class_missing, one_class, singular, undefined };

struct DecodingProblem {
  MatrixView<double> x;          // samples x voxels
  const int* classes = nullptr;  // from 1, per sample; nullptr: regression
  int n_classes = 0;
  const double* values = nullptr;
  std::vector<Fold> folds;  // rows of x; some rows may be in no fold
  bool partition = false;   // held-out sets partition the rows used, training sets are their complements
};

struct DecodingOptions {
  std::vector<double> alphas;            // several: chosen in each training set
  std::vector<std::vector<Fold>> inner;  // then per fold, in rows of x
  VoxelScale scale = VoxelScale::none;
  int64_t min_voxels = 2;
  std::vector<DecodingMetric> metrics;
  int64_t n_permutations = 0;
  RowPlan rows;  // of the rows used, in increasing order
};

struct DecodingFailureRow {
  int64_t location = 0, fold = 0;  // -1: all
  DecodingFailure reason = DecodingFailure::none;
};

// Memory of the caller; what is nullptr is not wanted. L locations, k folds, M metrics, H held-out rows in all, C' = 1
// or the number of classes.
struct DecodingOutputs {
  double *scores = nullptr, *pooled = nullptr;       // k x L x M, L x M
  int *size = nullptr, *voxel_state = nullptr;       // L, voxels (ColumnState)
  int* classes = nullptr;                            // H x L, 0 where there is none
  double *values = nullptr, *decision = nullptr;     // H x L (regression), H x C' x L
  double* alpha = nullptr;                           // k x L
  double *weights = nullptr, *patterns = nullptr;    // members x C', one location after another
  double* fold_weights = nullptr;                    // members x C' x k
  int *counts = nullptr, *max_counts = nullptr;      // L x M
  double *max_null = nullptr, *null_mean = nullptr;  // m x M, L x M
  int64_t n_members = 0;                             // of all locations together: rows of weights
  std::vector<DecodingFailureRow> failures;          // by location, then fold
};

void decode(const DecodingProblem& problem, const Neighbourhoods& locations, const DecodingOptions& options,
            DecodingOutputs& out, const Control& control);

}  // namespace voxridge
