one_sample <- quiet_test(one_sample_permutation_test)

column_t <- function(Y) colMeans(Y) / (apply(Y, 2L, stats::sd) / sqrt(nrow(Y)))

# Statistics of all rows of signs: t, and sums in whole numbers.
flip_null <- function(Y, signs) {
  list(t = t(apply(signs, 1L, function(s) column_t(s * Y))), sums = signs %*% Y)
}

test_that("all sign patterns are counted as in whole numbers, ties and all", {
  for (n in c(5L, 8L)) {
    Y <- tied_data(n, 60L, n)
    Y <- Y[, apply(Y, 2L, stats::sd) > 0]
    null <- flip_null(Y, all_flips(n))
    for (unit in c(1, 0.1, 1e-300, 1e300)) {
      expect_permutations(function(...) one_sample(unit * Y, ...), null$t, column_t(Y), null$sums, colSums(Y))
    }
  }
  # without ties
  Y <- withr::with_seed(1, matrix(rnorm(7 * 30), 7))
  null <- flip_null(Y, all_flips(7L))
  expect_permutations(function(...) one_sample(Y, ...), null$t, column_t(Y))
})

test_that("random sign patterns are those of the seed", {
  Y <- tied_data(20L, 50L, 2)
  signs <- drawn_rows("flips", 20L, 300L, 77)
  null <- flip_null(Y, signs)
  expect_permutations(function(...) one_sample(Y, n_permutations = 300, seed = 77, ...), null$t, column_t(Y), null$sums,
                      colSums(Y), exact = FALSE)
  # the caller's own are the same test
  by_hand <- one_sample(Y, permutations = signs)
  drawn <- one_sample(Y, n_permutations = 300, seed = 77)
  same <- c("p", "p_fwer", "q_fdr", "counts", "max_null", "statistic", "p_ci")
  expect_identical(by_hand[same], drawn[same])
  expect_null(by_hand$seed)
  expect_identical(drawn$seed, 77)
})

test_that("statistic, estimate and df are those of t.test()", {
  Y <- withr::with_seed(3, matrix(rnorm(12 * 5, 3), 12, dimnames = list(NULL, letters[1:5])))
  got <- one_sample(Y, mu = 2.5, n_permutations = 50, seed = 1)
  for (j in 1:5) {
    want <- stats::t.test(Y[, j], mu = 2.5)
    expect_equal(got$statistic[[j]], want$statistic[["t"]], tolerance = 1e-12)
    expect_equal(got$estimate[[j]], want$estimate[["mean of x"]] - 2.5, tolerance = 1e-12)
  }
  expect_identical(got$df, 11)
  expect_named(got$p, letters[1:5])
  expect_identical(rownames(got$p_ci), letters[1:5])
})

test_that("max_null is the maximum of the kept null distribution, on the scale of t", {
  Y <- withr::with_seed(4, matrix(rnorm(15 * 40), 15))
  signs <- drawn_rows("flips", 15L, 99L, 5)
  null <- flip_null(Y, signs)$t
  for (tail in TEST_TAILS) {
    got <- do.call(one_sample, c(list(Y, n_permutations = 99, seed = 5, return_null = TRUE), tail))
    expect_equal(got$null, null, tolerance = 1e-6)
    want <- if (identical(tail$two_sided, "double")) {
      cbind(greater = apply(null, 1L, max), less = apply(null, 1L, min))
    } else {
      switch(tail$alternative, two.sided = apply(abs(null), 1L, max), greater = apply(null, 1L, max),
             less = apply(null, 1L, min))
    }
    expect_equal(got$max_null, want, tolerance = 1e-6)
  }
})

test_that("columns that cannot be tested touch no other", {
  Y <- tied_data(9L, 30L, 6)
  Y <- Y[, apply(Y, 2L, stats::sd) > 0]
  clean <- one_sample(Y, n_permutations = 200, seed = 1)
  dirty <- cbind(0, Y[, 1:5], NA, 7, Y[, -(1:5)], c(Inf, Y[-1, 1]), 1e300)
  got <- one_sample(dirty, n_permutations = 200, seed = 1)
  left <- c(1, 7, 8, ncol(dirty) - 1, ncol(dirty))
  expect_identical(got$excluded, data.frame(column = as.integer(left),
                                            reason = c("zero", "non-finite", "constant", "non-finite", "constant")))
  for (what in c("p", "p_fwer", "q_fdr", "counts", "statistic", "estimate")) {
    expect_identical(got[[what]][-left], clean[[what]], info = what)
    expect_true(all(is.na(got[[what]][left])), info = what)
  }
  expect_identical(got$max_null, clean$max_null)
  expect_refused(one_sample(dirty, na = "error"), "Y", "NA, NaN or Inf in 2 of")
})

