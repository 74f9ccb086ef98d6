curve_problem <- function(seed, n = 300) {
  withr::with_seed(seed, {
    z <- rnorm(n, sd = 1.5)
    list(y = rbinom(n, 1, stats::plogis(z)), z = z, p = stats::plogis(z), w = sample(0:3, n, replace = TRUE))
  })
}

test_that("bins are means, rates and Wilson's intervals", {
  x <- curve_problem(1)
  curve <- reliability_curve(x$y, x$p, bins = 6)
  expect_s3_class(curve, "voxridge_reliability")
  expect_named(curve$bins, c("forecast", "observed", "lower", "upper", "share", "n", "n_eff", "from", "to"))
  order <- order(x$p)
  groups <- split(order, rep(1:6, each = 50))
  expect_close(curve$bins$forecast, vapply(groups, function(g) mean(x$p[g]), 0), 1e-14)
  expect_close(curve$bins$observed, vapply(groups, function(g) mean(x$y[g]), 0), 1e-14)
  expect_close(curve$bins$from, vapply(groups, function(g) min(x$p[g]), 0), 0)
  expect_close(curve$bins$to, vapply(groups, function(g) max(x$p[g]), 0), 0)
  expect_identical(curve$bins$n, rep(50L, 6))
  expect_equal(curve$bins$n_eff, rep(50, 6))
  for (g in 1:6) {
    test <- stats::prop.test(sum(x$y[groups[[g]]]), 50, correct = FALSE)
    expect_close(c(curve$bins$lower[g], curve$bins$upper[g]), as.vector(test$conf.int), 1e-12)
  }
  expect_close(curve$ece, mean(abs(curve$bins$forecast - curve$bins$observed)), 1e-14)
  expect_close(c(curve$mean_forecast, curve$prevalence), c(mean(x$p), mean(x$y)), 1e-14)
  expect_identical(curve$n, 300L)
})

test_that("weights: shares, effective numbers, repetitions, units, zeros", {
  for (seed in 2:6) {
    x <- curve_problem(seed, 100)
    curve <- reliability_curve(x$y, x$p, x$w, bins = 5)
    repeated <- reliability_curve(rep(x$y, x$w), rep(x$p, x$w), bins = 5)
    same <- c("forecast", "observed", "share", "from", "to")
    expect_equal(curve$bins[same], repeated$bins[same], tolerance = 1e-13)
    expect_close(c(curve$ece, curve$calibration_intercept, curve$calibration_slope),
                 c(repeated$ece, repeated$calibration_intercept, repeated$calibration_slope), 1e-10)
    for (unit in c(1e-250, 10, 1e250)) {
      expect_equal(reliability_curve(x$y, x$p, unit * x$w, bins = 5), curve, tolerance = 1e-10)
    }
    kept <- x$w > 0
    expect_identical(reliability_curve(x$y[kept], x$p[kept], x$w[kept], bins = 5), curve)
    for (g in seq_len(nrow(curve$bins))) {
      inside <- kept & x$p >= curve$bins$from[g] & x$p <= curve$bins$to[g]
      expect_close(curve$bins$n_eff[g], sum(x$w[inside])^2 / sum(x$w[inside]^2), 1e-12)
      expect_identical(curve$bins$n[g], sum(inside))
    }
  }
  # a bin of tiny weights has a number of samples too
  tiny <- reliability_curve(c(0, 1, 0, 1), c(0.1, 0.2, 0.8, 0.9), c(1e-200, 1e-200, 1, 1), bins = 2)
  expect_true(all(is.finite(unlist(tiny$bins))))
})

test_that("logits and probabilities give the same, saturated logits stay apart", {
  x <- curve_problem(7)
  by_logit <- reliability_curve(x$y, x$z, scale = "logit")
  expect_equal(by_logit, reliability_curve(x$y, x$p), tolerance = 1e-10)
  saturated <- reliability_curve(c(0, 1, 0, 1), c(40, 41, 42, 43), scale = "logit", bins = 4)
  expect_identical(nrow(saturated$bins), 4L)
  expect_identical(saturated$bins$forecast, rep(1, 4))
  expect_true(is.finite(saturated$calibration_slope))
  expect_match(reliability_curve(c(0, 1, 0, 1), stable_sigmoid(c(40, 41, 42, 43)))$reason[["slope"]], "give logits")
})

