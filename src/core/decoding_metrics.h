// Scores of held-out decisions: accuracy; balanced accuracy, the mean recall over classes present; area under the ROC
// curve with ties counting a half, for more than two classes the mean of one class against the rest over classes
// where that is defined; Pearson correlation (3 rows at least); r2 about the mean of the rows scored; mean squared
// error. NaN where a score is not defined: no rows, a single class (auc), no variance (r, r2).
#pragma once

#include <cstdint>
#include <vector>

#include "decoding_design.h"

namespace voxridge {

// Held-out rows: their truth, and decisions (column c of row i at decision[i + c * ld]; one column for two classes, and
// for regression, where they are predicted values).
struct ScoredRows {
  int64_t n = 0;
  int n_classes = 0;           // 0: regression
  const int* label = nullptr;  // from 0
  const double* value = nullptr;
  const double* decision = nullptr;
  int64_t ld = 0;
  const char* skip = nullptr;  // rows left out; nullptr: none
};

// The class that the decisions of a row name, from 0.
int decided_class(const ScoredRows& rows, int64_t i);

double decoding_score(DecodingMetric metric, const ScoredRows& rows);

// Can the score be defined for any decisions?
bool score_possible(DecodingMetric metric, const ScoredRows& rows);

// 1 or -1: the sign that makes larger scores better.
inline double better_sign(DecodingMetric metric) {
  return metric == DecodingMetric::mse ? -1 : 1;
}

// All decision columns from those solved: the last class of several from the sum.
void complete_decisions(int n_classes, arma::mat& decisions);

}  // namespace voxridge
