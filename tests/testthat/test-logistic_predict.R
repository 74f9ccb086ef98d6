# X beta + b + offset in plain R.
plain_logits <- function(fit, X, offset = NULL) {
  coefs <- as.matrix(fit$coefs)
  z <- X %*% coefs + rep(fit$intercept, each = nrow(X))
  if (!is.null(offset)) z <- z + offset
  z
}

test_that("logits are X beta plus intercept plus offset, probabilities their logistic function", {
  d <- logistic_data()
  for (one in logistic_fits()) {
    z <- predict(one$fit, d$X, "link", newoffset = one$newoffset)
    expect_close(as.matrix(z)[, !is.na(one$fit$best_lambda), drop = FALSE],
                 plain_logits(one$fit, d$X, one$newoffset)[, !is.na(one$fit$best_lambda), drop = FALSE], 1e-13)
    p <- predict(one$fit, d$X, newoffset = one$newoffset)
    expect_identical(p, stable_sigmoid(z))
    expect_identical(fitted(one$fit), p)
    expect_identical(predict(one$fit), p)
    expect_identical(predict(one$fit, type = "link"), z)
  }
})

test_that("predictions are those of a Newton oracle", {
  d <- logistic_data()
  want <- logistic_oracle(d$X, d$y, 0.1, offset = d$offset)
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1, offset = d$offset)
  expect_close(predict(fit, d$X, newoffset = d$offset),
               stats::plogis(drop(d$X %*% want$coefs) + want$intercept + d$offset), 1e-7)
})

test_that("the example in circulation with a wrong answer", {
  fit <- quiet_logistic(logistic_data()$X[, 1:8], logistic_data()$y, lambda = 1)
  fit$coefs[] <- c(.84, -1.2, .45, -.12, 2.1, -.78, .32, -.55)
  fit$intercept <- -.24
  row <- rbind(c(.5, -1.2, 3.3, .1, -.4, 1.2, -.9, .4))
  expect_equal(predict(fit, row, "link"), 0.809, tolerance = 1e-15)
  expect_equal(predict(fit, row), 0.691896369435959, tolerance = 1e-15)
})

test_that("each row has the bits of the row alone, in any order, with any threads", {
  d <- logistic_data()
  for (one in logistic_fits()) {
    fit <- one$fit
    pick <- function(rows) if (!is.null(one$newoffset)) one$newoffset[rows]
    whole <- as.matrix(predict(fit, d$X, "link", newoffset = pick(1:60)))
    for (rows in list(60:1, 17L, c(5L, 5L, 59L))) {
      got <- as.matrix(predict(fit, d$X[rows, , drop = FALSE], "link", newoffset = pick(rows)))
      expect_identical(got, whole[rows, , drop = FALSE])
    }
    expect_identical(as.matrix(predict(fit, d$X, "link", newoffset = pick(1:60), n_threads = 3)), whole)
  }
  large <- withr::with_seed(2, matrix(rnorm(3e5 * 11), 3e5))
  fit <- logistic_fits()$targets$fit
  once <- predict(fit, large, "link", n_threads = 1)
  expect_identical(predict(fit, large, "link", n_threads = 4), once)
  expect_identical(predict(fit, large[2e5:2e5 + 0:70, ], "link"), once[2e5:2e5 + 0:70, ])
})

test_that("above 64 targets a product of matrices agrees to rounding", {
  d <- logistic_data()
  Y <- withr::with_seed(3, matrix(rbinom(60 * 70, 1, 0.5), 60))
  Y[2L, 7L] <- NA
  offset <- withr::with_seed(4, matrix(rnorm(60 * 70), 60))
  fit <- quiet_logistic(d$X, Y, lambda = 0.1, cv = NULL, na_targets = "skip", offset = offset)
  want <- predict(predictor(fit), d$X, "link", newoffset = offset)
  got <- predict(fit, d$X, "link", newoffset = offset)
  scale <- abs(d$X) %*% abs(fit$coefs)
  expect_true(all(abs(got - want) <= 1e-12 * (scale + 1), na.rm = TRUE))
  expect_identical(is.na(got), is.na(want))
  X <- d$X
  X[4L, 2L] <- NA
  passed <- predict(fit, X, newoffset = offset, na = "pass")
  expect_true(all(is.na(passed[4L, ])))
  expect_close(passed[-4L, -7L], predict(fit, newdata = d$X, newoffset = offset)[-4L, -7L], 1e-14)
  expect_true(all(is.na(predict(fit, X[4L, , drop = FALSE], newoffset = offset[4L, , drop = FALSE], na = "pass"))))
})

