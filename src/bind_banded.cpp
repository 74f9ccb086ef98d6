// Banded ridge: R lists to the structs of core/banded_cv.h, and the random candidates of a search.
#include <Rcpp.h>

#include <vector>

#include "core/banded_cv.h"
#include "core/banded_refit.h"
#include "core/banded_shared.h"
#include "core/budget.h"
#include "core/dirichlet.h"
#include "r_ridge.h"
#include "r_session.h"

using namespace voxridge_r;

namespace {

std::vector<std::vector<double>> rows_of(const Rcpp::NumericMatrix& m) {
  std::vector<std::vector<double>> rows(m.nrow());
  for (int i = 0; i < m.nrow(); ++i) {
    for (int j = 0; j < m.ncol(); ++j) rows[i].push_back(m(i, j));
  }
  return rows;
}

// Views of the bands; the list keeps them alive.
std::vector<voxridge::MatrixView<double>> parts_of(const Rcpp::List& Xs) {
  std::vector<voxridge::MatrixView<double>> parts;
  for (R_xlen_t b = 0; b < Xs.size(); ++b) parts.push_back(view_of(Rcpp::as<Rcpp::NumericMatrix>(Xs[b])));
  return parts;
}

std::vector<int64_t> sizes_of(const std::vector<voxridge::MatrixView<double>>& parts) {
  std::vector<int64_t> sizes;
  for (const auto& part : parts) sizes.push_back(part.cols);
  return sizes;
}

// What every call on bands has: their features, the folds, the candidates.
struct BandedCall {
  const std::vector<voxridge::MatrixView<double>> parts;
  const voxridge::Bands bands;
  const voxridge::Folds folds;
  voxridge::BandedCvOptions search;
  voxridge::RowList order;

  BandedCall(const Rcpp::List& Xs, const Rcpp::List& folds, const Rcpp::NumericVector& alphas,
             const Rcpp::NumericMatrix& gammas, const Rcpp::NumericVector& alpha_factors, const Rcpp::List& options,
             SEXP score_func)
      : parts(parts_of(Xs)),
        bands(sizes_of(parts)),
        folds(folds_of(folds, parts[0].rows)),
        search(search_options<voxridge::BandedCvOptions>(folds, alphas, options, score_func)) {
    search.gammas = rows_of(gammas);
    search.alpha_factors.assign(alpha_factors.begin(), alpha_factors.end());
    if (options.containsElementNamed("factor_threads")) search.factor_threads = options["factor_threads"];
    const SEXP column_order = element(options, "column_order");
    if (!Rf_isNull(column_order)) order = row_list(column_order);
  }

  voxridge::Features features(bool center, bool single, voxridge::Coefs coefs, const voxridge::Control& control) const {
    const double room = voxridge::kCopyShare * control.memory_bytes;
    voxridge::Features out(parts, folds, center, room, control);
    const bool multiplied =
        voxridge::choose_form(out, folds) == voxridge::Form::primal || coefs == voxridge::Coefs::primal;
    if (single && multiplied) out.cache_single(room, control);
    return out;
  }

  // From the order of the bands to that of the user's columns.
  void reorder(voxridge::CoefOutputs& coefs, const voxridge::Control& control) const {
    if (!order.empty() && coefs.kind == voxridge::Coefs::primal) voxridge::reorder_rows(coefs.coefs, order, control);
  }
};

}  // namespace

// `Xs`: one double matrix per band. `gammas`: candidates x bands; `alpha_factors`: per candidate. `column_order` (an
// option): where feature k, bands side by side, belongs in the coefficients, or NULL. `every_candidate` (an option):
// return the alphas of all candidates, too. `factor_threads` (an option): as in the core.
// [[Rcpp::export]]
Rcpp::List core_banded_cv(const Rcpp::List& Xs, SEXP Y, const Rcpp::List& folds, const Rcpp::NumericVector& alphas,
                          const Rcpp::NumericMatrix& gammas, const Rcpp::NumericVector& alpha_factors,
                          const Rcpp::List& options, const Rcpp::List& control, SEXP score_func) {
  const BandedCall call(Xs, folds, alphas, gammas, alpha_factors, options, score_func);
  const TargetInput y(Y, options);
  const voxridge::Targets& targets = y.targets;
  CoefResult coefs(y.rows(), call.bands.cols(), y.cols(), options);
  Rcpp::RObject scores = R_NilValue;
  if (Rcpp::as<std::string>(options["cv_scores"]) != "none") {
    scores = new_array({gammas.nrow(), y.cols()}, {R_NilValue, element(options["names"], "targets")});
  }
  const bool every = options.containsElementNamed("every_candidate");
  Rcpp::IntegerMatrix every_alpha(every ? gammas.nrow() : 0, every ? y.cols() : 0);
  std::vector<int> chosen_alpha(y.cols()), chosen_gamma(y.cols());
  voxridge::BandedCvOutputs out;
  out.alpha_index = chosen_alpha.data();
  out.gamma_index = chosen_gamma.data();
  out.scores = data_of(scores);
  out.candidate_alphas = every ? every_alpha.begin() : nullptr;
  out.coefs = coefs.out;
  const bool single = Rcpp::as<bool>(options["single"]);
  const auto job = [&](const voxridge::Control& c) {
    const voxridge::Features features = call.features(targets.center, single, out.coefs.kind, c);
    single ? voxridge::banded_cv<float>(features, call.bands, call.folds, targets, call.search, out, c)
           : voxridge::banded_cv<double>(features, call.bands, call.folds, targets, call.search, out, c);
    call.reorder(out.coefs, c);
  };
  Session(control).run(job, static_cast<bool>(call.search.user));
  for (int& alpha : every_alpha) alpha = alpha < 0 ? NA_INTEGER : alpha + 1;
  return Rcpp::List::create(
      Rcpp::Named("alpha_index") = r_places(chosen_alpha), Rcpp::Named("gamma_index") = r_places(chosen_gamma),
      Rcpp::Named("coefs") = coefs.coefs, Rcpp::Named("intercept") = coefs.intercept, Rcpp::Named("cv_scores") = scores,
      Rcpp::Named("constant_targets") = places_of(out.constant), Rcpp::Named("every_alpha") = every_alpha,
      Rcpp::Named("shared_means") = Rcpp::NumericVector(out.shared_means.begin(), out.shared_means.end()),
      Rcpp::Named("info") = info_of(out, single, control));
}

