// Loops of permutation tests against plain ones, for every instruction set of this machine.
#include <algorithm>
#include <cmath>

#include "common.h"
#include "core/exact_product.h"
#include "core/permutation_cells.h"
#include "core/permutation_lattice.h"
#include "core/permutation_tables.h"

namespace voxridge_test {

namespace {

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> out = {InstructionSet::baseline};
  if (best_instruction_set() != InstructionSet::baseline) out.push_back(InstructionSet::avx2);
  if (best_instruction_set() == InstructionSet::avx512) out.push_back(InstructionSet::avx512);
  return out;
}

}  // namespace

TEST(PermutationKernels, TablesAddWhatALoopAdds) {
  const Philox random(3, 0);
  for (const int64_t n : {1, 5, 16, 17, 70, 150, 290}) {
    for (const int bits : {4, 6, 8}) {
      const int64_t rows = bits == 8 && n > 128 ? 4200 : 50;
      std::vector<IntStrip> q(n);
      uint64_t index = 0;
      for (IntStrip& row : q) {
        for (int32_t& x : row.lane) {
          x = static_cast<int32_t>(random.block(index++)[0]) / static_cast<int32_t>(2 * n);
        }
      }
      PatternCodes codes(n, bits, rows);
      std::vector<std::vector<char>> on(rows, std::vector<char>(n));
      for (int64_t r = 0; r < rows; ++r) {
        for (char& flag : on[r]) flag = random.block(index++)[0] & 1;
        codes.set(r, on[r].data(), n);
      }
      for (int which = 0; which < 4; ++which) {
        TablePass pass;
        pass.q = q.data();
        pass.n = n;
        pass.signs = which & 1;
        pass.absolute = which & 2;
        std::fill_n(pass.threshold.lane, kLanes, 1000000);
        IntStrip want_counts = {};
        std::vector<IntStrip> want(rows);
        for (int64_t r = 0; r < rows; ++r) {
          for (int l = 0; l < kLanes; ++l) {
            int64_t u = 0;
            for (int64_t i = 0; i < n; ++i) {
              u += on[r][i] ? int64_t{q[i].lane[l]} : pass.signs ? -int64_t{q[i].lane[l]} : 0;
            }
            if (pass.absolute) u = std::llabs(u);
            want[r].lane[l] = static_cast<int32_t>(u);
            want_counts.lane[l] += u >= 1000000;
          }
        }
        for (const InstructionSet set : instruction_sets()) {
          IntStrip counts = {};
          std::vector<int32_t> maxima(rows, INT32_MIN);
          maxima[0] = INT32_MAX;  // is not lowered
          TableKernel(set).run(pass, codes, counts, maxima.data());
          for (int l = 0; l < kLanes; ++l) ASSERT_EQ(counts.lane[l], want_counts.lane[l]) << n << " " << bits;
          ASSERT_EQ(maxima[0], INT32_MAX);
          for (int64_t r = 1; r < rows; ++r) {
            ASSERT_EQ(maxima[r], *std::max_element(want[r].lane, want[r].lane + kLanes))
                << n << " " << bits << " " << r;
          }
        }
      }
    }
  }
}

TEST(PermutationKernels, ScalesKeepSumsBelowTheLimit) {
  EXPECT_EQ(table_scale(30), std::exp2(28));
  for (const int64_t n : {1, 2, 3, 4, 100, 12345, 1000000}) {
    const double count = static_cast<double>(n);
    EXPECT_LT(std::sqrt(count) * table_scale(n) + count / 2, 2147483648.0);
  }
}

TEST(PermutationKernels, ProductsAreExact) {
  EXPECT_TRUE(blas_is_exact());
  const double a[] = {1, 2, 3, 4}, b[] = {5, 6};
  double c[2];
  product_by_loop({a, 2, 2, 2}, {b, 2, 1, 2}, {c, 2, 1, 2});
  EXPECT_EQ(c[0], 17);
  EXPECT_EQ(c[1], 39);
  EXPECT_TRUE(adds_exactly(product_by_loop));
  EXPECT_FALSE(adds_exactly([](MatrixView<double> x, MatrixView<double> y, MatrixSpan<double> to) {
    product_by_loop(x, y, to);
    to.col(3)[7] += 1;
  }));
}

TEST(PermutationKernels, CellsAreTheFormulas) {
  const Philox random(4, 0);
  std::vector<DoubleStrip> memory(4 * kCellRows / kDoubleLanes), values(kCellRows / kDoubleLanes);
  double* sums = memory[0].lane;
  for (int64_t i = 0; i < 4 * kCellRows; ++i) {
    sums[i] = std::rint((random.uniform_pair(i)[0] - 0.5) * 0x1p52);
  }
  sums[3 * kCellRows] = 0x1p52;  // in the nuisance space
  for (const InstructionSet set : instruction_sets()) {
    for (const bool absolute : {true, false}) {
      CellRule rule;
      rule.absolute = absolute;
      rule.n_changed = 3;
      cell_values(rule, sums, values[0].lane, set);
      for (int r = 0; r < kCellRows; ++r) {
        double left = 1;
        for (int k = 1; k < 4; ++k) left -= std::pow(sums[k * kCellRows + r] * 0x1p-52, 2);
        const double u = sums[r] * 0x1p-52;
        const double want = left < 0x1p-24 ? INFINITY : (absolute ? u * u : u * std::fabs(u)) / left;
        ASSERT_DOUBLE_EQ(values[0].lane[r], want);
      }
      std::vector<DoubleStrip> maxima(kCellRows / kDoubleLanes);
      for (DoubleStrip& strip : maxima) std::fill_n(strip.lane, kDoubleLanes, -INFINITY);
      const CellResult found = count_cells(rule, values[0].lane, 101, 0.1, maxima[0].lane, set);
      int64_t want = 0;
      for (int r = 0; r < 101; ++r) want += values[0].lane[r] >= 0.1;
      EXPECT_EQ(found.count, want);
      EXPECT_EQ(found.degenerate, std::count(values[0].lane, values[0].lane + 101, INFINITY));
      EXPECT_EQ(maxima[0].lane[0], -INFINITY);
      EXPECT_EQ(maxima[0].lane[100], values[0].lane[100]);
      EXPECT_EQ(maxima[0].lane[101], -INFINITY);
    }
  }
}

}  // namespace voxridge_test
