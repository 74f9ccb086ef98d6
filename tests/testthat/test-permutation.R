one_sample <- quiet_test(one_sample_permutation_test)

test_that("q values are Benjamini and Hochberg's, with ties and missing ones", {
  for (seed in 1:10) {
    p <- withr::with_seed(seed, c(sample(1:9 / 9, 40, replace = TRUE), runif(5), NA, NA))
    known <- sort(unique(p))
    place <- match(p, known)
    expect_equal(discovery_rate(known, place)[place], stats::p.adjust(p, "BH"), tolerance = 1e-15)
  }
  # twice the smaller p may be cut at 1
  expect_identical(discovery_rate(c(0.5, 1, 1), c(1, 2, 3, 3)), c(1, 1, 1))
  expect_length(discovery_rate(numeric(), c(NA_integer_, NA)), 0L)
})

test_that("intervals are Clopper and Pearson's", {
  counts <- c(0L, 3L, 50L, 3L, NA, 100L)
  known <- c(0L, 3L, 50L, 100L)
  got <- p_interval(known, 100, 1L, match(counts, known), letters[1:6])
  for (i in c(1:4, 6)) {
    expect_equal(unname(got[i, ]), as.vector(stats::binom.test(counts[i], 100)$conf.int), tolerance = 1e-12)
  }
  expect_true(all(is.na(got[5L, ])))
  expect_identical(dimnames(got), list(letters[1:6], c("lower", "upper")))
  two <- function(n_tails) p_interval(c(3L, 90L), 100, n_tails, 1:2, NULL)
  expect_equal(two(2L), pmin(2 * two(1L), 1))
})

test_that("the result has its documented elements", {
  Y <- withr::with_seed(1, matrix(rnorm(90), 9))
  got <- one_sample(Y, n_permutations = 100, seed = 1)
  expect_s3_class(got, "voxridge_permutation_test")
  expect_named(got, c("statistic", "estimate", "df", "p", "p_fwer", "q_fdr", "p_ci", "counts", "max_null",
                      "n_permutations", "exact", "n_possible", "min_p", "alternative", "two_sided", "scheme", "blocks",
                      "seed", "backend", "excluded", "null", "mask", "test", "n", "diagnostics"))
  expect_identical(got$n_possible, 512)
  expect_identical(got$min_p, 1 / 101)
  expect_type(got$counts, "integer")
  expect_equal(got$p, (got$counts + 1) / 101)
  exact <- one_sample(Y)
  expect_equal(exact$p, exact$counts / 512)
  expect_null(exact$p_ci)
  expect_null(exact$seed)
  double <- one_sample(Y, two_sided = "double", n_permutations = 100, seed = 1)
  expect_identical(double$min_p, 2 / 101)
  expect_identical(colnames(double$max_null), c("greater", "less"))
  # survives a file
  path <- withr::local_tempfile()
  saveRDS(got, path)
  expect_identical(readRDS(path), got)
})

test_that("the null distribution is refused before any work where it does not fit", {
  Y <- matrix(0.5, 3, 1000)
  cnd <- expect_refused(one_sample(Y, n_permutations = 2^31 - 1, exact = "never", return_null = TRUE),
                        "return_null", "null distribution")
  expect_s3_class(cnd, "voxridge_error_memory")
})

test_that("memory stays far below permutations times columns", {
  skip_on_cran()
  skip_if(is.na(core_memory_peak()))
  # 4000 x 20000 doubles would be 640 MB
  Y <- withr::with_seed(2, matrix(rnorm(20 * 20000), 20))
  one_sample(Y[, 1:100], n_permutations = 4000, seed = 1)
  before <- core_memory_peak()
  one_sample(Y, n_permutations = 4000, seed = 1)
  correlation_permutation_test(Y[, 1], Y[, 1:4000], n_permutations = 4000, seed = 1, progress = FALSE)
  expect_lt(core_memory_peak() - before, 48e6)
})

test_that("an interrupt ends the work at once", {
  skip_on_cran()
  skip_on_os("windows")
  Y <- withr::with_seed(3, matrix(rnorm(40 * 2000), 40))
  started <- proc.time()[["elapsed"]]
  # R says on the console that it was stopped
  utils::capture.output(type = "message", {
    outcome <- tryCatch({
      setTimeLimit(elapsed = 0.5, transient = TRUE)
      one_sample(Y, n_permutations = 5e6, seed = 1)
      "finished"
    }, error = function(cnd) "stopped", interrupt = function(cnd) "stopped")
  })
  setTimeLimit()
  expect_identical(outcome, "stopped")
  expect_lt(proc.time()[["elapsed"]] - started, 5)
})
