#' Fit banded ridge regression: a penalty per feature space and target
#'
#' Chooses the weight of each feature space and the penalty per target by cross-validation, fits ridge regression with
#' them, and returns a model with the usual verbs.
#'
#' This is [solve_banded_ridge_cv()] with defaults for people: an intercept, and a grid of penalties in units of the
#' data. The object has everything the solver returns, under the same names, so that [r2_split()] and [r2_unique()] take
#' it.
#'
#' @inheritSection solve_ridge_cv Scores
#' @inheritParams solve_banded_ridge_cv
#' @inheritParams fit_ridge
#' @param alphas Numeric vector of penalties, finite and at least 0, in any order; see section Penalty. The default is
#'   [alpha_grid()] of the bands side by side.
#' @param cv Folds: a number (contiguous blocks), a label per sample (its run), a list of held-out rows, a list of
#'   `list(train =, test =)`, an rsample object, `"loo"` or `"gcv"`. See [cv_folds()]. The default is 5 blocks.
#' @param fit_intercept TRUE (the default) to fit an unpenalised intercept per target, FALSE for none.
#' @param keep `"data"` (the default) keeps the features and `Y` in the object, for `fitted()`, `residuals()`,
#'   `augment()` and [null_scores()]: the matrices of a list are not copied, a matrix with `bands` is kept as the list
#'   of its bands. `"none"` keeps nothing. Dual coefficients always keep the features.
#' @param ... Further arguments of [solve_banded_ridge_cv()], by name: `n_iter`, `concentration`, `seed`, `local_alpha`,
#'   `return_coefs`, `na_targets`, `n_threads`, `progress` and others.
#'
#' @returns An object of class `voxridge_banded_ridge` and `voxridge_fit`: a plain list that can be saved and sent to
#'   other processes. It has the elements of [solve_banded_ridge_cv()] (`deltas`, `cv_scores`, `backend`, `coefs`,
#'   `intercept`, `gammas`, `best_alphas`, `penalties`, `candidates`, `bands`, `diagnostics`), and those of
#'   [fit_ridge()]; `data` is a list of `Xs` (a named list of matrices) and `Y`, or NULL. `scores` are those of the
#'   chosen candidate at its chosen penalty.
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [solve_banded_ridge_cv()]; `voxridge_error_argument` for an argument in `...` that the solver does not know.
#' A warning `voxridge_warning_alpha_at_edge` is given when over 5 % of the targets chose an end of the grid; of
#' the default grid, only the smallest value, and only where there are at least as many features as samples. See
#' [voxridge-conditions].
#' @section Invariants:
#' The answer is that of [solve_banded_ridge_cv()], field by field. One band is [fit_ridge()].
#' @references
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#'
#' Nunez-Elizalde, A. O., Huth, A. G., Gallant, J. L. (2019). Voxelwise encoding models with non-spherical multivariate
#' normal priors. NeuroImage 197, 482-492. \doi{10.1016/j.neuroimage.2019.04.012}
#' @seealso [fit_ridge()] for one penalty per target, [r2_split()] and [r2_unique()] for what each band explains.
#' @examples
#' data <- simulate_encoding(n = 100, p = 30, t = 5, n_bands = 2, seed = 1)
#' fit <- fit_banded_ridge(data$Xs, data$Y, cv = data$runs, n_iter = 10, seed = 1, n_threads = 2)
#' fit
#' tidy(fit, "bands")
#' @export
fit_banded_ridge <- function(Xs, Y, bands = NULL, alphas = alpha_grid(Xs), cv = 5, score_func = "r2",
                             fit_intercept = TRUE, keep = c("data", "none"), ...) {
  call <- rlang::current_env()
  started <- proc.time()[["elapsed"]]
  dots <- as_solver_dots(list(...), list(solve_banded_ridge_cv = solve_banded_ridge_cv),
                         list(fit_banded_ridge = fit_banded_ridge), call)
  settings <- list(
    score = as_score(score_func, call),
    score_fun = if (is.function(score_func)) score_func,
    standardize = FALSE,
    coef_form = as_coef_form(dots, call),
    keep = as_keep(keep, call),
    mask = target_mask(Y),
    started = started
  )
  default_grid <- missing(alphas)
  Xs <- as_bands(Xs, bands, call)
  design <- band_design(Xs, cv, fit_intercept, call)
  targets <- as_target_matrix(Y, design$n, call = call, arg_x = "Xs", stream = TRUE)
  if (default_grid) alphas <- run_core(alpha_grid(Xs), call)
  settings$alphas <- as_alphas(alphas)
  if (!targets$is_vector) Y <- targets$Y
  solved <- without_edge_warning(run_core(
    rlang::inject(solve_banded_ridge_cv(Xs, Y, alphas = settings$alphas, cv = cv, score_func = score_func,
                                        fit_intercept = fit_intercept, !!!dots)),
    call
  ))
  design <- c(design, list(p = sum(Xs$sizes), features = Xs$features))
  warn_fit_at_edge(solved, settings$alphas, design, ncol(targets$Y), default_grid, "Xs")
  data <- list(Xs = stats::setNames(Xs$Xs, Xs$names), Y = targets$Y)
  new_voxridge_fit("banded_ridge", solved, design, targets, data, settings)
}
