#' Verbs of fitted models
#'
#' Print, summarise, predict with and take apart what [fit_ridge()] and [fit_banded_ridge()] return.
#'
#' `predict()` matches the columns of new data by name where the fit and the new data both have names: they may come in
#' another order, but none may be missing and none unknown. Without names there must be as many columns as in the fit.
#' With dual coefficients it never forms the p x t primal ones. Targets are processed in blocks within the memory
#' budget.
#'
#' `print()` shows at most `getOption("voxridge.print_max", 5)` bands.
#'
#' @param x,object A fit of [fit_ridge()] or [fit_banded_ridge()].
#' @param newdata m x p numeric matrix (or data frame of numeric columns), rows are samples, no NA; for a banded fit
#'   also a named list of matrices, in any order. Without it, `predict()` gives the fitted values.
#' @param bands NULL (the default): a matrix as `newdata` has the columns in the order of the fit; or the band of each
#'   of its columns, as in [fit_banded_ridge()]. Only for a banded fit and a matrix.
#' @param ... No further arguments.
#'
#' @returns
#' * `predict()` and `fitted()`: samples x targets; `residuals()`: `Y` minus fitted values, n x t; for a vector `Y`
#'   vectors over samples. Names of rows and targets are kept. Skipped targets are NA.
#' * `coef()`: features x targets (p x t), a vector of length p for a vector `Y`; also from dual coefficients. The
#'   intercept is `fit$intercept`.
#' * `print()`: `x`, invisibly.
#' * `summary()`: an object of class `summary.voxridge_fit` with its own `print()`: a list of `dims`, `score_func`,
#'   `scores` (mean and quantiles over targets), `alphas` (quantiles), `share_at_edge`, `bands` (data frame of `band`,
#'   `n_features`, mean `weight` and `share_without`, the share of targets where it has weight 0; NULL for
#'   [fit_ridge()]), `n_constant`, `n_skipped`. Constant and skipped targets do not count.
#' @section Errors:
#' `voxridge_error_newdata` (columns or bands that are missing or not those of the fit), `voxridge_error_type`,
#' `voxridge_error_shape`, `voxridge_error_nonfinite` (`newdata`); `voxridge_error_no_data` (no kept data);
#' `voxridge_error_argument` (`coef()` of a fit without coefficients, `bands` where there are none);
#' `voxridge_error_memory`; `voxridge_error_old_object`. See [voxridge-conditions].
#' @section Invariants:
#' Predictions for the samples of the fit are the fitted values. Primal and dual coefficients give the same predictions.
#' The order of named columns and of bands does not matter.
#' @examples
#' data <- simulate_encoding(n = 80, p = 10, t = 4, seed = 1)
#' fit <- fit_ridge(data$X, data$Y, cv = data$runs, n_threads = 2)
#' dim(coef(fit))
#' predict(fit, data$X[1:3, ])
#' summary(fit)
#' @name voxridge_fit
NULL

# ---- print and summary -----------------------------------------------------------------------

#' @rdname voxridge_fit
#' @export
print.voxridge_fit <- function(x, ...) {
  rlang::check_dots_empty()
  validate_fit(x, "x")
  print_fields(fit_title(x), c(print_design(x), print_choice(x), print_machine(x)))
  invisible(x)
}

print_fields <- function(title, fields) {
  labels <- format(paste0(names(fields), ":"))
  cat(title, "\n", paste0("  ", labels, " ", fields, "\n"), sep = "")
}

fit_title <- function(fit) {
  dims <- vapply(fit$dims, format_count, "")
  sprintf("%s: %s samples x %s feature%s x %s target%s", if (is_banded(fit)) "Banded ridge" else "Ridge",
          dims[["n"]], dims[["p"]], plural(fit$dims[["p"]]), dims[["t"]], plural(fit$dims[["t"]]))
}

plural <- function(n) if (n == 1) "" else "s"

