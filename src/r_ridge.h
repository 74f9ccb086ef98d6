// What the bindings of ridge models share: words, targets and coefficients between R and the core. Main thread only.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "core/ridge.h"
#include "r_session.h"
#include "r_store.h"
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

inline Rcpp::NumericMatrix matrix_of(const arma::mat& m) {
  return Rcpp::NumericMatrix(static_cast<int>(m.n_rows), static_cast<int>(m.n_cols), m.begin());
}

// Targets of a call: a matrix of R's, or a store (R/target_store.R), whose files are open as long as this lives.
class TargetInput {
 public:
  TargetInput(SEXP Y, const Rcpp::List& options) {
    if (Rf_isNewList(Y)) {
      const Rcpp::List store(Y);
      const voxridge::StoreLayout layout = layout_of(store);
      with_conditions([&] { store_ = std::make_unique<voxridge::StoreReader>(layout); });
      targets.y = {nullptr, layout.rows, static_cast<int64_t>(Rcpp::as<double>(store["cols"])), layout.rows};
      targets.source = store_.get();
      if (store.containsElementNamed("before")) {
        targets.before = static_cast<int64_t>(Rcpp::as<double>(store["before"]));
        window_ = std::make_unique<voxridge::TargetWindow>(*store_, targets.before);
        targets.source = window_.get();
      }
    } else {
      matrix_ = Rcpp::NumericMatrix(Y);
      targets.y = view_of(matrix_);
    }
    targets.skip = flags_of(options["skip"], targets.y.cols);
    targets.center = Rcpp::as<bool>(options["fit_intercept"]);
    targets.missing = NA_REAL;
  }
  int rows() const { return static_cast<int>(targets.y.rows); }
  int cols() const { return static_cast<int>(targets.y.cols); }
  const voxridge::StoreReader* store() const { return store_.get(); }

  voxridge::Targets targets;

 private:
  Rcpp::NumericMatrix matrix_;
  std::unique_ptr<voxridge::StoreReader> store_;
  std::unique_ptr<voxridge::TargetWindow> window_;
};

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

  // `path`: the coefficients go to a store there.
  CoefResult(int64_t n, int64_t p, int n_targets, const Rcpp::List& options, SEXP path = R_NilValue) {
    const Rcpp::List names = options["names"];
    out.kind = coefs_of(options["coefs"]);
    if (out.kind == voxridge::Coefs::none) return;
    const bool dual = out.kind == voxridge::Coefs::dual;
    const int64_t rows = dual ? n : p;
    if (Rcpp::as<bool>(options["fit_intercept"])) intercept = Rcpp::NumericVector(Rcpp::no_init(n_targets));
    out.intercept = data_of(intercept);
    if (!Rf_isNull(path)) {
      const bool single = Rcpp::as<std::string>(options["store_type"]) == "float32";
      const std::string file = Rcpp::as<std::string>(path);
      with_conditions([&] { store_ = std::make_unique<voxridge::StoreWriter>(file, rows, n_targets, single); });
      out.store = store_.get();
      out.coefs = {nullptr, rows, n_targets, rows};
      return;
    }
    coefs = new_array({static_cast<R_xlen_t>(rows), n_targets},
                      {element(names, dual ? "samples" : "features"), element(names, "targets")});
    out.coefs = span_of(coefs);
  }

  // After the fit: the store is complete.
  void finish() {
    if (store_) coefs = facts_list(store_->finish());
  }

 private:
  std::unique_ptr<voxridge::StoreWriter> store_;
};

// Results of ridge_cv() as R objects, and where the core writes them.
class CvResult {
 public:
  CvResult(int64_t n, int64_t p, int n_targets, R_xlen_t n_folds, R_xlen_t n_alphas, const Rcpp::List& options)
      : coefs_(n, p, n_targets, options, element(options, "store_path")), chosen_(n_targets) {
    const Rcpp::List names = options["names"];
    const std::string wanted = options["cv_scores"];
    if (wanted == "all") {
      scores_ =
          new_array({n_folds, n_alphas, n_targets}, {element(names, "folds"), R_NilValue, element(names, "targets")});
    } else if (wanted == "mean") {
      scores_ = new_array({n_alphas, n_targets}, {R_NilValue, element(names, "targets")});
    }
    const SEXP path = element(options, "scores_path");
    if (!Rf_isNull(path)) {
      const std::string file = Rcpp::as<std::string>(path);
      with_conditions(
          [&] { score_store_ = std::make_unique<voxridge::StoreWriter>(file, n_alphas, n_targets, false); });
      out.score_store = score_store_.get();
    }
    out.alpha_index = chosen_.data();
    out.fold_scores = wanted == "all" ? data_of(scores_) : nullptr;
    out.mean_scores = wanted == "mean" ? data_of(scores_) : nullptr;
    out.coefs = coefs_.out;
  }

  // After the fit.
  Rcpp::List list(bool single, const Rcpp::List& control) {
    with_conditions([&] { coefs_.finish(); });
    if (score_store_) with_conditions([&] { scores_ = facts_list(score_store_->finish()); });
    return Rcpp::List::create(Rcpp::Named("alpha_index") = r_places(chosen_), Rcpp::Named("coefs") = coefs_.coefs,
                              Rcpp::Named("intercept") = coefs_.intercept, Rcpp::Named("cv_scores") = scores_,
                              Rcpp::Named("constant_targets") = places_of(out.constant),
                              Rcpp::Named("tile_totals") = matrix_of(out.tile_totals),
                              Rcpp::Named("info") = info_of(out, single, control));
  }

  voxridge::RidgeCvOutputs out;

 private:
  CoefResult coefs_;
  Rcpp::RObject scores_ = R_NilValue;  // or what is known of the store with them
  std::unique_ptr<voxridge::StoreWriter> score_store_;
  std::vector<int> chosen_;
};

}  // namespace voxridge_r
