// Correlations, Freedman-Lane and Welch on the GPU: its library multiplies, a kernel of ours makes values and counts.
#include <algorithm>

#include "cuda_sessions.h"
#include "device.h"
#include "exact_product.h"
#include "permutation_cuda.h"
#include "permutation_lattice.h"
#include "permutation_products.h"

namespace voxridge {

namespace {

constexpr int64_t kMostRows = 16384, kMostColumns = 2048, kSumBytes = 64 << 20;

using DoubleBuffer = Buffer<double>;

// C = A'B of whole numbers there, by the library where it has shown once that it adds them exactly, and else by loops.
class CudaProducts {
 public:
  explicit CudaProducts(Device<double>& device) : device_(device) {
    static const bool exact = library_is_exact(device);
    exact_ = exact;
  }

  void operator()(MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c) const {
    if (exact_) return device_.gemm(Trans::yes, Trans::no, 1.0, a, b, 0.0, c);
    cuda_sessions()->lease().call(&voxridge_cuda_table::dot_products, a.rows, c.rows, c.cols, a.data, a.ld, b.data,
                                  b.ld, c.data, c.ld);
  }

 private:
  static bool library_is_exact(Device<double>& device) {
    return adds_exactly([&](MatrixView<double> a, MatrixView<double> b, MatrixSpan<double> c) {
      DoubleBuffer of_a, of_b, scratch;
      device.gemm_to_host(Trans::yes, Trans::no, device.borrow(a, of_a), device.borrow(b, of_b), scratch, c);
    });
  }

  Device<double>& device_;
  bool exact_;
};

class CudaProductKernel : public ProductKernel {
 public:
  CudaProductKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out,
                    double* threshold, const Control& control)
      : ProductKernel(test, rows, out, threshold), device_(make_device<double>(control)), multiply_(*device_) {
    const double row_bytes = 8 * static_cast<double>(n() * segments_);
    most_rows_ = most_rows_within(fitting(control.memory_bytes / 4, row_bytes, 1, kMostRows));
    const int64_t batch = std::min(test.n_permutations, test.batch > 0 ? test.batch : most_rows_);
    const double sum_bytes = 8 * static_cast<double>(sums_ * std::max<int64_t>(1, batch));
    const int64_t most = fitting(kSumBytes, sum_bytes, 32, kMostColumns);
    columns_ = cuda_tile(test.y.cols, sum_bytes + 8 * static_cast<double>((is_welch() ? 2 : 1) * n()), most, control);
  }

  int64_t most_rows() const override { return most_rows_; }
  int64_t chunk_columns() const override { return columns_; }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    make_rows(first, count, count, n_workers, control);
    rows_there_ = device_->reserve(row_memory_there_, n(), segments_ * count);
    device_->upload(row_block(0), rows_there_);
    workers_.resize(n_workers);
    for (Worker& worker : workers_) {
      worker.maxima.assign(count, -kInfinity);
      worker.degenerate = 0;
    }
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    control.check_stop();
    Worker& worker = workers_[number];
    load_tile(begin, end, worker.tile);
    if (worker.tile.size() == 0) return;
    control.check_stop();
    count(worker);
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -kInfinity);
    for (const Worker& worker : workers_) {
      for (int64_t r = 0; r < count_; ++r) to[r] = std::max(to[r], worker.maxima[r]);
      out_.degenerate += worker.degenerate;
    }
  }

 private:
  struct Worker {
    Tile tile;
    DoubleBuffer e, squares, sums;  // there
    std::vector<double> thresholds, totals, maxima;
    std::vector<int32_t> counts;
    int64_t degenerate = 0;
  };

  void count(Worker& worker) {
    const Tile& tile = worker.tile;
    const int64_t used = tile.size();
    const MatrixSpan<double> sums = device_->reserve(worker.sums, sums_ * count_, used);
    multiply_(rows_there_, device_->borrow({tile.e.data(), n(), used, n()}, worker.e),
              sums.block(0, 0, segments_ * count_, used));
    if (is_welch()) {
      multiply_(rows_there_, device_->borrow({tile.squares.data(), n(), used, n()}, worker.squares),
                sums.block(count_, 0, count_, used));
    }
    worker.counts.assign(used, 0);
    worker.thresholds.clear();
    worker.totals.clear();
    for (int64_t c = 0; c < used; ++c) {
      worker.thresholds.push_back(threshold_[tile.columns[c]]);
      worker.totals.push_back(tile.rules[c].total);
      worker.totals.push_back(tile.rules[c].total_squares);
    }
    const voxridge_cuda_cells rule = cells();
    cuda_sessions()->lease().call(&voxridge_cuda_table::count_cells, &rule, sums.data, sums.ld, count_, used,
                                  worker.thresholds.data(), worker.totals.data(), worker.counts.data(),
                                  worker.maxima.data(), &worker.degenerate);
    for (int64_t c = 0; c < used; ++c) out_.counts[tile.columns[c]] += worker.counts[c];
  }

  voxridge_cuda_cells cells() const {
    const bool correlation = rule_.statistic == PermutationStatistic::correlation;
    voxridge_cuda_cells out;
    out.kind = is_welch() ? VOXRIDGE_WELCH : correlation ? VOXRIDGE_CORRELATION : VOXRIDGE_PARTIAL;
    out.absolute = rule_.absolute;
    out.rank = rule_.rank;
    out.n_changed = rule_.n_changed;
    out.n = rule_.n;
    out.n_first = rule_.n_first;
    out.sum_error = rule_.sum_error;
    out.left_error = rule_.left_error;
    return out;
  }

  const std::unique_ptr<Device<double>> device_;
  const CudaProducts multiply_;
  int64_t most_rows_ = 1, columns_ = 1;
  DoubleBuffer row_memory_there_;
  MatrixSpan<double> rows_there_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_cuda_products(const PermutationTest& test, const PermutationRows& rows,
                                                      PermutationOutputs& out, double* threshold,
                                                      const Control& control) {
  return std::make_unique<CudaProductKernel>(test, rows, out, threshold, control);
}

std::unique_ptr<PermutationKernel> make_cuda_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                    PermutationOutputs& out, double* threshold,
                                                    const Control& control) {
  if (test.design.paired.data != nullptr || out.null != nullptr) return make_kernel(test, rows, out, threshold);
  return test.sums ? make_cuda_sums(test, rows, out, threshold, control)
                   : make_cuda_products(test, rows, out, threshold, control);
}

}  // namespace voxridge
