// Label permutations against decoding anew with permuted labels; the operator behind them; tables of signs.
#include <algorithm>
#include <cmath>

#include "core/decoding_permutations.h"
#include "decoding.h"

namespace voxridge_test {

namespace {

void permute(DecodingCase& c, int64_t draws, std::vector<int> block = {}) {
  c.options.n_permutations = draws;
  c.options.rows.kind = Rearrangement::orders;
  c.options.rows.n = static_cast<int64_t>(c.x.n_rows);
  c.options.rows.block = std::move(block);
  c.options.rows.seed = 11;
}

std::vector<int> blocks_of(int64_t n, int64_t size) {
  std::vector<int> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<int>(i / size));
  return out;
}

// Larger is better; right answers for accuracy, the mean over folds otherwise.
arma::mat scores_of(const DecodingCase& c, const DecodingResult& result) {
  arma::mat out(result.scores.n_cols, result.scores.n_slices);
  for (arma::uword k = 0; k < out.n_cols; ++k) {
    for (arma::uword l = 0; l < out.n_rows; ++l) {
      double sum = 0, n = 0;
      for (size_t f = 0; f < c.folds.size(); ++f) {
        const double score = result.scores(f, l, k);
        if (std::isnan(score)) continue;
        const double weight =
            c.options.metrics[k] == DecodingMetric::accuracy ? static_cast<double>(c.folds[f].test.size()) : 1;
        sum += score * weight;
        ++n;
      }
      const bool accuracy = c.options.metrics[k] == DecodingMetric::accuracy;
      out(l, k) = accuracy ? std::round(sum) : (c.options.metrics[k] == DecodingMetric::mse ? -1 : 1) * sum / n;
    }
  }
  return out;
}

void expect_literal(DecodingCase c) {
  const DecodingResult got = run_decoding(c, 2);
  const int64_t m = c.options.n_permutations;
  PermutationRows rows([&] {
    RowPlan plan = c.options.rows;
    return plan;
  }());
  DecodingCase plain = c;
  plain.options.n_permutations = 0;
  const arma::mat observed = scores_of(plain, run_decoding(plain));
  arma::mat counts(arma::size(observed), arma::fill::zeros), max_counts = counts, sums = counts;
  std::vector<int> from(c.x.n_rows);
  for (int64_t r = 0; r < m; ++r) {
    rows.order(r, from.data());
    for (size_t i = 0; i < from.size(); ++i) {
      if (!c.classes.empty()) plain.classes[i] = c.classes[from[i]];
      if (c.classes.empty()) plain.values[i] = c.values[from[i]];
    }
    const arma::mat null = scores_of(plain, run_decoding(plain));
    for (arma::uword k = 0; k < null.n_cols; ++k) {
      const double most = arma::max(null.col(k));
      const bool accuracy = c.options.metrics[k] == DecodingMetric::accuracy;
      const double shown = accuracy                                      ? most / static_cast<double>(c.n_test())
                           : c.options.metrics[k] == DecodingMetric::mse ? -most
                                                                         : most;
      ASSERT_NEAR(got.max_null(r, k), shown, 1e-9) << r;
      for (arma::uword l = 0; l < null.n_rows; ++l) {
        counts(l, k) += null(l, k) >= observed(l, k) - 1e-10;
        max_counts(l, k) += most >= observed(l, k) - 1e-10;
        sums(l, k) +=
            accuracy ? null(l, k) / static_cast<double>(c.n_test())
                     : std::fabs(null(l, k)) * (null(l, k) < 0 && c.options.metrics[k] != DecodingMetric::mse ? -1 : 1);
      }
    }
  }
  for (arma::uword k = 0; k < observed.n_cols; ++k) {
    for (arma::uword l = 0; l < observed.n_rows; ++l) {
      ASSERT_EQ(got.counts(l, k), counts(l, k)) << l << " " << k;
      ASSERT_EQ(got.max_counts(l, k), max_counts(l, k)) << l << " " << k;
      ASSERT_NEAR(got.null_mean(l, k), sums(l, k) / static_cast<double>(m), 1e-9);
    }
  }
}

const std::vector<std::vector<int>> kLists = {
    {0, 1, 2}, {3}, {0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                                11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                                                21, 22, 23, 24, 25, 26, 27, 28, 29}};

}  // namespace