test_that("equal forecasts share a bin, and bins never exceed distinct forecasts", {
  p <- rep(c(0.2, 0.5, 0.7), c(30, 3, 7))
  y <- rep_len(0:1, 40)
  bins <- reliability_curve(y, p, bins = 10)$bins
  expect_identical(bins$n, c(30L, 3L, 7L))
  expect_identical(bins$forecast, c(0.2, 0.5, 0.7))
  expect_identical(bins$from, bins$to)
  expect_identical(nrow(reliability_curve(y, p, bins = 1)$bins), 1L)
})

test_that("calibrated forecasts have intercept 0 and slope 1, others what was done to them", {
  z <- withr::with_seed(8, rnorm(2000))
  # outcomes as proportions: the likelihood is that of infinitely many samples
  truth <- stats::plogis(z)
  right <- reliability_curve(truth, z, scale = "logit")
  expect_close(c(right$calibration_intercept, right$calibration_slope), c(0, 1), 1e-10)
  # in bins both means are over the same numbers
  expect_lte(right$ece, 1e-15)
  certain <- reliability_curve(truth, 2 * z, scale = "logit")
  expect_close(certain$calibration_slope, 0.5, 1e-10)
  low <- reliability_curve(truth, z - 0.4, scale = "logit")
  expect_close(c(low$calibration_intercept, low$calibration_slope), c(0.4, 1), 1e-10)
})

test_that("intervals hold the rate, within 0 and 1, also for tiny bins", {
  for (n in c(0.5, 1, 2, 1000)) {
    for (rate in c(0, 1e-9, 0.3, 1)) {
      interval <- wilson_interval(rate, n)
      expect_true(interval$lower >= 0 && interval$lower <= rate && rate <= interval$upper && interval$upper <= 1)
    }
  }
  expect_identical(wilson_interval(0, 10)$lower, 0)
  expect_identical(wilson_interval(1, 10)$upper, 1)
})

test_that("factors count by their positive level", {
  x <- curve_problem(9, 50)
  y <- factor(x$y, 0:1, c("no", "yes"))
  expect_identical(reliability_curve(y, x$p), reliability_curve(x$y, x$p))
  expect_equal(reliability_curve(y, 1 - x$p, positive = "no")$prevalence, 1 - mean(x$y))
})

test_that("bins are checked, and the forms of y", {
  for (bins in list(0, 1.5, NA, "a", NULL, 1:2)) {
    expect_s3_class(expect_refused(reliability_curve(0:1, c(0.2, 0.4), bins = bins), "bins"),
                    "voxridge_error_argument")
  }
  expect_error(reliability_curve(0:1, c(0.2, 0.4), bin = 3, foo = 1), "unused argument")
})

test_that("printing tells the result in a few lines", {
  x <- curve_problem(10)
  curve <- reliability_curve(x$y, x$p)
  lines <- capture.output(shown <- withVisible(print(curve)))
  expect_false(shown$visible)
  expect_identical(shown$value, curve)
  expect_lte(length(lines), 15L)
  expect_match(lines[1L], "300 samples in 10 bins")
  expect_true(any(grepl(format(signif(curve$calibration_slope, 3)), lines, fixed = TRUE)))
  lines <- capture.output(print(reliability_curve(c(0, 1), c(0, 1))))
  expect_true(any(grepl("NA: 2 forecasts are exactly 0 or 1", lines, fixed = TRUE)))
  expect_match(capture.output(print(reliability_curve(1, 0.4)))[1L], "1 sample in 1 bin$")
  expect_error(print(curve, foo = 1), class = "rlib_error_dots_nonempty")
})
