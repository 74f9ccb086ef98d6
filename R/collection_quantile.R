#' Median and quantiles over the items of a collection
#'
#' Computes quantiles over all items, voxel by voxel, a part of the voxels of all items at a time.
#'
#' A quantile needs all values of a voxel at once. The voxels are taken in parts whose values of all items fit into the
#' memory budget (`options(voxridge.memory_gb = )`), and the files are read once for each part; a message says how often
#' where it is more than once. With 100 items of one map of 230,000 voxels a single part takes 184 MB.
#'
#' Infinite values count as missing ones.
#'
#' @inheritParams collection_mean
#' @param probs Probabilities: one or more different numbers from 0 to 1. The default is the minimum, the quartiles and
#'   the maximum.
#'
#' @returns `collection_median()`: a map, of the shape and with the attributes of that of [collection_mean()].
#'   `collection_quantile()`: a list with such a map for each of `probs`, named as by [stats::quantile()]: `"25%"`.
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [collection_mean()]; `voxridge_error_argument` (`probs`). See [voxridge-conditions].
#' @section Invariants:
#' Values are those of `stats::quantile(type = 7)`, to rounding, and the same bits for any number of threads and any
#' memory budget. `probs` 0 and 1 give [collection_min()] and [collection_max()], 0.5 the median.
#' @references
#' Hyndman, R. J., Fan, Y. (1996). Sample quantiles in statistical packages. The American Statistician 50, 361-365.
#' \doi{10.1080/00031305.1996.10473566}
#' @seealso [collection_mean()], [stack_items()].
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' set.seed(1)
#' items <- replicate(7, matrix(rnorm(5 * 48), 5), simplify = FALSE)
#' runs <- brain_collection(items, mask)
#' middle <- collection_median(runs, within = "mean", n_threads = 2)
#' dim(brain_map(middle))
#' ends <- collection_quantile(runs, probs = c(0.1, 0.9), within = "mean", n_threads = 2)
#' names(ends)
#' summary(ends$`90%` - ends$`10%`)
#' @export
collection_quantile <- function(x, probs = c(0, 0.25, 0.5, 0.75, 1), within = c("none", "mean", "sd"),
                                na = c("propagate", "skip"), on_error = c("stop", "skip"), n_threads = NULL,
                                progress = interactive()) {
  call <- rlang::current_env()
  validate_collection(x)
  probs <- as_probs(probs, call)
  maps <- quantile_maps(x, probs, within, na, on_error, n_threads, progress, call)
  stats::setNames(maps, paste0(vapply(100 * probs, format, "", digits = 7L), "%"))
}

#' @rdname collection_quantile
#' @export
collection_median <- function(x, within = c("none", "mean", "sd"), na = c("propagate", "skip"),
                              on_error = c("stop", "skip"), n_threads = NULL, progress = interactive()) {
  call <- rlang::current_env()
  validate_collection(x)
  quantile_maps(x, 0.5, within, na, on_error, n_threads, progress, call)[[1L]]
}

quantile_maps <- function(x, probs, within, na, on_error, n_threads, progress, call) {
  settings <- item_settings(within, na, on_error, call)
  out <- run_pass(x, settings, length(probs), n_threads, progress, call, function(items, control) {
    core_collection_quantiles(items, settings, probs, x$mask, control)
  })
  check_item_count(out$rest$n, 1L, "item{?s} that can be read", call)
  out$value
}

as_probs <- function(probs, call) {
  if (!is.numeric(probs) || is.object(probs) || !length(probs)) {
    found <- if (length(probs)) describe(probs) else if (is.null(probs)) "NULL" else "an empty vector"
    abort("{.arg probs} must be numbers from 0 to 1, not {found}.", "argument", found = probs, call = call)
  }
  check_elements(probs, probs >= 0 & probs <= 1, "from 0 to 1", "The median is 0.5.", "argument", "probs", call)
  if (anyDuplicated(probs)) {
    abort("{.arg probs} must be different numbers, not {probs[anyDuplicated(probs)]} twice.", "argument",
          found = probs, call = call)
  }
  as.double(probs)
}
