#' Ridge regression with one penalty for all targets, chosen by cross-validation
#'
#' Chooses the penalty with the best R2, averaged over folds and targets, and fits ridge regression with it.
#'
#' This is [solve_ridge_cv()] with `local_alpha = FALSE` and `score_func = "r2"`; choose there when targets differ in
#' signal.
#'
#' @inheritParams solve_ridge_cv
#' @param y n x t numeric matrix, rows are samples; or a numeric vector of length n, which is one target and gives
#'   vectors back. No NA.
#' @param alphas Numeric vector of penalties, finite and at least 0; see section Penalty. NULL (the default) is 20
#'   values from 1e-2 to 1e4, log-spaced.
#'
#' @returns A list: `alpha` (one number, a value of `alphas`), `coef` (p x t, or a vector of length p), `cv_scores`
#'   (folds x alphas x targets, or folds x alphas for a vector `y`), `backend` (`"armadillo"` or `"cuda"`), and
#'   `intercept` (one per target) with `fit_intercept = TRUE`.
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [solve_ridge_cv()], see [voxridge-conditions].
#' @section Invariants:
#' The same answer as [solve_ridge_cv()] with `local_alpha = FALSE`. With a single alpha, the same `coef` as
#' [ridge_svd()].
#' @references
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#' @examples
#' data <- simulate_encoding(n = 80, p = 12, t = 5, seed = 1)
#' fit <- ridge_cv(data$X, data$Y, cv = data$runs, n_threads = 2)
#' fit$alpha
#' dim(fit$cv_scores)
#' @export
ridge_cv <- function(X, y, alphas = NULL, cv = 5, fit_intercept = FALSE, device = "cpu", n_threads = NULL,
                     progress = interactive()) {
  call <- rlang::current_env()
  alphas <- if (is.null(alphas)) 10^seq(-2, 4, length.out = 20L) else as_alphas(alphas)
  options <- list(
    local_alpha = FALSE, conservative = FALSE, n_targets_batch = 0L, n_targets_batch_refit = 0L, n_alphas_batch = 0L,
    coefs = "primal", cv_scores = "all"
  )
  backend <- solver_backend(device, call = call)
  design <- as_design(X, setting(cv, !missing(cv)), setting(fit_intercept, !missing(fit_intercept)), call,
                      stream = TRUE)
  targets <- as_targets(y, nrow(design$X), arg = "y", call = call, stream = TRUE)
  fit <- search_ridge(design, targets, alphas, as_score("r2"), options, backend, n_threads, progress, call)
  out <- list(alpha = unname(fit$best_alphas[1L]), coef = fit$coefs, cv_scores = fit$cv_scores, backend = fit$backend)
  out$intercept <- fit$intercept
  out
}
