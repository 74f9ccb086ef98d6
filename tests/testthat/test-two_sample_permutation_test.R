two_sample <- quiet_test(two_sample_permutation_test)

# One row per arrangement: who is in the first group.
all_groups <- function(n, k) t(utils::combn(n, k, function(chosen) seq_len(n) %in% chosen))

pooled_t <- function(Y, first) {
  n1 <- sum(first)
  n2 <- sum(!first)
  difference <- colMeans(Y[first, , drop = FALSE]) - colMeans(Y[!first, , drop = FALSE])
  within <- colSums(scale(Y[first, , drop = FALSE], scale = FALSE)^2) +
    colSums(scale(Y[!first, , drop = FALSE], scale = FALSE)^2)
  difference / sqrt(within / (n1 + n2 - 2) * (1 / n1 + 1 / n2))
}

welch_t <- function(Y, first) {
  part <- function(rows) {
    list(mean = colMeans(Y[rows, , drop = FALSE]), v = apply(Y[rows, , drop = FALSE], 2L, stats::var) / sum(rows))
  }
  a <- part(first)
  b <- part(!first)
  ifelse(a$mean == b$mean, 0, (a$mean - b$mean) / sqrt(a$v + b$v))
}

# n times the sum of the first group less n1 times the sum of all: whole numbers.
whole_difference <- function(Y, groups) nrow(Y) * (groups %*% Y) - rowSums(groups) %o% colSums(Y)

varied <- function(Y) Y[, apply(Y, 2L, stats::sd) > 0]

test_that("all arrangements are counted as in whole numbers", {
  for (sizes in list(c(4L, 4L), c(3L, 6L), c(1L, 7L))) {
    n <- sum(sizes)
    Y <- varied(tied_data(n, 50L, n))
    group <- factor(sample(rep(c("b", "a"), sizes)), c("b", "a"))
    first <- group == "b"
    groups <- all_groups(n, sizes[1L]) + 0
    null <- t(apply(groups > 0, 1L, function(g) pooled_t(Y, g)))
    expect_permutations(function(...) two_sample(Y, group, ...), null, pooled_t(Y, first), whole_difference(Y, groups),
                        as.vector(whole_difference(Y, rbind(first + 0))))
  }
})

test_that("Welch: all arrangements, and t.test()", {
  for (sizes in list(c(4L, 4L), c(3L, 6L))) {
    n <- sum(sizes)
    Y <- varied(tied_data(n, 40L, 10L + n, range = -5:5))
    first <- rep(c(TRUE, FALSE), sizes)
    groups <- all_groups(n, sizes[1L])
    null <- t(apply(groups, 1L, function(g) welch_t(Y, g)))
    # doubles of the oracle leave 1e-12; the margin of the test is 1e-6
    expect_permutations(function(...) two_sample(Y, first == 0, var_equal = FALSE, ...), null, welch_t(Y, first))
  }
  Y <- withr::with_seed(1, matrix(rnorm(60), 12))
  group <- rep(c("x", "y"), c(5, 7))
  got <- two_sample(Y, group, var_equal = FALSE, n_permutations = 20, seed = 1)
  for (j in 1:5) {
    want <- stats::t.test(Y[, j] ~ group)
    expect_equal(got$statistic[j], want$statistic[["t"]], tolerance = 1e-12)
    expect_equal(got$df[j], want$parameter[["df"]], tolerance = 1e-12)
    pooled <- stats::t.test(Y[, j] ~ group, var.equal = TRUE)
    equal <- two_sample(Y, group, n_permutations = 20, seed = 1)
    expect_equal(equal$statistic[j], pooled$statistic[["t"]], tolerance = 1e-12)
    expect_equal(equal$estimate[j], -diff(pooled$estimate)[[1L]], tolerance = 1e-12)
  }
})

test_that("random arrangements are those of the seed, and the caller's", {
  Y <- tied_data(16L, 40L, 3)
  first <- rep(c(TRUE, FALSE, TRUE, FALSE), c(3, 4, 4, 5))
  groups <- drawn_rows("labels", 16L, 200L, 9, first)
  expect_true(all(rowSums(groups) == 7))
  null <- t(apply(groups > 0, 1L, function(g) pooled_t(Y, g)))
  run <- function(...) two_sample(Y, !first, n_permutations = 200, seed = 9, exact = "never", ...)
  expect_permutations(run, null, pooled_t(Y, first), whole_difference(Y, groups),
                      as.vector(whole_difference(Y, rbind(first + 0))), exact = FALSE)
  # sample order[i] takes the label of sample i
  orders <- drawn_rows("orders", 16L, 200L, 9)
  given <- two_sample(Y, !first, permutations = orders)
  expect_identical(given[c("p", "p_fwer", "max_null")], run()[c("p", "p_fwer", "max_null")])
  # two matrices are two groups
  joined <- two_sample(Y[first, ], Y[!first, ], exact = "never", n_permutations = 50, seed = 1)
  stacked <- two_sample(rbind(Y[first, ], Y[!first, ]), rep(1:2, c(7, 9)), n_permutations = 50, seed = 1)
  expect_identical(joined$p, stacked$p)
})

