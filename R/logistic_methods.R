#' Verbs of a logistic fit
#'
#' Print, summarise, predict with and take apart what [fit_logistic_ridge()] returns.
#'
#' Forecasts come from the engine of [predictor()], which adds in one order: a row gets the same bits in any batch, at
#' any place and with any number of threads, from `predict()`, `fitted()`, [score()][score.voxridge_logistic] and
#' [predictor()]. Above 64 targets `predict()` multiplies matrices instead; that agrees to rounding, 1e-12 of the sum of
#' |x_j beta_j|.
#'
#' The columns of `newdata` are matched by name where the fit and the new data both have names: they may come in another
#' order, but none may be missing and none unknown. Without names there must be as many columns as in the fit.
#'
#' A sample is of the positive class where its logit is at least the logit of `threshold`, which is the same as a
#' probability of at least `threshold` but for its rounding: a probability is the number 1 for each logit above 36.74.
#'
#' Fits are made on centred features, forecasts on the features as they are. Where columns lie very far from 0 in units
#' of their standard deviation, the terms x_j beta_j are large and cancel: logits then err by about 1e-16 of these
#' terms, which the certificate of the fit does not count. Centre such features first.
#'
#' Everything that forecasts includes the shift of the intercept by `prior`. In-sample values (`fitted()`,
#' `residuals()`) say nothing about calibration: see [reliability_curve()] with `fit$cv$predictions`.
#'
#' @param x,object A fit of [fit_logistic_ridge()].
#' @param newdata m x p numeric matrix (or data frame of numeric columns), rows are samples, no NA, but see `na`.
#'   Without it, `predict()` is about the samples of the fit, which must have kept its data.
#' @param type For `predict()`: `"response"` (the default) for probabilities of the positive class, `"link"` for logits,
#'   `"class"` for classes. For `residuals()`: `"response"` (the default) for outcome minus probability, or
#'   `"deviance"`, the signed square root of twice the loss less the least possible, without weights.
#' @param newoffset NULL (the default) for a fit without an offset. Otherwise it has to be given with `newdata`: m
#'   numbers, or for several targets also an m x t matrix, no NA.
#' @param lambda NULL (the default) for the chosen penalties; or one of `fit$lambda`, for all targets, from a fit with
#'   `keep_path = TRUE`.
#' @param threshold Number between 0 and 1, 0.5 by default: the probability from which on a sample is of the positive
#'   class. Only for `type = "class"`. See [decision_threshold()].
#' @param na `"error"` (the default), or `"pass"` for NA where a row of `newdata` has NA, NaN or Inf.
#' @param intercept TRUE for intercepts too, as a first row `(Intercept)`; FALSE (the default).
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads. Small work takes one.
#' @param ... No further arguments.
#'
#' @returns
#' * `predict()`: samples x targets (m x t), for a vector `y` a vector of length m; names are kept; NA for skipped
#'   targets. Classes are a factor with the levels of the fit, logical values where the outcomes were logical, and 0 and
#'   1 otherwise; for several targets of which one is a factor, a data frame with a column for each.
#' * `fitted()`: probabilities for the samples of the fit, n x t or n. `residuals()`: the same shape.
#' * `coef()`: features x targets (p x t, or 1 + p x t), a vector for a vector `y`. With an intercept, features without
#'   names are numbered.
#' * `print()`: `x`, invisibly.
#' * `summary()`: an object of class `summary.voxridge_logistic` with its own `print()`: a list of `title`, `dims`,
#'   `positive`, `criterion`, `scores` (held-out, mean and quantiles over targets, or NULL), `null_loss` (mean),
#'   `prevalence` (mean), `lambda` (quantiles), `C` (quantiles), `share_at_edge`, `prob_bound` (largest),
#'   `n_late` (targets that did not converge), `n_separable`, `constant_features`, `n_skipped`. Skipped targets do not
#'   count.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_newdata` (columns that are missing or not those of the fit), `voxridge_error_missing_newoffset`,
#' `voxridge_error_offset`, `voxridge_error_lambda` (not on the path, or no path kept), `voxridge_error_type`,
#' `voxridge_error_shape`, `voxridge_error_nonfinite`, `voxridge_error_argument`, `voxridge_error_conflict` (a threshold
#' without classes, an offset for a fit without one), `voxridge_error_no_data`, `voxridge_error_memory`,
#' `voxridge_error_old_object`. See [voxridge-conditions].
#' @section Invariants:
#' Predictions for the samples of the fit are the fitted values. Each row of a prediction is that of the row alone. The
#' order of named columns does not matter. `stable_sigmoid()` of the logits are the probabilities.
#' @seealso [score.voxridge_logistic()], [tidy.voxridge_logistic()], [plot.voxridge_logistic()], [predictor()].
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(100 * 5), 100, dimnames = list(NULL, letters[1:5]))
#' y <- factor(ifelse(X[, 1] + rnorm(100) > 0, "face", "house"), levels = c("house", "face"))
#' fit <- fit_logistic_ridge(X, y, n_threads = 2)
#' fit
#' coef(fit, intercept = TRUE)
#' predict(fit, X[1:3, ])
#' predict(fit, X[1:3, ], "class", threshold = 0.7)
#' @name predict.voxridge_logistic
NULL

