#include "bootstrap.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "arma_view.h"
#include "device.h"
#include "error.h"
#include "factor.h"
#include "features.h"
#include "threads.h"

namespace voxridge {

namespace {

// Shares of the memory budget: factors that are kept, what they are put together to, what making them takes.
constexpr double kFactors = 0.3, kResults = 0.4, kMaking = 0.25;

// Numbers of a product's result that stay in the caches, and of an operator or result for one panel of outputs.
constexpr int64_t kCached = int64_t{1} << 18, kPanelNumbers = int64_t{1} << 24;
constexpr int64_t kLargestPanel = 64, kLargestTile = 256, kSmallestTile = 16;

// The largest power of two up to `most` of which `size` numbers each are at most `numbers`.
int64_t power_of_two(int64_t size, int64_t numbers, int64_t least, int64_t most) {
  int64_t out = most;
  while (out > least && out * size > numbers) out /= 2;
  return out;
}

int64_t pieces(int64_t total, int64_t size) {
  return (total + size - 1) / size;
}

class Bootstrap {
 public:
  Bootstrap(const BootstrapModel& model, MatrixView<double> y, const ResamplePlan& plan, const IntervalRule& rule,
            BootstrapOutputs& out, const Control& control)
      : model_(model),
        y_(y),
        resamples_(plan),
        rule_(rule),
        out_(out),
        control_(control),
        factors_(model, control),
        device_(make_device<double>(control)),
        n_(model.x.rows),
        outputs_(model.outputs()),
        all_(plan.n_boot + 1),
        means_(y.cols, 0.0) {
    if (model.intercept) {
      for (int64_t j = 0; j < y.cols; ++j) means_[j] = column_mean(y.col(j), n_);
    }
  }

  void run() {
    stacked_pays() ? run_stacked() : run_by_factors();
    out_.deficient = deficient_;
  }

 private:
  bool stacked_pays() const {
    if (model_.alphas.size() > 1) return false;
    const double n = static_cast<double>(n_), rows = static_cast<double>(outputs_), inner = factors_.inner();
    const double drawn = 0.63 * n, t = static_cast<double>(y_.cols);
    if (inner == static_cast<double>(model_.x.cols) && inner <= drawn && !model_.predicts()) return true;
    const double stacked = drawn * inner * rows + n * rows * t, by_factors = (drawn + rows) * inner * t;
    return stacked <= 1.25 * by_factors;
  }

  // Threads that make factors, with so many other numbers each.
  int makers(double others) const {
    const double bytes = 8 * (factors_.scratch() + others);
    return static_cast<int>(fitting(kMaking * control_.memory_bytes, bytes, 1, control_.n_threads));
  }

  // A factor, kept from the pass before where there is room for all of them. Counted once.
  std::shared_ptr<const ResampleFactor> factor(int64_t b) {
    if (!kept_.empty() && kept_[b] != nullptr) return kept_[b];
    const auto made = std::make_shared<const ResampleFactor>(factors_.make(resamples_(b), control_));
    if (out_.passes == 1 && b > 0 && made->deficient) ++deficient_;
    if (!kept_.empty()) kept_[b] = made;
    return made;
  }

  void keep_factors_for(int64_t passes) {
    const double bytes = 8 * factors_.held() * static_cast<double>(all_);
    if (passes > 1 && bytes <= kFactors * control_.memory_bytes) kept_.resize(all_);
  }

  // n x cols, less their means where there is an intercept.
  arma::mat targets(int64_t first, int64_t cols) const {
    arma::mat out = copy_of(y_.block(0, first, n_, cols));
    if (!model_.intercept) return out;
    for (int64_t j = 0; j < cols; ++j) out.col(j) -= means_[first + j];
    return out;
  }

  double shift(int64_t target) const { return model_.predicts() ? means_[target] : 0; }

  // ---- stacked -------------------------------------------------------------------------------

  void run_stacked() {
    const int64_t panel = power_of_two(all_ * n_, kPanelNumbers, 1, kLargestPanel);
    const double panel_bytes = 8 * static_cast<double>(all_) * static_cast<double>(n_ * panel);
    const int64_t block = panel * fitting(kResults * control_.memory_bytes, panel_bytes, 1, pieces(outputs_, panel));
    const int64_t passes = pieces(outputs_, block);
    keep_factors_for(passes);
    control_.expect(passes * all_ + pieces(outputs_, panel) * pieces(y_.cols, tile()));
    for (int64_t first = 0; first < outputs_; first += block) {
      ++out_.passes;
      const int64_t count = std::min(block, outputs_ - first);
      const arma::mat operators = stack(first, count, panel);
      apply_stack(operators, first, count, panel);
    }
  }

