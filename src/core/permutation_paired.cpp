// Correlations column by column: each column of the data has its own permuted partner. A strip of 8 pairs of columns
// lies sample by sample, so that a permutation is n loads of permuted rows.
#include <algorithm>
#include <cmath>

#include "permutation_cells.h"
#include "permutation_kernel.h"
#include "permutation_lattice.h"
#include "threads.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr int64_t kOrderBytes = 16 << 20;

// Whole numbers below 2^53: exact in any order, fused or not.
template <int kBytes>
VOXRIDGE_INLINE void sums_body(const DoubleStrip* x, const DoubleStrip* e, const int* from, int64_t n,
                               DoubleStrip& to) {
  using V = typename Vector<kBytes>::Double;
  constexpr int parts = 64 / kBytes;
  V sum[parts] = {};
  for (int64_t i = 0; i < n; ++i) {
    const V* a = reinterpret_cast<const V*>(x + from[i]);
    const V* b = reinterpret_cast<const V*>(e + i);
    for (int part = 0; part < parts; ++part) sum[part] += a[part] * b[part];
  }
  for (int part = 0; part < parts; ++part) reinterpret_cast<V*>(&to)[part] = sum[part];
}

#ifdef VOXRIDGE_TARGETS
VOXRIDGE_AVX512 void sums_avx512(const DoubleStrip* x, const DoubleStrip* e, const int* from, int64_t n,
                                 DoubleStrip& to) {
  sums_body<64>(x, e, from, n, to);
}
#endif

void strip_sums(const DoubleStrip* x, const DoubleStrip* e, const int* from, int64_t n, DoubleStrip& to) {
#ifdef VOXRIDGE_TARGETS
  if (best_instruction_set() == InstructionSet::avx512) return sums_avx512(x, e, from, n, to);
#endif
  sums_body<16>(x, e, from, n, to);
}

class PairedKernel : public PermutationKernel {
 public:
  PairedKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out, double* threshold)
      : PermutationKernel(test, rows, out, threshold) {
    rule_.statistic = PermutationStatistic::correlation;
    rule_.absolute = test.absolute;
  }

  int64_t most_rows() const override {
    return std::max<int64_t>(1, std::min<int64_t>(4096, kOrderBytes / (n() * static_cast<int64_t>(sizeof(int)))));
  }
  int64_t chunk_columns() const override { return 4 * kDoubleLanes; }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    first_ = first;
    count_ = count;
    orders_.resize(n() * count);
    const int64_t piece = 128;
    parallel_for((count + piece - 1) / piece, n_workers, [&](int64_t item, int) {
      control.check_stop();
      for (int64_t r = item * piece; r < std::min(count, (item + 1) * piece); ++r) {
        rows_.order(first + r, orders_.data() + r * n());
      }
    });
    workers_.resize(n_workers);
    for (Worker& worker : workers_) worker.maxima.clear();
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    Worker& worker = workers_[number];
    if (worker.maxima.empty()) {
      worker.maxima.assign(count_, -std::numeric_limits<double>::infinity());
      worker.x.resize(n());
      worker.e.resize(n());
    }
    PermutationColumns columns(test_.y, test_.design);
    for (int64_t j = begin; j < end; j += kDoubleLanes) {
      control.check_stop();
      const int64_t here = std::min<int64_t>(kDoubleLanes, end - j);
      if (load(j, here, columns, worker.e.data(), worker.x.data(), worker.used) == 0) continue;
      round(j, worker);
      count(j, worker);
    }
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -std::numeric_limits<double>::infinity());
    for (const Worker& worker : workers_) {
      for (size_t r = 0; r < worker.maxima.size(); ++r) to[r] = std::max(to[r], worker.maxima[r]);
    }
  }

  double statistic_of(double value) const override { return cell_statistic(rule_, value, test_.design.df); }

 private:
  struct Worker {
    std::vector<DoubleStrip> x, e;
    std::vector<double> maxima;
    bool used[kDoubleLanes];
    double threshold[kDoubleLanes];
  };

  // To the lattice, and the observed values.
  void round(int64_t j, Worker& worker) {
    for (int lane = 0; lane < kDoubleLanes; ++lane) {
      double u = 0;
      for (int64_t i = 0; i < n(); ++i) {
        double &x = worker.x[i].lane[lane], &e = worker.e[i].lane[lane];
        x = std::rint(x * kProductScale);
        e = sign() * std::rint(e * kProductScale);
        u += x * e;
      }
      worker.threshold[lane] = cell_threshold(rule_, test_.absolute ? std::fabs(u) : u, n());
      if (worker.used[lane]) threshold_[j + lane] = worker.threshold[lane];
    }
  }

  void count(int64_t j, Worker& worker) {
    int counts[kDoubleLanes] = {};
    DoubleStrip sums;
    for (int64_t r = 0; r < count_; ++r) {
      strip_sums(worker.x.data(), worker.e.data(), orders_.data() + r * n(), n(), sums);
      double largest = worker.maxima[r];
      for (int lane = 0; lane < kDoubleLanes; ++lane) {
        const double u = sums.lane[lane], value = test_.absolute ? std::fabs(u) : u;
        counts[lane] += value >= worker.threshold[lane];
        largest = std::max(largest, value);
        if (out_.null != nullptr && worker.used[lane]) {
          *null_at(j + lane, r) = sign() * statistic_of(u);
        }
      }
      worker.maxima[r] = largest;
    }
    for (int lane = 0; lane < kDoubleLanes; ++lane) {
      if (worker.used[lane]) out_.counts[j + lane] += counts[lane];
    }
  }

  CellRule rule_;
  std::vector<int> orders_;  // n x rows
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_paired_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                      PermutationOutputs& out, double* threshold) {
  return std::make_unique<PairedKernel>(test, rows, out, threshold);
}

}  // namespace voxridge
