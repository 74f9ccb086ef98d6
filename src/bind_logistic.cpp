// Ridge-penalised logistic regression.
#include <Rcpp.h>

#include <memory>
#include <string>

#include "core/logistic.h"
#include "r_binary.h"
#include "r_session.h"
#include "r_view.h"

using namespace voxridge_r;
using voxridge::LogisticCertificate;

namespace {

voxridge::LogisticRoute route_of(const std::string& word) {
  using voxridge::LogisticRoute;
  for (const LogisticRoute route :
       {LogisticRoute::primal, LogisticRoute::dual, LogisticRoute::rotate, LogisticRoute::batch}) {
    if (voxridge::route_name(route) == word) return route;
  }
  return LogisticRoute::matrix_free;
}

voxridge::LogisticCvOptions options_of(const Rcpp::List& options) {
  voxridge::LogisticCvOptions out;
  out.solver.fit_intercept = options["fit_intercept"];
  out.solver.tol = options["tol"];
  out.solver.max_iterations = options["max_iter"];
  out.solver.keep_history = options["keep_history"];
  out.route = route_of(options["route"]);
  out.standardize = options["standardize"];
  out.scale_per_fold = options["scale_per_fold"];
  out.criterion = binary_score_of(options["criterion"]);
  out.choose =
      Rcpp::as<std::string>(options["choose"]) == "1se" ? voxridge::LambdaChoice::one_se : voxridge::LambdaChoice::min;
  out.local_lambda = options["local_lambda"];
  out.keep_path = options["keep_path"];
  return out;
}

// One number of each certificate, as an array of the given size.
template <class Value>
Rcpp::NumericVector each(const std::vector<LogisticCertificate>& from, R_xlen_t rows, Value value) {
  Rcpp::NumericVector out(Rcpp::no_init(static_cast<R_xlen_t>(from.size())));
  for (size_t i = 0; i < from.size(); ++i) out[i] = static_cast<double>(value(from[i]));
  if (rows > 0) out.attr("dim") = Rcpp::IntegerVector::create(rows, static_cast<int>(from.size()) / rows);
  return out;
}

// `rows`: lambdas, for a matrix of lambdas x targets; 0 for vectors over the targets.
Rcpp::List certificates(const std::vector<LogisticCertificate>& from, R_xlen_t rows, bool with_history) {
  const auto number = [&](double LogisticCertificate::*field) {
    return each(from, rows, [=](const LogisticCertificate& one) { return one.*field; });
  };
  Rcpp::List history;
  for (size_t i = 0; with_history && i < from.size(); ++i) history.push_back(Rcpp::wrap(from[i].history));
  return Rcpp::List::create(
      Rcpp::Named("iterations") = each(from, rows, [](const LogisticCertificate& one) { return one.iterations; }),
      Rcpp::Named("status") =
          each(from, rows, [](const LogisticCertificate& one) { return static_cast<int>(one.status); }),
      Rcpp::Named("loss") = number(&LogisticCertificate::loss),
      Rcpp::Named("objective") = number(&LogisticCertificate::objective),
      Rcpp::Named("gradient") = number(&LogisticCertificate::gradient),
      Rcpp::Named("bound") = number(&LogisticCertificate::bound),
      Rcpp::Named("gap") = number(&LogisticCertificate::gap),
      Rcpp::Named("prob_bound") = number(&LogisticCertificate::probability_bound),
      Rcpp::Named("size") = number(&LogisticCertificate::size),
      Rcpp::Named("margin") = number(&LogisticCertificate::margin), Rcpp::Named("history") = history);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List core_logistic_route(double n, double p, double t) {
  const voxridge::RouteChoice choice =
      voxridge::choose_route(static_cast<int64_t>(n), static_cast<int64_t>(p), static_cast<int64_t>(t));
  return Rcpp::List::create(Rcpp::Named("route") = voxridge::route_name(choice.route),
                            Rcpp::Named("reason") = choice.reason);
}

// `lambdas`: descending, or empty for the default grid of n_lambdas values. `folds`: a list of list(train, test), empty
// without cross-validation. Targets listed in `skip` are NA.
// [[Rcpp::export]]
Rcpp::List core_logistic(const Rcpp::NumericMatrix& X, const Rcpp::NumericMatrix& Y, SEXP offset,
                         const Rcpp::NumericVector& weights, const Rcpp::NumericVector& score_weights, SEXP penalty,
                         const Rcpp::List& folds, const Rcpp::NumericVector& lambdas, int n_lambdas,
                         const Rcpp::IntegerVector& skip, const Rcpp::List& options, const Rcpp::List& control) {
  voxridge::LogisticData data;
  data.x = view_of(X);
  data.y = view_of(Y);
  if (!Rf_isNull(offset)) data.offset = span_of(offset);
  data.weights.assign(weights.begin(), weights.end());
  data.score_weights.assign(score_weights.begin(), score_weights.end());
  if (!Rf_isNull(penalty)) data.penalty.assign(REAL(penalty), REAL(penalty) + X.ncol());
  data.skip = flags_of(skip, Y.ncol());
  const voxridge::LogisticCvOptions settings = options_of(options);
  const Rcpp::List train = folds["train"], test = folds["test"];
  std::vector<voxridge::Fold> parts;
  for (R_xlen_t f = 0; f < test.size(); ++f) parts.push_back({row_list(train[f]), row_list(test[f])});
  const R_xlen_t n = X.nrow(), p = X.ncol(), t = Y.ncol(), k = test.size();
  const R_xlen_t l = lambdas.size() > 0 ? lambdas.size() : n_lambdas;
  const auto array = [](std::vector<R_xlen_t> dims, bool wanted) -> Rcpp::RObject {
    if (!wanted) return R_NilValue;
    const Rcpp::Shield<SEXP> out(new_array(dims, std::vector<SEXP>(dims.size(), R_NilValue)));
    std::fill_n(REAL(out), Rf_xlength(out), NA_REAL);
    return static_cast<SEXP>(out);
  };
  const Rcpp::RObject coefs = array({p, t}, true), predictions = array({n, t}, k > 0), scores = array({k, l, t}, k > 0);
  const Rcpp::RObject mean = array({l, t}, k > 0), se = array({l, t}, k > 0);
  const Rcpp::RObject path_coefs = array({p, l, t}, settings.keep_path), path_b = array({l, t}, settings.keep_path);
  Rcpp::NumericVector intercepts(t, NA_REAL);
  std::vector<int> best(t, -1), best_min(t, -1), best_1se(t, -1);
  voxridge::LogisticOutputs out;
  out.best = best.data();
  out.best_min = best_min.data();
  out.best_1se = best_1se.data();
  out.scores = data_of(scores);
  out.mean = data_of(mean);
  out.se = data_of(se);
  out.predictions = span_of(predictions);
  out.coefs = span_of(coefs);
  out.intercepts = intercepts.begin();
  out.path_coefs = data_of(path_coefs);
  out.path_intercepts = data_of(path_b);
  std::vector<double> penalties(lambdas.begin(), lambdas.end());
  voxridge::Scales scales;
  Session(control).run([&](const voxridge::Control& c) {
    const voxridge::LogisticRidge model(data, std::move(parts), settings, c);
    if (penalties.empty()) penalties = model.default_lambdas(n_lambdas, c);
    model.run(penalties, out, c);
    scales = model.scales();
  });
  return Rcpp::List::create(
      Rcpp::Named("coefs") = coefs, Rcpp::Named("intercept") = intercepts, Rcpp::Named("lambda") = penalties,
      Rcpp::Named("best") = r_places(best), Rcpp::Named("best_min") = r_places(best_min),
      Rcpp::Named("best_1se") = r_places(best_1se), Rcpp::Named("scores") = scores, Rcpp::Named("mean") = mean,
      Rcpp::Named("se") = se, Rcpp::Named("predictions") = predictions, Rcpp::Named("path_coefs") = path_coefs,
      Rcpp::Named("path_intercept") = path_b, Rcpp::Named("center") = scales.mean, Rcpp::Named("scale") = scales.sd,
      Rcpp::Named("path") = certificates(out.certificates, l, settings.solver.keep_history),
      Rcpp::Named("chosen") = certificates(out.chosen, 0, false));
}

// The default grid alone.
// [[Rcpp::export]]
std::vector<double> core_logistic_grid(const Rcpp::NumericMatrix& X, const Rcpp::NumericVector& weights, SEXP penalty,
                                       int n_lambdas, const Rcpp::List& options, const Rcpp::List& control) {
  voxridge::LogisticData data;
  data.x = view_of(X);
  data.weights.assign(weights.begin(), weights.end());
  if (!Rf_isNull(penalty)) data.penalty.assign(REAL(penalty), REAL(penalty) + X.ncol());
  std::vector<double> out;
  const voxridge::LogisticCvOptions settings = options_of(options);
  Session(control).run([&](const voxridge::Control& c) {
    out = voxridge::LogisticRidge(data, {}, settings, c).default_lambdas(n_lambdas, c);
  });
  return out;
}
