a_problem <- function() random_problem(12, 3, 2, seed = 1)

# Bad values of one argument, all others good.
refuse <- function(arg, values, pattern = NULL, class = NULL) {
  problem <- a_problem()
  for (value in values) {
    args <- utils::modifyList(list(X = problem$X, Y = problem$Y, alphas = 1, n_boot = 100, seed = 1),
                              stats::setNames(list(value), arg), keep.null = TRUE)
    cnd <- expect_refused(do.call(bootstrap_ridge, args), arg, pattern)
    if (!is.null(class)) expect_s3_class(cnd, paste0("voxridge_error_", class))
  }
}

test_that("data must be numbers, finite, of equal rows, at least two", {
  problem <- a_problem()
  bad <- problem$X
  bad[2L, 3L] <- NaN
  refuse("X", list(bad, replace(problem$X, 1L, Inf)), "3|1", "nonfinite")
  refuse("X", list("a", 1:12, list(1), letters, NULL), class = "type")
  refuse("X", list(matrix(0, 12, 0)), class = "shape")
  expect_refused(bootstrap_ridge(matrix(1, 1, 3), 1, 1), "X", "at least 2 rows")
  refuse("Y", list(problem$Y[-1L, ], 1:3), "12", "shape")
  refuse("Y", list(replace(problem$Y, 5L, NA)), class = "nonfinite")
  refuse("Y", list(letters[1:12], factor(1:12)), class = "type")
  expect_refused(bootstrap_ridge(problem$X, alphas = 1), "Y", "must be given")
  expect_refused(bootstrap_ridge(problem$X, problem$Y), "alphas", "must be given")
  expect_error(bootstrap_ridge(problem$X, problem$Y, 1, n_bot = 100), "unused argument")
  expect_refused(bootstrap_ridge(problem$X * 1e200, problem$Y, 1), "X", "overflow")
})

test_that("settings are checked by name", {
  refuse("alphas", list(-1, NA_real_, Inf, "a", NULL, 1:3, numeric()), class = "alphas")
  refuse("what", list("weight", 1, NULL, NA, c("a", "b")), "weights", "argument")
  refuse("interval", list("bca", 1, NULL), "percentile", "argument")
  refuse("conf", list(0, 1, 95, -0.1, NA, "a", c(0.1, 0.2), NULL), "between 0 and 1", "argument")
  refuse("fit_intercept", list(NA, 1, "a", NULL), "TRUE or FALSE", "argument")
  refuse("return_samples", list(NA, 1, "a", NULL), "TRUE or FALSE", "argument")
  refuse("seed", list(-1, 0.5, 2^53, "a", NA, 1:2), "whole number", "argument")
  refuse("n_boot", list(0, -1, 9, 1.5, NA, Inf, "a", 2^31, NULL, c(100, 200)), class = "argument")
  refuse("n_threads", list(0, 1.5, "a"), class = "argument")
  refuse("progress", list(NA, "a"), class = "argument")
})

test_that("few resamples are warned about, fewer refused", {
  problem <- a_problem()
  cnd <- expect_warning(bootstrap_ridge(problem$X, problem$Y, 1, n_boot = 99, seed = 1),
                        class = "voxridge_warning_few_resamples")
  expect_identical(cnd$found, 99L)
  expect_warning(bootstrap_ridge(problem$X, problem$Y, 1, resamples = random_resamples(12, 10, 1)),
                 class = "voxridge_warning_few_resamples")
  expect_silent(bootstrap_ridge(problem$X, problem$Y, 1, n_boot = 100, seed = 1))
  expect_refused(bootstrap_ridge(problem$X, problem$Y, 1, n_boot = 9), "n_boot", "at least 10, not 9")
  expect_refused(bootstrap_ridge(problem$X, problem$Y, 1, resamples = random_resamples(12, 9, 1)), "resamples",
                 "at least 10 rows, not 9")
})

