#' Several feature spaces of the same samples
#'
#' Checks named matrices of features, delays them if asked, and keeps them together as the argument `Xs` of the banded
#' solvers.
#'
#' The result is a named list of matrices, so `spaces$motion` and `names(spaces)` work as for any list. `spaces[rows, ]`
#' takes samples, `spaces[, c("motion", "words")]` or `spaces["motion"]` feature spaces, both together work too.
#' `as.matrix()` puts the columns side by side, with the space of each column as the attribute `bands`.
#'
#' @param ... Named feature spaces: n x p numeric matrices, numeric vectors of length n (one column each) or data frames
#'   of numeric columns, with the same samples as rows, no NA.
#' @param delays NULL (the default) leaves the features as they are; whole numbers of samples delay those of every space
#'   as in [delay_features()].
#' @param runs NULL (the default: see [delay_features()]), or a label per sample for `delays`; each run must be one
#'   block of rows.
#'
#' @returns A list of class `feature_spaces` with one n x p_b matrix per space.
#' @section Errors:
#' `voxridge_error_bands` (names that are missing, repeated or unknown), `voxridge_error_shape` (other numbers of
#' samples), `voxridge_error_conflict` (`runs` without `delays`, spaces that were cleaned by different runs), and those
#' of [delay_features()]. See [voxridge-conditions].
#' @section Invariants:
#' The solvers give the same answer for feature spaces as for a plain list, and as for `as.matrix(spaces)` with its
#' `bands`. Taking samples or spaces keeps the attribute `runs` of cleaned features.
#' @seealso [solve_banded_ridge_cv()], [alpha_grid()], [delay_features()].
#' @examples
#' motion <- matrix(rnorm(200), 50)
#' words <- matrix(rnorm(300), 50)
#' spaces <- feature_spaces(motion = motion, words = words, delays = 1:2,
#'                          runs = rep(1:2, each = 25))
#' spaces
#' dim(spaces[1:25, "motion"])
#' table(attr(as.matrix(spaces), "bands"))
#' @export
feature_spaces <- function(..., delays = NULL, runs = NULL) {
  call <- rlang::current_env()
  spaces <- list(...)
  names <- check_band_names(names(spaces), length(spaces), call, "...")
  spaces <- Map(function(X, name) as_feature_space(X, name, call), spaces, names)
  n <- nrow(spaces[[1L]])
  for (name in names) check_same_rows(spaces[[name]], n, name, names[1L], call)
  check_same_cleaning(spaces, call)
  if (is.null(delays)) {
    check_no_runs(runs, call)
    return(new_feature_spaces(spaces))
  }
  blocks <- as_runs(runs %||% runs_of(spaces), n)
  delays <- as_delays(delays, blocks, call)
  check_delayed_memory(n, sum(vapply(spaces, ncol, 0)) * length(delays), call)
  new_feature_spaces(lapply(spaces, delay_columns, delays = delays, runs = blocks))
}

new_feature_spaces <- function(spaces) structure(spaces, class = c("feature_spaces", "list"))

# The labels of the first space that was cleaned, or NULL.
runs_of <- function(spaces) Find(Negate(is.null), lapply(spaces, attr, "runs", exact = TRUE))

# Spaces that were cleaned were cleaned by the same runs: folds that keep all of these whole are hard to find.
check_same_cleaning <- function(spaces, call) {
  runs <- Filter(Negate(is.null), lapply(spaces, attr, "runs", exact = TRUE))
  ids <- lapply(runs, function(x) match(as.vector(x), unique(as.vector(x))))
  other <- which(!vapply(ids, identical, NA, ids[[1L]]))
  if (!length(other)) return(invisible(spaces))
  names <- names(runs)[c(1L, other[1L])]
  abort(
    c("{.arg {names[2]}} must have been cleaned by the runs of {.arg {names[1]}}, not by others.",
      i = "Give {.fn clean_runs} the same runs for all feature spaces."),
    "conflict",
    where = names, call = call
  )
}

