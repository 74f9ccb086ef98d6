// Decoding at many locations.
#include <Rcpp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "core/decoding.h"
#include "r_rows.h"
#include "r_session.h"
#include "r_view.h"

using namespace voxridge_r;

namespace {

std::vector<voxridge::Fold> folds_in(const Rcpp::List& folds) {
  const Rcpp::List train = folds["train"], test = folds["test"];
  std::vector<voxridge::Fold> out;
  for (R_xlen_t f = 0; f < test.size(); ++f) out.push_back({row_list(train[f]), row_list(test[f])});
  return out;
}

voxridge::DecodingMetric metric_of(const std::string& word) {
  using voxridge::DecodingMetric;
  if (word == "balanced_accuracy") return DecodingMetric::balanced_accuracy;
  if (word == "auc") return DecodingMetric::auc;
  if (word == "r") return DecodingMetric::r;
  if (word == "r2") return DecodingMetric::r2;
  return word == "mse" ? DecodingMetric::mse : DecodingMetric::accuracy;
}

const char* word_of(voxridge::DecodingFailure reason) {
  using voxridge::DecodingFailure;
  switch (reason) {
    case DecodingFailure::too_small:
      return "too_small";
    case DecodingFailure::constant:
      return "constant";
    case DecodingFailure::not_finite:
      return "not_finite";
    case DecodingFailure::class_missing:
      return "class_missing";
    case DecodingFailure::one_class:
      return "one_class";
    case DecodingFailure::singular:
      return "singular";
    default:
      return "undefined";
  }
}

std::unique_ptr<voxridge::Neighbourhoods> locations_of(const Rcpp::List& locations, int n_columns) {
  const std::string kind = locations["kind"];
  if (kind == "all") return std::make_unique<voxridge::WholeNeighbourhood>(n_columns);
  if (kind == "lists") {
    const Rcpp::NumericVector start = locations["start"];
    const SEXP voxel = locations["voxel"];
    return std::make_unique<voxridge::ListedNeighbourhoods>(std::vector<int64_t>(start.begin(), start.end()),
                                                            INTEGER(voxel));
  }
  const Rcpp::IntegerVector dim = locations["dim"], centers = locations["centers"];
  const Rcpp::NumericVector index = locations["index"];
  const Rcpp::NumericMatrix affine = locations["affine"];
  std::vector<int64_t> place(index.begin(), index.end());
  for (int64_t& at : place) --at;
  std::vector<int> columns(centers.begin(), centers.end());
  for (int& column : columns) --column;
  voxridge::Affine3 a;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = affine(i, j);
  }
  return std::make_unique<voxridge::Spheres>(std::array<int64_t, 3>{dim[0], dim[1], dim[2]}, place, a,
                                             Rcpp::as<double>(locations["radius_mm"]), std::move(columns));
}

voxridge::DecodingProblem problem_of(const Rcpp::NumericMatrix& X, const Rcpp::List& problem) {
  voxridge::DecodingProblem out;
  out.x = view_of(X);
  const SEXP classes = element(problem, "classes"), values = element(problem, "values");
  if (!Rf_isNull(classes)) {
    out.classes = INTEGER(classes);
    out.n_classes = Rcpp::as<int>(problem["n_classes"]);
  }
  out.values = data_of(values);
  out.folds = folds_in(problem);
  out.partition = problem["partition"];
  return out;
}

voxridge::DecodingOptions options_of(const Rcpp::List& options) {
  voxridge::DecodingOptions out;
  const Rcpp::NumericVector alphas = options["alphas"];
  out.alphas.assign(alphas.begin(), alphas.end());
  if (!Rf_isNull(element(options, "inner"))) {
    const Rcpp::List inner = options["inner"];
    for (R_xlen_t f = 0; f < inner.size(); ++f) out.inner.push_back(folds_in(inner[f]));
  }
  const std::string scale = options["scale"];
  out.scale = scale == "fold"     ? voxridge::VoxelScale::fold
              : scale == "global" ? voxridge::VoxelScale::global
                                  : voxridge::VoxelScale::none;
  out.min_voxels = Rcpp::as<int>(options["min_voxels"]);
  const Rcpp::CharacterVector metrics = options["metrics"];
  for (R_xlen_t m = 0; m < metrics.size(); ++m) out.metrics.push_back(metric_of(Rcpp::as<std::string>(metrics[m])));
  out.n_permutations = Rcpp::as<int>(options["n_permutations"]);
  if (out.n_permutations > 0) {
    out.rows = rows_of(options["rows"]);
    out.rows.stream = 3;
  }
  return out;
}

SEXP array_or_null(bool wanted, const std::vector<R_xlen_t>& dims) {
  return wanted ? new_array(dims, std::vector<SEXP>(dims.size(), R_NilValue)) : R_NilValue;
}

