test_that("runs become numbers in the order of the samples, with their first and last rows", {
  expected <- list(id = rep(1:3, c(2, 3, 1)), first = c(1L, 3L, 6L), last = c(2L, 5L, 6L))
  labels <- rep(c("s2", "s10", "s1"), c(2, 3, 1))
  for (runs in list(labels, factor(labels), rep(c(5, 1, 3), c(2, 3, 1)), rep(c(TRUE, FALSE, TRUE), c(2, 3, 1)))) {
    if (is.logical(runs)) {
      expect_refused(as_runs(runs, 6L), "runs", "TRUE again from row 6")
    } else {
      expect_identical(as_runs(runs, 6L), expected)
    }
  }
  expect_identical(as_runs(NULL, 4L), list(id = rep(1L, 4), first = 1L, last = 4L))
  expect_identical(as_runs("a", 1L), list(id = 1L, first = 1L, last = 1L))
})

# ---- folds on cleaned data -------------------------------------------------------------------

cleaned_problem <- function(seed = 1) {
  problem <- random_problem(40, 6, 3, seed)
  runs <- rep(1:4, each = 10)
  list(X = problem$X, Y = problem$Y, runs = runs, clean_X = clean_runs(problem$X, runs),
       clean_Y = clean_runs(problem$Y, runs))
}

# Folds that split a run, in every form.
split_folds <- list(5, rep(1:5, 8), "loo", "gcv", rep(list(list(train = 1:15, test = 16:20)), 2),
                    list(1:9, 10:40))

expect_leakage <- function(expr, arg) {
  cnd <- expect_refused(expr, "cv", c("whole", paste0("`", arg, "` was cleaned run by run"), "cv = runs"))
  expect_s3_class(cnd, "voxridge_error_leakage")
}

test_that("every function with folds refuses to split the runs of cleaned data", {
  data <- cleaned_problem()
  Xs <- list(a = data$X[, 1:3], b = data$clean_X)
  plain <- list(a = data$X[, 1:3], b = data$X[, 4:6])
  fit <- band_quietly(plain, data$Y, n_iter = 3, seed = 1, cv = data$runs)
  for (cv in split_folds) {
    score <- "neg_mse"
    expect_leakage(solve_ridge_cv(data$clean_X, data$Y, cv = cv, score_func = score, progress = FALSE), "X")
    expect_leakage(solve_ridge_cv(data$X, data$clean_Y, cv = cv, score_func = score, progress = FALSE), "Y")
    expect_leakage(ridge_cv(data$X, data$clean_Y, cv = cv), "Y")
    expect_leakage(prepare_ridge(data$clean_X, cv = cv, progress = FALSE), "X")
    expect_leakage(solve_banded_ridge_cv(Xs, data$Y, n_iter = 2, cv = cv, score_func = score, progress = FALSE), "Xs")
    expect_leakage(solve_banded_ridge_cv(plain, data$clean_Y, n_iter = 2, cv = cv, score_func = score,
                                         progress = FALSE), "Y")
    expect_leakage(solve_banded_ridge_cv(data$clean_X, data$Y, rep(1:2, each = 3), n_iter = 2, cv = cv,
                                         score_func = score, progress = FALSE), "Xs")
    expect_leakage(cross_val_predict_ridge(data$clean_X, data$Y, 1, cv = cv, progress = FALSE), "X")
    expect_leakage(cross_val_predict_ridge(data$X, data$clean_Y, 1, cv = cv, progress = FALSE), "Y")
    # these have no single prediction per sample, and are refused for that
    if (identical(cv, "gcv") || is.list(cv[[1L]])) next
    expect_leakage(r2_unique(fit, plain, data$clean_Y, cv = cv, progress = FALSE), "Y")
    expect_leakage(r2_unique(fit, list(a = plain$a, b = clean_runs(plain$b, data$runs)), data$Y, cv = cv,
                             progress = FALSE), "Xs")
  }
})