test_that("no column can be tested, no column at all, a vector", {
  expect_warning(got <- one_sample(matrix(1, 6, 3)), class = "voxridge_warning_nothing_to_test")
  expect_true(all(is.na(got$p)))
  expect_true(all(is.na(got$max_null)))
  none <- one_sample(matrix(0, 6, 0))
  expect_length(none$p, 0L)
  y <- c(1.2, 0.3, 2.2, -0.4, 1.8, 0.9, 1.1)
  one <- one_sample(y)
  expect_identical(one$p, one_sample(cbind(y))$p[[1L]])
  expect_identical(one$p_fwer, one$p)
  # integers are converted
  expect_identical(one_sample(1:6)$counts, one_sample(as.double(1:6))$counts)
})

test_that("hard values: u = 0, exact zero variance about mu, the smallest tests", {
  got <- one_sample(cbind(c(1, -1, 2, -2), c(1, 2, 3, 4)))
  expect_identical(got$p, c(1, 2 / 16))
  expect_message(five <- one_sample_permutation_test(1:5 + 0.5), class = "voxridge_message_few_permutations")
  expect_identical(c(five$n_permutations, five$min_p, five$p), c(32, 0.0625, 0.0625))
  once <- one_sample(matrix(rnorm(40), 10), n_permutations = 1, exact = "never", seed = 1)
  expect_true(all(once$p %in% c(0.5, 1)))
  # all values away from mu and equal: constant, although the mean differs from mu
  expect_identical(suppressWarnings(one_sample(rep(3, 5)))$excluded$reason, "constant")
})

test_that("whole blocks change their signs together", {
  Y <- tied_data(12L, 25L, 8)
  block <- rep(c("c", "a", "b", "d"), each = 3)
  signs <- all_flips(4L)[, rep(1:4, each = 3)]
  null <- flip_null(Y, signs)
  expect_permutations(function(...) one_sample(Y, blocks = block, block_type = "whole", ...), null$t, column_t(Y),
                      null$sums, colSums(Y))
  got <- one_sample(Y, blocks = block, block_type = "whole")
  expect_identical(got$blocks, data.frame(block = c("c", "a", "b", "d"), size = rep(3L, 4)))
  expect_refused(one_sample(Y, blocks = block), "block_type", "whole")
})

test_that("laws: threads, other columns, sign, scale", {
  Y <- withr::with_seed(9, matrix(rnorm(18 * 400), 18))
  base <- one_sample(Y, n_permutations = 500, seed = 3, n_threads = 1)
  same <- setdiff(names(base), "diagnostics")
  for (n_threads in c(2, 5)) {
    expect_identical(one_sample(Y, n_permutations = 500, seed = 3, n_threads = n_threads)[same], base[same])
  }
  some <- c(400, 3, 77, 12)
  part <- one_sample(Y[, some], n_permutations = 500, seed = 3)
  expect_identical(part$counts, base$counts[some])
  expect_true(all(part$p_fwer <= base$p_fwer[some]))
  expect_true(all(base$q_fdr >= base$p))
  up <- one_sample(Y, alternative = "greater", n_permutations = 500, seed = 3)
  down <- one_sample(-Y, alternative = "less", n_permutations = 500, seed = 3)
  expect_identical(up[c("p", "p_fwer", "counts")], down[c("p", "p_fwer", "counts")])
  expect_identical(up$max_null, -down$max_null)
  scaled <- one_sample(sweep(Y, 2L, 2^(seq_len(400) - 200), "*"), n_permutations = 500, seed = 3)
  expect_identical(scaled$counts, base$counts)
  # what is not greater is less, but for what is equal
  tied <- tied_data(10L, 50L, 10)
  sums <- all_flips(10L) %*% tied
  ties <- colSums(sums == rep(colSums(tied), each = nrow(sums)))
  greater <- one_sample(tied, alternative = "greater")$counts
  less <- one_sample(tied, alternative = "less")$counts
  expect_identical(as.double(greater + less), 2^10 + ties)
})

test_that("set.seed() and seed decide the draws", {
  Y <- withr::with_seed(1, matrix(rnorm(160), 16))
  first <- withr::with_seed(5, one_sample(Y, n_permutations = 50))
  again <- withr::with_seed(5, one_sample(Y, n_permutations = 50))
  expect_identical(first$counts, again$counts)
  expect_identical(one_sample(Y, n_permutations = 50, seed = first$seed)$counts, first$counts)
  withr::with_seed(6, {
    before <- .Random.seed
    one_sample(Y, n_permutations = 50, seed = 1)
    one_sample(Y[1:6, ], n_permutations = 100)
    expect_identical(.Random.seed, before)
  })
})

