// Samples in cells: those that every fold treats alike. With folds that hold out every sample once a cell is a fold.
//
// Moments of disjoint sets of rows add up (moments.h), so a fold's training rows and its held-out rows are sums of
// cells, whatever the folds: nothing is subtracted, and every row is read once.
#pragma once

#include <cstdint>
#include <vector>

#include "folds.h"

namespace voxridge {

// Sums over rows are taken in blocks of this many, aligned to the absolute number of the row: the same bits however
// many rows are read at a time.
constexpr int64_t kBlockRows = 2048;

// The rows of a block that are of one cell.
struct Piece {
  int64_t cell;
  std::vector<int64_t> rows;  // places in what was asked for
  double before;              // rows of the cell in earlier pieces
};

class RowCells {
 public:
  explicit RowCells(int64_t n_rows) : cell_(n_rows, 0), roles_(1) {}

  // Training rows may be repeated.
  void add_fold(const RowList& train, const RowList& test);

  int64_t rows() const { return static_cast<int64_t>(cell_.size()); }
  int64_t count() const { return static_cast<int64_t>(roles_.size()); }
  int64_t folds() const { return static_cast<int64_t>(roles_[0].size()); }

  // Per cell: how often its rows train in a fold; 1 where they are held out. All rows: 1 everywhere.
  std::vector<double> training(int64_t fold) const;
  std::vector<double> held_out(int64_t fold) const;
  std::vector<double> all() const { return std::vector<double>(count(), 1.0); }

  // Rows row .. row + n_rows - 1, block by block, and cell by cell inside. `before`: rows of each cell so far; counted
  // on.
  std::vector<Piece> pieces(int64_t row, int64_t n_rows, std::vector<double>& before) const;

 private:
  std::vector<int32_t> cell_;                // per row
  std::vector<std::vector<int32_t>> roles_;  // per cell and fold: times in training, -1 held out
};

}  // namespace voxridge
