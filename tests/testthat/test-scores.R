test_that("scores of new data are the formulas", {
  for (problem in problem_classes(10L)) {
    rows <- seq_len(nrow(problem$X)) %% 3 > 0
    fit <- fit_quietly(problem$X[rows, ], problem$Y[rows, , drop = FALSE])
    predictions <- as.matrix(predict(fit, problem$X[!rows, ]))
    for (word in c("r2", "neg_mse", "correlation")) {
      got <- score(fit, problem$X[!rows, ], problem$Y[!rows, , drop = FALSE], score_func = word)
      expect_close(got, oracle_scores(problem$Y[!rows, , drop = FALSE], predictions, word))
    }
  }
})

test_that("scores are those of the held-out folds of the solver", {
  problem <- random_problem(40, 6, 5, seed = 1)
  Y <- problem$Y + 50
  held_out <- list(c(1:9, 40L), 10:39)
  for (word in c("r2", "neg_mse", "correlation")) {
    solved <- solve_quietly(problem$X, Y, alphas = 3, cv = held_out, score_func = word, fit_intercept = TRUE)
    for (f in 1:2) {
      rows <- held_out[[f]]
      fit <- fit_quietly(problem$X[-rows, ], Y[-rows, ], alphas = 3, score_func = word)
      expect_close(score(fit, problem$X[rows, ], Y[rows, ]), solved$cv_scores[f, 1L, ])
    }
  }
})

test_that("the score of the fit is the default, a function too, by matrix or by vector", {
  problem <- random_problem(30, 6, 4, seed = 2)
  rows <- 1:20
  new <- list(problem$X[-rows, ], problem$Y[-rows, ])
  by_word <- fit_quietly(problem$X[rows, ], problem$Y[rows, ], score_func = "neg_mse")
  by_column <- function(y_true, y_pred) -colMeans((y_true - y_pred)^2)
  one_by_one <- function(y_true, y_pred) -mean((y_true - y_pred)^2)
  want <- score(by_word, new[[1L]], new[[2L]])
  expect_close(want, oracle_scores(new[[2L]], predict(by_word, new[[1L]]), "neg_mse"))
  for (fun in list(by_column, one_by_one)) {
    fit <- fit_quietly(problem$X[rows, ], problem$Y[rows, ], alphas = by_word$alphas, score_func = fun)
    expect_close(score(fit, new[[1L]], new[[2L]]), want)
    expect_close(score(by_word, new[[1L]], new[[2L]], score_func = fun), want)
  }
  wrong <- function(y_true, y_pred) 1:7
  cnd <- expect_error(score(by_word, new[[1L]], new[[2L]], wrong), class = "voxridge_error_score")
  expect_match(conditionMessage(cnd), "score_func")
})

test_that("constant targets and predictions have 0, skipped targets NA", {
  problem <- random_problem(30, 6, 5, seed = 3)
  Y <- problem$Y
  Y[2L, 2L] <- NA
  fit <- fit_quietly(problem$X, Y, na_targets = "skip")
  new <- Y[1:10, ]
  new[, 3L] <- 1e8 + 0.1
  X <- problem$X[1:10, ]
  for (word in c("r2", "correlation")) {
    got <- score(fit, X, new, score_func = word)
    expect_identical(got[2:3], c(NA, 0))
    expect_close(got[-(2:3)], oracle_scores(new[, -(2:3)], predict(fit, X)[, -(2:3)], word))
  }
  expect_lt(score(fit, X, new, score_func = "neg_mse")[3L], -1e15)
  # constant predictions
  expect_identical(score(fit, matrix(1, 5, 6), new[1:5, ], score_func = "correlation")[-2L], rep(0, 4))
  expect_error(score(fit, X, replace(new, 41L, Inf)), class = "voxridge_error_nonfinite")
})

test_that("offsets cost no digits", {
  problem <- random_problem(30, 6, 3, seed = 4)
  fit <- fit_quietly(problem$X, problem$Y, alphas = 2)
  far <- fit_quietly(problem$X, problem$Y + 1e6, alphas = 2)
  for (word in c("r2", "correlation")) {
    expect_close(score(far, problem$X, problem$Y + 1e6, word), score(fit, problem$X, problem$Y, word), 1e-8)
  }
})

test_that("targets are matched by name, and blocks and threads change nothing", {
  problem <- random_problem(30, 6, 700, seed = 5)
  Y <- problem$Y
  colnames(Y) <- paste0("v", 1:700)
  fit <- fit_quietly(problem$X, Y, alphas = 1:2)
  want <- score(fit, problem$X, Y)
  expect_named(want, colnames(Y))
  expect_close(want, oracle_scores(Y, fitted(fit), "r2"))
  expect_identical(score(fit, problem$X, Y[, 700:1]), want)
  expect_identical(score(fit, problem$X, unname(Y)), want)
  expect_identical(score(fit, problem$X, Y, n_threads = 1), want)
  withr::local_options(voxridge.memory_gb = 8 * 30 * 40 / 1e9)
  expect_close(score(fit, problem$X, Y), want, 1e-12)
  other <- Y
  colnames(other)[3L] <- "w"
  expect_error(score(fit, problem$X, other), "Missing: \"v3\"", class = "voxridge_error_newdata")
  expect_error(score(fit, problem$X, unname(Y[, -1L])), "700 targets", class = "voxridge_error_newdata")
})

test_that("bands, vectors and dual coefficients", {
  problem <- random_bands(30, c(4, 6), 3, seed = 6)
  fit <- fit_bands_quietly(problem$Xs, problem$Y, n_iter = 3, seed = 1, return_coefs = "dual")
  want <- oracle_scores(problem$Y, fitted(fit), "r2")
  expect_close(score(fit, problem$Xs, problem$Y), want)
  expect_identical(score(fit, problem$X, problem$Y, bands = problem$bands), score(fit, problem$Xs, problem$Y))
  one <- fit_quietly(problem$X, problem$Y[, 1L])
  want <- oracle_scores(problem$Y[, 1L, drop = FALSE], as.matrix(fitted(one)), "r2")
  expect_close(score(one, problem$X, problem$Y[, 1L]), want)
})

test_that("bad input is refused", {
  problem <- random_problem(30, 6, 3, seed = 7)
  fit <- fit_quietly(problem$X, problem$Y)
  X <- problem$X
  Y <- problem$Y
  expect_refused(score(fit), "newdata")
  expect_refused(score(fit, X), "Y", "fit\\$scores")
  expect_refused(score(fit, X, Y[-1L, ]), "Y", "29")
  expect_refused(score(fit, X, letters[1:30]), "Y")
  expect_refused(score(fit, X, Y, "r"), "score_func")
  expect_refused(score(fit, X[1L, , drop = FALSE], Y[1L, , drop = FALSE]), "newdata", "2 samples")
  expect_length(score(fit, X[1L, , drop = FALSE], Y[1L, , drop = FALSE], "neg_mse"), 3L)
  expect_refused(score(fit, X, Y, bands = 1:6), "bands")
  expect_refused(score(fit, X, Y, n_threads = 0), "n_threads")
  expect_refused(score(fit_quietly(X, Y, return_coefs = "none"), X, Y), "object")
  expect_error(score(fit, X, Y, thread = 2))
  cnd <- expect_error(score(fit, X[, 1:2], Y), class = "voxridge_error_newdata")
  expect_match(deparse(conditionCall(cnd)[[1L]]), "score")
})