test_that("classes have the form of the outcomes, by the logit of the threshold", {
  d <- logistic_data()
  fits <- logistic_fits()
  class_of <- function(name, ...) predict(fits[[name]]$fit, d$X, "class", ...)
  p <- predict(fits$numbers$fit, d$X)
  samples <- rownames(d$X)
  expect_identical(class_of("numbers"), stats::setNames(as.integer(p >= 0.5), samples))
  expect_identical(class_of("proportions", threshold = 0.3),
                   stats::setNames(as.integer(predict(fits$proportions$fit, d$X) >= 0.3), samples))
  expect_identical(class_of("logical", threshold = 0.7), stats::setNames(unname(p >= 0.7), samples))
  for (name in c("factor", "other positive")) {
    fit <- fits[[name]]$fit
    got <- class_of(name)
    expect_s3_class(got, "factor")
    expect_identical(levels(got), levels(d$f))
    expect_identical(names(got), samples)
    likely <- ifelse(predict(fit, d$X) >= 0.5, fit$positive, setdiff(levels(d$f), fit$positive))
    expect_identical(as.character(got), unname(likely))
  }
  # the same classes, whichever counts as 1
  expect_identical(class_of("factor"), class_of("other positive"))
  got <- class_of("targets")
  expect_identical(got, matrix(as.integer(predict(fits$targets$fit, d$X) >= 0.5), 60,
                               dimnames = list(samples, colnames(d$Y))))
  expect_true(all(is.na(class_of("skipped")[, 2L])))
  mixed <- class_of("mixed")
  expect_identical(vapply(mixed, function(x) class(x), ""), c(f = "factor", l = "logical", n = "integer"))
  expect_identical(rownames(mixed), samples)
  expect_identical(mixed$f, unname(class_of("factor")))
})

test_that("thresholds count on the scale of logits, where probabilities are all 1", {
  fit <- quiet_logistic(cbind(c(-1, 1, -1, 1)), c(0, 1, 1, 1), lambda = 1, fit_intercept = FALSE)
  fit$coefs[] <- 1
  fit$intercept <- 0
  almost <- 1 - 2^-53  # its logit is 36.74
  z <- cbind(c(36.72, 36.74, 36.8, 1e5, -Inf))[1:4, , drop = FALSE]
  expect_identical(predict(fit, z)[2:4], rep(1, 3))
  cut <- log(almost) - log1p(-almost)
  expect_identical(predict(fit, z, "class", threshold = almost), as.integer(z >= cut))
  expect_identical(predict(fit, z, "class", threshold = almost), c(0L, 1L, 1L, 1L))
  # exactly at the threshold is positive
  expect_identical(predict(fit, cbind(c(0, -1e-300)), "class"), c(1L, 0L))
})

test_that("swapping the positive level swaps the sign, whatever the order of the levels", {
  fits <- logistic_fits()
  d <- logistic_data()
  z <- predict(fits$factor$fit, d$X, "link")
  expect_close(predict(fits[["other positive"]]$fit, d$X, "link"), -z, 1e-7)
  reversed <- factor(d$f, levels = rev(levels(d$f)))
  expect_close(predict(quiet_logistic(d$X, reversed, lambda = c(1, 0.1, 0.01), cv = NULL), d$X, "link"), -z, 1e-7)
})

