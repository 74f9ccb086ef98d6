// Signs and labels on the GPU: patterns of bits against columns of 32-bit integers.
#include <algorithm>
#include <cmath>

#include "column_strips.h"
#include "cuda_sessions.h"
#include "permutation_cuda.h"
#include "permutation_lattice.h"
#include "threads.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr int64_t kMostRows = 262144, kMostColumns = 8192, kTileBytes = 8 << 20;
constexpr int64_t kWordBits = 30;  // samples of a word of a pattern (cuda/abi.h)

class CudaSums : public PermutationKernel {
 public:
  CudaSums(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out, double* threshold,
           const Control& control)
      : PermutationKernel(test, rows, out, threshold),
        host_(make_sum_kernel(test, rows, out, threshold)),
        memory_(control.gpu_memory),
        signs_(rows.kind() == Rearrangement::flips),
        words_((test.y.rows + kWordBits - 1) / kWordBits),
        most_rows_(fitting(control.memory_bytes / 8 / control.n_threads, row_bytes(), 1, kMostRows)),
        mask_(test.y.rows) {
    for (int64_t i = 0; i < n(); ++i) mask_[i] = signs_ || test.rows.first[i] ? -1 : 0;
    const int64_t most = std::max<int64_t>(32, std::min(kMostColumns, kTileBytes / (4 * n())));
    columns_ = cuda_tile(test.y.cols, column_bytes(), most, control);
  }

  int64_t most_rows() const override { return most_rows_; }
  int64_t chunk_columns() const override { return columns_; }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    first_ = first;
    count_ = count;
    patterns_.assign(words_ * count, 0);
    const int64_t piece = 512;
    parallel_for((count + piece - 1) / piece, n_workers, [&](int64_t item, int) {
      control.check_stop();
      std::vector<char> flags(n());
      for (int64_t r = item * piece; r < std::min(count, (item + 1) * piece); ++r) {
        signs_ ? rows_.flips(first + r, flags.data()) : rows_.labels(first + r, flags.data());
        for (int64_t i = 0; i < n(); ++i) {
          const uint32_t on = (flags[i] != 0) != signs_;  // a flip is a minus, a set bit a plus
          patterns_[i / kWordBits * count + r] |= on << (i % kWordBits);
        }
      }
    });
    workers_.resize(n_workers);
    for (Worker& worker : workers_) worker.maxima.assign(count, INT32_MIN);
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    control.check_stop();
    Worker& worker = workers_[number];
    load_tile(begin, end, worker);
    const int64_t used = static_cast<int64_t>(worker.columns.size());
    if (used == 0) return;
    control.check_stop();
    worker.counts.assign(used, 0);
    // the plugin's blocks for small vectors grow by a half more than it needs
    const double bytes = 1.5 * (column_bytes() * static_cast<double>(used) + row_bytes() * static_cast<double>(count_));
    const std::shared_ptr<void> claimed = memory_->claim(static_cast<size_t>(bytes));
    cuda_sessions()->lease().call(&voxridge_cuda_table::count_sums, worker.values.data(), end - begin, n(), used,
                                  patterns_.data(), count_, signs_, test_.absolute, worker.thresholds.data(),
                                  worker.counts.data(), worker.maxima.data());
    for (int64_t c = 0; c < used; ++c) out_.counts[worker.columns[c]] += worker.counts[c];
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -kInfinity);
    for (const Worker& worker : workers_) {
      for (int64_t r = 0; r < count_; ++r) to[r] = std::max<double>(to[r], worker.maxima[r]);
    }
  }

  double statistic_of(double value) const override { return host_->statistic_of(value); }

 private:
  struct Worker {
    std::vector<int32_t> values, thresholds, counts, maxima;  // values: a row of the tile per sample
    std::vector<int64_t> columns;                             // those that take part
    std::vector<DoubleStrip> e;
    std::vector<IntStrip> q;
  };

  double column_bytes() const { return static_cast<double>(sizeof(int32_t) * (n() + 2)); }
  double row_bytes() const { return static_cast<double>(sizeof(int32_t) * (words_ + 1)); }

  void load_tile(int64_t begin, int64_t end, Worker& worker) {
    const int64_t width = end - begin;
    worker.values.resize(n() * width);
    worker.e.resize(n());
    worker.q.resize(n());
    worker.columns.clear();
    worker.thresholds.clear();
    PermutationColumns columns(test_.y, test_.design);
    for (int64_t j = begin; j < end; j += kDoubleLanes) {
      bool used[kDoubleLanes];
      if (load(j, std::min<int64_t>(kDoubleLanes, end - j), columns, worker.e.data(), nullptr, used) == 0) continue;
      put(j, used, width, worker);
    }
  }

  // Columns from j on take the next places of the tile, and get their thresholds.
  void put(int64_t j, const bool* used, int64_t width, Worker& worker) {
    alignas(64) int32_t sums[kDoubleLanes];
    strip_round(best_instruction_set(), worker.e.data(), n(), sign() * table_scale(n()), mask_.data(), 0,
                worker.q.data(), sums);
    for (int lane = 0; lane < kDoubleLanes; ++lane) {
      if (!used[lane]) continue;
      int32_t* to = worker.values.data() + worker.columns.size();
      for (int64_t i = 0; i < n(); ++i) to[i * width] = worker.q[i].lane[lane];
      const double u = test_.absolute ? std::fabs(static_cast<double>(sums[lane])) : sums[lane];
      threshold_[j + lane] = u - table_tolerance(n());
      worker.thresholds.push_back(static_cast<int32_t>(std::max<double>(threshold_[j + lane], INT32_MIN)));
      worker.columns.push_back(j + lane);
    }
  }

  const std::unique_ptr<PermutationKernel> host_;  // knows what sums stand for
  const std::shared_ptr<CudaMemory> memory_;
  const bool signs_;
  const int64_t words_, most_rows_;
  int64_t columns_;
  std::vector<int32_t> mask_;       // -1: part of the observed sum
  std::vector<uint32_t> patterns_;  // words x rows
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_cuda_sums(const PermutationTest& test, const PermutationRows& rows,
                                                  PermutationOutputs& out, double* threshold, const Control& control) {
  return std::make_unique<CudaSums>(test, rows, out, threshold, control);
}

}  // namespace voxridge
