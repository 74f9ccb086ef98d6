test_that("odds change by the ratio of the odds of the prevalences", {
  p <- c(0.02, 0.3, 0.5, 0.97)
  r <- (0.1 / 0.9) / (0.4 / 0.6)
  expect_close(prior_correct(p, from = 0.4, to = 0.1), r * p / (r * p + 1 - p), 1e-15)
  z <- stats::qlogis(p)
  expect_close(prior_correct(z, from = 0.4, to = 0.1, scale = "logit"), z + log(r), 1e-14)
})

test_that("forecasts under balanced weights come back to the prevalence, by the right ratio alone", {
  # forecasts of a calibrated model for 3.35 % positives, and what balanced weights make of them
  truth <- stable_sigmoid(1.2 * stats::qnorm(stats::ppoints(5000)) - 3.998)
  prevalence <- mean(truth)
  expect_equal(prevalence, 0.0335, tolerance = 0.01)
  balanced <- truth / (truth + (1 - truth) * prevalence / (1 - prevalence))
  expect_equal(mean(balanced), 0.377, tolerance = 0.01)
  expect_close(prior_correct(balanced, from = 0.5, to = prevalence), truth, 1e-14)
  wrong <- prevalence / 0.5
  expect_equal(mean(wrong * balanced / (wrong * balanced + 1 - balanced)), 0.060, tolerance = 0.01)
})

test_that("keeping a fraction f of the negatives is undone by r = f", {
  f <- 0.1
  prevalence <- 0.02
  from <- prevalence / (prevalence + f * (1 - prevalence))
  p <- c(0.05, 0.4)
  expect_close(prior_correct(p, from, prevalence), f * p / (f * p + 1 - p), 1e-14)
})

test_that("swapping undoes it, two steps are one, order and ends stay", {
  for (seed in 1:10) {
    p <- withr::with_seed(seed, sort(c(0, runif(30), 1)))
    # the odds change by a factor of up to 16, and the rounding of probabilities near 1 with them
    share <- withr::with_seed(seed + 100, runif(3, 0.2, 0.8))
    for (scale in c("probability", "logit")) {
      x <- if (scale == "logit") stats::qlogis(p) else p
      move <- function(x, from, to) prior_correct(x, from, to, scale = scale)
      there <- move(x, share[1L], share[2L])
      finite <- is.finite(x)
      expect_close(move(there, share[2L], share[1L])[finite], x[finite], 1e-14)
      expect_close(move(there, share[2L], share[3L])[finite], move(x, share[1L], share[3L])[finite], 1e-14)
      expect_false(is.unsorted(there))
      expect_identical(there[c(1L, 32L)], x[c(1L, 32L)])
      expect_close(move(x, share[1L], share[1L])[finite], x[finite], 1e-15)
    }
    expect_close(stable_sigmoid(prior_correct(stats::qlogis(p), share[1L], share[2L], scale = "logit")),
                 prior_correct(p, share[1L], share[2L]), 1e-14)
  }
})

test_that("extreme prevalences neither overflow nor give NaN", {
  expect_identical(prior_correct(c(0, 1), 1e-300, 1 - 1e-16), c(0, 1))
  expect_identical(prior_correct(c(0, 1), 1 - 1e-16, 1e-320), c(0, 1))
  expect_equal(prior_correct(0.5, 0.5, 1e-300), 1e-300, tolerance = 1e-14)
})

