// R objects as views and plain structs of the core, and back. Main thread only.
#pragma once

#include <Rcpp.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/folds.h"
#include "core/memory.h"
#include "core/view.h"

namespace voxridge_r {

inline voxridge::MatrixView<double> view_of(const Rcpp::NumericMatrix& x) {
  return {REAL(x), x.nrow(), x.ncol(), x.nrow()};
}

// R's NULL is "not wanted".
inline voxridge::MatrixSpan<double> span_of(SEXP x) {
  if (Rf_isNull(x)) return {};
  const int64_t rows = Rf_nrows(x), cols = Rf_ncols(x);
  return {REAL(x), rows, cols, rows};
}

inline double* data_of(SEXP x) {
  return Rf_isNull(x) ? nullptr : REAL(x);
}

// One per target, or NULL.
inline const double* intercepts_of(SEXP x, int64_t n_targets) {
  if (!Rf_isNull(x) && (TYPEOF(x) != REALSXP || Rf_xlength(x) != n_targets)) {
    throw voxridge::Error(voxridge::ErrorCode::invalid_argument, "The intercepts are not one number per target.");
  }
  return data_of(x);
}

inline voxridge::RowList row_list(const Rcpp::IntegerVector& rows) {  // 1-based to 0-based
  voxridge::RowList out(rows.begin(), rows.end());
  for (int64_t& row : out) --row;
  return out;
}

inline voxridge::Folds folds_of(const Rcpp::List& folds, int64_t n_rows) {
  if (Rcpp::as<std::string>(folds["kind"]) != "kfold") return voxridge::no_folds(n_rows);
  const Rcpp::List train = folds["train"], test = folds["test"];
  std::vector<voxridge::Fold> out;
  for (R_xlen_t f = 0; f < test.size(); ++f) out.push_back({row_list(train[f]), row_list(test[f])});
  return voxridge::arrange_folds(n_rows, std::move(out), Rcpp::as<bool>(folds["partition"]));
}

// Per target: is it listed?
inline std::vector<char> flags_of(const Rcpp::IntegerVector& listed, int64_t n_targets) {
  if (listed.size() == 0) return {};
  std::vector<char> out(n_targets, 0);
  for (const int target : listed) out[target - 1] = 1;
  return out;
}

inline Rcpp::IntegerVector places_of(const std::vector<char>& flags) {
  Rcpp::IntegerVector out;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) out.push_back(static_cast<int>(i) + 1);
  }
  return out;
}

// Places in R's counting, NA for none.
inline Rcpp::IntegerVector r_places(const std::vector<int>& places) {
  Rcpp::IntegerVector out(places.begin(), places.end());
  for (int& place : out) place = place < 0 ? NA_INTEGER : place + 1;
  return out;
}

// An uninitialised array that nobody has copied yet, named while that costs nothing.
inline SEXP new_array(std::vector<R_xlen_t> dims, const std::vector<SEXP>& dimnames) {
  R_xlen_t size = 1;
  bool named = false;
  Rcpp::IntegerVector dim;
  Rcpp::List names(dims.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    size *= dims[k];
    dim.push_back(static_cast<int>(dims[k]));
    if (Rf_isNull(dimnames[k]) || Rf_xlength(dimnames[k]) != dims[k]) continue;
    names[k] = dimnames[k];
    named = true;
  }
  const Rcpp::Shield<SEXP> out(Rf_allocVector(REALSXP, size));
  voxridge::advise_large_pages(REAL(out), sizeof(double) * static_cast<size_t>(size));
  Rf_setAttrib(out, R_DimSymbol, dim);
  if (named) Rf_setAttrib(out, R_DimNamesSymbol, names);
  return out;
}

// An element of a list, or NULL.
inline SEXP element(const Rcpp::List& list, const char* name) {
  return list.containsElementNamed(name) ? static_cast<SEXP>(list[name]) : R_NilValue;
}

}  // namespace voxridge_r