Rcpp::List failures_of(const std::vector<voxridge::DecodingFailureRow>& rows) {
  const R_xlen_t n = static_cast<R_xlen_t>(rows.size());
  Rcpp::IntegerVector location(n), fold(n);
  Rcpp::CharacterVector reason(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    location[i] = rows[i].location < 0 ? NA_INTEGER : static_cast<int>(rows[i].location) + 1;
    fold[i] = rows[i].fold < 0 ? NA_INTEGER : static_cast<int>(rows[i].fold) + 1;
    reason[i] = word_of(rows[i].reason);
  }
  return Rcpp::List::create(Rcpp::Named("location") = location, Rcpp::Named("fold") = fold,
                            Rcpp::Named("reason") = reason);
}

// Whole numbers with a mark for none, as R has it.
void mark_missing(Rcpp::IntegerMatrix x, int mark) {
  std::replace(x.begin(), x.end(), mark, NA_INTEGER);
}

// R's NA in the place of NaN.
void mark_missing(SEXP x) {
  if (Rf_isNull(x)) return;
  double* data = REAL(x);
  for (R_xlen_t i = 0, n = Rf_xlength(x); i < n; ++i) {
    if (ISNAN(data[i])) data[i] = NA_REAL;
  }
}

}  // namespace

// `problem`, `locations` and `options` as R/decode.R makes them: rows, columns and classes are counted from 1.
// [[Rcpp::export]]
Rcpp::List core_decode(const Rcpp::NumericMatrix& X, const Rcpp::List& problem, const Rcpp::List& locations,
                       const Rcpp::List& options, const Rcpp::List& control) {
  const voxridge::DecodingProblem data = problem_of(X, problem);
  const voxridge::DecodingOptions settings = options_of(options);
  const std::unique_ptr<voxridge::Neighbourhoods> where = locations_of(locations, X.ncol());
  const bool classify = data.classes != nullptr, weights = options["weights"];
  const bool keep_predictions = options["keep_predictions"], keep_decision = options["keep_decision"];
  const R_xlen_t k = data.folds.size(), L = where->count(), M = settings.metrics.size(), m = settings.n_permutations;
  const R_xlen_t columns = classify && data.n_classes > 2 ? data.n_classes : 1;
  R_xlen_t H = 0;
  for (const voxridge::Fold& fold : data.folds) H += fold.test.size();
  const std::string kind = locations["kind"];
  const R_xlen_t members = kind == "lists" ? Rf_xlength(locations["voxel"]) : X.ncol();
  const Rcpp::RObject scores = array_or_null(true, {k, L, M}), pooled = array_or_null(true, {L, M}),
                      values = array_or_null(keep_predictions && !classify, {H, L}),
                      decision = array_or_null(keep_decision, {H, columns, L}),
                      alpha = array_or_null(settings.alphas.size() > 1, {k, L}),
                      weight = array_or_null(weights, {members, columns}),
                      fold_weight = array_or_null(weights, {members, columns, k}),
                      pattern = array_or_null(weights, {members, columns}), max_null = array_or_null(m > 0, {m, M}),
                      null_mean = array_or_null(m > 0, {L, M});
  Rcpp::IntegerVector size(L), state(X.ncol());
  Rcpp::IntegerMatrix classes(keep_predictions && classify ? H : 0, L), counts(m > 0 ? L : 0, M),
      max_counts(m > 0 ? L : 0, M);
  voxridge::DecodingOutputs out;
  out.scores = data_of(scores);
  out.pooled = data_of(pooled);
  out.size = size.begin();
  out.voxel_state = state.begin();
  out.classes = keep_predictions && classify ? classes.begin() : nullptr;
  out.values = data_of(values);
  out.decision = data_of(decision);
  out.alpha = data_of(alpha);
  out.weights = data_of(weight);
  out.fold_weights = data_of(fold_weight);
  out.patterns = data_of(pattern);
  out.counts = counts.begin();
  out.max_counts = max_counts.begin();
  out.max_null = data_of(max_null);
  out.null_mean = data_of(null_mean);
  out.n_members = members;
  Session(control).run([&](const voxridge::Control& c) { voxridge::decode(data, *where, settings, out, c); });
  for (const SEXP x : {SEXP(scores), SEXP(pooled), SEXP(values), SEXP(decision), SEXP(alpha), SEXP(weight),
                       SEXP(fold_weight), SEXP(pattern), SEXP(max_null), SEXP(null_mean)}) {
    mark_missing(x);
  }
  mark_missing(classes, 0);
  mark_missing(counts, -1);
  mark_missing(max_counts, -1);
  const auto if_tested = [&](SEXP x) { return m > 0 ? x : R_NilValue; };
  return Rcpp::List::create(
      Rcpp::Named("scores") = scores, Rcpp::Named("pooled") = pooled, Rcpp::Named("size") = size,
      Rcpp::Named("voxel_state") = state, Rcpp::Named("failures") = failures_of(out.failures),
      Rcpp::Named("predictions") = keep_predictions && classify ? static_cast<SEXP>(classes) : SEXP(values),
      Rcpp::Named("decision") = decision, Rcpp::Named("alpha") = alpha, Rcpp::Named("weights") = weight,
      Rcpp::Named("fold_weights") = fold_weight, Rcpp::Named("patterns") = pattern,
      Rcpp::Named("counts") = if_tested(counts), Rcpp::Named("max_counts") = if_tested(max_counts),
      Rcpp::Named("max_null") = max_null, Rcpp::Named("null_mean") = null_mean);
}
