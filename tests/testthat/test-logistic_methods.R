# ---- print -----------------------------------------------------------------------------------

test_that("print says what was fitted, in at most 15 lines, and no coefficients", {
  for (one in logistic_fits()) {
    shown <- capture.output(printed <- withVisible(print(one$fit)))
    expect_identical(printed$value, one$fit)
    expect_false(printed$visible)
    expect_lte(length(shown), 15L)
    expect_lte(max(nchar(shown)), 120L)
    expect_match(shown[1L], "logistic regression: 60 samples x 11 features x [123] target")
    expect_match(shown, "^  positive: ", all = FALSE)
    expect_match(shown, "^  lambda: .*\\(C ", all = FALSE)
    expect_match(shown, "^  grid: +3 from 0.01 to 1$", all = FALSE)
    expect_match(shown, "^  certificate: probabilities within [0-9.e-]+ of the optimum", all = FALSE)
    expect_match(shown, "^  separable: ", all = FALSE)
    text <- paste(shown, collapse = " ")
    for (value in format_numbers(coef(one$fit)[1:3])) expect_false(grepl(value, text, fixed = TRUE))
  }
})

test_that("print says everything that matters, here of one fit with all of it", {
  d <- logistic_data()
  X <- d$X
  X[, c(2L, 7L)] <- 3
  holes <- d$Y
  holes[5L, 3L] <- NA
  fit <- quiet_logistic(X, holes, cv = 4, offset = d$offset, prior = 0.1, na_targets = "skip", choose = "1se",
                        criterion = "auc")
  shown <- capture.output(print(fit))
  expect_lte(length(shown), 15L)
  value <- function(label) trimws(sub("^[^:]*:", "", grep(paste0("^  ", label, ":"), shown, value = TRUE)))
  expect_identical(value("positive"), "1 (not 0)")
  expect_identical(value("folds"), "4 folds")
  expect_match(value("lambda"), "the largest within one se")
  expect_match(value("grid"), "^50 from ")
  expect_match(value("auc"), "mean .* held out")
  expect_match(value("log_loss"), "for the prevalence alone")
  expect_identical(value("features"), "2 constant, of coefficient 0 (b, g)")
  expect_identical(value("targets"), "1 skipped (not counted here)")
  expect_match(value("offset"), "newoffset")
  expect_match(value("prior"), "shifts the intercept")
  expect_match(value("computed"), "armadillo \\(cpu\\), primal solver, .* s$")
})

test_that("the positive class is always named", {
  fits <- logistic_fits()
  words <- function(name) positive_words(fits[[name]]$fit)
  expect_identical(words("numbers"), "1 (not 0)")
  expect_identical(words("logical"), "TRUE (not FALSE)")
  expect_identical(words("factor"), "\"house\" (not \"face\")")
  expect_identical(words("other positive"), "\"face\" (not \"house\")")
  expect_identical(words("mixed"), "f: \"house\" (not \"face\"), l: TRUE (not FALSE), n: 1 (not 0)")
})

test_that("held-out scores stand beside the loss of the prevalence, and the ends of the grid are named", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = c(1, 0.1, 1e-6), cv = 3)
  shown <- capture.output(print(fit))
  expect_match(shown, sprintf("log_loss: +%s held out, %s for the prevalence alone", format_numbers(fit$cv$best_score),
                              format_numbers(fit$null_loss)), all = FALSE)
  expect_identical(any(grepl("best at its", shown)), fit$cv$lambda_min %in% range(fit$lambda))
  fit$cv$lambda_min <- 1
  expect_match(capture.output(print(fit)), "best at its largest", all = FALSE)
  expect_match(capture.output(print(logistic_fits()$numbers$fit)), "in training", all = FALSE)
})

test_that("what did not converge, and what is separable, is said", {
  d <- logistic_data()
  fit <- logistic_fits()$numbers$fit
  expect_match(capture.output(print(fit)), "separable: +not proven", all = FALSE)
  fit$diagnostics$chosen$status <- "max_iter"
  fit$diagnostics$chosen$separable <- TRUE
  shown <- capture.output(print(fit))
  expect_match(shown, "; not converged", all = FALSE)
  expect_match(shown, "separable: +yes: lambda alone sets", all = FALSE)
  separable <- quiet_logistic(cbind(c(-2, -1, 1, 2)), c(0, 0, 1, 1), lambda = 0.1)
  expect_match(capture.output(print(separable)), "separable: +yes", all = FALSE)
  many <- logistic_fits()$targets$fit
  many$diagnostics$chosen$status[2L] <- "max_iter"
  many$diagnostics$chosen$separable[2:3] <- TRUE
  shown <- capture.output(print(many))
  expect_match(shown, "1 of 3 not converged", all = FALSE)
  expect_match(shown, "2 of 3 targets", all = FALSE)
})

test_that("fits of nothing but skipped targets are printed, summarised and predict NA", {
  d <- logistic_data()
  Y <- d$Y
  Y[1L, ] <- NA
  fit <- quiet_logistic(d$X, Y, cv = NULL, lambda = 1, na_targets = "skip")
  expect_match(capture.output(print(fit)), "3 skipped", all = FALSE)
  expect_match(capture.output(print(summary(fit))), "skipped: +3", all = FALSE)
  expect_true(all(is.na(predict(fit, d$X))))
  expect_match(capture.output(print(predictor(fit))), "Scoring engine", all = FALSE)
})

