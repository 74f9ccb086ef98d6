// Ridge: R lists to the structs of core/ridge.h, results allocated here and filled in place.
#include <Rcpp.h>

#include <memory>
#include <string>

#include "core/ridge.h"
#include "r_ridge.h"
#include "r_session.h"

using namespace voxridge_r;

namespace {

using voxridge::Control;

using PreparedPointer = Rcpp::XPtr<voxridge::RidgePreparation>;

// Runs job(preparation, control) with the given preparation or one made for this call.
void with_preparation(const Rcpp::NumericMatrix& X, SEXP prepared, const Rcpp::List& folds, const Rcpp::List& options,
                      const Rcpp::List& control, bool calls_r,
                      const std::function<void(voxridge::RidgePreparation&, const Control&)>& job) {
  voxridge::RidgePreparation* kept = Rf_isNull(prepared) ? nullptr : PreparedPointer(prepared).checked_get();
  voxridge::Folds arranged = kept != nullptr ? voxridge::Folds() : folds_of(folds, X.nrow());
  const voxridge::MatrixView<double> x = view_of(X);
  const bool intercept = Rcpp::as<bool>(options["fit_intercept"]);
  const auto whole_job = [&](const Control& c) {
    if (kept != nullptr) return job(*kept, c);
    voxridge::RidgePreparation own(x, std::move(arranged), intercept, c);
    job(own, c);
  };
  Session(control).run(whole_job, calls_r);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List core_ridge_cv(const Rcpp::NumericMatrix& X, SEXP Y, SEXP prepared, const Rcpp::List& folds,
                         const Rcpp::NumericVector& alphas, const Rcpp::List& options, const Rcpp::List& control,
                         SEXP score_func) {
  const TargetInput y(Y, options);
  const voxridge::Targets& targets = y.targets;
  const auto search = search_options<voxridge::RidgeCvOptions>(folds, alphas, options, score_func);
  const R_xlen_t n_folds = search.cv == voxridge::CvKind::kfold ? Rcpp::as<Rcpp::List>(folds["test"]).size() : 1;
  CvResult result(X.nrow(), X.ncol(), y.cols(), n_folds, alphas.size(), options);
  const bool single = Rcpp::as<bool>(options["single"]);
  with_preparation(X, prepared, folds, options, control, static_cast<bool>(search.user),
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     single ? voxridge::ridge_cv<float>(preparation, targets, search, result.out, c)
                            : voxridge::ridge_cv<double>(preparation, targets, search, result.out, c);
                   });
  return result.list(single, control);
}

// [[Rcpp::export]]
Rcpp::List core_ridge_fit(const Rcpp::NumericMatrix& X, SEXP Y, const Rcpp::NumericVector& alphas,
                          const Rcpp::List& options, const Rcpp::List& control) {
  const TargetInput y(Y, options);
  const voxridge::Targets& targets = y.targets;
  const std::vector<double> penalties(alphas.begin(), alphas.end());
  CoefResult coefs(X.nrow(), X.ncol(), y.cols(), options);
  const bool single = Rcpp::as<bool>(options["single"]);
  with_preparation(X, R_NilValue, Rcpp::List::create(Rcpp::Named("kind") = "none"), options, control, false,
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     single ? voxridge::ridge_fit<float>(preparation, targets, penalties, coefs.out, c)
                            : voxridge::ridge_fit<double>(preparation, targets, penalties, coefs.out, c);
                   });
  return Rcpp::List::create(Rcpp::Named("coefs") = coefs.coefs, Rcpp::Named("intercept") = coefs.intercept);
}

// [[Rcpp::export]]
Rcpp::List core_ridge_predict_cv(const Rcpp::NumericMatrix& X, SEXP Y, SEXP prepared, const Rcpp::List& folds,
                                 const Rcpp::NumericVector& alphas, const Rcpp::List& options,
                                 const Rcpp::List& control, SEXP score_func) {
  const TargetInput y(Y, options);
  const voxridge::Targets& targets = y.targets;
  const std::vector<double> penalties(alphas.begin(), alphas.end());
  const voxridge::UserScore user = user_score(score_func);
  const voxridge::Score score = score_of(options["score"]);
  const Rcpp::List names = options["names"];
  const bool by_fold = cv_of(folds["kind"]) == voxridge::CvKind::kfold;
  const R_xlen_t n_folds = by_fold ? Rcpp::as<Rcpp::List>(folds["test"]).size() : 1;
  Rcpp::RObject predictions = new_array({y.rows(), y.cols()}, {element(names, "samples"), element(names, "targets")});
  Rcpp::RObject scores = new_array({n_folds, y.cols()}, {element(names, "folds"), element(names, "targets")});
  std::fill_n(REAL(predictions), Rf_xlength(predictions), NA_REAL);
  voxridge::RidgePredictOutputs out;
  out.predictions = span_of(predictions);
  out.scores = REAL(scores);
  const bool single = Rcpp::as<bool>(options["single"]);
  with_preparation(X, prepared, folds, options, control, static_cast<bool>(user),
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     single ? voxridge::ridge_predict_cv<float>(preparation, targets, penalties, score, user, out, c)
                            : voxridge::ridge_predict_cv<double>(preparation, targets, penalties, score, user, out, c);
                   });
  return Rcpp::List::create(
      Rcpp::Named("predictions") = predictions, Rcpp::Named("scores") = scores,
      Rcpp::Named("constant_targets") = places_of(out.constant),
      Rcpp::Named("info") = Rcpp::List::create(Rcpp::Named("precision") = single ? "single" : "double",
                                               Rcpp::Named("n_threads") = control["n_threads"]));
}

