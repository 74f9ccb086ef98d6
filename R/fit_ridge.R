#' Fit ridge regression with a penalty per target
#'
#' Chooses a penalty per target by cross-validation, fits ridge regression with it, and returns a model with the usual
#' verbs.
#'
#' This is [solve_ridge_cv()] with defaults for people: an intercept, and a grid of penalties in units of the data. The
#' object has everything the solver returns, under the same names.
#'
#' With `standardize = TRUE` each column of `X` is divided by its standard deviation (divisor: number of rows minus 1)
#' over the training rows of a fold, for that fold, and over all rows for the final fit: held-out rows influence neither
#' the model that predicts them nor its scale. Columns that are constant in the training rows are left as they are.
#' Penalties are then in units of the standardised features. Coefficients are for `X` as it was given.
#'
#' @inheritSection solve_ridge_cv Scores
#' @inheritParams solve_ridge_cv
#' @param X n x p numeric matrix, rows are samples, no NA; or the result of [prepare_ridge()], whose folds and intercept
#'   are then used. Integer and logical matrices and data frames of numeric columns are converted (one copy).
#' @param alphas Numeric vector of penalties, finite and at least 0, in any order; see section Penalty. The default is
#'   [alpha_grid()] of `X`, or of the standardised `X`.
#' @param cv Folds: a number (contiguous blocks), a label per sample (its run), a list of held-out rows, a list of
#'   `list(train =, test =)`, an rsample object, `"loo"` or `"gcv"`. See [cv_folds()]. The default is 5 blocks, or the
#'   folds of a prepared `X`.
#' @param fit_intercept TRUE (the default) to fit an unpenalised intercept per target, FALSE for none. The default for a
#'   prepared `X` is what it was prepared with.
#' @param standardize TRUE to divide the columns of `X` by their standard deviation over the training rows; see Details.
#'   FALSE (the default) takes them as they are. Not with `cv = "loo"` or `"gcv"`, a prepared `X` or dual coefficients.
#' @param keep `"data"` (the default) keeps `X` and `Y` in the object, without copying them, for `fitted()`,
#'   `residuals()`, `augment()` and [null_scores()]; `"none"` does not. Dual coefficients always keep `X`.
#' @param ... Further arguments of [solve_ridge_cv()], by name: `local_alpha`, `conservative`, `return_coefs`,
#'   `return_cv_scores`, `na_targets`, `precision`, `device`, `n_threads`, `progress` and others.
#'
#' @returns An object of class `voxridge_ridge` and `voxridge_fit`: a plain list that can be saved and sent to other
#'   processes. It has the elements of [solve_ridge_cv()] (`best_alphas`, `coefs`, `cv_scores`, `backend`, `intercept`,
#'   `diagnostics`, here with `seconds`), and
#' * `scores`: numeric, t; mean held-out score at the chosen penalty (NULL with `return_cv_scores = "none"`).
#' * `alphas`: the grid; `score_func`: the score as a word, `"user"` for a function, which is then `score_fun`.
#' * `folds`: a list of `kind` (`"kfold"`, `"loo"`, `"gcv"`), `n` (number of folds), `labels`, `id` (fold in which each
#'   sample is held out), `train` and `test` (rows, a vector per fold), `partition`.
#' * `dims`: n, p and t; `features`, `targets`: their names, or NULL; `is_vector`: whether `Y` was a vector.
#' * `fit_intercept`, `standardize`, `coef_form` (`"primal"`, `"dual"` or `"none"`).
#' * `mask`: the brain mask that `Y` carries as its attribute `mask`, or NULL.
#' * `data`: a list of `X` and `Y` (matrices), or NULL.
#'
#' Verbs: [print()], [summary()], [coef()], [predict()], [fitted()], [residuals()] (see [voxridge_fit]), [score()],
#' [tidy()], [glance()], [augment()] (see [tidy.voxridge_fit()]), [null_scores()].
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [solve_ridge_cv()]; `voxridge_error_argument` for an argument in `...` that the solver does not know;
#' `voxridge_error_conflict` for `standardize = TRUE` with what it does not go with. A warning
#' `voxridge_warning_alpha_at_edge` is given when over 5 % of the targets chose an end of the grid; of
#' the default grid, only the smallest value, and only where there are at least as many features as samples. See
#' [voxridge-conditions].
#' @section Invariants:
#' The answer is that of [solve_ridge_cv()], field by field. With `standardize = TRUE`, scaling a column of `X` by a
#' scales its coefficients by 1 / a and changes nothing else.
#' @references
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#'
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#' @seealso [fit_banded_ridge()] for a penalty per feature space, [solve_ridge_cv()] for the plain list.
#' @examples
#' data <- simulate_encoding(n = 100, p = 12, t = 5, seed = 1)
#' train <- data$runs != 4
#' fit <- fit_ridge(data$X[train, ], data$Y[train, ], cv = data$runs[train], n_threads = 2)
#' fit
#' score(fit, data$X[!train, ], data$Y[!train, ])
#' @export
fit_ridge <- function(X, Y, alphas = alpha_grid(X), cv = 5, score_func = "r2", fit_intercept = TRUE,
                      standardize = FALSE, keep = c("data", "none"), ...) {
  call <- rlang::current_env()
  started <- proc.time()[["elapsed"]]
  dots <- as_solver_dots(list(...), list(solve_ridge_cv = solve_ridge_cv), list(fit_ridge = fit_ridge), call)
  settings <- list(
    score = as_score(score_func, call),
    score_fun = if (is.function(score_func)) score_func,
    standardize = as_flag(standardize),
    coef_form = as_coef_form(dots, call),
    keep = as_keep(keep, call),
    mask = target_mask(Y),
    started = started
  )
  default_grid <- missing(alphas)
  design <- ridge_design(X, setting(cv, !missing(cv)), setting(fit_intercept, !missing(fit_intercept)), call)
  if (settings$standardize) check_standardize(design, settings$coef_form, call)
  X <- design$X
  targets <- as_target_matrix(Y, nrow(X), call = call, stream = TRUE)
  if (default_grid) {
    alphas <- run_core(alpha_grid(if (settings$standardize) standardized(as_features(X)) else X), call)
  }
  settings$alphas <- as_alphas(alphas)
  solved <- without_edge_warning(if (settings$standardize) {
    solve_standardized(design, Y, settings$alphas, score_func, dots, call)
  } else {
    solve_design(design, if (targets$is_vector) Y else targets$Y, settings$alphas, score_func, dots, call)
  })
  warn_fit_at_edge(solved, settings$alphas, design, ncol(targets$Y), default_grid, "X")
  new_voxridge_fit("ridge", solved, design, targets, list(X = X, Y = targets$Y), settings)
}