check_no_runs <- function(runs, call) {
  if (is.null(runs)) return(invisible())
  abort(
    c("{.arg runs} must be left out without {.arg delays}, not given alone.", i = "Only delays depend on runs."),
    "conflict",
    found = describe(runs), call = call
  )
}

# ---- methods ---------------------------------------------------------------------------------

#' @export
dim.feature_spaces <- function(x) {
  x <- unclass(x)
  if (!is.list(x) || !length(x) || !all(vapply(x, is.matrix, NA))) return(NULL)
  c(nrow(x[[1L]]), sum(vapply(x, ncol, 0L)))
}

#' @export
`[.feature_spaces` <- function(x, i, j, ...) {
  call <- rlang::current_env()
  rlang::check_dots_empty(call = call)
  # spaces[i] takes spaces, spaces[i, j] samples and spaces; the empty place in spaces[i, ] counts as an argument
  if (nargs() < 3L) return(if (missing(i)) x else take_spaces(x, i, call))
  if (!missing(j)) x <- take_spaces(x, j, call)
  if (!missing(i)) x <- take_samples(x, i, call)
  x
}

take_spaces <- function(x, which, call) {
  spaces <- unclass(x)
  unknown <- if (is.character(which)) setdiff(which, names(spaces))
  if (length(unknown)) {
    abort(
      c("Feature spaces must be among {.val {names(spaces)}} ({.arg j}), not {.val {unknown}}.",
        i = "Use {.code names(spaces)} to see their names."),
      "bands",
      expected = names(spaces), found = unknown, call = call
    )
  }
  index <- as_row_index(which, length(spaces), names(spaces), arg = "j", call = call)
  check_band_names(names(spaces)[index], length(index), call, "j")
  new_feature_spaces(spaces[index])
}

take_samples <- function(x, rows, call) {
  spaces <- unclass(x)
  samples <- Find(Negate(is.null), lapply(spaces, rownames))
  rows <- as_row_index(rows, nrow(spaces[[1L]]), samples, arg = "i", call = call)
  new_feature_spaces(lapply(spaces, function(X) keep_runs(X[rows, , drop = FALSE], X, rows)))
}

#' @export
as.matrix.feature_spaces <- function(x, ...) {
  rlang::check_dots_empty()
  call <- rlang::current_env()
  bands <- as_bands(x, call = call)
  out <- do.call(cbind, bands$Xs)
  dimnames(out) <- list(bands$samples, list_features(bands$Xs, bands$names, always = TRUE))
  attr(out, "bands") <- unname(band_factor(bands))
  attr(out, "runs") <- runs_of(bands$Xs)
  out
}

PRINTED_SPACES <- 12L

#' @export
print.feature_spaces <- function(x, ...) {
  spaces <- unclass(x)
  squares <- vapply(spaces, function(X) sum(centred_squares(X)), 0)
  share <- if (sum(squares) > 0) squares / sum(squares) else squares
  sizes <- vapply(spaces, ncol, 0L)
  plural <- function(n, word) paste0(format_count(n), " ", word, if (n != 1) "s")
  cat("Feature spaces: ", plural(nrow(x), "sample"), ", ", plural(length(spaces), "space"), ", ",
      plural(sum(sizes), "column"), "\n", sep = "")
  shown <- utils::head(seq_along(spaces), PRINTED_SPACES)
  counts <- format(sizes[shown], big.mark = ",", decimal.mark = ".")
  columns <- paste(counts, ifelse(sizes[shown] == 1L, "column ", "columns"))
  cat(sprintf("  %s  %s  %5.1f %% of the variance\n", format(names(spaces)[shown]), columns, 100 * share[shown]),
      sep = "")
  more <- length(spaces) - length(shown)
  if (more > 0L) cat("  and ", format_count(more), " more\n", sep = "")
  invisible(x)
}