test_that("dimensions and names are kept, and prevalences may differ by column", {
  p <- matrix(c(0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 2L, 3L, dimnames = list(NULL, c("a", "b", "c")))
  to <- c(0.1, 0.2, 0.3)
  for (scale in c("probability", "logit")) {
    got <- prior_correct(p, 0.5, to, scale = scale)
    expect_identical(dimnames(got), dimnames(p))
    for (j in 1:3) expect_identical(got[, j], prior_correct(p[, j], 0.5, to[j], scale = scale))
  }
  expect_identical(prior_correct(c(a = 0L, b = 1L), 0.5, 0.1), c(a = 0, b = 1))
})

test_that("prevalences and forecasts are checked", {
  for (bad in list(0, 1, -0.1, NA_real_, Inf, "a", c(0.1, 0.2), numeric(), TRUE, NULL)) {
    expect_s3_class(expect_refused(prior_correct(0.5, from = bad, to = 0.1), "from"), "voxridge_error_prior")
    expect_s3_class(expect_refused(prior_correct(0.5, from = 0.1, to = bad), "to"), "voxridge_error_prior")
  }
  expect_refused(prior_correct(0.5, 0.1, 3.35), "to", c("3.35", "not a percentage"))
  p <- matrix(0.5, 2L, 3L)
  cnd <- expect_refused(prior_correct(p, 0.1, c(0.1, 0, 0.2)), "to", "position 2")
  expect_identical(cnd$where, 2L)
  expect_refused(prior_correct(p, 0.1, c(0.1, 0.2)), "to", "one per target \\(3\\)")
  expect_s3_class(expect_refused(prior_correct(c(0.5, 3), 0.5, 0.1), "p", "logit"), "voxridge_error_probability")
  expect_s3_class(expect_refused(prior_correct(NA_real_, 0.5, 0.1), "p"), "voxridge_error_nonfinite")
  expect_s3_class(expect_refused(prior_correct("a", 0.5, 0.1), "p"), "voxridge_error_type")
  expect_refused(prior_correct(0.5, 0.5, 0.1, scale = "log"), "scale")
  expect_error(prior_correct(0.5, 0.5, 0.1, sclae = "logit"), "unused argument")
})

# ---- thresholds ------------------------------------------------------------------------------

test_that("at the threshold both decisions cost the same", {
  for (seed in 1:20) {
    cost <- withr::with_seed(seed, c(fp = runif(1, 1, 9), fn = runif(1, 1, 9), tp = runif(1, -2, 1), tn = runif(1)))
    got <- decision_threshold(cost[["fp"]], cost[["fn"]], cost[["tp"]], cost[["tn"]])
    expect_named(got, c("threshold", "logit"))
    t <- got[["threshold"]]
    expect_close(t * cost[["tp"]] + (1 - t) * cost[["fp"]], t * cost[["fn"]] + (1 - t) * cost[["tn"]], 1e-14)
    expect_close(got[["logit"]], stats::qlogis(t), 1e-13)
    expect_close(decision_threshold(7 * cost[["fp"]], 7 * cost[["fn"]], 7 * cost[["tp"]], 7 * cost[["tn"]]), got, 1e-14)
  }
  expect_identical(decision_threshold(1, 1), c(threshold = 0.5, logit = 0))
  expect_close(decision_threshold(1, 9), c(0.1, -log(9)), 1e-15)
  expect_close(decision_threshold(1e-300, 1e300)[["logit"]], -600 * log(10), 1e-12)
})

test_that("costs that leave nothing to decide are refused", {
  expect_s3_class(expect_refused(decision_threshold(0, 1), "cost_fp", "cost_tn"), "voxridge_error_argument")
  expect_refused(decision_threshold(1, 1, cost_tp = 1), "cost_fn", "cost_tp")
  expect_refused(decision_threshold(1, 1, cost_tn = 2), "cost_fp", "\\(2\\), not 1")
  expect_refused(decision_threshold(-1, 2), "cost_fp")
  for (bad in list(Inf, NA, "1", 1:2, NULL)) {
    expect_refused(decision_threshold(bad, 1), "cost_fp", "finite number")
    expect_refused(decision_threshold(1, bad), "cost_fn", "finite number")
    expect_refused(decision_threshold(1, 1, cost_tp = bad), "cost_tp", "finite number")
    expect_refused(decision_threshold(1, 1, cost_tn = bad), "cost_tn", "finite number")
  }
  expect_error(decision_threshold(1, 2, cost_fq = 1), "unused argument")
})
