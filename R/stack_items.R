#' Items of a collection as rows of one matrix
#'
#' Makes a matrix with a row per item, items x voxels, for tests and models over subjects.
#'
#' Images that are one map each need no more than `stack_items(x)`. Of items with several volumes `row` takes one,
#' `within` their mean or standard deviation, and `f` anything else, such as a coefficient of a model that is fitted to
#' every item.
#'
#' @inheritParams collection_mean
#' @param f NULL (the default), or a function of a matrix, volumes x voxels, that returns a number per voxel, or a
#'   matrix with a column per voxel, of which `row` is taken; see [map_items()].
#' @param row NULL (the default), or the row of each item, or of each result of `f`, that is taken: a number, or with
#'   `f` a name.
#' @param within `"none"` (the default); `"mean"` or `"sd"` take that of the volumes of each item. Only without `f` and
#'   `row`.
#' @param na What is left out of such a mean or standard deviation: nothing (`"propagate"`, the default), or values that
#'   are not finite (`"skip"`).
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads. Not used with `f`, which is
#'   called on the current [future::plan()].
#'
#' @returns A double matrix, items x voxels, with the names of the items as row names and the attributes `mask` and
#'   `skipped`, a data frame of `item`, `name` and `reason`.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [collection_mean()] and, with `f`, of [map_items()]; `voxridge_error_conflict` (`within` beside `f` or
#' `row`). See [voxridge-conditions].
#' @section Invariants:
#' Row i is that of `x[i]`. `colMeans(stack_items(x))` is `collection_mean(x)` to rounding.
#' @seealso [one_sample_permutation_test()] and its relatives, which take the result as `Y`.
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' set.seed(1)
#' items <- replicate(6, matrix(rnorm(5 * 48), 5), simplify = FALSE)
#' runs <- brain_collection(items, mask)
#' Y <- stack_items(runs, within = "mean", n_threads = 2)
#' dim(Y)
#' test <- one_sample_permutation_test(Y, n_permutations = 50, n_threads = 2)
#' ranges <- stack_items(runs, function(Y) apply(Y, 2, range), row = 2)
#' dim(ranges)
#' @export
stack_items <- function(x, f = NULL, row = NULL, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                        on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  call <- rlang::current_env()
  validate_collection(x)
  settings <- item_settings(within, na, on_error, call)
  check_stack(f, row, settings$within, call)
  bytes <- stats::setNames(8 * as.double(length(x$paths)) * x$mask$n, "the matrix")
  check_result_memory(bytes, "Stack some of the items, or the voxels of a smaller mask.", call)
  if (is.null(f)) {
    if (!is.null(row)) x <- choose_volume(x, row, call)
    return(stack_rows(x, settings, n_threads, progress, call))
  }
  n_threads <- resolve_threads(n_threads)
  found <- map_over_items(x, list(f = f, dots = list(), row = row, n = x$mask$n), "stack", progress, call)
  finish_map(found, x, settings$on_error, call)
  good <- !found$failed
  out <- matrix(unlist(found$results[good]), sum(good), byrow = TRUE)
  stacked(out, x$names[good], x$mask, failed_table(found, x))
}

stack_rows <- function(x, settings, n_threads, progress, call) {
  check_reduction(x, settings$within, call)
  if (settings$within == "none" && any(x$n_rows != 1L)) {
    where <- which(x$n_rows != 1L)[1L]
    found <- x$n_rows[where]
    abort(c("{.arg x} must have items of one volume, not {found} ({.val {x$names[where]}}).",
            i = "Take one of them with {.arg row}, or reduce items with {.arg within} or {.arg f}."),
          "shape", expected = 1L, found = found, where = where, call = call)
  }
  bar <- start_progress(progress, "Reading items", call)
  on.exit(bar$close())
  control <- core_control(n_threads, bar$report, call)
  check_items_there(x, settings$on_error, call)
  out <- run_items(core_collection_stack(core_items(x), settings, control), x, call)
  warn_skipped(out$skipped, length(x$paths))
  bad <- out$skipped$item
  check_item_count(length(x$paths) - length(bad), 1L, "item that can be read", call)
  value <- if (length(bad)) out$value[-bad, , drop = FALSE] else out$value
  stacked(value, if (length(bad)) x$names[-bad] else x$names, x$mask, out$skipped)
}

stacked <- function(value, names, mask, skipped) {
  structure(value, dimnames = list(names, NULL), mask = mask, skipped = skipped)
}

check_stack <- function(f, row, within, call) {
  if (!is.null(f)) check_function(f, call)
  if (within != "none" && (!is.null(f) || !is.null(row))) {
    other <- if (is.null(f)) "row" else "f"
    abort("{.arg within} must be {.val none} where {.arg {other}} is given, not {.val {within}}.", "conflict",
          found = within, call = call)
  }
  ok <- is.null(row) || is_number(row) && row >= 1 && row == round(row) || !is.null(f) && rlang::is_string(row)
  if (ok) return(invisible(row))
  found <- describe(row)
  must <- if (is.null(f)) "the number of a volume" else "the number or name of a row"
  abort(paste0("{.arg row} must be NULL or ", must, ", not {found}."), "argument", found = row, call = call)
}

# The collection of volume `row` of each item.
choose_volume <- function(x, row, call) {
  short <- which(x$n_rows < row)
  if (length(short)) {
    k <- short[1L]
    found <- x$n_rows[k]
    abort("{.arg row} must be a volume of every item, not {row} where {.val {x$names[k]}} has {found}.", "argument",
          expected = found, found = row, where = short, call = call)
  }
  y <- unclass(x)
  y$volumes <- lapply(x$volumes, function(volumes) volumes[row])
  y$matrices <- lapply(x$matrices, function(matrix) if (!is.null(matrix)) matrix[row, , drop = FALSE])
  y$n_rows <- rep(1L, length(y$paths))
  structure(y, class = class(x))
}

# The row of a result of f that is stacked; errors are those of one item.
stacked_row <- function(result, row, n) {
  if (is.matrix(result) && !is.null(row)) {
    ok <- if (is.character(row)) row %in% rownames(result) else row <= nrow(result)
    if (!ok) {
      found <- if (is.character(row)) first_few(rownames(result) %||% "none") else nrow(result)
      abort("{.arg f} must return a matrix with row {.val {row}} that {.arg row} asks for, not {found}.", "shape",
            found = found, call = NULL)
    }
    result <- result[row, ]
  }
  if ((is.numeric(result) || is.logical(result)) && length(result) == n) return(as.double(result))
  found <- describe(result)
  abort("{.arg f} must return a number for each of the {n} voxels, or a matrix and {.arg row} be given, not {found}.",
        "shape", expected = n, found = found, call = NULL)
}
