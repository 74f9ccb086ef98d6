// Scores of predictions that are at hand.
#include <Rcpp.h>

#include <string>

#include "core/score.h"
#include "r_ridge.h"
#include "r_session.h"

using namespace voxridge_r;

// One score per column; NA for the targets in `skip`.
// [[Rcpp::export]]
Rcpp::NumericVector core_score_columns(const Rcpp::NumericMatrix& truth, const Rcpp::NumericMatrix& prediction,
                                       const Rcpp::IntegerVector& skip, const std::string& score,
                                       const Rcpp::List& control, SEXP score_func) {
  const voxridge::UserScore user = user_score(score_func);
  const std::vector<char> skipped = flags_of(skip, truth.ncol());
  const voxridge::MatrixView<double> y = view_of(truth), p = view_of(prediction);
  Rcpp::NumericVector out(truth.ncol());
  double* to = out.begin();
  Session(control).run(
      [&](const voxridge::Control& c) {
        voxridge::score_predictions(score_of(score), user, y, p, skipped, NA_REAL, to, c);
      },
      static_cast<bool>(user));
  return out;
}
