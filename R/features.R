#' Features at several delays
#'
#' Repeats all features at given delays within runs, so that a linear model can fit a response that comes late and
#' spreads out (a finite impulse response model).
#'
#' Row i of a feature at delay d is its value in row i - d of the same run. Where there is no such row, before a run
#' begins or, for negative delays, after it ends, the value is 0. The response of brain voxels to a stimulus peaks about
#' 5 s later: at a repetition time of 2 s, delays of 1 to 4 samples cover 2 to 8 s.
#'
#' @param X n x p numeric matrix, rows are samples, no NA; a numeric vector of length n, which is one column; or a data
#'   frame of numeric columns.
#' @param delays Whole numbers of samples, distinct, in any order; 0 is the feature as it is, negative ones look ahead.
#'   The default is 1 to 4. A delay must be shorter than the longest run.
#' @param runs A label per sample (number, string, factor), no NA; each run must be one block of rows. NULL (the
#'   default) takes the runs by which [clean_runs()] cleaned `X`, and otherwise means one run.
#'
#' @returns n x (p times the number of delays) matrix: all columns at the first delay, then all at the second, and so
#'   on. Where `X` has column names, they are `<name>_d1` at delay 1. Row names are kept, and so is the attribute `runs`
#'   of cleaned features.
#' @section Errors:
#' `voxridge_error_argument` (`delays`), `voxridge_error_runs` (labels that are missing or come back later),
#' `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_nonfinite`, `voxridge_error_memory`. See
#' [voxridge-conditions].
#' @section Invariants:
#' The rows of a run depend on the rows of that run only. Delay 0 gives `X` back.
#' @references
#' Huth, A. G., de Heer, W. A., Griffiths, T. L., Theunissen, F. E., Gallant, J. L. (2016). Natural speech reveals the
#' semantic maps that tile human cerebral cortex. Nature 532, 453-458. \doi{10.1038/nature17637}
#' @seealso [feature_spaces()] for several matrices at once, [convolve_hrf()] for a response of given shape.
#' @examples
#' X <- cbind(face = 1:6, house = 11:16)
#' delay_features(X, delays = 0:2, runs = c(1, 1, 1, 2, 2, 2))
#' @export
delay_features <- function(X, delays = 1:4, runs = NULL) {
  call <- rlang::current_env()
  X <- as_feature_space(X, "X", call)
  runs <- as_runs(runs %||% attr(X, "runs", exact = TRUE), nrow(X))
  delays <- as_delays(delays, runs, call)
  check_delayed_memory(nrow(X), ncol(X) * as.double(length(delays)), call)
  delay_columns(X, delays, runs)
}

as_delays <- function(delays, runs, call) {
  whole <- is.numeric(delays) && !is.object(delays) && length(delays) && all(is.finite(delays)) &&
    all(delays == round(delays))
  if (!whole) {
    found <- if (is.numeric(delays) && length(delays) > 1L) toString(utils::head(delays, 5L)) else describe(delays)
    abort(
      c("{.arg delays} must be whole numbers of samples, not {found}.",
        i = "For delays in seconds divide by the repetition time and round."),
      "argument",
      found = delays, call = call
    )
  }
  again <- unique(delays[duplicated(delays)])
  if (length(again)) {
    abort("{.arg delays} must be distinct, not {again[1]} more than once.", "argument", found = again, call = call)
  }
  longest <- max(runs$last - runs$first) + 1L
  long <- delays[abs(delays) >= longest]
  if (!length(long)) return(as.integer(delays))
  abort(
    c("{.arg delays} must be shorter than the longest run ({longest} sample{?s}), not {long[1]}.",
      i = "Features at such a delay would be 0 everywhere."),
    "argument",
    expected = longest - 1L, found = long, call = call
  )
}

check_delayed_memory <- function(n, p, call) {
  results <- stats::setNames(8 * n * p, paste0("features (", format_count(n), " x ", format_count(p), ")"))
  check_result_memory(results, "Use fewer delays or features.", call)
}

# `runs` as of as_runs(). The result is allocated once and filled in blocks of columns.
delay_columns <- function(X, delays, runs) {
  n <- nrow(X)
  p <- ncol(X)
  first <- runs$first[runs$id]
  last <- runs$last[runs$id]
  blocks <- column_blocks(p, n)
  out <- matrix(0, n, p * length(delays))
  for (d in seq_along(delays)) {
    source <- seq_len(n) - delays[d]
    rows <- which(source >= first & source <= last)
    for (columns in blocks) out[rows, (d - 1L) * p + columns] <- X[source[rows], columns]
  }
  features <- colnames(X)
  if (!is.null(features)) features <- paste0(features, "_d", rep(delays, each = p))
  if (!is.null(dimnames(X))) dimnames(out) <- list(rownames(X), features)
  attr(out, "runs") <- attr(X, "runs", exact = TRUE)
  out
}
