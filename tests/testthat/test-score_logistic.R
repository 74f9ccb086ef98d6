plain_scores <- function(y, z, w, word) {
  p <- stats::plogis(z)
  switch(word,
    log_loss = sum(w * (-y * log(p) - (1 - y) * log1p(-p))) / sum(w),
    brier = sum(w * (y - p)^2) / sum(w),
    accuracy = sum(w * ((z >= 0) == y)) / sum(w),
    auc = {
      pair <- outer(which(y == 1), which(y == 0), function(i, j) {
        w[i] * w[j] * ((z[i] > z[j]) + (z[i] == z[j]) / 2)
      })
      sum(pair) / (sum(w[y == 1]) * sum(w[y == 0]))
    }
  )
}

test_that("scores are the formulas, with weights and offsets, and those of the functions for forecasts", {
  d <- logistic_data()
  new <- withr::with_seed(2, list(X = matrix(rnorm(40 * 11), 40), Y = matrix(rbinom(120, 1, 0.5), 40),
                                  w = runif(40), o = rnorm(40)))
  fit <- quiet_logistic(d$X, d$Y, lambda = 0.1, cv = NULL, offset = d$offset)
  z <- predict(fit, new$X, "link", newoffset = new$o)
  for (word in c("log_loss", "brier", "auc", "accuracy")) {
    got <- score(fit, new$X, new$Y, word, weights = new$w, newoffset = new$o)
    want <- vapply(1:3, function(j) plain_scores(new$Y[, j], z[, j], new$w, word), 0)
    expect_named(got, colnames(d$Y))
    expect_close(got, want, 1e-13)
  }
  expect_identical(score(fit, new$X, new$Y, newoffset = new$o),
                   c(v1 = log_loss(new$Y[, 1L], z[, 1L], scale = "logit"),
                     v2 = log_loss(new$Y[, 2L], z[, 2L], scale = "logit"),
                     v3 = log_loss(new$Y[, 3L], z[, 3L], scale = "logit")))
  one <- quiet_logistic(d$X, d$y, lambda = c(1, 0.1), cv = NULL, keep_path = TRUE)
  expect_identical(score(one, new$X, new$Y[, 1L], lambda = 1),
                   log_loss(new$Y[, 1L], predict(one, new$X, "link", lambda = 1), scale = "logit"))
})

test_that("held-out scores are those of a fit to the training rows of the fold", {
  d <- logistic_data()
  held_out <- list(1:20, 21:60)
  for (word in c("log_loss", "brier", "auc", "accuracy")) {
    fit <- quiet_logistic(d$X, d$y, lambda = 0.1, cv = held_out, criterion = word, fold_scaling = "fold",
                          offset = d$offset)
    for (f in 1:2) {
      rows <- held_out[[f]]
      part <- quiet_logistic(d$X[-rows, ], d$y[-rows], lambda = 0.1, offset = d$offset[-rows])
      got <- score(part, d$X[rows, ], d$y[rows], word, newoffset = d$offset[rows])
      expect_close(got, fit$cv$scores[f, 1L], 1e-6)
    }
  }
})

test_that("outcomes count as in the fit, in any form and order", {
  d <- logistic_data()
  for (positive in c("face", "house")) {
    fit <- quiet_logistic(d$X, d$f, lambda = 0.1, positive = positive)
    want <- log_loss((d$f == positive) + 0, predict(fit, d$X, "link"), scale = "logit")
    expect_identical(score(fit, d$X, d$f), want)
    expect_identical(score(fit, d$X, factor(d$f, levels = rev(levels(d$f)))), want)
  }
  cnd <- expect_refused(score(fit, d$X, factor(d$f, labels = c("cat", "dog"))), "y", "\"cat\"")
  expect_s3_class(cnd, "voxridge_error_newdata")
  expect_refused(score(fit, d$X, d$y), "y", "factor")
  numbers <- quiet_logistic(d$X, d$y, lambda = 0.1)
  expect_identical(score(numbers, d$X, d$y == 1), score(numbers, d$X, d$y))
  expect_refused(score(numbers, d$X, d$f), "y", "levels")
  # columns by name
  many <- quiet_logistic(d$X, d$Y, lambda = 0.1, cv = NULL)
  expect_identical(score(many, d$X, d$Y[, 3:1]), score(many, d$X, d$Y))
  expect_identical(score(many, d$X, as.data.frame(d$Y)[3:1]), score(many, d$X, d$Y))
  expect_refused(score(many, d$X, d$Y[, 1:2]), "y", "\"v3\"")
  expect_refused(score(many, d$X, unname(d$Y)[, 1:2]), "y", "3 targets")
  expect_refused(score(many, d$X, as.data.frame(d$Y)[1:2]), "y", "\"v3\"")
  frame <- data.frame(f = d$f, l = d$y == 1)
  mixed <- quiet_logistic(d$X, frame, lambda = 0.1, cv = NULL)
  z <- predict(mixed, d$X, "link")
  expect_identical(score(mixed, d$X, frame[2:1]),
                   c(f = log_loss(d$f, z[, "f"], scale = "logit"), l = log_loss(d$y, z[, "l"], scale = "logit")))
  expect_refused(score(mixed, d$X, data.frame(f = d$y, l = d$y)), "y", "target f")
})

test_that("skipped targets are NA, and so is an AUC of one class, with a warning", {
  d <- logistic_data()
  holes <- d$Y
  holes[1:3, 2L] <- NA
  fit <- quiet_logistic(d$X, holes, lambda = 0.1, cv = NULL, na_targets = "skip")
  expect_identical(is.na(score(fit, d$X, holes)), c(v1 = FALSE, v2 = TRUE, v3 = FALSE))
  expect_identical(score(fit, d$X, holes), replace(score(fit, d$X, replace(holes, is.na(holes), 0)), 2, NA))
  holes[2L, 3L] <- NA
  expect_refused(score(fit, d$X, holes), "y", "v3")
  single <- d$Y
  single[, 1L] <- 1
  expect_warning(got <- score(fit, d$X, single, "auc"), "v1", class = "voxridge_warning_single_class")
  expect_identical(is.na(got), c(v1 = TRUE, v2 = TRUE, v3 = FALSE))
})

test_that("what cannot be is refused", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1)
  expect_refused(score(fit), "newdata")
  expect_refused(score(fit, d$X), "y")
  expect_refused(score(fit, d$X, d$y[-1L]), "y", "60")
  expect_refused(score(fit, d$X, cbind(d$y, d$y)), "y")
  expect_refused(score(fit, d$X, 2 * d$y - 1), "y", "-1/\\+1")
  expect_refused(score(fit, d$X, replace(d$y, 3, NA)), "y")
  expect_refused(score(fit, d$X, d$y, "r2"), "score_func")
  expect_refused(score(fit, d$X, d$y, weights = -1), "weights")
  expect_refused(score(fit, d$X[, -1L], d$y), "newdata")
  expect_refused(score(fit, d$X, d$y, newoffset = d$offset), "newoffset")
  expect_error(score(fit, d$X, d$y, bands = 1), class = "rlib_error_dots_nonempty")
})
