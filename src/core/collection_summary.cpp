#include "collection_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "welford.h"

namespace voxridge {

namespace {

// What is kept of one group, rows x voxels, column by column.
struct Moments {
  double* mean = nullptr;
  double* m2 = nullptr;          // where wanted
  int32_t* counts = nullptr;     // with skip_missing
  std::vector<int64_t> n_items;  // by row: items so far; in the end the same number

  double count(int64_t cell) const {
    return counts != nullptr ? counts[cell] : static_cast<double>(n_items.front());
  }
};

// What the k-th value does to what is kept of those before. One that is not finite makes it NaN for good.
struct MeanRule {
  static void add(double x, double k, double* mean, double*) { add_value(x, k, *mean); }
};
struct SquaresRule {
  static void add(double x, double k, double* mean, double* m2) { add_value(x, k, *mean, *m2); }
};
struct SumRule {
  static void add(double x, double, double* sum, double*) { *sum += x + 0 * x; }
};
template <bool largest>
struct ExtremeRule {
  static void add(double x, double k, double* kept, double*) {
    if (!std::isfinite(x)) {
      *kept = NAN;
    } else if (k == 1 || (largest ? x > *kept : x < *kept)) {
      *kept = x;
    }
  }
};

// `width` rows at neighbouring places, the k-th of each: their cells lie side by side.
template <typename Rule, bool skip, int width>
void add_block(const Moments& to, int64_t n_rows, int64_t n_voxels, const double* rows, int64_t place, double k) {
  for (int64_t voxel = 0; voxel < n_voxels; ++voxel) {
    const int64_t cell = voxel * n_rows + place;
    double* const mean = to.mean + cell;
    double* const m2 = to.m2 == nullptr ? nullptr : to.m2 + cell;
    int32_t* const counts = skip ? to.counts + cell : nullptr;
    for (int r = 0; r < width; ++r) {
      const double x = rows[r * n_voxels + voxel];
      if (skip && !std::isfinite(x)) continue;
      Rule::add(x, skip ? ++counts[r] : k, mean + r, m2 + (m2 == nullptr ? 0 : r));
    }
  }
}

template <typename Rule, bool skip>
void add_rows_by(Moments& to, int64_t n_voxels, const double* rows, const std::vector<int64_t>& places) {
  const int64_t n_rows = static_cast<int64_t>(to.n_items.size()), n = static_cast<int64_t>(places.size());
  for (const int64_t place : places) ++to.n_items[place];
  const double k = static_cast<double>(to.n_items[places[0]]);  // the items before have been added everywhere
  for (int64_t r = 0; r < n;) {
    int64_t run = 1;
    while (r + run < n && places[r + run] == places[r] + run) ++run;
    const auto add = run >= 8   ? add_block<Rule, skip, 8>
                     : run >= 4 ? add_block<Rule, skip, 4>
                                : add_block<Rule, skip, 1>;
    add(to, n_rows, n_voxels, rows + r * n_voxels, places[r], k);
    r += run >= 8 ? 8 : run >= 4 ? 4 : 1;
  }
}

using AddRows = void (*)(Moments&, int64_t, const double*, const std::vector<int64_t>&);

template <bool skip>
AddRows rule_of(Summary what) {
  switch (what) {
    case Summary::mean:
      return add_rows_by<MeanRule, skip>;
    case Summary::sum:
      return add_rows_by<SumRule, skip>;
    case Summary::min:
      return add_rows_by<ExtremeRule<false>, skip>;
    case Summary::max:
      return add_rows_by<ExtremeRule<true>, skip>;
    default:
      return add_rows_by<SquaresRule, skip>;
  }
}

// Values that differ by rounding only have no t: the rule of R's t.test().
bool is_constant(double error, double size) {
  return !(error > 10 * std::numeric_limits<double>::epsilon() * size);
}

struct T {
  double estimate = NAN, value = NAN, df = NAN;
};

T one_sample(const Moments& a, int64_t cell, double mu) {
  const double k = a.count(cell), mean = a.mean[cell];
  T out;
  if (k < 1) return out;
  out.estimate = mean;
  const double error = std::sqrt(variance_of(a.m2[cell], k) / k);
  if (is_constant(error, std::abs(mean))) return out;
  out.value = (mean - mu) / error;
  out.df = k - 1;
  return out;
}

T two_sample(const Moments& a, const Moments& b, int64_t cell, const SummaryOptions& options) {
  const double ka = a.count(cell), kb = b.count(cell);
  T out;
  if (ka < 1 || kb < 1) return out;
  out.estimate = a.mean[cell] - b.mean[cell];
  double error, df;
  if (options.var_equal) {
    df = ka + kb - 2;
    error = df < 1 ? NAN : std::sqrt((a.m2[cell] + b.m2[cell]) / df * (1 / ka + 1 / kb));
  } else {
    const double va = variance_of(a.m2[cell], ka) / ka, vb = variance_of(b.m2[cell], kb) / kb;
    error = std::sqrt(va + vb);
    df = (va + vb) * (va + vb) / (va * va / (ka - 1) + vb * vb / (kb - 1));
  }
  if (is_constant(error, std::max(std::abs(a.mean[cell]), std::abs(b.mean[cell])))) return out;
  out.value = (out.estimate - options.mu) / error;
  out.df = df;
  return out;
}

class Summariser {
 public:
  Summariser(const Collection& collection, const SummaryOptions& options, const SummaryOutputs& out,
             const Control& control)
      : collection_(collection),
        options_(options),
        out_(out),
        control_(control),
        n_rows_(options.pass.rows.within == Within::none ? collection.items[0].n_rows() : 1),
        excluded_(collection.items.size(), 0) {}

