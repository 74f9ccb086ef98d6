#' Remove trends and scale, run by run
#'
#' Removes a polynomial trend from every column within each run, and divides by the run's standard deviation.
#'
#' The trend is fitted by least squares on orthogonal polynomials, so a high degree or a long run costs no accuracy.
#' What is left is divided by its standard deviation with `scale = "sd"`. With `"z"` the mean of the `reference` samples
#' of the run is subtracted first, and their standard deviation divides, as for scores against rest. Standard deviations
#' have the number of samples as divisor.
#'
#' A column of which nothing is left in a run but rounding comes back as 0 there, never as NaN: where the sum of squares
#' about the mean is at most n^2 eps^2 times the sum of squares of the column, over the n samples of the run (for `"z"`,
#' over its reference samples) and machine epsilon eps. Such columns are no error: constant voxels are found in every
#' image.
#'
#' @section Leakage:
#' A run is cleaned from its own samples alone. So a held-out sample cannot influence a training sample as long as folds
#' keep runs whole. The result carries the labels in its attribute `runs`, and all functions with a `cv` argument refuse
#' folds that train and test on samples of one run of such data, `"loo"` and `"gcv"` included
#' (`voxridge_error_leakage`; [decode()] warns). Base R drops the attribute when rows or columns are taken with `[`;
#' [feature_spaces()] keeps it.
#'
#' @param x n x v numeric matrix, rows are samples, columns are voxels or features, no NA; a numeric vector, which is
#'   one column and gives a vector back; or a data frame of numeric columns.
#' @param runs A label per sample (number, string, factor), no NA; each run must be one block of rows.
#' @param detrend Degree of the trend: 1 (the default) removes mean and linear trend, 0 the mean only; NULL removes
#'   nothing. Every run must have at least `detrend + 2` samples.
#' @param scale `"none"` (the default), `"sd"` or `"z"`: see Details.
#' @param reference NULL (the default) means all samples; or the samples that `scale = "z"` refers to, a logical value
#'   per sample or row numbers, at least 2 of every run.
#'
#' @returns `x`, cleaned: a matrix (or vector) of the same size with its names and other attributes, and with the
#'   attribute `runs`.
#' @section Errors:
#' `voxridge_error_runs` (labels that are missing or come back later, runs that are too short), `voxridge_error_type`,
#' `voxridge_error_shape`, `voxridge_error_nonfinite`, `voxridge_error_argument`, `voxridge_error_conflict` (`reference`
#' without `scale = "z"`). See [voxridge-conditions].
#' @section Invariants:
#' A run's result depends on that run's samples only. Adding a polynomial of the degree of `detrend`, or less, to a run
#' changes nothing. With `"sd"` or `"z"`, multiplying a column by a positive number changes nothing. Cleaning twice is
#' cleaning once.
#' @seealso [delay_features()], whose delays keep to runs too.
#' @examples
#' runs <- rep(1:2, each = 50)
#' drift <- rep(seq(0, 5, length.out = 50), 2)
#' Y <- matrix(rnorm(300), 100) + drift
#' clean <- clean_runs(Y, runs, detrend = 2, scale = "sd")
#' round(apply(clean, 2, tapply, runs, mean), 10)
#' # against the samples at rest
#' rest <- rep(rep(c(TRUE, FALSE), each = 5), 10)
#' z <- clean_runs(Y, runs, scale = "z", reference = rest)
#' round(colMeans(z[rest, ]), 10)
#' @export
clean_runs <- function(x, runs, detrend = 1, scale = c("none", "sd", "z"), reference = NULL) {
  call <- rlang::current_env()
  detrend <- as_count(detrend, min = 0, null_ok = TRUE)
  scale <- as_choice(scale, c("none", "sd", "z"))
  given <- x
  x <- as_cleanable(x, call)
  if (missing(runs) || is.null(runs)) {
    abort(
      c("{.arg runs} must have a label for each of the {nrow(x)} sample{?s}, not be left out.",
        i = "For a single run use {.code rep(1, nrow(x))}."),
      "runs"
    )
  }
  blocks <- as_runs(runs, nrow(x))
  check_run_lengths(blocks, detrend, runs, call)
  reference <- as_reference(reference, scale, blocks, runs, call)
  for (run in seq_along(blocks$first)) {
    rows <- blocks$first[run]:blocks$last[run]
    trend <- if (!is.null(detrend)) trend_basis(length(rows), detrend)
    for (columns in column_blocks(ncol(x), length(rows))) {
      x[rows, columns] <- clean_block(x[rows, columns, drop = FALSE], trend, scale, reference[rows])
    }
  }
  # not in a function of its own, which would copy the result
  if (is.null(dim(given))) {
    x <- as.vector(x)
    attributes(x) <- attributes(given)
  } else if (is.object(given) && !is.data.frame(given)) {
    oldClass(x) <- oldClass(given)
  }
  attr(x, "runs") <- runs
  x
}

