// Ridge: R lists to the structs of core/ridge.h, results allocated here and filled in place.
#include <Rcpp.h>

#include <memory>
#include <string>

#include "core/ridge.h"
#include "r_session.h"
#include "r_view.h"

namespace {

using voxridge::Control;
using voxridge_r::element;
using voxridge_r::new_array;

using PreparedPointer = Rcpp::XPtr<voxridge::RidgePreparation>;

voxridge::Score score_of(const std::string& word) {
  if (word == "r2") return voxridge::Score::r2;
  if (word == "neg_mse") return voxridge::Score::neg_mse;
  return word == "correlation" ? voxridge::Score::correlation : voxridge::Score::user;
}

voxridge::CvKind cv_of(const std::string& word) {
  if (word == "loo") return voxridge::CvKind::loo;
  return word == "gcv" ? voxridge::CvKind::gcv : voxridge::CvKind::kfold;
}

voxridge::Coefs coefs_of(const std::string& word) {
  if (word == "primal") return voxridge::Coefs::primal;
  return word == "dual" ? voxridge::Coefs::dual : voxridge::Coefs::none;
}

// A score function of the user's, called with two matrices on the main thread.
voxridge::UserScore user_score(SEXP score_func) {
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

voxridge::Targets targets_of(const Rcpp::NumericMatrix& Y, const Rcpp::List& options) {
  return {voxridge_r::view_of(Y), voxridge_r::flags_of(options["skip"], Y.ncol()),
          Rcpp::as<bool>(options["fit_intercept"]), NA_REAL};
}

// Coefficients (and intercept) of the wanted kind as R objects, and where the core writes them.
struct CoefResult {
  Rcpp::RObject coefs = R_NilValue, intercept = R_NilValue;
  voxridge::CoefOutputs out;

  CoefResult(const Rcpp::NumericMatrix& X, const Rcpp::NumericMatrix& Y, const Rcpp::List& options) {
    const Rcpp::List names = options["names"];
    out.kind = coefs_of(options["coefs"]);
    if (out.kind == voxridge::Coefs::none) return;
    const bool dual = out.kind == voxridge::Coefs::dual;
    coefs = new_array({dual ? X.nrow() : X.ncol(), Y.ncol()},
                      {element(names, dual ? "samples" : "features"), element(names, "targets")});
    if (Rcpp::as<bool>(options["fit_intercept"])) intercept = Rcpp::NumericVector(Rcpp::no_init(Y.ncol()));
    out.coefs = voxridge_r::span_of(coefs);
    out.intercept = voxridge_r::data_of(intercept);
  }
};

// Runs job(preparation, control) with the given preparation or one made for this call.
void with_preparation(const Rcpp::NumericMatrix& X, SEXP prepared, const Rcpp::List& folds, const Rcpp::List& options,
                      const Rcpp::List& control, bool calls_r,
                      const std::function<void(voxridge::RidgePreparation&, const Control&)>& job) {
  voxridge::RidgePreparation* kept = Rf_isNull(prepared) ? nullptr : PreparedPointer(prepared).checked_get();
  voxridge::Folds arranged = kept != nullptr ? voxridge::Folds() : voxridge_r::folds_of(folds, X.nrow());
  const voxridge::MatrixView<double> x = voxridge_r::view_of(X);
  const bool intercept = Rcpp::as<bool>(options["fit_intercept"]);
  const auto whole_job = [&](const Control& c) {
    if (kept != nullptr) return job(*kept, c);
    voxridge::RidgePreparation own(x, std::move(arranged), intercept, c);
    job(own, c);
  };
  voxridge_r::Session session(control);
  if (calls_r) {
    session.run_here(whole_job);
  } else {
    session.run(whole_job);
  }
}

voxridge::RidgeCvOptions search_options(const Rcpp::List& folds, const Rcpp::NumericVector& alphas,
                                        const Rcpp::List& options, SEXP score_func) {
  voxridge::RidgeCvOptions out;
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

}  // namespace

// [[Rcpp::export]]
Rcpp::List core_ridge_cv(const Rcpp::NumericMatrix& X, const Rcpp::NumericMatrix& Y, SEXP prepared,
                         const Rcpp::List& folds, const Rcpp::NumericVector& alphas, const Rcpp::List& options,
                         const Rcpp::List& control, SEXP score_func) {
  const voxridge::Targets targets = targets_of(Y, options);
  const voxridge::RidgeCvOptions search = search_options(folds, alphas, options, score_func);
  const Rcpp::List names = options["names"];
  const std::string wanted = options["cv_scores"];
  const R_xlen_t n_folds = search.cv == voxridge::CvKind::kfold ? Rcpp::as<Rcpp::List>(folds["test"]).size() : 1;
  CoefResult coefs(X, Y, options);
  Rcpp::RObject scores = R_NilValue;
  if (wanted == "all") {
    scores =
        new_array({n_folds, alphas.size(), Y.ncol()}, {element(names, "folds"), R_NilValue, element(names, "targets")});
  } else if (wanted == "mean") {
    scores = new_array({alphas.size(), Y.ncol()}, {R_NilValue, element(names, "targets")});
  }
  std::vector<int> chosen(Y.ncol());
  voxridge::RidgeCvOutputs out;
  out.alpha_index = chosen.data();
  out.fold_scores = wanted == "all" ? voxridge_r::data_of(scores) : nullptr;
  out.mean_scores = wanted == "mean" ? voxridge_r::data_of(scores) : nullptr;
  out.coefs = coefs.out;
  const bool single = Rcpp::as<bool>(options["single"]);
  with_preparation(X, prepared, folds, options, control, static_cast<bool>(search.user),
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     single ? voxridge::ridge_cv<float>(preparation, targets, search, out, c)
                            : voxridge::ridge_cv<double>(preparation, targets, search, out, c);
                   });
  Rcpp::IntegerVector index(chosen.begin(), chosen.end());
  for (int& place : index) place = place < 0 ? NA_INTEGER : place + 1;
  return Rcpp::List::create(
      Rcpp::Named("alpha_index") = index, Rcpp::Named("coefs") = coefs.coefs,
      Rcpp::Named("intercept") = coefs.intercept, Rcpp::Named("cv_scores") = scores,
      Rcpp::Named("constant_targets") = voxridge_r::places_of(out.constant),
      Rcpp::Named("info") = Rcpp::List::create(
          Rcpp::Named("form") = out.form == voxridge::Form::primal ? "primal" : "dual",
          Rcpp::Named("factorisation") = out.route == voxridge::Route::svd ? "svd" : "eigen",
          Rcpp::Named("n_nodes") = static_cast<int>(out.n_nodes),
          Rcpp::Named("precision") = single ? "single" : "double", Rcpp::Named("n_threads") = control["n_threads"],
          Rcpp::Named("passes") = static_cast<int>(out.passes)));
}

// [[Rcpp::export]]
Rcpp::List core_ridge_fit(const Rcpp::NumericMatrix& X, const Rcpp::NumericMatrix& Y, const Rcpp::NumericVector& alphas,
                          const Rcpp::List& options, const Rcpp::List& control) {
  const voxridge::Targets targets = targets_of(Y, options);
  const std::vector<double> penalties(alphas.begin(), alphas.end());
  CoefResult coefs(X, Y, options);
  const bool single = Rcpp::as<bool>(options["single"]);
  with_preparation(X, R_NilValue, Rcpp::List::create(Rcpp::Named("kind") = "none"), options, control, false,
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     single ? voxridge::ridge_fit<float>(preparation, targets, penalties, coefs.out, c)
                            : voxridge::ridge_fit<double>(preparation, targets, penalties, coefs.out, c);
                   });
  return Rcpp::List::create(Rcpp::Named("coefs") = coefs.coefs, Rcpp::Named("intercept") = coefs.intercept);
}

