// Mean, standard deviation, sum, extremes, t and quantiles over the items of a collection, row by row and voxel by
// voxel, and all items as rows of one matrix. Results are the same for any number of threads, bit for bit those of a loop over the items.
#pragma once

#include <cstdint>
#include <vector>

#include "collection.h"

namespace voxridge {

enum class Summary { mean, sd, t, sum, min, max };

struct SummaryOptions {
  Summary what = Summary::mean;
  PassOptions pass;
  int n_groups = 1;       // two for a two-sample t: items say which they belong to
  bool var_equal = true;  // of two groups
  double mu = 0;          // the mean, or difference of means, that t is about
  double missing = 0;     // stands where there is no result
};

// Rows of an item x voxels, column by column.
struct SummaryOutputs {
  double* value = nullptr;     // the mean, standard deviation, sum, least or largest value, or t
  double* estimate = nullptr;  // with t: the mean, or mean of group 0 minus that of group 1
  double* df = nullptr;        // with t, where wanted: degrees of freedom of each t
  int32_t* counts = nullptr;   // where wanted, and always with skip_missing: how many values there were
};

struct SummaryReport {
  std::vector<FailedItem> failed;
  std::vector<int64_t> n;  // items used, by group
  int64_t passes = 0;      // over the files
};

// What each t has under it: t = (mean - mu) / sqrt(m2 / (k (k - 1))) of one group. Of two, the pooled variance, or
// Welch's with his degrees of freedom. `missing` for fewer than two values, and where values are constant to rounding.
SummaryReport summarise(const Collection& collection, const SummaryOptions& options, const SummaryOutputs& out,
                        const Control& control);

// Quantile probs[q] of the values at each place goes to out[q], rows of an item x voxels: x[lo] (1 - h) + x[lo + 1] h of
// the sorted values, lo + h = (k - 1) p + 1 (type 7 of Hyndman and Fan). `counts`: as above.
// Source: Hyndman and Fan (1996), Sample quantiles in statistical packages, The American Statistician 50, 361-365.
SummaryReport quantiles(const Collection& collection, const std::vector<double>& probs, const PassOptions& options,
                        double missing, const std::vector<double*>& out, int32_t* counts, const Control& control);

// The number of the item, from 1, comes first: callers name it.
[[noreturn]] void refuse(const FailedItem& failed);

// Item i -> row i of `out`, items x voxels. Rows of items that failed are not written.
std::vector<FailedItem> stack_items(const Collection& collection, const PassOptions& options,
                                    MatrixSpan<double> out, const Control& control);

}  // namespace voxridge
