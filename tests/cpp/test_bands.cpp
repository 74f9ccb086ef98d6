#include <cmath>

#include "banded.h"
#include "core/banded_refit.h"
#include "core/gram.h"

namespace voxridge_test {

namespace {

const Control kControl;

// The largest difference relative to the roots of the diagonal's products: per entry what rounding may do to it.
double relative_to_diagonal(const arma::mat& a, const arma::mat& b) {
  double largest = 0;
  for (arma::uword j = 0; j < a.n_cols; ++j) {
    for (arma::uword i = 0; i < a.n_rows; ++i) {
      const double scale = std::sqrt(b(i, i) * b(j, j)), difference = std::abs(a(i, j) - b(i, j));
      if (difference > 0) largest = std::max(largest, difference / scale);
    }
  }
  return largest;
}

}  // namespace

TEST(Bands, PlacesAndFactors) {
  const Bands bands({2, 0, 3});
  EXPECT_EQ(bands.count(), 3);
  EXPECT_EQ(bands.cols(), 5);
  EXPECT_EQ(bands.start(1), 2);
  EXPECT_EQ(bands.start(3), 5);
  EXPECT_EQ(bands.column_factors({4, 7, 0.25}), (std::vector<double>{2, 2, 0.5, 0.5, 0.5}));
  EXPECT_EQ(bands.column_factors({0, 1, 9}), (std::vector<double>{0, 0, 3, 3, 3}));
}

// Kept or made anew, of all rows or of those held out: Gram matrices of the weighted features. Sums of at most 60
// products: 60 roundings of 1e-16 and two for the weights.
TEST(Bands, GramsAreThoseOfWeightedFeatures) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 1, 5}, {20, 30, 10}}) {
    const BandedProblem problem = make_banded(30, sizes, 1, 1, 1);
    const Bands bands(sizes);
    const double inner = std::min<double>(30, bands.cols());
    for (const bool partition : {true, false}) {
      const Folds folds = partition ? arrange_folds(30, scattered_folds(30, 3), true)
                                    : arrange_folds(30, bootstrap_folds(30, 3, 2), false);
      for (const bool center : {false, true}) {
        const Features features(view_of(problem.x), folds, center, 1e9, kControl);
        // all of it, that of all rows alone, nothing
        for (const double room : {1e9, 8 * inner * inner * 3, 8 * inner * inner - 1}) {
          const BandGrams grams(features, bands, folds, room, kControl);
          for (const std::vector<double>& gammas : {std::vector<double>{1, 1, 1}, {0.3, 0, 20}, {1e-9, 4, 1e9}}) {
            const Features scaled = features.scaled(bands.column_factors(gammas));
            std::vector<double> scratch;
            const arma::mat z = copy_of(scaled.block(0, 30, 0, bands.cols(), scratch));
            arma::mat exact = z.t() * z;
            if (choose_form(features, folds) == Form::dual) exact = z * z.t();
            EXPECT_LE(relative_to_diagonal(grams.gram(gammas, kControl), exact), 2e-14) << "room " << room;
            if (!partition || bands.cols() > 20) continue;
            for (int64_t f = 0; f < 3; ++f) {
              const arma::mat held = z.rows(arma::conv_to<arma::uvec>::from(folds.folds[f].test));
              const arma::mat gram = grams.held_out_gram(f, gammas, kControl);
              EXPECT_LE(relative_to_diagonal(gram, held.t() * held), 2e-14) << "room " << room;
            }
          }
        }
      }
    }
  }
}

TEST(Bands, StopEndsTheGrams) {
  const BandedProblem problem = make_banded(30, {3, 4}, 1, 1, 3);
  const Bands bands(problem.sizes);
  const Folds folds = no_folds(30);
  const Features features(view_of(problem.x), folds, false, 0, kControl);
  const std::atomic<bool> stop{true};
  Control control;
  control.stop = &stop;
  EXPECT_THROW(BandGrams(features, bands, folds, 1e9, control), Error);
}

// Factors of weighted features serve the features themselves: primal vectors carry the roots of the weights.
TEST(Bands, FactorsSolveForTheFeaturesThemselves) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 1, 5}, {20, 30, 10}}) {
    for (const double alpha : {2.0, 1e-7}) {  // by eigenvalues and by singular values
      const BandedProblem problem = make_banded(30, sizes, 1, 1, 4);
      const Bands bands(sizes);
      const Folds folds = no_folds(30);
      const Features features(view_of(problem.x), folds, false, 1e9, kControl);
      const BandGrams grams(features, bands, folds, 1e9, kControl);
      const std::vector<double> gammas = {0.5, 2, 0.1};
      Factors factors(grams, folds, gammas, alpha, kControl);
      EXPECT_EQ(factors.route(), alpha < 1 ? Route::svd : Route::eigen);
      const std::shared_ptr<const Factor> full = factors.full(kControl);
      const arma::vec squares = arma::square(arma::vec(bands.column_factors(gammas)));
      const arma::mat right = factors.form() == Form::primal ? arma::mat(problem.x.t() * problem.y) : problem.y;
      arma::mat coefs = full->vectors * arma::diagmat(1 / (full->values + alpha)) * full->vectors.t() * right;
      if (factors.form() == Form::dual) coefs = arma::diagmat(squares) * problem.x.t() * coefs;
      // (X'X + alpha / gamma) B = X'Y, to what double resolves of the condition number: 1e2, for 1e-7 1e9 in dual form
      const arma::mat left = (problem.x.t() * problem.x + alpha * arma::diagmat(1 / squares)) * coefs;
      EXPECT_LE(largest_difference(left, problem.x.t() * problem.y), alpha < 1 ? 1e-6 : 1e-11);
    }
  }
}

TEST(Bands, ReorderRows) {
  arma::mat coefs = normal_matrix(7, 600, 5);  // more than 256 columns: two looks at the stop flag
  const arma::mat before = coefs;
  const RowList order = {3, 0, 4, 1, 2};
  Control control;
  control.n_threads = 3;
  reorder_rows(span_of(coefs).block(1, 0, 5, 600), order, control);
  for (arma::uword j = 0; j < 600; ++j) {
    for (int64_t k = 0; k < 5; ++k) ASSERT_EQ(coefs(1 + order[k], j), before(1 + k, j));
    ASSERT_EQ(coefs(0, j), before(0, j));
    ASSERT_EQ(coefs(6, j), before(6, j));
  }
  reorder_rows({nullptr, 0, 0, 0}, {}, control);
  const std::atomic<bool> stop{true};
  control.stop = &stop;
  EXPECT_THROW(reorder_rows(span_of(coefs).block(1, 0, 5, 600), order, control), Error);
}

}  // namespace voxridge_test
