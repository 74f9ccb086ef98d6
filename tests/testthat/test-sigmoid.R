test_that("values are exact where the naive formula is not", {
  expect_equal(stable_sigmoid(-710), 4.47628622567513e-309, tolerance = 1e-14)
  expect_silent(expect_identical(stable_sigmoid(c(-Inf, 0, Inf, -1e300, 1e300)), c(0, 0.5, 1, 0, 1)))
  # the probability is 1 from here on, its complement is not 0
  expect_lt(stable_sigmoid(36.73), 1)
  expect_identical(stable_sigmoid(36.74), 1)
  expect_equal(stable_sigmoid(-40) * exp(40), 1, tolerance = 1e-15)
  expect_equal(stable_sigmoid(-37) * stable_sigmoid(37), 8.533e-17, tolerance = 1e-4)
})

test_that("the logarithm is that of the value, and goes on below it", {
  z <- withr::with_seed(1, c(runif(500, -40, 40), -700, -36, 0))
  expect_equal(stable_sigmoid(z, log = TRUE), log(stable_sigmoid(z)), tolerance = 1e-13)
  expect_equal(stable_sigmoid(z), plogis(z), tolerance = 1e-14)
  expect_identical(stable_sigmoid(c(-1e4, 1e4, -Inf, Inf), log = TRUE), c(-1e4, 0, -Inf, 0))
  expect_equal(stable_sigmoid(40, log = TRUE), -exp(-40), tolerance = 1e-15)
})

test_that("both classes sum to 1 and values never fall", {
  for (seed in 1:10) {
    z <- sort(withr::with_seed(seed, rnorm(200, sd = 10^runif(200, -3, 3))))
    # each of the two is rounded three times: the exponential, the sum and the quotient
    expect_lte(max(abs(stable_sigmoid(z) + stable_sigmoid(-z) - 1)), 2 * .Machine$double.eps)
    expect_true(all(diff(stable_sigmoid(z)) >= 0))
    expect_true(all(diff(stable_sigmoid(z, log = TRUE)) >= 0))
  }
})

test_that("the score of the much-copied example is 0.6919", {
  w <- c(0.84, -1.2, 0.45, -0.12, 2.1, -0.78, 0.32, -0.55)
  x <- c(0.5, -1.2, 3.3, 0.1, -0.4, 1.2, -0.9, 0.4)
  z <- sum(w * x) - 0.24
  expect_equal(z, 0.809, tolerance = 1e-14)
  expect_equal(stable_sigmoid(z), 0.691896369435959, tolerance = 1e-14)
})

test_that("dimensions and names are kept, whole numbers and logical values converted", {
  z <- matrix(c(-1, 0, 1, 2, NA, NaN), 2L, 3L, dimnames = list(c("a", "b"), NULL))
  got <- stable_sigmoid(z)
  expect_identical(dim(got), dim(z))
  expect_identical(dimnames(got), dimnames(z))
  expect_identical(stable_sigmoid(c(u = 0, v = 0)), c(u = 0.5, v = 0.5))
  expect_identical(stable_sigmoid(array(0L, c(1L, 2L, 3L))), array(0.5, c(1L, 2L, 3L)))
  expect_identical(stable_sigmoid(c(FALSE, TRUE)), stable_sigmoid(0:1 + 0))
  expect_identical(stable_sigmoid(-1L, log = TRUE), stable_sigmoid(-1, log = TRUE))
  expect_identical(stable_sigmoid(numeric()), numeric())
  before <- z + 0
  stable_sigmoid(z)
  expect_identical(z, before)
})

test_that("NA stays NA, NaN stays NaN", {
  for (log in c(FALSE, TRUE)) {
    got <- stable_sigmoid(c(NA, NaN, 1), log = log)
    expect_identical(is.na(got), c(TRUE, TRUE, FALSE))
    expect_identical(is.nan(got), c(FALSE, TRUE, FALSE))
  }
  expect_identical(stable_sigmoid(NA), NA_real_)
  expect_identical(stable_sigmoid(NA_integer_), NA_real_)
})

test_that("other things are refused", {
  for (z in list("a", NULL, list(1), factor(1), 1i, as.Date("2024-01-01"), sum)) {
    expect_s3_class(expect_refused(stable_sigmoid(z), "z"), "voxridge_error_type")
  }
  expect_refused(stable_sigmoid(data.frame(a = 1)), "z", "as.matrix")
  expect_s3_class(expect_refused(stable_sigmoid(1, log = NA), "log"), "voxridge_error_argument")
  expect_error(stable_sigmoid(1, lgo = TRUE), "unused argument")
})
