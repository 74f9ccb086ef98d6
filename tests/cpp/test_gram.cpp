#include "common.h"

#include "core/gram.h"

namespace voxridge_test {

namespace {

const Control kControl;

struct Direct {
  arma::mat rows, columns, test;  // X_t X_t', X_t'X_t and X_v X_t', centred on training means
};

Direct direct(const arma::mat& x, const Fold& fold, bool center) {
  LongMat train = take_rows(LongMat(x), fold.train), test = take_rows(LongMat(x), fold.test);
  if (center) {
    const std::vector<long double> mean = column_means(train);
    subtract_rows(train, mean);
    subtract_rows(test, mean);
  }
  LongMat flipped(train.cols, train.rows);
  for (int64_t j = 0; j < train.cols; ++j) {
    for (int64_t i = 0; i < train.rows; ++i) flipped(j, i) = train(i, j);
  }
  return {multiply(train, false, flipped).rounded(), multiply(train, true, train).rounded(),
          multiply(test, false, flipped).rounded()};
}

// Errors relative to the largest entry of the training Gram matrix, over the folds.
struct Errors {
  double dual = 0, dual_test = 0, primal = 0;
  int direct = 0;
};

Errors errors(const arma::mat& x, const std::vector<Fold>& given, bool partition, bool center) {
  const Folds folds = arrange_folds(x.n_rows, given, partition);
  const Features features(view_of(x), folds, center, 1e9, kControl);
  const arma::mat samples = sample_gram(features, kControl), columns = feature_gram(features, kControl);
  arma::mat ordered(x.n_rows, x.n_cols);
  for (arma::uword i = 0; i < x.n_rows; ++i) ordered.row(i) = x.row(folds.order[i]);
  Errors out;
  for (const Fold& fold : folds.folds) {
    const Direct exact = direct(ordered, fold, center);
    const DualGram dual = dual_fold_gram(samples, features, fold, kControl);
    const arma::mat held_out = feature_gram(features, fold.test, kControl);
    const PrimalGram primal = primal_fold_gram(columns, features, fold, partition ? &held_out : nullptr, kControl);
    const double scale = arma::abs(exact.columns).max(), dual_scale = arma::abs(exact.rows).max();
    out.primal = std::max(out.primal, largest_difference(primal.train, exact.columns) / scale);
    out.dual = std::max(out.dual, largest_difference(dual.train, exact.rows) / dual_scale);
    out.dual_test = std::max(
        out.dual_test, largest_difference(dual.test, exact.test) / std::max(dual_scale, arma::abs(exact.test).max()));
    out.direct += primal.direct;
    EXPECT_TRUE(primal.train.is_symmetric());
  }
  return out;
}

}  // namespace

// Sums of 20 .. 60 products: 60 roundings of 2e-16 would be 1.3e-14.
constexpr double kRounding = 2e-14;

TEST(Gram, WholeMatrices) {
  const arma::mat x = normal_matrix(30, 20, 1);
  const Features features(view_of(x), no_folds(30), false, 1e9, kControl);
  EXPECT_LE(largest_difference(sample_gram(features, kControl), x * x.t()), 1e-13);
  EXPECT_LE(largest_difference(feature_gram(features, kControl), x.t() * x), 1e-13);
}

TEST(Gram, OfSomeColumnsOrRows) {
  const arma::mat x = normal_matrix(30, 20, 7);
  const Features features(view_of(x), no_folds(30), false, 1e9, kControl);
  const arma::mat some = x.cols(3, 11), rows = x.rows(arma::uvec{4, 4, 17});
  EXPECT_LE(largest_difference(sample_gram(features, 3, 9, kControl), some * some.t()), 1e-13);
  EXPECT_EQ(arma::abs(sample_gram(features, 5, 0, kControl)).max(), 0);
  EXPECT_LE(largest_difference(feature_gram(features, {4, 4, 17}, kControl), rows.t() * rows), 1e-13);
}

TEST(Gram, FoldGramsEqualDirectProducts) {
  const arma::mat x = normal_matrix(40, 25, 2);
  for (const bool center : {false, true}) {
    for (const std::vector<Fold>& folds : {contiguous_folds(40, 5), scattered_folds(40, 3)}) {
      const Errors e = errors(x, folds, true, center);
      EXPECT_LE(e.dual, kRounding);
      EXPECT_LE(e.dual_test, kRounding);
      EXPECT_LE(e.primal, kRounding);
      EXPECT_EQ(e.direct, 0);
    }
    const Errors e = errors(x, bootstrap_folds(40, 3, 1), false, center);
    EXPECT_LE(std::max({e.dual, e.dual_test, e.primal}), kRounding);
    EXPECT_EQ(e.direct, 3);
  }
}

// Offsets of 1e6 standard deviations leave entries known to 1e6 * 2e-16 at best: a few times that.
TEST(Gram, OffsetsOfAMillionDeviations) {
  const arma::mat x = normal_matrix(40, 25, 3) + 1e6;
  const Errors e = errors(x, scattered_folds(40, 4), true, true);
  EXPECT_LE(e.dual, 1e-9);
  EXPECT_LE(e.dual_test, 1e-9);
  EXPECT_LE(e.primal, 1e-9);
}

// One row of 1e8: the fold that leaves it out loses 16 of 16 digits by subtraction, and must be made from its own rows.
TEST(Gram, WildRowIsLeftOutWithoutLosingDigits) {
  for (const bool center : {false, true}) {
    arma::mat x = normal_matrix(40, 25, 4);
    x.row(11) *= 1e8;
    const Errors e = errors(x, contiguous_folds(40, 4), true, center);
    // Centred on means of 1e8 / 40 the other rows are known to 2.5e6 * 2e-16 = 6e-10.
    const double tolerance = center ? 1e-8 : kRounding;
    EXPECT_LE(e.dual, tolerance);
    EXPECT_LE(e.dual_test, tolerance);
    EXPECT_LE(e.primal, tolerance);
    EXPECT_EQ(e.direct, 1);  // of the four folds
  }
}

// Just short of the switch to direct products four digits may go: 1e-16 * 1e4 and some rounding.
TEST(Gram, UpToFourDigitsGoBySubtraction) {
  arma::mat x = normal_matrix(40, 25, 5);
  x.row(11) *= 150;  // 1.5e2^2 * 1 / 30 rows: 750 times the rest
  const Errors e = errors(x, contiguous_folds(40, 4), true, true);
  EXPECT_EQ(e.direct, 0);
  EXPECT_LE(std::max({e.dual, e.primal}), 1e-11);
}

TEST(Gram, ConstantColumnAndZeroMatrix) {
  arma::mat x = normal_matrix(20, 6, 6);
  x.col(2).fill(0.1);
  Errors e = errors(x, contiguous_folds(20, 4), true, true);
  EXPECT_LE(std::max({e.dual, e.dual_test, e.primal}), kRounding);
  const arma::mat zero(12, 3, arma::fill::zeros);
  const Folds folds = arrange_folds(12, contiguous_folds(12, 3), true);
  const Features features(view_of(zero), folds, true, 1e9, kControl);
  const DualGram dual = dual_fold_gram(sample_gram(features, kControl), features, folds.folds[0], kControl);
  EXPECT_EQ(arma::abs(dual.train).max(), 0);
  const arma::mat whole = feature_gram(features, kControl);
  const arma::mat held_out = feature_gram(features, folds.folds[0].test, kControl);
  const PrimalGram primal = primal_fold_gram(whole, features, folds.folds[0], &held_out, kControl);
  EXPECT_EQ(arma::abs(primal.train).max(), 0);
}

TEST(Gram, LargestEigenvalueIsALowerBoundWithinAFewPerCent) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const arma::mat x = normal_matrix(60, 40, seed);
    const arma::mat gram = x.t() * x;
    const double found = largest_eigenvalue(gram), exact = arma::eig_sym(gram).max();
    EXPECT_LE(found, exact * (1 + 1e-14));
    EXPECT_GE(found, 0.9 * exact) << "seed " << seed;
  }
  EXPECT_EQ(largest_eigenvalue(arma::mat()), 0);
  EXPECT_EQ(largest_eigenvalue(arma::mat(3, 3, arma::fill::zeros)), 0);
  EXPECT_NEAR(largest_eigenvalue(arma::mat(1, 1, arma::fill::value(4.0))), 4, 1e-15);
}

TEST(Gram, NoColumns) {
  const Folds folds = arrange_folds(4, contiguous_folds(4, 2), true);
  const Features features({nullptr, 4, 0, 4}, folds, true, 1e9, kControl);
  EXPECT_EQ(arma::abs(sample_gram(features, kControl)).max(), 0);
  EXPECT_EQ(feature_gram(features, kControl).n_elem, 0u);
}

}  // namespace voxridge_test
