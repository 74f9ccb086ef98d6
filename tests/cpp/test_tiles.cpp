#include "common.h"

#include <limits>
#include <mutex>

#include "core/threads.h"

namespace voxridge_test {

namespace {

const Control kControl;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Sides {
  arma::mat train, held;  // of the caller's rows, centred on training means
};

// The training side and the held-out rows of a fold, in long double.
Sides plain_sides(const Problem& problem, const Fold& fold, Form form) {
  LongMat x = take_rows(LongMat(problem.x), fold.train), y = take_rows(LongMat(problem.y), fold.train);
  LongMat held = take_rows(LongMat(problem.y), fold.test);
  if (problem.intercept) {
    const std::vector<long double> mean = column_means(y);
    subtract_rows(x, column_means(x));
    subtract_rows(y, mean);
    subtract_rows(held, mean);
  }
  return {form == Form::primal ? multiply(x, true, y).rounded() : y.rounded(), held.rounded()};
}

// Largest errors of both sides over folds and tiles; those of a target relative to its largest entry, if that is
// above 1.
template <class T>
std::array<double, 2> side_errors(const Problem& problem, Form form, bool direct) {
  const std::unique_ptr<Device<T>> device = cpu_device<T>();
  const Folds folds = arrange_folds(problem.x.n_rows, problem.folds, problem.partition);
  const Features features(view_of(problem.x), folds, problem.intercept, 1e9, kControl);
  const Targets targets = targets_of(problem);
  const TileSource<T> source(*device, features, folds, targets, form, kControl);
  std::array<double, 2> worst = {0, 0};
  for (int64_t index = 0; index < tile_count(targets); ++index) {
    Tile<T> tile;
    source.load(index, tile);
    for (int64_t f = 0; f < folds.count(); ++f) {
      std::vector<double> x_mean(problem.x.n_cols, 0.0);
      for (size_t j = 0; j < x_mean.size() && problem.intercept; ++j) {
        x_mean[j] = column_mean(problem.x.colptr(j), problem.folds[f].train) - features.means()[j];
      }
      const MatrixView<T> side = source.train_side(tile, f, x_mean, direct);
      const HeldOut<T> held = source.held_out(tile, f);
      const Sides exact = plain_sides(problem, problem.folds[f], form);
      for (int64_t j = 0; j < tile.cols; ++j) {
        const double train_scale = std::max(1.0, arma::abs(exact.train.col(tile.first + j)).max());
        const double held_scale = std::max(1.0, arma::abs(exact.held.col(tile.first + j)).max());
        for (int64_t i = 0; i < side.rows; ++i) {
          // In dual form training rows are in fold order.
          int64_t row = i;
          if (form == Form::dual) {
            const RowList& train = problem.folds[f].train;
            const int64_t wanted = folds.order[folds.folds[f].train[i]];
            row = folds.partition ? std::lower_bound(train.begin(), train.end(), wanted) - train.begin() : i;
          }
          worst[0] = std::max(worst[0], std::abs(side.col(j)[i] - exact.train(row, tile.first + j)) / train_scale);
        }
        for (int64_t i = 0; i < held.y.rows; ++i) {
          worst[1] = std::max(worst[1], std::abs(held.y.col(j)[i] - exact.held(i, tile.first + j)) / held_scale);
        }
      }
    }
  }
  return worst;
}

}  // namespace

// 30 products of normal numbers: 1e-13 in double, and 1e-4 in single precision, whose rounding is 6e-8.
TEST(Tiles, TrainingAndHeldOutSides) {
  for (const bool intercept : {false, true}) {
    Problem problem = make_problem(30, 6, 3, 1);
    problem.intercept = intercept;
    problem.y += 5;
    for (const bool scattered : {false, true}) {
      problem.folds = scattered ? scattered_folds(30, 4) : contiguous_folds(30, 4);
      for (const Form form : {Form::dual, Form::primal}) {
        for (const bool direct : {false, true}) {
          const std::array<double, 2> e = side_errors<double>(problem, form, direct);
          EXPECT_LE(e[0], 1e-12);
          EXPECT_LE(e[1], 1e-13);
          const std::array<double, 2> single = side_errors<float>(problem, form, direct);
          EXPECT_LE(single[0], 1e-3);
          EXPECT_LE(single[1], 1e-4);
        }
      }
    }
  }
}

TEST(Tiles, ManyFoldsAreMultipliedAgain) {
  Problem problem = make_problem(40, 5, 2, 2);
  problem.folds = scattered_folds(40, 20);  // over 16: parts are not kept
  EXPECT_LE(side_errors<double>(problem, Form::primal, false)[0], 1e-12);
}

TEST(Tiles, RepeatedTrainingRows) {
  Problem problem = make_problem(25, 5, 2, 3);
  problem.folds = bootstrap_folds(25, 3, 1);
  problem.partition = false;
  problem.intercept = true;
  EXPECT_LE(side_errors<double>(problem, Form::primal, true)[0], 1e-12);
  EXPECT_LE(side_errors<double>(problem, Form::dual, true)[0], 1e-13);
}

// One wild value of y in the fold left out: by subtraction X'Y would be off by 1e10 * 2e-16 * 30.
TEST(Tiles, WildTargetIsLeftOutWithoutLosingDigits) {
  Problem problem = make_problem(30, 6, 2, 4);
  problem.y(3, 1) = 1e10;
  EXPECT_LE(side_errors<double>(problem, Form::primal, false)[0], 1e-12);
}

TEST(Tiles, WidthsAndEdges) {
  for (const int64_t t : {0, 1, 511, 512, 513, 1025}) {
    const arma::mat y(3, t, arma::fill::zeros);
    const Targets targets{view_of(y), {}, false};
    EXPECT_EQ(tile_count(targets), (t + 511) / 512);
  }
  EXPECT_EQ(tile_alphas({2}, 512, 3), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(tile_alphas({1, 2, 3, 4}, 1, 2), (std::vector<double>{2, 3}));
}

TEST(Tiles, SkippedTargetsAreZeros) {
  Problem problem = make_problem(12, 3, 3, 5);
  problem.y.col(1).fill(kNaN);
  problem.skip = {0, 1, 0};
  problem.intercept = true;
  const std::unique_ptr<Device<double>> device = cpu_device<double>();
  const Folds folds = arrange_folds(12, problem.folds, true);
  const Features features(view_of(problem.x), folds, true, 1e9, kControl);
  const Targets targets = targets_of(problem);
  EXPECT_TRUE(skipped(targets, 1));
  EXPECT_FALSE(skipped(targets, 2));
  const TileSource<double> source(*device, features, folds, targets, Form::primal, kControl);
  Tile<double> tile;
  source.load(0, tile);
  for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(tile.y.col(1)[i], 0);
  EXPECT_EQ(tile.mean[1], 0);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(tile.total.col(1)[i], 0);
  EXPECT_TRUE(source.held_out(tile, 0).constant[1]);
  EXPECT_FALSE(source.held_out(tile, 0).constant[0]);
}

// What counts as constant does not depend on an offset of the target, nor on the precision.
TEST(Tiles, ConstantTargets) {
  arma::mat y = normal_matrix(20, 4, 6);
  y.col(1).fill(0.1);                    // no number of either precision
  y.col(2) = 1e6 + 1e-3 * y.col(2);      // a billionth of variation is variation
  y.submat(0, 3, 4, 3).fill(1e5 + 0.1);  // constant over the rows of the first fold only
  const Folds folds = arrange_folds(20, contiguous_folds(20, 4), true);
  const arma::mat x = normal_matrix(20, 3, 7);
  for (const bool center : {false, true}) {
    const Features features(view_of(x), folds, center, 1e9, kControl);
    const Targets targets{view_of(y), {}, center};
    const std::unique_ptr<Device<double>> device = cpu_device<double>();
    const TileSource<double> source(*device, features, folds, targets, Form::dual, kControl);
    Tile<double> tile;
    source.load(0, tile);
    EXPECT_EQ(source.held_out(tile, 0).constant, (std::vector<char>{0, 1, 0, 1}));
    EXPECT_EQ(source.held_out(tile, 1).constant, (std::vector<char>{0, 1, 0, 0}));
  }
  const Features features(view_of(x), folds, true, 1e9, kControl);
  const Targets targets{view_of(y), {}, true};
  const std::unique_ptr<Device<float>> device = cpu_device<float>();
  const TileSource<float> source(*device, features, folds, targets, Form::dual, kControl);
  Tile<float> tile;
  source.load(0, tile);
  EXPECT_EQ(source.held_out(tile, 0).constant, (std::vector<char>{0, 1, 0, 1}));
}

TEST(Tiles, EveryTileOnceOnAnyNumberOfThreads) {
  const arma::mat x = normal_matrix(6, 2, 8), y = normal_matrix(6, 512 * 5 + 1, 9);
  const Folds folds = arrange_folds(6, contiguous_folds(6, 2), true);
  const Features features(view_of(x), folds, false, 1e9, kControl);
  const Targets targets{view_of(y), {}, false};
  const std::unique_ptr<Device<double>> device = cpu_device<double>();
  for (const int threads : {1, 3}) {
    for (const int64_t batch : {0, 1, 600}) {
      Control control;
      control.n_threads = threads;
      const TileSource<double> source(*device, features, folds, targets, Form::dual, control);
      std::vector<int> seen(6, 0);
      std::mutex lock;
      for_each_tile<double>(source, row_range(0, 6), batch, [&](Tile<double>& tile) {
        const std::lock_guard<std::mutex> guard(lock);
        EXPECT_EQ(tile.y.col(0)[3], y(3, tile.first));
        EXPECT_EQ(tile.cols, tile.first == 2560 ? 1 : 512);
        ++seen[tile.first / 512];
      });
      EXPECT_EQ(seen, std::vector<int>(6, 1));
    }
  }
}

// However much memory is promised: threads, not one worker, set the number of tiles in flight.
TEST(Tiles, UnlimitedMemory) {
  const arma::mat x = normal_matrix(6, 2, 8), y = normal_matrix(6, 3, 9);
  const Features features(view_of(x), no_folds(6), false, 1e9, kControl);
  const Folds folds = no_folds(6);
  const Targets targets{view_of(y), {}, false};
  const std::unique_ptr<Device<double>> device = cpu_device<double>();
  Control control;
  control.memory_bytes = std::numeric_limits<double>::infinity();
  const TileSource<double> source(*device, features, folds, targets, Form::dual, control);
  int n = 0;
  for_each_tile<double>(source, row_range(0, 1), 0, [&](Tile<double>&) { ++n; });
  EXPECT_EQ(n, 1);
}

TEST(Tiles, SomeColumns) {
  const Problem problem = [] {
    Problem made = make_problem(12, 4, 520, 9);
    made.intercept = true;
    return made;
  }();
  const std::unique_ptr<Device<double>> device = cpu_device<double>();
  const Folds folds = arrange_folds(12, scattered_folds(12, 3), true);
  const Features features(view_of(problem.x), folds, true, 1e9, kControl);
  const Targets targets = targets_of(problem);
  const RowList columns = {511, 3, 4};
  for (const Form form : {Form::primal, Form::dual}) {
    const TileSource<double> source(*device, features, folds, targets, form, kControl);
    Tile<double> tile, part;
    source.load(1, tile);
    source.select(tile, {7, 0}, part);  // buffers that are used again, larger
    source.load(0, tile);
    source.select(tile, columns, part);
    EXPECT_EQ(part.cols, 3);
    const MatrixView<double> whole = source.whole_side(tile), some = source.whole_side(part);
    EXPECT_EQ(some.rows, form == Form::primal ? 4 : 12);
    EXPECT_EQ(some.cols, 3);
    for (size_t j = 0; j < columns.size(); ++j) {
      EXPECT_EQ(part.mean[j], tile.mean[columns[j]]);
      EXPECT_TRUE(std::equal(some.col(j), some.col(j) + some.rows, whole.col(columns[j])));
      EXPECT_TRUE(std::equal(part.y.col(j), part.y.col(j) + 12, tile.y.col(columns[j])));
    }
  }
}

}  // namespace voxridge_test
