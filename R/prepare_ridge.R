#' Factor X once for many Y
#'
#' Computes what ridge regression needs of `X` and its folds, so that many `Y` can reuse it.
#'
#' The result stands in for `X` in [solve_ridge_cv()], [ridge_cv()] and [cross_val_predict_ridge()], with the folds and
#' the intercept it was made with: leave `cv` and `fit_intercept` out there (saying the same again is allowed, saying
#' something else is an error). It keeps `X`. The factors live outside R and are lost when the object is saved and read
#' again, or sent to another process; they are then made anew when first needed. With `device = "gpu"` they are made on
#' the GPU where they are large. Calls with `device = "gpu"` also leave `X`, the factor of all samples and the operators
#' of their penalties and score on the GPU, as far as these fit, so that the next one with the same penalties and score
#' sends only `Y`.
#'
#' @inheritParams solve_ridge_cv
#' @param X n x p numeric matrix, rows are samples, no NA.
#'
#' @returns An object of class `voxridge_prepared`, to be used as the argument `X` of the solvers.
#' @inheritSection voxridge-penalty Penalty
#' @section Errors:
#' Those of [solve_ridge_cv()] for `X`, `cv`, `fit_intercept`, `device` and `n_threads`; see [voxridge-conditions].
#' @section Invariants:
#' A solver gives the same answer for a prepared `X` as for the matrix.
#' @examples
#' data <- simulate_encoding(n = 60, p = 10, t = 6, seed = 1)
#' prepared <- prepare_ridge(data$X, cv = data$runs, n_threads = 2)
#' prepared
#' first <- solve_ridge_cv(prepared, data$Y[, 1:3], alphas = 10^(-2:4), n_threads = 2)
#' second <- solve_ridge_cv(prepared, data$Y[, 4:6], alphas = 10^(-2:4), n_threads = 2)
#' c(first$best_alphas, second$best_alphas)
#' @export
prepare_ridge <- function(X, cv = 5, fit_intercept = FALSE, device = "cpu", max_gpu_memory_gb = NULL,
                          n_threads = NULL, progress = interactive()) {
  call <- rlang::current_env()
  if (inherits(X, "voxridge_prepared")) {
    abort("{.arg X} must be a numeric matrix, not one that is prepared already.", "type")
  }
  design <- as_design(X, setting(cv, TRUE), setting(fit_intercept, TRUE), call)
  check_whole_runs(design$folds, list(X = design$X), call)
  backend <- solver_backend(device, max_gpu_memory_gb = max_gpu_memory_gb, call = call)
  bar <- start_progress(progress, "Preparing X", call)
  on.exit(bar$close())
  prepared <- new_voxridge_prepared(design$X, design$folds, design$fit_intercept, backend)
  on_device(backend, n_threads, bar$report, function(control) prepared_pointer(prepared, control, call), call)
  prepared
}

PREPARED_FORMAT <- 1L

# `handle` holds the external pointer to the factors, so that rebuilding them serves all copies of the object.
new_voxridge_prepared <- function(X, folds, fit_intercept, backend) {
  structure(
    list(format = PREPARED_FORMAT, X = X, folds = folds, fit_intercept = fit_intercept, backend = backend$name,
         device = backend$device, handle = new.env(parent = emptyenv())),
    class = "voxridge_prepared"
  )
}

validate_prepared <- function(prepared, call = rlang::caller_env()) {
  format <- if (is.list(prepared)) prepared[["format"]]
  if (identical(format, PREPARED_FORMAT) && is.environment(prepared$handle) && is.matrix(prepared$X)) return(prepared)
  found <- describe(format)
  abort(
    c("{.arg X} must be an object of this version of {.fn prepare_ridge} (format {PREPARED_FORMAT}),
       not format {found}.",
      i = "Prepare the matrix again."),
    "old_object",
    expected = PREPARED_FORMAT, found = format, call = call
  )
}

# The live pointer; factors again where it died (after readRDS(), in another process).
prepared_pointer <- function(prepared, control, call = rlang::caller_env()) {
  handle <- prepared$handle
  if (is.null(handle$pointer) || !core_prepared_is_live(handle$pointer)) {
    options <- list(fit_intercept = prepared$fit_intercept)
    handle$pointer <- run_core(core_prepare_ridge(prepared$X, core_folds(prepared$folds), options, control), call)
  }
  handle$pointer
}

prepared_design <- function(prepared, cv, fit_intercept, call = rlang::caller_env()) {
  prepared <- validate_prepared(prepared, call)
  if (cv$given && !same_folds(as_folds(cv$value, nrow(prepared$X), call = call), prepared$folds)) {
    abort_prepared_conflict("cv", "folds", call)
  }
  if (fit_intercept$given) {
    wanted <- as_flag(fit_intercept$value, arg = "fit_intercept", call = call)
    if (wanted != prepared$fit_intercept) abort_prepared_conflict("fit_intercept", "intercept setting", call)
  }
  list(X = prepared$X, folds = prepared$folds, fit_intercept = prepared$fit_intercept, prepared = prepared)
}

abort_prepared_conflict <- function(arg, what, call) {
  abort(
    c("{.arg {arg}} must be left out, or repeat the {what} that {.arg X} was prepared with, not contradict it.",
      i = "Prepare {.arg X} again for another {.arg {arg}}."),
    "conflict",
    where = arg, call = call
  )
}

# The pointer that a core call takes: NULL for a plain matrix.
design_pointer <- function(design, control, call = rlang::caller_env()) {
  if (is.null(design$prepared)) return(NULL)
  prepared_pointer(design$prepared, control, call)
}

#' @export
print.voxridge_prepared <- function(x, ...) {
  validate_prepared(x)
  folds <- switch(x$folds$kind,
    loo = "leave-one-out in closed form",
    gcv = "generalised cross-validation",
    paste(n_folds(x$folds), "folds")
  )
  live <- !is.null(x$handle$pointer) && core_prepared_is_live(x$handle$pointer)
  cat("Prepared ridge: ", format_count(nrow(x$X)), " samples x ", format_count(ncol(x$X)), " features\n", sep = "")
  cat("  cross-validation: ", folds, "\n", sep = "")
  cat("  intercept:        ", if (x$fit_intercept) "yes" else "no", "\n", sep = "")
  cat("  backend:          ", x$backend, " (", x$device, ")\n", sep = "")
  cat("  factors:          ", if (live) "in memory" else "to be made again at first use", "\n", sep = "")
  invisible(x)
}
