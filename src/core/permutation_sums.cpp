// Sign flips of one sample and labels of two: sums from tables.
#include <algorithm>
#include <cmath>

#include "column_strips.h"
#include "permutation_kernel.h"
#include "permutation_lattice.h"
#include "permutation_tables.h"
#include "threads.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr int64_t kMostRows = 16384;

class SumKernel : public PermutationKernel {
 public:
  SumKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out, double* threshold)
      : PermutationKernel(test, rows, out, threshold),
        signs_(rows.kind() == Rearrangement::flips),
        scale_(table_scale(test.y.rows)),
        codes_(0, 1, 0),
        mask_(test.y.rows) {
    const double count = static_cast<double>(n());
    double in_first = 0;
    for (const char first : test.rows.first) in_first += first;
    for (int64_t i = 0; i < n(); ++i) mask_[i] = signs_ || test.rows.first[i] ? -1 : 0;
    most_ = std::sqrt(signs_ ? count : in_first * (count - in_first) / count);
  }

  int64_t most_rows() const override { return kMostRows; }
  int64_t chunk_columns() const override { return 16 * kLanes; }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    first_ = first;
    count_ = count;
    codes_ = PatternCodes(n(), pattern_bits(n(), count), count);
    if (out_.null != nullptr) on_.resize(count * n());
    const int64_t piece = 512;
    parallel_for((count + piece - 1) / piece, n_workers, [&](int64_t item, int) {
      control.check_stop();
      std::vector<char> on(n());
      for (int64_t r = item * piece; r < std::min(count, (item + 1) * piece); ++r) {
        if (signs_) {
          rows_.flips(first + r, on.data());
          for (char& flag : on) flag = !flag;  // a set bit is a plus
        } else {
          rows_.labels(first + r, on.data());
        }
        codes_.set(r, on.data(), n());
        if (out_.null != nullptr) std::copy(on.begin(), on.end(), on_.begin() + r * n());
      }
    });
    workers_.resize(n_workers);
    for (Worker& worker : workers_) worker.maxima.clear();
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    Worker& worker = workers_[number];
    if (worker.maxima.empty()) {
      worker.maxima.assign(count_, INT32_MIN);
      worker.q.resize(n());
      worker.e.resize(n());
    }
    PermutationColumns columns(test_.y, test_.design);
    for (int64_t j = begin; j < end; j += kLanes) {
      control.check_stop();
      int used = 0;
      for (int half = 0; half < 2; ++half) {
        const int64_t from = j + half * kDoubleLanes;
        bool* flags = worker.used + half * kDoubleLanes;
        const int here = from < end ? load(from, std::min<int64_t>(kDoubleLanes, end - from), columns, worker.e.data(),
                                           nullptr, flags)
                                    : 0;
        if (here == 0) {
          std::fill_n(flags, kDoubleLanes, false);
          if (half == 0 || used == 0) continue;
        }
        if (here > 0) put(from, half, worker);
        used += here;
        // a half without columns repeats the other
        if (half == 1 && (here == 0 || used == here)) repeat(here == 0 ? 0 : 1, worker);
      }
      if (used > 0) count(j, worker);
    }
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -std::numeric_limits<double>::infinity());
    for (const Worker& worker : workers_) {
      for (size_t r = 0; r < worker.maxima.size(); ++r) to[r] = std::max<double>(to[r], worker.maxima[r]);
    }
  }

  double statistic_of(double value) const override {
    const double u = value / scale_;
    const double below = (most_ - std::fabs(u)) * scale_;
    if (below <= table_tolerance(n())) return std::copysign(std::numeric_limits<double>::infinity(), u);
    return std::sqrt(test_.design.df) * u / std::sqrt(most_ * most_ - u * u);
  }

 private:
  struct Worker {
    std::vector<IntStrip> q;
    std::vector<int32_t> maxima;
    std::vector<DoubleStrip> e;
    bool used[kLanes];
    TablePass pass;
    TableKernel kernel;
  };

  // Columns from j on, at unit norm in worker.e, become one half of the strip.
  void put(int64_t j, int half, Worker& worker) {
    alignas(64) int32_t sums[kDoubleLanes];
    strip_round(set_, worker.e.data(), n(), sign() * scale_, mask_.data(), half, worker.q.data(), sums);
    for (int lane = 0; lane < kDoubleLanes; ++lane) {
      const double u = test_.absolute ? std::fabs(static_cast<double>(sums[lane])) : sums[lane];
      const double threshold = u - table_tolerance(n());
      worker.pass.threshold.lane[half * kDoubleLanes + lane] =
          static_cast<int32_t>(std::max<double>(threshold, INT32_MIN));
      if (worker.used[half * kDoubleLanes + lane]) threshold_[j + lane] = threshold;
    }
  }

  // The other half becomes a copy of this one.
  void repeat(int half, Worker& worker) {
    const auto copy = [half](IntStrip& row) {
      std::copy_n(row.lane + half * kDoubleLanes, kDoubleLanes, row.lane + (1 - half) * kDoubleLanes);
    };
    for (IntStrip& row : worker.q) copy(row);
    copy(worker.pass.threshold);
  }

  void count(int64_t j, Worker& worker) {
    worker.pass.q = worker.q.data();
    worker.pass.n = n();
    worker.pass.signs = signs_;
    worker.pass.absolute = test_.absolute;
    IntStrip counts = {};
    worker.kernel.run(worker.pass, codes_, counts, worker.maxima.data());
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!worker.used[lane]) continue;
      out_.counts[j + lane] += counts.lane[lane];
    }
    if (out_.null != nullptr) keep_null(j, worker);
  }

  // Sums of the strip under every row, sample by sample.
  void keep_null(int64_t j, const Worker& worker) {
    for (int64_t r = 0; r < count_; ++r) {
      const char* on = on_.data() + r * n();
      IntStrip sum = {};
      for (int64_t i = 0; i < n(); ++i) {
        // all bits set: minus the value, or nothing of it
        const int32_t off = on[i] ? 0 : -1, minus = signs_ ? off : 0, kept = signs_ ? -1 : ~off;
        const int32_t* q = worker.q[i].lane;
        for (int lane = 0; lane < kLanes; ++lane) sum.lane[lane] += ((q[lane] & kept) ^ minus) - minus;
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        if (worker.used[lane]) *null_at(j + lane, r) = sign() * statistic_of(static_cast<double>(sum.lane[lane]));
      }
    }
  }

  const InstructionSet set_ = best_instruction_set();
  bool signs_;
  double scale_, most_;  // most_: the largest |u|
  PatternCodes codes_;
  std::vector<int32_t> mask_;  // -1: part of the observed sum
  std::vector<char> on_;       // the flags of all rows, where sums are kept
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_sum_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                   PermutationOutputs& out, double* threshold) {
  return std::make_unique<SumKernel>(test, rows, out, threshold);
}

}  // namespace voxridge
