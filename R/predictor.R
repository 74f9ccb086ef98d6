#' Scoring engine
#'
#' Takes the coefficients of a fit out of R, so that forecasts for single rows or small batches take microseconds.
#'
#' An engine forecasts as [predict()][predict.voxridge_logistic] does for a logistic fit (of up to 64 targets bit for
#' bit) and as [predict()][voxridge_fit] does for a ridge fit (to rounding). It adds in one order: eight sums over the
#' features by their place modulo 8, these in a fixed tree, the last products in their order, the intercept, the offset.
#' So a row gets the same bits in any batch, at any place in it and with any number of threads, with one installed build
#' of the package; between builds they may differ by rounding.
#'
#' Coefficients, aligned to 64 bytes, and the space that rows are gathered in are made once: with one thread a call
#' allocates nothing but its result. The coefficients stay in the R object too. After [readRDS()], and in another
#' process, the engine is built again at its first use, without a word.
#'
#' @param fit A fit of [fit_logistic_ridge()]; or of [fit_ridge()] or [fit_banded_ridge()], whose features then come as
#'   one matrix with the columns of all bands in the order of the fit.
#' @param lambda NULL (the default) for the chosen penalties; or one of `fit$lambda`, from a logistic fit with
#'   `keep_path = TRUE`.
#' @param threshold Number between 0 and 1, 0.5 by default: the probability from which on `type = "class"` gives the
#'   positive class. Only for logistic fits.
#' @param x,object An engine.
#' @param newdata m x p numeric matrix (or data frame of numeric columns), rows are samples, no NA, but see `na`.
#'   Columns are matched as in [predict()][predict.voxridge_logistic].
#' @param type `"response"` (the default) for probabilities, or the predictions of a ridge fit; for logistic fits also
#'   `"link"` for logits and `"class"` for classes.
#' @param newoffset NULL (the default) for a fit without an offset; otherwise m numbers, or for several targets also an
#'   m x t matrix, no NA.
#' @param na `"error"` (the default), or `"pass"` for NA where a row of `newdata` has NA, NaN or Inf.
#' @param n_threads Whole number of threads, 1 by default. More are started where the work is worth it (from about
#'   2 million products on).
#' @param ... No further arguments.
#'
#' @returns
#' * `predictor()`: an object of class `voxridge_predictor`. Its fields are `model` (`"logistic"` or `"ridge"`), `coefs`
#'   (p x t), `intercept` (t), `lambda` (t, or NULL), `threshold`, `features`, `targets`, `has_offset`, `dims`,
#'   `is_vector`, `levels`, `positive`, `outcome_type`, `prevalence` and `prior_shift` (t, of the fit), and the handle
#'   of what is outside R.
#' * `predict()`: as for the fit: m x t, or a vector of length m for a vector `y`; names are kept; NA for skipped
#'   targets.
#' * `print()`: `x`, invisibly.
#' @section Errors:
#' Those of [predict()][predict.voxridge_logistic]; `voxridge_error_type` (not a fit of these functions),
#' `voxridge_error_conflict` (`lambda` or `threshold` for a ridge fit), `voxridge_error_argument` (a ridge fit without
#' coefficients), `voxridge_error_no_data` (dual coefficients without data). See [voxridge-conditions].
#' @section Invariants:
#' Any batch of rows, in any order, gets the bits of each row alone, with any number of threads. An engine that was
#' saved and read forecasts the same bits.
#' @seealso [fit_logistic_ridge()], [decision_threshold()], [serve()].
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(100 * 8), 100)
#' fit <- fit_logistic_ridge(X, X[, 1] + rnorm(100) > 0, n_threads = 2)
#' engine <- predictor(fit)
#' engine
#' row <- X[7, , drop = FALSE]
#' predict(engine, row)
#' identical(predict(engine, row), predict(fit, X)[7])
#' @export
predictor <- function(fit, lambda = NULL, threshold = 0.5) {
  call <- rlang::current_env()
  engine <- if (inherits(fit, "voxridge_logistic")) {
    logistic_engine(fit, lambda, as_threshold(threshold), call)
  } else {
    check_engine_fit(fit, call)
    check_ridge_engine(lambda, threshold, missing(threshold), call)
    ridge_engine(fit, call)
  }
  engine$handle <- new.env(parent = emptyenv())
  engine$handle$pointer <- run_core(core_engine(engine$coefs, engine$intercept), call)
  structure(c(list(format = FIT_FORMAT), engine), class = "voxridge_predictor")
}

logistic_engine <- function(fit, lambda, threshold, call) {
  validate_logistic(fit, "fit", call)
  at <- logistic_coefs(fit, lambda, call)
  list(
    model = "logistic", coefs = at$coefs, intercept = at$intercept, lambda = at$lambda, threshold = threshold,
    features = fit$features, targets = fit$targets, has_offset = fit$has_offset, dims = fit$dims[c("p", "t")],
    is_vector = fit$is_vector, levels = fit$levels, positive = fit$positive, outcome_type = fit$outcome_type,
    prevalence = unname(fit$prevalence), prior_shift = unname(fit$prior_shift)
  )
}

ridge_engine <- function(fit, call) {
  validate_fit(fit, "fit", call)
  check_coefs(fit, call, "fit")
  if (fit$coef_form == "dual") check_kept(fit, "features", call, "fit")
  list(
    model = "ridge", coefs = unname(as_targets_last(run_core(stats::coef(fit), call))),
    intercept = unname(fit[["intercept"]]), features = if (is_banded(fit)) names(fit$bands) else fit$features,
    targets = fit$targets, has_offset = FALSE, dims = fit$dims[c("p", "t")], is_vector = fit$is_vector
  )
}

