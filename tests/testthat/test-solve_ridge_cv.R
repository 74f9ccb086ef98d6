ALPHAS <- c(0.1, 1, 10, 100)

expect_solves <- function(got, want) {
  expect_identical(unname(got$best_alphas), want$best_alphas)
  expect_close(got$cv_scores, want$cv_scores)
  expect_close(got$coefs, want$coefs)
  if (!is.null(got$intercept)) expect_close(got$intercept, want$intercept)
}

test_that("every class of problem agrees with normal equations and explicit folds", {
  for (problem in problem_classes()) {
    for (score_func in c("r2", "neg_mse", "correlation")) {
      for (fit_intercept in c(FALSE, TRUE)) {
        got <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = 4, score_func = score_func,
                             fit_intercept = fit_intercept)
        expect_solves(got, oracle_solve(problem$X, problem$Y, ALPHAS, 4, score_func = score_func,
                                        fit_intercept = fit_intercept))
        expect_identical(is.null(got$intercept), !fit_intercept)
      }
    }
  }
})

test_that("the answer has the documented parts", {
  problem <- random_problem(30, 8, 4, seed = 1)
  fit <- solve_quietly(problem$X, problem$Y, fit_intercept = TRUE)
  expect_true(all(c("best_alphas", "coefs", "cv_scores", "backend", "intercept", "diagnostics") %in% names(fit)))
  expect_identical(dim(fit$coefs), c(8L, 4L))
  expect_identical(dim(fit$cv_scores), c(5L, 3L, 4L))
  expect_length(fit$best_alphas, 4L)
  expect_length(fit$intercept, 4L)
  expect_identical(fit$backend, "armadillo")
  expect_true(all(fit$best_alphas %in% c(0.1, 1, 10)))
})

# ---- folds -----------------------------------------------------------------------------------

test_that("folds can be a count, labels, held-out rows, or train and test rows", {
  problem <- random_problem(23, 6, 3, seed = 2)
  labels <- rep(c("b", "a", "c"), length.out = 23)
  held_out <- list(c(1:5, 20L), 6:12, c(13:19, 21:23))
  overlapping <- list(list(train = c(1:15, 1:5), test = 16:20), list(train = 5:23, test = 1:4),
                      list(train = 10:20, test = c(2L, 22L)))
  for (cv in list(2, 5L, 22, labels, factor(labels, c("c", "b", "a")), held_out, overlapping)) {
    got <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = cv, score_func = "neg_mse", fit_intercept = TRUE)
    expect_solves(got, oracle_solve(problem$X, problem$Y, ALPHAS, cv, score_func = "neg_mse", fit_intercept = TRUE))
  }
})

test_that("the first folds of a count are one larger where it does not divide", {
  problem <- random_problem(11, 3, 2, seed = 3)
  blocks <- solve_quietly(problem$X, problem$Y, cv = 4)
  labels <- solve_quietly(problem$X, problem$Y, cv = c(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4))
  expect_identical(blocks$cv_scores, labels$cv_scores, ignore_attr = TRUE)
})

test_that("the order of samples inside folds does not matter beyond rounding", {
  problem <- random_problem(30, 6, 3, seed = 4)
  labels <- rep(1:5, each = 6)
  shuffled <- withr::with_seed(1, sample(30))
  a <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = labels, fit_intercept = TRUE)
  b <- solve_quietly(problem$X[shuffled, ], problem$Y[shuffled, ], alphas = ALPHAS, cv = labels[shuffled],
                     fit_intercept = TRUE)
  expect_identical(a$best_alphas, b$best_alphas)
  expect_close(b$cv_scores, a$cv_scores)
  expect_close(b$coefs, a$coefs)
})

test_that("training means are used in every fold, so held-out rows never leak", {
  # a huge offset in the held-out rows alone must not reach the model that predicts them
  problem <- random_problem(20, 4, 2, seed = 5)
  Y <- problem$Y
  Y[1:5, ] <- Y[1:5, ] + 100
  got <- solve_quietly(problem$X, Y, alphas = 1, cv = 4, score_func = "neg_mse", fit_intercept = TRUE)
  train <- oracle_fit(problem$X[-(1:5), ], Y[-(1:5), ], 1, fit_intercept = TRUE)
  expect_close(got$cv_scores[1L, 1L, ], -colMeans((Y[1:5, ] - oracle_predict(train, problem$X[1:5, ]))^2))
})

