// Quantiles over the items of a collection, a block of voxels of all items at a time.
#include <algorithm>
#include <cmath>

#include "collection_summary.h"
#include "threads.h"

namespace voxridge {

namespace {

constexpr int64_t kCellsAtATime = 1024;

// Of n values in any order, which change places. Type 7, as R's quantile() computes it.
double quantile(double* values, int64_t n, double p) {
  const double index = 1 + static_cast<double>(n - 1) * p, h = index - std::floor(index);
  const int64_t lo = static_cast<int64_t>(std::floor(index)) - 1;
  std::nth_element(values, values + lo, values + n);
  if (h == 0 || lo + 1 == n) return values[lo];
  const double next = *std::min_element(values + lo + 1, values + n);
  return next == values[lo] ? next : (1 - h) * values[lo] + h * next;
}

class QuantilePasses {
 public:
  QuantilePasses(const Collection& collection, const std::vector<double>& probs, const PassOptions& options,
                 double missing, const std::vector<double*>& out, int32_t* counts, const Control& control)
      : collection_(collection),
        probs_(probs),
        options_(options),
        missing_(missing),
        out_(out),
        counts_(counts),
        control_(control),
        n_items_(static_cast<int64_t>(collection.items.size())),
        n_rows_(options.rows.within == Within::none ? collection.items[0].n_rows() : 1),
        excluded_(collection.items.size(), 0) {
    options_.in_order = false;  // every value has its place
  }

  SummaryReport run() {
    const int64_t n = collection_.n_voxels();
    const int64_t step = fitting(control_.memory_bytes, 8.0 * static_cast<double>(n_items_ * n_rows_), 1, n);
    values_.resize(static_cast<size_t>(step * n_rows_ * n_items_));
    for (int64_t first = 0; first < n;) {
      const VoxelRange voxels{first, std::min(step, n - first)};
      const bool same = read(voxels);
      if (!same && !options_.skip_failed) break;
      if (!same && first > 0) {  // the items of the blocks before were others
        first = 0;
        continue;
      }
      finish(voxels);
      first += voxels.n;
    }
    report_.n.push_back(std::count(excluded_.begin(), excluded_.end(), 0));
    std::sort(report_.failed.begin(), report_.failed.end(),
              [](const FailedItem& a, const FailedItem& b) { return a.item < b.item; });
    return std::move(report_);
  }

 private:
  // The values of one voxel and row lie side by side. Were all items read?
  bool read(VoxelRange voxels) {
    int64_t steps = 0;
    for (int64_t i = 0; i < n_items_; ++i) steps += excluded_[i] ? 0 : collection_.items[i].n_rows();
    control_.expect(steps);
    const auto keep = [&](int64_t item, const double* rows, const std::vector<int64_t>& places) {
      for (size_t r = 0; r < places.size(); ++r) {
        double* const to = values_.data() + places[r] * n_items_ + item;
        for (int64_t k = 0; k < voxels.n; ++k) to[k * n_rows_ * n_items_] = rows[r * voxels.n + k];
      }
    };
    const PassOutcome outcome = pass_over(collection_, excluded_, voxels, options_, keep, control_);
    ++report_.passes;
    for (const FailedItem& failed : outcome.failed) {
      excluded_[failed.item] = 1;
      report_.failed.push_back(failed);
    }
    return outcome.failed.empty();
  }

  void finish(VoxelRange voxels) {
    const int64_t from = voxels.first * n_rows_, cells = voxels.n * n_rows_;
    std::vector<std::vector<double>> room(control_.n_threads);
    parallel_for((cells + kCellsAtATime - 1) / kCellsAtATime, control_.n_threads, [&](int64_t block, int worker) {
      control_.check_stop();
      const int64_t end = std::min(cells, (block + 1) * kCellsAtATime);
      for (int64_t cell = block * kCellsAtATime; cell < end; ++cell) finish(cell, from + cell, room[worker]);
    });
  }

  void finish(int64_t cell, int64_t place, std::vector<double>& kept) {
    const double* const values = values_.data() + cell * n_items_;
    kept.clear();
    bool whole = true;
    for (int64_t i = 0; i < n_items_; ++i) {
      if (excluded_[i]) continue;
      if (std::isfinite(values[i])) {
        kept.push_back(values[i]);
      } else {
        whole = false;
      }
    }
    const int64_t n = static_cast<int64_t>(kept.size());
    if (counts_ != nullptr) counts_[place] = static_cast<int32_t>(n);
    const bool any = n > 0 && (whole || options_.rows.skip_missing);
    for (size_t q = 0; q < probs_.size(); ++q) {
      out_[q][place] = any ? quantile(kept.data(), n, probs_[q]) : missing_;
    }
  }

  const Collection& collection_;
  const std::vector<double>& probs_;
  PassOptions options_;
  const double missing_;
  const std::vector<double*>& out_;
  int32_t* const counts_;
  const Control& control_;
  const int64_t n_items_, n_rows_;
  std::vector<char> excluded_;
  std::vector<double> values_;
  SummaryReport report_;
};

}  // namespace

SummaryReport quantiles(const Collection& collection, const std::vector<double>& probs, const PassOptions& options,
                        double missing, const std::vector<double*>& out, int32_t* counts, const Control& control) {
  SummaryReport report = QuantilePasses(collection, probs, options, missing, out, counts, control).run();
  if (!report.failed.empty() && !options.skip_failed) refuse(report.failed.front());
  return report;
}

}  // namespace voxridge
