// Columns at unit norm and their statistics: states, formulas, the same bits for every instruction set and place.
#include <cmath>

#include "common.h"
#include "core/permutation_columns.h"

namespace voxridge_test {

namespace {

struct Loaded {
  std::vector<DoubleStrip> e;
  ColumnState state[kDoubleLanes];
  ColumnStatistic statistic[kDoubleLanes];
};

Loaded load(const arma::mat& y, const ColumnDesign& design, InstructionSet set, int64_t j, int64_t count) {
  Loaded out;
  out.e.resize(y.n_rows);
  PermutationColumns columns(view_of(y), design, set);
  columns.load(j, count, out.e.data(), out.state);
  columns.statistics(out.e.data(), nullptr, out.statistic);
  return out;
}

arma::mat basis(int64_t n, int64_t q, uint64_t seed) {
  arma::mat x = normal_matrix(n, q, seed), out, r;
  x.col(0).ones();
  arma::qr_econ(out, r, x);
  return out;
}

}  // namespace

TEST(PermutationColumns, EveryInstructionSetGivesTheSameBits) {
  const arma::mat y = normal_matrix(37, 11, 1), q = basis(37, 4, 2);
  ColumnDesign design;
  design.nuisance = view_of(q).block(0, 0, 37, 3);
  design.x = view_of(q).block(0, 3, 37, 1);
  design.df = 33;
  for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    if (set > best_instruction_set()) continue;
    const Loaded one = load(y, design, InstructionSet::baseline, 0, 8), other = load(y, design, set, 0, 8);
    // other neighbours, another lane
    const Loaded moved = load(y, design, set, 3, 8);
    for (int lane = 0; lane < 8; ++lane) {
      EXPECT_EQ(one.statistic[lane].statistic, other.statistic[lane].statistic);
      for (int i = 0; i < 37; ++i) ASSERT_EQ(one.e[i].lane[lane], other.e[i].lane[lane]);
      if (lane < 3) continue;
      EXPECT_EQ(one.statistic[lane].estimate, moved.statistic[lane - 3].estimate);
    }
  }
}

TEST(PermutationColumns, ResidualsAndStatisticsAreTheFormulas) {
  const arma::mat y = 100 + normal_matrix(20, 8, 3), q = basis(20, 5, 4);
  ColumnDesign design;
  design.statistic = PermutationStatistic::f;
  design.nuisance = view_of(q).block(0, 0, 20, 3);
  design.x = view_of(q).block(0, 3, 20, 2);
  design.df = 15;
  const Loaded got = load(y, design, best_instruction_set(), 0, 8);
  const arma::mat z = q.head_cols(3), x = q.tail_cols(2);
  for (int j = 0; j < 8; ++j) {
    const arma::vec e = y.col(j) - z * (z.t() * y.col(j)), b = x.t() * e, rest = e - x * b;
    const double f = arma::dot(b, b) / 2 / (arma::dot(rest, rest) / 15);
    EXPECT_NEAR(got.statistic[j].statistic / f, 1, 1e-10);
    for (int i = 0; i < 20; ++i) EXPECT_NEAR(got.e[i].lane[j], e(i) / arma::norm(e), 1e-12);
  }
}

TEST(PermutationColumns, APowerOfTwoIsAnotherUnitAndNothingElse) {
  const arma::mat plain = normal_matrix(30, 8, 7), q = basis(30, 2, 8);
  arma::mat y = plain;
  const int powers[8] = {0, 298, 299, 301, 1000, -298, -301, -960};
  for (int j = 0; j < 8; ++j) {
    for (double& x : y.col(j)) x = std::ldexp(x, powers[j]);
  }
  ColumnDesign design;
  design.nuisance = view_of(q).block(0, 0, 30, 1);
  design.x = view_of(q).block(0, 1, 30, 1);
  design.df = 28;
  const InstructionSet set = best_instruction_set();
  const Loaded want = load(plain, design, set, 0, 8), got = load(y, design, set, 0, 8);
  for (int j = 0; j < 8; ++j) {
    EXPECT_EQ(got.state[j], ColumnState::used);
    EXPECT_EQ(got.statistic[j].statistic, want.statistic[j].statistic) << powers[j];
    EXPECT_EQ(got.statistic[j].estimate, std::ldexp(want.statistic[j].estimate, powers[j])) << powers[j];
    for (int i = 0; i < 30; ++i) ASSERT_EQ(got.e[i].lane[j], want.e[i].lane[j]) << powers[j];
  }
}

TEST(PermutationColumns, WhatCannotBeTested) {
  const int n = 12;
  const arma::mat q = basis(n, 2, 5);
  arma::mat y = normal_matrix(n, 8, 6);
  y.col(0).zeros();
  y.col(1).fill(1e300);
  y.col(2).fill(0.1);
  y(4, 3) = INFINITY;
  y(5, 4) = NAN;
  y.col(5) = 3 - 7 * q.col(1);
  y.col(6) *= 1e-305;
  ColumnDesign design;
  design.nuisance = view_of(q);
  const arma::vec x(n, arma::fill::zeros);
  design.x = {x.memptr(), n, 1, n};
  const Loaded got = load(y, design, best_instruction_set(), 0, 8);
  const ColumnState want[] = {ColumnState::zero,      ColumnState::constant,  ColumnState::constant,
                              ColumnState::nonfinite, ColumnState::nonfinite, ColumnState::nuisance,
                              ColumnState::used,      ColumnState::used};
  for (int j = 0; j < 8; ++j) EXPECT_EQ(got.state[j], want[j]) << j;
  double norm = 0;
  for (int i = 0; i < n; ++i) norm += got.e[i].lane[6] * got.e[i].lane[6];
  EXPECT_NEAR(norm, 1, 1e-14);
}

TEST(PermutationColumns, RanksAreAverageRanks) {
  const arma::mat y = {3, 1, 3, 5, 3};
  const arma::mat column = y.t();
  ColumnDesign design;
  design.ranks = true;
  const arma::vec x(5, arma::fill::zeros);
  design.x = {x.memptr(), 5, 1, 5};
  const Loaded got = load(column, design, best_instruction_set(), 0, 1);
  const double ranks[] = {3, 1, 3, 5, 3};
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(got.e[i].lane[0], ranks[i] / std::sqrt(53.0), 1e-15);
}

}  // namespace voxridge_test
