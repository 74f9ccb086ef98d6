#' What each band contributes to the variance explained
#'
#' Splits the score of a fit on given samples into one part per band; the parts sum to the score of all bands together.
#'
#' The prediction of band b is its features times its coefficients. Targets are taken about their own mean in `Y`. With
#' an intercept so are the predictions, so a constant offset between the samples of the fit and these does not count.
#' Without one they are taken as they are, as for data that were centred beforehand.
#'
#' With `method = "product"` the part of band b is sum((2 y - P) P_b) / sum(y^2), where y is the centred target, P_b the
#' prediction of band b and P their sum: the product measure. The parts sum to 1 - sum((y - P)^2) / sum(y^2), R2. With
#' `"correlation"` it is the covariance of y and P_b over the standard deviations of y and P. The parts sum to the
#' correlation of y and P. Parts can be negative: bands that share variance are not orthogonal. A target that is
#' constant has parts 0, and so has a constant prediction for `"correlation"`.
#'
#' On the samples of the fit the parts flatter the larger bands as any score on training samples does: use samples that
#' the fit has not seen.
#'
#' @param fit A fit of [fit_banded_ridge()] or [fit_ridge()]; or the result of [solve_banded_ridge_cv()] or
#'   [solve_ridge_cv()] with primal coefficients; or a list with their `coefs` (p x t, or a vector of length p) and,
#'   where there is one, `intercept`.
#' @param Xs The bands, as in [solve_banded_ridge_cv()]: a named list of matrices, or a matrix with `bands`; n x p_b, n
#'   samples, with the bands and columns of the fit. The names of the bands tell which is which.
#' @param Y n x t numeric matrix, rows are samples, columns are the targets of the fit; or a numeric vector of length n
#'   for a fit of a single target, which gives a vector back. NA, NaN and Inf are allowed in targets that the fit
#'   skipped.
#' @param bands NULL (the default) where `Xs` is a list; where it is a matrix, the band of each of its p columns.
#' @param method `"product"` (the default) or `"correlation"`: see Details.
#'
#' @returns Bands x targets, named; a vector over bands for a vector `Y`. NA for targets that the fit skipped.
#' @section Errors:
#' `voxridge_error_bands` (bands or columns by other names than in the fit), `voxridge_error_shape` (other numbers of
#' columns, samples or targets), `voxridge_error_type`, `voxridge_error_nonfinite`, `voxridge_error_argument`,
#' `voxridge_error_conflict`. See [voxridge-conditions].
#' @section Invariants:
#' The parts sum to the joint score. The order of bands and targets does not matter, and a constant added to a target
#' changes nothing.
#' @references
#' Pratt, J. W. (1987). Dividing the indivisible: using simple symmetry to partition variance explained. In: Proceedings
#' of the Second International Tampere Conference in Statistics, 245-260.
#'
#' Groemping, U. (2007). Estimators of relative importance in linear regression based on variance decomposition. The
#' American Statistician 61(2), 139-147. \doi{10.1198/000313007X188252}
#'
#' Dupre la Tour, T., Eickenberg, M., Nunez-Elizalde, A. O., Gallant, J. L. (2022). Feature-space selection with banded
#' ridge regression. NeuroImage 264, 119728. \doi{10.1016/j.neuroimage.2022.119728}
#' @source The product measure: Pratt (1987), Groemping (2007).
#' @seealso [r2_unique()] for what only one band explains.
#' @examples
#' data <- simulate_encoding(n = 120, p = 30, t = 5, n_bands = 2, seed = 1)
#' train <- data$runs != 4
#' samples <- function(rows) lapply(data$Xs, function(X) X[rows, ])
#' fit <- solve_banded_ridge_cv(samples(train), data$Y[train, ], n_iter = 20, alphas = 10^(-2:4),
#'                              cv = data$runs[train], seed = 1, n_threads = 2)
#' split <- r2_split(fit, samples(!train), data$Y[!train, ])
#' round(split, 2)
#' round(colSums(split), 2)
#' @export
r2_split <- function(fit, Xs, Y, bands = NULL, method = c("product", "correlation")) {
  call <- rlang::current_env()
  method <- as_choice(method, c("product", "correlation"))
  coefs <- fit_coefs(fit, call)
  given <- match_bands(as_bands(Xs, bands, call), fit, nrow(coefs), rownames(coefs), call)
  n <- nrow(given$Xs[[1L]])
  skip <- which(is.na(coefs[1L, ]))
  targets <- fit_targets(Y, n, ncol(coefs), skip, call)
  centred <- !is.null(fit[["intercept"]])
  out <- matrix(NA_real_, length(given$names), ncol(coefs))
  for (block in target_blocks(setdiff(seq_len(ncol(coefs)), skip), n, length(given$names))) {
    parts <- Map(function(X, rows) {
      part <- X %*% coefs[rows, block, drop = FALSE]
      if (centred) centre(part) else part
    }, given$Xs, given$rows)
    out[, block] <- split_scores(targets$Y[, block, drop = FALSE], parts, method)
  }
  name_rows_targets(out, given$names, targets$names %||% colnames(coefs), targets$is_vector)
}

SPLIT_BLOCK_BYTES <- 2.5e8

# Blocks of targets for which the predictions of all bands fit into the budget.
target_blocks <- function(targets, n, n_bands) {
  bytes <- min(memory_budget_bytes(), SPLIT_BLOCK_BYTES)
  size <- max(1, floor(bytes / (8 * as.double(n) * (n_bands + 4))))
  unname(split(targets, (seq_along(targets) - 1L) %/% size))
}

