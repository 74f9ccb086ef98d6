# ---- held-out predictions --------------------------------------------------------------------

test_that("held-out predictions are those of models of the training rows", {
  for (problem in problem_classes(10L)[c("n > p", "n < p", "t = 1")]) {
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- fit_quietly(problem$X, problem$Y, cv = 4, fit_intercept = fit_intercept)
      want <- oracle_cross_val_predict(problem$X, problem$Y, unname(fit$best_alphas), 4, "r2", fit_intercept)
      got <- held_out_predictions(fit)
      expect_close(got, want$predictions)
      # their scores are the scores of the fit
      by_fold <- vapply(fit$folds$test, function(rows) {
        oracle_scores(problem$Y[rows, , drop = FALSE], got[rows, , drop = FALSE], "r2")
      }, numeric(ncol(problem$Y)))
      expect_close(rowMeans(matrix(by_fold, ncol(problem$Y))), fit$scores)
    }
  }
})

test_that("so are those of bands, of scaled features, and of leave-one-out", {
  problem <- random_bands(32, c(4, 6, 3), 5, seed = 2)
  fit <- fit_bands_quietly(problem$Xs, problem$Y, cv = 4, n_iter = random_gammas(6, 3, 1))
  got <- held_out_predictions(fit)
  for (j in 1:5) {
    Z <- oracle_scale(problem$Xs, fit$gammas[, j])
    want <- oracle_cross_val_predict(Z, problem$Y[, j, drop = FALSE], fit$best_alphas[j], 4, "r2", TRUE)
    expect_close(got[, j], want$predictions[, 1L])
  }
  X <- problem$X * rep(3^(1:13 %% 4), each = 32)
  folds <- list(list(train = c(1:20, 1:5), test = 21:30), list(train = 10:32, test = 9:3))
  fit <- fit_quietly(X, problem$Y, cv = folds, standardize = TRUE)
  got <- held_out_predictions(fit)
  for (fold in folds) {
    scales <- apply(X[fold$train, ], 2L, sd)
    Z <- sweep(X, 2L, scales, "/")
    model <- oracle_fit(Z[fold$train, ], problem$Y[fold$train, ], fit$best_alphas, TRUE)
    expect_close(got[fold$test, ], oracle_predict(model, Z[fold$test, ]))
  }
  expect_true(all(is.na(got[c(1:2, 31:32), ])))
  loo <- fit_quietly(problem$X, problem$Y, cv = "loo")
  want <- oracle_cross_val_predict(problem$X, problem$Y, loo$best_alphas, as.list(1:32), "neg_mse", TRUE)$predictions
  expect_close(held_out_predictions(loo), want, 1e-8)
})

test_that("skipped targets are NA, names are kept", {
  problem <- random_problem(30, 6, 4, seed = 3)
  Y <- problem$Y
  dimnames(Y) <- list(paste0("s", 1:30), paste0("v", 1:4))
  Y[1L, 2L] <- NA
  fit <- fit_quietly(problem$X, Y, na_targets = "skip")
  got <- held_out_predictions(fit)
  expect_identical(dimnames(got), dimnames(Y))
  expect_true(all(is.na(got[, 2L])))
  nulls <- null_scores(fit, 2, seed = 1)
  expect_identical(colnames(nulls), colnames(Y))
  expect_identical(is.na(nulls[1L, ]), c(v1 = FALSE, v2 = TRUE, v3 = FALSE, v4 = FALSE))
})

# ---- shifted responses -----------------------------------------------------------------------

test_that("null scores are those of shifted responses, fold by fold", {
  problem <- random_problem(43, 6, 4, seed = 4)
  for (cv in list(3, rep(c("a", "b", "c"), length.out = 43), list(c(20:1), 21:43))) {
    for (word in c("r2", "neg_mse", "correlation")) {
      fit <- fit_quietly(problem$X, problem$Y, cv = cv, score_func = word)
      predictions <- held_out_predictions(fit)
      rows <- lapply(fit$folds$test, sort)
      shifts <- draw_shifts(shifted_folds(fit, NULL, NULL), 3L, 7)
      want <- matrix(0, 3L, 4L)
      for (i in 1:3) {
        for (f in seq_along(rows)) {
          r <- rows[[f]]
          moved <- r[((seq_along(r) + shifts[f, i] - 1) %% length(r)) + 1]
          want[i, ] <- want[i, ] + oracle_scores(problem$Y[moved, ], predictions[r, ], word) / length(rows)
        }
      }
      expect_close(null_scores(fit, 3, seed = 7), want)
    }
  }
})

test_that("shifts keep their distance from the true alignment, either way round", {
  for (sizes in list(c(10, 23, 4), c(2, 3), 100)) {
    blocks <- list(rows = lapply(sizes, seq_len), least = as.integer(ceiling(sizes / 10)))
    shifts <- draw_shifts(blocks, 500L, 3)
    expect_identical(dim(shifts), c(length(sizes), 500L))
    for (f in seq_along(sizes)) {
      possible <- seq(blocks$least[f], sizes[f] - blocks$least[f])
      expect_setequal(shifts[f, ], possible)
    }
  }
  problem <- random_problem(40, 5, 3, seed = 5)
  fit <- fit_quietly(problem$X, problem$Y, cv = 4)
  expect_identical(shifted_folds(fit, NULL, NULL)$least, rep(1L, 4))
  # exactly half of a fold: one shift is left
  halves <- null_scores(fit, 4, min_shift = 5, seed = 1)
  expect_identical(halves, halves[rep(1L, 4), ])
})