test_that("a vector y, a single run and prepared features are seen too", {
  data <- cleaned_problem()
  y <- clean_runs(data$Y[, 1L], data$runs)
  expect_leakage(solve_ridge_cv(data$X, y, cv = 5, progress = FALSE), "Y")
  expect_leakage(cross_val_predict_ridge(data$X, y, 1, cv = 5, progress = FALSE), "Y")
  expect_leakage(solve_ridge_cv(data$X, clean_runs(data$Y, rep("a", 40)), cv = 4, progress = FALSE), "Y")
  prepared <- prepare_ridge(data$X, cv = 5, progress = FALSE)
  expect_leakage(solve_ridge_cv(prepared, data$clean_Y, progress = FALSE), "Y")
})

test_that("folds that keep runs whole are taken, and results do not carry the attribute", {
  data <- cleaned_problem()
  two <- list(1:20, 21:40)
  one_way <- list(list(train = 1:20, test = 21:25), list(train = 1:20, test = 31:33))
  for (cv in list(data$runs, 4, two, one_way)) {
    got <- solve_quietly(data$clean_X, data$clean_Y, cv = cv, fit_intercept = TRUE, return_coefs = "dual")
    bare_X <- data$clean_X[, ]
    bare_Y <- data$clean_Y[, ]
    expect_null(attr(bare_X, "runs"))
    expect_identical(got, solve_quietly(bare_X, bare_Y, cv = cv, fit_intercept = TRUE, return_coefs = "dual"))
    out <- cross_val_predict_ridge(data$clean_X, data$clean_Y, 1, cv = cv, progress = FALSE)
    expect_identical(out, cross_val_predict_ridge(bare_X, bare_Y, 1, cv = cv, progress = FALSE))
    Xs <- list(a = data$clean_X, b = data$X)
    got <- band_quietly(Xs, data$clean_Y, n_iter = 3, cv = cv, seed = 1)
    expect_identical(got, band_quietly(list(a = bare_X, b = data$X), bare_Y, n_iter = 3, cv = cv, seed = 1))
    expect_null(attr(r2_split(got, Xs, data$clean_Y), "runs"))
  }
  expect_named(attributes(ridge_svd(data$clean_X, data$clean_Y)), "dim")
  y <- clean_runs(data$Y[, 1L], data$runs)
  expect_null(attributes(cross_val_predict_ridge(data$X, y, 1, cv = data$runs, progress = FALSE)$predictions))
})

test_that("an attribute that is no label per sample is none of ours", {
  data <- cleaned_problem()
  X <- structure(data$X, runs = 4)
  expect_identical(solve_quietly(X, data$Y), solve_quietly(data$X, data$Y))
})

test_that("what a held-out run holds changes nothing in its prediction from the others", {
  data <- cleaned_problem()
  held_out <- data$runs == 2
  predict_run <- function(X, Y, cv) {
    X <- delay_features(clean_runs(X, data$runs, detrend = 2, scale = "sd"), 0:2)
    Y <- clean_runs(Y, data$runs, detrend = 1, scale = "z")
    cross_val_predict_ridge(X, Y, 5, cv = cv, fit_intercept = TRUE, progress = FALSE)$predictions[held_out, ]
  }
  # a fold of its own, for which nothing is computed from all samples: the same bits
  alone <- list(list(train = which(!held_out), test = which(held_out)))
  before <- predict_run(data$X, data$Y, alone)
  Y <- data$Y
  Y[held_out, ] <- withr::with_seed(9, matrix(rexp(30, 1e-3), 10))
  expect_identical(predict_run(data$X, Y, alone), before)
  # all runs in turn: the solver takes folds out of sums over all samples, which leaves rounding
  expect_close(predict_run(data$X, data$Y, data$runs), before, 1e-13)
  expect_close(predict_run(data$X, Y, data$runs), before, 1e-13)
  # from the other runs alone, as if the held-out one had never been measured
  rows <- !held_out
  train_X <- delay_features(clean_runs(data$X[rows, ], data$runs[rows], detrend = 2, scale = "sd"), 0:2)
  train <- oracle_fit(train_X, clean_runs(data$Y[rows, ], data$runs[rows], scale = "z"), 5, fit_intercept = TRUE)
  test_X <- delay_features(clean_runs(data$X[held_out, ], data$runs[held_out], detrend = 2, scale = "sd"), 0:2)
  expect_close(before, oracle_predict(train, test_X))
  # and the other runs do count
  X <- data$X
  X[data$runs == 3, ] <- X[data$runs == 3, ]^2
  expect_gt(max(abs(predict_run(X, data$Y, alone) - before)), 1e-3)
})