test_that("leave-one-out in closed form equals literal refits, GCV its definition", {
  for (problem in problem_classes(20L)) {
    for (fit_intercept in c(FALSE, TRUE)) {
      loo <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = "loo", score_func = "neg_mse",
                           fit_intercept = fit_intercept)
      want <- oracle_loo(problem$X, problem$Y, ALPHAS, fit_intercept)
      expect_close(matrix(loo$cv_scores, nrow(want)), want, 1e-8)
      expect_identical(unname(loo$best_alphas), ALPHAS[oracle_choose(array(want, c(1L, dim(want))), ALPHAS)])
      expect_close(loo$coefs, oracle_fit(problem$X, problem$Y, loo$best_alphas, fit_intercept)$coefs)
      gcv <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = "gcv", score_func = "neg_mse",
                           fit_intercept = fit_intercept)
      expect_close(matrix(gcv$cv_scores, nrow(want)), oracle_gcv(problem$X, problem$Y, ALPHAS, fit_intercept), 1e-8)
    }
  }
})

test_that("folds of one sample are refused with r2 and correlation, and work with neg_mse", {
  problem <- random_problem(12, 3, 2, seed = 6)
  for (score_func in c("r2", "correlation")) {
    expect_error(solve_ridge_cv(problem$X, problem$Y, cv = 12, score_func = score_func), "neg_mse",
                 class = "voxridge_error_score")
  }
  got <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, cv = 12, score_func = "neg_mse")
  expect_close(apply(got$cv_scores, 2:3, mean), oracle_loo(problem$X, problem$Y, ALPHAS))
})

# ---- choice ----------------------------------------------------------------------------------

test_that("local_alpha = FALSE shares the alpha with the best mean over targets", {
  for (problem in problem_classes(40L)) {
    got <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, local_alpha = FALSE)
    expect_solves(got, oracle_solve(problem$X, problem$Y, ALPHAS, local_alpha = FALSE))
    expect_length(unique(got$best_alphas), 1L)
  }
})

test_that("conservative takes the largest alpha within one population sd of the best", {
  alphas <- 10^seq(-2, 3, length.out = 12)
  chosen <- NULL
  for (seed in 1:10) {
    problem <- random_problem(30, 10, 4, seed, noise = 3)
    got <- solve_quietly(problem$X, problem$Y, alphas = alphas, conservative = TRUE)
    want <- oracle_solve(problem$X, problem$Y, alphas, conservative = TRUE)
    expect_solves(got, want)
    chosen <- c(chosen, want$index - oracle_choose(want$cv_scores, alphas))
  }
  # the rule must have had work to do here
  expect_gt(mean(chosen > 0), 0.3)
})

test_that("conservative is for one alpha per target only", {
  problem <- random_problem(20, 4, 2, seed = 7)
  expect_error(solve_ridge_cv(problem$X, problem$Y, local_alpha = FALSE, conservative = TRUE),
               class = "voxridge_error_conflict")
})

test_that("ties go to the larger alpha, in both precisions and any order of the grid", {
  problem <- random_problem(20, 5, 3, seed = 8)
  Y <- cbind(0 * problem$Y[, 1L], problem$Y[, 2L])
  for (precision in c("double", "single")) {
    for (alphas in list(c(0.1, 1, 10), c(10, 0.1, 1), c(1, 10, 0.1, 10))) {
      fit <- suppressWarnings(solve_ridge_cv(problem$X, Y, alphas = alphas, score_func = "neg_mse",
                                             precision = precision, progress = FALSE))
      expect_identical(unname(fit$best_alphas[1L]), 10)
    }
  }
  # X without any variance: every alpha predicts the same for every target
  flat <- solve_quietly(matrix(3, 20, 2), problem$Y, alphas = c(1, 100, 10), fit_intercept = TRUE)
  expect_identical(unname(flat$best_alphas), rep(100, 3))
})

