#' Score of a logistic fit on new data
#'
#' Scores the forecasts of a fit for samples it has not seen, per target.
#'
#' The scores are those of [log_loss()], [brier_score()] and [auc()], of forecasts as logits, and for `"accuracy"` the
#' share of samples on the right side of a probability of 1/2. A loss is better when it is small, the other two when
#' they are large. A shift of the intercept by `prior` is part of the forecast.
#'
#' @inheritParams predict.voxridge_logistic
#' @param object A fit of [fit_logistic_ridge()].
#' @param newdata m x p numeric matrix, rows are samples, no NA.
#' @param y Outcomes of the rows of `newdata`, in the form that the fit was given: a vector of length m, or a matrix,
#'   data frame or list of the targets of the fit (matched by name where both have names). No NA but in targets that the
#'   fit skipped. A factor must have the levels of the fit, in any order: the class that counts as 1 is that of the fit.
#' @param score_func `"log_loss"` (the default), `"brier"`, `"auc"` or `"accuracy"`.
#' @param weights NULL (the default) for equal weights, or m numbers of at least 0. Only their ratios matter.
#'
#' @returns Numeric, t, named after the targets; NA for targets that the fit skipped and, for `"auc"`, where all
#'   outcomes are of one class.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [predict()][predict.voxridge_logistic] for `newdata` and `newoffset`; `voxridge_error_y_form`,
#' `voxridge_error_shape`, `voxridge_error_newdata` (`y` with other targets or levels than those of the fit),
#' `voxridge_error_nonfinite`, `voxridge_error_weights`, `voxridge_error_argument`. The warning
#' `voxridge_warning_single_class`. See [voxridge-conditions].
#' @section Invariants:
#' The held-out score of a fold is the score, on its test rows, of a fit to its training rows with
#' `fold_scaling = "fold"`. The order of the levels of `y` does not matter.
#' @seealso [reliability_curve()]
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(200 * 5), 200)
#' y <- X[, 1] + rnorm(200) > 0
#' fit <- fit_logistic_ridge(X[1:150, ], y[1:150], n_threads = 2)
#' score(fit, X[151:200, ], y[151:200])
#' score(fit, X[151:200, ], y[151:200], score_func = "auc")
#' @export
score.voxridge_logistic <- function(object, newdata, y, score_func = c("log_loss", "brier", "auc", "accuracy"),
                                    weights = NULL, newoffset = NULL, lambda = NULL, n_threads = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(object)
  if (missing(newdata) || missing(y)) {
    arg <- if (missing(newdata)) "newdata" else "y"
    abort(
      c("{.arg {arg}} must be given: a model is scored on samples it has not seen.",
        i = "Held-out scores of the fit itself are {.code fit$cv$best_score}."),
      "argument"
    )
  }
  score_func <- as_choice(score_func, BINARY_CRITERIA)
  new <- new_logistic(object, newdata, newoffset, "error", call)
  truth <- newdata_outcomes(object, y, nrow(new$X), call)
  weights <- as_weights(weights, nrow(new$X))
  z <- predict_logistic(object, new, FALSE, lambda, n_threads, call)
  scores <- rep(NA_real_, object$dims[["t"]])
  counted <- counted_by_logistic(object)
  for (j in counted) {
    scores[j] <- run_core(core_binary_score(score_func, truth[, j], z[, j], weights), call)
  }
  lost <- counted[is.na(scores[counted])]
  if (score_func == "auc" && length(lost)) {
    shown <- if (object$is_vector) "y" else first_few(column_labels(lost, object$targets))
    warn(
      c("{.arg y} has one class of positive weight in {length(lost)} of {length(scores)} target{?s} ({shown}): there is
         no AUC.",
        i = "It compares positives with negatives. NA is returned."),
      "single_class",
      where = lost
    )
  }
  with_names(scores, object$targets)
}

# m x t, from 0 to 1, in the order of the fit and counted as in the fit; targets that the fit skipped may be anything.
newdata_outcomes <- function(fit, y, m, call) {
  skip <- fit$diagnostics$skipped_targets
  na_targets <- if (length(skip)) "skip" else "error"
  if (is.list(y)) {
    order <- match_columns(names(y), length(y), fit$targets, fit$dims[["t"]], "y", "target", call)
    if (!is.null(order)) y <- y[order]
    Map(check_fit_levels, y, seq_along(y), MoreArgs = list(fit = fit, call = call))
  } else if (length(dim(y)) < 2L) {
    check_fit_levels(y, 1L, fit, call)
  }
  factors <- if (is.list(y)) any(vapply(y, is.factor, NA)) else is.factor(y)
  outcome <- as_outcome(y, if (factors) unname(fit$positive), "y", call, na_targets)
  Y <- if (outcome$is_vector) one_column(outcome$y) else outcome$y
  check_same_rows(if (outcome$is_vector) outcome$y else Y, m, "y", "newdata", call)
  order <- match_columns(if (!is.list(y)) colnames(Y), ncol(Y), fit$targets, fit$dims[["t"]], "y", "target", call)
  if (!is.null(order)) Y <- Y[, order, drop = FALSE]
  missing <- setdiff(core_nonfinite_columns(Y), skip)
  if (length(missing)) {
    shown <- first_few(column_labels(missing, fit$targets))
    abort(
      c("{.arg y} must be finite, not NA, NaN or Inf in {length(missing)} of {fit$dims[['t']]} target{?s} ({shown}).",
        i = "Only targets that the fit skipped may have them."),
      "nonfinite",
      found = length(missing), where = missing, call = call
    )
  }
  unname(Y)
}

# A factor where the fit had one, with its levels; numbers or logical values where it had those.
check_fit_levels <- function(y, j, fit, call) {
  was_factor <- rep_len(fit$outcome_type, fit$dims[["t"]])[j] == "factor"
  if (!is.factor(y) && !was_factor) return(invisible())
  levels <- if (is.matrix(fit$levels)) fit$levels[, j] else fit$levels
  if (is.factor(y) && was_factor && setequal(levels(y), levels)) return(invisible())
  expected <- if (was_factor) "a factor with the levels of the fit ({.val {levels}})"
              else "0/1, logical or proportions, as for the fit"
  place <- if (!fit$is_vector) paste(" in target", column_labels(j, fit$targets))
  found <- if (is.factor(y)) paste("a factor with the levels", first_few(encodeString(levels(y), quote = "\"")))
           else describe(y)
  advice <- if (was_factor) "Use {.code factor(y, levels = fit$levels)} on the names of the classes."
            else "Compare with the class that counts as 1: {.code y == \"class\"}."
  abort(c(paste0("{.arg y} must be ", expected, "{place}, not {found}."), i = advice), "newdata", expected = levels,
        found = found, call = call)
}
