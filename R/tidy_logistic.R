#' Logistic fits as data frames
#'
#' `tidy()` has a row per target or coefficient, `glance()` one row for the model, `augment()` a row per sample and
#' target.
#'
#' @inheritParams predict.voxridge_logistic
#' @param x A fit of [fit_logistic_ridge()].
#' @param what `"targets"` (the default) or `"coefs"`.
#' @param newdata NULL (the default) takes the samples of the fit, which must have kept its data; or new samples, as in
#'   [predict()][predict.voxridge_logistic].
#' @param y NULL, or the outcomes of `newdata`, as in [score()][score.voxridge_logistic]. Without them `.observed` and
#'   `.resid` are NA.
#'
#' @returns A data frame. Targets, features and samples are names where they have names, and numbers otherwise.
#' * `tidy(what = "targets")`: `target`, `positive` (the level that counts as 1), `prevalence` (weighted), `intercept`,
#'   `lambda`, `C`, `score` (mean held-out score; NA without cross-validation), `loss` (log-loss in training),
#'   `null_loss`, `at_edge` (whether the best score is at an end of the grid), `iterations`, `prob_bound`, `separable`,
#'   `status` (`"converged"`, `"rounding"`, `"max_iter"` or `"skipped"`).
#' * `tidy(what = "coefs")`: `target`, `term`, `estimate`.
#' * `glance()`: `n`, `p`, `t`, `n_folds`, `criterion`, `score_mean`, `score_median`, `score_min`, `score_max`,
#'   `loss_mean`, `null_loss_mean`, `lambda_median`, `share_smallest`, `share_largest` (shares of targets with their
#'   best score at the ends of the grid), `prob_bound` (largest), `n_late` (targets that did not converge),
#'   `n_separable`, `n_constant` (features), `n_skipped`, `solver`, `backend`, `seconds`. Skipped targets do not count.
#' * `augment()`: `sample`, `target`, `.observed` (from 0 to 1), `.fitted` (probability), `.link` (logit), `.resid`;
#'   samples vary fastest.
#' @section Errors:
#' `voxridge_error_memory` (a table over half of the free memory), `voxridge_error_no_data`, `voxridge_error_argument`,
#' `voxridge_error_conflict` (`y` or `newoffset` without `newdata`), `voxridge_error_old_object`, and those of
#' [predict()][predict.voxridge_logistic] and [score()][score.voxridge_logistic]. See [voxridge-conditions].
#' @section Invariants:
#' `.observed` is `.fitted` plus `.resid`, `.fitted` is `stable_sigmoid(.link)`.
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(100 * 3), 100, dimnames = list(NULL, c("a", "b", "c")))
#' fit <- fit_logistic_ridge(X, X[, 1] + rnorm(100) > 0, n_threads = 2)
#' tidy(fit)
#' tidy(fit, "coefs")
#' glance(fit)
#' head(augment(fit))
#' @export
tidy.voxridge_logistic <- function(x, what = c("targets", "coefs"), ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(x, "x")
  what <- as_choice(what, c("targets", "coefs"))
  if (what == "targets") return(tidy_logistic_targets(x))
  p <- x$dims[["p"]]
  t <- x$dims[["t"]]
  check_table_memory(p * as.double(t), 3, call)
  data.frame(
    target = rep(target_labels(x), each = p),
    term = rep(x$features %||% seq_len(p), times = t),
    estimate = as.vector(x$coefs)
  )
}

tidy_logistic_targets <- function(fit) {
  t <- fit$dims[["t"]]
  chosen <- fit$diagnostics$chosen
  place <- match(seq_len(t), counted_by_logistic(fit))  # rows of `chosen`, NA for skipped targets
  status <- chosen$status[place]
  status[is.na(place)] <- "skipped"
  data.frame(
    target = target_labels(fit),
    positive = rep_len(unname(fit$positive), t),
    prevalence = as.vector(fit$prevalence),
    intercept = as.vector(fit$intercept),
    lambda = as.vector(fit$best_lambda),
    C = as.vector(fit$C),
    score = as.vector(fit$cv$best_score %||% rep(NA_real_, t)),
    loss = as.vector(fit$final_loss),
    null_loss = as.vector(fit$null_loss),
    at_edge = as.vector(fit$cv$at_edge %||% rep(NA, t)),
    iterations = chosen$iterations[place],
    prob_bound = chosen$prob_bound[place],
    separable = chosen$separable[place],
    status = status
  )
}

#' @rdname tidy.voxridge_logistic
#' @export
glance.voxridge_logistic <- function(x, ...) {
  rlang::check_dots_empty()
  validate_logistic(x, "x")
  counted <- counted_by_logistic(x)
  chosen <- x$diagnostics$chosen
  scores <- x$cv$best_score[counted]
  scores <- scores[!is.na(scores)]
  over <- function(values, fun) if (length(values)) fun(values) else NA_real_
  share <- lambda_edge_share(x)
  data.frame(
    n = x$dims[["n"]],
    p = x$dims[["p"]],
    t = x$dims[["t"]],
    n_folds = x$cv$folds$n %||% NA_integer_,
    criterion = x$cv$criterion %||% NA_character_,
    score_mean = over(scores, mean),
    score_median = over(scores, stats::median),
    score_min = over(scores, min),
    score_max = over(scores, max),
    loss_mean = over(x$final_loss[counted], mean),
    null_loss_mean = over(x$null_loss[counted], mean),
    lambda_median = over(x$best_lambda[counted], stats::median),
    share_smallest = share[["smallest"]],
    share_largest = share[["largest"]],
    prob_bound = over(chosen$prob_bound, max),
    n_late = sum(chosen$status == "max_iter"),
    n_separable = sum(chosen$separable, na.rm = TRUE),
    n_constant = length(x$diagnostics$constant_features),
    n_skipped = length(x$diagnostics$skipped_targets),
    solver = x$diagnostics$solver,
    backend = x$diagnostics$backend,
    seconds = x$diagnostics$seconds
  )
}

#' @rdname tidy.voxridge_logistic
#' @export
augment.voxridge_logistic <- function(x, newdata = NULL, y = NULL, newoffset = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(x, "x")
  if (is.null(newdata) && !is.null(y)) {
    abort(
      c("{.arg y} must be NULL without {.arg newdata}, not {describe(y)}.",
        i = "The kept data of the fit have their own outcomes."),
      "conflict",
      found = describe(y)
    )
  }
  new <- if (is.null(newdata)) {
    kept_logistic(x, newoffset, call, "x")
  } else {
    new_logistic(x, newdata, newoffset, "error", call)
  }
  m <- nrow(new$X)
  t <- x$dims[["t"]]
  observed <- matrix(NA_real_, m, t)
  if (is.null(newdata)) observed <- unname(x$data$Y)
  if (!is.null(y)) observed <- newdata_outcomes(x, y, m, call)
  check_table_memory(m * as.double(t), 6, call)
  z <- predict_logistic(x, new, FALSE, NULL, NULL, call)
  residuals <- logistic_residuals(observed, z)
  residuals[is.na(residuals)] <- NA_real_
  data.frame(
    sample = rep(new$samples %||% seq_len(m), times = t),
    target = rep(target_labels(x), each = m),
    .observed = as.vector(observed),
    .fitted = core_sigmoid(z, FALSE),
    .link = as.vector(z),
    .resid = as.vector(residuals)
  )
}
