# Faults found in other projects that do this, each as a test of the whole kind of fault, with the right value.

test_that("integer X and alphas are numbers, not truncated into", {
  X <- matrix(c(1L, 2L, 3L, 5L, 7L, 11L, 2L, 9L), 4)
  Y <- matrix(c(1L, 0L, 3L, 1L), 4)
  B <- ridge_svd(X, Y, alpha = 1L)
  expect_true(all(B != round(B)))
  expect_close(B, oracle_coefs(X + 0, Y, 1))
  fit <- solve_quietly(X, Y, alphas = 1:2, cv = 2, score_func = "neg_mse")
  expect_close(fit$cv_scores, oracle_cv_scores(X + 0, Y, 1:2, 2, "neg_mse"))
})

test_that("a bad target never changes the shared alpha of the others", {
  alphas <- 10^(-2:4)
  for (seed in 1:5) {
    problem <- random_problem(30, 10, 6, seed)
    want <- solve_quietly(problem$X, problem$Y, alphas = alphas, local_alpha = FALSE)
    # constant voxels score 0 for every alpha, so they move no argmax
    constant <- cbind(problem$Y, 0, 5, 0.1, 1e8)
    got <- solve_quietly(problem$X, constant, alphas = alphas, local_alpha = FALSE)
    expect_identical(got$best_alphas[1:6], want$best_alphas)
    expect_close(got$coefs[, 1:6], want$coefs, 1e-12)
    # NaN targets are an error, or left out
    bad <- cbind(problem$Y, NaN)
    expect_error(solve_ridge_cv(problem$X, bad, local_alpha = FALSE), class = "voxridge_error_nonfinite")
    skipped <- solve_quietly(problem$X, bad, alphas = alphas, local_alpha = FALSE, na_targets = "skip")
    expect_identical(skipped$best_alphas[1:6], want$best_alphas)
    expect_true(is.na(skipped$best_alphas[7L]) && all(is.na(skipped$coefs[, 7L])))
  }
})

test_that("a voxel without variance scores 0, whatever its value, and near-constant ones too", {
  problem <- random_problem(30, 5, 1, seed = 1)
  constants <- c(0, 1, 0.1, -7, 1e-300, 1e15, 1 / 3)
  Y <- matrix(rep(constants, each = 30), 30)
  Y[2L, 3L] <- 0.1 * (1 + EPS)
  for (score_func in c("r2", "correlation")) {
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- solve_quietly(problem$X, Y, score_func = score_func, fit_intercept = fit_intercept)
      expect_true(all(fit$cv_scores == 0))
      expect_identical(as.integer(fit$diagnostics$constant_targets), seq_along(constants))
    }
  }
  # three values of 0.1 have a variance of rounding errors
  tenths <- matrix(0.1, 6, 1)
  expect_true(all(solve_quietly(problem$X[1:6, ], tenths, cv = 2)$cv_scores == 0))
})

test_that("a small but real variance is not taken for constant", {
  problem <- random_problem(30, 5, 2, seed = 2, noise = 0.1)
  # noise of 1e-8 around 1: sd is 1e8 times the rounding
  fit <- solve_quietly(problem$X, 1 + 1e-8 * problem$Y, alphas = 0.01, fit_intercept = TRUE)
  expect_length(fit$diagnostics$constant_targets, 0L)
  expect_true(all(colMeans(fit$cv_scores[, 1L, ]) > 0.9))
})

test_that("negative alphas are refused, alpha 0 alone is least squares", {
  problem <- random_problem(30, 5, 2, seed = 3)
  for (alphas in list(-1, c(1, -1e-300), c(-Inf, 1))) {
    expect_error(solve_ridge_cv(problem$X, problem$Y, alphas = alphas), class = "voxridge_error_alphas")
    expect_error(ridge_cv(problem$X, problem$Y, alphas = alphas), class = "voxridge_error_alphas")
  }
  fit <- solve_quietly(problem$X, problem$Y, alphas = 0)
  expect_identical(unname(fit$best_alphas), c(0, 0))
  expect_close(fit$coefs, qr.solve(problem$X, problem$Y))
  expect_identical(ridge_cv(problem$X, problem$Y, alphas = 0)$alpha, 0)
})

test_that("zero and duplicate columns with alpha 0 give finite, minimum-norm coefficients", {
  problem <- random_problem(20, 4, 2, seed = 4)
  X <- cbind(problem$X, 0, problem$X[, 1L], problem$X[, 2L])
  for (cv in list(4, "loo", "gcv")) {
    fit <- solve_quietly(X, problem$Y, alphas = 0, cv = cv, score_func = "neg_mse")
    expect_close(fit$coefs, oracle_coefs(X, problem$Y, 0))
    expect_lt(max(abs(fit$coefs)), 10)
    expect_true(all(is.finite(fit$cv_scores)))
  }
  wide <- random_problem(10, 40, 2, seed = 5)
  expect_close(ridge_svd(wide$X, wide$Y, alpha = 0), oracle_coefs(wide$X, wide$Y, 0))
})

