# Predictions of logistic fits, by the engine that predictor() keeps.

FORECAST_TYPES <- c("response", "link", "class")

# The most targets whose predictions predict() makes by the engine, rather than by a product of matrices.
MAX_ENGINE_TARGETS <- 64L

#' @rdname predict.voxridge_logistic
#' @export
predict.voxridge_logistic <- function(object, newdata, type = c("response", "link", "class"), newoffset = NULL,
                                      lambda = NULL, threshold = 0.5, na = c("error", "pass"), n_threads = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(object)
  type <- as_choice(type, FORECAST_TYPES)
  if (!missing(threshold)) check_threshold_used(type, threshold, call)
  threshold <- as_threshold(threshold)
  na <- as_choice(na, c("error", "pass"))
  new <- if (missing(newdata)) {
    kept_logistic(object, newoffset, call)
  } else {
    new_logistic(object, newdata, newoffset, na, call)
  }
  out <- predict_logistic(object, new, type == "response", lambda, n_threads, call)
  out <- name_rows_targets(out, new$samples, object$targets, object$is_vector)
  if (type == "class") forecast_classes(out, object, threshold) else out
}

#' @rdname predict.voxridge_logistic
#' @export
fitted.voxridge_logistic <- function(object, n_threads = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(object)
  kept <- kept_logistic(object, NULL, call)
  out <- predict_logistic(object, kept, TRUE, NULL, n_threads, call)
  name_rows_targets(out, kept$samples, object$targets, object$is_vector)
}

#' @rdname predict.voxridge_logistic
#' @export
residuals.voxridge_logistic <- function(object, type = c("response", "deviance"), n_threads = NULL, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_logistic(object)
  type <- as_choice(type, c("response", "deviance"))
  kept <- kept_logistic(object, NULL, call)
  y <- unname(object$data$Y)
  z <- predict_logistic(object, kept, FALSE, NULL, n_threads, call)
  out <- matrix(logistic_residuals(y, z), nrow(z))
  if (type == "deviance") out <- sign(out) * sqrt(2 * pmax(0, logistic_losses(y, z) - binary_entropy(y)))
  out[, object$diagnostics$skipped_targets] <- NA_real_
  name_rows_targets(out, kept$samples, object$targets, object$is_vector)
}

# -y log p - (1 - y) log(1 - p), where a term of weight 0 is 0.
logistic_losses <- function(y, z) {
  part <- function(weight, log_p) ifelse(weight > 0, -weight * log_p, 0)
  part(y, core_sigmoid(z, TRUE)) + part(1 - y, core_sigmoid(-z, TRUE))
}

# ---- samples ---------------------------------------------------------------------------------

# list(X, offset, samples): those of the fit.
kept_logistic <- function(fit, newoffset, call, arg = "object") {
  check_kept(fit, c("features", "Y"), call, arg)
  if (!is.null(newoffset)) {
    abort(
      c("{.arg newoffset} must be NULL without {.arg newdata}, not {describe(newoffset)}.",
        i = "The samples of the fit have their own offset."),
      "conflict",
      found = describe(newoffset), call = call
    )
  }
  list(X = fit$data$X, offset = fit$data$offset, samples = rownames(fit$data$X) %||% rownames(fit$data$Y))
}

# The same of new data: checked, and with the columns of the fit in their order. `fit`: a fit or an engine.
new_logistic <- function(fit, newdata, newoffset, na, call) {
  X <- if (na == "pass") as_double_matrix(newdata, "newdata", call) else as_features(newdata, "newdata", call)
  order <- match_columns(colnames(X), ncol(X), fit$features, fit$dims[["p"]], "newdata", "column", call)
  if (!is.null(order)) X <- X[, order, drop = FALSE]
  list(X = X, offset = as_newoffset(newoffset, fit, nrow(X), call), samples = rownames(X))
}

