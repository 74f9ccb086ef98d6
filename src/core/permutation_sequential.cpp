#include "permutation_sequential.h"

#include <algorithm>
#include <limits>

#include "permutation_kernel.h"
#include "threads.h"

namespace voxridge {

namespace {

// Columns that are left, and how many extreme permutations each has had.
struct Left {
  std::vector<int64_t> column;
  std::vector<int64_t> before;
  void add(int64_t j, int64_t count) {
    column.push_back(j);
    before.push_back(count);
  }
};

class SequentialTest {
 public:
  SequentialTest(const PermutationTest& test, int64_t h, PermutationOutputs& out, int* draws, const Control& control)
      : test_(test),
        h_(h),
        out_(out),
        pass_(out),
        draws_(draws),
        control_(control),
        counts_(test.y.cols),
        threshold_(test.y.cols, std::numeric_limits<double>::infinity()) {
    pass_.counts = counts_.data();
    pass_.null = nullptr;
    rows_ = std::make_unique<PermutationRows>(test.rows);
    kernel_ = make_kernel(test_, *rows_, pass_, threshold_.data());
  }

  // Batches as large as all before them: half of what a column goes through is beyond its stop at most.
  void run() {
    const int64_t v = test_.y.cols, m = test_.n_permutations;
    const BlasThreads blas(1);
    control_.expect(m);
    Left left;
    for (int64_t j = 0; j < v; ++j) left.add(j, 0);
    std::fill_n(draws_, v, static_cast<int>(m));
    for (int64_t first = 0; first < m && (first == 0 || !left.column.empty());) {
      const int64_t count = std::min({m - first, std::max(first, 2 * h_), kernel_->most_rows()});
      count_rows(left, first, count, first == 0);
      if (first == 0) pass_.statistic = nullptr;  // written
      Left stopping, going;
      for (size_t k = 0; k < left.column.size(); ++k) {
        const int64_t j = left.column[k], now = left.before[k] + counts_[k];
        if (out_.state[j] != static_cast<int>(ColumnState::used)) continue;
        out_.counts[j] = static_cast<int>(std::min(now, h_));
        now < h_ ? going.add(j, now) : stopping.add(j, left.before[k]);
      }
      locate(stopping, first, count);
      left = std::move(going);
      first += count;
      control_.advance(count);
    }
  }

 private:
  // Counts of these columns under rows first .. first + count - 1, by place.
  void count_rows(const Left& left, int64_t first, int64_t count, bool all) {
    const int64_t places = static_cast<int64_t>(left.column.size()), chunk = kernel_->chunk_columns();
    test_.design.which = all ? nullptr : left.column.data();
    std::fill_n(counts_.begin(), places, 0);
    kernel_->start(first, count, control_.n_threads, control_);
    parallel_for((places + chunk - 1) / chunk, control_.n_threads, [&](int64_t item, int worker) {
      control_.check_stop();
      kernel_->run(item * chunk, std::min((item + 1) * chunk, places), worker, control_);
    });
  }

  // Where within these rows each column stops: in the half that holds it. Counts are exact, so it does not matter how
  // rows are cut.
  void locate(const Left& left, int64_t first, int64_t count) {
    if (left.column.empty()) return;
    if (count == 1) {
      for (const int64_t j : left.column) draws_[j] = static_cast<int>(first + 1);
      return;
    }
    const int64_t half = count / 2;
    count_rows(left, first, half, false);
    Left early, late;
    for (size_t k = 0; k < left.column.size(); ++k) {
      const int64_t now = left.before[k] + counts_[k];
      now < h_ ? late.add(left.column[k], now) : early.add(left.column[k], left.before[k]);
    }
    locate(early, first, half);
    locate(late, first + half, count - half);
  }

  PermutationTest test_;
  int64_t h_;
  PermutationOutputs& out_;
  PermutationOutputs pass_;  // of some columns, by place
  int* draws_;
  const Control& control_;
  std::vector<int> counts_;
  std::vector<double> threshold_;
  std::unique_ptr<PermutationRows> rows_;
  std::unique_ptr<PermutationKernel> kernel_;
};

}  // namespace

void run_sequential_test(const PermutationTest& test, int64_t h, PermutationOutputs& out, int* draws,
                         const Control& control) {
  SequentialTest(test, h, out, draws, control).run();
}

}  // namespace voxridge
