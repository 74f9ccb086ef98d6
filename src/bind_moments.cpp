// Ridge regression on features in a file: core/moment_search.h.
#include <Rcpp.h>

#include <string>

#include "core/moment_search.h"
#include "r_ridge.h"
#include "r_session.h"

using namespace voxridge_r;

namespace {

voxridge::RowCells cells_of(const Rcpp::List& folds, int64_t n_rows) {
  voxridge::RowCells cells(n_rows);
  if (Rcpp::as<std::string>(folds["kind"]) != "kfold") return cells;
  const Rcpp::List train = folds["train"], test = folds["test"];
  for (R_xlen_t f = 0; f < test.size(); ++f) cells.add_fold(row_list(train[f]), row_list(test[f]));
  return cells;
}

}  // namespace

// As core_ridge_cv(), with X a store.
// [[Rcpp::export]]
Rcpp::List core_ridge_cv_from_file(const Rcpp::List& X, SEXP Y, const Rcpp::List& folds,
                                   const Rcpp::NumericVector& alphas, const Rcpp::List& options,
                                   const Rcpp::List& control) {
  std::unique_ptr<voxridge::StoreReader> x;
  const voxridge::StoreLayout layout = layout_of(X);
  with_conditions([&] { x = std::make_unique<voxridge::StoreReader>(layout); });
  const TargetInput y(Y, options);
  const auto search = search_options<voxridge::RidgeCvOptions>(folds, alphas, options, R_NilValue);
  const voxridge::RowCells cells = cells_of(folds, layout.rows);
  const R_xlen_t n_folds = std::max<R_xlen_t>(1, cells.folds());
  CvResult result(layout.rows, layout.cols, y.cols(), n_folds, alphas.size(), options);
  const voxridge::MomentInput input{*x, y.targets, y.store(), cells};
  Session(control).run([&](const voxridge::Control& c) { ridge_cv_from_moments(input, search, result.out, c); });
  return result.list(false, control);
}