test_that("p of noise is uniform", {
  # 30 x 2000 normal numbers: shares within four standard errors
  Y <- withr::with_seed(11, matrix(rnorm(30 * 2000), 30))
  p <- one_sample(Y, n_permutations = 999, seed = 12)$p
  for (level in c(0.01, 0.05, 0.2, 0.5, 0.9)) {
    expect_lt(abs(mean(p <= level) - level), 4 * sqrt(level * (1 - level) / 2000))
  }
  # the largest of 20 columns: 5 % of 300 sets within four standard errors
  hits <- vapply(1:300, function(i) {
    Z <- withr::with_seed(1000 + i, matrix(rexp(12 * 20) - rexp(12 * 20), 12))
    min(one_sample(Z, n_permutations = 199, seed = i, exact = "never")$p_fwer) <= 0.05
  }, NA)
  expect_lt(abs(mean(hits) - 0.05), 4 * sqrt(0.05 * 0.95 / 300))
})

test_that("the emotion regulation sample", {
  Y <- brain_matrix(test_data("data", "wager2008", "contrasts_4d.nii.gz"),
                    test_data("data", "wager2008", "mask.nii.gz"))
  got <- one_sample(Y, n_permutations = 10000, seed = 1)
  expect_identical(ncol(Y), 33793L)
  peak <- which.max(got$statistic)
  expect_equal(round(got$statistic[peak], 4), 7.2546)
  expect_equal(round(unname(coordinates(got$mask)[peak, ]), 1), c(-6.9, 24.1, 54), tolerance = 1e-12)
  # The maximum of 2,000,000 flips is above 5.011 in 5 % of them. Of 10,000 flips, a binomial share, and so within four
  # standard errors between 4.1 and 5.9 %, which those 2,000,000 have at 5.095 and 4.940: 271 to 319 voxels.
  expect_lt(abs(mean(got$max_null > 5.011) - 0.05), 4 * sqrt(0.05 * 0.95 / 1e4))
  expect_gt(summary(got)$threshold, 4.940)
  expect_lt(summary(got)$threshold, 5.095)
  expect_identical(c(sum(abs(got$statistic) >= 5.095), sum(abs(got$statistic) >= 4.940)), c(271L, 319L))
  expect_identical(sum(got$p_fwer <= 0.05), sum(abs(got$statistic) >= summary(got)$threshold))
  parametric <- 2 * stats::pt(-abs(got$statistic), 29)
  expect_identical(sum(stats::p.adjust(parametric, "BH") <= 0.05), 2060L)
  # p <= 0.001 is b <= 9, with b binomial of 10,000 and the p of 2,000,000 flips: the sum of these chances over voxels
  # is 1400. The standard deviation would be 10 if voxels were independent. They share their flips: with c the flips in
  # which both of two voxels are extreme, b is the sum of Poisson numbers of means c and the rest, and the sum of the
  # covariances of (b <= 9) over pairs gives 54 (40 seeds: mean 1401, standard deviation 55).
  expect_lt(abs(sum(got$p <= 0.001) - 1400), 4 * 54)
  # BH: in the same way the number of p up to its limit of 0.0033 has a standard deviation of 48, and the limit moves
  # with the number: by 1 / (1 - 0.385) of that, with 0.05 / v times the density of p there (40 seeds: 2231, 83).
  expect_lt(abs(sum(got$q_fdr <= 0.05) - 2244), 4 * 48 / (1 - 0.385))
  map <- brain_map(got)
  expect_identical(dim(map), got$mask$dim)
  expect_equal(max(map, na.rm = TRUE), max(got$statistic))
  expect_equal(min(brain_map(got, what = "p_fwer"), na.rm = TRUE), min(got$p_fwer))
  expect_refused(brain_map(got, what = "seed"), "what")
})

test_that("bad input is refused", {
  Y <- matrix(rnorm(40), 10)
  expect_refused(one_sample(Y[1, , drop = FALSE]), "Y", "at least 2 rows")
  expect_refused(one_sample("a"), "Y")
  expect_refused(one_sample(Y[0, ]), "Y")
  expect_refused(one_sample(Y, mu = NA), "mu")
  expect_refused(one_sample(Y, n_permutations = 0), "n_permutations")
  expect_refused(one_sample(Y, n_permutations = 10.5), "n_permutations")
  expect_refused(one_sample(Y, n_permutations = 2^31), "n_permutations")
  expect_refused(one_sample(Y, alternative = "both"), "alternative")
  expect_refused(one_sample(Y, two_sided = "half"), "two_sided")
  expect_refused(one_sample(Y, exact = TRUE), "exact")
  expect_refused(one_sample(matrix(rnorm(60), 30), exact = "always"), "exact", "1e8")
  expect_refused(one_sample(Y, na = "pass"), "na")
  expect_refused(one_sample(Y, return_null = 1), "return_null")
  expect_refused(one_sample(Y, seed = -1), "seed")
  expect_error(one_sample_permutation_test(Y, n_perm = 10, foo = 1), "unused argument")
})
