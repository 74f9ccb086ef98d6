// Label permutations: one set of them for all locations, counts per location, and the largest score over locations.
//
// Label vector r is y[order_r], where order_r is a rearrangement of stream 3; vector 0 is the data. Decisions are the
// operator of the location (decoding_location.h) times the label vector: by tables for classes (decoding_tables.h), by
// matrix products for values, kLabelBatch vectors at a time. Accuracies are compared as whole numbers of right answers
// over all held-out rows, other scores as their means over folds, within kScoreTie.
#pragma once

#include <cstdint>
#include <vector>

#include "decoding_location.h"
#include "decoding_tables.h"

namespace voxridge {

constexpr int64_t kLabelBatch = 256;
constexpr double kScoreTie = 1e-10;

class LabelPermutations {
 public:
  LabelPermutations(const DecodingDesign& design, const DecodingOptions& options, const Control& control);

  int64_t count() const { return n_vectors_ - 1; }
  int64_t padded() const { return n_strips_ * kDoubleLanes; }  // rows of an operator

  // The scores of the data and of every permutation by location, metric by metric; larger is better, NaN where a score
  // is undefined. Accuracy: right answers. `on` is spent.
  struct Scratch {
    std::vector<DoubleStrip> tables, sums;
    std::vector<double> decisions, labels;
    std::vector<int> hits;
    std::vector<double> scores;  // vectors x metrics
  };
  void score(LocationFit& fit, Scratch& scratch, const Control& control) const;

  // A score as the caller knows it.
  double shown(DecodingMetric metric, double score) const;

 private:
  void code_classes(const DecodingDesign& design, const Control& control);
  void score_classes(const LocationFit& fit, Scratch& scratch, const Control& control) const;
  void score_values(const LocationFit& fit, Scratch& scratch, const Control& control) const;
  // Means over folds of metrics other than accuracy; decisions are columns x kLabelBatch x padded().
  void score_batch(const LocationFit& fit, int64_t first, int64_t count, Scratch& scratch,
                   const Control& control) const;

  const DecodingDesign& design_;
  const std::vector<DecodingMetric>& metrics_;
  int64_t n_vectors_ = 0, n_strips_ = 0, n_groups_ = 0;
  int columns_ = 1;
  bool accuracy_ = false, others_ = false;
  bool same_means_ = true;           // do permutations leave the training means as they are?
  std::vector<int> from_;            // vectors x places: whose label a place takes (a place)
  std::vector<uint8_t> codes_;       // columns x vectors x groups
  std::vector<RowBytes> truth_;      // classes x strips x vectors
  std::vector<int64_t> test_place_;  // per held-out row
  std::vector<int> test_fold_;
};

}  // namespace voxridge
