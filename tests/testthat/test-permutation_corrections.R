# Draws and counts of a sequential test from the exceedances (m x v) of all permutations.
sequential_oracle <- function(extreme, h) {
  draws <- apply(extreme, 2L, function(x) if (sum(x) >= h) which(x)[h] else length(x))
  counts <- pmin(colSums(extreme), h)
  list(draws = as.integer(draws), counts = as.integer(counts),
       p = ifelse(counts >= h, h / draws, (counts + 1) / (nrow(extreme) + 1)))
}

quiet_tests <- lapply(list(one_sample = one_sample_permutation_test, two_sample = two_sample_permutation_test,
                           correlation = correlation_permutation_test, glm = glm_permutation_test), quiet_test)

test_that("columns stop at the draw of the full run", {
  n <- 14L
  Y <- withr::with_seed(1, matrix(rnorm(n * 60), n))
  Y[, 1:4] <- Y[, 1:4] + rep(c(1, -1), each = 7) + 1
  Y[, 7] <- 3
  Y[2, 8] <- NA
  x <- withr::with_seed(2, rnorm(n))
  group <- rep(0:1, each = 7)
  runs <- list(
    flips = function(...) quiet_tests$one_sample(Y, ...),
    pooled = function(...) quiet_tests$two_sample(Y, group, ...),
    welch = function(...) quiet_tests$two_sample(Y, group, var_equal = FALSE, ...),
    correlation = function(...) quiet_tests$correlation(x, Y, ...),
    paired = function(...) quiet_tests$correlation(Y[, 60:1], Y, ...),
    partial = function(...) quiet_tests$glm(Y, cbind(1, x, group), c(0, 1, 0), ...)
  )
  m <- 400
  for (run in runs) {
    for (tail in TEST_TAILS[c(1L, 3L, 4L)]) {
      full <- do.call(run, c(tail, list(n_permutations = m, exact = "never", seed = 5, return_null = TRUE)))
      used <- !is.na(full$p)
      null <- full$null[, used]
      observed <- rep(full$statistic[used], each = m)
      extreme <- switch(tail$alternative, two.sided = abs(null) >= abs(observed) - 1e-5,
                        greater = null >= observed - 1e-5, less = null <= observed + 1e-5)
      for (h in c(1, 7, 40)) {
        got <- do.call(run, c(tail, list(n_permutations = m, seed = 5, sequential = h)))
        want <- sequential_oracle(extreme, h)
        expect_identical(unname(got$draws[used]), want$draws)
        expect_identical(unname(got$counts[used]), want$counts)
        expect_equal(unname(got$p[used]), want$p, tolerance = 1e-15)
        expect_identical(unname(is.na(got$draws)), !used)
      }
    }
  }
})

test_that("the result says what a sequential test knows", {
  Y <- withr::with_seed(1, matrix(rnorm(20 * 300), 20, dimnames = list(NULL, paste0("v", 1:300))))
  Y[, 1:9] <- Y[, 1:9] + 1.5
  run <- function(...) quiet_tests$one_sample(Y, n_permutations = 3000, seed = 1, ...)
  full <- run()
  got <- run(sequential = 10)
  expect_identical(got$statistic, full$statistic)
  expect_true(all(is.na(got$p_fwer)))
  expect_null(got$max_null)
  expect_null(got$p_ci)
  expect_true(all(c("max_null", "p_ci", "draws") %in% names(got)))
  expect_identical(names(got$draws), colnames(Y))
  expect_identical(got$q_fdr, stats::setNames(stats::p.adjust(got$p, "BH"), colnames(Y)))
  # few extreme permutations: the full run
  rare <- full$counts < 10
  expect_true(any(rare))
  expect_identical(got$counts[rare], full$counts[rare])
  expect_identical(got$p[rare], full$p[rare])
  expect_lt(mean(got$draws), 300)
  expect_match(capture.output(print(got)), "Sequential: a column stops after 10", all = FALSE)
  expect_false(any(grepl("p_fwer", capture.output(print(got)))))
  expect_identical(nrow(summary(got)$largest), 5L)
  # twice the smaller p of two directions
  double <- run(two_sided = "double", sequential = 10)
  greater <- run(alternative = "greater", sequential = 10)
  less <- run(alternative = "less", sequential = 10)
  expect_equal(unname(double$p), pmin(1, 2 * pmin(greater$p, less$p)))
  expect_identical(double$draws, ifelse(less$p < greater$p, less$draws, greater$draws))
})

test_that("threads, other columns and small sets change nothing", {
  Y <- withr::with_seed(3, matrix(rnorm(12 * 1500), 12))
  run <- function(Y, ...) quiet_tests$one_sample(Y, n_permutations = 500, seed = 1, sequential = 5, ...)
  one <- run(Y, n_threads = 1)
  for (n_threads in c(2, 5)) expect_identical(run(Y, n_threads = n_threads)[c("p", "draws")], one[c("p", "draws")])
  expect_identical(run(Y[, 700:720])$draws, one$draws[700:720])
  # random even where the set is small, and p no smaller than it can be
  small <- quiet_tests$one_sample(Y[1:4, 1:20], n_permutations = 200, seed = 1, sequential = 10)
  expect_false(small$exact)
  expect_true(all(small$draws < 200))
  expect_length(quiet_tests$one_sample(Y[, 0], sequential = 3)$draws, 0L)
})

test_that("p of noise is uniform", {
  Y <- withr::with_seed(11, matrix(rnorm(30 * 4000), 30))
  p <- quiet_tests$one_sample(Y, n_permutations = 1000, seed = 12, sequential = 10)$p
  for (level in c(0.02, 0.05, 0.2)) expect_lt(abs(mean(p <= level) - level), 4 * sqrt(level * (1 - level) / 4000))
})

test_that("what needs every permutation is refused", {
  Y <- withr::with_seed(1, matrix(rnorm(100), 10))
  run <- function(...) quiet_tests$one_sample(Y, ...)
  expect_refused(run(sequential = 0), "sequential")
  expect_refused(run(sequential = 2.5), "sequential")
  expect_refused(run(sequential = TRUE), "sequential")
  expect_s3_class(expect_refused(run(sequential = 5, tail_fit = TRUE), "tail_fit"), "voxridge_error_conflict")
  expect_refused(run(sequential = 5, return_null = TRUE), "return_null")
  expect_refused(run(sequential = 5, exact = "always"), "exact")
})
