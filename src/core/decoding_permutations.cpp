#include "decoding_permutations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arma_view.h"
#include "blas.h"
#include "decoding_metrics.h"
#include "error.h"

namespace voxridge {

LabelPermutations::LabelPermutations(const DecodingDesign& design, const DecodingOptions& options,
                                     const Control& control)
    : design_(design),
      metrics_(options.metrics),
      n_vectors_(options.n_permutations + 1),
      columns_(static_cast<int>(design.y.n_cols)) {
  const int64_t n = design.n(), n_test = design.test_start.back();
  n_strips_ = (n_test + kDoubleLanes - 1) / kDoubleLanes;
  n_groups_ = sample_groups(n);
  for (const DecodingMetric metric : metrics_) (metric == DecodingMetric::accuracy ? accuracy_ : others_) = true;
  for (int64_t f = 0; f < design.n_folds(); ++f) {
    for (const int64_t place : design.folds[f].test) {
      test_place_.push_back(place);
      test_fold_.push_back(static_cast<int>(f));
    }
  }
  const PermutationRows rows(options.rows);
  if (rows.n() != n) throw Error(ErrorCode::internal, "permutations are not of the rows used");
  from_.reserve(n_vectors_ * n);
  std::vector<int> order(n);
  for (int64_t r = 0; r < n_vectors_; ++r) {
    control.check_stop();
    for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int>(i);
    if (r > 0) rows.order(r - 1, order.data());
    from_.resize((r + 1) * n);
    int* from = from_.data() + r * n;
    for (int64_t i = 0; i < n; ++i) from[design.place_of_used[i]] = static_cast<int>(design.place_of_used[order[i]]);
  }
  if (design.classifies()) code_classes(design, control);
}

void LabelPermutations::code_classes(const DecodingDesign& design, const Control& control) {
  const int64_t n = design.n(), n_test = static_cast<int64_t>(test_place_.size());
  codes_.assign(columns_ * n_vectors_ * n_groups_, 0);
  truth_.assign(design.n_classes * n_strips_ * n_vectors_, 0);
  for (int64_t r = 0; r < n_vectors_; ++r) {
    control.check_stop();
    const int* from = from_.data() + r * n;
    for (int64_t i = 0; i < n; ++i) {
      const int label = design.label[from[i]];
      const int column = design.n_classes > 2 ? label : label - 1;
      if (column < 0 || column >= columns_) continue;
      codes_[(column * n_vectors_ + r) * n_groups_ + i / kGroupSamples] |= uint8_t(1 << (i % kGroupSamples));
    }
    for (int64_t h = 0; h < n_test; ++h) {
      const int label = design.label[from[test_place_[h]]];
      RowBytes& bytes = truth_[(label * n_strips_ + h / kDoubleLanes) * n_vectors_ + r];
      reinterpret_cast<unsigned char*>(&bytes)[h % kDoubleLanes] = 255;
    }
    for (const DesignFold& fold : design.folds) {
      for (int c = 0; c < columns_ && same_means_; ++c) {
        const int positive = design.n_classes > 2 ? c : 1;
        int64_t change = 0;
        for (const int64_t i : fold.train) {
          change += (design.label[from[i]] == positive) - (design.label[i] == positive);
        }
        same_means_ = change == 0;
      }
    }
  }
}

double LabelPermutations::shown(DecodingMetric metric, double score) const {
  if (metric == DecodingMetric::accuracy) return score / static_cast<double>(test_place_.size());
  return better_sign(metric) * score;
}

void LabelPermutations::score(LocationFit& fit, Scratch& scratch, const Control& control) const {
  scratch.scores.assign(n_vectors_ * metrics_.size(), std::numeric_limits<double>::quiet_NaN());
  if (!design_.classifies() || !same_means_) {  // the operator takes in the training means
    for (size_t h = 0; h < test_place_.size(); ++h) {
      const DesignFold& fold = design_.folds[test_fold_[h]];
      for (const int64_t i : fold.train) fit.on(h, i) += 1 / static_cast<double>(fold.train.size());
    }
  }
  design_.classifies() ? score_classes(fit, scratch, control) : score_values(fit, scratch, control);
}

void LabelPermutations::score_classes(const LocationFit& fit, Scratch& scratch, const Control& control) const {
  scratch.tables.resize(n_groups_ * kGroupPatterns);
  scratch.sums.resize(columns_ * kLabelBatch);
  scratch.hits.assign(n_vectors_, 0);
  if (others_) scratch.decisions.resize(design_.decisions() * kLabelBatch * padded());
  std::vector<DoubleStrip> shift(columns_);
  // With other metrics whole decisions of a batch are needed, and the tables are built once per batch.
  const int64_t batch = others_ ? kLabelBatch : n_vectors_;
  for (int64_t start = 0; start < n_vectors_; start += batch) {
    const int64_t stop = std::min(n_vectors_, start + batch);
    for (int64_t s = 0; s < n_strips_; ++s) {
      RowBytes valid = 0;
      for (int64_t lane = 0; lane < kDoubleLanes; ++lane) {
        const int64_t h = s * kDoubleLanes + lane;
        const bool there = h < static_cast<int64_t>(test_place_.size());
        if (there && fit.failed[test_fold_[h]] == DecodingFailure::none) {
          reinterpret_cast<unsigned char*>(&valid)[lane] = 255;
        }
        for (int c = 0; c < columns_; ++c) {
          shift[c].lane[lane] = there && same_means_ ? design_.folds[test_fold_[h]].mean[c] : 0;
        }
      }
      build_sign_tables(view_of(fit.on), s * kDoubleLanes, scratch.tables.data());
      for (int64_t first = start; first < stop; first += kLabelBatch) {
        const int64_t count = std::min(kLabelBatch, stop - first);
        control.check_stop();
        for (int c = 0; c < columns_; ++c) {
          DoubleStrip* sums = scratch.sums.data() + c * kLabelBatch;
          add_sign_tables(scratch.tables.data(), n_groups_, codes_.data() + (c * n_vectors_ + first) * n_groups_, count,
                          sums);
          for (int64_t r = 0; r < count && others_; ++r) {
            double* to = scratch.decisions.data() + (c * kLabelBatch + r) * padded() + s * kDoubleLanes;
            for (int lane = 0; lane < kDoubleLanes; ++lane) to[lane] = sums[r].lane[lane] + shift[c].lane[lane];
          }
        }
        if (!accuracy_) continue;
        StripVerdict verdict;
        verdict.sums = scratch.sums.data();
        verdict.shift = shift.data();
        verdict.truth = truth_.data() + s * n_vectors_ + first;
        verdict.stride = kLabelBatch;
        verdict.truth_stride = n_strips_ * n_vectors_;
        verdict.n_classes = design_.n_classes;
        verdict.valid = valid;
        count_hits(verdict, count, scratch.hits.data() + first);
      }
    }
    if (!others_) continue;
    const int64_t size = kLabelBatch * padded();
    double* last = scratch.decisions.data() + columns_ * size;
    for (int64_t i = 0; i < size && columns_ > 1; ++i) {
      last[i] = 2.0 - design_.n_classes;
      for (int c = 0; c < columns_; ++c) last[i] -= scratch.decisions[c * size + i];
    }
    score_batch(fit, start, stop - start, scratch, control);
  }
  for (size_t k = 0; k < metrics_.size(); ++k) {
    if (metrics_[k] != DecodingMetric::accuracy) continue;
    std::copy(scratch.hits.begin(), scratch.hits.end(), scratch.scores.begin() + k * n_vectors_);
  }
}

void LabelPermutations::score_values(const LocationFit& fit, Scratch& scratch, const Control& control) const {
  const int64_t n = design_.n();
  scratch.decisions.resize(kLabelBatch * padded());
  scratch.labels.resize(kLabelBatch * n);
  for (int64_t first = 0; first < n_vectors_; first += kLabelBatch) {
    const int64_t count = std::min(kLabelBatch, n_vectors_ - first);
    for (int64_t r = 0; r < count; ++r) {
      const int* from = from_.data() + (first + r) * n;
      for (int64_t i = 0; i < n; ++i) scratch.labels[r * n + i] = design_.y(from[i], 0);
    }
    gemm(Trans::no, Trans::no, 1.0, view_of(fit.on), {scratch.labels.data(), n, count, n}, 0.0,
         {scratch.decisions.data(), padded(), count, padded()});
    score_batch(fit, first, count, scratch, control);
  }
}

void LabelPermutations::score_batch(const LocationFit& fit, int64_t first, int64_t count, Scratch& scratch,
                                    const Control& control) const {
  const int64_t n = design_.n();
  std::vector<int> label(test_place_.size());
  std::vector<double> value(test_place_.size());
  for (int64_t r = 0; r < count; ++r) {
    control.check_stop();
    const int* from = from_.data() + (first + r) * n;
    for (size_t h = 0; h < test_place_.size(); ++h) {
      if (design_.classifies()) label[h] = design_.label[from[test_place_[h]]];
      if (!design_.classifies()) value[h] = design_.y(from[test_place_[h]], 0);
    }
    for (size_t k = 0; k < metrics_.size(); ++k) {
      if (metrics_[k] == DecodingMetric::accuracy) continue;
      double sum = 0, defined = 0;
      for (int64_t f = 0; f < design_.n_folds(); ++f) {
        if (fit.failed[f] != DecodingFailure::none) continue;
        const int64_t start = design_.test_start[f];
        ScoredRows rows;
        rows.n = design_.test_start[f + 1] - start;
        rows.n_classes = design_.n_classes;
        rows.label = label.data() + start;
        rows.value = value.data() + start;
        rows.decision = scratch.decisions.data() + r * padded() + start;
        rows.ld = kLabelBatch * padded();
        const double score = decoding_score(metrics_[k], rows);
        if (std::isnan(score)) continue;
        sum += better_sign(metrics_[k]) * score;
        ++defined;
      }
      if (defined > 0) scratch.scores[k * n_vectors_ + first + r] = sum / defined;
    }
  }
}

}  // namespace voxridge