test_that("chosen alphas are bit-equal to values of the grid, whatever its order", {
  problem <- random_problem(30, 8, 6, seed = 9)
  alphas <- withr::with_seed(1, exp(runif(15, -5, 8)))
  fit <- solve_quietly(problem$X, problem$Y, alphas = alphas)
  expect_true(all(fit$best_alphas %in% alphas))
  expect_identical(unname(fit$best_alphas), alphas[fit$diagnostics$alpha_index])
  sorted <- solve_quietly(problem$X, problem$Y, alphas = sort(alphas))
  expect_identical(sorted$best_alphas, fit$best_alphas)
  expect_close(fit$cv_scores[, order(alphas), ], sorted$cv_scores)
})

test_that("over 5 % of targets at an end of the grid gives a classed warning with the share", {
  problem <- random_problem(30, 8, 10, seed = 10)
  expect_warning(solve_ridge_cv(problem$X, problem$Y, alphas = c(1e-9, 1e-8), progress = FALSE), "%",
                 class = "voxridge_warning_alpha_at_edge")
  # one alpha has no ends
  expect_silent(solve_ridge_cv(problem$X, problem$Y, alphas = 1, progress = FALSE))
})

# ---- alpha 0 ---------------------------------------------------------------------------------

test_that("alpha 0 is minimum-norm least squares, selectable like any other", {
  for (problem in problem_classes(60L)) {
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- solve_quietly(problem$X, problem$Y, alphas = 0, score_func = "neg_mse", fit_intercept = fit_intercept)
      want <- oracle_solve(problem$X, problem$Y, 0, score_func = "neg_mse", fit_intercept = fit_intercept)
      # square problems have condition numbers of a few hundred here
      expect_close(fit$coefs, want$coefs, 1e-8)
      expect_close(fit$cv_scores, want$cv_scores, 1e-8)
      expect_identical(unname(fit$best_alphas), rep(0, ncol(problem$Y)))
    }
  }
  # without noise nothing beats least squares
  exact <- random_problem(40, 5, 3, seed = 11, noise = 0)
  fit <- solve_quietly(exact$X, exact$Y, alphas = c(0, 1, 10))
  expect_identical(unname(fit$best_alphas), rep(0, 3))
})

# ---- constant targets ------------------------------------------------------------------------

test_that("constant and nearly constant targets score 0 and are listed", {
  problem <- random_problem(30, 5, 6, seed = 12)
  Y <- problem$Y
  Y[, 2L] <- 0
  Y[, 3L] <- 7
  Y[, 4L] <- 0.1 + c(-1, 0, 1) * EPS / 16
  for (score_func in c("r2", "correlation")) {
    for (fit_intercept in c(FALSE, TRUE)) {
      fit <- solve_quietly(problem$X, Y, alphas = ALPHAS, score_func = score_func, fit_intercept = fit_intercept)
      expect_true(all(fit$cv_scores[, , 2:4] == 0))
      expect_true(all(is.finite(fit$cv_scores)))
      expect_identical(as.integer(fit$diagnostics$constant_targets), 2:4)
      expect_identical(unname(fit$best_alphas[2:4]), rep(100, 3))
    }
  }
  got <- solve_quietly(problem$X, Y, alphas = ALPHAS, score_func = "neg_mse", fit_intercept = TRUE)
  expect_close(got$cv_scores, oracle_cv_scores(problem$X, Y, ALPHAS, 5, "neg_mse", TRUE))
})

test_that("a target that is constant in one fold only scores 0 there", {
  problem <- random_problem(20, 3, 2, seed = 13)
  Y <- problem$Y
  Y[1:5, 1L] <- 1.5
  fit <- solve_quietly(problem$X, Y, alphas = ALPHAS, cv = 4)
  expect_true(all(fit$cv_scores[1L, , 1L] == 0))
  expect_close(fit$cv_scores, oracle_cv_scores(problem$X, Y, ALPHAS, 4))
})

test_that("a constant prediction has correlation 0", {
  problem <- random_problem(20, 2, 3, seed = 14)
  X <- matrix(1, 20, 2)
  fit <- solve_quietly(X, problem$Y, alphas = ALPHAS, score_func = "correlation", fit_intercept = TRUE)
  expect_true(all(fit$cv_scores == 0))
})

# ---- what is returned ------------------------------------------------------------------------

