// Banded ridge: R lists to the structs of core/banded_cv.h, and the random candidates of a search.
#include <Rcpp.h>

#include <vector>

#include "core/banded_cv.h"
#include "core/banded_refit.h"
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

}  // namespace

// `Xs`: one double matrix per band. `gammas`: candidates x bands; `alpha_factors`: per candidate. `column_order` (an
// option): where feature k, bands side by side, belongs in the coefficients, or NULL.
// [[Rcpp::export]]
Rcpp::List core_banded_cv(const Rcpp::List& Xs, SEXP Y, const Rcpp::List& folds, const Rcpp::NumericVector& alphas,
                          const Rcpp::NumericMatrix& gammas, const Rcpp::NumericVector& alpha_factors,
                          const Rcpp::List& options, const Rcpp::List& control, SEXP score_func) {
  const std::vector<voxridge::MatrixView<double>> parts = parts_of(Xs);
  const voxridge::Bands bands(sizes_of(parts));
  const TargetInput y(Y, options);
  const voxridge::Targets& targets = y.targets;
  auto search = search_options<voxridge::BandedCvOptions>(folds, alphas, options, score_func);
  search.gammas = rows_of(gammas);
  search.alpha_factors.assign(alpha_factors.begin(), alpha_factors.end());
  const voxridge::RowList order =
      Rf_isNull(options["column_order"]) ? voxridge::RowList() : row_list(options["column_order"]);
  CoefResult coefs(y.rows(), bands.cols(), y.cols(), options);
  Rcpp::RObject scores = R_NilValue;
  if (Rcpp::as<std::string>(options["cv_scores"]) != "none") {
    scores = new_array({gammas.nrow(), y.cols()}, {R_NilValue, element(options["names"], "targets")});
  }
  std::vector<int> chosen_alpha(y.cols()), chosen_gamma(y.cols());
  voxridge::BandedCvOutputs out;
  out.alpha_index = chosen_alpha.data();
  out.gamma_index = chosen_gamma.data();
  out.scores = data_of(scores);
  out.coefs = coefs.out;
  const bool single = Rcpp::as<bool>(options["single"]);
  voxridge::Folds arranged = folds_of(folds, y.rows());
  const auto job = [&](const voxridge::Control& c) {
    const double room = voxridge::kCopyShare * c.memory_bytes;
    voxridge::Features features(parts, arranged, targets.center, room, c);
    const bool multiplied = voxridge::choose_form(features, arranged) == voxridge::Form::primal ||
                            out.coefs.kind == voxridge::Coefs::primal;
    if (single && multiplied) features.cache_single(room, c);
    single ? voxridge::banded_cv<float>(features, bands, arranged, targets, search, out, c)
           : voxridge::banded_cv<double>(features, bands, arranged, targets, search, out, c);
    if (!order.empty() && out.coefs.kind == voxridge::Coefs::primal) {
      voxridge::reorder_rows(out.coefs.coefs, order, c);
    }
  };
  Session(control).run(job, static_cast<bool>(search.user));
  return Rcpp::List::create(
      Rcpp::Named("alpha_index") = r_places(chosen_alpha), Rcpp::Named("gamma_index") = r_places(chosen_gamma),
      Rcpp::Named("coefs") = coefs.coefs, Rcpp::Named("intercept") = coefs.intercept, Rcpp::Named("cv_scores") = scores,
      Rcpp::Named("constant_targets") = places_of(out.constant), Rcpp::Named("info") = info_of(out, single, control));
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
