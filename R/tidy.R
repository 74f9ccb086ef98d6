#' @importFrom generics tidy
#' @export
generics::tidy

#' @importFrom generics glance
#' @export
generics::glance

#' @importFrom generics augment
#' @export
generics::augment

#' Fitted models as data frames
#'
#' `tidy()` has a row per target (or coefficient, or band and target), `glance()` one row for the model, `augment()` a
#' row per sample and target.
#'
#' @param x A fit of [fit_ridge()] or [fit_banded_ridge()].
#' @param what `"targets"` (the default), `"coefs"` or, for a banded fit, `"bands"`.
#' @param newdata NULL (the default) takes the samples of the fit, which must have kept its data; or new samples, as in
#'   [predict()][voxridge_fit].
#' @param Y NULL, or the targets of `newdata`: samples x targets, or a vector for a fit of a single target. Without them
#'   `.observed` and `.resid` are NA.
#' @param ... No further arguments.
#'
#' @returns A data frame. Targets, features and samples are names where they have names, and numbers otherwise.
#' * `tidy(what = "targets")`: `target`, `alpha`, `score` (mean held-out score; NA where scores were not kept),
#'   `at_edge` (whether `alpha` is the first or last of the grid; NA for a single one), `status` (`"ok"`, `"constant"`
#'   or `"skipped"`).
#' * `tidy(what = "coefs")`: `target`, `term`, for a banded fit `band`, and `estimate`.
#' * `tidy(what = "bands")`: `target`, `band`, `gamma`, `penalty`, `weight` (gamma over the sum of gammas).
#' * `glance()`: `n`, `p`, `t`, `n_folds`, `score_func`, `score_mean`, `score_median`, `score_min`, `score_max`,
#'   `alpha_median`, `share_smallest`, `share_largest` (shares of targets at the ends of the grid), `n_constant`,
#'   `n_skipped`, `backend`, `precision`, `seconds`. Constant and skipped targets do not count.
#' * `augment()`: `sample`, `target`, `.observed`, `.fitted`, `.resid`; samples vary fastest.
#' @section Errors:
#' `voxridge_error_memory` (a table over half of the free memory), `voxridge_error_no_data`, `voxridge_error_argument`,
#' `voxridge_error_conflict` (`Y` without `newdata`), `voxridge_error_old_object`, and those of
#' [predict()][voxridge_fit]. See [voxridge-conditions].
#' @section Invariants:
#' `.observed` is `.fitted` plus `.resid`. `weight` sums to 1 over the bands of a target.
#' @examples
#' data <- simulate_encoding(n = 80, p = 10, t = 3, seed = 1)
#' fit <- fit_ridge(data$X, data$Y, cv = data$runs, n_threads = 2)
#' tidy(fit)
#' glance(fit)
#' head(augment(fit))
#' @export
tidy.voxridge_fit <- function(x, what = c("targets", "coefs", "bands"), ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_fit(x, "x")
  what <- as_choice(what, c("targets", "coefs", "bands"))
  if (what == "bands" && !is_banded(x)) {
    abort(
      c("{.arg what} must be {.val targets} or {.val coefs} for a fit without bands, not {.val bands}.",
        i = "{.fn fit_banded_ridge} fits bands."),
      "argument",
      found = what
    )
  }
  switch(what, targets = tidy_targets(x), coefs = tidy_coefs(x, call), bands = tidy_bands(x, call))
}

tidy_targets <- function(fit) {
  t <- fit$dims[["t"]]
  status <- rep("ok", t)
  status[fit$diagnostics$constant_targets] <- "constant"
  status[skipped_by_fit(fit)] <- "skipped"
  chosen <- fit$alphas[as.vector(fit$diagnostics$alpha_index)]
  edges <- range(fit$alphas)
  data.frame(
    target = target_labels(fit),
    alpha = as.vector(fit$best_alphas),
    score = if (is.null(fit$scores)) rep(NA_real_, t) else as.vector(fit$scores),
    at_edge = if (edges[1L] == edges[2L]) rep(NA, t) else chosen %in% edges & !is.na(chosen),
    status = status
  )
}

