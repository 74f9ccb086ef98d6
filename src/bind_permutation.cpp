// Permutation tests.
#include <Rcpp.h>

#include <string>

#include "core/permutation.h"
#include "core/permutation_maps.h"
#include "core/permutation_sequential.h"
#include "r_rows.h"
#include "r_session.h"
#include "r_view.h"

using namespace voxridge_r;

namespace {

voxridge::PermutationStatistic statistic_of(const std::string& word) {
  using voxridge::PermutationStatistic;
  if (word == "welch") return PermutationStatistic::welch;
  if (word == "correlation") return PermutationStatistic::correlation;
  return word == "f" ? PermutationStatistic::f : PermutationStatistic::t;
}

voxridge::ColumnDesign design_of(const Rcpp::List& design) {
  voxridge::ColumnDesign out;
  out.statistic = statistic_of(design["statistic"]);
  out.mu = design["mu"];
  out.ranks = design["ranks"];
  out.nuisance = span_of(design["nuisance"]);
  out.x = span_of(design["x"]);
  out.paired = span_of(design["paired"]);
  out.df = design["df"];
  out.estimate_scale = design["scale"];
  out.first = flags(design["first"]);
  return out;
}

voxridge::MapRule rule_of(const Rcpp::List& maps) {
  const std::string kind = maps["kind"];
  voxridge::MapRule out;
  out.statistic = kind == "tfce"     ? voxridge::MapStatistic::tfce
                  : kind == "extent" ? voxridge::MapStatistic::extent
                                     : voxridge::MapStatistic::mass;
  out.E = maps["E"];
  out.H = maps["H"];
  out.threshold = maps["threshold"];
  out.upper = maps["upper"];
  out.lower = maps["lower"];
  out.correlation_df = maps["correlation_df"];
  return out;
}

voxridge::Neighbours neighbours_in(const Rcpp::NumericVector& dim, const Rcpp::NumericVector& index, int connectivity) {
  std::vector<int64_t> position(index.begin(), index.end());  // counted from 1
  for (int64_t& at : position) --at;
  const auto size = [&](int axis) { return static_cast<int64_t>(dim[axis]); };
  return voxridge::neighbours_of({size(0), size(1), size(2)}, position, connectivity);
}

Rcpp::List run_maps(const voxridge::PermutationTest& test, const Rcpp::List& maps, voxridge::PermutationOutputs& out,
                    const Rcpp::List& control) {
  const voxridge::MapRule rule = rule_of(maps);
  const bool tfce = rule.statistic == voxridge::MapStatistic::tfce;
  const int v = static_cast<int>(test.y.cols);
  Rcpp::NumericVector map(v), enhanced(tfce ? v : 0), maximum(test.n_permutations);
  Rcpp::IntegerVector label(tfce ? 0 : v), counts(tfce ? v : 0);
  voxridge::MapOutputs to;
  to.map = map.begin();
  to.label = label.begin();
  to.enhanced = enhanced.begin();
  to.counts = counts.begin();
  to.maximum = maximum.begin();
  const voxridge::Neighbours neighbours =
      neighbours_in(maps["dim"], maps["index"], Rcpp::as<int>(maps["connectivity"]));
  Session(control).run([&](const voxridge::Control& c) { voxridge::run_map_test(test, rule, neighbours, out, to, c); });
  return Rcpp::List::create(Rcpp::Named("map") = map, Rcpp::Named("label") = label, Rcpp::Named("enhanced") = enhanced,
                            Rcpp::Named("counts") = counts, Rcpp::Named("maximum") = maximum);
}

}  // namespace

// How many rearrangements there are.
// [[Rcpp::export]]
double core_permutations_possible(const Rcpp::List& rows) {
  return voxridge::PermutationRows(rows_of(rows)).possible();
}

