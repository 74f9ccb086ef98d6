a_test <- function(..., seed = 1, n = 15) {
  Y <- withr::with_seed(1, matrix(rnorm(n * 30), n) + rep(c(2, 0), c(n * 2, n * 28)))
  suppressMessages(one_sample_permutation_test(Y, n_permutations = 500, ..., seed = seed, progress = FALSE))
}

test_that("printing says what was done and how many passed, in a few lines", {
  got <- a_test()
  lines <- capture.output(shown <- withVisible(print(got)))
  expect_false(shown$visible)
  expect_identical(shown$value, got)
  expect_lte(length(lines), 15L)
  expect_match(lines[1L], "One-sample t permutation test \\(two-sided\\): n = 15, 30 columns")
  expect_match(lines[2L], "500 sign flips, seed 1$")
  expect_match(lines[3L], "Smallest possible p: 0.002")
  expect_match(lines[5L], paste0("p_fwer <= 0.05: ", sum(got$p_fwer <= 0.05), " of 30"))
  expect_match(lines[7L], "q_fdr <= 0.05 needs at least 2 columns")
  expect_error(print(got, foo = 1), class = "rlib_error_dots_nonempty")
  exact <- a_test(n = 7)
  expect_match(capture.output(print(exact))[2L], "all 128 sign flips \\(exact\\)")
  blocks <- a_test(blocks = rep(1:10, length.out = 15), block_type = "whole", alternative = "less")
  expect_match(capture.output(print(blocks))[1:2], "\\(less\\)|in 10 blocks", all = TRUE)
  excluded <- suppressMessages(one_sample_permutation_test(cbind(1:6, 2, c(1:5, NA)), seed = 1))
  expect_match(capture.output(print(excluded)), "Excluded: 1 constant, 1 non-finite", all = FALSE)
  given <- suppressMessages(one_sample_permutation_test(1:4, permutations = matrix(c(1, -1), 4, 4)))
  expect_match(capture.output(print(given))[2L], "given by the caller")
})

test_that("printing says what clusters, TFCE, fitted tails and sequential stopping show", {
  mask <- brain_mask(array(1, c(5, 3, 2)))
  clusters <- a_test(mask = mask, enhance = cluster_mass(threshold_p = 0.05))
  expect_gt(nrow(clusters$clusters), 1L)
  small <- sum(clusters$clusters$p_fwer <= 0.05)
  expect_match(capture.output(print(clusters)), all = FALSE,
               sprintf("^clusters\\$p_fwer <= 0.05: %d of %d clusters \\(mass", small, nrow(clusters$clusters)))
  none <- a_test(mask = mask, enhance = cluster_extent(threshold_t = 100))
  expect_match(capture.output(print(none)), "0 of 0 clusters \\(extent", all = FALSE)
  maps <- a_test(mask = mask, enhance = tfce())
  expect_match(capture.output(print(summary(maps, level = 0.2))), all = FALSE,
               sprintf("^p_tfce_fwer <= 0.2: %d of 30 \\(TFCE", sum(maps$p_tfce_fwer <= 0.2)))
  fitted <- a_test(tail_fit = TRUE)
  expect_match(capture.output(print(fitted)), all = FALSE,
               sprintf("%d from the fitted tail\\)$", sum(fitted$tail_fitted)))
  expect_match(capture.output(print(a_test(sequential = 10))), "after 10 permutations as extreme", all = FALSE)
})

test_that("summaries count, order and give the threshold", {
  for (alternative in c("two.sided", "greater", "less")) {
    for (level in c(0.01, 0.05, 0.2)) {
      got <- a_test(alternative = alternative)
      s <- summary(got, level = level)
      expect_identical(s$passed, c(p = sum(got$p <= level), p_fwer = sum(got$p_fwer <= level),
                                   q_fdr = sum(got$q_fdr <= level)))
      beyond <- switch(alternative, two.sided = abs(got$statistic) > s$threshold, greater = got$statistic > s$threshold,
                       less = got$statistic < s$threshold)
      expect_identical(beyond, got$p_fwer <= level)
      # the share of maxima beyond a threshold is at most the level
      outside <- if (alternative == "less") got$max_null < s$threshold else got$max_null > s$threshold
      expect_lte(sum(outside) + 1, level * 501)
    }
  }
  double <- a_test(two_sided = "double")
  limits <- summary(double, level = 0.1)$threshold
  expect_identical(double$statistic < limits[["lower"]] | double$statistic > limits[["upper"]], double$p_fwer <= 0.1)
  exact <- a_test(n = 9, exact = "always", seed = NULL)
  expect_identical(abs(exact$statistic) > summary(exact)$threshold, exact$p_fwer <= 0.05)
  # too few permutations for a threshold
  few <- suppressMessages(one_sample_permutation_test(cbind(1:4, c(1, 3, 2, 5))))
  expect_identical(summary(few)$threshold, NA_real_)
  expect_false(any(grepl("Threshold", capture.output(print(summary(few))))))
  lines <- capture.output(print(summary(a_test())))
  expect_lte(length(lines), 15L)
  withr::local_options(voxridge.print_max = 2)
  expect_identical(nrow(summary(a_test())$largest), 2L)
  for (level in list(0, 1, NA, "a", c(0.1, 0.2))) expect_refused(summary(a_test(), level = level), "level")
})

test_that("tables hold the numbers of the result in their order", {
  got <- a_test()
  table <- tidy(got)
  expect_named(table, c("column", "estimate", "statistic", "p", "p_fwer", "q_fdr", "excluded"))
  expect_identical(table$column, 1:30)
  for (what in c("estimate", "statistic", "p", "p_fwer", "q_fdr")) expect_identical(table[[what]], got[[what]])
  Y <- cbind(a = c(1, 3, 2, 5, 4), b = 2, c = c(NA, 1, 2, 3, 4))
  named <- tidy(suppressMessages(one_sample_permutation_test(Y)))
  expect_identical(named$column, c("a", "b", "c"))
  expect_identical(named$excluded, c(NA, "constant", "non-finite"))
})

test_that("maps of results", {
  mask <- brain_mask(array(rep(0:1, c(2, 30)), c(4, 4, 2)))
  Y <- structure(withr::with_seed(2, matrix(rnorm(360), 12)), mask = mask)
  got <- one_sample_permutation_test(Y, n_permutations = 100, seed = 1)
  expect_identical(got$mask, mask)
  expect_identical(brain_map(got)[mask$index], got$statistic)
  for (what in intersect(PERMUTATION_MAPS, names(got))) {
    expect_identical(brain_map(got, what = what)[mask$index], got[[what]])
  }
  expect_refused(brain_map(got, what = "max_null"), "what", "p_fwer")
})
