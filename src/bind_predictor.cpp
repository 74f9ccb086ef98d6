// The scoring engine: predict() of logistic fits and of engines.
#include <Rcpp.h>

#include <memory>
#include <vector>

#include "core/predictor.h"
#include "r_session.h"
#include "r_view.h"

using namespace voxridge_r;
using voxridge::ForecastScale;

namespace {

struct Engine {
  Engine(const voxridge::MatrixView<double>& coefs, const double* intercepts) : model(coefs, intercepts) {}
  voxridge::Predictor model;
  std::vector<voxridge::PredictorWorkspace> workspaces;
};

SEXP engine_tag() {
  return Rf_install("voxridge_engine");
}

// nullptr for what comes from a file or another process, where the pointer is lost.
Engine* engine_of(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != engine_tag()) return nullptr;
  return static_cast<Engine*>(R_ExternalPtrAddr(pointer));
}

int64_t score(Engine& engine, SEXP x, SEXP offset, bool probability, SEXP out, const voxridge::Control& control) {
  const int64_t n = Rf_nrows(x), t = engine.model.n_targets();
  voxridge::MatrixView<double> shifts;
  if (!Rf_isNull(offset)) shifts = {REAL(offset), n, t, n};
  return voxridge::score_columns(engine.model, {REAL(x), n, Rf_ncols(x), n}, shifts,
                                 probability ? ForecastScale::probability : ForecastScale::logit, NA_REAL,
                                 {REAL(out), n, t, n}, engine.workspaces, control);
}

// R keeps one copy of each string: equal names are the same pointer.
bool same_names(SEXP found, SEXP expected) {
  if (found == expected || Rf_isNull(found) || Rf_isNull(expected)) return true;
  const R_xlen_t n = Rf_xlength(expected);
  if (TYPEOF(found) != STRSXP || Rf_xlength(found) != n) return false;
  for (R_xlen_t i = 0; i < n; ++i) {
    if (STRING_ELT(found, i) != STRING_ELT(expected, i)) return false;
  }
  return true;
}

bool is_double(SEXP x) {
  return TYPEOF(x) == REALSXP && !OBJECT(x);
}

bool all_finite(const double* x, R_xlen_t n) {
  double zero = 0;
  for (R_xlen_t i = 0; i < n; ++i) zero += x[i] * 0;
  return zero == 0;
}

}  // namespace

// `coefs`: p x t, `intercepts`: t, or NULL.
// [[Rcpp::export(rng = false)]]
SEXP core_engine(const Rcpp::NumericMatrix& coefs, SEXP intercepts) {
  std::unique_ptr<Engine> engine;
  with_conditions([&] {
    engine = std::make_unique<Engine>(view_of(coefs), intercepts_of(intercepts, coefs.ncol()));
    engine->workspaces.emplace_back(engine->model.n_features());
  });
  return Rcpp::XPtr<Engine>(engine.release(), true, engine_tag());
}

// Forecasts, n x t, of checked data: NA for rows with values that are not finite and for targets without coefficients.
// NULL where the engine is no longer there.
// [[Rcpp::export(rng = false)]]
SEXP core_engine_score(SEXP pointer, const Rcpp::NumericMatrix& x, SEXP offset, bool probability,
                       const Rcpp::List& control) {
  Engine* const engine = engine_of(pointer);
  if (engine == nullptr) return R_NilValue;
  const Rcpp::Shield<SEXP> out(Rf_allocMatrix(REALSXP, x.nrow(), static_cast<int>(engine->model.n_targets())));
  const SEXP from = x, to = out;
  Session(control).run([&](const voxridge::Control& c) { score(*engine, from, offset, probability, to, c); });
  return out;
}

// The same without delay, on this thread, for few rows that need neither conversion nor a message: a plain matrix with
// the columns of the fit, in their order, without missing values. NULL for all else, and where the engine is no longer
// there. `offset`: NULL, or what stands for it. With `drop`, the first target as a vector.
// [[Rcpp::export(rng = false)]]
SEXP core_engine_quick(SEXP pointer, SEXP x, SEXP features, SEXP targets, SEXP offset, bool probability, bool drop) {
  constexpr double kProducts = 1e7;  // a few milliseconds
  Engine* const engine = engine_of(pointer);
  if (engine == nullptr || !is_double(x) || !Rf_isMatrix(x)) return R_NilValue;
  const int n = Rf_nrows(x), p = Rf_ncols(x), t = static_cast<int>(engine->model.n_targets());
  if (n == 0 || p != engine->model.n_features() || static_cast<double>(n) * p * t > kProducts) return R_NilValue;
  const SEXP names = Rf_getAttrib(x, R_DimNamesSymbol);
  const SEXP rows = Rf_isNull(names) ? R_NilValue : VECTOR_ELT(names, 0);
  if (!Rf_isNull(names) && !same_names(VECTOR_ELT(names, 1), features)) return R_NilValue;
  if (!Rf_isNull(offset)) {
    const R_xlen_t size = Rf_xlength(offset);
    if (!is_double(offset) || size != static_cast<R_xlen_t>(n) * t ||
        (Rf_isMatrix(offset) ? Rf_nrows(offset) != n : t > 1) || !all_finite(REAL(offset), size)) {
      return R_NilValue;
    }
  }
  const Rcpp::Shield<SEXP> out(drop ? Rf_allocVector(REALSXP, n) : Rf_allocMatrix(REALSXP, n, t));
  if (score(*engine, x, offset, probability, out, voxridge::Control()) > 0) return R_NilValue;
  if (drop) {
    if (!Rf_isNull(rows)) Rf_setAttrib(out, R_NamesSymbol, rows);
  } else if (!Rf_isNull(rows) || !Rf_isNull(targets)) {
    const Rcpp::Shield<SEXP> both(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(both, 0, rows);
    SET_VECTOR_ELT(both, 1, targets);
    Rf_setAttrib(out, R_DimNamesSymbol, both);
  }
  return out;
}
