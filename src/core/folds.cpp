#include "folds.h"

#include <numeric>

#include "error.h"

namespace voxridge {

RowList row_range(int64_t first, int64_t count) {
  RowList rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

Folds no_folds(int64_t n_rows) {
  Folds out;
  out.order = row_range(0, n_rows);
  return out;
}

Folds arrange_folds(int64_t n_rows, std::vector<Fold> folds, bool partition) {
  Folds out = no_folds(n_rows);
  for (const Fold& fold : folds) {
    for (const RowList* rows : {&fold.train, &fold.test}) {
      if (rows->empty()) throw Error(ErrorCode::invalid_argument, "a fold has no training or no held-out rows");
      for (const int64_t row : *rows) {
        if (row < 0 || row >= n_rows) throw Error(ErrorCode::invalid_argument, "a fold names a row that is not there");
      }
    }
  }
  out.partition = partition;
  if (!partition) {
    out.folds = std::move(folds);
    return out;
  }
  int64_t first = 0;
  for (const Fold& fold : folds) {
    const int64_t size = static_cast<int64_t>(fold.test.size());
    if (first + size > n_rows) break;
    for (int64_t i = 0; i < size; ++i) out.order[first + i] = fold.test[i];
    Fold arranged;
    arranged.test = row_range(first, size);
    arranged.train = row_range(0, first);
    const RowList after = row_range(first + size, n_rows - first - size);
    arranged.train.insert(arranged.train.end(), after.begin(), after.end());
    out.folds.push_back(std::move(arranged));
    first += size;
  }
  if (first != n_rows || out.count() != static_cast<int64_t>(folds.size())) {
    throw Error(ErrorCode::internal, "folds said to be a partition are not");
  }
  for (int64_t i = 0; i < n_rows; ++i) out.in_order = out.in_order && out.order[i] == i;
  return out;
}

}  // namespace voxridge