// Factors of the listed candidates (from 1) into files of `folder`.
// [[Rcpp::export]]
void core_write_banded_factors(const Rcpp::List& Xs, const Rcpp::List& folds, const Rcpp::NumericVector& alphas,
                               const Rcpp::NumericMatrix& gammas, const Rcpp::NumericVector& alpha_factors,
                               const Rcpp::List& options, const Rcpp::IntegerVector& candidates,
                               const std::string& folder, const Rcpp::List& control) {
  const BandedCall call(Xs, folds, alphas, gammas, alpha_factors, options, R_NilValue);
  const voxridge::RowList listed = row_list(candidates);
  const bool center = Rcpp::as<bool>(options["fit_intercept"]);
  Session(control).run([&](const voxridge::Control& c) {
    const voxridge::Features features = call.features(center, false, voxridge::Coefs::none, c);
    voxridge::write_banded_factors(features, call.bands, call.folds, call.search, listed, folder, c);
  });
}

// Coefficients from those files, for targets that have chosen already (places from 1; NA: skipped).
// [[Rcpp::export]]
Rcpp::List core_banded_refit(const Rcpp::List& Xs, SEXP Y, const Rcpp::List& folds, const Rcpp::NumericVector& alphas,
                             const Rcpp::NumericMatrix& gammas, const Rcpp::NumericVector& alpha_factors,
                             const Rcpp::List& options, const Rcpp::IntegerVector& gamma_index,
                             const Rcpp::IntegerVector& alpha_index, const std::string& folder,
                             const Rcpp::List& control) {
  const BandedCall call(Xs, folds, alphas, gammas, alpha_factors, options, R_NilValue);
  const TargetInput y(Y, options);
  CoefResult coefs(y.rows(), call.bands.cols(), y.cols(), options);
  const auto from_zero = [](const Rcpp::IntegerVector& places) {
    std::vector<int> out(places.begin(), places.end());
    for (int& place : out) place = place == NA_INTEGER ? -1 : place - 1;
    return out;
  };
  std::vector<int> chosen_alpha = from_zero(alpha_index), chosen_gamma = from_zero(gamma_index);
  voxridge::BandedCvOutputs out;
  out.alpha_index = chosen_alpha.data();
  out.gamma_index = chosen_gamma.data();
  out.coefs = coefs.out;
  const bool single = Rcpp::as<bool>(options["single"]);
  Session(control).run([&](const voxridge::Control& c) {
    const voxridge::Features features = call.features(y.targets.center, single, out.coefs.kind, c);
    single ? voxridge::refit_banded_from_files<float>(features, call.bands, call.folds, y.targets, call.search, folder,
                                                      out, c)
           : voxridge::refit_banded_from_files<double>(features, call.bands, call.folds, y.targets, call.search, folder,
                                                       out, c);
    call.reorder(out.coefs, c);
  });
  return Rcpp::List::create(Rcpp::Named("coefs") = coefs.coefs, Rcpp::Named("intercept") = coefs.intercept);
}

// Candidate weights, n_iter x bands: equal weights first, then one Dirichlet draw per row, concentrations in turn.
// [[Rcpp::export]]
Rcpp::NumericMatrix core_dirichlet(int n_iter, int n_bands, const Rcpp::NumericVector& concentration, double key) {
  Rcpp::NumericMatrix out(n_iter, n_bands);
  for (int i = 0; i < n_iter; ++i) {
    if (i % 10000 == 0) Rcpp::checkUserInterrupt();
    const std::vector<double> row =
        i == 0 ? std::vector<double>(n_bands, 1.0 / n_bands)
               : voxridge::dirichlet(n_bands, concentration[i % concentration.size()], static_cast<uint64_t>(key), i);
    for (int b = 0; b < n_bands; ++b) out(i, b) = row[b];
  }
  return out;
}

// One factor for the penalties of each candidate.
// [[Rcpp::export]]
Rcpp::NumericVector core_jitter(int n_iter, double key) {
  Rcpp::NumericVector out(n_iter);
  for (int i = 0; i < n_iter; ++i) out[i] = voxridge::alpha_jitter(static_cast<uint64_t>(key), i);
  return out;
}
