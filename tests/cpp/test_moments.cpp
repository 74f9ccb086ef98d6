// Moments of features in files, and ridge regression from them, against long double and the search in memory.
#include <cmath>
#include <cstdio>
#include <fstream>

#include "common.h"
#include "core/moment_search.h"
#include "core/store_rows.h"

namespace voxridge_test {

namespace {

// A matrix in a file for as long as it lives.
class Stored {
 public:
  Stored(const arma::mat& x, const char* name, bool single = false)
      : path_(testing::TempDir() + "voxridge_moments_" + name) {
    const int64_t rows = static_cast<int64_t>(x.n_rows), cols = static_cast<int64_t>(x.n_cols);
    StoreWriter writer(path_, rows, cols, single);
    writer.write(0, view_of(x));
    layout_ = {rows, cols, single, 0, rows, {{path_, 0, cols}}, writer.finish().checksums};
  }
  ~Stored() { std::remove(path_.c_str()); }

  StoreReader reader() const { return StoreReader(layout_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  StoreLayout layout_;
};

RowCells cells_of(const Problem& problem) {
  RowCells cells(static_cast<int64_t>(problem.x.n_rows));
  for (const Fold& fold : problem.folds) cells.add_fold(fold.train, fold.test);
  return cells;
}

CvResult run_from_file(const Problem& problem, RidgeCvOptions options, const Control& control = {},
                       bool y_in_file = true, Coefs kind = Coefs::primal) {
  const Stored x(problem.x, "x"), y(problem.y, "y");
  const StoreReader x_reader = x.reader(), y_reader = y.reader();
  const RowCells cells =
      options.cv == CvKind::kfold ? cells_of(problem) : RowCells(static_cast<int64_t>(problem.x.n_rows));
  const Targets targets = targets_of(problem);
  options.alphas = problem.alphas;
  CvResult result;
  const arma::uword t = problem.y.n_cols, n_folds = options.cv == CvKind::kfold ? problem.folds.size() : 1;
  result.index.assign(t, -2);
  result.scores.set_size(n_folds, options.alphas.size(), t);
  result.means.set_size(options.alphas.size(), t);
  result.coefs.zeros(problem.x.n_cols, t);
  result.intercept.zeros(t);
  RidgeCvOutputs out;
  out.alpha_index = result.index.data();
  out.fold_scores = result.scores.memptr();
  out.mean_scores = result.means.memptr();
  if (kind != Coefs::none) {
    out.coefs = {kind, span_of(result.coefs), problem.intercept ? result.intercept.memptr() : nullptr};
  }
  const MomentInput input{x_reader, targets, y_in_file ? &y_reader : nullptr, cells};
  ridge_cv_from_moments(input, options, out, control);
  result.constant = out.constant;
  result.form = out.form;
  result.route = out.route;
  result.n_nodes = out.n_nodes;
  result.passes = out.passes;
  return result;
}

// Sums of products of some rows about their mean (or as they are), in long double.
LongMat plain_cross(const arma::mat& x, const arma::mat& y, const RowList& rows, bool center) {
  LongMat a = take_rows(LongMat(x), rows), b = take_rows(LongMat(y), rows);
  if (center) {
    subtract_rows(a, column_means(a));
    subtract_rows(b, column_means(b));
  }
  return multiply(a, true, b);
}

double relative_error(const arma::mat& got, const LongMat& want) {
  const arma::mat exact = want.rounded();
  return arma::abs(got - exact).max() / arma::abs(exact).max();
}

}  // namespace

TEST(RowCells, FoldsThatPartitionAreTheCells) {
  RowCells cells(10);
  for (const Fold& fold : scattered_folds(10, 3)) cells.add_fold(fold.train, fold.test);
  EXPECT_EQ(cells.count(), 3);
  EXPECT_EQ(cells.folds(), 3);
  EXPECT_EQ(cells.held_out(1), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(cells.training(1), (std::vector<double>{1, 0, 1}));
  std::vector<double> before(3, 0.0);
  const std::vector<Piece> pieces = cells.pieces(0, 10, before);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].rows, (std::vector<int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(before, (std::vector<double>{4, 3, 3}));
  EXPECT_EQ(cells.pieces(0, 2, before)[1].before, 3);
}

TEST(RowCells, OverlapsGapsAndRepeatsAreCellsOfTheirOwn) {
  RowCells cells(6);
  cells.add_fold({0, 1, 1, 2}, {3, 4});  // 5 is in neither
  cells.add_fold({2, 3, 4, 5}, {0});
  EXPECT_EQ(cells.count(), 5);  // {0}, {1}, {2}, {3, 4}, {5}
  EXPECT_EQ(cells.training(0), (std::vector<double>{1, 2, 1, 0, 0}));
  EXPECT_EQ(cells.held_out(0), (std::vector<double>{0, 0, 0, 1, 0}));
  EXPECT_EQ(cells.training(1), (std::vector<double>{0, 0, 1, 1, 1}));
  EXPECT_EQ(RowCells(6).count(), 1);
}

TEST(StoreRows, RangesOfRowsAreThoseOfTheColumnsAndDamageIsNoticed) {
  const int64_t n = 50, cols = kStripeCols + 7;
  const arma::mat x = normal_matrix(n, cols, 1);
  for (const bool single : {false, true}) {
    const Stored stored(x, "rows", single);
    const auto read_all = [&](StoreRows& rows) {
      arma::mat got(n, cols, arma::fill::none);
      std::vector<unsigned char> bytes;
      for (int64_t row = 0; row < n; row += 20) {
        for (int64_t j = 0; j < cols; ++j) rows.read(j, row, std::min<int64_t>(20, n - row), bytes, &got(row, j));
      }
      return got;
    };
    {
      const StoreReader reader = stored.reader();
      StoreRows rows(reader, 0, cols);
      SourceMemory memory;
      EXPECT_TRUE(same_bits(read_all(rows), copy_of(reader.columns(0, cols, memory))));
      EXPECT_NO_THROW(rows.compare());
    }
    std::fstream file(stored.path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp((single ? 4 : 8) * n * (kStripeCols + 2) + 3);
    file.put('x');
    file.close();
    const StoreReader reader = stored.reader();
    StoreRows rows(reader, 0, cols), last(reader, kStripeCols, 7), first(reader, 0, kStripeCols);
    read_all(rows);
    try {
      rows.compare();
      FAIL() << "a changed byte was not noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::store_corrupt);
    }
  }
}

TEST(Moments, AreThoseOfLongDoubleWithOffsetsAndDrifts) {
  const int64_t n = 2 * kBlockRows + 300, p = 5, t = 3;
  arma::mat x = normal_matrix(n, p, 2), y = normal_matrix(n, t, 3) + x.cols(0, t - 1);
  for (int64_t i = 0; i < n; ++i) x.row(i) += 1e6 + 30.0 * static_cast<double>(i) / n;
  y -= 1e6;
  const Stored stored_x(x, "x"), stored_y(y, "y");
  const StoreReader x_reader = stored_x.reader(), y_reader = stored_y.reader();
  for (const bool scattered : {false, true}) {
    const std::vector<Fold> folds = scattered ? scattered_folds(n, 3) : contiguous_folds(n, 3);
    RowCells cells(n);
    for (const Fold& fold : folds) cells.add_fold(fold.train, fold.test);
    Targets targets{view_of(y), {}, true};
    FeatureMoments features;
    TargetMoments moments;
    moments.cols = t;
    sum_moments({x_reader, targets, &y_reader, cells}, kBlockRows, 2, &features, moments, {});
    for (int64_t f = 0; f < 3; ++f) {
      EXPECT_EQ(features.rows[f], folds[f].test.size());
      EXPECT_LT(relative_error(features.grams[f], plain_cross(x, x, folds[f].test, true)), 1e-14);
      EXPECT_LT(relative_error(moments.cross[f], plain_cross(x, y, folds[f].test, true)), 1e-14);
      const MergedFeatures train = merge_features(features, cells.training(f), true, true);
      const MergedTargets of_train = merge_targets(moments, 0, t, features, train, cells.training(f), true);
      EXPECT_EQ(train.rows, folds[f].train.size());
      EXPECT_LT(relative_error(train.gram, plain_cross(x, x, folds[f].train, true)), 1e-14);
      EXPECT_LT(relative_error(of_train.cross, plain_cross(x, y, folds[f].train, true)), 1e-14);
      const LongMat squares = plain_cross(y, y, folds[f].train, true);
      for (int64_t j = 0; j < t; ++j) EXPECT_NEAR(of_train.squares[j] / static_cast<double>(squares(j, j)), 1, 1e-14);
    }
    // other ranges of rows, other threads, targets in memory: the same bits
    FeatureMoments again;
    TargetMoments again_targets;
    again_targets.cols = t;
    sum_moments({x_reader, targets, nullptr, cells}, 3 * kBlockRows, 1, &again, again_targets, {});
    for (int64_t f = 0; f < 3; ++f) {
      EXPECT_TRUE(same_bits(features.grams[f], again.grams[f]));
      EXPECT_TRUE(same_bits(moments.cross[f], again_targets.cross[f]));
    }
    EXPECT_TRUE(same_bits(moments.squares, again_targets.squares));
  }
}

TEST(MomentSearch, AgreesWithThePlainLoop) {
  for (const bool intercept : {false, true}) {
    for (const double noise : {1.0, 1e-5}) {
      Problem problem = make_problem(90, 8, 5, 4, noise);
      problem.intercept = intercept;
      problem.alphas = log_grid(1e-2, 1e4, 9);
      for (const auto& folds : {contiguous_folds(90, 4), scattered_folds(90, 5), bootstrap_folds(90, 2, 1)}) {
        problem.folds = folds;
        problem.partition = false;
        for (const Score score : {Score::r2, Score::neg_mse}) {
          RidgeCvOptions options;
          options.score = score;
          options.alphas = problem.alphas;
          expect_plain(problem, run_from_file(problem, options), options, 1e-12);
          options.local_alpha = false;
          expect_plain(problem, run_from_file(problem, options), options, 1e-12);
        }
      }
    }
  }
}

TEST(MomentSearch, GeneralisedCrossValidationIsThatOfTheSearchInMemory) {
  for (const bool intercept : {false, true}) {
    Problem problem = make_problem(60, 7, 4, 5);
    problem.intercept = intercept;
    problem.alphas = log_grid(1e-2, 1e4, 9);
    RidgeCvOptions options;
    options.cv = CvKind::gcv;
    const CvResult got = run_from_file(problem, options), want = run_cv<double>(problem, options);
    EXPECT_EQ(got.index, want.index);
    EXPECT_LT(largest_difference(got.means, want.means), 1e-13);
    EXPECT_LT(largest_difference(got.coefs, want.coefs), 1e-13);
    problem.x = problem.x.rows(0, 7);  // as many rows as features and the intercept
    problem.y = problem.y.rows(0, 7);
    problem.alphas = {0.0};
    if (!intercept) continue;
    try {
      run_from_file(problem, options);
      FAIL() << "a fit through all samples was scored";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::numerical);
    }
  }
}

TEST(MomentSearch, MemoryThreadsAndGroupsChangeNoBit) {
  Problem problem = make_problem(3 * kBlockRows, 6, 2 * kTileCols + 20, 6);
  problem.intercept = true;
  problem.alphas = log_grid(1e-1, 1e5, 7);
  problem.folds = contiguous_folds(3 * kBlockRows, 3);
  problem.skip.assign(problem.y.n_cols, 0);
  problem.skip[3] = 1;
  for (const bool local : {true, false}) {
    RidgeCvOptions options;
    options.local_alpha = local;
    const CvResult want = run_from_file(problem, options);
    EXPECT_EQ(want.passes, 1);
    EXPECT_EQ(want.index[3], -1);
    for (const int threads : {1, 3}) {
      Control control;
      control.n_threads = threads;
      control.memory_bytes = threads == 1 ? 1e9 : 4e7;
      options.targets_batch = threads == 1 ? 0 : 1;
      const CvResult got = run_from_file(problem, options, control, threads == 1);
      EXPECT_EQ(got.passes, threads == 1 ? 1 : local ? 3 : 6);
      EXPECT_EQ(got.index, want.index);
      EXPECT_TRUE(same_bits(got.means, want.means));
      EXPECT_TRUE(same_bits(got.coefs, want.coefs));
      EXPECT_TRUE(same_bits(got.intercept, want.intercept));
    }
  }
}

TEST(MomentSearch, RefusesWhatDoesNotFitAndStops) {
  Problem problem = make_problem(60, 7, 4, 7);
  problem.alphas = {1.0};
  problem.folds = contiguous_folds(60, 3);
  const auto code_of = [&](const Problem& what, const Control& control) {
    try {
      run_from_file(what, {}, control);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  Control control;
  control.memory_bytes = 1000;
  EXPECT_EQ(code_of(problem, control), ErrorCode::memory);
  control.memory_bytes = 1e9;
  const std::atomic<bool> stop(true);
  control.stop = &stop;
  EXPECT_EQ(code_of(problem, control), ErrorCode::interrupted);
  control.stop = nullptr;
  Problem dependent = problem;
  dependent.x.col(1) = dependent.x.col(0);
  dependent.alphas = {1e-9, 1.0};
  EXPECT_EQ(code_of(dependent, control), ErrorCode::alphas);
  Problem large = problem;
  large.x *= 1e300;
  EXPECT_EQ(code_of(large, control), ErrorCode::invalid_argument);
}

}  // namespace voxridge_test
