#include "permutation_products.h"

#include <algorithm>
#include <cmath>

#include "exact_product.h"
#include "permutation_lattice.h"
#include "threads.h"

#include "no_contraction.h"

namespace voxridge {

namespace {

constexpr int64_t kRowBytes = 16 << 20, kSumBytes = 512 << 10;

}  // namespace

ProductKernel::ProductKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out,
                             double* threshold)
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

// A vector of the design on the lattice.
void ProductKernel::append(const double* vector) {
  for (int64_t i = 0; i < n(); ++i) vectors_.push_back(std::rint(vector[i] * kProductScale));
}

int64_t ProductKernel::most_rows_within(int64_t most) const {
  const int64_t fit = kRowBytes / (n() * segments_ * static_cast<int64_t>(sizeof(double))) / kCellRows * kCellRows;
  return std::max(kCellRows, std::min(most, fit));
}

void ProductKernel::make_rows(int64_t first, int64_t count, int64_t block_rows, int n_workers, const Control& control) {
  first_ = first;
  count_ = count;
  block_rows_ = block_rows;
  const int64_t blocks = (count + block_rows - 1) / block_rows, piece = kCellRows;
  row_memory_.assign(blocks * n() * segments_ * block_rows, 0.0);
  parallel_for((count + piece - 1) / piece, n_workers, [&](int64_t item, int) {
    control.check_stop();
    std::vector<char> flags(n());
    std::vector<int> from(n());
    for (int64_t r = item * piece; r < std::min(count, (item + 1) * piece); ++r) {
      double* block = row_memory_.data() + r / block_rows * n() * segments_ * block_rows;
      make_row(first + r, block + r % block_rows * n(), flags, from);
    }
  });
}

// Permuted row r: its vectors are block_rows_ rows apart.
void ProductKernel::make_row(int64_t r, double* to, std::vector<char>& flags, std::vector<int>& from) const {
  if (is_welch()) {
    rows_.labels(r, flags.data());
    std::copy(flags.begin(), flags.end(), to);
    return;
  }
  const bool flips = rows_.kind() == Rearrangement::flips;
  flips ? rows_.flips(r, flags.data()) : rows_.order(r, from.data());
  for (int64_t k = 0; k < segments_; ++k) {
    const double* vector = vectors_.data() + k * n();
    double* row = to + k * block_rows_ * n();
    for (int64_t i = 0; i < n(); ++i) row[i] = flips ? (flags[i] ? -vector[i] : vector[i]) : vector[from[i]];
  }
}

void ProductKernel::load_tile(int64_t begin, int64_t end, Tile& tile) {
  tile.e.resize(n() * (end - begin));
  tile.columns.clear();
  tile.rules.clear();
  tile.unit.resize(n());
  tile.values.resize(kCellRows / kDoubleLanes);
  tile.sums.resize(sums_ * kCellRows / kDoubleLanes);
  PermutationColumns columns(test_.y, test_.design);
  for (int64_t j = begin; j < end; j += kDoubleLanes) {
    const int64_t here = std::min<int64_t>(kDoubleLanes, end - j);
    bool used[kDoubleLanes];
    load(j, here, columns, tile.unit.data(), nullptr, used);
    for (int lane = 0; lane < here; ++lane) {
      if (used[lane]) put(j + lane, lane, tile);
    }
  }
  if (!is_welch()) return;
  tile.squares.resize(n() * tile.size());
  for (size_t i = 0; i < tile.squares.size(); ++i) tile.squares[i] = tile.e[i] * tile.e[i];
}

// Column j takes the next place of the tile, and gets its threshold.
void ProductKernel::put(int64_t j, int lane, Tile& tile) {
  double* e = tile.e.data() + tile.size() * n();
  CellRule rule = rule_;
  for (int64_t i = 0; i < n(); ++i) {
    e[i] = sign() * std::rint(tile.unit[i].lane[lane] * kProductScale);
    rule.total += e[i];
    rule.total_squares += e[i] * e[i];
  }
  double* values = tile.values[0].lane;
  double* observed = tile.sums[0].lane;
  std::fill_n(observed, sums_ * kCellRows, 0.0);
  for (int64_t k = 0; k < segments_; ++k) {
    for (int64_t i = 0; i < n(); ++i) {
      observed[k * kCellRows] += vectors_[k * n() + i] * e[i];
      if (is_welch()) observed[kCellRows] += vectors_[i] * e[i] * e[i];
    }
  }
  cell_values(rule, observed, values);
  threshold_[j] = cell_threshold(rule, values[0], n());
  tile.columns.push_back(j);
  tile.rules.push_back(rule);
}