test_that("dual coefficients give the primal ones, and none gives neither", {
  for (problem in problem_classes(80L)) {
    for (fit_intercept in c(FALSE, TRUE)) {
      solve <- function(return_coefs) {
        solve_quietly(problem$X, problem$Y, alphas = ALPHAS, fit_intercept = fit_intercept, return_coefs = return_coefs)
      }
      primal <- solve("primal")
      dual <- solve("dual")
      expect_identical(dim(dual$coefs), dim(problem$Y))
      expect_close(crossprod(problem$X, dual$coefs), primal$coefs)
      if (fit_intercept) expect_close(dual$intercept, unname(primal$intercept))
      none <- solve("none")
      expect_null(none$coefs)
      expect_identical(none$best_alphas, primal$best_alphas)
      expect_identical(none$cv_scores, primal$cv_scores)
    }
  }
})

test_that("scores come whole, as means over folds, or not at all", {
  problem <- random_problem(30, 8, 4, seed = 15)
  all <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS)
  mean_only <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, return_cv_scores = "mean")
  none <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, return_cv_scores = "none")
  expect_close(mean_only$cv_scores, apply(all$cv_scores, 2:3, mean), 1e-14)
  expect_null(none$cv_scores)
  expect_identical(none$coefs, all$coefs)
  expect_identical(mean_only$best_alphas, all$best_alphas)
})

test_that("a vector gives vectors back, a one-column matrix a matrix", {
  problem <- random_problem(30, 8, 1, seed = 16)
  y <- problem$Y[, 1L]
  vector <- solve_quietly(problem$X, y, fit_intercept = TRUE)
  matrix <- solve_quietly(problem$X, problem$Y, fit_intercept = TRUE)
  expect_null(dim(vector$coefs))
  expect_length(vector$coefs, 8L)
  expect_identical(dim(matrix$coefs), c(8L, 1L))
  expect_identical(unname(vector$coefs), unname(matrix$coefs[, 1L]))
  expect_identical(as.vector(vector$cv_scores), as.vector(matrix$cv_scores))
  expect_identical(unname(vector$best_alphas), unname(matrix$best_alphas))
  expect_length(vector$intercept, 1L)
})

test_that("names of samples, features and targets survive", {
  problem <- random_problem(20, 4, 3, seed = 17)
  dimnames(problem$X) <- list(paste0("s", 1:20), paste0("f", 1:4))
  dimnames(problem$Y) <- list(NULL, paste0("v", 1:3))
  fit <- solve_quietly(problem$X, problem$Y, fit_intercept = TRUE)
  expect_identical(dimnames(fit$coefs), list(paste0("f", 1:4), paste0("v", 1:3)))
  expect_named(fit$best_alphas, paste0("v", 1:3))
  expect_named(fit$intercept, paste0("v", 1:3))
  expect_identical(dimnames(fit$cv_scores)[[3L]], paste0("v", 1:3))
  expect_identical(dimnames(solve_quietly(problem$X, problem$Y, return_coefs = "dual")$coefs),
                   list(paste0("s", 1:20), paste0("v", 1:3)))
  expect_named(solve_quietly(problem$X, problem$Y[, 1L])$coefs, paste0("f", 1:4))
})

test_that("inputs are not changed", {
  problem <- random_problem(20, 30, 3, seed = 18)
  before <- list(X = problem$X + 0, Y = problem$Y + 0)
  solve_quietly(problem$X, problem$Y, fit_intercept = TRUE)
  expect_identical(problem, before)
})

# ---- kinds of input --------------------------------------------------------------------------

test_that("integers, logicals and data frames are converted, never truncated into", {
  withr::local_seed(19)
  X <- matrix(sample(-3:3, 120, TRUE), 30)
  Y <- matrix(sample(0:9, 60, TRUE), 30)
  want <- solve_quietly(X + 0, Y + 0, alphas = c(0.25, 2.5))
  expect_identical(solve_quietly(X, Y, alphas = c(0.25, 2.5)), want)
  expect_true(any(want$coefs != round(want$coefs)))
  expect_identical(solve_quietly(X, Y[, 1L])$coefs, solve_quietly(X + 0, Y[, 1L] + 0)$coefs)
  expect_identical(solve_quietly(X > 0, Y)$coefs, solve_quietly((X > 0) + 0, Y)$coefs)
  expect_identical(unname(solve_quietly(as.data.frame(X), Y)$coefs), solve_quietly(X, Y)$coefs)
})