  SummaryReport run() {
    const bool two = options_.n_groups == 2, skip = options_.pass.rows.skip_missing;
    const int extra = two ? 2 : options_.what == Summary::sd ? 1 : 0;
    const double bytes = static_cast<double>(n_rows_) * (8.0 * extra + (two && skip ? 4 : 0));
    const int64_t n = collection_.n_voxels(), step = fitting(control_.memory_bytes, bytes, 1, n);
    const size_t cells = static_cast<size_t>(step * n_rows_);
    for (int e = 0; e < extra; ++e) extra_[e].resize(cells);
    if (two && skip) extra_counts_.resize(cells);
    for (int64_t first = 0; first < n;) {
      const VoxelRange voxels{first, std::min(step, n - first)};
      const bool same = pass(voxels);
      if (!same && !options_.pass.skip_failed) break;
      if (!same && first > 0) {  // the items of the blocks before were others
        first = 0;
        continue;
      }
      finish(voxels);
      first += voxels.n;
    }
    for (int g = 0; g < options_.n_groups; ++g) report_.n.push_back(used_items(g));
    std::sort(report_.failed.begin(), report_.failed.end(),
              [](const FailedItem& a, const FailedItem& b) { return a.item < b.item; });
    return std::move(report_);
  }

 private:
  int64_t used_items(int group) const {
    int64_t n = 0;
    for (size_t i = 0; i < excluded_.size(); ++i) n += !excluded_[i] && group_of(i) == group;
    return n;
  }

  int group_of(size_t item) const { return options_.n_groups == 1 ? 0 : collection_.items[item].group; }

  void clear(VoxelRange voxels) {
    const int64_t from = voxels.first * n_rows_, cells = voxels.n * n_rows_;
    const bool skip = options_.pass.rows.skip_missing;
    groups_.assign(static_cast<size_t>(options_.n_groups), Moments());
    for (Moments& group : groups_) group.n_items.assign(static_cast<size_t>(n_rows_), 0);
    Moments& first = groups_[0];
    first.counts = skip ? out_.counts + from : nullptr;
    const bool squares = options_.what == Summary::sd || options_.what == Summary::t;
    if (squares) first.m2 = out_.value + from;
    first.mean = !squares ? out_.value + from : options_.what == Summary::sd ? extra_[0].data() : out_.estimate + from;
    if (groups_.size() == 2) {
      groups_[1].mean = extra_[0].data();
      groups_[1].m2 = extra_[1].data();
      groups_[1].counts = skip ? extra_counts_.data() : nullptr;
    }
    for (Moments& group : groups_) {
      std::fill_n(group.mean, cells, 0.0);
      if (group.m2 != nullptr) std::fill_n(group.m2, cells, 0.0);
      if (group.counts != nullptr) std::fill_n(group.counts, cells, 0);
    }
  }

