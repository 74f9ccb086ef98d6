# Permutation tests in plain R: all rearrangements, statistics by the textbook, counts with ties.

all_flips <- function(n) unname(as.matrix(expand.grid(rep(list(c(1, -1)), n))))

# One order a row.
all_orders <- function(n) {
  if (n == 1L) return(matrix(1L))
  smaller <- all_orders(n - 1L)
  do.call(rbind, lapply(seq_len(n), function(first) {
    rest <- setdiff(seq_len(n), first)
    cbind(first, matrix(rest[smaller], nrow(smaller)), deparse.level = 0)
  }))
}

# Whole numbers with many ties.
tied_data <- function(n, v, seed, range = -3:3) {
  withr::with_seed(seed, matrix(sample(range, n * v, replace = TRUE), n, v))
}

TEST_TAILS <- list(
  list(alternative = "two.sided", two_sided = "abs"), list(alternative = "two.sided", two_sided = "double"),
  list(alternative = "greater"), list(alternative = "less")
)

# p of each column from statistics of rearrangements (M x v) and of the data; `margin`: what counts as equal. The
# enumerated share, or (b + 1) / (m + 1).
oracle_p <- function(null, observed, tail, exact = TRUE, margin = 1e-9) {
  share <- function(b) if (exact) b / nrow(null) else (b + 1) / (nrow(null) + 1)
  observed <- rep(observed, each = nrow(null))
  near <- ifelse(is.finite(observed), margin * (1 + abs(observed)), 0)
  greater <- share(colSums(null >= observed - near))
  less <- share(colSums(null <= observed + near))
  if (tail$alternative == "greater") return(greater)
  if (tail$alternative == "less") return(less)
  if (tail$two_sided == "double") return(pmin(1, 2 * pmin(greater, less)))
  share(colSums(abs(null) >= abs(observed) - near))
}

# The same by the maximum over columns.
oracle_fwer <- function(null, observed, tail, exact = TRUE, margin = 1e-9) {
  v <- ncol(null)
  spread <- function(x) matrix(x, nrow(null), v)
  one <- function(extreme, alternative) {
    oracle_p(spread(apply(null, 1L, extreme)), observed, list(alternative = alternative), exact, margin)
  }
  if (tail$alternative == "greater") return(one(max, "greater"))
  if (tail$alternative == "less") return(one(min, "less"))
  if (tail$two_sided == "double") return(pmin(1, 2 * pmin(one(max, "greater"), one(min, "less"))))
  oracle_p(spread(apply(abs(null), 1L, max)), abs(observed), list(alternative = "greater"), exact, margin)
}

# Compares a test in every direction with statistics of all (or given) rearrangements. `run(...)` calls the test.
# `whole`: statistics in whole numbers that order the columns' rearrangements as `null` does, or NULL.
expect_permutations <- function(run, null, observed, whole = NULL, whole_observed = NULL, exact = TRUE,
                                tails = TEST_TAILS, margin = 1e-9) {
  for (tail in tails) {
    got <- do.call(run, tail)
    testthat::expect_identical(got$exact, exact)
    want <- if (is.null(whole)) {
      oracle_p(null, observed, tail, exact, margin)
    } else {
      oracle_p(whole, whole_observed, tail, exact, margin = 0)
    }
    testthat::expect_equal(unname(got$p), want, tolerance = 1e-14)
    testthat::expect_equal(unname(got$p_fwer), oracle_fwer(null, observed, tail, exact, margin), tolerance = 1e-14)
    testthat::expect_equal(unname(got$q_fdr), stats::p.adjust(want, "BH"), tolerance = 1e-14)
    testthat::expect_true(all(got$p_fwer >= got$p))
  }
  invisible()
}

# The rearrangements that a test with this seed draws.
drawn_rows <- function(kind, n, m, seed, first = NULL, block = NULL, whole = FALSE) {
  core_permutation_rows(list(kind = kind, n = n, block = block, whole = whole, first = first, exact = FALSE,
                             seed = seed, given = NULL), m)
}

quiet_test <- function(fun) {
  function(...) suppressMessages(fun(..., progress = FALSE), classes = "voxridge_message")
}
