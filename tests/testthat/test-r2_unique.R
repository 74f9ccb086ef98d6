unique_quietly <- function(...) r2_unique(..., progress = FALSE)

fit_all <- function(problem, ...) band_quietly(problem$Xs, problem$Y, n_iter = 6, alphas = 10^(-1:2), seed = 1, ...)

test_that("unique variance is that of explicit refits in every training set", {
  for (problem in band_problems()) {
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- fit_all(problem, fit_intercept = fit_intercept)
      got <- unique_quietly(fit, problem$Xs, problem$Y, cv = 4)
      expect_close(got, oracle_unique(problem$Xs, problem$Y, unname(fit$gammas), unname(fit$best_alphas), 4,
                                      fit_intercept))
      expect_identical(rownames(got), names(problem$Xs))
    }
  }
})

test_that("a band of weight 0 has 0, and the last band is compared with the mean", {
  problem <- random_bands(30, c(4, 6), 3, seed = 5)
  for (fit_intercept in c(FALSE, TRUE)) {
    fit <- band_quietly(problem$Xs, problem$Y, n_iter = rbind(c(0, 1)), fit_intercept = fit_intercept)
    got <- unique_quietly(fit, problem$Xs, problem$Y)
    expect_identical(unname(got[1L, ]), rep(0, 3))
    expect_close(got, oracle_unique(problem$Xs, problem$Y, unname(fit$gammas), unname(fit$best_alphas), 5,
                                    fit_intercept))
  }
})

test_that("the intercept is that of the fit, or what is said", {
  problem <- random_bands(30, c(4, 6), 3, seed = 6)
  Y <- problem$Y + 3
  with <- band_quietly(problem$Xs, Y, n_iter = 3, seed = 1, fit_intercept = TRUE)
  expect_identical(unique_quietly(with, problem$Xs, Y), unique_quietly(with, problem$Xs, Y, fit_intercept = TRUE))
  expect_false(isTRUE(all.equal(unique_quietly(with, problem$Xs, Y),
                                unique_quietly(with, problem$Xs, Y, fit_intercept = FALSE))))
})

test_that("neither coefficients nor the order of bands and targets matter", {
  problem <- random_bands(30, c(4, 6), 5, seed = 7)
  fit <- fit_all(problem, return_coefs = "none", fit_intercept = TRUE)
  want <- unique_quietly(fit, problem$Xs, problem$Y)
  expect_close(unique_quietly(fit, rev(problem$Xs), problem$Y), want, 1e-12)
  expect_close(unique_quietly(fit, problem$X, problem$Y, bands = problem$bands), want, 1e-12)
  backwards <- problem
  backwards$Y <- problem$Y[, 5:1]
  expect_close(unique_quietly(fit_all(backwards, fit_intercept = TRUE), problem$Xs, backwards$Y), want[, 5:1], 1e-12)
})

test_that("skipped targets are NA, constant ones 0, and a vector gives a vector", {
  problem <- random_bands(30, c(4, 6), 4, seed = 8)
  want <- unique_quietly(fit_all(problem), problem$Xs, problem$Y)
  Y <- problem$Y
  Y[1L, 2L] <- NA
  Y[, 3L] <- 0
  problem$Y <- Y
  got <- unique_quietly(fit_all(problem, na_targets = "skip"), problem$Xs, Y)
  expect_true(all(is.na(got[, 2L])))
  expect_identical(unname(got[, 3L]), c(0, 0))
  expect_close(got[, c(1L, 4L)], want[, c(1L, 4L)], 1e-12)
  problem$Y <- Y[, 1L]
  one <- unique_quietly(fit_all(problem), problem$Xs, Y[, 1L])
  expect_null(dim(one))
  expect_named(one, c("motion", "words"))
  expect_close(one, want[, 1L], 1e-12)
})

test_that("columns are grouped where they are equal in every row", {
  x <- rbind(c(1, 2, 1, 1, 2), c(0, 0, 0, 1e-300, 0))
  expect_identical(same_columns(x, 1:5), list(c(1L, 3L), c(2L, 5L), 4L))
  expect_identical(same_columns(x, c(2L, 4L, 5L)), list(c(2L, 5L), 4L))
  expect_identical(same_columns(x, integer()), list())
})

test_that("what is no banded fit, and folds without predictions, are refused", {
  problem <- random_bands(30, c(4, 6), 4, seed = 9)
  fit <- fit_all(problem)
  Xs <- problem$Xs
  Y <- problem$Y
  expect_refused(unique_quietly(solve_quietly(problem$X, Y), Xs, Y), "fit")
  expect_refused(unique_quietly(1, Xs, Y), "fit")
  expect_refused(unique_quietly(fit, Xs, Y, cv = "gcv"), "cv")
  expect_refused(unique_quietly(fit, Xs, Y, cv = 30), "cv")
  expect_refused(unique_quietly(fit, Xs, Y, cv = 31), "cv")
  expect_refused(unique_quietly(fit, Xs, Y, fit_intercept = 1), "fit_intercept")
  expect_refused(unique_quietly(fit, Xs, Y[, -1L]), "Y", "4")
  expect_error(unique_quietly(fit, Xs["motion"], Y), "words", class = "voxridge_error_bands")
  cnd <- expect_error(r2_unique(fit, Xs["motion"], Y))
  expect_identical(as.character(conditionCall(cnd)[[1L]]), "r2_unique")
})
