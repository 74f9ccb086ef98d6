named_problem <- function(seed) {
  problem <- random_problem(30, 6, 4, seed)
  dimnames(problem$X) <- list(NULL, letters[1:6])
  dimnames(problem$Y) <- list(paste0("s", 1:30), paste0("v", 1:4))
  problem
}

# ---- predictions -----------------------------------------------------------------------------

test_that("predictions are X B plus the intercept, and those of the samples of the fit are the fitted values", {
  for (problem in problem_classes(10L)) {
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- fit_quietly(problem$X, problem$Y, fit_intercept = fit_intercept)
      want <- oracle_fit(problem$X, problem$Y, unname(fit$best_alphas), fit_intercept)
      expect_close(predict(fit, problem$X), oracle_predict(want, problem$X))
      expect_identical(fitted(fit), predict(fit, problem$X))
      expect_identical(predict(fit), fitted(fit))
      expect_close(residuals(fit), problem$Y - fitted(fit), 1e-14)
      expect_close(predict(fit, problem$X[2L, , drop = FALSE]), oracle_predict(want, problem$X)[2L, , drop = FALSE])
    }
  }
})

test_that("primal and dual coefficients give the same coefficients and predictions", {
  new <- random_problem(5, 60, 1, seed = 2)$X
  for (fit_intercept in c(FALSE, TRUE)) {
    for (problem in problem_classes(20L)[c("n > p", "n < p", "t = 1")]) {
      args <- list(problem$X, problem$Y, fit_intercept = fit_intercept)
      primal <- do.call(fit_quietly, args)
      dual <- do.call(fit_quietly, c(args, return_coefs = "dual", keep = "none"))
      columns <- seq_len(ncol(problem$X))
      expect_close(predict(dual, new[, columns]), predict(primal, new[, columns]))
      expect_close(coef(dual), coef(primal))
      expect_close(fitted(dual), fitted(primal))
    }
    problem <- random_bands(30, c(4, 6, 40), 4, seed = 3)
    args <- list(problem$X, problem$Y, problem$bands, n_iter = random_gammas(8, 3, 1), fit_intercept = fit_intercept)
    primal <- do.call(fit_bands_quietly, args)
    dual <- do.call(fit_bands_quietly, c(args, return_coefs = "dual"))
    expect_close(coef(dual), coef(primal))
    expect_close(predict(dual, problem$X[1:3, ]), predict(primal, problem$X[1:3, ]))
    expect_close(fitted(dual), problem$X %*% primal$coefs + if (fit_intercept) rep(primal$intercept, each = 30) else 0)
  }
})

test_that("blocks of targets within a small budget change nothing", {
  problem <- random_bands(30, c(4, 6), 9, seed = 4)
  Y <- problem$Y
  Y[1L, 4L] <- NA
  fits <- list(
    fit_quietly(problem$X, Y, na_targets = "skip"),
    fit_quietly(problem$X, Y, na_targets = "skip", return_coefs = "dual"),
    fit_bands_quietly(problem$Xs, Y, na_targets = "skip", n_iter = 4, seed = 1, return_coefs = "dual")
  )
  for (fit in fits) {
    want <- list(fitted(fit), coef(fit), residuals(fit))
    withr::local_options(voxridge.memory_gb = 8 * 30 * 8 / 1e9)
    expect_gt(length(fit_blocks(fit, 30, 2)), 2L)
    expect_close(fitted(fit)[, -4L], want[[1L]][, -4L], 1e-13)
    expect_close(coef(fit)[, -4L], want[[2L]][, -4L], 1e-13)
    withr::local_options(voxridge.memory_gb = NULL)
  }
})

test_that("names are kept, a vector gives vectors, one column stays a matrix", {
  problem <- named_problem(5)
  fit <- fit_quietly(problem$X, problem$Y)
  expect_identical(dimnames(fitted(fit)), dimnames(problem$Y))
  expect_identical(dimnames(residuals(fit)), dimnames(problem$Y))
  expect_identical(dimnames(coef(fit)), list(letters[1:6], paste0("v", 1:4)))
  new <- problem$X[1:2, ]
  rownames(new) <- c("n1", "n2")
  expect_identical(dimnames(predict(fit, new)), list(c("n1", "n2"), paste0("v", 1:4)))
  vector <- fit_quietly(problem$X, problem$Y[, 1L])
  expect_identical(names(fitted(vector)), paste0("s", 1:30))
  expect_identical(names(residuals(vector)), paste0("s", 1:30))
  expect_identical(predict(vector, new), c(n1 = fitted(vector)[["s1"]], n2 = fitted(vector)[["s2"]]))
  expect_identical(names(coef(vector)), letters[1:6])
  expect_close(unname(fitted(vector) + residuals(vector)), unname(problem$Y[, 1L]), 1e-14)
  column <- fit_quietly(problem$X, problem$Y[, 1L, drop = FALSE])
  for (x in list(fitted(column), residuals(column), predict(column, problem$X), coef(column))) {
    expect_identical(ncol(x), 1L)
  }
  dual <- fit_quietly(problem$X, problem$Y[, 1L], return_coefs = "dual")
  expect_null(dim(coef(dual)))
  expect_close(coef(dual), coef(vector))
  expect_named(coef(dual), letters[1:6])
})

test_that("skipped targets are NA and disturb no other", {
  problem <- named_problem(6)
  Y <- problem$Y
  Y[3L, 2L] <- NA
  want <- fit_quietly(problem$X, problem$Y[, -2L])
  for (form in c("primal", "dual")) {
    fit <- fit_quietly(problem$X, Y, alphas = want$alphas, na_targets = "skip", return_coefs = form)
    for (x in list(fitted(fit), residuals(fit), coef(fit), predict(fit, problem$X))) {
      expect_true(all(is.na(x[, 2L])))
    }
    expect_close(fitted(fit)[, -2L], fitted(want), 1e-12)
    expect_close(coef(fit)[, -2L], coef(want), 1e-12)
  }
})