  int64_t tile() const { return power_of_two(all_, kCached, kSmallestTile, kLargestTile); }

  // Column b + all k: row first + k of operator b, its zeros included.
  arma::mat stack(int64_t first, int64_t count, int64_t panel) {
    arma::mat out(n_, all_ * count, arma::fill::none);  // it may be large: zeros come with the columns
    parallel_for(all_, makers(0), [&](int64_t b, int) {
      const std::shared_ptr<const ResampleFactor> made = factor(b);
      const RowList& rows = made->resample.rows;
      for (int64_t k = 0; k < count; k += panel) {
        control_.check_stop();
        const int64_t width = std::min(panel, count - k);
        const arma::mat part = made->has_left ? arma::mat(made->right * factors_.left(*made, first + k, width))
                                              : arma::mat(made->right.cols(first + k, first + k + width - 1));
        for (int64_t j = 0; j < width; ++j) {
          double* to = out.colptr(b + all_ * (k + j));
          std::fill_n(to, n_, 0.0);
          for (size_t i = 0; i < rows.size(); ++i) to[rows[i]] = part(i, j);
        }
      }
      control_.advance(1);
    });
    return out;
  }

  void apply_stack(const arma::mat& operators, int64_t first, int64_t count, int64_t panel) {
    const int64_t cols = tile(), tiles = pieces(y_.cols, cols);
    const int64_t at_once = power_of_two(all_ * cols, kCached, 1, panel);
    Buffer<double> stack_memory;
    const MatrixView<double> there = device_->resident(view_of(operators), stack_memory);
    parallel_for(pieces(count, panel) * tiles, control_.n_threads, [&](int64_t item, int) {
      const int64_t target = item % tiles * cols, width = std::min(cols, y_.cols - target);
      const int64_t begin = item / tiles * panel, end = std::min(begin + panel, count);
      const arma::mat y = targets(target, width);
      Buffer<double> y_memory, product_memory;
      const MatrixView<double> y_there = device_->borrow(view_of(y), y_memory);
      BootstrapSummary summary(all_ - 1, rule_, out_);
      arma::mat values(all_ * at_once, width, arma::fill::none);
      for (int64_t k = begin; k < end; k += at_once) {
        control_.check_stop();
        const int64_t rows = std::min(at_once, end - k);
        device_->gemm_to_host(Trans::yes, Trans::no, there.block(0, all_ * k, n_, all_ * rows), y_there, product_memory,
                              span_of(values).block(0, 0, all_ * rows, width));
        for (int64_t j = 0; j < width; ++j) {
          for (int64_t row = 0; row < rows; ++row) {
            summary(values.colptr(j) + all_ * row, shift(target + j), first + k + row, target + j);
          }
        }
      }
      control_.advance(1);
    });
  }

  // ---- by factors ----------------------------------------------------------------------------

  // Outputs x targets in passes: as many outputs as fit, then as many tiles of targets.
  void run_by_factors() {
    const int64_t panel = kLargestPanel;
    const int64_t cols = power_of_two(all_ * panel, kPanelNumbers, kSmallestTile, kLargestTile);
    const double tile_bytes = 8 * static_cast<double>(all_) * static_cast<double>(panel * cols);
    const int64_t room = fitting(kResults * control_.memory_bytes, tile_bytes, 1, int64_t{1} << 40);
    const int64_t block = panel * std::min(room, pieces(outputs_, panel));
    const int64_t group = cols * std::min(std::max<int64_t>(1, room * panel / block), pieces(y_.cols, cols));
    const int64_t passes = pieces(outputs_, block) * pieces(y_.cols, group);
    keep_factors_for(passes);
    control_.expect(passes * all_);
    for (int64_t target = 0; target < y_.cols; target += group) {
      const arma::mat y = targets(target, std::min(group, y_.cols - target));
      for (int64_t first = 0; first < outputs_; first += block) {
        ++out_.passes;
        pass(y, target, first, std::min(block, outputs_ - first), panel, cols);
      }
    }
  }

