// The bootstrap of ridge regression.
#include <Rcpp.h>

#include "core/bootstrap.h"
#include "r_session.h"
#include "r_view.h"

using namespace voxridge_r;

namespace {

// `draws`: n_boot, block (counted from 1), seed, resamples.
voxridge::ResamplePlan plan_of(const Rcpp::List& draws, int n) {
  voxridge::ResamplePlan out;
  out.n = n;
  out.n_boot = Rcpp::as<int>(draws["n_boot"]);
  out.seed = static_cast<uint64_t>(Rcpp::as<double>(draws["seed"]));
  if (!Rf_isNull(draws["block"])) {
    const Rcpp::IntegerVector block(static_cast<SEXP>(draws["block"]));
    out.block.assign(block.begin(), block.end());
    for (int& b : out.block) --b;
  }
  if (!Rf_isNull(draws["resamples"])) {
    const Rcpp::IntegerMatrix given(static_cast<SEXP>(draws["resamples"]));
    out.given = {INTEGER(given), given.nrow(), given.ncol(), given.nrow()};
  }
  return out;
}

}  // namespace

// The rows of resamples 1 .. n_boot as they are drawn, from 1: a row each, of n draws (blocks of equal size).
// [[Rcpp::export]]
Rcpp::IntegerMatrix core_bootstrap_rows(const Rcpp::List& draws, int n) {
  const voxridge::Resamples resamples(plan_of(draws, n));
  Rcpp::IntegerMatrix out(static_cast<int>(resamples.n_boot()), n);
  for (int b = 0; b < out.nrow(); ++b) {
    const voxridge::RowList rows = resamples.drawn(b + 1);
    for (int i = 0; i < n && i < static_cast<int>(rows.size()); ++i) out(b, i) = static_cast<int>(rows[i]) + 1;
  }
  return out;
}

// `options`: fit_intercept, lower, upper, reach, samples, names (outputs, targets). `X_new` is NULL for weights.
// [[Rcpp::export]]
Rcpp::List core_bootstrap_ridge(const Rcpp::NumericMatrix& X, const Rcpp::NumericMatrix& Y, SEXP X_new,
                                const Rcpp::NumericVector& alphas, const Rcpp::List& draws, const Rcpp::List& options,
                                const Rcpp::List& control) {
  voxridge::BootstrapModel model;
  model.x = view_of(X);
  model.x_new = span_of(X_new);
  model.intercept = options["fit_intercept"];
  model.alphas.assign(alphas.begin(), alphas.end());
  const voxridge::ResamplePlan plan = plan_of(draws, X.nrow());
  const voxridge::IntervalRule rule{options["lower"], options["upper"], options["reach"]};
  const Rcpp::List names = options["names"];
  const R_xlen_t rows = model.outputs(), n_boot = plan.n_boot;
  const auto matrix = [&] {
    return new_array({rows, Y.ncol()}, {element(names, "outputs"), element(names, "targets")});
  };
  const Rcpp::RObject estimate = matrix(), mean = matrix(), sd = matrix(), z = matrix(), lower = matrix(),
                      upper = matrix();
  Rcpp::RObject samples = R_NilValue;
  if (Rcpp::as<bool>(options["samples"])) {
    samples = new_array({n_boot, rows, Y.ncol()}, {R_NilValue, element(names, "outputs"), element(names, "targets")});
  }
  voxridge::BootstrapOutputs out{span_of(estimate), span_of(mean),  span_of(sd),     span_of(z),
                                 span_of(lower),    span_of(upper), data_of(samples)};
  Session(control).run(
      [&](const voxridge::Control& c) { voxridge::bootstrap_ridge(model, view_of(Y), plan, rule, out, c); });
  return Rcpp::List::create(Rcpp::Named("estimate") = estimate, Rcpp::Named("mean") = mean, Rcpp::Named("sd") = sd,
                            Rcpp::Named("z") = z, Rcpp::Named("lower") = lower, Rcpp::Named("upper") = upper,
                            Rcpp::Named("samples") = samples,
                            Rcpp::Named("rank_deficient") = static_cast<double>(out.deficient),
                            Rcpp::Named("passes") = static_cast<double>(out.passes));
}
