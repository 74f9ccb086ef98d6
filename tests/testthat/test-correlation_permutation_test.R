correlate <- quiet_test(correlation_permutation_test)

# r of re-ordered x with every column, and n sum(xy) - sum(x) sum(y), a whole number.
order_null <- function(x, Y, orders) {
  moved <- matrix(x[orders], nrow(orders))
  list(r = stats::cor(t(moved), Y), whole = nrow(Y) * (moved %*% Y) - sum(x) * rep(colSums(Y), each = nrow(orders)))
}

test_that("all orders are counted as in whole numbers", {
  for (n in c(4L, 6L)) {
    Y <- tied_data(n, 40L, n)
    Y <- Y[, apply(Y, 2L, stats::sd) > 0]
    x <- c(1, 1, 0, 3, -2, 5)[seq_len(n)]
    null <- order_null(x, Y, all_orders(n))
    here <- order_null(x, Y, rbind(seq_len(n)))
    for (unit in c(1, 1e-290, 1e290)) {
      expect_permutations(function(...) correlate(unit * x, Y / unit, ...), null$r, as.vector(here$r), null$whole,
                          as.vector(here$whole))
    }
  }
})

test_that("Spearman: all orders of average ranks", {
  Y <- tied_data(6L, 40L, 2, range = -8:8)
  x <- c(3, 3, 1, 10, -5, 2)
  ranks <- apply(Y, 2L, rank)
  null <- order_null(2 * rank(x), 2 * ranks, all_orders(6L))
  here <- order_null(2 * rank(x), 2 * ranks, rbind(1:6))
  expect_permutations(function(...) correlate(x, Y, "spearman", ...), null$r, as.vector(here$r), null$whole,
                      as.vector(here$whole))
  expect_equal(correlate(x, Y, "spearman")$statistic, as.vector(stats::cor(x, Y, method = "spearman")),
               tolerance = 1e-12)
  # increasing functions change nothing
  same <- c("p", "p_fwer", "statistic", "max_null")
  expect_identical(correlate(exp(x), exp(Y), "spearman")[same], correlate(x, Y, "spearman")[same])
})

test_that("column by column", {
  Y <- tied_data(6L, 35L, 3)
  X <- tied_data(6L, 35L, 4)
  used <- apply(Y, 2L, stats::sd) > 0 & apply(X, 2L, stats::sd) > 0
  Y <- Y[, used]
  X <- X[, used]
  orders <- all_orders(6L)
  one <- lapply(seq_len(ncol(Y)), function(j) order_null(X[, j], Y[, j, drop = FALSE], orders))
  r <- do.call(cbind, lapply(one, `[[`, "r"))
  whole <- do.call(cbind, lapply(one, `[[`, "whole"))
  here <- vapply(seq_len(ncol(Y)), function(j) order_null(X[, j], Y[, j, drop = FALSE], rbind(1:6))$whole, 0)
  expect_permutations(function(...) correlate(X, Y, ...), r, diag(stats::cor(X, Y)), whole, here)
  # a variable for every column is the same as one for all
  x <- withr::with_seed(5, rnorm(15))
  Z <- withr::with_seed(6, matrix(rnorm(15 * 37), 15))
  for (method in c("pearson", "spearman")) {
    single <- correlate(x, Z, method, n_permutations = 200, seed = 1, return_null = TRUE)
    paired <- correlate(matrix(x, 15, 37), Z, method, n_permutations = 200, seed = 1, return_null = TRUE)
    same <- c("p", "p_fwer", "counts", "max_null", "null")
    expect_identical(paired[same], single[same])
    expect_equal(paired$statistic, single$statistic, tolerance = 1e-13)
  }
  bad <- matrix(x, 15, 37)
  bad[, 2L] <- 4
  bad[3L, 5L] <- NA
  got <- correlate(bad, Z, n_permutations = 20, seed = 1)
  expect_identical(got$excluded, data.frame(column = c(2L, 5L), reason = c("constant", "non-finite")))
  expect_refused(correlate(bad, Z, na = "error"), "x", "NA")
  expect_refused(correlate(bad[, -1], Z), "x", "columns of `Y`")
})

