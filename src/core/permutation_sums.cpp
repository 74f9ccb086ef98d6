// Sign flips of one sample and labels of two: sums from tables.
#include <algorithm>
#include <cmath>

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
        codes_(0, 1, 0) {
    const double count = static_cast<double>(n());
    double in_first = 0;
    for (const char first : test.rows.first) in_first += first;
    most_ = std::sqrt(signs_ ? count : in_first * (count - in_first) / count);
  }

  int64_t most_rows() const override { return kMostRows; }
  int64_t chunk_columns() const override { return 16 * kLanes; }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    first_ = first;
    count_ = count;
    codes_ = PatternCodes(n(), pattern_bits(count), count);
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
      }
    });
    workers_.resize(n_workers);
    for (Worker& worker : workers_) worker.maxima.clear();
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    Worker& worker = workers_[number];
    if (worker.maxima.empty()) {
      IntStrip lowest;
      std::fill_n(lowest.lane, kLanes, INT32_MIN);
      worker.maxima.assign(count_, lowest);
      worker.q.resize(n());
      worker.e.resize(n());
    }
    PermutationColumns columns(test_.y, test_.design);
    int used = 0;
    for (int64_t j = begin; j < end; ++j) {
      if (load(j, columns, worker.e.data(), nullptr)) {
        put(j, used, worker);
        ++used;
      }
      if (used == kLanes || (j + 1 == end && used > 0)) {
        control.check_stop();
        count(used, worker);
        used = 0;
      }
    }
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -std::numeric_limits<double>::infinity());
    for (const Worker& worker : workers_) {
      for (size_t r = 0; r < worker.maxima.size(); ++r) {
        const int32_t* lanes = worker.maxima[r].lane;
        to[r] = std::max<double>(to[r], *std::max_element(lanes, lanes + kLanes));
      }
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
    std::vector<IntStrip> q, maxima;
    std::vector<double> e;
    int64_t columns[kLanes];
    TablePass pass;
    TableKernel kernel;
  };

  // Column j, at unit norm in worker.e, becomes a lane of the strip.
  void put(int64_t j, int lane, Worker& worker) {
    const double scale = sign() * scale_;
    int64_t u = 0;
    for (int64_t i = 0; i < n(); ++i) {
      const int32_t q = static_cast<int32_t>(std::rint(worker.e[i] * scale));
      worker.q[i].lane[lane] = q;
      if (signs_ || test_.rows.first[i]) u += q;
    }
    const double threshold = static_cast<double>(test_.absolute ? std::llabs(u) : u) - table_tolerance(n());
    worker.columns[lane] = j;
    worker.pass.threshold.lane[lane] = static_cast<int32_t>(std::max<double>(threshold, INT32_MIN));
    threshold_[j] = threshold;
  }

  void count(int used, Worker& worker) {
    // the other lanes repeat the first, which changes no maximum
    for (int lane = used; lane < kLanes; ++lane) {
      for (IntStrip& row : worker.q) row.lane[lane] = row.lane[0];
      worker.pass.threshold.lane[lane] = worker.pass.threshold.lane[0];
    }
    worker.pass.q = worker.q.data();
    worker.pass.n = n();
    worker.pass.signs = signs_;
    worker.pass.absolute = test_.absolute;
    IntStrip counts = {};
    worker.kernel.run(worker.pass, codes_, counts, worker.maxima.data());
    for (int lane = 0; lane < used; ++lane) {
      out_.counts[worker.columns[lane]] += counts.lane[lane];
      if (out_.null != nullptr) keep_null(lane, worker);
    }
  }

  void keep_null(int lane, const Worker& worker) {
    double* to = out_.null + first_ + worker.columns[lane] * test_.n_permutations;
    for (int64_t r = 0; r < count_; ++r) {
      const uint8_t* code = codes_.code.data() + r * codes_.groups;
      int64_t u = 0;
      for (int64_t i = 0; i < n(); ++i) {
        const bool on = code[i / codes_.bits] >> (i % codes_.bits) & 1;
        const int64_t q = worker.q[i].lane[lane];
        u += on ? q : signs_ ? -q : 0;
      }
      to[r] = sign() * statistic_of(static_cast<double>(u));
    }
  }

  bool signs_;
  double scale_, most_;  // most_: the largest |u|
  PatternCodes codes_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_sum_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                   PermutationOutputs& out, double* threshold) {
  return std::make_unique<SumKernel>(test, rows, out, threshold);
}

}  // namespace voxridge