TEST(DecodingPermutations, EqualDecodingAnewWithPermutedClasses) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::global, VoxelScale::fold}) {
    for (const int n_classes : {2, 3, 5}) {
      for (const bool within : {true, false}) {
        DecodingCase c = class_case(24, 30, n_classes, 4, 400 + n_classes);
        c.x += 0.8 * normal_matrix(24, 30, 77);
        c.options.scale = scale;
        c.options.metrics = {DecodingMetric::accuracy, DecodingMetric::balanced_accuracy, DecodingMetric::auc};
        c.lists = kLists;
        permute(c, 60, within ? blocks_of(24, 6) : std::vector<int>());
        expect_literal(c);
      }
    }
  }
}

TEST(DecodingPermutations, EqualDecodingAnewWithPermutedValues) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    for (const bool within : {true, false}) {
      DecodingCase c = value_case(24, 30, 4, 420);
      c.options.scale = scale;
      c.lists = kLists;
      permute(c, 60, within ? blocks_of(24, 6) : std::vector<int>());
      expect_literal(c);
    }
  }
}

TEST(DecodingPermutations, MoreThanABatchAndFoldsThatOverlap) {
  DecodingCase c = class_case(22, 30, 2, 2, 430);
  c.partition = false;
  c.folds.clear();
  for (int64_t f = 0; f < 5; ++f) {
    Fold fold;
    for (int64_t i = 0; i < 22; ++i) {
      if (i >= 4 * f && i < 4 * f + 6) fold.test.push_back(i);
      if (i < 4 * f - 1 || i >= 4 * f + 6) fold.train.push_back(i);
    }
    c.folds.push_back(fold);
  }
  c.lists = kLists;
  permute(c, 300);
  expect_literal(c);
}

TEST(DecodingPermutations, EnumeratedAndGivenOnes) {
  DecodingCase c = class_case(8, 4, 2, 2, 440);
  permute(c, 576, blocks_of(8, 4));
  c.options.rows.exact = true;
  const DecodingResult all = run_decoding(c);
  EXPECT_GE(all.counts(0, 0), 1);  // the data are among them
  DecodingCase given = c;
  given.options.rows.exact = false;
  arma::Mat<int> orders(3, 8);
  for (int i = 0; i < 8; ++i) {
    orders(0, i) = i + 1;
    orders(1, i) = 8 - i;
    orders(2, i) = (i + 3) % 8 + 1;
  }
  given.options.rows.block.clear();
  given.options.rows.given = {orders.memptr(), 3, 8, 3};
  given.options.n_permutations = 3;
  expect_literal(given);
}

TEST(DecodingPermutations, TheStreamIsTheThird) {
  RowPlan plan;
  plan.kind = Rearrangement::orders;
  plan.n = 4;
  plan.seed = 9;
  plan.stream = 3;
  std::vector<int> got(4);
  PermutationRows(plan).order(0, got.data());
  std::vector<std::pair<uint64_t, int>> keys;
  for (uint32_t i = 0; i < 4; ++i) {
    const Philox::Block words = Philox::rounds({1, 0, i / 2, 3}, {9, 0});
    keys.emplace_back(uint64_t{words[2 * (i % 2)]} << 32 | words[2 * (i % 2) + 1], i);
  }
  std::sort(keys.begin(), keys.end());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i], keys[i].second);
}

TEST(DecodingPermutations, TheOperatorLeavesOutItsBlockAndTheConstant) {
  for (const VoxelScale scale : {VoxelScale::none, VoxelScale::fold}) {
    for (const int64_t p : {1, 7, 17, 23, 24, 40}) {
      for (const double alpha : {1e-8, 0.5, 1e5}) {
        DecodingCase c = class_case(24, p, 2, 4, 450 + p);
        c.options.scale = scale;
        c.options.alphas = {alpha};
        const DecodingProblem problem = c.problem();
        const DecodingDesign design(problem, c.options);
        const VoxelTable table = describe_voxels(problem, design, scale, {});
        LocationSolver solver(problem, design, c.options, table, {});
        std::vector<int> columns;
        for (int j = 0; j < p; ++j) columns.push_back(j);
        LocationFit fit;
        solver.run(columns, 24, fit);
        const double size = arma::abs(fit.on).max();
        for (int64_t i = 0; i < 24; ++i) {
          EXPECT_LT(std::fabs(arma::accu(fit.on.row(i))), 1e-12 * size * 24);
          for (int64_t j = i / 6 * 6; j < i / 6 * 6 + 6; ++j) EXPECT_EQ(fit.on(i, j), 0);
        }
        arma::mat slopes = fit.decision;
        for (int64_t f = 0; f < 4; ++f) slopes.rows(6 * f, 6 * f + 5) -= design.folds[f].mean[0];
        EXPECT_LT(relative_difference(fit.on * design.y, slopes), 1e-7) << p << " " << alpha;
      }
    }
  }
}