# ---- summary ---------------------------------------------------------------------------------

test_that("a summary is made of the fields of the fit", {
  d <- logistic_data()
  holes <- d$Y
  holes[5L, 3L] <- NA
  fit <- quiet_logistic(d$X, holes, lambda = c(1, 0.1, 0.01), cv = 4, na_targets = "skip")
  got <- summary(fit)
  expect_s3_class(got, "summary.voxridge_logistic", exact = TRUE)
  scores <- unname(fit$cv$best_score[1:2])
  expect_equal(got$scores, c(mean = mean(scores), stats::quantile(scores)))
  expect_identical(got$null_loss, mean(fit$null_loss[1:2]))
  expect_identical(got$prob_bound, max(fit$diagnostics$chosen$prob_bound))
  expect_identical(unname(got$lambda[c(1L, 5L)]), range(fit$best_lambda[1:2]))
  expect_identical(got$n_skipped, 1L)
  expect_identical(sum(got$share_at_edge), mean(fit$cv$at_edge[1:2]))
  shown <- capture.output(print(got))
  expect_match(shown, "held-out log_loss: +mean ", all = FALSE)
  expect_match(shown, "null log_loss", all = FALSE)
  one <- summary(quiet_logistic(d$X, d$y, lambda = 1))
  expect_null(one$scores)
  expect_match(capture.output(print(one)), "lambda: +1$", all = FALSE)
  for (fits in logistic_fits()) expect_output(print(summary(fits$fit)), "prevalence")
})

# ---- coefficients ----------------------------------------------------------------------------

test_that("coefficients are features x targets, with the intercept as the first row if asked", {
  d <- logistic_data()
  fits <- logistic_fits()
  fit <- fits$targets$fit
  expect_identical(coef(fit), fit$coefs)
  expect_identical(dimnames(coef(fit)), list(colnames(d$X), colnames(d$Y)))
  got <- coef(fit, intercept = TRUE)
  expect_identical(dimnames(got), list(c("(Intercept)", colnames(d$X)), colnames(d$Y)))
  expect_identical(got[1L, ], fit$intercept)
  expect_identical(got[-1L, ], fit$coefs)
  one <- fits$numbers$fit
  expect_identical(coef(one, intercept = TRUE), c("(Intercept)" = one$intercept, one$coefs))
  expect_identical(unname(coef(fits[["no intercept"]]$fit, intercept = TRUE))[1L], 0)
  bare <- quiet_logistic(unname(d$X), d$y, lambda = 1)
  expect_null(names(coef(bare)))
  expect_named(coef(bare, intercept = TRUE), c("(Intercept)", 1:11))
  # the logit of the prevalence in use is in the intercept
  prior <- fits$prior$fit
  expect_equal(prior$intercept - one$intercept, stats::qlogis(0.1) - stats::qlogis(mean(d$y)), tolerance = 1e-12)
  expect_equal(coef(prior, intercept = TRUE, lambda = 1)[[1L]] - coef(one, intercept = TRUE, lambda = 1)[[1L]],
               prior$prior_shift, tolerance = 1e-12)
})

test_that("coefficients of a penalty of the path are those of a fit with it", {
  d <- logistic_data()
  fits <- logistic_fits()
  for (l in c(1, 0.1, 0.01)) {
    want <- logistic_oracle(d$X, d$y, l)
    expect_close(coef(fits$numbers$fit, intercept = TRUE, lambda = l), c(want$intercept, want$coefs), 1e-7)
    expect_close(coef(fits$targets$fit, intercept = TRUE, lambda = l)[, 1L], c(want$intercept, want$coefs), 1e-7)
  }
  expect_true(all(is.na(coef(fits$skipped$fit, lambda = 1)[, 2L])))
  expect_identical(coef(fits$numbers$fit, lambda = 0.1 * (1 + 1e-12)), coef(fits$numbers$fit, lambda = 0.1))
  expect_s3_class(expect_refused(coef(fits$numbers$fit, lambda = 0.2), "lambda", "fit\\$lambda\\["),
                  "voxridge_error_lambda")
  expect_refused(coef(fits$numbers$fit, intercept = 1), "intercept")
  expect_error(coef(fits$numbers$fit, lamdba = 1), class = "rlib_error_dots_nonempty")
})

test_that("an object of another version is no crash", {
  old <- structure(list(format = 0L, coefs = 1), class = c("voxridge_logistic", "voxridge_fit"))
  calls <- list(quote(print(old)), quote(summary(old)), quote(coef(old)), quote(predict(old, 1)), quote(fitted(old)),
                quote(residuals(old)), quote(plot(old)), quote(tidy(old)), quote(glance(old)), quote(augment(old)),
                quote(score(old, 1, 1)), quote(predictor(old)))
  for (call in calls) {
    cnd <- expect_error(eval(call), class = "voxridge_error_old_object")
    expect_match(conditionMessage(cnd), "format 0")
  }
})
