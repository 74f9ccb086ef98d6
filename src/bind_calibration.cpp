// The logistic function, and scores of forecasts of binary outcomes.
#include <Rcpp.h>

#include <cmath>
#include <string>

#include "core/binary_scores.h"
#include "core/sigmoid.h"
#include "r_binary.h"
#include "r_session.h"

using namespace voxridge_r;

// NA and NaN stay what they are.
// [[Rcpp::export]]
Rcpp::NumericVector core_sigmoid(const Rcpp::NumericVector& z, bool log) {
  Rcpp::NumericVector out(Rcpp::no_init(z.size()));
  for (R_xlen_t i = 0; i < z.size(); ++i)
    out[i] = ISNAN(z[i]) ? z[i] : log ? voxridge::log_sigmoid(z[i]) : voxridge::sigmoid(z[i]);
  return out;
}

// One of log_loss, brier, auc (which takes any forecasts in order) and accuracy; NA where it is not defined.
// [[Rcpp::export]]
double core_binary_score(const std::string& score, const Rcpp::NumericVector& y, const Rcpp::NumericVector& logits,
                         const Rcpp::NumericVector& weights) {
  const voxridge::BinaryScore which = binary_score_of(score);
  double out = NA_REAL;
  with_conditions([&] { out = voxridge::binary_score(which, REAL(y), REAL(logits), REAL(weights), y.size()); });
  return std::isnan(out) ? NA_REAL : out;
}