# An object of this version of the package, or an error.
validate_logistic <- function(fit, arg = "object", call = rlang::caller_env()) {
  fields <- c("coefs", "intercept", "lambda", "diagnostics", "levels", "positive", "outcome_type", "dims")
  if (is.list(fit) && identical(fit[["format"]], FIT_FORMAT) && all(fields %in% names(fit))) return(invisible(fit))
  abort_old_fit(fit, arg, call)
}

# Targets that say something about scores, penalties and certificates.
counted_by_logistic <- function(fit) setdiff(seq_len(fit$dims[["t"]]), fit$diagnostics$skipped_targets)

# ---- print -----------------------------------------------------------------------------------

#' @rdname predict.voxridge_logistic
#' @export
print.voxridge_logistic <- function(x, ...) {
  rlang::check_dots_empty()
  validate_logistic(x, "x")
  counted <- counted_by_logistic(x)
  print_fields(logistic_title(x), c(
    positive = positive_words(x),
    if (!is.null(x$cv)) c(folds = count_label(x$cv$folds$n, "fold")),
    if (length(counted)) c(print_lambda(x, counted), print_loss(x, counted), print_certificate(x)),
    print_logistic_parts(x),
    computed = sprintf("%s (%s), %s solver, %s s", x$diagnostics$backend, backend_device(x$diagnostics$backend),
                       x$diagnostics$solver, format_numbers(x$diagnostics$seconds, 2L))
  ))
  invisible(x)
}

logistic_title <- function(fit) {
  dims <- vapply(fit$dims, format_count, "")
  sprintf("Ridge-penalised logistic regression: %s samples x %s feature%s x %s target%s", dims[["n"]], dims[["p"]],
          plural(fit$dims[["p"]]), dims[["t"]], plural(fit$dims[["t"]]))
}

# Which class the probabilities are of, for each target where they differ.
positive_words <- function(fit) {
  levels <- if (is.matrix(fit$levels)) unname(fit$levels) else matrix(fit$levels, 2L)
  quoted <- rep_len(fit$outcome_type, ncol(levels)) == "factor"
  positive <- rep_len(unname(fit$positive), ncol(levels))
  negative <- ifelse(levels[1L, ] == positive, levels[2L, ], levels[1L, ])
  show <- function(x) ifelse(quoted, encodeString(x, quote = "\""), x)
  words <- sprintf("%s (not %s)", show(positive), show(negative))
  if (length(unique(words)) == 1L) return(words[1L])
  first_few(paste(target_labels(fit), words, sep = ": "), print_max())
}

# "0.07 (C 0.14)", for several targets the range; then the grid they come from.
print_lambda <- function(fit, counted) {
  lambda <- range(fit$best_lambda[counted])
  C <- rev(range(fit$C[counted]))
  between <- function(x) paste(unique(format_numbers(x)), collapse = " to ")
  shown <- sprintf("%s (C %s)", between(lambda), between(C))
  if (length(fit$lambda) == 1L) return(c(lambda = shown))
  rule <- if (is.null(fit$cv)) ", the smallest" else if (fit$choose == "1se") ", the largest within one se" else ""
  ends <- format_numbers(range(fit$lambda))
  grid <- sprintf("%d from %s to %s", length(fit$lambda), ends[1L], ends[2L])
  c(lambda = paste0(shown, rule), grid = paste0(grid, edge_words(fit)))
}