test_that("random orders are those of the seed; blocks keep their samples", {
  Y <- tied_data(15L, 30L, 7)
  x <- tied_data(15L, 1L, 8)[, 1L]
  orders <- drawn_rows("orders", 15L, 150L, 4)
  null <- order_null(x, Y, orders)
  here <- order_null(x, Y, rbind(1:15))
  expect_permutations(function(...) correlate(x, Y, n_permutations = 150, seed = 4, ...), null$r, as.vector(here$r),
                      null$whole, as.vector(here$whole), exact = FALSE)
  block <- rep(c("b", "a", "c"), c(3, 2, 3))
  small <- Y[1:8, ]
  small <- small[, apply(small, 2L, stats::sd) > 0]
  x <- c(1, 2, 2, 5, 0, -1, 4, 4)
  orders <- as.matrix(expand.grid(1:6, 1:2, 1:6))
  orders <- t(apply(orders, 1L, function(k) {
    c(all_orders(3L)[k[1L], ], 3 + all_orders(2L)[k[2L], ], 5 + all_orders(3L)[k[3L], ])
  }))
  null <- order_null(x, small, orders)
  here <- order_null(x, small, rbind(1:8))
  expect_permutations(function(...) correlate(x, small, blocks = block, ...), null$r, as.vector(here$r), null$whole,
                      as.vector(here$whole))
  # whole blocks: 4 blocks of 2
  orders <- matrix(rbind(2 * t(all_orders(4L)) - 1, 2 * t(all_orders(4L)))[rep(1:4, each = 2) + c(0, 4), ], 8)
  null <- order_null(x, small, t(orders))
  run <- function(...) correlate(x, small, blocks = rep(1:4, each = 2), block_type = "whole", ...)
  expect_permutations(run, null$r, as.vector(here$r), null$whole, as.vector(here$whole))
  expect_refused(correlate(x, small, blocks = rep(1:2, c(3, 5)), block_type = "whole"), "blocks", "1: 3, 2: 5")
})

test_that("the smallest p: equal values and mirror images of x", {
  y <- cbind(c(1, 2, 4, 8, 16))
  min_p <- function(x, ...) correlate(x, y, ...)[c("min_p", "p")]
  expect_identical(min_p(c(0, 1, 2, 3, 7)), list(min_p = 1 / 120, p = 1 / 120))
  expect_equal(min_p(c(0, 0, 0, 1, 1)), list(min_p = 12 / 120, p = 12 / 120))
  expect_identical(min_p(1:5, alternative = "greater"), list(min_p = 1 / 120, p = 1 / 120))
  expect_equal(correlate(1:5, cbind(c(1, 2, 3, 4, 5)))[c("min_p", "p")], list(min_p = 2 / 120, p = 2 / 120))
})

test_that("statistic, perfect correlation, laws", {
  x <- withr::with_seed(1, rnorm(20))
  Y <- cbind(2 * x - 5, -x, withr::with_seed(2, matrix(rnorm(20 * 200), 20)))
  got <- correlate(x, Y, n_permutations = 300, seed = 1)
  expect_equal(got$statistic, as.vector(stats::cor(x, Y)), tolerance = 1e-12)
  expect_identical(got$statistic[1:2], c(1, -1))
  expect_identical(got$df, 18)
  expect_identical(got$p[1:2], c(1, 1) / 301)
  up <- correlate(x, Y, alternative = "greater", n_permutations = 300, seed = 1)
  down <- correlate(-x, Y, alternative = "less", n_permutations = 300, seed = 1)
  expect_identical(up[c("p", "p_fwer")], down[c("p", "p_fwer")])
  moved <- correlate(1000 + 3 * x, Y, n_permutations = 300, seed = 1)
  expect_identical(moved$counts, got$counts)
  for (n_threads in c(1, 5)) {
    again <- correlate(x, Y, n_permutations = 300, seed = 1, n_threads = n_threads)
    expect_identical(again[c("counts", "max_null")], got[c("counts", "max_null")])
  }
  part <- correlate(x, Y[, 30:50], n_permutations = 300, seed = 1)
  expect_identical(part$counts, got$counts[30:50])
})

test_that("bad input is refused", {
  Y <- matrix(rnorm(24), 6)
  cnd <- expect_refused(correlate(rep(3, 6), Y), "x", "not estimable")
  expect_s3_class(cnd, "voxridge_error_not_estimable")
  expect_refused(correlate(1:5, Y), "x", "6")
  expect_refused(correlate(c(1:5, NA), Y), "x", "NA")
  expect_refused(correlate(letters[1:6], Y), "x")
  expect_refused(correlate(1:2, Y[1:2, ]), "Y", "at least 3 rows")
  expect_refused(correlate(1:6, Y, "kendall"), "method")
  expect_refused(correlate(1:6, Y, blocks = 1:6), "blocks", "M = 1")
  expect_refused(correlate(1:6, Y, block_type = "whole"), "block_type")
})