test_that("leave-one-out with r2 is an error with a way out, not the largest alpha for all", {
  problem <- random_problem(15, 3, 2, seed = 6)
  for (cv in list(15, seq_len(15), as.list(seq_len(15)))) {
    cnd <- expect_error(solve_ridge_cv(problem$X, problem$Y, cv = cv, score_func = "r2"),
                        class = "voxridge_error_score")
    expect_match(conditionMessage(cnd), "neg_mse")
    expect_match(conditionMessage(cnd), "loo")
  }
})

test_that("folds are fixed before any work, also where they were shuffled without a seed", {
  problem <- random_problem(40, 6, 3, seed = 7)
  folds <- withr::with_seed(1, cv_folds(seq_len(40), shuffle = TRUE))
  first <- withr::with_seed(2, solve_quietly(problem$X, problem$Y, cv = folds))
  second <- withr::with_seed(3, solve_quietly(problem$X, problem$Y, cv = folds))
  expect_identical(first, second)
})

test_that("solvers leave R's generator alone", {
  problem <- random_problem(20, 4, 2, seed = 8)
  withr::local_seed(9)
  before <- .Random.seed
  solve_quietly(problem$X, problem$Y)
  cross_val_predict_ridge(problem$X, problem$Y, alphas = 1)
  expect_identical(.Random.seed, before)
})

test_that("every target is fitted, whatever the batch", {
  problem <- random_problem(20, 4, 31, seed = 10)
  for (size in c(2, 7, 10, 30, 31, 100)) {
    fit <- solve_quietly(problem$X, problem$Y, n_targets_batch = size, n_targets_batch_refit = size)
    expect_false(anyNA(fit$coefs) || anyNA(fit$best_alphas) || anyNA(fit$cv_scores))
    expect_close(fit$coefs, oracle_fit(problem$X, problem$Y, unname(fit$best_alphas))$coefs)
  }
})

test_that("runs are the usual folds: labels work everywhere", {
  problem <- random_problem(24, 5, 3, seed = 11)
  runs <- rep(c("r1", "r2", "r3"), each = 8)
  by_run <- cross_val_predict_ridge(problem$X, problem$Y, alphas = 2, cv = runs)
  expect_close(by_run$predictions, oracle_cross_val_predict(problem$X, problem$Y, 2, runs)$predictions)
  expect_identical(solve_quietly(problem$X, problem$Y, cv = runs)$coefs,
                   solve_quietly(problem$X, problem$Y, cv = 3)$coefs)
})

test_that("one penalty per target costs about what one penalty costs", {
  skip_on_cran()
  problem <- random_problem(300, 300, 500, seed = 12)
  alphas <- 10^seq(-2, 4, length.out = 500)
  seconds <- function(alpha) min(replicate(3, system.time(ridge_svd(problem$X, problem$Y, alpha = alpha))[["elapsed"]]))
  # solving per penalty would take 500 times as long; 10 times and a tenth of a second leave room for a busy machine
  expect_lt(seconds(alphas), 10 * seconds(1) + 0.1)
  picks <- c(1L, 250L, 500L)
  expect_close(ridge_svd(problem$X, problem$Y, alpha = alphas)[, picks],
               oracle_fit(problem$X, problem$Y[, picks], alphas[picks])$coefs, 1e-8)
})

test_that("the smaller Gram matrix is taken without being asked", {
  expect_identical(do.call(solve_quietly, unname(random_problem(20, 90, 2, seed = 13)))$diagnostics$info$form, "dual")
  expect_identical(do.call(solve_quietly, unname(random_problem(90, 20, 2, seed = 13)))$diagnostics$info$form, "primal")
})

test_that("a grid that is too narrow is told, with the share of targets", {
  problem <- random_problem(40, 10, 40, seed = 14)
  cnd <- expect_warning(solve_ridge_cv(problem$X, problem$Y, alphas = c(1e5, 1e6), progress = FALSE),
                        class = "voxridge_warning_alpha_at_edge")
  expect_true(sum(cnd$share_at_edge) > 0.05)
  expect_match(conditionMessage(cnd), "alpha_grid")
  # wide enough: nobody at the ends
  strong <- random_problem(60, 40, 40, seed = 15, noise = 1.5)
  expect_silent(solve_ridge_cv(strong$X, strong$Y, alphas = 10^(-8:8), progress = FALSE))
})