namespace {

// By the BLAS: a block of rows times a tile of columns, in memory that stays in the caches.
class HostProducts : public ProductKernel {
 public:
  using ProductKernel::ProductKernel;

  int64_t most_rows() const override { return most_rows_within(4096); }
  int64_t chunk_columns() const override {
    return std::max<int64_t>(32, std::min<int64_t>(512, kSumBytes / (sums_ * kCellRows * 8)));
  }

  void start(int64_t first, int64_t count, int n_workers, const Control& control) override {
    make_rows(first, count, kCellRows, n_workers, control);
    workers_.resize(n_workers);
    for (Worker& worker : workers_) {
      worker.maxima.clear();
      worker.degenerate = 0;
    }
  }

  void run(int64_t begin, int64_t end, int number, const Control& control) override {
    Worker& worker = workers_[number];
    if (worker.maxima.empty()) {
      // whole blocks, aligned for vectors
      worker.maxima.assign((count_ + kCellRows - 1) / kCellRows * kCellRows / kDoubleLanes, lowest());
      worker.values.resize(kCellRows / kDoubleLanes);
      worker.sums.resize(sums_ * kCellRows * chunk_columns() / kDoubleLanes);
    }
    load_tile(begin, end, worker.tile);
    if (worker.tile.size() == 0) return;
    for (int64_t row = 0; row < count_; row += kCellRows) {
      control.check_stop();
      count(row, worker);
    }
  }

  void maxima(double* to) const override {
    std::fill_n(to, count_, -kInfinity);
    for (const Worker& worker : workers_) {
      if (worker.maxima.empty()) continue;
      const double* largest = worker.maxima[0].lane;
      for (int64_t r = 0; r < count_; ++r) to[r] = std::max(to[r], largest[r]);
      out_.degenerate += worker.degenerate;
    }
  }

 private:
  struct Worker {
    Tile tile;
    std::vector<DoubleStrip> sums, maxima, values;
    int64_t degenerate = 0;
  };

  static DoubleStrip lowest() {
    DoubleStrip out;
    std::fill_n(out.lane, kDoubleLanes, -kInfinity);
    return out;
  }

  // Rows row .. row + kCellRows - 1 of the batch against the tile.
  void count(int64_t row, Worker& worker) {
    const Tile& tile = worker.tile;
    const int64_t used = tile.size();
    double* sums = worker.sums[0].lane;
    const MatrixView<double> block = row_block(row / kCellRows);
    const MatrixSpan<double> to = {sums, segments_ * kCellRows, used, sums_ * kCellRows};
    exact_product(block, {tile.e.data(), n(), used, n()}, to);
    if (is_welch()) {
      exact_product(block, {tile.squares.data(), n(), used, n()}, {sums + kCellRows, kCellRows, used, to.ld});
    }
    const int64_t rows = std::min(kCellRows, count_ - row);
    double* values = worker.values[0].lane;
    for (int64_t c = 0; c < used; ++c) {
      const int64_t j = tile.columns[c];
      cell_values(tile.rules[c], to.col(c), values);
      const CellResult found =
          count_cells(tile.rules[c], values, rows, threshold_[j], worker.maxima[row / kDoubleLanes].lane);
      out_.counts[j] += static_cast<int>(found.count);
      worker.degenerate += found.degenerate;
      if (out_.null != nullptr) keep_null(row, rows, c, to.col(c), worker);
    }
  }

  void keep_null(int64_t row, int64_t rows, int64_t c, const double* sums, Worker& worker) {
    CellRule rule = worker.tile.rules[c];
    // what the maximum is of, with its sign
    const bool turned = rule.absolute && rule.sum_error > 0 && rule.rank == 1;
    rule.absolute = turned;
    double* values = worker.values[0].lane;
    cell_values(rule, sums, values);
    double* to = null_at(worker.tile.columns[c], row);
    for (int64_t r = 0; r < rows; ++r) {
      to[r] = sign() * statistic_of(turned && sums[r] < 0 ? -values[r] : values[r]);
    }
  }

  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<PermutationKernel> make_product_kernel(const PermutationTest& test, const PermutationRows& rows,
                                                       PermutationOutputs& out, double* threshold) {
  return std::make_unique<HostProducts>(test, rows, out, threshold);
}

}  // namespace voxridge