test_that("an offset far larger than the margin is part of the forecast and not of the coefficients", {
  d <- logistic_data()
  offset <- 40 * (2 * d$y - 1)
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1, offset = offset)
  without <- predict(fit, d$X, "link", newoffset = rep(0, 60))
  expect_close(without, predict(fit, d$X, "link", newoffset = offset) - offset, 1e-12)
  expect_true(all(predict(fit, d$X, newoffset = offset)[d$y == 1] > 0.9999))
  cnd <- expect_refused(predict(fit, d$X[1:20, ]), "newoffset", "length 20")
  expect_s3_class(cnd, "voxridge_error_missing_newoffset")
  expect_identical(cnd$expected, 20L)
})

test_that("columns are matched by name, then by number", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1)
  want <- predict(fit, d$X)
  expect_identical(predict(fit, d$X[, 11:1]), want)
  expect_identical(predict(fit, as.data.frame(d$X)), want)
  expect_identical(predict(fit, unname(d$X)), unname(want))
  cnd <- expect_refused(predict(fit, d$X[, -3L]), "newdata", "\"c\"")
  expect_s3_class(cnd, "voxridge_error_newdata")
  expect_identical(cnd$expected, "c")
  other <- d$X
  colnames(other)[1L] <- "z"
  expect_refused(predict(fit, other), "newdata", c("\"a\"", "\"z\""))
  expect_refused(predict(fit, unname(d$X)[, -3L]), "newdata", "11 columns")
})

test_that("missing values are an error, or NA in their rows", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1)
  X <- d$X
  X[2L, 1L] <- NA
  X[3L, 2L] <- NaN
  X[60L, 11L] <- -Inf
  expect_refused(predict(fit, X), "newdata", "3 of 11")
  got <- predict(fit, X, na = "pass")
  expect_identical(got[-c(2, 3, 60)], predict(fit, d$X)[-c(2, 3, 60)])
  expect_true(all(is.na(got[c(2, 3, 60)]) & !is.nan(got[c(2, 3, 60)])))
  expect_identical(is.na(predict(fit, X, "class", na = "pass")), is.na(got))
})

test_that("a penalty of the path is taken, and what is none is refused", {
  d <- logistic_data()
  for (one in logistic_fits()) {
    fit <- one$fit
    for (l in fit$lambda) {
      z <- as.matrix(predict(fit, d$X, "link", lambda = l, newoffset = one$newoffset))
      coefs <- as.matrix(coef(fit, intercept = TRUE, lambda = l))
      want <- cbind(1, d$X) %*% coefs
      if (!is.null(one$newoffset)) want <- want + one$newoffset
      used <- !is.na(fit$best_lambda)
      expect_close(z[, used, drop = FALSE], want[, used, drop = FALSE], 1e-12)
    }
    chosen <- fit$best_lambda[!is.na(fit$best_lambda)][[1L]]
    expect_close(as.matrix(predict(fit, d$X, "link", lambda = chosen, newoffset = one$newoffset))[, used],
                 as.matrix(predict(fit, d$X, "link", newoffset = one$newoffset))[, used], 1e-7)
  }
  fit <- logistic_fits()$numbers$fit
  expect_refused(predict(fit, d$X, lambda = 0.5), "lambda", "nearest is")
  expect_refused(predict(fit, d$X, lambda = c(1, 0.1)), "lambda")
  expect_refused(predict(fit, d$X, lambda = -1), "lambda")
  expect_refused(predict(quiet_logistic(d$X, d$y, lambda = 1), d$X, lambda = 1), "lambda", "keep_path")
})