test_that("a seed fixes the shifts, the first do not depend on how many follow", {
  problem <- random_problem(60, 5, 3, seed = 6)
  fit <- fit_quietly(problem$X, problem$Y, cv = 3)
  a <- null_scores(fit, 6, seed = 1)
  expect_identical(null_scores(fit, 6, seed = 1), a)
  expect_identical(null_scores(fit, 2, seed = 1), a[1:2, ])
  expect_identical(null_scores(fit, 6, seed = 1, n_threads = 1), a)
  expect_false(any(null_scores(fit, 6, seed = 2) == a))
  set.seed(3)
  b <- null_scores(fit, 2)
  set.seed(3)
  expect_identical(null_scores(fit, 2), b)
  withr::with_seed(4, {
    before <- .Random.seed
    null_scores(fit, 1, seed = 1)
    expect_identical(.Random.seed, before)
  })
})

test_that("white noise scores as its null does, signal scores above it", {
  withr::local_seed(7)
  n <- 300
  X <- matrix(rnorm(n * 8), n)
  Y <- cbind(matrix(rnorm(n * 60), n), X %*% matrix(rnorm(8 * 20), 8) + matrix(rnorm(n * 20), n))
  fit <- fit_quietly(X, Y, cv = 6, score_func = "correlation", alphas = 10^(-1:4))
  nulls <- null_scores(fit, 40, seed = 1)
  noise <- fit$scores[1:60]
  # correlations of 50 samples, averaged over 6 folds: a standard deviation of about 0.058
  expect_lt(abs(mean(nulls)), 0.02)
  expect_lt(abs(stats::sd(nulls) - 1 / sqrt(49 * 6)), 0.01)
  expect_lt(abs(mean(noise) - mean(nulls)), 3 * stats::sd(nulls) / sqrt(60))
  expect_true(all(fit$scores[61:80] > 0.3))
  expect_true(all(nulls[, 61:80] < 0.3))
})

test_that("vectors, bands, leave-one-out and functions", {
  problem <- random_bands(40, c(4, 6), 3, seed = 8)
  one <- fit_quietly(problem$X, problem$Y[, 2L], cv = 4)
  got <- null_scores(one, 3, seed = 1)
  expect_null(dim(got))
  all <- fit_quietly(problem$X, problem$Y, cv = 4)
  expect_close(got, null_scores(all, 3, seed = 1)[, 2L])
  bands <- fit_bands_quietly(problem$Xs, problem$Y, n_iter = 4, seed = 1)
  expect_identical(dim(null_scores(bands, 2, seed = 1)), c(2L, 3L))
  loo <- fit_quietly(problem$X, problem$Y, cv = "loo")
  expect_identical(dim(null_scores(loo, seed = 1)), c(1L, 3L))
  mse <- function(y_true, y_pred) -colMeans((y_true - y_pred)^2)
  by_function <- fit_quietly(problem$X, problem$Y, alphas = all$alphas, score_func = mse)
  by_word <- fit_quietly(problem$X, problem$Y, alphas = all$alphas, score_func = "neg_mse")
  expect_close(null_scores(by_function, 2, seed = 1), null_scores(by_word, 2, seed = 1))
})

test_that("bad input is refused", {
  problem <- random_problem(30, 6, 3, seed = 9)
  fit <- fit_quietly(problem$X, problem$Y, cv = 3)
  expect_refused(null_scores(solve_quietly(problem$X, problem$Y)), "fit")
  expect_refused(null_scores(fit, 0), "n_shifts")
  expect_error(null_scores(fit, .Machine$integer.max), class = "voxridge_error_memory")
  expect_refused(null_scores(fit, min_shift = 6), "min_shift", "10")
  expect_refused(null_scores(fit, min_shift = 0), "min_shift")
  expect_refused(null_scores(fit, seed = -1), "seed")
  expect_refused(null_scores(fit, n_threads = 0), "n_threads")
  expect_refused(null_scores(fit_quietly(problem$X, problem$Y, cv = "gcv")), "fit", "gcv")
  single <- fit_quietly(problem$X, problem$Y, cv = 30, score_func = "neg_mse")
  expect_refused(null_scores(single), "fit", "2 held-out samples")
  twice <- list(list(train = 1:10, test = 11:30), list(train = 1:20, test = 21:30))
  again <- fit_quietly(problem$X, problem$Y, cv = twice)
  cnd <- expect_refused(null_scores(again), "fit", "at most once")
  expect_identical(as.character(conditionCall(cnd)[[1L]]), "null_scores")
  expect_refused(null_scores(fit_quietly(problem$X, problem$Y, keep = "none")), "fit")
})
