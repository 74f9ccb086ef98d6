#' Scores without a relation
#'
#' Scores of a fit's held-out predictions against responses that were shifted in time: what scores look like when
#' predictors and responses are unrelated but keep their autocorrelation.
#'
#' Every sample is predicted by a model fitted without its fold, at the penalties (and weights of bands) that the fit
#' chose. Within each held-out fold the responses are then shifted circularly against these predictions, all targets
#' together, by a random number of samples, and scored; scores are averaged over folds as in the fit. Samples of a fold
#' are taken in their order: folds should be runs or other contiguous blocks. With `cv = "loo"` all samples together are
#' one fold.
#'
#' This is a scale to read scores by, not a test: the penalties were chosen for the true alignment, and few shifts
#' differ in a short fold.
#'
#' @param fit A fit of [fit_ridge()] or [fit_banded_ridge()] that kept its data. Each sample must be held out at most
#'   once and `cv = "gcv"` has no predictions.
#' @param n_shifts Whole number of random shifts (1 by default).
#' @param min_shift Whole number of samples, at least 1 and at most half of the smallest fold: the smallest distance
#'   from the true alignment, either way round. NULL (the default) is a tenth of each fold, rounded up.
#' @param seed NULL draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1 gives the same
#'   shifts always and leaves R's generator alone. The first shifts do not depend on how many follow.
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads.
#'
#' @returns n_shifts x t numeric matrix; a vector of length n_shifts for a fit of a vector `Y`. NA for skipped targets,
#'   0 for targets that are constant on held-out samples (for `"r2"` and `"correlation"`).
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_no_data`, `voxridge_error_folds` (samples held out more than once, `"gcv"`, folds too short to
#' shift), `voxridge_error_argument`, `voxridge_error_memory` (predictions, n x t, or scores over half of the free
#' memory), `voxridge_error_type`, `voxridge_error_old_object`. See [voxridge-conditions].
#' @section Invariants:
#' The same seed gives the same scores, whatever the number of threads. Results do not depend on the other targets.
#' @seealso [score()] for the score of new data.
#' @examples
#' data <- simulate_encoding(n = 120, p = 12, t = 6, seed = 1)
#' fit <- fit_ridge(data$X, data$Y, cv = data$runs, score_func = "correlation", n_threads = 2)
#' round(fit$scores, 2)
#' round(apply(null_scores(fit, n_shifts = 20, seed = 1, n_threads = 2), 2, max), 2)
#' @export
null_scores <- function(fit, n_shifts = 1, min_shift = NULL, seed = NULL, n_threads = NULL) {
  call <- rlang::current_env()
  check_is_fit(fit, call)
  n_shifts <- as_count(n_shifts)
  min_shift <- as_count(min_shift, null_ok = TRUE)
  blocks <- shifted_folds(fit, min_shift, call)
  results <- c("null scores" = 8 * as.double(n_shifts) * (fit$dims[["t"]] + length(blocks$rows)))
  check_result_memory(results, "Ask for fewer shifts per call.", call)
  control <- core_control(n_threads, call = call)
  key <- as_key(seed)
  shifts <- draw_shifts(blocks, n_shifts, key)
  predictions <- held_out_predictions(fit, call, n_threads)
  rule <- as_score(fit$score_fun %||% fit$score_func, call)
  skip <- skipped_by_fit(fit)
  out <- matrix(0, n_shifts, fit$dims[["t"]])
  for (f in seq_along(blocks$rows)) {
    rows <- blocks$rows[[f]]
    prediction <- predictions[rows, , drop = FALSE]
    for (i in seq_len(n_shifts)) {
      from <- (seq_along(rows) - 1L + shifts[f, i]) %% length(rows) + 1L
      truth <- fit$data$Y[rows[from], , drop = FALSE]
      out[i, ] <- out[i, ] + score_columns(truth, prediction, rule, control, call, skip) / length(blocks$rows)
    }
  }
  if (fit$is_vector) as.vector(out) else with_dimnames(out, list(NULL, fit$targets))
}

check_is_fit <- function(fit, call) {
  if (inherits(fit, "voxridge_fit")) return(validate_fit(fit, "fit", call))
  found <- describe(fit)
  abort(
    c("{.arg fit} must be a fit of {.fn fit_ridge} or {.fn fit_banded_ridge}, not {found}."),
    "type",
    found = found, call = call
  )
}

# list(rows, least): the held-out rows of each fold in their order, and the smallest shift there.
shifted_folds <- function(fit, min_shift, call) {
  rows <- if (fit$folds$kind == "kfold") lapply(fit$folds$test, sort) else list(seq_len(fit$dims[["n"]]))
  sizes <- lengths(rows)
  smallest <- min(sizes)
  if (smallest < 2L) {
    abort(
      c("{.arg fit} must have at least 2 held-out samples in every fold to shift them, not 1."),
      "folds",
      found = smallest, call = call
    )
  }
  if (!is.null(min_shift) && 2 * min_shift > smallest) {
    abort(
      c("{.arg min_shift} must be at most half of the smallest fold ({smallest} samples), not {min_shift}."),
      "argument",
      expected = smallest %/% 2L, found = min_shift, call = call
    )
  }
  list(rows = rows, least = if (is.null(min_shift)) as.integer(ceiling(sizes / 10)) else rep(min_shift, length(rows)))
}

# folds x shifts: evenly from `least` to size - least.
draw_shifts <- function(blocks, n_shifts, key) {
  sizes <- lengths(blocks$rows)
  u <- matrix(draw(length(sizes) * as.double(n_shifts), key, "null_shifts"), length(sizes))
  blocks$least + floor(u * (sizes - 2L * blocks$least + 1L))
}

# ---- predictions of samples by models that have not seen them --------------------------------

# n x t: every sample by a model of the training rows of its fold, at the chosen penalties and weights; NA for samples
# in no test set and for skipped targets.
held_out_predictions <- function(fit, call = rlang::caller_env(), n_threads = NULL) {
  validate_fit(fit, "fit", call)
  check_kept(fit, c("features", "Y"), call, "fit")
  check_held_out_once(fit$folds, call, "fit")
  check_prediction_memory(list(X = fit$data$Y, folds = fit$folds), fit$data, call)
  alphas <- as.vector(fit$best_alphas)
  counted <- setdiff(seq_along(alphas), skipped_by_fit(fit))
  control <- core_control(n_threads, call = call)
  backend <- backend_for("cpu", fit$diagnostics$info$precision, call)
  predict_with <- function(X, block, folds) {
    design <- list(X = X, folds = folds, fit_intercept = fit$fit_intercept, prepared = NULL)
    part <- list(Y = fit$data$Y[, block, drop = FALSE], names = NULL, skip = integer())
    wanted <- alphas[block]
    if (length(unique(wanted)) == 1L) wanted <- wanted[1L]
    predict_folds(design, part, wanted, as_score("neg_mse"), backend, control, call)$predictions
  }
  out <- matrix(NA_real_, fit$dims[["n"]], length(alphas))
  if (!length(counted)) return(out)
  if (fit$standardize) {
    for (f in seq_along(fit$folds$test)) {
      one <- one_fold(fit$folds, f)
      scaled <- standardized(fit$data$X, column_scales(fit$data$X[one$train[[1L]], , drop = FALSE]))
      rows <- one$test[[1L]]
      out[rows, counted] <- predict_with(scaled, counted, one)[rows, , drop = FALSE]
    }
  } else if (is_banded(fit)) {
    gammas <- unname(as_targets_last(fit$gammas))
    for (block in same_columns(gammas, counted)) {
      active <- which(gammas[, block[1L]] > 0)
      X <- scaled_bands(fit$data$Xs[active], gammas[active, block[1L]], fit$dims[["n"]])
      out[, block] <- predict_with(X, block, fit$folds)
    }
  } else {
    out[, counted] <- predict_with(fit$data$X, counted, fit$folds)
  }
  with_dimnames(out, list(sample_names(fit), fit$targets))
}

# The folds with one of them only.
one_fold <- function(folds, f) {
  list(kind = "kfold", train = folds$train[f], test = folds$test[f], partition = FALSE, labels = NULL, id = NULL)
}