# list(X, folds, fit_intercept, prepared, n, p, features): as as_design(), but X is not yet checked for missing values.
ridge_design <- function(X, cv, fit_intercept, call) {
  design <- if (inherits(X, "voxridge_prepared")) {
    prepared_design(X, cv, fit_intercept, call)
  } else {
    X <- as_double_matrix(X, call = call)
    list(
      X = X,
      folds = as_folds(cv$value, nrow(X), call = call),
      fit_intercept = as_flag(fit_intercept$value, arg = "fit_intercept", call = call),
      prepared = NULL
    )
  }
  c(design, list(cv = cv$value, n = nrow(design$X), p = ncol(design$X), features = colnames(design$X)))
}

# The solver, with its errors shown as the user's. A prepared X has its folds and its intercept.
solve_design <- function(design, Y, alphas, score_func, dots, call) {
  X <- design$prepared %||% design$X
  if (is.null(design$prepared)) dots <- c(design[c("cv", "fit_intercept")], dots)
  run_core(rlang::inject(solve_ridge_cv(X, Y, alphas = alphas, score_func = score_func, !!!dots)), call)
}

# ---- features scaled anew in every fold ------------------------------------------------------

check_standardize <- function(design, coef_form, call) {
  problem <- if (!is.null(design$prepared)) {
    c("with an {.arg X} that is prepared", "It is scaled anew in every fold: pass the matrix.")
  } else if (design$folds$kind != "kfold") {
    c(sprintf("with {.code cv = \"%s\"}", design$folds$kind), "Scales are those of training rows: use folds.")
  } else if (coef_form == "dual") {
    c("with {.code return_coefs = \"dual\"}", "Dual coefficients belong to the features as they are.")
  }
  if (is.null(problem)) return(invisible(design))
  abort(c(paste0("{.arg standardize} must be FALSE ", problem[1L], "."), i = problem[2L]), "conflict", call = call)
}

# Standard deviations of the columns; 1 where a column is constant.
column_scales <- function(X) {
  scales <- sqrt(centred_squares(X) / max(1, nrow(X) - 1))
  scales[scales == 0] <- 1
  scales
}

standardized <- function(X, scales = column_scales(X)) X / rep(scales, each = nrow(X))