# Bands x targets, from the predictions of each band.
split_scores <- function(Y, parts, method) {
  y <- centre(Y)
  prediction <- Reduce(`+`, parts)
  constant <- is_constant(Y, y)
  if (method == "product") {
    weight <- 2 * y - prediction
    total <- colSums(y^2)
  } else {
    weight <- y
    centred <- centre(prediction)
    constant <- constant | is_constant(prediction, centred)
    total <- sqrt(colSums(y^2)) * sqrt(colSums(centred^2))
  }
  scores <- matrix(unlist(lapply(parts, function(part) colSums(weight * part))), length(parts), byrow = TRUE)
  scores <- scores / rep(total, each = length(parts))
  scores[, constant] <- 0
  scores
}

centre <- function(x) x - rep(colMeans(x), each = nrow(x))

# Per column: no variance but for rounding. `centred` is x less its column means.
is_constant <- function(x, centred) {
  colSums(centred^2) <= (nrow(x) * .Machine$double.eps)^2 * colSums(x^2)
}

# ---- a fit and the data it is asked about ----------------------------------------------------

# The coefficients of a fit as a matrix, p x t.
fit_coefs <- function(fit, call) {
  check_fit_list(fit, call)
  coefs <- if (inherits(fit, "voxridge_fit") && identical(fit[["coef_form"]], "dual")) {
    run_core(stats::coef(fit), call)
  } else {
    fit[["coefs"]]
  }
  if (is.numeric(coefs) && is.null(dim(coefs))) coefs <- matrix(coefs, ncol = 1L, dimnames = list(names(coefs), NULL))
  dual <- !inherits(fit, "voxridge_fit") && identical(fit[["diagnostics"]][["info"]][["coefs"]], "dual")
  if (is.matrix(coefs) && is.numeric(coefs) && all(dim(coefs) > 0L) && !dual) return(coefs)
  found <- if (is.null(coefs)) "none" else if (dual) "dual ones" else describe(coefs)
  abort(
    c("{.arg fit} must have primal coefficients, not {found}.", i = "Fit with {.code return_coefs = \"primal\"}."),
    "argument",
    found = found, call = call
  )
}

check_fit_list <- function(fit, call) {
  refuse_logistic(fit, "fit", call)
  if (is.list(fit) && !is.data.frame(fit)) return(invisible(fit))
  found <- describe(fit)
  abort(
    c("{.arg fit} must be the result of {.fn solve_banded_ridge_cv}, not {found}.",
      i = "The fit comes first, then {.arg Xs} and {.arg Y}."),
    "type",
    found = found, call = call
  )
}

# The bands in the order of the fit, with `rows`: the rows of p coefficients that belong to each. `features`: names of
# the coefficients, or NULL.
match_bands <- function(given, fit, p, features, call) {
  in_fit <- fit[["bands"]] %||% band_factor(given)
  check_band_match(given$names, levels(in_fit), call)
  rows <- unname(split(seq_along(in_fit), in_fit))
  columns <- unname(split(seq_len(sum(given$sizes)), band_factor(given)))
  place <- match(levels(in_fit), given$names)
  sizes <- given$sizes[place]
  wrong <- which(sizes != lengths(rows))
  if (length(wrong) || length(in_fit) != p) abort_fit_columns(given$names[place], sizes, lengths(rows), p, wrong, call)
  if (!is.null(features) && !is.null(given$features)) {
    check_column_match(given$features[unlist(columns[place])], features[unlist(rows)], call)
  }
  list(Xs = given$Xs[place], names = levels(in_fit), rows = rows)
}

check_band_match <- function(found, expected, call) {
  missing <- setdiff(expected, found)
  unknown <- setdiff(found, expected)
  if (!length(missing) && !length(unknown)) return(invisible(found))
  abort(
    c("{.arg Xs} must have the bands of {.arg fit} ({.val {expected}}), not {.val {found}}.",
      i = if (length(missing)) "Missing: {.val {missing}}." else "Not in the fit: {.val {unknown}}."),
    "bands",
    expected = expected, found = found, call = call
  )
}

abort_fit_columns <- function(names, found, expected, p, wrong, call) {
  if (!length(wrong)) {
    total <- sum(found)
    abort("{.arg Xs} must have the {p} feature{?s} of {.arg fit}, not {total}.", "shape",
          expected = p, found = total, call = call)
  }
  first <- wrong[1L]
  abort(
    "Band {.val {names[first]}} of {.arg Xs} must have the {expected[first]} column{?s} of {.arg fit},
     not {found[first]}.",
    "shape",
    expected = expected, found = found, where = names[wrong], call = call
  )
}

check_column_match <- function(found, expected, call) {
  where <- which(found != expected)
  if (!length(where)) return(invisible(found))
  first <- where[1L]
  abort(
    c("The columns of {.arg Xs} must be named as in {.arg fit}, not otherwise in {length(where)} of {length(found)}.",
      i = "Where the fit has {.val {expected[first]}}, {.arg Xs} has {.val {found[first]}}."),
    "bands",
    expected = expected[where], found = found[where], where = where, call = call
  )
}

# Targets as the fit had them; those it skipped may be anything.
fit_targets <- function(Y, n, t, skip, call) {
  targets <- as_targets(Y, n, "skip", call = call, arg_x = "Xs")
  found <- ncol(targets$Y)
  if (found != t) {
    abort(
      "{.arg Y} must have the {t} target{?s} of {.arg fit}, not {found}.",
      "shape",
      expected = t, found = found, call = call
    )
  }
  bad <- setdiff(targets$skip, skip)
  if (!length(bad)) return(targets)
  shown <- first_few(column_labels(bad, targets$names))
  abort(
    c("{.arg Y} must be finite, not NA, NaN or Inf in {length(bad)} of {t} target{?s} ({shown}).",
      i = "Only targets that the fit skipped may have them. Drop these targets from {.arg Y} and from the fit."),
    "nonfinite",
    found = length(bad), where = bad, call = call
  )
}
