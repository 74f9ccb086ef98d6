// The eigen route (a Gram matrix) against the svd route and a reference in long double, over condition numbers.
#include "common.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "core/gram.h"

namespace voxridge_test {

namespace {

const Control kControl;
constexpr double kEps = 2.2e-16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Fitted {
  arma::mat coefs, predictions;
};

// Coefficients and held-out predictions of one fold from its factor, all in double.
Fitted from_factor(const Factors& factors, const FoldFactor& factor, const arma::mat& train_x, const arma::mat& train_y,
                   double alpha) {
  arma::mat side = factors.form() == Form::primal ? arma::mat(train_x.t() * train_y) : train_y;
  arma::mat rotated = factor.vectors.t() * side;
  for (arma::uword i = 0; i < rotated.n_rows; ++i) rotated.row(i) *= inverse(factor.values[i], alpha);
  const arma::mat weights = factor.vectors * rotated;
  return {factors.form() == Form::primal ? weights : arma::mat(train_x.t() * weights), factor.left * rotated};
}

struct Errors {
  double coefs = 0, predictions = 0;
  void raise(const Errors& other) {
    coefs = std::max(coefs, other.coefs);
    predictions = std::max(predictions, other.predictions);
  }
};

struct Case {
  arma::mat x, y;
  Folds folds;
  double top;  // largest eigenvalue of X'X
};

// Singular values fall evenly in their logarithm from 1 to 1 / condition. Targets: noise, which weighs all directions
// alike, and X b + small noise.
Case make_case(int64_t n, int64_t p, double condition, uint64_t seed) {
  Case out;
  out.x = with_singular_values(n, p, log_grid(1, 1 / condition, std::min(n, p)), seed);
  out.y = arma::join_rows(normal_matrix(n, 2, seed + 2),
                          out.x * normal_matrix(p, 2, seed + 3) + 1e-3 * normal_matrix(n, 2, seed + 4));
  out.folds = arrange_folds(n, contiguous_folds(n, 4), true);
  out.top = 1;
  return out;
}

// Errors of one route over the folds, the largest over targets: of the coefficients relative to their norm, of the
// predictions relative to that of the predictions or the held-out targets, whichever is larger.
Errors route_errors(const Case& c, Route route, double alpha) {
  const Features features(view_of(c.x), c.folds, false, 1e9, kControl);
  const Factors factors(features, c.folds, route == Route::eigen ? kInfinity : 0, kControl);
  EXPECT_EQ(factors.route(), route);
  Errors worst;
  for (int64_t f = 0; f < c.folds.count(); ++f) {
    const Fold& fold = c.folds.folds[f];
    const LongMat x = take_rows(LongMat(c.x), fold.train), y = take_rows(LongMat(c.y), fold.train);
    const LongMat held_y = take_rows(LongMat(c.y), fold.test), b = svd_ridge(jacobi_svd(x), y, alpha);
    const arma::mat exact = b.rounded();
    const arma::mat exact_predictions = multiply(take_rows(LongMat(c.x), fold.test), false, b).rounded();
    const Fitted got = from_factor(factors, *factors.fold(f, kControl), x.rounded(), y.rounded(), alpha);
    for (arma::uword j = 0; j < c.y.n_cols; ++j) {
      worst.raise({arma::norm(got.coefs.col(j) - exact.col(j)) / arma::norm(exact.col(j)),
                   arma::norm(got.predictions.col(j) - exact_predictions.col(j)) /
                       std::max(arma::norm(exact_predictions.col(j)), arma::norm(held_y.rounded().col(j)))});
    }
  }
  return worst;
}

// Predictions of whole searches: ridge_predict_cv() with one penalty, by whichever way it takes (left out of the
// inverse of all rows, in dual form).
double search_error(const Case& c, double alpha) {
  Problem problem;
  problem.x = c.x;
  problem.y = c.y;
  problem.folds = contiguous_folds(c.x.n_rows, 4);
  const Predicted got = run_predict<double>(problem, {alpha}, Score::neg_mse);
  double worst = 0;
  for (const Fold& fold : problem.folds) {
    const LongMat b =
        svd_ridge(jacobi_svd(take_rows(LongMat(c.x), fold.train)), take_rows(LongMat(c.y), fold.train), alpha);
    const arma::mat exact = multiply(take_rows(LongMat(c.x), fold.test), false, b).rounded();
    const arma::uvec rows = arma::conv_to<arma::uvec>::from(fold.test);
    for (arma::uword j = 0; j < c.y.n_cols; ++j) {
      const arma::mat found = got.predictions.rows(rows), truth = c.y.rows(rows);
      worst = std::max(worst, arma::norm(found.col(j) - exact.col(j)) /
                                  std::max(arma::norm(exact.col(j)), arma::norm(truth.col(j))));
    }
  }
  return worst;
}

struct Worst {
  Errors eigen, svd;
  double search = 0;
};

Worst worst_errors(int64_t n, int64_t p, double ratio) {
  Worst worst;
  for (int power = 0; power <= 12; power += 2) {
    const Case c = make_case(n, p, std::pow(10.0, power), 100 + power);
    worst.eigen.raise(route_errors(c, Route::eigen, ratio * c.top));
    worst.svd.raise(route_errors(c, Route::svd, ratio * c.top));
    worst.search = std::max(worst.search, search_error(c, ratio * c.top));
  }
  return worst;
}

}  // namespace

// Whatever the condition of X: a Gram matrix is known to eps * top, so the eigen route errs by a few eps * top / alpha
// (1e-8 at the switch). The svd route knows its directions to eps * sqrt(top / alpha); in primal form its coefficients
// start from X'Y, which is known to eps * top again. Set VOXRIDGE_ERROR_TABLE to see the numbers.
TEST(Factor, ErrorsOfBothRoutesAroundTheSwitch) {
  const bool show = std::getenv("VOXRIDGE_ERROR_TABLE") != nullptr;
  struct Shape {
    int64_t n, p;
  };
  for (const Shape shape : {Shape{24, 40}, Shape{48, 16}}) {
    for (const double ratio : {1e-3, 1e-5, 1e-6, 1.01e-7, 1e-8, 1e-9, 1e-11}) {
      if (!show && (ratio == 1e-3 || ratio == 1e-6)) continue;
      const Worst worst = worst_errors(shape.n, shape.p, ratio);
      if (show) {
        std::printf(
            "table %s n=%d p=%d alpha/top=%.0e  eigen coefs %.1e predictions %.1e   svd coefs %.1e predictions %.1e   "
            "search %.1e\n",
            shape.n < shape.p ? "dual  " : "primal", static_cast<int>(shape.n), static_cast<int>(shape.p), ratio,
            worst.eigen.coefs, worst.eigen.predictions, worst.svd.coefs, worst.svd.predictions, worst.search);
      }
      const double by_gram = 5 * kEps / ratio, by_svd = 100 * kEps / std::sqrt(ratio);
      SCOPED_TRACE(testing::Message() << shape.n << " x " << shape.p << ", alpha / top " << ratio);
      EXPECT_LE(worst.eigen.coefs, by_gram);
      EXPECT_LE(worst.eigen.predictions, by_gram);
      EXPECT_LE(worst.svd.coefs, shape.n < shape.p ? by_svd : by_gram);
      EXPECT_LE(worst.svd.predictions, by_svd);
      EXPECT_LE(worst.search, ratio >= kSvdBelow ? by_gram : by_svd);
    }
  }
}

TEST(Factor, FormAndRoute) {
  struct Expected {
    int64_t n, p;
    Form form;
  };
  for (const Expected e : {Expected{20, 30, Form::dual}, Expected{20, 15, Form::dual}, Expected{20, 14, Form::primal},
                           Expected{20, 20, Form::dual}}) {
    const arma::mat x = normal_matrix(e.n, e.p, 1);
    const Folds folds = arrange_folds(e.n, contiguous_folds(e.n, 4), true);  // 15 training rows
    const Features features(view_of(x), folds, true, 1e9, kControl);
    const Factors factors(features, folds, 1, kControl);
    EXPECT_EQ(factors.form(), e.form) << e.n << " x " << e.p;
    EXPECT_EQ(factors.inner(), e.form == Form::primal ? e.p : e.n);
    EXPECT_EQ(factors.route(), Route::eigen);
    EXPECT_TRUE(factors.serves(1));
    EXPECT_FALSE(factors.serves(0));
    EXPECT_EQ(Factors(features, folds, 0, kControl).route(), Route::svd);
    EXPECT_TRUE(Factors(features, folds, 0, kControl).serves(0));
  }
}

// V'V = I and V diag(values) V' = the centred Gram matrix, to rounding relative to its largest eigenvalue.
TEST(Factor, ReproducesTheGramMatrices) {
  struct Shape {
    int64_t n, p;
  };
  for (const Shape s : {Shape{20, 33}, Shape{33, 12}, Shape{20, 20}}) {
    for (const double smallest : {1.0, 0.0}) {
      const arma::mat x = normal_matrix(s.n, s.p, 3);
      const Folds folds = arrange_folds(s.n, contiguous_folds(s.n, 4), true);
      const Features features(view_of(x), folds, true, 1e9, kControl);
      Factors factors(features, folds, smallest, kControl);
      factors.keep(true, true, kControl);
      const Fold& fold = folds.folds[1];
      const arma::rowvec mean = arma::mean(x.rows(arma::conv_to<arma::uvec>::from(fold.train)), 0);
      const arma::mat train = x.rows(arma::conv_to<arma::uvec>::from(fold.train)).eval().each_row() - mean;
      const arma::mat test = x.rows(arma::conv_to<arma::uvec>::from(fold.test)).eval().each_row() - mean;
      const bool primal = factors.form() == Form::primal;
      const arma::mat gram = primal ? arma::mat(train.t() * train) : arma::mat(train * train.t());
      const std::shared_ptr<const FoldFactor> factor = factors.fold(1, kControl);
      arma::mat rebuilt = factor->vectors * arma::diagmat(factor->values) * factor->vectors.t();
      if (factor->constant_value >= 0) rebuilt -= factor->constant_value / static_cast<double>(gram.n_rows);
      const double top = factor->values.max();
      EXPECT_LE(largest_difference(rebuilt, gram), 1e-13 * top);
      const arma::uword r = factor->vectors.n_cols;
      EXPECT_LE(largest_difference(factor->vectors.t() * factor->vectors, arma::mat(r, r, arma::fill::eye)), 1e-13);
      const arma::mat left = primal ? arma::mat(test * factor->vectors) : arma::mat(test * train.t() * factor->vectors);
      EXPECT_LE(largest_difference(factor->left, left), 1e-13 * top);
      EXPECT_GE(factor->values.min(), 0);
    }
  }
}

// Rank 5: the directions that X does not have are exact zeros on the svd route and take no part in least squares.
TEST(Factor, RankDeficientLeastSquares) {
  const arma::mat x = normal_matrix(24, 5, 4) * normal_matrix(5, 30, 5);
  const arma::mat y = normal_matrix(24, 2, 6);
  const Folds folds = no_folds(24);
  const Features features(view_of(x), folds, false, 1e9, kControl);
  Factors factors(features, folds, 0, kControl);
  const std::shared_ptr<const Factor> full = factors.full(kControl);
  EXPECT_EQ(arma::accu(full->values > 0), 5u);
  EXPECT_EQ(inverse(0, 0), 0);
  arma::mat rotated = full->vectors.t() * y;
  for (arma::uword i = 0; i < rotated.n_rows; ++i) rotated.row(i) *= inverse(full->values[i], 0);
  const arma::mat coefs = x.t() * (full->vectors * rotated);
  EXPECT_LE(largest_difference(coefs, arma::pinv(x) * y), 1e-12);
}

TEST(Factor, EigenvalueRange) {
  const arma::mat x = normal_matrix(20, 8, 7);
  const Folds folds = arrange_folds(20, contiguous_folds(20, 4), true);
  const Features features(view_of(x), folds, true, 1e9, kControl);
  Factors factors(features, folds, 1, kControl);
  EXPECT_EQ(factors.eigenvalue_range(factors.folds_from_full()).smallest, 0);
  EXPECT_EQ(factors.eigenvalue_range(factors.folds_from_full()).largest, kInfinity);
  EXPECT_GT(factors.bytes_of_folds(), 8.0 * 8 * 8 * 4 - 1);
  factors.keep(false, true, kControl);
  double smallest = kInfinity, largest = 0;
  for (int64_t f = 0; f < 4; ++f) {
    smallest = std::min(smallest, factors.fold(f, kControl)->values.min());
    largest = std::max(largest, factors.fold(f, kControl)->values.max());
  }
  EXPECT_EQ(factors.eigenvalue_range(factors.folds_from_full()).smallest, smallest);
  EXPECT_EQ(factors.eigenvalue_range(factors.folds_from_full()).largest, largest);
  factors.release_folds();
  EXPECT_EQ(factors.eigenvalue_range(factors.folds_from_full()).largest, kInfinity);
}

// Kept side by side on two threads or made one by one: BLAS may use other kernels, 1e-12 relative.
TEST(Factor, ThreadsDoNotChangeFactors) {
  const arma::mat x = normal_matrix(40, 60, 8);
  const Folds folds = arrange_folds(40, contiguous_folds(40, 5), true);
  const Features features(view_of(x), folds, true, 1e9, kControl);
  Control two;
  two.n_threads = 2;
  Factors one_by_one(features, folds, 1, kControl), side_by_side(features, folds, 1, two);
  side_by_side.keep(true, true, two);
  for (int64_t f = 0; f < 5; ++f) {
    const arma::vec a = one_by_one.fold(f, kControl)->values, b = side_by_side.fold(f, two)->values;
    EXPECT_LE(largest_difference(a, b), 1e-12 * a.max());
  }
}

TEST(Factor, NoFeatures) {
  const Folds folds = arrange_folds(6, contiguous_folds(6, 3), true);
  const Features features({nullptr, 6, 0, 6}, folds, true, 1e9, kControl);
  Factors factors(features, folds, 1, kControl);
  EXPECT_EQ(factors.form(), Form::primal);
  factors.keep(true, true, kControl);
  EXPECT_EQ(factors.full(kControl)->values.n_elem, 0u);
}

TEST(Factor, TooLargeAGramIsRefused) {
  const Features features({nullptr, 40000, 40000, 40000}, Folds{{}, row_range(0, 40000), false, true}, false, 0,
                          kControl);
  const Folds folds = no_folds(40000);
  try {
    Factors factors(features, folds, 1, kControl);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::too_large);
  }
}

}  // namespace voxridge_test
