// Correlations, Freedman-Lane and Welch: a block of permuted rows times a tile of columns.
#include <algorithm>
#include <cmath>

#include "exact_product.h"
#include "permutation_cells.h"
#include "permutation_kernel.h"
#include "permutation_lattice.h"
#include "threads.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr int64_t kRowBytes = 16 << 20, kSumBytes = 512 << 10;

class ProductKernel : public PermutationKernel {
 public:
  ProductKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out, double* threshold)
      : PermutationKernel(test, rows, out, threshold) {
    const ColumnDesign& design = test.design;
    rule_.statistic = design.statistic;
    rule_.absolute = test.absolute;
    rule_.n = n();
    if (is_welch()) {
      for (const char first : design.first) rule_.n_first += first;
      vectors_.assign(design.first.begin(), design.first.end());
    } else {
      rule_.rank = design.x.cols;
      if (design.statistic != PermutationStatistic::correlation) rule_.n_changed = design.nuisance.cols - test.n_fixed;
      for (int64_t k = 0; k < rule_.rank; ++k) append(design.x.col(k));
      for (int64_t k = 0; k < rule_.n_changed; ++k) append(design.nuisance.col(test.n_fixed + k));
      if (rule_.n_changed > 0) {
        rule_.sum_error = product_error(n());
        rule_.left_error = 2 * std::sqrt(static_cast<double>(rule_.n_changed)) * rule_.sum_error;
      }
    }
    segments_ = static_cast<int64_t>(vectors_.size()) / n();
    sums_ = is_welch() ? 2 : segments_;
  }

  int64_t most_rows() const override {
    const int64_t fit = kRowBytes / (n() * segments_ * static_cast<int64_t>(sizeof(double))) / kCellRows * kCellRows;
    return std::max(kCellRows, std::min<int64_t>(4096, fit));
  }
  int64_t chunk_columns() const override {
    return std::max<int64_t>(32, std::min<int64_t>(512, kSumBytes / (sums_ * kCellRows * 8)));
  }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    first_ = first;
    count_ = count;
    const int64_t blocks = (count + kCellRows - 1) / kCellRows;
    row_block_ = n() * segments_ * kCellRows;
    row_memory_.assign(blocks * row_block_, 0.0);
    parallel_for(blocks, n_workers, [&](int64_t block, int) {
      control.check_stop();
      std::vector<char> flags(n());
      std::vector<int> from(n());
      for (int64_t r = block * kCellRows; r < std::min(count, (block + 1) * kCellRows); ++r) {
        make_row(first + r, row_memory_.data() + block * row_block_ + r % kCellRows * n(), flags, from);
      }
    });
    workers_.resize(n_workers);
    for (Worker& worker : workers_) {
      worker.maxima.clear();
      worker.degenerate = 0;
    }
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    Worker& worker = workers_[number];
    const int64_t width = end - begin;
    if (worker.maxima.empty()) {
      // whole blocks, aligned for vectors
      worker.maxima.assign((count_ + kCellRows - 1) / kCellRows * kCellRows / kDoubleLanes, lowest());
      worker.values.resize(kCellRows / kDoubleLanes);
      worker.sums.resize(sums_ * kCellRows * chunk_columns() / kDoubleLanes);
    }
    worker.e.resize(n() * width);
    worker.columns.clear();
    worker.rules.clear();
    PermutationColumns columns(test_.y, test_.design);
    std::vector<DoubleStrip> unit(n());
    for (int64_t j = begin; j < end; j += kDoubleLanes) {
      const int64_t here = std::min<int64_t>(kDoubleLanes, end - j);
      bool used[kDoubleLanes];
      load(j, here, columns, unit.data(), nullptr, used);
      for (int lane = 0; lane < here; ++lane) {
        if (used[lane]) put(j + lane, unit.data(), lane, worker);
      }
    }
    const int64_t used = static_cast<int64_t>(worker.columns.size());
    if (used == 0) return;
    if (is_welch()) {
      worker.squares.resize(n() * used);
      for (int64_t i = 0; i < n() * used; ++i) worker.squares[i] = worker.e[i] * worker.e[i];
    }
    for (int64_t row = 0; row < count_; row += kCellRows) {
      control.check_stop();
      count(row, used, worker);
    }
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -std::numeric_limits<double>::infinity());
    for (const Worker& worker : workers_) {
      if (worker.maxima.empty()) continue;
      const double* largest = worker.maxima[0].lane;
      for (int64_t r = 0; r < count_; ++r) to[r] = std::max(to[r], largest[r]);
      out_.degenerate += worker.degenerate;
    }
  }

  double statistic_of(double value) const override { return cell_statistic(rule_, value, test_.design.df); }

 private:
  struct Worker {
    std::vector<double> e, squares;  // n x columns in use, whole numbers
    std::vector<DoubleStrip> sums, maxima, values;
    std::vector<int64_t> columns;
    std::vector<CellRule> rules;
    int64_t degenerate = 0;
  };

  static DoubleStrip lowest() {
    DoubleStrip out;
    std::fill_n(out.lane, kDoubleLanes, -std::numeric_limits<double>::infinity());
    return out;
  }
  bool is_welch() const { return test_.design.statistic == PermutationStatistic::welch; }

  // A vector of the design on the lattice.
  void append(const double* vector) {
    for (int64_t i = 0; i < n(); ++i) vectors_.push_back(std::rint(vector[i] * kProductScale));
  }

  // Permuted row r: its vectors are kCellRows rows apart.
  void make_row(int64_t r, double* to, std::vector<char>& flags, std::vector<int>& from) const {
    if (is_welch()) {
      rows_.labels(r, flags.data());
      std::copy(flags.begin(), flags.end(), to);
      return;
    }
    const bool flips = rows_.kind() == Rearrangement::flips;
    flips ? rows_.flips(r, flags.data()) : rows_.order(r, from.data());
    for (int64_t k = 0; k < segments_; ++k) {
      const double* vector = vectors_.data() + k * n();
      double* row = to + k * kCellRows * n();
      for (int64_t i = 0; i < n(); ++i) row[i] = flips ? (flags[i] ? -vector[i] : vector[i]) : vector[from[i]];
    }
  }

  // Column j takes the next place of the tile, and gets its threshold.
  void put(int64_t j, const DoubleStrip* unit, int lane, Worker& worker) {
    double* e = worker.e.data() + static_cast<int64_t>(worker.columns.size()) * n();
    CellRule rule = rule_;
    for (int64_t i = 0; i < n(); ++i) {
      e[i] = sign() * std::rint(unit[i].lane[lane] * kProductScale);
      rule.total += e[i];
      rule.total_squares += e[i] * e[i];
    }
    double* values = worker.values[0].lane;
    double* observed = worker.sums[0].lane;  // not in use yet
    std::fill_n(observed, sums_ * kCellRows, 0.0);
    for (int64_t k = 0; k < segments_; ++k) {
      for (int64_t i = 0; i < n(); ++i) {
        observed[k * kCellRows] += vectors_[k * n() + i] * e[i];
        if (is_welch()) observed[kCellRows] += vectors_[i] * e[i] * e[i];
      }
    }
    cell_values(rule, observed, values);
    threshold_[j] = cell_threshold(rule, values[0], n());
    worker.columns.push_back(j);
    worker.rules.push_back(rule);
  }

  // Rows row .. row + kCellRows - 1 of the batch against the tile.
  void count(int64_t row, int64_t used, Worker& worker) {
    double* sums = worker.sums[0].lane;
    const MatrixView<double> block = {row_memory_.data() + row / kCellRows * row_block_, n(), segments_ * kCellRows,
                                      n()};
    const MatrixSpan<double> to = {sums, segments_ * kCellRows, used, sums_ * kCellRows};
    exact_product(block, {worker.e.data(), n(), used, n()}, to);
    if (is_welch()) {
      exact_product(block, {worker.squares.data(), n(), used, n()}, {sums + kCellRows, kCellRows, used, to.ld});
    }
    const int64_t rows = std::min(kCellRows, count_ - row);
    double* values = worker.values[0].lane;
    for (int64_t c = 0; c < used; ++c) {
      const int64_t j = worker.columns[c];
      cell_values(worker.rules[c], to.col(c), values);
      const CellResult found =
          count_cells(worker.rules[c], values, rows, threshold_[j], worker.maxima[row / kDoubleLanes].lane);
      out_.counts[j] += static_cast<int>(found.count);
      worker.degenerate += found.degenerate;
      if (out_.null != nullptr) keep_null(row, rows, c, to.col(c), worker);
    }
  }

  void keep_null(int64_t row, int64_t rows, int64_t c, const double* sums, Worker& worker) {
    CellRule rule = worker.rules[c];
    // what the maximum is of, with its sign
    const bool turned = rule.absolute && rule.sum_error > 0 && rule.rank == 1;
    rule.absolute = turned;
    double* values = worker.values[0].lane;
    cell_values(rule, sums, values);
    double* to = null_at(worker.columns[c], row);
    for (int64_t r = 0; r < rows; ++r) {
      to[r] = sign() * statistic_of(turned && sums[r] < 0 ? -values[r] : values[r]);
    }
  }

  CellRule rule_;
  std::vector<double> vectors_;      // n each: the tested part, changed nuisance; or 0 and 1
  int64_t segments_ = 1, sums_ = 1;  // vectors, and sums per column and row
  std::vector<double> row_memory_;   // blocks of n x (segments x kCellRows)
  int64_t row_block_ = 0;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_product_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                       PermutationOutputs& out, double* threshold) {
  return std::make_unique<ProductKernel>(test, rows, out, threshold);
}

}  // namespace voxridge
