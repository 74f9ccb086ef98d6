// Which penalty: from the scores of the folds, weighted by what each holds out, as in glmnet.
//
//   mean = sum_k W_k m_k / sum_k W_k,   se = sqrt( sum_k W_k (m_k - mean)^2 / sum_k W_k / (K - 1) )
//
// over the K folds whose score is defined.
#pragma once

#include <cstdint>
#include <vector>

#include "binary_scores.h"

namespace voxridge {

// `scores`: folds x lambdas. NaN where no fold has a score, and for the se of a single one.
void summarise_folds(const double* scores, const std::vector<double>& fold_weights, int64_t n_lambdas, double* mean,
                     double* se);

struct ChosenLambda {
  int min = -1;     // best mean; of equal ones the first, which is the largest lambda; -1 where none is defined
  int one_se = -1;  // the largest lambda whose mean is within one se, that of the best, of the best
};

// lambdas in descending order.
ChosenLambda choose_lambda(BinaryScore criterion, const double* mean, const double* se, int64_t n_lambdas);

}  // namespace voxridge
