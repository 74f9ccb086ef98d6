# Outcomes and forecasts with ties, weights with zeros.
scored_problem <- function(seed, n = 40, shares = FALSE) {
  withr::with_seed(seed, {
    p <- round(runif(n, 0.06, 0.94), sample(1:3, 1L))
    y <- if (shares) round(runif(n), 2) else rbinom(n, 1, p)
    y[1:2] <- 0:1
    w <- sample(c(0, 0.5, 1, 2.25), n, replace = TRUE)
    w[1:2] <- 1
    list(y = y, p = p, w = w)
  })
}

# All pairs.
pairs_auc <- function(y, s, w = rep(1, length(y))) {
  order <- outer(s, s, ">") + outer(s, s, "==") / 2
  pairs <- outer(w * y, w * (1 - y))
  sum(pairs * order) / sum(pairs)
}

test_that("scores are their definitions", {
  for (seed in 1:20) {
    x <- scored_problem(seed, shares = seed > 15)
    mean_w <- function(term) sum(x$w * term) / sum(x$w)
    expect_close(log_loss(x$y, x$p, x$w), mean_w(-x$y * log(x$p) - (1 - x$y) * log(1 - x$p)), 1e-14)
    expect_close(brier_score(x$y, x$p, x$w), mean_w((x$p - x$y)^2), 1e-14)
    expect_close(auc(x$y, x$p, x$w), pairs_auc(x$y, x$p, x$w), 1e-14)
    expect_close(log_loss(x$y, x$p), log_loss(x$y, x$p, rep(3, 40)), 1e-15)
    z <- stats::qlogis(x$p)
    for (score in list(log_loss, brier_score)) {
      expect_close(score(x$y, z, x$w, scale = "logit"), score(x$y, x$p, x$w), 1e-14)
    }
  }
})

test_that("a certain wrong forecast costs Inf, and nothing is NaN", {
  expect_identical(log_loss(0, 1), Inf)
  expect_identical(log_loss(c(0, 1), c(0, 1)), 0)
  expect_identical(log_loss(0, 40, scale = "logit"), 40)
  expect_identical(log_loss(1, Inf, scale = "logit"), 0)
  expect_identical(log_loss(1, -Inf, scale = "logit"), Inf)
  expect_identical(log_loss(1:0, c(1e-320, 0.5), c(1, 0)), -log(1e-320))
  expect_identical(log_loss(0:1, c(1, 0.5), c(0, 1)), log(2))
  expect_identical(brier_score(c(1, 0), c(0, 0)), 0.5)
  # as probabilities these would be 1, and the losses infinite
  expect_equal(log_loss(c(0, 1), c(50, 50), scale = "logit"), 25, tolerance = 1e-14)
})

test_that("forms of the outcomes and the positive level", {
  y <- factor(c("no", "yes", "yes", "no"))
  p <- c(0.2, 0.7, 0.4, 0.5)
  for (score in list(log_loss, brier_score, auc)) {
    want <- score(c(0, 1, 1, 0), p)
    expect_identical(score(y, p), want)
    expect_identical(score(y == "yes", p), want)
    expect_close(score(y, 1 - p, positive = "no"), want, 1e-15)
  }
})

test_that("the other class with the other probability has the same scores", {
  for (seed in 21:30) {
    x <- scored_problem(seed)
    z <- stats::qlogis(x$p)
    for (score in list(log_loss, brier_score, auc)) {
      expect_close(score(1 - x$y, -z, x$w, scale = "logit"), score(x$y, z, x$w, scale = "logit"), 1e-15)
    }
  }
})

test_that("weights are repetitions, and relative", {
  for (seed in 31:40) {
    x <- scored_problem(seed, shares = seed > 37)
    w <- withr::with_seed(seed, sample(0:3, 40, replace = TRUE))
    w[1:2] <- 1L
    for (score in list(log_loss, brier_score, auc)) {
      expect_close(score(x$y, x$p, w), score(rep(x$y, w), rep(x$p, w)), 1e-14)
      expect_close(score(x$y, x$p, 10 * w), score(x$y, x$p, w), 1e-14)
      expect_identical(score(x$y, x$p, 2^600 * w), score(x$y, x$p, w))
    }
    parts <- function(...) brier_score(..., decompose = TRUE, bins = 4)
    expect_close(parts(x$y, x$p, w), parts(rep(x$y, w), rep(x$p, w)), 1e-14)
  }
})