tidy_coefs <- function(fit, call) {
  check_coefs(fit, call, "x")
  p <- fit$dims[["p"]]
  t <- fit$dims[["t"]]
  check_table_memory(p * t, if (is_banded(fit)) 4 else 3, call)
  out <- data.frame(
    target = rep(target_labels(fit), each = p),
    term = rep(fit$features %||% seq_len(p), times = t)
  )
  if (is_banded(fit)) out$band <- rep(as.character(fit$bands), times = t)
  out$estimate <- as.vector(run_core(stats::coef(fit), call))
  out
}

tidy_bands <- function(fit, call) {
  n_bands <- nlevels(fit$bands)
  t <- fit$dims[["t"]]
  check_table_memory(n_bands * as.double(t), 5, call)
  data.frame(
    target = rep(target_labels(fit), each = n_bands),
    band = rep(levels(fit$bands), times = t),
    gamma = as.vector(fit$gammas),
    penalty = as.vector(fit$penalties),
    weight = as.vector(band_weights(fit))
  )
}

check_table_memory <- function(rows, columns, call) {
  results <- stats::setNames(8 * as.double(rows) * columns, paste(format_count(rows), "rows"))
  check_result_memory(results, "Work with the matrices instead, for example {.fn coef} and {.fn predict}.", call)
}

#' @rdname tidy.voxridge_fit
#' @export
glance.voxridge_fit <- function(x, ...) {
  rlang::check_dots_empty()
  validate_fit(x, "x")
  counted <- counted_by_fit(x)
  scores <- x$scores[counted]
  of_scores <- function(fun) if (length(scores)) fun(scores) else NA_real_
  info <- x$diagnostics$info
  share <- x$diagnostics$share_at_edge
  data.frame(
    n = x$dims[["n"]],
    p = x$dims[["p"]],
    t = x$dims[["t"]],
    n_folds = x$folds$n,
    score_func = x$score_func,
    score_mean = of_scores(mean),
    score_median = of_scores(stats::median),
    score_min = of_scores(min),
    score_max = of_scores(max),
    alpha_median = if (length(counted)) stats::median(x$best_alphas[counted]) else NA_real_,
    share_smallest = share[["smallest"]],
    share_largest = share[["largest"]],
    n_constant = length(x$diagnostics$constant_targets),
    n_skipped = length(x$diagnostics$skipped_targets),
    backend = x$backend,
    precision = info$precision,
    seconds = x$diagnostics$seconds
  )
}

#' @rdname tidy.voxridge_fit
#' @export
augment.voxridge_fit <- function(x, newdata = NULL, Y = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_fit(x, "x")
  if (is.null(newdata) && !is.null(Y)) {
    abort(
      c("{.arg Y} must be NULL without {.arg newdata}, not {describe(Y)}.",
        i = "The kept data of the fit have their own targets."),
      "conflict",
      found = describe(Y)
    )
  }
  check_coefs(x, call, "x")
  if (is.null(newdata)) {
    check_kept(x, c("features", "Y"), call)
    observed <- kept_targets(x)
    new <- list(parts = kept_parts(x), samples = sample_names(x))
  } else {
    new <- newdata_parts(x, newdata, NULL, call)
    observed <- if (is.null(Y)) NA_real_ else newdata_targets(x, Y, nrow(new$parts[[1L]]), call)
  }
  m <- nrow(new$parts[[1L]])
  t <- x$dims[["t"]]
  check_table_memory(m * as.double(t), 5, call)
  out <- data.frame(
    sample = rep(new$samples %||% seq_len(m), times = t),
    target = rep(target_labels(x), each = m),
    .observed = as.vector(observed),
    .fitted = as.vector(predict_parts(x, new$parts))
  )
  out$.resid <- out$.observed - out$.fitted
  out
}
