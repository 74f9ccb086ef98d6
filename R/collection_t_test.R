#' t-tests over the items of a collection
#'
#' Tests for every voxel whether the mean over items is `mu`, or whether the means of two groups of items differ, in
#' one pass over the files.
#'
#' With N items, t = (mean - mu) / sqrt(M2 / (N (N - 1))), M2 being the sum of squared deviations from the mean. For two
#' groups `estimate` is the mean of the first minus that of the second, and t has the pooled variance and N - 2 degrees
#' of freedom, or with `var_equal = FALSE` Welch's error and degrees of freedom. p is two-sided. `q_fdr` is Benjamini
#' and Hochberg's false discovery rate over the voxels of one map.
#'
#' Statistics by permutation, with an error rate for the whole map, are those of [one_sample_permutation_test()] and its
#' relatives on [stack_items()].
#'
#' @inheritParams collection_mean
#' @param group NULL (the default): one sample; or two groups: the name of a column of the data of `x`, or a vector with
#'   a value per item, of two values without NA. The first level of a factor, or the first value when sorted, is the
#'   first group.
#' @param mu Number in the unit of the images: the mean, or difference of means, under the null hypothesis. The default
#'   is 0.
#' @param var_equal TRUE (the default) takes the variances of two groups to be equal, FALSE does not.
#'
#' @returns A list of class `voxridge_t_test`:
#' * `statistic`, `estimate`, `p`, `q_fdr`: vectors over the voxels of the mask, or volumes x voxels where items of
#'   several volumes are not reduced. Voxels that are constant to rounding, as those outside the brain, have an estimate
#'   alone, the rest is NA; those with too few values have NA.
#' * `df`: degrees of freedom, one number where it is the same everywhere, else of the shape of `statistic`.
#' * `n`: items used, by group; `mu`, `var_equal`, `within`; `counts` with `na = "skip"`; `skipped`: a data frame of
#'   `item`, `name`, `reason`; `mask`, for [brain_map()].
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' Those of [collection_mean()]; `voxridge_error_argument` (groups that are not two), `voxridge_error_shape` (fewer than
#' 2 items, of two groups fewer than 3, or than 2 in each without `var_equal`). See [voxridge-conditions].
#' @section Invariants:
#' The same bits for any number of threads. Exchanging the groups turns the signs of `statistic` and `estimate`. Scaling
#' the images by a power of two leaves `statistic` as it is.
#' @references
#' Benjamini, Y., Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful approach to
#' multiple testing. Journal of the Royal Statistical Society B 57, 289-300. \doi{10.1111/j.2517-6161.1995.tb02031.x}
#'
#' Welch, B. L. (1947). The generalization of Student's problem when several different population variances are
#' involved. Biometrika 34, 28-35. \doi{10.1093/biomet/34.1-2.28}
#' @seealso [collection_mean()], [stack_items()], [one_sample_permutation_test()].
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' set.seed(1)
#' maps <- replicate(10, matrix(rnorm(48) + rep(c(1, 0), each = 24), 1), simplify = FALSE)
#' subjects <- brain_collection(maps, mask, data = data.frame(age = rep(c("old", "young"), 5)))
#' test <- collection_t_test(subjects, n_threads = 2)
#' test
#' dim(brain_map(test, what = "statistic"))
#' collection_t_test(subjects, group = "age", n_threads = 2)
#' @export
collection_t_test <- function(x, group = NULL, mu = 0, var_equal = TRUE, within = c("none", "mean", "sd"),
                              na = c("propagate", "skip"), on_error = c("stop", "skip"), n_threads = NULL,
                              progress = interactive()) {
  call <- rlang::current_env()
  validate_collection(x)
  if (!is_number(mu)) abort("{.arg mu} must be a finite number, not {describe(mu)}.", "argument", found = mu)
  var_equal <- as_flag(var_equal)
  groups <- as_item_groups(group, x, call)
  settings <- item_settings(within, na, on_error, call)
  check_t_groups(tabulate(groups, nlevels(groups)), var_equal, call)
  per_voxel_df <- settings$skip_missing || nlevels(groups) == 2L && !var_equal
  settings <- c(settings, list(what = "t", n_groups = nlevels(groups), var_equal = var_equal, mu = as.double(mu),
                               df = per_voxel_df))
  raw <- pass_over_items(x, settings, as.integer(groups) - 1L, NULL, n_threads, progress, call)
  n <- raw$rest$n
  check_t_groups(n, var_equal, call)
  df <- if (per_voxel_df) raw$df else as.double(sum(n) - length(n))
  p <- 2 * stats::pt(-abs(raw$value), df)
  structure(
    list(
      test = if (length(n) == 1L) "One-sample t" else if (var_equal) "Two-sample t" else "Welch's t",
      statistic = raw$value, estimate = raw$estimate, df = df, p = p, q_fdr = map_fdr(p),
      n = stats::setNames(n, if (length(n) == 2L) levels(groups)), mu = as.double(mu), var_equal = var_equal,
      within = settings$within, counts = raw$rest$counts, skipped = raw$rest$skipped, mask = x$mask
    ),
    class = "voxridge_t_test"
  )
}