# Where the best scores lie at an end of the grid.
edge_words <- function(fit) {
  share <- lambda_edge_share(fit)
  if (anyNA(share) || all(share == 0)) return("")
  ends <- names(share)[share > 0]
  if (fit$dims[["t"]] == 1L) return(sprintf("; best at its %s", ends))
  each <- sprintf("%s for %s", ends, vapply(share[ends], format_share, ""))
  paste0("; best at its ", paste(each, collapse = ", its "))
}

# Shares of the counted targets with their best score at the smallest and the largest penalty; NA without a choice.
lambda_edge_share <- function(fit) {
  best <- fit$cv$lambda_min[counted_by_logistic(fit)]
  best <- best[!is.na(best)]
  if (!length(best) || length(fit$lambda) < 2L) return(c(smallest = NA_real_, largest = NA_real_))
  c(smallest = mean(best == min(fit$lambda)), largest = mean(best == max(fit$lambda)))
}

print_loss <- function(fit, counted) {
  null <- sprintf("%s for the prevalence alone", format_numbers(mean(fit$null_loss[counted])))
  if (is.null(fit$cv)) {
    return(c("log_loss" = paste0(spread_words(fit$final_loss[counted]), " in training, ", null)))
  }
  scores <- fit$cv$best_score[counted]
  held_out <- paste(spread_words(scores[!is.na(scores)]), "held out")
  if (fit$cv$criterion == "log_loss") return(c(log_loss = paste0(held_out, ", ", null)))
  c(stats::setNames(held_out, fit$cv$criterion), log_loss = null)
}

spread_words <- function(x) {
  if (!length(x)) return("NA")
  if (length(x) == 1L) return(format_numbers(x))
  sprintf("mean %s (%s to %s)", format_numbers(mean(x)), format_numbers(min(x)), format_numbers(max(x)))
}

print_certificate <- function(fit) {
  chosen <- fit$diagnostics$chosen
  late <- sum(chosen$status == "max_iter")
  separable <- sum(chosen$separable, na.rm = TRUE)
  one <- nrow(chosen) == 1L
  not <- if (one) "; not converged" else sprintf("; %d of %d not converged", late, nrow(chosen))
  found <- if (one) "yes" else sprintf("%d of %d targets", separable, nrow(chosen))
  c(
    certificate = paste0("probabilities within ", format_numbers(max(chosen$prob_bound), 2L), " of the optimum",
                         if (late) not),
    separable = if (separable) paste0(found, ": lambda alone sets the size of the coefficients") else "not proven"
  )
}

print_logistic_parts <- function(fit) {
  constant <- constant_feature_labels(fit)
  skipped <- length(fit$diagnostics$skipped_targets)
  shift <- fit$prior_shift[counted_by_logistic(fit)]
  c(
    if (length(constant)) {
      c(features = sprintf("%s constant, of coefficient 0 (%s)", format_count(length(constant)),
                           first_few(constant, print_max())))
    },
    if (skipped) c(targets = paste(format_count(skipped), "skipped (not counted here)")),
    if (fit$has_offset) c(offset = "yes: predict() needs newoffset"),
    if (any(shift != 0)) c(prior = paste("shifts the intercept by", spread_words(shift)))
  )
}

constant_feature_labels <- function(fit) column_labels(unname(fit$diagnostics$constant_features), fit$features)

# ---- summary ---------------------------------------------------------------------------------

#' @rdname predict.voxridge_logistic
#' @export
summary.voxridge_logistic <- function(object, ...) {
  rlang::check_dots_empty()
  validate_logistic(object)
  counted <- counted_by_logistic(object)
  chosen <- object$diagnostics$chosen
  scores <- object$cv$best_score[counted]
  quantiles <- function(x) if (length(counted)) stats::quantile(unname(x[counted]), type = 1L, na.rm = TRUE)
  structure(list(
    title = logistic_title(object),
    dims = object$dims,
    positive = positive_words(object),
    criterion = object$cv$criterion,
    scores = if (length(scores)) c(mean = mean(scores, na.rm = TRUE), stats::quantile(unname(scores), na.rm = TRUE)),
    null_loss = mean(object$null_loss[counted]),
    prevalence = mean(object$prevalence[counted]),
    lambda = quantiles(object$best_lambda),
    C = quantiles(object$C),
    share_at_edge = lambda_edge_share(object),
    prob_bound = if (length(counted)) max(chosen$prob_bound) else NA_real_,
    n_late = sum(chosen$status == "max_iter"),
    n_separable = sum(chosen$separable, na.rm = TRUE),
    constant_features = constant_feature_labels(object),
    n_skipped = length(object$diagnostics$skipped_targets)
  ), class = "summary.voxridge_logistic")
}