test_that("proportions with trials as weights are the trials one by one", {
  success <- c(1, 3, 0, 5)
  trials <- c(4, 3, 2, 6)
  p <- c(0.3, 0.8, 0.4, 0.4)
  each <- rep(seq_along(p), trials)
  y <- unlist(Map(function(s, n) rep(1:0, c(s, n - s)), success, trials))
  for (score in list(log_loss, auc)) {
    expect_close(score(success / trials, p, trials), score(y, p[each]), 1e-14)
  }
  share <- success / trials
  expect_close(brier_score(share, p, trials) + sum(trials * share * (1 - share)) / sum(trials),
               brier_score(y, p[each]), 1e-14)
})

test_that("log loss and Brier score are best for the true probability, the focal loss is not", {
  best <- function(loss) function(q) stats::optimize(loss, c(1e-6, 1 - 1e-6), q = q, tol = 1e-10)$minimum
  truth <- c(0.01, 0.05, 0.2, 0.7)
  for (score in list(log_loss, brier_score)) {
    on_average <- function(p, q) score(c(1, 0), c(p, p), c(q, 1 - q))
    expect_equal(vapply(truth, best(on_average), 0), truth, tolerance = 1e-6)
  }
  focal <- function(p, q) -q * (1 - p)^2 * log(p) - (1 - q) * p^2 * log(1 - p)
  expect_equal(vapply(truth[1:3], best(focal), 0), c(0.154, 0.250, 0.373), tolerance = 2e-3)
})

# ---- auc -------------------------------------------------------------------------------------

test_that("saturated forecasts are no ties as logits, and ties count a half", {
  y <- c(0, 1, 1)
  expect_identical(auc(y, c(40, 41, 42), scale = "logit"), 1)
  expect_identical(auc(y, stable_sigmoid(c(40, 41, 42))), 0.5)
  expect_identical(auc(c(0, 1), c(0.5, 0.5)), 0.5)
  expect_identical(auc(c(0, 1), c(Inf, -Inf), scale = "logit"), 0)
  # neighbours that have the same logit
  expect_identical(auc(c(0, 1), c(0.3, 0.3 + 2^-54)), 1)
})

test_that("only the order of the forecasts counts", {
  for (seed in 41:50) {
    x <- scored_problem(seed)
    want <- auc(x$y, x$p, x$w)
    expect_identical(auc(x$y, x$p^3, x$w), want)
    expect_identical(auc(x$y, 1e5 * x$p, x$w, scale = "logit"), want)
    shuffled <- withr::with_seed(seed, sample(40))
    expect_close(auc(x$y[shuffled], x$p[shuffled], x$w[shuffled]), want, 1e-15)
    expect_close(auc(1 - x$y, x$p, x$w), 1 - want, 1e-15)
  }
})

test_that("auc is the statistic of Wilcoxon's test", {
  x <- scored_problem(51)
  statistic <- suppressWarnings(stats::wilcox.test(x$p[x$y == 1], x$p[x$y == 0])$statistic)
  expect_close(auc(x$y, x$p), as.vector(statistic) / (sum(x$y == 1) * sum(x$y == 0)), 1e-14)
})

test_that("one class has no AUC", {
  for (y in list(c(0, 0), c(1, 1), factor(c("a", "a"), c("a", "b")))) {
    expect_warning(expect_identical(auc(y, c(0.1, 0.2)), NA_real_), "one class",
                   class = "voxridge_warning_single_class")
  }
  expect_warning(expect_identical(auc(0:1, c(0.1, 0.2), weights = 1:0), NA_real_), "all 0",
                 class = "voxridge_warning_single_class")
  cnd <- rlang::catch_cnd(auc(0, 0.5))
  expect_identical(class(cnd)[1:2], c("voxridge_warning_single_class", "voxridge_warning"))
})

