# The logistic cases: two classes, an L2 penalty. Each entry is one comparison (cases.R).
#
# `n_alphas` counts lambdas here, and `lambda` replaces the grid by one. All cases run with one thread: glmnet has no
# more, and what the peers do at these sizes is mostly products of a matrix and a vector, which gain little from more.

logistic_case <- function(..., t = 1, n_alphas = 50, folds = 5, spectra = "white", more = list()) {
  benchmark_case(..., t = t, n_alphas = n_alphas, folds = folds, spectra = spectra,
    more = c(list(model = "logistic", threads = 1), more))
}

benchmark_cases <- function() {
  cv_glmnet <- function(..., ours = "logistic_cv") {
    logistic_case(..., ours = ours, peer = "glmnet_logistic_cv", peer_label = "glmnet cv.glmnet")
  }
  cv_sklearn <- function(..., label = NULL, options) {
    logistic_case(..., ours = "logistic_cv", peer = "sklearn_logistic_cv",
      peer_label = paste0("scikit-learn LogisticRegressionCV", label), peer_options = options)
  }
  # one penalty; scikit-learn takes one target after the other
  one <- function(..., lambda, repeats = 5) {
    logistic_case(..., ours = "logistic_fit", n_alphas = 1, folds = 1, more = list(lambda = lambda, repeats = repeats))
  }
  one_sklearn <- function(..., solver) {
    one(..., peer = "sklearn_logistic", peer_label = paste("scikit-learn LogisticRegression,", solver),
      peer_options = list(setting = paste0("solver=", solver)))
  }

  # fits of a few milliseconds are repeated more often
  wide_one <- function(lambda, solver, wanted) {
    wide(one_sklearn, paste0("logistic-wide-one-", lambda), paste("lambda =", lambda), lambda = lambda,
      solver = solver, wanted = wanted, repeats = 15)
  }
  small_one <- function(solver, wanted = NA) {
    small(one_sklearn, "logistic-small-one", "lambda = 0.02", lambda = 0.02, solver = solver, wanted = wanted,
      repeats = 51)
  }
  wide <- function(case, id, what, ...) {
    case(id, paste("logistic, more features than samples,", what), ..., n = 200, p = 20000,
      quick = list(n = 80, p = 400))
  }
  small <- function(case, id, what, ...) {
    case(id, paste("logistic, more samples than features,", what), ..., n = 1000, p = 50, spectra = both,
      quick = list(n = 150, p = 10))
  }
  many <- function(case, id, lambda, ...) {
    case(id, sprintf("logistic, 50 targets, lambda = %g", lambda), ..., lambda = lambda, n = 2000, p = 500, t = 50,
      quick = list(n = 200, p = 30, t = 10))
  }
  many_wide <- function(id, lambda) {
    one(id, sprintf("logistic, more features than samples, 50 targets, lambda = %g", lambda), lambda = lambda,
      n = 200, p = 20000, t = 50, peer = "ours_dual", peer_label = "voxridge, solver = \"dual\"", wanted = 2,
      quick = list(n = 60, p = 300, t = 10))
  }
  cv <- "5 folds x 50 lambdas"
  list(
    wide(cv_glmnet, "logistic-wide-cv", cv, wanted = 30),
    wide(cv_glmnet, "logistic-wide-cv-fold", paste0(cv, ", scaled in every fold"), ours = "logistic_cv_fold",
      ours_label = "voxridge, fold_scaling = \"fold\""),
    wide(cv_sklearn, "logistic-wide-cv", cv, options = list(solvers = c("lbfgs", "newton-cg")), wanted = 50),
    # with the default tolerance the scores are off by more than neighbouring penalties differ
    wide(cv_sklearn, "logistic-wide-cv", cv, label = ", lbfgs, tol = 1e-6",
      options = list(setting = "solver=lbfgs", tol = 1e-6), wanted = 50),
    wide(logistic_case, "logistic-wide-path", "path of 50 lambdas", folds = 1, output = "path", wanted = 15,
      ours = "logistic_path", peer = "glmnet_logistic_path", peer_label = "glmnet"),
    # near the penalty that cross-validation chooses, and one that leaves little of the fit
    wide_one(1, "lbfgs", wanted = 3),
    wide_one(1, "newton-cg", wanted = 6),
    wide_one(100, "lbfgs", wanted = 3),
    wide_one(100, "newton-cg", wanted = 6),

    # many targets: near the best penalty, and with next to none, where the shared bound on the curvatures is loose
    many(one, "logistic-many-0.05", 0.05, peer = "ours_each_target", peer_label = "voxridge, target by target",
      wanted = 15),
    many(one_sklearn, "logistic-many-0.05", 0.05, solver = "newton-cholesky"),
    many(one, "logistic-many-0.001", 0.001, peer = "ours_each_target", peer_label = "voxridge, target by target"),
    many(one_sklearn, "logistic-many-0.001", 0.001, solver = "newton-cholesky"),
    many_wide("logistic-many-wide-1", 1),
    many_wide("logistic-many-wide-10", 10),

    small(cv_glmnet, "logistic-small-cv", cv, wanted = 1),
    small(cv_sklearn, "logistic-small-cv", cv,
      options = list(solvers = c("newton-cholesky", "lbfgs", "newton-cg")), wanted = 1),
    small_one("newton-cholesky", wanted = 1),
    small_one("lbfgs")
  )
}
