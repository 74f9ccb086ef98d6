// What the bindings of ridge models share: words, targets and coefficients between R and the core. Main thread only.
#pragma once

#include <algorithm>
#include <string>

#include "core/ridge.h"
#include "r_view.h"

namespace voxridge_r {

inline voxridge::Score score_of(const std::string& word) {
  if (word == "r2") return voxridge::Score::r2;
  if (word == "neg_mse") return voxridge::Score::neg_mse;
  return word == "correlation" ? voxridge::Score::correlation : voxridge::Score::user;
}

inline voxridge::CvKind cv_of(const std::string& word) {
  if (word == "loo") return voxridge::CvKind::loo;
  return word == "gcv" ? voxridge::CvKind::gcv : voxridge::CvKind::kfold;
}

inline voxridge::Coefs coefs_of(const std::string& word) {
  if (word == "primal") return voxridge::Coefs::primal;
  return word == "dual" ? voxridge::Coefs::dual : voxridge::Coefs::none;
}

// A score function of the user's, called with two matrices on the main thread.
inline voxridge::UserScore user_score(SEXP score_func) {
  if (Rf_isNull(score_func)) return nullptr;
  return [score_func](voxridge::MatrixView<double> truth, voxridge::MatrixView<double> prediction, double* out) {
    const auto matrix = [](voxridge::MatrixView<double> x) {
      return Rcpp::NumericMatrix(static_cast<int>(x.rows), static_cast<int>(x.cols), x.data);
    };
    const Rcpp::Function score(score_func);
    const Rcpp::NumericVector scores = score(matrix(truth), matrix(prediction));
    std::copy(scores.begin(), scores.end(), out);
  };
}

inline voxridge::Targets targets_of(const Rcpp::NumericMatrix& Y, const Rcpp::List& options) {
  return {view_of(Y), flags_of(options["skip"], Y.ncol()), Rcpp::as<bool>(options["fit_intercept"]), NA_REAL};
}

// What a search for penalties is told, plain or banded.
template <class Options>
Options search_options(const Rcpp::List& folds, const Rcpp::NumericVector& alphas, const Rcpp::List& options,
                       SEXP score_func) {
  Options out;
  out.alphas.assign(alphas.begin(), alphas.end());
  out.cv = cv_of(folds["kind"]);
  out.local_alpha = options["local_alpha"];
  out.conservative = options["conservative"];
  out.score = score_of(options["score"]);
  out.user = user_score(score_func);
  out.targets_batch = Rcpp::as<int>(options["n_targets_batch"]);
  out.targets_batch_refit = Rcpp::as<int>(options["n_targets_batch_refit"]);
  out.alphas_batch = Rcpp::as<int>(options["n_alphas_batch"]);
  if (out.user) out.targets_batch = out.targets_batch_refit = 1;  // one tile at a time, on this thread
  return out;
}

// What was done, for diagnostics$info.
template <class Outputs>
Rcpp::List info_of(const Outputs& out, bool single, const Rcpp::List& control) {
  return Rcpp::List::create(
      Rcpp::Named("form") = out.form == voxridge::Form::primal ? "primal" : "dual",
      Rcpp::Named("factorisation") = out.route == voxridge::Route::svd ? "svd" : "eigen",
      Rcpp::Named("n_nodes") = static_cast<int>(out.n_nodes), Rcpp::Named("precision") = single ? "single" : "double",
      Rcpp::Named("n_threads") = control["n_threads"], Rcpp::Named("passes") = static_cast<int>(out.passes));
}

// Coefficients (and intercept) of the wanted kind as R objects, and where the core writes them.
struct CoefResult {
  Rcpp::RObject coefs = R_NilValue, intercept = R_NilValue;
  voxridge::CoefOutputs out;

  CoefResult(int64_t n, int64_t p, const Rcpp::NumericMatrix& Y, const Rcpp::List& options) {
    const Rcpp::List names = options["names"];
    out.kind = coefs_of(options["coefs"]);
    if (out.kind == voxridge::Coefs::none) return;
    const bool dual = out.kind == voxridge::Coefs::dual;
    coefs = new_array({static_cast<R_xlen_t>(dual ? n : p), Y.ncol()},
                      {element(names, dual ? "samples" : "features"), element(names, "targets")});
    if (Rcpp::as<bool>(options["fit_intercept"])) intercept = Rcpp::NumericVector(Rcpp::no_init(Y.ncol()));
    out.coefs = span_of(coefs);
    out.intercept = data_of(intercept);
  }
};

}  // namespace voxridge_r