test_that("many forecasts take little time", {
  n <- 5e5
  y <- rep_len(c(0, 1, 1), n)
  p <- rep_len((1:997) / 1000, n)
  expect_lt(system.time(got <- auc(y, p))[["elapsed"]], 5)
  counts <- table(y, p)
  positives <- as.double(counts["1", ])
  negatives <- as.double(counts["0", ])
  expect_equal(got, sum(positives * (cumsum(negatives) - negatives / 2)) / (sum(positives) * sum(negatives)),
               tolerance = 1e-12)
})

# ---- parts of the Brier score ----------------------------------------------------------------

sum_parts <- function(parts) {
  sum(parts * c(0, 1, -1, 1, 1, -1))
}

test_that("the five parts sum to the score, for any bins, weights and outcomes", {
  for (seed in 61:80) {
    x <- scored_problem(seed, shares = seed > 75)
    for (bins in list(NULL, 1, 2, 5, 10, 1000)) {
      got <- brier_score(x$y, x$p, x$w, decompose = TRUE, bins = bins)
      expect_named(got, c("brier", "reliability", "resolution", "uncertainty", "within_variance",
                          "within_covariance"))
      expect_lte(abs(sum_parts(got) - got[["brier"]]), 1e-14)
      expect_identical(got[["brier"]], brier_score(x$y, x$p, x$w))
    }
    z <- stats::qlogis(x$p)
    expect_close(brier_score(x$y, z, x$w, scale = "logit", decompose = TRUE, bins = 3),
                 brier_score(x$y, x$p, x$w, decompose = TRUE, bins = 3), 1e-13)
  }
})

test_that("parts are their definitions over distinct forecasts", {
  for (seed in 81:90) {
    x <- scored_problem(seed)
    got <- brier_score(x$y, x$p, x$w, decompose = TRUE)
    w <- x$w / sum(x$w)
    total <- sum(w * x$y)
    reliability <- resolution <- 0
    for (p in unique(x$p[w > 0])) {
      group <- x$p == p
      rate <- sum(w[group] * x$y[group]) / sum(w[group])
      reliability <- reliability + sum(w[group]) * (p - rate)^2
      resolution <- resolution + sum(w[group]) * (rate - total)^2
    }
    expect_close(got[2:4], c(reliability, resolution, total * (1 - total)), 1e-14)
    expect_identical(unname(got[5:6]), c(0, 0))
  }
})

test_that("parts in bins are their definitions, and three are not enough", {
  y <- c(0, 1, 0, 1, 1, 1)
  p <- c(0.1, 0.3, 0.35, 0.6, 0.7, 0.9)
  got <- brier_score(y, p, decompose = TRUE, bins = 2)
  groups <- list(1:3, 4:6)
  rate <- c(1 / 3, 1)
  forecast <- c(0.25, 2.2 / 3)
  want <- c(
    mean((p - y)^2), mean((forecast - rate)^2), mean((rate - 4 / 6)^2), 4 / 6 * 2 / 6,
    mean((p - rep(forecast, each = 3))^2), 2 * mean((y - rep(rate, each = 3)) * (p - rep(forecast, each = 3)))
  )
  expect_close(got, want, 1e-15)
  expect_gt(abs(got[["reliability"]] - got[["resolution"]] + got[["uncertainty"]] - got[["brier"]]), 1e-3)
})

test_that("settings of the parts are checked", {
  expect_s3_class(expect_refused(brier_score(0:1, c(0.1, 0.2), bins = 3), "bins", "decompose = TRUE"),
                  "voxridge_error_conflict")
  for (bins in list(0, 2.5, NA, "a", 1:2)) {
    expect_s3_class(expect_refused(brier_score(0:1, c(0.1, 0.2), decompose = TRUE, bins = bins), "bins"),
                    "voxridge_error_argument")
  }
  expect_refused(brier_score(0:1, c(0.1, 0.2), decompose = 1), "decompose")
})
