line_of <- function(y, z, weights = NULL) {
  scored <- as_scored(y, z, weights, "logit", NULL)
  calibration_line(weighted_rows(scored))
}

line_problem <- function(seed, n = 80, shift = 0.3, slope = 0.7, spread = 2) {
  withr::with_seed(seed, {
    z <- rnorm(n, sd = spread)
    y <- rbinom(n, 1, stats::plogis(shift + slope * z))
    list(y = y, z = z, w = sample(0:3, n, replace = TRUE))
  })
}

# The gradients of the likelihood, in plain R.
gradients <- function(y, z, w, a, c) {
  r <- w * (y - stats::plogis(a + c * z))
  c(sum(r), sum(r * z)) / sum(w)
}

test_that("intercept and slope are those of glm()", {
  for (seed in 1:15) {
    x <- line_problem(seed)
    if (seed > 10) x$y <- withr::with_seed(seed, runif(80))
    got <- line_of(x$y, x$z, x$w)
    fit <- function(formula) {
      suppressWarnings(stats::glm(formula, family = stats::binomial, data = x, weights = x$w,
                                  control = list(epsilon = 1e-14, maxit = 100)))
    }
    expect_close(got$intercept, coef(fit(y ~ 1 + offset(z)))[[1L]], 1e-10)
    expect_close(got$slope, coef(fit(y ~ z))[[2L]], 1e-10)
    expect_null(got$reason)
  }
})

test_that("the gradient is zero at the intercept, however far out forecasts are", {
  for (spread in c(1e-6, 0.01, 10, 100, 700)) {
    x <- line_problem(21, shift = 0, slope = 0.2, spread = spread)
    a <- line_of(x$y, x$z)$intercept
    expect_lte(abs(gradients(x$y, x$z, rep(1, 80), a, 1)[1L]), 1e-14)
  }
  # both outcomes on the wrong side, where Newton's method from 0 would leave
  expect_equal(line_of(c(0, 1), c(700, -700))$intercept, 0, tolerance = 1e-12)
  expect_equal(line_of(c(0, 1), c(-500, 800))$intercept, -150, tolerance = 1e-9)
  expect_equal(line_of(c(0, 0, 0, 1), rep(30, 4))$intercept, log(1 / 3) - 30, tolerance = 1e-14)
})

test_that("shifts and factors of the logits move intercept and slope as they must", {
  for (seed in 31:40) {
    x <- line_problem(seed)
    got <- line_of(x$y, x$z, x$w)
    shifted <- line_of(x$y, x$z + 2.5, x$w)
    expect_close(shifted$intercept, got$intercept - 2.5, 1e-10)
    expect_close(shifted$slope, got$slope, 1e-10)
    for (k in c(-3, 1e-8, 1e8)) expect_close(k * line_of(x$y, k * x$z, x$w)$slope, got$slope, 1e-9)
    swapped <- line_of(1 - x$y, -x$z, x$w)
    expect_close(swapped$intercept, -got$intercept, 1e-10)
    expect_close(swapped$slope, got$slope, 1e-10)
    repeated <- line_of(rep(x$y, x$w), rep(x$z, x$w))
    expect_close(c(repeated$intercept, repeated$slope), c(got$intercept, got$slope), 1e-10)
    expect_identical(line_of(x$y, x$z, 1024 * x$w), got)
  }
})

test_that("many samples, whose summed losses are rounded, have a slope too", {
  z <- withr::with_seed(41, rnorm(3e5, sd = 3))
  y <- withr::with_seed(42, rbinom(3e5, 1, stats::plogis(z)))
  got <- line_of(y, z)
  expect_equal(got$slope, 1, tolerance = 0.02)
  expect_close(rep(got$slope, 2), c(line_of(y, 2 * z)$slope * 2, line_of(rev(y), rev(z))$slope), 1e-10)
})

test_that("almost separated forecasts have a large slope, zero of its gradient", {
  z <- c(-1, -0.5, 0.001, 0, 0.5, 1)
  y <- c(0, 0, 0, 1, 1, 1)
  slope <- line_of(y, z)$slope
  expect_gt(slope, 5)
  a <- stats::uniroot(function(a) gradients(y, z, rep(1, 6), a, slope)[1L], c(-50, 50), tol = 1e-14)$root
  expect_lte(max(abs(gradients(y, z, rep(1, 6), a, slope))), 1e-12)
})

test_that("where there is none it is NA with the reason", {
  separated <- line_of(c(0, 0, 1, 1), c(-1, 0, 1, 2))
  expect_identical(separated$slope, NA_real_)
  expect_true(is.finite(separated$intercept))
  expect_identical(separated$reason, c(slope = "the forecasts separate the classes"))
  # the wrong way round, and touching
  expect_match(line_of(c(1, 1, 0, 0), c(-1, 0, 1, 2))$reason, "separate")
  expect_match(line_of(c(0, 0, 1, 1), c(-1, 0, 0, 2))$reason, "separate")
  expect_match(line_of(c(0, 1, 1), c(2, 2, 2))$reason[["slope"]], "equal")
  one <- line_of(c(1, 1), c(0, 1))
  expect_identical(one[1:2], list(intercept = NA_real_, slope = NA_real_))
  expect_identical(one$reason, c(intercept = "all outcomes are 1", slope = "all outcomes are 1"))
  infinite <- line_of(c(0, 1, 1), c(-Inf, 0, 3))
  expect_identical(infinite$reason[["slope"]], "1 forecast is infinite")
  certain <- calibration_line(as_scored(c(0, 1, 1), c(0, 1, 0.5), NULL, "probability", NULL))
  expect_identical(certain$reason[["intercept"]], "2 forecasts are exactly 0 or 1: give logits")
  expect_identical(certain$intercept, NA_real_)
})

test_that("separation needs a threshold: one class within the other has a slope, and so have proportions", {
  within <- line_of(c(1, 0, 0, 1), c(-2, 0.5, 0.6, 2))
  expect_true(is.finite(within$slope))
  expect_true(is.finite(line_of(c(0.2, 0.9), c(-1, 1))$slope))
  expect_close(line_of(c(0.2, 0.9), c(-1, 1))$slope, (stats::qlogis(0.9) - stats::qlogis(0.2)) / 2, 1e-10)
})

test_that("a class whose weight vanishes beside that of the other has no calibration", {
  for (weights in list(c(1e-320, 1e300), c(1e300, 1e-320))) {
    curve <- reliability_curve(c(0, 1), c(0.4, 0.6), weights)
    expect_true(is.na(curve$calibration_intercept))
    expect_identical(curve$reason[["intercept"]], "one class has next to no weight")
  }
})
