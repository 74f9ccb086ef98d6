// Cross-validation folds, and the order of rows in which they are cheapest to use.
#pragma once

#include <cstdint>
#include <vector>

namespace voxridge {

using RowList = std::vector<int64_t>;  // 0-based

// first, first + 1, ... (count of them).
RowList row_range(int64_t first, int64_t count);

struct Fold {
  RowList train;  // may repeat rows (bootstrap samples)
  RowList test;
};

// When the held-out sets partition the samples and every training set is the complement of its own, rows are
// re-ordered fold by fold, so that a fold is a range and sums over training rows are totals less the fold's part.
struct Folds {
  std::vector<Fold> folds;  // in the new order of rows
  RowList order;            // order[i] = the caller's row at place i
  bool partition = false;
  bool in_order = true;  // order[i] == i for all i

  int64_t count() const { return static_cast<int64_t>(folds.size()); }
};

Folds arrange_folds(int64_t n_rows, std::vector<Fold> folds, bool partition);

// No folds: all rows, in the caller's order.
Folds no_folds(int64_t n_rows);

}  // namespace voxridge
