// What is told of one number over all resamples.
//
// Percentiles are of type 7 (Hyndman and Fan 1996, doi:10.1080/00031305.1996.10473566): with x sorted from x_0 and
// h = (n_boot - 1) q, x_[h] + (h - [h]) (x_[h]+1 - x_[h]). The normal interval is mean -+ reach sd.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace voxridge {

struct IntervalRule {
  double lower = 0.025, upper = 0.975;  // percentiles
  double reach = 0;                     // above 0: the normal interval
};

// outputs x targets each; `samples` (n_boot x outputs x targets) or nullptr.
struct BootstrapOutputs {
  MatrixSpan<double> estimate, mean, sd, z, lower, upper;
  double* samples = nullptr;
  int64_t deficient = 0;  // resamples that did not determine all weights at alpha = 0
  int64_t passes = 0;     // over the resamples
};

// A worker's.
class BootstrapSummary {
 public:
  BootstrapSummary(int64_t n_boot, const IntervalRule& rule, const BootstrapOutputs& out);

  // `values`: the answer of the data, then those of the resamples, in any state afterwards; `shift` is added to all.
  void operator()(double* values, double shift, int64_t row, int64_t target);

 private:
  // A percentile lies between two neighbours in order, `at` values below the first. Counted from above where `at` is
  // nearer to that end. They are sought among the values beyond mean -+ cut sd, which are a few more than needed where
  // values are about normal, and among all where those are too few.
  struct Percentile {
    bool from_above;
    int64_t at;
    double between;  // 0: the first, 1: the second
    double cut;
  };
  Percentile locate(double probability) const;
  double find(const Percentile& percentile, const double* values, double mean, double sd);

  int64_t n_boot_;
  IntervalRule rule_;
  const BootstrapOutputs& out_;
  Percentile lower_, upper_;
  std::vector<double> few_;
};

}  // namespace voxridge