TEST(DecodingPermutations, SignTablesSumTheColumns) {
  for (const int64_t n : {1, 5, 6, 7, 24, 61}) {
    const arma::mat on = normal_matrix(16, n, 460 + n);
    const int64_t groups = sample_groups(n), rows = 37;
    std::vector<uint8_t> codes(rows * groups, 0);
    arma::mat signs(n, rows);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i) {
        const bool plus = Philox(3, 0).block(r * n + i)[0] & 1;
        signs(i, r) = plus ? 1 : -1;
        if (plus) codes[r * groups + i / kGroupSamples] |= static_cast<uint8_t>(1 << (i % kGroupSamples));
      }
    }
    const arma::mat want = on * signs;
    std::vector<DoubleStrip> tables(groups * kGroupPatterns), sums(rows), first(rows);
    for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
      if (set > best_instruction_set()) continue;
      build_sign_tables(view_of(on), 8, tables.data(), set);
      add_sign_tables(tables.data(), groups, codes.data(), rows, sums.data(), set);
      for (int64_t r = 0; r < rows; ++r) {
        for (int lane = 0; lane < kDoubleLanes; ++lane) {
          ASSERT_NEAR(sums[r].lane[lane], want(8 + lane, r), 1e-13 * static_cast<double>(n + 10));
          if (set == InstructionSet::baseline) first[r] = sums[r];
          ASSERT_EQ(sums[r].lane[lane], first[r].lane[lane]);  // the same bits
        }
      }
    }
  }
}

TEST(DecodingPermutations, HitsAreDecidedAsRowsAre) {
  for (const int n_classes : {2, 3, 4, 9}) {
    const int columns = n_classes > 2 ? n_classes - 1 : 1, rows = 20;
    std::vector<DoubleStrip> sums(columns * rows), shift(columns);
    std::vector<RowBytes> truth(n_classes * rows, 0);
    std::vector<int> want(rows, 0);
    const Philox random(5, n_classes);
    uint64_t next = 0;
    for (int c = 0; c < columns; ++c) {
      for (double& value : shift[c].lane) value = std::round(4 * random.normal_pair(++next)[0]) / 4;
    }
    for (int r = 0; r < rows; ++r) {
      for (int lane = 0; lane < 8; ++lane) {
        std::vector<double> decision;
        double total = 0;
        for (int c = 0; c < columns; ++c) {
          const double value = std::round(2 * random.normal_pair(++next)[0]) / 4;  // ties
          sums[c * rows + r].lane[lane] = value;
          decision.push_back(value + shift[c].lane[lane]);
          total += decision.back();
        }
        if (n_classes > 2) decision.push_back(2.0 - n_classes - total);
        const int label = static_cast<int>(random.block(++next)[0] % n_classes);
        reinterpret_cast<unsigned char*>(&truth[label * rows + r])[lane] = 255;
        const int best = n_classes == 2
                             ? decision[0] > 0
                             : static_cast<int>(std::max_element(decision.begin(), decision.end()) - decision.begin());
        want[r] += best == label && lane != 5;
      }
    }
    StripVerdict verdict;
    verdict.sums = sums.data();
    verdict.shift = shift.data();
    verdict.truth = truth.data();
    verdict.stride = verdict.truth_stride = rows;
    verdict.n_classes = n_classes;
    verdict.valid = ~RowBytes{0};
    reinterpret_cast<unsigned char*>(&verdict.valid)[5] = 0;
    for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
      if (set > best_instruction_set()) continue;
      std::vector<int> hits(rows, 0);
      count_hits(verdict, rows, hits.data(), set);
      ASSERT_EQ(hits, want) << n_classes;
    }
  }
}

}  // namespace voxridge_test
