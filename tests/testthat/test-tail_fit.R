# Quantile function of the generalised Pareto distribution in Hosking's sign of the shape.
pareto_quantile <- function(p, shape, scale) {
  if (shape == 0) -scale * log1p(-p) else scale * (1 - (1 - p)^shape) / shape
}

test_that("the distribution is the one whose quantiles are known", {
  p <- c(0.01, 0.3, 0.5, 0.99, 0.9999)
  for (shape in c(-0.4, -0.1, 0, 0.2, 0.5)) {
    expect_equal(1 - pareto_above(pareto_quantile(p, shape, 2), shape, 2), p, tolerance = 1e-12)
  }
  # bounded at scale / shape
  expect_identical(pareto_above(c(4.1, 100), 0.5, 2), c(0, 0))
  # continuous at 0
  expect_equal(pareto_above(3, 1e-9, 2), pareto_above(3, 0, 2), tolerance = 1e-7)
})

test_that("moments find the parameters, and the test of fit its level", {
  for (shape in c(-0.2, 0, 0.2)) {
    fit <- fit_pareto(pareto_quantile(stats::ppoints(20000), shape, 3))
    expect_equal(fit$shape, shape, tolerance = 0.03)
    expect_equal(fit$scale, 3, tolerance = 0.03)
    expect_true(fit$fits)
  }
  # about 5 % of samples are refused near an exponential tail, within four standard errors of 600 samples. The points of
  # the table are for fits by maximum likelihood: away from there moments fit less well and more are refused.
  for (shape in c(0, 0.1)) {
    fits <- withr::with_seed(5, vapply(1:600, function(i) fit_pareto(pareto_quantile(runif(300), shape, 1))$fits, NA))
    expect_lt(abs(mean(!fits) - 0.05), 4 * sqrt(0.05 * 0.95 / 600))
  }
  # the statistic as it is written: -n - mean((2j - 1) (log z_j + log(1 - z_(n+1-j))))
  x <- withr::with_seed(1, rexp(50))
  fit <- fit_pareto(x)
  z <- sort(1 - (1 - fit$shape * x / fit$scale)^(1 / fit$shape))
  sum <- 0
  for (j in 1:50) sum <- sum + (2 * j - 1) * (log(z[j]) + log(1 - z[51 - j]))
  expect_equal(fit$distance, -50 - sum / 50, tolerance = 1e-10)
  expect_false(fit_pareto(withr::with_seed(1, rnorm(1000, 10)))$fits)
  expect_false(fit_pareto(rep(0, 30))$fits)
})

test_that("small p are those of the distribution that the maxima come from", {
  # maxima of 1000 normal values: P(max > x) = 1 - pnorm(x)^1000
  maxima <- stats::qnorm(stats::ppoints(2000)^(1 / 1000))
  fit <- fit_tail(maxima)
  expect_identical(fit$n, 500L)
  expect_identical(fit$share, 0.25)
  sorted <- sort(maxima, decreasing = TRUE)
  expect_identical(fit$threshold, mean(sorted[500:501]))
  x <- stats::qnorm((1 - c(0.05, 0.01, 0.001, 0.0002))^(1 / 1000))
  counted <- vapply(x, function(x) (sum(maxima >= x) + 1) / 2001, 0)
  got <- with_fitted_tail(counted, x, maxima, "greater")
  expect_identical(got$fitted, rep(TRUE, 4))
  expect_equal(got$p, c(0.05, 0.01, 0.001, 0.0002), tolerance = 0.25)
  expect_equal(got$p[1:2], c(0.05, 0.01), tolerance = 0.02)
  mirrored <- with_fitted_tail(counted, -x, -maxima, "less")
  expect_identical(mirrored$p, got$p)
  expect_identical(mirrored$tail$threshold, -got$tail$threshold)
  absolute <- with_fitted_tail(counted, x * c(1, -1), maxima, "abs")
  expect_identical(absolute$p, got$p)
})

test_that("p stays the count where the tail does not tell", {
  maxima <- stats::qnorm(stats::ppoints(2000)^(1 / 1000))
  # p of 0.10 and more, an infinite statistic, an excluded column
  got <- with_fitted_tail(c(0.1, 0.5, 1 / 2001, NA), c(3.7, 3.2, Inf, NA), maxima, "greater")
  expect_identical(got$p, c(0.1, 0.5, 1 / 2001, NA))
  expect_false(any(got$fitted))
  # beyond the end of a bounded distribution
  bounded <- pareto_quantile(stats::ppoints(2000), 0.4, 1)
  got <- with_fitted_tail(c(1 / 2001, 0.01), c(2.6, stats::quantile(bounded, 0.99, names = FALSE)), bounded, "greater")
  expect_identical(got$fitted, c(FALSE, TRUE))
  expect_identical(got$p[1], 1 / 2001)
  # too few maxima; maxima of a few values, where no share fits
  few <- with_fitted_tail(0.001, 9, maxima[seq(1, 2000, by = 5)], "greater")
  expect_identical(few[1:2], list(p = 0.001, fitted = FALSE))
  expect_identical(few$tail$share, NA_real_)
  expect_identical(nrow(fit_tail(rep(1:4, 500))), 0L)
})

test_that("shares go down where the largest does not fit", {
  # a mixture: the top 12 % is exponential, the rest is packed below
  maxima <- c(stats::qexp(stats::ppoints(240)) + 1, seq(0.99, 1, length.out = 1760))
  fit <- fit_tail(maxima)
  expect_lt(fit$share, 0.13)
  expect_gt(fit$share, 0.05)
  expect_equal(fit$shape, 0, tolerance = 0.2)
})

test_that("a test takes them", {
  Y <- withr::with_seed(1, matrix(rnorm(20 * 200), 20))
  Y[, 1:2] <- Y[, 1:2] + 1.2
  Y[, 3] <- 1
  run <- function(...) {
    suppressMessages(one_sample_permutation_test(Y, n_permutations = 1000, seed = 1, progress = FALSE, ...))
  }
  for (tail in TEST_TAILS) {
    counted <- do.call(run, tail)
    fitted <- do.call(run, c(tail, tail_fit = TRUE))
    expect_identical(fitted$p, counted$p)
    expect_identical(fitted$tail_fitted, ifelse(is.na(counted$p), NA, counted$p_fwer != fitted$p_fwer))
    unchanged <- !fitted$tail_fitted
    expect_identical(fitted$p_fwer[unchanged], counted$p_fwer[unchanged])
    n_tails <- nrow(fitted$tail)
    expect_identical(n_tails, if (identical(tail$two_sided, "double")) 2L else 1L)
    expect_true(all(counted$p_fwer[which(fitted$tail_fitted)] < 0.1 * n_tails))
    # both estimate the same chance
    expect_equal(fitted$p_fwer, counted$p_fwer, tolerance = 0.05)
    expect_true(all(fitted$p_fwer > 0, na.rm = TRUE))
  }
  expect_true(any(run(tail_fit = TRUE)$tail_fitted, na.rm = TRUE))
  # enumerated p are exact
  exact <- one_sample_permutation_test(Y[1:10, ], tail_fit = TRUE, progress = FALSE)
  expect_identical(exact$p_fwer, one_sample_permutation_test(Y[1:10, ], progress = FALSE)$p_fwer)
  expect_false(any(exact$tail_fitted, na.rm = TRUE))
  expect_identical(exact$tail$n, NA_integer_)
  expect_refused(run(tail_fit = 1), "tail_fit")
})