# NULL or m x t.
as_newoffset <- function(newoffset, fit, m, call) {
  t <- fit$dims[["t"]]
  if (fit$has_offset && is.null(newoffset)) {
    shape <- if (t > 1L) sprintf("length %d, or %d x %d", m, m, t) else paste("length", m)
    abort(
      c("{.arg newoffset} must be given ({shape}), since this fit used an offset.",
        i = "It is added to the logits: 0 for each row leaves it out."),
      "missing_newoffset",
      expected = m, call = call
    )
  }
  if (!fit$has_offset && !is.null(newoffset)) {
    abort(
      c("{.arg newoffset} must be NULL for a fit without an offset, not {describe(newoffset)}.",
        i = "Fit with {.arg offset}; or add it to the logits of {.code type = \"link\"}."),
      "conflict",
      found = describe(newoffset), call = call
    )
  }
  as_offset(newoffset, m, t, call, "newoffset", "samples")
}

# ---- forecasts -------------------------------------------------------------------------------

# m x t without names: probabilities or logits. `new`: of kept_logistic() or new_logistic().
predict_logistic <- function(fit, new, probability, lambda, n_threads, call) {
  at <- logistic_coefs(fit, lambda, call)
  m <- nrow(new$X)
  t <- ncol(at$coefs)
  # to look for the number of cores takes longer than small work
  if (is.null(n_threads) && as.double(m) * length(at$coefs) < 2e6) n_threads <- 1L
  control <- core_control(n_threads, call = call)
  results <- stats::setNames(8 * as.double(m) * t, sprintf("predictions (%s x %s)", format_count(m), format_count(t)))
  check_result_memory(results, "Predict fewer samples per call.", call)
  if (t > MAX_ENGINE_TARGETS) return(forecast_product(at, new, probability))
  run_core(core_engine_score(core_engine(at$coefs, at$intercept), new$X, new$offset, probability, control), call)
}

# The same by a product of matrices, for many targets.
forecast_product <- function(at, new, probability) {
  z <- matrix(NA_real_, nrow(new$X), ncol(at$coefs))
  rows <- which(!is.na(rowSums(new$X * 0)))
  used <- which(!is.na(colSums(at$coefs * 0)))
  X <- if (length(rows) < nrow(z)) new$X[rows, , drop = FALSE] else new$X
  if (length(rows)) {
    z[rows, used] <- X %*% at$coefs[, used, drop = FALSE] + rep(at$intercept[used], each = length(rows))
  }
  if (!is.null(new$offset)) z <- z + new$offset
  if (!probability) return(z)
  out <- core_sigmoid(z, FALSE)
  dim(out) <- dim(z)
  out
}

# ---- classes ---------------------------------------------------------------------------------

as_threshold <- function(threshold, call = rlang::caller_env()) as_share(threshold, "threshold", call)

check_threshold_used <- function(type, threshold, call) {
  if (type == "class") return(invisible())
  abort(
    c("{.arg threshold} must be left out for {.code type = \"{type}\"}, not {describe(threshold)}.",
      i = "It makes classes: {.code type = \"class\"}."),
    "conflict",
    found = threshold, call = call
  )
}

# Logits as the classes of the outcomes: p >= threshold, by the logits.
forecast_classes <- function(z, fit, threshold) {
  positive <- z >= as_logits(threshold, "probability")
  types <- fit$outcome_type
  if (all(types == "logical")) return(positive)
  if (all(types == "number")) {
    storage.mode(positive) <- "integer"
    return(positive)
  }
  if (!is.matrix(positive)) return(class_column(positive, types, fit$levels, fit$positive))
  columns <- lapply(seq_along(types), function(j) {
    class_column(unname(positive[, j]), types[[j]], fit$levels[, j], fit$positive[[j]])
  })
  names(columns) <- fit$targets %||% paste0("V", seq_along(types))
  out <- as.data.frame(columns, optional = TRUE)
  if (!is.null(rownames(positive))) rownames(out) <- rownames(positive)
  out
}

class_column <- function(positive, type, levels, level) {
  if (type == "logical") return(positive)
  if (type == "number") return(as.integer(positive))
  place <- match(level, levels)
  out <- 3L - place + (2L * place - 3L) * as.integer(positive)
  structure(out, levels = unname(levels), class = "factor", names = names(positive))
}
