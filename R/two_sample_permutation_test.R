#' Two-sample permutation test
#'
#' Tests for every column (voxel) whether two groups of samples differ, by exchanging the labels of samples.
#'
#' The statistic is Student's t with pooled variance, or Welch's t: exchanged labels assume equal distributions under
#' the null hypothesis, Welch's statistic makes the test robust to unequal variances in large samples. How p and its
#' corrections are counted: see [one_sample_permutation_test()].
#'
#' @inheritParams one_sample_permutation_test
#' @param Y n x v numeric matrix, or a vector, as in [one_sample_permutation_test()].
#' @param group Factor, or vector of two values, of length n without NA: the first level minus the second is tested.
#'   Unused levels are dropped. Or a second matrix with the columns of `Y`: `Y` minus `group`.
#' @param var_equal TRUE (the default): pooled variance; FALSE: Welch's t, at least 2 samples in each group.
#'
#' @returns As [one_sample_permutation_test()], with `estimate` the difference of the means; `df` a value per column for
#'   Welch's t.
#' @inheritSection voxridge_threads Threads
#' @inheritSection one_sample_permutation_test Devices
#' @section Errors:
#' As [one_sample_permutation_test()]; `voxridge_error_argument` also for a `group` that has not two levels, and for
#' groups too small.
#' @section Invariants:
#' Exchanging the two levels swaps `"greater"` and `"less"`. Otherwise as [one_sample_permutation_test()].
#' @references
#' Janssen, A. (1997). Studentized permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher
#' problem. Statistics and Probability Letters 36, 9-21. \doi{10.1016/S0167-7152(97)00043-6}
#' @seealso [one_sample_permutation_test()], also for paired samples.
#' @examples
#' set.seed(1)
#' Y <- matrix(rnorm(24 * 50), 24, 50)
#' group <- rep(c("patient", "control"), each = 12)
#' Y[group == "patient", 1:2] <- Y[group == "patient", 1:2] + 2
#' test <- two_sample_permutation_test(Y, factor(group, c("patient", "control")),
#'                                     n_permutations = 2000, seed = 1, n_threads = 2)
#' test
#' head(tidy(test), 3)
#' @export
two_sample_permutation_test <- function(Y, group, var_equal = TRUE, n_permutations = 10000,
                                        alternative = c("two.sided", "greater", "less"),
                                        two_sided = c("abs", "double"), exact = c("auto", "never", "always"),
                                        blocks = NULL, block_type = c("within", "whole"), permutations = NULL,
                                        enhance = NULL, mask = attr(Y, "mask"), tail_fit = FALSE, sequential = NULL,
                                        na = c("exclude", "error"), return_null = FALSE, seed = NULL,
                                        n_threads = NULL, device = "cpu", progress = interactive()) {
  call <- rlang::current_env()
  settings <- permutation_settings(setting(n_permutations, !missing(n_permutations)), alternative, two_sided, exact,
                                   blocks, block_type, permutations, return_null, seed, n_threads, device,
                                   progress, call)
  settings <- correction_settings(settings, enhance, setting(mask, !missing(mask)), tail_fit, sequential, NCOL(Y), call)
  var_equal <- as_flag(var_equal)
  if (missing(group)) {
    abort("{.arg group} must be given: a factor of two levels, or a second matrix.", "argument", found = NULL)
  }
  if (length(dim(group)) == 2L) {
    second <- as_double_matrix(group)
    joined <- join_samples(Y, second, call)
    tested <- as_tested(joined$Y, na, call = call)
    first <- joined$first
  } else {
    tested <- as_tested(Y, na, call = call)
    first <- first_group(group, nrow(tested$Y), call)
  }
  n <- nrow(tested$Y)
  sizes <- c(sum(first), sum(!first))
  check_group_sizes(sizes, var_equal, call)
  rows <- rearrangements("labels", n, settings, first, call)
  scale <- sqrt(sizes[1L] * sizes[2L] / n)
  design <- new_permutation_design(
    if (var_equal) "Two-sample t" else "Welch's two-sample t", if (var_equal) "t" else "welch", n,
    df = n - 2, x = matrix((first - sizes[1L] / n) / scale, n, 1L), nuisance = matrix(1 / sqrt(n), n, 1L), n_fixed = 1L,
    scale = 1 / scale, first = first, sums = var_equal, symmetric = balanced(first, rows)
  )
  run_permutation_test(tested, design, rows, settings, call)
}

# Does the arrangement with all labels exchanged exist? Then |u| comes twice.
balanced <- function(first, rows) {
  block <- if (is.null(rows$block) || rows$whole) rep(1L, length(first)) else rows$block
  all(tapply(first, block, function(x) 2 * sum(x) == length(x)))
}

join_samples <- function(Y, second, call) {
  Y <- as_double_matrix(Y, call = call)
  if (ncol(Y) != ncol(second)) {
    found <- ncol(second)
    abort(
      c("{.arg group}, as a matrix, must have the columns of {.arg Y} ({ncol(Y)}), not {found}.",
        i = "Or pass a factor with a level for each row of {.arg Y}."),
      "shape",
      expected = ncol(Y), found = found, call = call
    )
  }
  joined <- rbind(Y, second)
  attr(joined, "mask") <- attr(Y, "mask")
  list(Y = joined, first = rep(c(TRUE, FALSE), c(nrow(Y), nrow(second))))
}

# Which samples are in the first group.
first_group <- function(group, n, call) {
  if (!is.atomic(group) || is.raw(group) || is.null(group) || length(group) != n) {
    found <- describe(group)
    abort(
      c("{.arg group} must have one label per row of {.arg Y} ({n}), not {found}.",
        i = "Or pass the second group as a matrix."),
      "argument",
      expected = n, found = found, call = call
    )
  }
  if (anyNA(group)) {
    where <- which(is.na(group))
    abort(
      c("{.arg group} must be labels without NA, not NA for {length(where)} sample{?s} ({first_few(where)}).",
        i = "Leave these rows out of {.arg Y} and {.arg group}."),
      "argument",
      found = NA, where = where, call = call
    )
  }
  group <- factor(group)
  if (nlevels(group) != 2L) {
    found <- nlevels(group)
    abort(
      c("{.arg group} must have two levels, not {found} ({first_few(levels(group))}).",
        i = if (found > 2L) "Test contrasts of several groups with {.fn glm_permutation_test}."),
      "argument",
      expected = 2L, found = levels(group), call = call
    )
  }
  group == levels(group)[1L]
}

check_group_sizes <- function(sizes, var_equal, call) {
  least <- if (var_equal) 1L else 2L
  if (all(sizes >= least) && sum(sizes) > 2L) return(invisible(sizes))
  wanted <- if (var_equal) "at least 3 samples in all" else "at least 2 samples in each group for Welch's t"
  abort(
    c("{.arg group} must have {wanted}, not {sizes[1]} and {sizes[2]}.",
      i = if (!var_equal) "Use {.code var_equal = TRUE} for a group of one."),
    "argument",
    expected = least, found = sizes, call = call
  )
}
