#' Ridge regression with given penalties
#'
#' Coefficients of ridge regression without an intercept, for one penalty or one per target.
#'
#' One factorisation serves all penalties: one per target costs as much as a single one.
#'
#' @inheritParams ridge_cv
#' @param X n x p numeric matrix, rows are samples, no NA.
#' @param alpha One number, or one per target; finite and at least 0, see section Penalty. The default is 1.
#'
#' @returns The coefficients: p x t, or a vector of length p for a vector `y`. Column names of `X` and `y` are kept.
#' @inheritSection voxridge-penalty Penalty
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_nonfinite`, `voxridge_error_alphas`,
#' `voxridge_error_argument`, `voxridge_error_memory` (coefficients over half of the free memory),
#' `voxridge_error_device_unavailable`. See [voxridge-conditions].
#' @section Invariants:
#' `crossprod(X) %*% coef + alpha * coef` is `crossprod(X, y)`. Scaling `X` by a and `alpha` by a^2 scales the
#' coefficients by 1 / a.
#' @references
#' Hoerl, A. E., Kennard, R. W. (1970). Ridge regression: biased estimation for nonorthogonal problems. Technometrics
#' 12(1), 55-67. \doi{10.1080/00401706.1970.10488634}
#' @examples
#' X <- matrix(rnorm(60), 20)
#' y <- X %*% c(1, 0, -1) + rnorm(20)
#' ridge_svd(X, as.vector(y), alpha = 2, n_threads = 2)
#' solve(crossprod(X) + 2 * diag(3), crossprod(X, y))
#' @export
ridge_svd <- function(X, y, alpha = 1, device = "cpu", n_threads = NULL) {
  call <- rlang::current_env()
  if (inherits(X, "voxridge_prepared")) {
    abort(
      c("{.arg X} must be a numeric matrix, not the result of {.fn prepare_ridge}.",
        i = "There are no folds here. Pass the matrix, or use {.fn solve_ridge_cv} with one alpha."),
      "type"
    )
  }
  backend <- solver_backend(device, call = call)
  X <- as_features(X)
  targets <- as_targets(y, nrow(X), arg = "y", call = call, stream = TRUE)
  alpha <- as_alphas(alpha, sizes = c(1L, ncol(targets$Y)))
  check_coef_memory(ncol(X), ncol(targets$Y), call)
  options <- list(
    fit_intercept = FALSE, coefs = "primal", single = FALSE, skip = integer(),
    names = list(features = colnames(X), targets = targets$names)
  )
  work <- ridge_work(nrow(X), ncol(X), ncol(targets$Y), 0, 0)
  backend <- settle_backend(backend, work, n_threads, call)
  fit <- on_device(backend, n_threads, NULL, function(control) {
    core_ridge_fit(X, targets$Y, alpha, options, control)
  }, call)$value
  name_coefs(fit$coefs, "primal", options$names, targets$is_vector)
}

check_coef_memory <- function(p, t, call) {
  results <- 8 * as.double(p) * t
  names(results) <- paste0("coefs (", format_count(p), " x ", format_count(t), ")")
  check_result_memory(results, "Fit fewer targets per call.", call)
}