as_cleanable <- function(x, call) {
  plain <- is.atomic(x) && is.null(dim(x)) && (is.numeric(x) || is.logical(x)) && !is.object(x) && length(x)
  x <- as_double_matrix(if (plain) one_column(x) else x, "x", call)
  check_finite_columns(x, "x", "column", call = call)
}

# Degrees of freedom are left in every run.
check_run_lengths <- function(blocks, detrend, runs, call) {
  if (is.null(detrend)) return(invisible(blocks))
  lengths <- blocks$last - blocks$first + 1L
  short <- which(lengths < detrend + 2L)
  if (!length(short)) return(invisible(blocks))
  first <- short[1L]
  label <- as.character(runs[blocks$first[first]])
  abort(
    c("{.arg runs} must have at least {detrend + 2L} samples per run for {.code detrend = {detrend}},
       not {lengths[first]} in run {label}.",
      i = "A polynomial of degree {detrend} fits {detrend + 1L} sample{?s} exactly. Use a lower degree."),
    "runs",
    expected = detrend + 2L, found = lengths[short], where = short, call = call
  )
}

# TRUE for the samples that "z" refers to.
as_reference <- function(reference, scale, blocks, runs, call) {
  n <- length(blocks$id)
  if (is.null(reference)) return(rep(TRUE, n))
  if (scale != "z") {
    abort(
      c("{.arg reference} must be left out with {.code scale = \"{scale}\"}, not given besides.",
        i = "It says which samples {.code scale = \"z\"} refers to."),
      "conflict",
      found = scale, call = call
    )
  }
  out <- seq_len(n) %in% as_row_index(reference, n, arg = "reference", call = call)
  counts <- tabulate(blocks$id[out], length(blocks$first))
  few <- which(counts < 2L)
  if (!length(few)) return(out)
  first <- few[1L]
  label <- as.character(runs[blocks$first[first]])
  abort(
    c("{.arg reference} must have at least 2 samples of every run, not {counts[first]} of run {label}.",
      i = "Each run is scaled by its own reference samples."),
    "runs",
    expected = 2L, found = counts[few], where = few, call = call
  )
}

# ---- one run ---------------------------------------------------------------------------------

# Orthonormal polynomials of degree 1 to `degree`, samples x degree, each orthogonal to a constant. Chebyshev
# polynomials are far from parallel to begin with, so the QR factorisation is accurate for every degree one may want.
trend_basis <- function(n, degree) {
  chebyshev <- cos(outer(acos(seq(-1, 1, length.out = n)), 0:degree))
  qr.Q(qr(chebyshev))[, -1L, drop = FALSE]
}

# Samples of one run x some columns. `trend` NULL: nothing is removed.
clean_block <- function(x, trend, scale, reference) {
  left <- x
  if (!is.null(trend)) {
    left <- centre(x)
    if (ncol(trend)) left <- left - trend %*% crossprod(trend, left)
  }
  if (scale == "none") {
    if (!is.null(trend)) left[, is_constant(x, left)] <- 0
    return(left)
  }
  spread <- if (all(reference)) left else left[reference, , drop = FALSE]
  means <- colMeans(spread)
  spread <- centre(spread)
  constant <- is_constant(if (all(reference)) x else x[reference, , drop = FALSE], spread)
  if (scale == "z") left <- left - rep(means, each = nrow(left))
  left <- left / rep(sqrt(colMeans(spread^2)), each = nrow(left))
  left[, constant] <- 0
  left
}

COLUMN_BLOCK_BYTES <- 8e6

# Numbers of columns in blocks that take about 8 MB with so many rows.
column_blocks <- function(n_columns, n_rows) {
  size <- max(1, floor(COLUMN_BLOCK_BYTES / (8 * as.double(n_rows))))
  unname(split(seq_len(n_columns), (seq_len(n_columns) - 1L) %/% size))
}