#' @rdname predict.voxridge_logistic
#' @export
print.summary.voxridge_logistic <- function(x, ...) {
  rlang::check_dots_empty()
  values <- function(x) paste(names(x), format_numbers(x), collapse = "  ")
  per_target <- function(x) if (x$dims[["t"]] == 1L) function(v) format_numbers(v[1L]) else values
  show <- per_target(x)
  print_fields(x$title, c(
    positive = x$positive,
    prevalence = format_numbers(x$prevalence),
    if (length(x$scores)) stats::setNames(show(x$scores), paste("held-out", x$criterion)),
    "null log_loss" = format_numbers(x$null_loss),
    if (length(x$lambda)) c(lambda = show(x$lambda), C = show(x$C)),
    if (!anyNA(x$share_at_edge)) {
      c("at the edge" = paste(names(x$share_at_edge), format_numbers(100 * x$share_at_edge, 2L), "%", collapse = "  "))
    },
    "probability bound" = format_numbers(x$prob_bound, 2L),
    "not converged" = format_count(x$n_late),
    separable = format_count(x$n_separable),
    "constant features" = if (length(x$constant_features)) first_few(x$constant_features, print_max()) else "0",
    skipped = format_count(x$n_skipped)
  ))
  invisible(x)
}

# ---- coefficients ----------------------------------------------------------------------------

#' @rdname predict.voxridge_logistic
#' @export
coef.voxridge_logistic <- function(object, intercept = FALSE, lambda = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(object)
  intercept <- as_flag(intercept)
  if (is.null(lambda) && !intercept) return(object$coefs)
  at <- logistic_coefs(object, lambda, call)
  if (!intercept) return(name_rows_targets(at$coefs, object$features, object$targets, object$is_vector))
  rows <- c("(Intercept)", object$features %||% seq_len(object$dims[["p"]]))
  name_rows_targets(rbind(at$intercept, at$coefs, deparse.level = 0L), rows, object$targets, object$is_vector)
}

# list(coefs = p x t, intercept = t, lambda = t), without names: the chosen ones, or those of a penalty of the path.
logistic_coefs <- function(fit, lambda, call) {
  if (is.null(lambda)) {
    return(list(coefs = unname(as_targets_last(fit$coefs)), intercept = unname(fit$intercept),
                lambda = unname(fit$best_lambda)))
  }
  place <- lambda_place(fit, lambda, call)
  p <- fit$dims[["p"]]
  t <- fit$dims[["t"]]
  list(
    coefs = matrix(array(fit$path$coefs, c(p, length(fit$lambda), t))[, place, ], p, t),
    intercept = matrix(fit$path$intercept, ncol = t)[place, ] + unname(fit$prior_shift),
    lambda = rep(fit$lambda[place], t)
  )
}

lambda_place <- function(fit, lambda, call) {
  if (!is_number(lambda) || lambda <= 0) {
    found <- describe(lambda)
    abort("{.arg lambda} must be NULL or a number greater than 0, not {found}.", "lambda", found = found, call = call)
  }
  if (is.null(fit$path)) {
    abort(
      c("{.arg lambda} must be NULL for a fit that kept the chosen penalties alone, not {format(lambda)}.",
        i = "Fit with {.code keep_path = TRUE}."),
      "lambda",
      found = lambda, call = call
    )
  }
  away <- abs(log(fit$lambda / as.vector(lambda)))
  place <- which.min(away)
  if (away[place] < 1e-6) return(place)
  nearest <- format(fit$lambda[place], digits = 7L)
  abort(
    c("{.arg lambda} must be a penalty of the path ({length(fit$lambda)} from {format(min(fit$lambda), digits = 7L)} to
       {format(max(fit$lambda), digits = 7L)}), not {format(lambda)}.",
      i = "The nearest is {nearest}: {.code fit$lambda[{place}]}."),
    "lambda",
    expected = fit$lambda, found = lambda, call = call
  )
}