print_design <- function(fit) {
  folds <- switch(fit$folds$kind,
    loo = "leave-one-out in closed form",
    gcv = "generalised cross-validation",
    sprintf("%d fold%s", fit$folds$n, plural(fit$folds$n))
  )
  mask <- fit$mask
  c(
    if (is_banded(fit)) c(bands = print_bands(fit)),
    if (!is.null(mask)) {
      c(mask = sprintf("%s voxel%s of %s", format_count(mask$n), plural(mask$n), paste(mask$dim, collapse = " x ")))
    },
    folds = folds,
    intercept = if (fit$fit_intercept) "yes" else "no",
    if (fit$standardize) c(features = "divided by their standard deviation over training rows")
  )
}

print_bands <- function(fit) {
  sizes <- table(fit$bands)
  first_few(sprintf("%s (%s)", names(sizes), vapply(as.vector(sizes), format_count, "")), print_max())
}

print_max <- function(call = rlang::caller_env()) {
  as_count(getOption("voxridge.print_max", 5L), arg = "options(voxridge.print_max)", call = call)
}

print_choice <- function(fit) {
  constant <- length(fit$diagnostics$constant_targets)
  skipped <- length(fit$diagnostics$skipped_targets)
  left_out <- c(
    if (constant) paste(format_count(constant), "constant"),
    if (skipped) paste(format_count(skipped), "skipped")
  )
  c(
    alphas = print_alphas(fit),
    score = print_scores(fit),
    if (length(left_out)) c(targets = paste(paste(left_out, collapse = ", "), "(not counted here)"))
  )
}

print_alphas <- function(fit) {
  range <- format_numbers(range(fit$alphas))
  if (length(fit$alphas) == 1L) return(range[1L])
  grid <- sprintf("%d from %s to %s", length(fit$alphas), range[1L], range[2L])
  share <- fit$diagnostics$share_at_edge
  if (anyNA(share)) return(grid)
  percent <- paste(format_numbers(100 * share, 2L), "%")
  sprintf("%s; smallest for %s, largest for %s of targets", grid, percent[1L], percent[2L])
}

print_scores <- function(fit) {
  word <- if (fit$score_func == "user") "a function" else fit$score_func
  scores <- fit$scores[counted_by_fit(fit)]
  if (!length(scores)) return(paste0(word, if (is.null(fit$scores)) ", not kept" else ", of no target that counts"))
  if (length(scores) == 1L) return(sprintf("%s %s", word, format_numbers(scores)))
  sprintf("%s, mean %s, from %s to %s", word, format_numbers(mean(scores)), format_numbers(min(scores)),
          format_numbers(max(scores)))
}

print_machine <- function(fit) {
  info <- fit$diagnostics$info
  c(
    coefs = fit$coef_form,
    computed = sprintf("%s (%s), %s precision, %d thread%s, %s s", fit$backend, backend_device(fit$backend),
                       info$precision, info$n_threads, plural(info$n_threads),
                       format_numbers(fit$diagnostics$seconds, 2L))
  )
}

backend_device <- function(backend) if (backend == "cuda") "gpu" else "cpu"

# Three digits, each number by itself; powers of ten for the very large and very small.
format_numbers <- function(x, digits = 3L) {
  vapply(unname(x), function(value) {
    powers <- value != 0 && (abs(value) < 1e-4 || abs(value) >= 1e5)
    format(signif(value, digits), digits = 15L, scientific = powers)
  }, "")
}

#' @rdname voxridge_fit
#' @export
summary.voxridge_fit <- function(object, ...) {
  rlang::check_dots_empty()
  validate_fit(object)
  counted <- counted_by_fit(object)
  scores <- object$scores[counted]
  out <- list(
    model = class(object)[1L],
    title = fit_title(object),
    dims = object$dims,
    score_func = object$score_func,
    scores = if (length(scores)) c(mean = mean(scores), stats::quantile(scores)),
    alphas = if (length(counted)) stats::quantile(object$best_alphas[counted], type = 1L),
    share_at_edge = object$diagnostics$share_at_edge,
    bands = if (is_banded(object)) band_summary(object, counted),
    n_constant = length(object$diagnostics$constant_targets),
    n_skipped = length(object$diagnostics$skipped_targets)
  )
  structure(out, class = "summary.voxridge_fit")
}