test_that("what is no dense numeric matrix is refused with its name", {
  problem <- random_problem(20, 4, 3, seed = 20)
  X <- problem$X
  Y <- problem$Y
  expect_refused(solve_ridge_cv("a", Y), "X")
  expect_refused(solve_ridge_cv(NULL, Y), "X")
  expect_refused(solve_ridge_cv(as.list(1:20), Y), "X")
  expect_refused(solve_ridge_cv(X, matrix("a", 20, 2)), "Y")
  expect_refused(solve_ridge_cv(X, factor(rep(1:2, 10))), "Y|y")
  expect_refused(solve_ridge_cv(data.frame(a = 1:20, b = "x"), Y), "X", "b")
  expect_refused(solve_ridge_cv(X + 1i, Y), "X")
  skip_if_not_installed("Matrix")
  expect_refused(solve_ridge_cv(Matrix::Matrix(round(X), sparse = TRUE), Y), "X", "sparse")
})

test_that("NA, NaN and Inf are refused with the columns they are in", {
  problem <- random_problem(20, 6, 4, seed = 21)
  for (bad in c(NA, NaN, Inf, -Inf)) {
    X <- problem$X
    X[3L, c(2L, 5L)] <- bad
    expect_refused(solve_ridge_cv(X, problem$Y), "X", c("\\b2\\b", "\\b5\\b"))
    Y <- problem$Y
    Y[20L, 3L] <- bad
    expect_refused(solve_ridge_cv(problem$X, Y), "Y", "\\b3\\b")
  }
  X <- problem$X
  colnames(X) <- paste0("feature_", 1:6)
  X[1L, 4L] <- NA
  expect_refused(solve_ridge_cv(X, problem$Y), "X", "feature_4")
  integers <- matrix(c(NA, 1:39), 20)
  expect_refused(solve_ridge_cv(integers, problem$Y), "X", "\\b1\\b")
})

test_that("na_targets = 'skip' gives NA there and influences nothing else", {
  problem <- random_problem(30, 8, 6, seed = 22)
  Y <- problem$Y
  Y[4L, 2L] <- NA
  Y[5L, 6L] <- Inf
  keep <- c(1L, 3:5)
  for (local_alpha in c(TRUE, FALSE)) {
    for (return_coefs in c("primal", "dual")) {
      got <- solve_quietly(problem$X, Y, alphas = ALPHAS, na_targets = "skip", local_alpha = local_alpha,
                           fit_intercept = TRUE, return_coefs = return_coefs)
      want <- solve_quietly(problem$X, problem$Y[, keep], alphas = ALPHAS, local_alpha = local_alpha,
                            fit_intercept = TRUE, return_coefs = return_coefs)
      expect_identical(got$best_alphas[keep], want$best_alphas)
      expect_close(got$coefs[, keep], want$coefs, 1e-12)
      expect_close(got$cv_scores[, , keep], want$cv_scores, 1e-12)
      expect_close(got$intercept[keep], want$intercept, 1e-12)
      expect_true(all(is.na(got$best_alphas[-keep])))
      expect_true(all(is.na(got$coefs[, -keep])))
      expect_true(all(is.na(got$cv_scores[, , -keep])))
      expect_true(all(is.na(got$intercept[-keep])))
    }
  }
})

test_that("targets come back as NA where all of them are skipped", {
  problem <- random_problem(20, 4, 2, seed = 23)
  Y <- problem$Y
  Y[1L, ] <- NaN
  for (local_alpha in c(TRUE, FALSE)) {
    fit <- solve_ridge_cv(problem$X, Y, local_alpha = local_alpha, na_targets = "skip", n_threads = 2)
    expect_identical(fit$best_alphas, c(NA_real_, NA_real_))
    expect_true(all(is.na(fit$coefs)))
    expect_true(all(is.na(fit$cv_scores)))
    expect_identical(fit$diagnostics$skipped_targets, 1:2)
  }
  alone <- solve_ridge_cv(problem$X, Y[, 1L], na_targets = "skip", n_threads = 2)
  expect_identical(alone$best_alphas, NA_real_)
  expect_length(alone$coefs, 4L)
})

# ---- scoring functions -----------------------------------------------------------------------

