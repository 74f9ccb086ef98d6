#' Score of a model on new data
#'
#' Scores the predictions of a fit for samples it has not seen, per target.
#'
#' The scores are those of the held-out folds in [fit_ridge()], here over all rows of `newdata` together.
#'
#' @inheritSection solve_ridge_cv Scores
#' @inheritParams voxridge_fit
#' @param object A fit of [fit_ridge()] or [fit_banded_ridge()].
#' @param newdata m x p numeric matrix, rows are samples, no NA; for a banded fit also a named list of matrices. At
#'   least 2 samples for `"r2"` and `"correlation"`.
#' @param Y m x t numeric matrix, rows are the samples of `newdata`, columns are the targets of the fit (matched by name
#'   where both have names); or a numeric vector of length m for a fit of a single target. NA, NaN and Inf are allowed
#'   in targets that the fit skipped.
#' @param score_func NULL (the default) is the score of the fit; `"r2"`, `"neg_mse"`, `"correlation"`, or a function of
#'   `(y_true, y_pred)`.
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads.
#' @param ... Arguments of methods.
#'
#' @returns Numeric, t, named after the targets; NA for targets that the fit skipped.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [predict()][voxridge_fit] for `newdata`; `voxridge_error_shape`, `voxridge_error_newdata`,
#' `voxridge_error_nonfinite` for `Y`; `voxridge_error_score`, `voxridge_error_argument`. See [voxridge-conditions].
#' @section Invariants:
#' The held-out score of a fold is the score, on its test rows, of a fit to its training rows. The order of targets does
#' not matter.
#' @seealso [r2_split()] for the part of each band, [null_scores()] for scores without a relation.
#' @examples
#' data <- simulate_encoding(n = 100, p = 12, t = 5, seed = 1)
#' train <- data$runs != 4
#' fit <- fit_ridge(data$X[train, ], data$Y[train, ], cv = data$runs[train], n_threads = 2)
#' round(score(fit, data$X[!train, ], data$Y[!train, ]), 2)
#' round(score(fit, data$X[!train, ], data$Y[!train, ], score_func = "correlation"), 2)
#' @export
score <- function(object, ...) UseMethod("score")

#' @rdname score
#' @export
score.voxridge_fit <- function(object, newdata, Y, score_func = NULL, bands = NULL, n_threads = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_fit(object)
  check_coefs(object, call)
  check_score_arguments(missing(newdata), missing(Y), call)
  if (!is_banded(object) && !is.null(bands)) {
    abort("{.arg bands} must be NULL for a fit without bands.", "argument", found = describe(bands))
  }
  rule <- as_score(score_func %||% object$score_fun %||% object$score_func, call)
  new <- newdata_parts(object, newdata, bands, call)
  m <- nrow(new$parts[[1L]])
  if (m < 2L && rule$word %in% c("r2", "correlation")) {
    abort(
      c("{.arg newdata} must have at least 2 samples with the score {.val {rule$word}}, not 1.",
        i = "A single sample has no variance to explain. Use {.code score_func = \"neg_mse\"}."),
      "score",
      found = m
    )
  }
  truth <- newdata_targets(object, Y, m, call)
  control <- core_control(n_threads, call = call)
  predictor <- block_predictor(object, new$parts)
  out <- rep(NA_real_, object$dims[["t"]])
  for (block in fit_blocks(object, m, 3)) {
    out[block] <- score_columns(truth[, block, drop = FALSE], predictor(block), rule, control, call)
  }
  with_names(out, object$targets)
}

#' @export
score.default <- function(object, ...) {
  found <- describe(object)
  abort(
    c("{.arg object} must be a fit of {.fn fit_ridge} or {.fn fit_banded_ridge}, not {found}."),
    "type",
    found = found
  )
}

check_score_arguments <- function(no_newdata, no_Y, call) {
  if (!no_newdata && !no_Y) return(invisible())
  arg <- if (no_newdata) "newdata" else "Y"
  abort(
    c("{.arg {arg}} must be given: a model is scored on samples it has not seen.",
      i = "Held-out scores of the fit itself are {.code fit$scores}."),
    "argument",
    call = call
  )
}

# One score per column; NA for those in `skip`.
score_columns <- function(truth, prediction, rule, control, call, skip = integer()) {
  run_core(core_score_columns(truth, prediction, skip, rule$word, control, rule$fun), call)
}