band_summary <- function(fit, counted) {
  weights <- band_weights(fit)[, counted, drop = FALSE]
  data.frame(
    band = levels(fit$bands),
    n_features = as.vector(table(fit$bands)),
    weight = rowMeans(weights),
    share_without = rowMeans(weights == 0),
    row.names = NULL
  )
}

# Bands x targets: the share of each band in the sum of a target's weights.
band_weights <- function(fit) {
  gammas <- unname(as_targets_last(fit$gammas))
  gammas / rep(colSums(gammas), each = nrow(gammas))
}

#' @rdname voxridge_fit
#' @export
print.summary.voxridge_fit <- function(x, ...) {
  rlang::check_dots_empty()
  word <- if (x$score_func == "user") "score" else x$score_func
  share <- x$share_at_edge
  shown <- function(values) paste(names(values), format_numbers(values), collapse = "  ")
  fields <- c(
    if (length(x$scores)) stats::setNames(shown(x$scores), word),
    if (length(x$alphas)) c(alpha = shown(x$alphas)),
    if (!anyNA(share)) c("at the edge" = paste(names(share), format_numbers(100 * share, 2L), "%", collapse = "  ")),
    constant = format_count(x$n_constant),
    skipped = format_count(x$n_skipped)
  )
  print_fields(x$title, fields)
  if (!is.null(x$bands)) {
    cat("  weights of bands (mean over targets):\n")
    table <- x$bands
    table[3:4] <- lapply(table[3:4], function(column) format_numbers(column))
    print(utils::head(table, print_max() * 4L), row.names = FALSE)
  }
  invisible(x)
}

# ---- coefficients ----------------------------------------------------------------------------

#' @rdname voxridge_fit
#' @export
coef.voxridge_fit <- function(object, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_fit(object)
  check_coefs(object, call)
  if (object$coef_form == "primal") return(object$coefs)
  check_kept(object, "features", call)
  check_coef_memory(object$dims[["p"]], object$dims[["t"]], call)
  dual <- as_targets_last(object$coefs)
  gammas <- if (is_banded(object)) unname(as_targets_last(object$gammas))
  parts <- kept_parts(object)
  rows <- part_rows(object)
  coefs <- matrix(NA_real_, object$dims[["p"]], object$dims[["t"]])
  for (block in fit_blocks(object, max(lengths(rows)), 1)) {
    for (b in seq_along(parts)) {
      coefs[rows[[b]], block] <- crossprod(parts[[b]], weighted_dual(dual, gammas, b, block))
    }
  }
  name_rows_targets(coefs, object$features, object$targets, object$is_vector)
}

check_coefs <- function(fit, call, arg = "object") {
  if (!is.null(fit[["coefs"]])) return(invisible(fit))
  abort(
    c("{.arg {arg}} must have coefficients, not be a fit with {.code return_coefs = \"none\"}.",
      i = "Fit with {.code return_coefs = \"primal\"} or {.code \"dual\"}."),
    "argument",
    found = "none", call = call
  )
}

# Dual coefficients of some targets, times the weight that band b has for each.
weighted_dual <- function(dual, gammas, b, block) {
  out <- dual[, block, drop = FALSE]
  if (is.null(gammas)) return(out)
  out * rep(gammas[b, block], each = nrow(out))
}

# Blocks of the targets that were fitted, so that matrices of `rows` x block fit into the budget.
fit_blocks <- function(fit, rows, n_matrices) {
  target_blocks(setdiff(seq_len(fit$dims[["t"]]), skipped_by_fit(fit)), rows, n_matrices)
}

