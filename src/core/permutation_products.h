// Correlations, Freedman-Lane and Welch: sums of products of permuted rows with columns, both on a lattice. How they
// are added up is the device's affair; what goes in, the thresholds and the values that sums stand for are here.
#pragma once

#include <vector>

#include "permutation_cells.h"
#include "permutation_kernel.h"

namespace voxridge {

class ProductKernel : public PermutationKernel {
 public:
  ProductKernel(const PermutationTest& test, const PermutationRows& rows, PermutationOutputs& out, double* threshold);

  double statistic_of(double value) const override { return cell_statistic(rule_, value, test_.design.df); }

 protected:
  // Columns that take part, side by side.
  struct Tile {
    std::vector<double> e, squares;  // n x columns, whole numbers; squares: for Welch's t
    std::vector<int64_t> columns;
    std::vector<CellRule> rules;
    std::vector<DoubleStrip> unit, sums, values;  // of the column that comes in

    int64_t size() const { return static_cast<int64_t>(columns.size()); }
  };

  bool is_welch() const { return rule_.statistic == PermutationStatistic::welch; }
  int64_t most_rows_within(int64_t most) const;  // that are not too large

  // Rows first .. first + count - 1, in blocks: the first vector of all rows of a block, then the next.
  void make_rows(int64_t first, int64_t count, int64_t block_rows, int n_workers, const Control& control);
  MatrixView<double> row_block(int64_t block) const {
    const int64_t columns = segments_ * block_rows_;
    return {row_memory_.data() + block * n() * columns, n(), columns, n()};
  }

  // Columns begin .. end - 1, with their thresholds.
  void load_tile(int64_t begin, int64_t end, Tile& tile);

  CellRule rule_;
  int64_t segments_ = 1, sums_ = 1;  // vectors, and sums per column and row

 private:
  void append(const double* vector);
  void make_row(int64_t r, double* to, std::vector<char>& flags, std::vector<int>& from) const;
  void put(int64_t j, int lane, Tile& tile);

  std::vector<double> vectors_;     // n each: the tested part, changed nuisance; or 0 and 1
  std::vector<double> row_memory_;  // blocks of n x (segments x block_rows)
  int64_t block_rows_ = 1;
};

}  // namespace voxridge