test_that("verbs that need data say so where none were kept", {
  problem <- named_problem(7)
  fit <- fit_quietly(problem$X, problem$Y, keep = "none")
  expect_close(predict(fit, problem$X), fitted(fit_quietly(problem$X, problem$Y)), 1e-14)
  for (verb in list(fitted, residuals, predict, augment)) expect_error(verb(fit), class = "voxridge_error_no_data")
  expect_error(null_scores(fit), "`fit` must have kept", class = "voxridge_error_no_data")
  dual <- fit_quietly(problem$X, problem$Y, keep = "none", return_coefs = "dual")
  expect_silent(fitted(dual))
  expect_error(residuals(dual), class = "voxridge_error_no_data")
  none <- fit_quietly(problem$X, problem$Y, return_coefs = "none")
  expect_refused(coef(none), "object", "return_coefs")
  expect_refused(predict(none, problem$X), "object")
  expect_refused(fitted(none), "object")
  expect_output(print(none), "coefs: +none")
  expect_error(predict(fit, problem$X, type = "response"), "type")
  expect_error(predict(fit, problem$X, bands = 1:6), "bands")
  expect_error(coef(fit, intercept = TRUE))
  expect_error(fitted(fit, 1))
})

# ---- print and summary -----------------------------------------------------------------------

test_that("printing is short, returns its input, and shows no coefficients", {
  problem <- random_bands(30, c(4, 6), 4, seed = 8)
  fit <- fit_bands_quietly(problem$Xs, problem$Y, n_iter = 3, seed = 1)
  expect_lte(length(printed(fit)), 15L)
  capture.output(back <- withVisible(print(fit)))
  expect_false(back$visible)
  expect_identical(back$value, fit)
  expect_error(print(fit, digits = 3))
  many <- stats::setNames(lapply(1:9, function(j) problem$X[, j]), paste0("b", 1:9))
  fit <- fit_bands_quietly(many, problem$Y, n_iter = 3, seed = 1)
  expect_match(printed(fit), "b5 \\(1\\) and 4 more$", all = FALSE)
  withr::local_options(voxridge.print_max = 2)
  expect_match(printed(fit), "b2 \\(1\\) and 7 more$", all = FALSE)
})

test_that("print and summary, as they look", {
  skip_on_cran()
  # every number below has three digits at most, far from a rounding edge of the BLAS
  data <- simulate_encoding(n = 120, p = 24, t = 6, n_bands = 3, seed = 1)
  colnames(data$Y) <- paste0("v", 1:6)
  data$Y[, 2L] <- 1
  data$Y[1L, 3L] <- NA
  plain <- fit_quietly(data$X, data$Y, cv = data$runs, na_targets = "skip")
  bands <- fit_bands_quietly(data$Xs, data$Y, cv = data$runs, na_targets = "skip", n_iter = 10, seed = 1)
  expect_snapshot({
    writeLines(printed(plain))
    writeLines(printed(bands))
    summary(plain)
    summary(bands)
    writeLines(printed(fit_quietly(data$X, data$Y[, 1L], alphas = 1, cv = "loo", score_func = "neg_mse")))
    writeLines(printed(fit_quietly(data$X, data$Y[, 4:6], standardize = TRUE, return_coefs = "none",
                                   return_cv_scores = "none", fit_intercept = FALSE)))
  })
})

test_that("a summary counts targets that say something", {
  problem <- random_bands(30, c(4, 6), 5, seed = 9)
  Y <- problem$Y
  Y[, 2L] <- 3
  Y[2L, 4L] <- NA
  fit <- fit_bands_quietly(problem$Xs, Y, n_iter = rbind(c(1, 0), c(1, 1), c(1, 3)), na_targets = "skip")
  out <- summary(fit)
  counted <- c(1L, 3L, 5L)
  expect_s3_class(out, "summary.voxridge_fit")
  expect_identical(out$scores, c(mean = mean(fit$scores[counted]), stats::quantile(fit$scores[counted])))
  expect_identical(unname(out$alphas[["50%"]]), sort(fit$best_alphas[counted])[2L])
  expect_identical(c(out$n_constant, out$n_skipped), c(1L, 1L))
  weights <- fit$gammas[, counted] / rep(colSums(fit$gammas[, counted]), each = 2L)
  expect_equal(out$bands$weight, unname(rowMeans(weights)))
  expect_equal(out$bands$share_without, unname(rowMeans(weights == 0)))
  expect_identical(out$bands$n_features, c(4L, 6L))
  expect_null(summary(fit_quietly(problem$X, problem$Y))$bands)
  capture.output(back <- withVisible(print(out)))
  expect_false(back$visible)
})

test_that("a fit of which no target counts still prints", {
  X <- random_problem(20, 3, 1, seed = 11)$X
  fit <- fit_quietly(X, cbind(rep(1, 20), NA), na_targets = "skip")
  expect_match(printed(fit), "no target that counts", all = FALSE)
  expect_output(print(summary(fit)), "constant: +1")
  expect_identical(glance(fit)$score_mean, NA_real_)
})

test_that("a mask of a single voxel is printed as one", {
  problem <- random_problem(20, 2, 1, 1)
  Y <- structure(problem$Y, mask = brain_mask(array(c(0, 1), c(2, 1, 1))))
  expect_match(printed(fit_quietly(problem$X, Y)), "mask: +1 voxel of 2 x 1 x 1", all = FALSE)
})