  void pass(const arma::mat& y, int64_t target, int64_t first, int64_t count, int64_t panel, int64_t cols) {
    const int64_t width = static_cast<int64_t>(y.n_cols);
    arma::mat cells(count * width, all_, arma::fill::none);  // the answer of a resample in each column
    Buffer<double> y_memory;
    const MatrixView<double> y_there = device_->resident(view_of(y), y_memory);
    parallel_for(all_, makers(factors_.inner() * static_cast<double>(count)), [&](int64_t b, int) {
      fill(*factor(b), y_there, target, first, panel, cols, {cells.colptr(b), count, width, count});
      control_.advance(1);
    });
    // Some neighbouring cells together: what the memory gives at once.
    constexpr int64_t kTogether = 8;
    const int64_t n_cells = count * width, per_item = kTogether * 64;
    parallel_for(pieces(n_cells, per_item), control_.n_threads, [&](int64_t item, int) {
      control_.check_stop();
      BootstrapSummary summary(all_ - 1, rule_, out_);
      arma::mat values(all_, kTogether, arma::fill::none);
      const int64_t end = std::min(n_cells, (item + 1) * per_item);
      for (int64_t cell = item * per_item; cell < end; cell += kTogether) {
        const int64_t some = std::min(kTogether, end - cell);
        for (int64_t b = 0; b < all_; ++b) {
          for (int64_t k = 0; k < some; ++k) values(b, k) = cells(cell + k, b);
        }
        for (int64_t k = 0; k < some; ++k) {
          const int64_t j = target + (cell + k) / count;
          summary(values.colptr(k), shift(j), first + (cell + k) % count, j);
        }
      }
    });
  }

  // One resample's answer for a pass.
  void fill(const ResampleFactor& made, MatrixView<double> y, int64_t target, int64_t first, int64_t panel,
            int64_t cols, MatrixSpan<double> to) const {
    Buffer<double> right_memory, drawn_memory, rotated_memory, product_memory;
    std::vector<arma::mat> lefts(made.has_left ? pieces(to.rows, panel) : 0);
    std::vector<Buffer<double>> left_memory(lefts.size());
    std::vector<MatrixView<double>> factors;  // that make a panel of outputs
    const MatrixView<double> right = device_->borrow(view_of(made.right), right_memory);
    for (int64_t k = 0; k < to.rows; k += panel) {
      const int64_t height = std::min(panel, to.rows - k);
      if (!made.has_left) {
        factors.push_back(right.block(0, first + k, right.rows, height));
        continue;
      }
      lefts[k / panel] = factors_.left(made, first + k, height);
      factors.push_back(device_->borrow(view_of(lefts[k / panel]), left_memory[k / panel]));
    }
    for (int64_t col = 0; col < to.cols; col += cols) {
      control_.check_stop();
      const int64_t width = std::min(cols, to.cols - col);
      const int64_t n_drawn = static_cast<int64_t>(made.resample.rows.size());
      const MatrixSpan<double> drawn = device_->reserve(drawn_memory, n_drawn, width);
      device_->gather(y.block(0, col, n_, width), made.resample.rows, {}, drawn);
      MatrixSpan<double> side = drawn;
      if (made.has_left) {
        side = device_->reserve(rotated_memory, right.cols, width);
        device_->gemm(Trans::yes, Trans::no, 1.0, right, drawn, 0.0, side);
        shrink(made.values, target + col, side);
      }
      for (int64_t k = 0; k < to.rows; k += panel) {
        const MatrixView<double> factor = factors[k / panel];
        device_->gemm_to_host(Trans::yes, Trans::no, factor, side, product_memory,
                              to.block(k, col, factor.cols, width));
      }
    }
  }

  // Rows with an eigenvalue over that plus the penalty of each target.
  void shrink(const arma::vec& values, int64_t target, MatrixSpan<double> rotated) const {
    if (values.is_empty()) return;
    const MatrixSpan<double> rows = rotated.block(0, 0, values.n_elem, rotated.cols);
    device_->shrink(rows, {values.begin(), values.end()}, {&model_.alphas[target], &model_.alphas[target] + rows.cols},
                    rows);
  }

  const BootstrapModel& model_;
  const MatrixView<double> y_;
  const Resamples resamples_;
  const IntervalRule& rule_;
  BootstrapOutputs& out_;
  const Control& control_;
  const BootstrapFactors factors_;
  const std::unique_ptr<Device<double>> device_;  // of the products with the targets
  const int64_t n_, outputs_, all_;  // `all_`: the data and the resamples
  std::vector<double> means_;        // of the targets
  std::vector<std::shared_ptr<const ResampleFactor>> kept_;
  std::atomic<int64_t> deficient_{0};
};

}  // namespace

void bootstrap_ridge(const BootstrapModel& model, MatrixView<double> y, const ResamplePlan& plan,
                     const IntervalRule& rule, BootstrapOutputs& out, const Control& control) {
  if (plan.n_boot < 2) throw Error(ErrorCode::invalid_argument, "a spread needs at least two resamples");
  if (out.estimate.rows == 0 || y.cols == 0) return;
  Bootstrap(model, y, plan, rule, out, control).run();
}

}  // namespace voxridge