test_that("labels stay within blocks, or move with them", {
  Y <- varied(tied_data(10L, 30L, 4))
  block <- rep(c(1, 2), c(4, 6))
  first <- c(TRUE, FALSE, FALSE, FALSE, TRUE, TRUE, TRUE, FALSE, FALSE, FALSE)
  left <- all_groups(4L, 1L)
  right <- all_groups(6L, 3L)
  groups <- cbind(left[rep(1:4, each = 20), ], right[rep(1:20, 4), ]) + 0
  null <- t(apply(groups > 0, 1L, function(g) pooled_t(Y, g)))
  expect_permutations(function(...) two_sample(Y, !first, blocks = block, ...), null, pooled_t(Y, first),
                      whole_difference(Y, groups), as.vector(whole_difference(Y, rbind(first + 0))))
  Y <- varied(tied_data(12L, 30L, 5))
  block <- rep(1:6, each = 2)
  first <- block %in% c(2, 5, 6)
  groups <- all_groups(6L, 3L)[, block] + 0
  null <- t(apply(groups > 0, 1L, function(g) pooled_t(Y, g)))
  run <- function(...) two_sample(Y, !first, blocks = block, block_type = "whole", ...)
  expect_permutations(run, null, pooled_t(Y, first), whole_difference(Y, groups),
                      as.vector(whole_difference(Y, rbind(first + 0))))
  expect_identical(run()$min_p, 2 / 20)
  # a block of one label cannot change; if all are so, nothing can
  expect_refused(two_sample(Y, !first, blocks = block), "blocks", "M = 1")
  expect_refused(two_sample(Y, !first, blocks = rep(1:2, c(4, 8)), block_type = "whole"), "blocks", "1: 4, 2: 8")
})

test_that("the smallest p: balanced groups have a mirror image", {
  Y <- cbind(c(0, 0, 0, 1, 1, 1))
  even <- two_sample(Y, rep(1:2, each = 3))
  expect_identical(c(even$p, even$min_p, even$statistic), c(0.1, 0.1, -Inf))
  uneven <- two_sample(cbind(c(0, 0, 1, 1, 1)), c(1, 1, 2, 2, 2))
  expect_identical(c(uneven$p, uneven$min_p), c(0.1, 0.1))
  expect_identical(two_sample(Y, rep(1:2, each = 3), alternative = "less")$p, 0.05)
})

test_that("exactly separated groups have an infinite statistic and a valid p", {
  Y <- cbind(rep(c(0.1, 0.3), c(5, 5)), c(1:5, 11:15))
  for (equal in c(TRUE, FALSE)) {
    got <- two_sample(Y, rep(1:2, each = 5), var_equal = equal)
    expect_identical(got$statistic[1L], -Inf)
    expect_equal(got$p, rep(2 / 252, 2), tolerance = 1e-14)
    expect_equal(got$p_fwer, rep(2 / 252, 2), tolerance = 1e-14)
  }
})

test_that("laws: labels, sign, threads", {
  Y <- withr::with_seed(6, matrix(rnorm(20 * 300), 20))
  group <- rep(c("a", "b"), 10)
  for (equal in c(TRUE, FALSE)) {
    run <- function(group, ...) two_sample(Y, group, var_equal = equal, n_permutations = 300, seed = 2, ...)
    up <- run(factor(group, c("a", "b")), alternative = "greater")
    down <- two_sample(-Y, factor(group, c("a", "b")), var_equal = equal, n_permutations = 300, seed = 2,
                       alternative = "less")
    expect_identical(up[c("p", "p_fwer")], down[c("p", "p_fwer")])
    expect_identical(run(group)$counts, run(factor(group, c("a", "b", "c")))$counts)
    # with the arrangements of the other labelling
    swapped <- two_sample(Y, factor(group, c("b", "a")), var_equal = equal, exact = "never", n_permutations = 300,
                          seed = 2, alternative = "less")
    orders <- drawn_rows("orders", 20L, 300L, 2)
    again <- two_sample(Y, factor(group, c("b", "a")), var_equal = equal, permutations = orders, alternative = "less")
    expect_identical(swapped$p, again$p)
    expect_equal(swapped$statistic, -up$statistic, tolerance = 1e-12)
    expect_identical(swapped$p, up$p)
    for (n_threads in c(1, 5)) expect_identical(run(group, n_threads = n_threads)$max_null, run(group)$max_null)
  }
})

test_that("bad groups are refused", {
  Y <- matrix(rnorm(24), 6)
  expect_refused(two_sample(Y), "group", "must be given")
  expect_refused(two_sample(Y, 1:5), "group")
  expect_refused(two_sample(Y, as.raw(rep(1:2, 3))), "group", "raw")
  expect_refused(two_sample(Y, c(1, 1, 2, 2, NA, 1)), "group", "sample.*5")
  expect_refused(two_sample(Y, rep(1, 6)), "group", "two levels, not 1")
  expect_refused(two_sample(Y, rep(1:3, 2)), "group", "two levels, not 3")
  expect_refused(two_sample(Y, c(1, rep(2, 5)), var_equal = FALSE), "group", "1 and 5")
  expect_refused(two_sample(Y[1:2, ], 1:2), "group", "1 and 1")
  expect_refused(two_sample(Y, Y[, 1:2]), "group", "columns of `Y`")
  expect_refused(two_sample(Y, rep(1:2, 3), var_equal = NA), "var_equal")
  bad <- rbind(1:6, c(1:5, 5))
  expect_refused(two_sample(Y, rep(1:2, 3), permutations = bad), "permutations", "row 2, column 6")
  expect_refused(two_sample(Y, rep(1:2, 3), permutations = bad - 1), "permutations", "not 0 in row 1, column 1")
})