# What solve_ridge_cv() answers, from one search per fold on features scaled by its training rows.
solve_standardized <- function(design, Y, alphas, score_func, dots, call) {
  X <- as_features(design$X, call = call)
  na_targets <- as_choice(given_or(dots, "na_targets", "error"), c("error", "skip"), arg = "na_targets", call = call)
  targets <- as_targets(Y, design$n, na_targets, call = call)
  score <- as_score(score_func, call)
  plan <- standardized_plan(dots, call)
  folds <- design$folds
  check_whole_runs(folds, list(X = X, Y = targets$Y), call)
  check_score_folds(score, folds, call)
  check_conservative(plan, folds, call)
  check_search_memory(design, targets, length(alphas), utils::modifyList(plan, list(cv_scores = "all")), call)

  inner <- dots[setdiff(names(dots), c("local_alpha", "conservative", "return_coefs", "return_cv_scores"))]
  scores <- array(NA_real_, c(n_folds(folds), length(alphas), ncol(targets$Y)))
  constant <- integer()
  for (f in seq_along(folds$test)) {
    rows <- folds[c("train", "test")]
    one <- list(X = standardized(X, column_scales(X[folds$train[[f]], , drop = FALSE])),
                cv = list(lapply(rows, `[[`, f)), fit_intercept = design$fit_intercept)
    searched <- solve_design(one, targets$Y, alphas, score_func, c(inner, list(return_coefs = "none")), call)
    scores[f, , ] <- searched$cv_scores
    constant <- union(constant, unname(searched$diagnostics$constant_targets))
  }
  means <- fold_moments(n_folds(folds), function(f) matrix(scores[f, , ], length(alphas)))$mean
  index <- choose_alphas(means, scores, alphas, plan, targets$skip)
  fitted <- fit_standardized(X, targets, alphas[index], design$fit_intercept, plan, inner, call)
  raw <- c(fitted, list(
    alpha_index = index,
    cv_scores = switch(plan$cv_scores, all = scores, mean = means),
    constant_targets = sort(constant),
    info = searched$diagnostics$info
  ))
  options <- c(plan["coefs"], list(names = result_names(design, targets)))
  finish_search(raw, options, targets, alphas, list(name = searched$backend))
}

standardized_plan <- function(dots, call) {
  search_options(
    local_alpha = given_or(dots, "local_alpha", TRUE), conservative = given_or(dots, "conservative", FALSE),
    n_targets_batch = NULL, n_targets_batch_refit = NULL, n_alphas_batch = NULL,
    return_coefs = as_coef_form(dots, call),
    return_cv_scores = given_or(dots, "return_cv_scores", "all"), call = call
  )
}

# list(mean, spread) over folds of score_of(fold), numbers or a matrix of them: running sums as the core has them
# (Welford). A score of minus infinity in any fold is one over all.
fold_moments <- function(n, score_of) {
  mean <- score_of(1L)
  squares <- 0 * is.na(mean)
  for (f in seq_len(n)[-1L]) {
    one <- score_of(f)
    infinite <- which(is.infinite(mean) | is.infinite(one))
    lower <- pmin(mean, one)[infinite]
    step <- one - mean
    mean <- mean + step / f
    more <- step * (one - mean)
    mean[infinite] <- lower
    more[infinite] <- 0
    squares <- squares + more
  }
  list(mean = mean, spread = sqrt(squares / n))
}

# Positions of the chosen penalties: the best mean, ties to the larger penalty; NA for skipped targets. `means`: alphas
# x targets, `scores`: [folds, alphas, targets].
choose_alphas <- function(means, scores, alphas, plan, skip) {
  index <- rep(NA_integer_, ncol(means))
  counted <- setdiff(seq_along(index), skip)
  if (!length(counted)) return(index)
  descending <- order(alphas, decreasing = TRUE, method = "radix")
  first_largest <- function(x) descending[max.col(t(x[descending, , drop = FALSE]), "first")]
  ranked <- means[, counted, drop = FALSE]
  if (!plan$local_alpha) ranked <- matrix(rowMeans(ranked))
  best <- first_largest(ranked)
  if (plan$conservative) {
    spread <- fold_moments(nrow(scores), function(f) scores[cbind(f, best, counted)])$spread
    bound <- ranked[cbind(best, seq_along(counted))] - spread
    largest <- first_largest(ranked > rep(bound, each = length(alphas)))
    within <- ranked[cbind(largest, seq_along(counted))] > bound & alphas[largest] > alphas[best]
    best[within] <- largest[within]
  }
  index[counted] <- best
  index
}

# list(coefs, intercept) on all samples, for the features as they were given.
fit_standardized <- function(X, targets, alphas, fit_intercept, plan, dots, call) {
  if (plan$coefs == "none") return(list(coefs = NULL, intercept = NULL))
  scales <- column_scales(X)
  backend <- backend_for(given_or(dots, "device", "cpu"), given_or(dots, "precision", "double"), call)
  options <- list(
    fit_intercept = fit_intercept, coefs = "primal", single = backend$precision == "single", skip = targets$skip,
    names = list(features = colnames(X), targets = targets$names)
  )
  alphas[targets$skip] <- 1
  control <- core_control(given_or(dots, "n_threads", NULL), call = call)
  raw <- run_core(core_ridge_fit(standardized(X, scales), targets$Y, alphas, options, control), call)
  list(coefs = raw$coefs / scales, intercept = raw$intercept)
}
