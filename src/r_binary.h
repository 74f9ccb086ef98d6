// Words of the bindings of binary outcomes.
#pragma once

#include <string>

#include "core/binary_scores.h"

namespace voxridge_r {

inline voxridge::BinaryScore binary_score_of(const std::string& word) {
  using voxridge::BinaryScore;
  if (word == "log_loss") return BinaryScore::log_loss;
  if (word == "brier") return BinaryScore::brier;
  return word == "auc" ? BinaryScore::auc : BinaryScore::accuracy;
}

}  // namespace voxridge_r