// [[Rcpp::export]]
Rcpp::List core_ridge_predict_cv(const Rcpp::NumericMatrix& X, const Rcpp::NumericMatrix& Y, SEXP prepared,
                                 const Rcpp::List& folds, const Rcpp::NumericVector& alphas, const Rcpp::List& options,
                                 const Rcpp::List& control, SEXP score_func) {
  const voxridge::Targets targets = targets_of(Y, options);
  const std::vector<double> penalties(alphas.begin(), alphas.end());
  const voxridge::UserScore user = user_score(score_func);
  const voxridge::Score score = score_of(options["score"]);
  const Rcpp::List names = options["names"];
  const bool by_fold = cv_of(folds["kind"]) == voxridge::CvKind::kfold;
  const R_xlen_t n_folds = by_fold ? Rcpp::as<Rcpp::List>(folds["test"]).size() : 1;
  Rcpp::RObject predictions = new_array({Y.nrow(), Y.ncol()}, {element(names, "samples"), element(names, "targets")});
  Rcpp::RObject scores = new_array({n_folds, Y.ncol()}, {element(names, "folds"), element(names, "targets")});
  std::fill_n(REAL(predictions), Rf_xlength(predictions), NA_REAL);
  voxridge::RidgePredictOutputs out;
  out.predictions = voxridge_r::span_of(predictions);
  out.scores = REAL(scores);
  const bool single = Rcpp::as<bool>(options["single"]);
  with_preparation(X, prepared, folds, options, control, static_cast<bool>(user),
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     single ? voxridge::ridge_predict_cv<float>(preparation, targets, penalties, score, user, out, c)
                            : voxridge::ridge_predict_cv<double>(preparation, targets, penalties, score, user, out, c);
                   });
  return Rcpp::List::create(
      Rcpp::Named("predictions") = predictions, Rcpp::Named("scores") = scores,
      Rcpp::Named("constant_targets") = voxridge_r::places_of(out.constant),
      Rcpp::Named("info") = Rcpp::List::create(Rcpp::Named("precision") = single ? "single" : "double",
                                               Rcpp::Named("n_threads") = control["n_threads"]));
}

// [[Rcpp::export]]
SEXP core_prepare_ridge(const Rcpp::NumericMatrix& X, const Rcpp::List& folds, const Rcpp::List& options,
                        const Rcpp::List& control) {
  std::unique_ptr<voxridge::RidgePreparation> preparation;
  voxridge::Folds arranged = voxridge_r::folds_of(folds, X.nrow());
  const voxridge::MatrixView<double> x = voxridge_r::view_of(X);
  const bool intercept = Rcpp::as<bool>(options["fit_intercept"]);
  voxridge_r::Session(control).run([&](const Control& c) {
    preparation = std::make_unique<voxridge::RidgePreparation>(x, std::move(arranged), intercept, c);
    preparation->keep_factors(c);
  });
  return PreparedPointer(preparation.release(), true, R_NilValue, X);  // X lives as long as the pointer
}

// [[Rcpp::export]]
bool core_prepared_is_live(SEXP prepared) {
  return R_ExternalPtrAddr(prepared) != nullptr;
}
