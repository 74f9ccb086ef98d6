# Data of the permutation tests, the permutations that all sides are compared on, and whether they counted the same.

# n samples x t columns: noise, with a mean of 0.5 in every twentieth column. The features are a nuisance variable and
# one to correlate with.
simulate_inference <- function(n, p, t, seed = 20240604) {
  set.seed(seed)
  Y <- matrix(stats::rnorm(n * t), n, t)
  shifted <- seq(1, t, by = 20)
  Y[, shifted] <- Y[, shifted] + 0.5
  list(X = matrix(stats::rnorm(n * p), n, p), Y = Y)
}

# The file with the permutations that every side can be given, one a row: signs for the one-sample test, otherwise
# orders of the samples, counted from 1.
write_case_rows <- function(dir, case) {
  flips <- case$ours == "one_sample_test"
  path <- file.path(dir, sprintf("%s-%d.bin", if (flips) "flips" else "orders", case$permutations))
  if (!file.exists(path)) {
    set.seed(20240605)
    one <- function(r) if (flips) sample(c(-1, 1), case$n, replace = TRUE) else sample(case$n)
    write_doubles(t(vapply(seq_len(case$permutations), one, numeric(case$n))), path)
  }
  path
}

# Of both sides on the same permutations: the share of columns with the same count, and the largest relative difference
# of maxima, or where a side has its own permutations, of the columns' statistics.
inference_agreement <- function(dir, names) {
  read <- function(kind) {
    path <- file.path(dir, paste0(names, ".", kind))
    if (all(file.exists(path))) lapply(path, read_doubles)
  }
  difference <- function(x) if (!is.null(x)) max(abs(x[[1]] - x[[2]]) / pmax(1, abs(x[[2]])))
  counts <- read("counts")
  list(
    alphas_equal = if (is.null(counts)) NA_real_ else mean(counts[[1]] == counts[[2]]),
    coef_difference = difference(read("maxima")) %||% difference(read("statistics")) %||% NA_real_
  )
}

# Arithmetic of the tests that take products: one row, and one per nuisance variable that permutations change.
inference_flops <- function(case) {
  2 * case$n * case$t * case$permutations * (if (case$ours == "freedman_lane_test") 2 else 1)
}