test_that("residuals are outcome minus probability, or roots of the deviance", {
  d <- logistic_data()
  for (name in c("numbers", "proportions", "targets", "skipped", "offset", "factor")) {
    fit <- logistic_fits()[[name]]$fit
    y <- unname(fit$data$Y)
    p <- as.matrix(fitted(fit))
    got <- residuals(fit)
    expect_close(as.matrix(got)[!is.na(p)], (y - p)[!is.na(p)], 1e-15)
    expect_identical(is.na(got), is.na(fitted(fit)))
    deviance <- residuals(fit, "deviance")
    xlogy <- function(x, y) ifelse(x == 0, 0, x * log(y))
    least <- -xlogy(y, y) - xlogy(1 - y, 1 - y)
    loss <- -xlogy(y, p) - xlogy(1 - y, 1 - p)
    expect_close(as.matrix(deviance)[!is.na(p)], (sign(y - p) * sqrt(2 * (loss - least)))[!is.na(p)], 1e-7)
  }
  fit <- quiet_logistic(cbind(c(-1, 1, -1, 1)), c(0, 1, 0, 1), lambda = 1)
  fit$coefs[] <- 800
  fit$intercept <- 0
  expect_identical(residuals(fit, "deviance"), rep(0, 4))
  fit$coefs[] <- 50
  expect_gt(residuals(fit)[2L], 1e-22)  # 1 - p is 0 already
})

test_that("what cannot be is refused", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1)
  bare <- quiet_logistic(d$X, d$y, lambda = 0.1, keep = "none")
  expect_identical(predict(bare, d$X), predict(fit, d$X))
  for (call in list(quote(predict(bare)), quote(fitted(bare)), quote(residuals(bare)))) {
    expect_s3_class(expect_refused(eval(call), "object"), "voxridge_error_no_data")
  }
  expect_refused(predict(fit, d$X, newoffset = d$offset), "newoffset", "without an offset")
  expect_refused(predict(fit, newoffset = d$offset), "newoffset")
  with_offset <- quiet_logistic(d$X, d$Y, lambda = 0.1, offset = d$offset, cv = NULL)
  expect_refused(predict(with_offset, d$X, newoffset = 1:3), "newoffset", "60 x 3")
  expect_refused(predict(with_offset, d$X, newoffset = replace(d$offset, 2, NA)), "newoffset")
  expect_refused(predict(with_offset, d$X), "newoffset", "60 x 3")
  expect_refused(predict(fit, d$X, type = "prob"), "type")
  expect_refused(predict(fit, d$X, "class", threshold = 1), "threshold")
  expect_refused(predict(fit, d$X, "class", threshold = c(0.1, 0.2)), "threshold")
  expect_refused(predict(fit, d$X, threshold = 0.2), "threshold", "class")
  expect_refused(predict(fit, d$X, na = "keep"), "na")
  expect_refused(predict(fit, d$X, n_threads = 0), "n_threads")
  expect_refused(predict(fit, d$X[1L, ]), "newdata", "rbind")
  expect_refused(residuals(fit, "pearson"), "type")
  expect_error(predict(fit, d$X, tpye = "link"), class = "rlib_error_dots_nonempty")
  expect_refused(predict(structure(list(format = 0L), class = class(fit)), d$X), "object")
})

test_that("messages", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$f, lambda = c(1, 0.1), cv = NULL, keep_path = TRUE)
  with_offset <- quiet_logistic(d$X, d$y, lambda = 1, offset = d$offset)
  targets <- quiet_logistic(d$X, d$Y, lambda = 1, cv = NULL, offset = d$offset)
  new <- d$X[1:20, ]
  expect_snapshot(error = TRUE, predict(with_offset, new))
  expect_snapshot(error = TRUE, predict(targets, new))
  expect_snapshot(error = TRUE, predict(fit, new, newoffset = 1:20))
  expect_snapshot(error = TRUE, predict(with_offset, new[, -3L], newoffset = 1:20))
  expect_snapshot(error = TRUE, predict(with_offset, new, newoffset = 1:20, lambda = 1))
  expect_snapshot(error = TRUE, predict(fit, new, lambda = 0.4))
  expect_snapshot(error = TRUE, predict(fit, new, threshold = 0.4))
  expect_snapshot(error = TRUE, predict(predictor(fit), new[1L, ]))
  expect_snapshot(error = TRUE, score(fit, new, d$y[1:20]))
  expect_snapshot(error = TRUE, score(with_offset, new, d$f[1:20], newoffset = 1:20))
  expect_snapshot(error = TRUE, null_scores(fit))
})