  // One pass, or where items failed after some of their rows had been added, as many as it takes. Is the set of items
  // that were used what it was before?
  bool pass(VoxelRange voxels) {
    for (bool same = true;;) {
      clear(voxels);
      int64_t steps = 0;
      for (size_t i = 0; i < excluded_.size(); ++i) steps += excluded_[i] ? 0 : collection_.items[i].n_rows();
      control_.expect(steps);
      const AddRows add_rows = options_.pass.rows.skip_missing ? rule_of<true>(options_.what)
                                                               : rule_of<false>(options_.what);
      const auto add = [&](int64_t item, const double* rows, const std::vector<int64_t>& places) {
        add_rows(groups_[static_cast<size_t>(group_of(static_cast<size_t>(item)))], voxels.n, rows, places);
      };
      const PassOutcome outcome = pass_over(collection_, excluded_, voxels, options_.pass, add, control_);
      ++report_.passes;
      for (const FailedItem& failed : outcome.failed) {
        excluded_[failed.item] = 1;
        report_.failed.push_back(failed);
        same = false;
      }
      if (outcome.failed.empty() || !options_.pass.skip_failed || !outcome.spoilt) return same;
    }
  }

  void finish(VoxelRange voxels) {
    const int64_t from = voxels.first * n_rows_, cells = voxels.n * n_rows_;
    const auto or_missing = [&](double x) { return std::isnan(x) ? options_.missing : x; };
    for (int64_t cell = 0; cell < cells; ++cell) {
      const Moments& first = groups_[0];
      double& value = out_.value[from + cell];
      if (options_.what == Summary::sd) {
        value = or_missing(std::sqrt(variance_of(value, first.count(cell))));
      } else if (options_.what != Summary::t) {
        value = first.count(cell) < 1 ? options_.missing : or_missing(value);
      } else {
        const T t = groups_.size() == 1 ? one_sample(first, cell, options_.mu)
                                        : two_sample(first, groups_[1], cell, options_);
        value = or_missing(t.value);
        out_.estimate[from + cell] = or_missing(t.estimate);
        if (out_.df != nullptr) out_.df[from + cell] = or_missing(t.df);
        if (groups_.size() == 2 && first.counts != nullptr) first.counts[cell] += groups_[1].counts[cell];
      }
    }
  }

  const Collection& collection_;
  const SummaryOptions& options_;
  const SummaryOutputs& out_;
  const Control& control_;
  const int64_t n_rows_;
  std::vector<char> excluded_;
  std::vector<double> extra_[2];
  std::vector<int32_t> extra_counts_;
  std::vector<Moments> groups_;
  SummaryReport report_;
};

}  // namespace

void refuse(const FailedItem& failed) {
  throw Error(failed.error.code(), std::to_string(failed.item + 1) + ": " + failed.error.what(), failed.error.where(),
              failed.error.found());
}

SummaryReport summarise(const Collection& collection, const SummaryOptions& options, const SummaryOutputs& out,
                        const Control& control) {
  SummaryReport report = Summariser(collection, options, out, control).run();
  if (!report.failed.empty() && !options.pass.skip_failed) refuse(report.failed.front());
  return report;
}

std::vector<FailedItem> stack_items(const Collection& collection, const PassOptions& options, MatrixSpan<double> out,
                                    const Control& control) {
  PassOptions unordered = options;
  unordered.in_order = false;
  int64_t steps = 0;
  for (const CollectionItem& item : collection.items) steps += item.n_rows();
  control.expect(steps);
  const auto write = [&](int64_t item, const double* rows, const std::vector<int64_t>&) {
    for (int64_t k = 0; k < out.cols; ++k) out.data[item + k * out.ld] = rows[k];
  };
  std::vector<FailedItem> failed =
      pass_over(collection, {}, {0, collection.n_voxels()}, unordered, write, control).failed;
  if (!failed.empty() && !options.skip_failed) refuse(failed.front());
  return failed;
}

}  // namespace voxridge