// Rearrangements 1 .. m, one a row, as the tests draw them: signs, members of the first group (1, 0), or places from 1.
// [[Rcpp::export]]
Rcpp::IntegerMatrix core_permutation_rows(const Rcpp::List& rows, int m) {
  const voxridge::PermutationRows made(rows_of(rows));
  Rcpp::IntegerMatrix out(m, static_cast<int>(made.n()));
  std::vector<char> on(made.n());
  std::vector<int> from(made.n());
  for (int r = 0; r < m; ++r) {
    if (made.kind() == voxridge::Rearrangement::orders) made.order(r, from.data());
    if (made.kind() == voxridge::Rearrangement::flips) made.flips(r, on.data());
    if (made.kind() == voxridge::Rearrangement::labels) made.labels(r, on.data());
    for (int i = 0; i < out.ncol(); ++i) {
      out(r, i) = made.kind() == voxridge::Rearrangement::orders  ? from[i] + 1
                  : made.kind() == voxridge::Rearrangement::flips ? 1 - 2 * on[i]
                                                                  : on[i];
    }
  }
  return out;
}

// `design` and `rows` as R/permutation.R makes them; `options`: n_permutations, absolute, negate, batch, keep_null,
// sequential (0: no), maps (NULL, or what rule_of() and the neighbours need).
// [[Rcpp::export]]
Rcpp::List core_permutation_test(const Rcpp::NumericMatrix& Y, const Rcpp::List& design, const Rcpp::List& rows,
                                 const Rcpp::List& options, const Rcpp::List& control) {
  voxridge::PermutationTest test;
  test.y = view_of(Y);
  test.design = design_of(design);
  test.rows = rows_of(rows);
  test.sums = design["sums"];
  test.n_fixed = Rcpp::as<int>(design["n_fixed"]);
  test.absolute = options["absolute"];
  test.negate = options["negate"];
  test.n_permutations = Rcpp::as<int>(options["n_permutations"]);
  test.batch = Rcpp::as<int>(options["batch"]);
  const int v = Y.ncol(), m = static_cast<int>(test.n_permutations);
  const bool own_df = test.design.statistic == voxridge::PermutationStatistic::welch;
  Rcpp::NumericVector statistic(v), estimate(v), df(own_df ? v : 0), maximum(m);
  Rcpp::IntegerVector state(v), counts(v), maximum_counts(v);
  Rcpp::RObject null = R_NilValue;
  if (Rcpp::as<bool>(options["keep_null"])) {
    null = Rcpp::Shield<SEXP>(new_array({m, v}, {R_NilValue, R_NilValue}));
    std::fill_n(REAL(null), Rf_xlength(null), NA_REAL);
  }
  voxridge::PermutationOutputs out;
  out.statistic = statistic.begin();
  out.estimate = estimate.begin();
  if (own_df) out.df = df.begin();
  out.state = state.begin();
  out.counts = counts.begin();
  out.maximum_counts = maximum_counts.begin();
  out.maximum = maximum.begin();
  out.null = data_of(null);
  const int64_t h = Rcpp::as<int>(options["sequential"]);
  Rcpp::IntegerVector draws(h > 0 ? v : 0);
  Rcpp::RObject maps = R_NilValue;
  if (!Rf_isNull(options["maps"])) {
    maps = run_maps(test, Rcpp::List(static_cast<SEXP>(options["maps"])), out, control);
  } else {
    Session(control).run([&](const voxridge::Control& c) {
      h > 0 ? voxridge::run_sequential_test(test, h, out, draws.begin(), c)
            : voxridge::run_permutation_test(test, out, c);
    });
  }
  return Rcpp::List::create(Rcpp::Named("statistic") = statistic, Rcpp::Named("estimate") = estimate,
                            Rcpp::Named("df") = df, Rcpp::Named("state") = state, Rcpp::Named("counts") = counts,
                            Rcpp::Named("maximum_counts") = maximum_counts, Rcpp::Named("maximum") = maximum,
                            Rcpp::Named("null") = null, Rcpp::Named("draws") = draws, Rcpp::Named("maps") = maps,
                            Rcpp::Named("degenerate") = static_cast<double>(out.degenerate));
}
