#' Permutation test of correlations
#'
#' Tests for every column (voxel) whether it is related to a variable, by shuffling the variable against the samples.
#'
#' The statistic is Pearson's r, or Spearman's: that of average ranks. How p and its corrections are counted: see
#' [one_sample_permutation_test()]. Samples must be exchangeable: the volumes of one run are not.
#'
#' @inheritParams one_sample_permutation_test
#' @param x Numeric vector of length n (finite, not constant), correlated with every column of `Y`; or an n x v matrix,
#'   whose column j is correlated with column j of `Y`.
#' @param Y n x v numeric matrix, or a vector, as in [one_sample_permutation_test()].
#' @param method `"pearson"` (the default) or `"spearman"`.
#'
#' @returns As [one_sample_permutation_test()], with `statistic` and `estimate` both r, and `df` n - 2. Of an `x` with
#'   columns, columns that are constant or not finite in either are excluded.
#' @inheritSection voxridge_threads Threads
#' @inheritSection one_sample_permutation_test Devices
#' @section Errors:
#' As [one_sample_permutation_test()]; `voxridge_error_not_estimable` for a constant `x`, `voxridge_error_nonfinite` for
#' an `x` with NA, `voxridge_error_shape` for fewer than 3 samples.
#' @section Invariants:
#' Changing the sign of `x` swaps `"greater"` and `"less"`. Adding a constant to `x` or scaling it changes no p. For
#' Spearman's r no increasing function of the data changes anything.
#' @references
#' Pitman, E. J. G. (1937). Significance tests which may be applied to samples from any populations. II. The correlation
#' coefficient test. Journal of the Royal Statistical Society Supplement 4, 225-232. \doi{10.2307/2983647}
#' @seealso [glm_permutation_test()] with nuisance variables.
#' @examples
#' set.seed(1)
#' x <- rnorm(25)
#' Y <- matrix(rnorm(25 * 40), 25, 40)
#' Y[, 1] <- Y[, 1] + 2 * x
#' test <- correlation_permutation_test(x, Y, n_permutations = 2000, seed = 1, n_threads = 2)
#' test
#' round(test$statistic[1:3], 2)
#' @export
correlation_permutation_test <- function(x, Y, method = c("pearson", "spearman"), n_permutations = 10000,
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
  method <- as_choice(method, c("pearson", "spearman"))
  tested <- as_tested(Y, na, call = call)
  n <- nrow(tested$Y)
  if (n < 3L) {
    abort("{.arg Y} must have at least 3 rows (n - 2 degrees of freedom), not {n}.", "shape", expected = 3L, found = n)
  }
  paired <- length(dim(x)) == 2L
  variable <- if (paired) as_partners(x, tested$Y, na, call) else as_variable(x, n, method, call)
  rows <- rearrangements("orders", n, settings, call = call)
  design <- new_permutation_design(
    if (method == "pearson") "Pearson correlation" else "Spearman correlation", "correlation", n,
    df = n - 2, x = if (paired) matrix(0, n, 0L) else variable, nuisance = matrix(1 / sqrt(n), n, 1L), n_fixed = 1L,
    ranks = method == "spearman", paired = if (paired) variable,
    symmetric = !paired && is.null(rows$block) && is_mirrored(variable[, 1L]),
    repeats = if (paired || rows$whole) 1 else order_repeats(variable[, 1L], rows$block)
  )
  run_permutation_test(tested, design, rows, settings, call)
}

# The variable about its mean, at unit norm, as a column.
as_variable <- function(x, n, method, call) {
  check_target_vector(x, "x", call)
  check_same_rows(x, n, "x", "Y", call)
  x <- as.double(x)
  check_finite_vector(x, "x", call, c(i = "Leave these samples out of {.arg x} and {.arg Y}."))
  if (method == "spearman") x <- rank(x)
  largest <- max(abs(x))
  x <- if (largest > 0) x / largest else x
  centred <- x - mean(x)
  centred <- centred - mean(centred)
  if (sum(centred^2) <= (n * .Machine$double.eps)^2 * sum(x^2)) {
    abort(
      c("{.arg x} must vary, not be constant: a correlation with it is not estimable.",
        i = "To test the mean of {.arg Y} use {.fn one_sample_permutation_test}."),
      "not_estimable",
      found = x[1L], call = call
    )
  }
  matrix(centred / sqrt(sum(centred^2)), n, 1L)
}

# Is there an order with the opposite sign of every value?
is_mirrored <- function(x) isTRUE(all.equal(sort(x), -sort(x, decreasing = TRUE)))

# How many orders give the same values: those of equal values among themselves, within blocks.
order_repeats <- function(x, block) prod(factorial(table(x, block %||% rep(1L, length(x)))))

as_partners <- function(x, Y, na, call) {
  x <- if (ncol(Y) == 0L && ncol(x) == 0L) matrix(0, nrow(x), 0L) else as_double_matrix(x, call = call)
  check_same_rows(x, nrow(Y), "x", "Y", call)
  if (ncol(x) != ncol(Y)) {
    found <- ncol(x)
    abort(
      c("{.arg x}, as a matrix, must have the columns of {.arg Y} ({ncol(Y)}), not {found}.",
        i = "Column j is correlated with column j. A single variable is a vector."),
      "shape",
      expected = ncol(Y), found = found, call = call
    )
  }
  if (identical(na, "error")) check_finite_columns(x, "x", "column", call = call)
  x
}