// [[Rcpp::export]]
SEXP core_prepare_ridge(const Rcpp::NumericMatrix& X, const Rcpp::List& folds, const Rcpp::List& options,
                        const Rcpp::List& control) {
  std::unique_ptr<voxridge::RidgePreparation> preparation;
  voxridge::Folds arranged = folds_of(folds, X.nrow());
  const voxridge::MatrixView<double> x = view_of(X);
  const bool intercept = Rcpp::as<bool>(options["fit_intercept"]);
  Session(control).run([&](const Control& c) {
    preparation = std::make_unique<voxridge::RidgePreparation>(x, std::move(arranged), intercept, c);
    preparation->keep_factors(c);
  });
  return PreparedPointer(preparation.release(), true, R_NilValue, X);  // X lives as long as the pointer
}

// [[Rcpp::export]]
bool core_prepared_is_live(SEXP prepared) {
  return R_ExternalPtrAddr(prepared) != nullptr;
}

// Share `share` (from 0) of `n_shares` of the factors that calls with these options need, into files of `folder`.
// Returns of what kind they are, and which there are in all.
// [[Rcpp::export]]
Rcpp::List core_write_factors(const Rcpp::NumericMatrix& X, const Rcpp::List& folds, const Rcpp::List& options,
                              const std::string& folder, int share, int n_shares, const Rcpp::List& control) {
  voxridge::FactorDemand demand;
  demand.cv = cv_of(folds["kind"]);
  demand.score = score_of(options["score"]);
  demand.coefs = coefs_of(options["coefs"]);
  demand.smallest_alpha = Rcpp::as<double>(options["smallest_alpha"]);
  const int n_threads = Rcpp::as<int>(options["n_threads"]);
  voxridge::FactorKind kind;
  std::vector<int64_t> which;
  with_preparation(X, R_NilValue, folds, options, control, false,
                   [&](voxridge::RidgePreparation& preparation, const Control& c) {
                     which = preparation.write_factors(demand, folder, share, n_shares, n_threads, kind, c);
                   });
  return Rcpp::List::create(Rcpp::Named("primal") = kind.form == voxridge::Form::primal,
                            Rcpp::Named("svd") = kind.route == voxridge::Route::svd, Rcpp::Named("top") = kind.top,
                            Rcpp::Named("which") = Rcpp::IntegerVector(which.begin(), which.end()));
}

// A preparation whose factors come from there. `facts`: what core_write_factors() returned.
// [[Rcpp::export]]
SEXP core_read_factors(const Rcpp::NumericMatrix& X, const Rcpp::List& folds, const Rcpp::List& options,
                       const std::string& folder, const Rcpp::List& facts, const Rcpp::List& control) {
  std::unique_ptr<voxridge::RidgePreparation> preparation;
  voxridge::Folds arranged = folds_of(folds, X.nrow());
  const voxridge::MatrixView<double> x = view_of(X);
  const bool intercept = Rcpp::as<bool>(options["fit_intercept"]);
  const voxridge::FactorKind kind{Rcpp::as<bool>(facts["primal"]) ? voxridge::Form::primal : voxridge::Form::dual,
                                  Rcpp::as<bool>(facts["svd"]) ? voxridge::Route::svd : voxridge::Route::eigen,
                                  Rcpp::as<double>(facts["top"])};
  const std::vector<int> listed = Rcpp::as<std::vector<int>>(facts["which"]);
  Session(control).run([&](const Control& c) {
    preparation = std::make_unique<voxridge::RidgePreparation>(x, std::move(arranged), intercept, c);
    preparation->read_factors(kind, {listed.begin(), listed.end()}, folder);
  });
  return PreparedPointer(preparation.release(), true, R_NilValue, X);
}