# ---- predictions -----------------------------------------------------------------------------

#' @rdname voxridge_fit
#' @export
predict.voxridge_ridge <- function(object, newdata, ...) {
  rlang::check_dots_empty()
  predict_fit(object, if (missing(newdata)) NULL else setting(newdata, TRUE), NULL, rlang::current_env())
}

#' @rdname voxridge_fit
#' @export
predict.voxridge_banded_ridge <- function(object, newdata, bands = NULL, ...) {
  rlang::check_dots_empty()
  predict_fit(object, if (missing(newdata)) NULL else setting(newdata, TRUE), bands, rlang::current_env())
}

#' @rdname voxridge_fit
#' @export
fitted.voxridge_fit <- function(object, ...) {
  rlang::check_dots_empty()
  predict_fit(object, NULL, NULL, rlang::current_env())
}

#' @rdname voxridge_fit
#' @export
residuals.voxridge_fit <- function(object, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  validate_fit(object)
  check_kept(object, c("features", "Y"), call)
  out <- kept_targets(object) - predict_fit(object, NULL, NULL, call)
  if (object$is_vector) return(with_names(out, sample_names(object)))
  attributes(out) <- list(dim = dim(out))
  with_dimnames(out, list(sample_names(object), object$targets))
}

# `newdata`: NULL for the kept features, or setting(value).
predict_fit <- function(fit, newdata, bands, call) {
  validate_fit(fit, call = call)
  check_coefs(fit, call)
  if (is.null(newdata)) check_kept(fit, "features", call)
  new <- if (is.null(newdata)) {
    list(parts = kept_parts(fit), samples = sample_names(fit))
  } else {
    newdata_parts(fit, newdata$value, bands, call)
  }
  check_new_memory(fit, nrow(new$parts[[1L]]), call)
  name_rows_targets(predict_parts(fit, new$parts), new$samples, fit$targets, fit$is_vector)
}

# Samples x targets from one checked matrix per band; NA for skipped targets.
predict_parts <- function(fit, parts) {
  m <- nrow(parts[[1L]])
  out <- matrix(NA_real_, m, fit$dims[["t"]])
  predictor <- block_predictor(fit, parts)
  for (block in fit_blocks(fit, m, 2)) out[, block] <- predictor(block)
  out
}

check_new_memory <- function(fit, m, call) {
  results <- 8 * as.double(m) * c(fit$dims[["t"]], if (fit$coef_form == "dual") fit$dims[["n"]] else 0)
  names(results) <- c(paste0("predictions (", format_count(m), " x ", format_count(fit$dims[["t"]]), ")"),
                      "products of samples")
  check_result_memory(results, "Predict fewer samples per call.", call)
}

# function(block): predictions of some targets from new parts (one matrix per band). What does not depend on the targets
# is made once.
block_predictor <- function(fit, parts) {
  dual <- fit$coef_form == "dual"
  rows <- part_rows(fit)
  gammas <- if (is_banded(fit)) unname(as_targets_last(fit$gammas))
  coefs <- as_targets_last(fit$coefs)
  intercept <- unname(fit$intercept)
  left <- if (dual) Map(tcrossprod, parts, kept_parts(fit)) else parts
  whole <- length(parts) == 1L && !dual
  function(block) {
    out <- 0
    for (b in seq_along(left)) {
      right <- if (dual) {
        weighted_dual(coefs, gammas, b, block)
      } else if (whole) {
        if (length(block) == ncol(coefs)) coefs else coefs[, block, drop = FALSE]
      } else {
        coefs[rows[[b]], block, drop = FALSE]
      }
      product <- left[[b]] %*% right
      out <- if (b == 1L) product else out + product
    }
    if (is.null(intercept)) unname(out) else unname(out) + rep(intercept[block], each = nrow(out))
  }
}