check_engine_fit <- function(fit, call) {
  if (inherits(fit, "voxridge_fit")) return(invisible(fit))
  found <- describe(fit)
  abort(
    c("{.arg fit} must be a fit of {.fn fit_logistic_ridge}, {.fn fit_ridge} or {.fn fit_banded_ridge}, not {found}."),
    "type",
    found = found, call = call
  )
}

check_ridge_engine <- function(lambda, threshold, no_threshold, call) {
  if (is.null(lambda) && no_threshold) return(invisible())
  arg <- if (is.null(lambda)) "threshold" else "lambda"
  found <- describe(lambda %||% threshold)
  what <- if (is.null(lambda)) "Its predictions have no classes." else "It keeps the chosen penalties alone."
  abort(c("{.arg {arg}} must be left out for a ridge fit, not {found}.", i = what), "conflict", found = found,
        call = call)
}

validate_predictor <- function(engine, call, arg = "object") {
  fields <- c("coefs", "handle", "dims", "model")
  good <- is.list(engine) && identical(engine[["format"]], FIT_FORMAT) && all(fields %in% names(engine))
  if (!good) abort_old_fit(engine, arg, call, "an engine", "Make it again with {.fn predictor}.")
}

# ---- predictions -----------------------------------------------------------------------------

#' @rdname predictor
#' @export
predict.voxridge_predictor <- function(object, newdata, type = c("response", "link", "class"), newoffset = NULL,
                                       na = c("error", "pass"), n_threads = 1L, ...) {
  if (...length() > 0L) rlang::check_dots_empty()
  # What is as it should be goes straight to the engine; it answers NULL for all that needs a conversion or a message.
  engine <- unclass(object)  # faster than `$` of an object with a class
  kind <- if (missing(type)) 1L else if (is.character(type)) match(type, FORECAST_TYPES) else NA
  logistic <- identical(engine$model, "logistic")
  plain <- missing(na) && missing(n_threads) && !missing(newdata) && length(kind) == 1L && !is.na(kind) &&
    (logistic || kind == 1L) && identical(engine$has_offset, !is.null(newoffset))
  if (plain) {
    out <- core_engine_quick(engine$handle$pointer, newdata, engine$features, engine$targets, newoffset,
                             logistic && kind == 1L, engine$is_vector)
    if (!is.null(out)) return(if (kind == 3L) forecast_classes(out, engine, engine$threshold) else out)
  }
  call <- rlang::current_env()
  validate_predictor(object, call)
  type <- as_engine_type(type, logistic, call)
  na <- as_choice(na, c("error", "pass"))
  control <- core_control(as_count(n_threads, max = 4096), call = call)
  if (missing(newdata)) {
    abort(c("{.arg newdata} must be given.", i = "An engine keeps no data."), "argument")
  }
  new <- new_logistic(object, newdata, newoffset, na, call)
  m <- nrow(new$X)
  results <- stats::setNames(8 * as.double(m) * object$dims[["t"]], paste0("predictions (", format_count(m), " rows)"))
  check_result_memory(results, "Predict fewer samples per call.", call)
  out <- run_core(score_by_engine(object, new, logistic && type == "response", control), call)
  out <- name_rows_targets(out, new$samples, object$targets, object$is_vector)
  if (type == "class") forecast_classes(out, object, object$threshold) else out
}

# m x t. An engine from a file or another process is built again.
score_by_engine <- function(engine, new, probability, control) {
  score <- function() core_engine_score(engine$handle$pointer, new$X, new$offset, probability, control)
  out <- score()
  if (!is.null(out)) return(out)
  engine$handle$pointer <- core_engine(engine$coefs, engine$intercept)
  score()
}

as_engine_type <- function(type, logistic, call) {
  type <- as_choice(type, FORECAST_TYPES, arg = "type", call = call)
  if (logistic || type == "response") return(type)
  abort(
    c("{.arg type} must be {.val response} for the engine of a ridge fit, not {.val {type}}.",
      i = "Its predictions are numbers without a link and without classes."),
    "argument",
    expected = "response", found = type, call = call
  )
}

# ---- print -----------------------------------------------------------------------------------

#' @rdname predictor
#' @export
print.voxridge_predictor <- function(x, ...) {
  rlang::check_dots_empty()
  validate_predictor(x, rlang::current_env())
  dims <- vapply(x$dims, format_count, "")
  lambda <- x$lambda[!is.na(x$lambda)]
  title <- sprintf("Scoring engine: %s feature%s x %s target%s", dims[["p"]], plural(x$dims[["p"]]), dims[["t"]],
                   plural(x$dims[["t"]]))
  print_fields(title, c(
    model = if (x$model == "logistic") "ridge-penalised logistic regression" else "ridge regression",
    if (length(lambda)) c(lambda = paste(unique(format_numbers(range(lambda))), collapse = " to ")),
    if (x$model == "logistic") c(positive = positive_words(x), threshold = format_numbers(x$threshold)),
    if (x$has_offset) c(offset = "yes: predict() needs newoffset"),
    columns = if (is.null(x$features)) "by their order" else first_few(x$features, print_max())
  ))
  invisible(x)
}