test_that("samples to predict go with predictions, in the columns of X", {
  problem <- a_problem()
  predict_new <- function(X_new) bootstrap_ridge(problem$X, problem$Y, 1, what = "predictions", X_new = X_new)
  expect_refused(predict_new(NULL), "X_new", "not NULL")
  expect_refused(predict_new(problem$X[, 1:2]), "X_new", "3 columns")
  expect_refused(predict_new(replace(problem$X, 4L, NA)), "X_new", "finite")
  expect_refused(predict_new(problem$X[1L, ]), "X_new")
  expect_refused(predict_new("a"), "X_new")
  colnames(problem$X) <- c("a", "b", "c")
  other <- problem$X
  colnames(other) <- c("a", "b", "d")
  expect_s3_class(expect_refused(predict_new(other), "X_new", "d"), "voxridge_error_newdata")
  cnd <- expect_refused(bootstrap_ridge(problem$X, problem$Y, 1, X_new = problem$X), "X_new", "weights")
  expect_s3_class(cnd, "voxridge_error_conflict")
})

test_that("blocks are a label per sample, of at least two blocks", {
  refuse("blocks", list(1:3, "a", list(1), matrix(1:12, 3), sum), "12", "argument")
  refuse("blocks", list(c(NA, 1:11), replace(letters[1:12], 3:4, NA)), "NA", "argument")
  refuse("blocks", list(rep(1, 12), factor(rep("a", 12), c("a", "b"))), "at least 2 blocks, not 1", "argument")
})

test_that("resamples are row numbers, a row each, and leave no choice", {
  good <- random_resamples(12, 100, 1)
  refused <- function(resamples, pattern = NULL, ...) {
    problem <- a_problem()
    expect_refused(bootstrap_ridge(problem$X, problem$Y, 1, resamples = resamples, ...), "resamples", pattern)
  }
  for (bad in list(good[, -1L], good[1L, ], "a", list(1), t(good), good[0L, ], good > 1, as.data.frame(good))) {
    refused(bad, "12")
  }
  cnd <- refused(replace(good, 205L, 13), "13 in row 5, column 3")
  expect_identical(cnd$where, c(row = 5L, column = 3L))
  refused(replace(good, 1L, 0), "0 in row 1")
  refused(replace(good, 1L, NA), "NA in row 1")
  refused(replace(good, 1L, 1.5), "1.5 in row 1")
  problem <- a_problem()
  for (more in list(list(n_boot = 100), list(seed = 1), list(blocks = rep(1:2, 6)))) {
    args <- c(list(problem$X, problem$Y, 1, resamples = good), more)
    cnd <- expect_refused(do.call(bootstrap_ridge, args), names(more), "left out")
    expect_s3_class(cnd, "voxridge_error_conflict")
  }
})

test_that("data cleaned run by run, drawn by rows, are told of", {
  problem <- random_problem(40, 3, 2, seed = 2)
  runs <- rep(1:4, each = 10)
  Y <- clean_runs(problem$Y, runs)
  expect_message(bootstrap_ridge(problem$X, Y, 1, n_boot = 100), class = "voxridge_message_rows_drawn")
  expect_message(bootstrap_ridge(Y, problem$Y, 1, n_boot = 100), "`X` was cleaned")
  expect_silent(bootstrap_ridge(problem$X, Y, 1, n_boot = 100, blocks = runs))
  expect_silent(bootstrap_ridge(problem$X, Y, 1, resamples = random_resamples(40, 100, 1)))
  expect_silent(bootstrap_ridge(problem$X, problem$Y, 1, n_boot = 100))
})

test_that("results that do not fit are refused before any work", {
  X <- matrix(1:20 / 7, 10, 2)
  expect_s3_class(expect_error(bootstrap_ridge(X, 1:10, 1, n_boot = 2e9, return_samples = TRUE, progress = FALSE)),
                  "voxridge_error_memory")
})