test_that("a function of (y_true, y_pred) chooses as the score it computes", {
  problem <- random_problem(30, 8, 4, seed = 24)
  neg_mse <- function(y_true, y_pred) -colMeans((as.matrix(y_true) - as.matrix(y_pred))^2)
  got <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, score_func = neg_mse, fit_intercept = TRUE)
  want <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, score_func = "neg_mse", fit_intercept = TRUE)
  expect_identical(got$best_alphas, want$best_alphas)
  expect_close(got$cv_scores, unname(want$cv_scores))
  expect_close(got$coefs, unname(want$coefs))
  of_vectors <- function(y_true, y_pred) -mean((y_true - y_pred)^2)
  expect_close(solve_quietly(problem$X, problem$Y, alphas = ALPHAS, score_func = of_vectors,
                             fit_intercept = TRUE)$cv_scores, want$cv_scores)
})

test_that("a scoring function with a wrong answer, or an error of its own, is told", {
  problem <- random_problem(30, 8, 4, seed = 25)
  expect_error(solve_ridge_cv(problem$X, problem$Y, score_func = function(y_true, y_pred) "high"),
               class = "voxridge_error_score")
  expect_error(solve_ridge_cv(problem$X, problem$Y, score_func = function(y_true, y_pred) stop("no score today")),
               "no score today")
  # and the next call works
  expect_silent(solve_quietly(problem$X, problem$Y))
})

# ---- numbers ---------------------------------------------------------------------------------

test_that("column offsets of a million sd cost no digits", {
  # on a dyadic grid an offset of 2^20 is exact, so both calls have the same centred data
  for (shape in list(c(40, 8), c(24, 60))) {
    problem <- random_problem(shape[1L], shape[2L], 4, seed = 26)
    X <- round(problem$X * 2^16) / 2^16
    Y <- round(problem$Y * 2^16) / 2^16
    plain <- solve_quietly(X, Y, alphas = ALPHAS, fit_intercept = TRUE)
    shifted <- solve_quietly(X + 2^20, Y - 2^20, alphas = ALPHAS, fit_intercept = TRUE)
    expect_identical(shifted$best_alphas, plain$best_alphas)
    expect_close(shifted$cv_scores, plain$cv_scores)
    expect_close(shifted$coefs, plain$coefs)
    loo <- solve_quietly(X, Y, alphas = ALPHAS, cv = "loo", score_func = "neg_mse", fit_intercept = TRUE)
    expect_close(solve_quietly(X + 2^20, Y + 2^20, alphas = ALPHAS, cv = "loo", score_func = "neg_mse",
                               fit_intercept = TRUE)$cv_scores, loo$cv_scores)
  }
})

test_that("many alphas give the scores of each alpha by itself", {
  alphas <- 10^seq(-3, 5, length.out = 300)
  for (shape in list(c(60, 12), c(40, 150))) {
    problem <- random_problem(shape[1L], shape[2L], 6, seed = 27)
    fit <- solve_quietly(problem$X, problem$Y, alphas = alphas, fit_intercept = TRUE)
    some <- c(1L, 77L, 150L, 223L, 300L)
    expect_close(fit$cv_scores[, some, ], oracle_cv_scores(problem$X, problem$Y, alphas[some], 5, "r2", TRUE), 1e-8)
    expect_identical(unname(fit$best_alphas), alphas[oracle_choose(unname(fit$cv_scores), alphas)])
    expect_close(fit$coefs, oracle_fit(problem$X, problem$Y, unname(fit$best_alphas), TRUE)$coefs)
  }
})

test_that("single precision stays close and chooses from the grid", {
  # factors are double; products over n = 60 terms in float lose about 60 * 6e-8
  problem <- random_problem(60, 20, 5, seed = 28)
  double <- solve_quietly(problem$X, problem$Y, alphas = ALPHAS, fit_intercept = TRUE)
  single <- suppressWarnings(solve_ridge_cv(problem$X, problem$Y, alphas = ALPHAS, fit_intercept = TRUE,
                                            precision = "single", progress = FALSE))
  expect_close(single$cv_scores, double$cv_scores, 2e-5)
  expect_close(single$coefs, double$coefs, 2e-5)
  expect_true(all(single$best_alphas %in% ALPHAS))
})

