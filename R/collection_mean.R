#' Mean, standard deviation, sum and extremes over the items of a collection
#'
#' Computes the mean, standard deviation, sum, least or largest value over all items, voxel by voxel, in one pass over
#' the files and in memory that does not grow with their number.
#'
#' Values are added in the order of the items, item k changing the mean by (x - mean) / k (Welford), whatever thread
#' read them: the result is the same for any number of threads, bit for bit. At any time a thread holds a few volumes of
#' one item. Where a result with what it needs beside it goes beyond the memory budget
#' (`options(voxridge.memory_gb = )`), the files are read several times, a part of the voxels each time, and a message
#' says so.
#'
#' Infinite values count as missing ones.
#'
#' @param x A [brain_collection()]. With `within = "none"` all items must have the same number of volumes.
#' @param within `"none"` (the default): volume t of all items gives row t of the result; `"mean"` or `"sd"`: every item
#'   is first reduced to one map, its mean or standard deviation over its volumes.
#' @param na `"propagate"` (the default): a voxel with a value that is not finite in some item is NA; `"skip"`: such
#'   values are left out, and each voxel has its own number of values, see `counts`.
#' @param on_error `"stop"` (the default): an item that cannot be read is an error; `"skip"`: it is left out, with a
#'   warning. The error or warning names it.
#' @param n_threads NULL (the default, see [voxridge_threads]) or a whole number of threads: how many items are read at
#'   a time.
#' @param progress TRUE shows a progress bar on the console (stderr), which counts volumes; never in scripts, tests and
#'   knitr.
#'
#' @returns A double matrix, volumes x voxels of the mask, or a vector over the voxels where items have one volume or
#'   are reduced to one; NA where there is no value, for `collection_sd()` (which divides by the number of values less
#'   1) also where there is a single one. Attributes: `mask`, so that [brain_map()] and [plot_map()] work; `n`, the
#'   number of items used; `skipped`, a data frame of `item`, `name` and `reason`; with `na = "skip"` also `counts`,
#'   integers of the shape of the result.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape` (items of different numbers of volumes, too few items),
#' `voxridge_error_item` (an item that has been changed or cannot be read; the condition has `item`, its number, and
#' `path`), `voxridge_error_conflict` (`within = "sd"` of single volumes), `voxridge_error_argument`,
#' `voxridge_error_memory`. Warning `voxridge_warning_skipped_items`, message `voxridge_message_passes`. See
#' [voxridge-conditions].
#' @section Invariants:
#' Results are bit for bit the same for any number of threads, any memory budget, and for files and the matrices read
#' from them; those with items that fail and are skipped are those without these items.
#' @references
#' Welford, B. P. (1962). Note on a method for calculating corrected sums of squares and products. Technometrics 4,
#' 419-420. \doi{10.1080/00401706.1962.10490022}
#' @seealso [collection_median()], [collection_t_test()], [stack_items()], [map_items()].
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' set.seed(1)
#' items <- replicate(6, matrix(rnorm(5 * 48), 5), simplify = FALSE)
#' runs <- brain_collection(items, mask)
#' dim(collection_mean(runs, n_threads = 2))
#' between <- collection_sd(runs, within = "mean", n_threads = 2)
#' dim(brain_map(between))
#' @export
collection_mean <- function(x, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                            on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  summarise_items(x, "mean", 1L, within, na, on_error, n_threads, progress, rlang::current_env())
}

#' @rdname collection_mean
#' @export
collection_sum <- function(x, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                           on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  summarise_items(x, "sum", 1L, within, na, on_error, n_threads, progress, rlang::current_env())
}

#' @rdname collection_mean
#' @export
collection_min <- function(x, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                           on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  summarise_items(x, "min", 1L, within, na, on_error, n_threads, progress, rlang::current_env())
}

#' @rdname collection_mean
#' @export
collection_max <- function(x, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                           on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  summarise_items(x, "max", 1L, within, na, on_error, n_threads, progress, rlang::current_env())
}

#' @rdname collection_mean
#' @export
collection_sd <- function(x, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                          on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  summarise_items(x, "sd", 2L, within, na, on_error, n_threads, progress, rlang::current_env())
}

summarise_items <- function(x, what, least, within, na, on_error, n_threads, progress, call) {
  validate_collection(x, "x", call)
  settings <- item_settings(within, na, on_error, call)
  check_item_count(length(x$paths), least, "item{?s}", call)
  out <- pass_over_items(x, c(settings, list(what = what, n_groups = 1L, var_equal = TRUE, mu = 0, df = FALSE)),
                         integer(length(x$paths)), x$mask, n_threads, progress, call)
  check_item_count(attr(out$value, "n"), least, "item{?s} that can be read", call)
  out$value
}

pass_over_items <- function(x, settings, groups, mask, n_threads, progress, call) {
  n_maps <- if (settings$what == "t") 4L + settings$df else 1L
  run_pass(x, settings, n_maps, n_threads, progress, call, function(items, control) {
    core_collection_summary(items, settings, mask, control)
  }, groups)
}

# One pass of the core over all items, or several, checked before and told about after. `pass(items, control)` gives
# `n_maps` maps.
run_pass <- function(x, settings, n_maps, n_threads, progress, call, pass, groups = integer(length(x$paths))) {
  check_reduction(x, settings$within, call)
  check_equal_rows(x, settings$within, call)
  rows <- if (settings$within == "none") x$n_rows[1L] else 1L
  bytes <- stats::setNames((8 * n_maps + 4 * settings$skip_missing) * as.double(rows) * x$mask$n,
                           paste0("maps (", rows, " x ", format_count(x$mask$n), ")"))
  check_result_memory(bytes, "Reduce items first with {.arg within}, or choose a smaller mask.", call)
  bar <- start_progress(progress, "Reading items", call)
  on.exit(bar$close())
  control <- core_control(n_threads, bar$report, call)
  check_items_there(x, settings$on_error, call)
  out <- run_items(pass(core_items(x, groups), control), x, call)
  warn_skipped(out$rest$skipped, length(x$paths))
  inform_passes(out$rest$passes, nrow(out$rest$skipped) > 0L)
  out
}
