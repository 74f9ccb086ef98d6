test_that("one row per target", {
  d <- logistic_data()
  holes <- d$Y
  holes[3L, 2L] <- NA
  fit <- quiet_logistic(d$X, holes, lambda = c(1, 0.1, 0.01), cv = 3, na_targets = "skip")
  got <- tidy(fit)
  expect_named(got, c("target", "positive", "prevalence", "intercept", "lambda", "C", "score", "loss", "null_loss",
                      "at_edge", "iterations", "prob_bound", "separable", "status"))
  expect_identical(got$target, colnames(d$Y))
  for (field in c("prevalence", "intercept", "C", "null_loss")) expect_identical(got[[field]], unname(fit[[field]]))
  expect_identical(got$lambda, unname(fit$best_lambda))
  expect_identical(got$loss, unname(fit$final_loss))
  expect_identical(got$score, unname(fit$cv$best_score))
  expect_identical(got$status == "skipped", c(FALSE, TRUE, FALSE))
  expect_identical(got$prob_bound[c(1L, 3L)], fit$diagnostics$chosen$prob_bound)
  expect_true(is.na(got$prob_bound[2L]))
  for (one in logistic_fits()) {
    got <- tidy(one$fit)
    expect_identical(nrow(got), one$fit$dims[["t"]])
    expect_true(all(is.na(got$score)))
    expect_identical(got$positive, rep_len(unname(one$fit$positive), nrow(got)))
  }
})

test_that("one row per coefficient", {
  d <- logistic_data()
  fits <- logistic_fits()
  expect_identical(tidy(fits$targets$fit, "coefs"),
                   data.frame(target = rep(colnames(d$Y), each = 11), term = rep(colnames(d$X), 3),
                              estimate = as.vector(coef(fits$targets$fit))))
  bare <- quiet_logistic(unname(d$X), d$y, lambda = 1)
  expect_identical(tidy(bare, "coefs"), data.frame(target = rep(1L, 11), term = 1:11, estimate = coef(bare)))
})

test_that("one row for the model", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$Y, lambda = c(1, 0.1, 0.01), cv = 3, criterion = "brier")
  got <- glance(fit)
  expect_identical(nrow(got), 1L)
  expect_identical(unlist(got[1:4]), c(n = 60L, p = 11L, t = 3L, n_folds = 3L))
  expect_identical(got$criterion, "brier")
  expect_equal(unlist(got[6:9], use.names = FALSE),
               c(mean(fit$cv$best_score), stats::median(fit$cv$best_score), range(fit$cv$best_score)))
  expect_identical(got$prob_bound, max(fit$diagnostics$chosen$prob_bound))
  expect_equal(got$share_smallest + got$share_largest, mean(fit$cv$at_edge))
  without <- glance(logistic_fits()$skipped$fit)
  expect_identical(names(without), names(got))
  expect_true(is.na(without$criterion) && is.na(without$score_mean) && is.na(without$n_folds))
  expect_identical(without$n_skipped, 1L)
})

test_that("one row per sample and target", {
  d <- logistic_data()
  for (name in c("numbers", "targets", "skipped", "offset", "factor", "proportions")) {
    one <- logistic_fits()[[name]]
    fit <- one$fit
    got <- augment(fit)
    expect_named(got, c("sample", "target", ".observed", ".fitted", ".link", ".resid"))
    expect_identical(got$sample, rep(rownames(d$X), fit$dims[["t"]]))
    expect_identical(got$.observed, as.vector(fit$data$Y))
    expect_identical(got$.fitted, as.vector(fitted(fit)))
    expect_identical(got$.link, as.vector(unname(predict(fit, type = "link"))))
    expect_identical(got$.resid, as.vector(residuals(fit)))
    used <- !is.na(got$.fitted)
    expect_close(got$.observed[used], (got$.fitted + got$.resid)[used], 1e-15)
    new <- augment(fit, d$X[5:9, ], newoffset = one$newoffset[5:9])
    expect_true(all(is.na(new$.observed)) && all(is.na(new$.resid)))
    expect_identical(new$.fitted, as.vector(as.matrix(fitted(fit))[5:9, ]))
  }
  fit <- logistic_fits()$factor$fit
  got <- augment(fit, d$X[5:9, ], rev(d$f)[5:9])
  expect_identical(got$.observed, (rev(d$f)[5:9] == "house") + 0)
  expect_identical(got[-(3L:6L)], augment(fit, d$X[5:9, ])[-(3L:6L)])
  expect_false(anyNA(got))
})

test_that("what cannot be is refused", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = 1, keep = "none")
  expect_s3_class(expect_refused(augment(fit), "x"), "voxridge_error_no_data")
  expect_refused(augment(fit, y = d$y), "y")
  expect_refused(augment(fit, d$X, d$y[-1L]), "y")
  expect_refused(augment(fit, d$X[, -1L]), "newdata")
  expect_refused(tidy(fit, "bands"), "what")
  expect_error(tidy(fit, waht = 1), class = "rlib_error_dots_nonempty")
  expect_error(glance(fit, 1), class = "rlib_error_dots_nonempty")
})