test_that("the device never changes the answer, and a device that is not there is an error", {
  problem <- random_problem(30, 8, 4, seed = 29)
  expect_identical(solve_quietly(problem$X, problem$Y, device = "auto")$coefs,
                   solve_quietly(problem$X, problem$Y, device = "cpu")$coefs)
  skip_if(check_gpu_available()$available)
  expect_error(solve_ridge_cv(problem$X, problem$Y, device = "gpu"), class = "voxridge_error_device_unavailable")
})

# ---- silly input -----------------------------------------------------------------------------

test_that("empty and silly input is refused before any work, with argument and numbers", {
  problem <- random_problem(20, 4, 3, seed = 30)
  X <- problem$X
  Y <- problem$Y
  expect_refused(solve_ridge_cv(X[0L, ], Y[0L, ]), "X")
  expect_refused(solve_ridge_cv(X[, 0L], Y), "X")
  expect_refused(solve_ridge_cv(X, Y[, 0L]), "Y")
  expect_refused(solve_ridge_cv(X, Y[-1L, ]), "Y", c("20", "19"))
  expect_refused(solve_ridge_cv(X, Y[-1L, 1L]), "Y", c("20", "19"))
  expect_refused(solve_ridge_cv(X, Y, alphas = c(1, -0.5)), "alphas", "-0\\.5")
  expect_refused(solve_ridge_cv(X, Y, alphas = c(1, NA)), "alphas")
  expect_refused(solve_ridge_cv(X, Y, alphas = Inf), "alphas")
  expect_refused(solve_ridge_cv(X, Y, alphas = numeric()), "alphas")
  expect_refused(solve_ridge_cv(X, Y, alphas = "1"), "alphas")
  expect_refused(solve_ridge_cv(X, Y, cv = 21), "cv", c("20", "21"))
  expect_refused(solve_ridge_cv(X, Y, cv = 1), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = 2.5), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = rep(1, 20)), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = rep(1:2, 5)), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = c(NA, rep(1:2, c(9, 10)))), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = list(1:10, 10:20)), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = list(1:10, 11:19)), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = list(1:10, 11:21)), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = list(list(train = 1:10, test = 10:12))), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = list(list(train = integer(), test = 10:12))), "cv")
  expect_refused(solve_ridge_cv(X, Y, cv = "kfold"), "cv")
  expect_refused(solve_ridge_cv(X, Y, score_func = "accuracy"), "score_func", "correlation")
  expect_refused(solve_ridge_cv(X, Y, fit_intercept = NA), "fit_intercept")
  expect_refused(solve_ridge_cv(X, Y, local_alpha = "yes"), "local_alpha")
  expect_refused(solve_ridge_cv(X, Y, return_coefs = "both"), "return_coefs")
  expect_refused(solve_ridge_cv(X, Y, precision = "half"), "precision")
  expect_refused(solve_ridge_cv(X, Y, n_targets_batch = 0), "n_targets_batch")
  expect_refused(solve_ridge_cv(X, Y, n_alphas_batch = 1.5), "n_alphas_batch")
  expect_refused(solve_ridge_cv(X, Y, n_threads = 0), "n_threads")
  expect_refused(solve_ridge_cv(X, Y, device = "tpu"), "device")
})

test_that("a misspelt argument never passes silently", {
  problem <- random_problem(20, 4, 3, seed = 31)
  expect_error(solve_ridge_cv(problem$X, problem$Y, alpha_grid = 1), "alpha_grid")
})

test_that("glmnet agrees through the documented conversion of its penalty", {
  skip_if_not_installed("glmnet")
  problem <- random_problem(60, 10, 1, seed = 32)
  y <- problem$Y[, 1L]
  s <- sqrt(mean((y - mean(y))^2))
  lambda <- 0.7
  theirs <- glmnet::glmnet(problem$X, y, alpha = 0, lambda = lambda, standardize = FALSE, thresh = 1e-16)
  ours <- solve_quietly(problem$X, y, alphas = 60 * lambda / s, fit_intercept = TRUE)
  # coordinate descent stops at its threshold, so this is a check of the convention, not of digits
  expect_close(ours$coefs, as.vector(theirs$beta), 1e-7)
  expect_close(ours$intercept, unname(theirs$a0), 1e-7)
})