#' @export
print.voxridge_t_test <- function(x, ...) {
  rlang::check_dots_empty()
  who <- if (length(x$n) == 1L) count_label(x$n, "item") else paste(x$n, names(x$n), collapse = " against ")
  maps <- if (is.matrix(x$statistic)) paste0(nrow(x$statistic), " maps of ")
  cat(x$test, " test: ", who, ", ", maps, count_label(NCOL(rbind(x$statistic)), "voxel"), "\n", sep = "")
  if (nrow(x$skipped)) cat("  skipped: ", first_few(x$skipped$name), "\n", sep = "")
  tested <- !is.na(x$statistic)
  if (any(tested)) {
    cat("  t:       ", paste(format_numbers(range(x$statistic[tested])), collapse = " to "), "\n", sep = "")
  }
  if (!all(tested)) cat("  no t:    ", format_count(sum(!tested)), " (constant, or too few values)\n", sep = "")
  for (what in c("p", "q_fdr")) {
    cat("  ", format(paste(what, "<= 0.05:"), width = 15L), format_count(sum(x[[what]] <= 0.05, na.rm = TRUE)), "\n",
        sep = "")
  }
  invisible(x)
}

# Elements with a value per voxel.
T_TEST_MAPS <- c("statistic", "estimate", "p", "q_fdr", "df", "counts")

# The false discovery rate of each map by itself.
map_fdr <- function(p) {
  if (!is.matrix(p)) return(stats::p.adjust(p, "BH"))
  for (row in seq_len(nrow(p))) p[row, ] <- stats::p.adjust(p[row, ], "BH")
  p
}

# A factor with a level per group.
as_item_groups <- function(group, x, call) {
  n <- length(x$paths)
  if (is.null(group)) return(factor(rep("all", n)))
  if (rlang::is_string(group) && n > 1L) {
    column <- x$data[[group]]
    if (is.null(column)) {
      columns <- names(x$data)
      choice <- if (length(columns)) " ({.or {.val {columns}}})"
      abort(paste0("{.arg group} must name a column of the data of {.arg x}", choice, ", not {.val {group}}."),
            "argument", expected = columns, found = group, call = call)
    }
    group <- column
  }
  if (!is.atomic(group) || !is.null(dim(group)) || length(group) != n) {
    found <- describe(group)
    abort("{.arg group} must have a value for each of the {n} items, not {found}.", "argument",
          expected = n, found = found, call = call)
  }
  if (anyNA(group)) {
    where <- which(is.na(group))
    names <- first_few(x$names[where])
    abort(c("{.arg group} must have no NA, as for item{?s} {names}.", i = "Leave them out: {.code x[!is.na(group)]}."),
          "argument", where = where, call = call)
  }
  groups <- factor(group)
  if (nlevels(groups) == 2L) return(groups)
  shown <- first_few(levels(groups))
  abort(c("{.arg group} must have two values, not {nlevels(groups)} ({shown}).",
          i = "Choose the items of two of them, for example with {.fn subset}."),
        "argument", found = levels(groups), call = call)
}

check_t_groups <- function(n, var_equal, call) {
  ok <- if (length(n) == 1L) n >= 2L else if (var_equal) all(n >= 1L) && sum(n) >= 3L else all(n >= 2L)
  if (ok) return(invisible(n))
  must <- if (length(n) == 1L) "at least 2 items"
          else if (var_equal) "at least 3 items, in both groups"
          else "at least 2 items in each group"
  found <- paste(n, collapse = " and ")
  abort("{.arg x} must have {must}, not {found}.", "shape", found = n, call = call)
}
