predict_quietly <- function(...) cross_val_predict_ridge(..., progress = FALSE)

test_that("predictions and scores are those of explicit refits, for one alpha and for one per target", {
  for (problem in problem_classes()) {
    t <- ncol(problem$Y)
    for (alphas in unique(list(2, 10^seq(-1, 2, length.out = t)))) {
      for (fit_intercept in c(FALSE, TRUE)) {
        got <- predict_quietly(problem$X, problem$Y, alphas = alphas, cv = 4, fit_intercept = fit_intercept)
        want <- oracle_cross_val_predict(problem$X, problem$Y, alphas, 4, fit_intercept = fit_intercept)
        expect_close(got$predictions, want$predictions)
        expect_close(got$scores, want$scores)
        expect_identical(got$backend, "armadillo")
      }
    }
  }
})

test_that("fold scores are the scores of solve_ridge_cv", {
  problem <- random_problem(30, 8, 4, seed = 1)
  for (score_func in c("r2", "neg_mse", "correlation")) {
    a <- predict_quietly(problem$X, problem$Y, alphas = 3, cv = 5, score_func = score_func, fit_intercept = TRUE)
    b <- solve_quietly(problem$X, problem$Y, alphas = 3, cv = 5, score_func = score_func, fit_intercept = TRUE)
    expect_close(a$scores, b$cv_scores[, 1L, ])
  }
})

test_that("folds are numbered from 1 in sample order", {
  problem <- random_problem(12, 3, 2, seed = 2)
  expect_identical(as.vector(predict_quietly(problem$X, problem$Y, alphas = 1, cv = 5)$folds),
                   c(1L, 1L, 1L, 2L, 2L, 2L, 3L, 3L, 4L, 4L, 5L, 5L))
  runs <- rep(c(4, 2, 9), 4)
  by_run <- predict_quietly(problem$X, problem$Y, alphas = 1, cv = runs)
  expect_identical(as.integer(by_run$folds), rep(c(2L, 1L, 3L), 4))
})

test_that("run labels predict each run from the others", {
  problem <- random_problem(30, 8, 4, seed = 3)
  runs <- rep(c("b", "c", "a"), each = 10)
  got <- predict_quietly(problem$X, problem$Y, alphas = 5, cv = runs, fit_intercept = TRUE)
  want <- oracle_cross_val_predict(problem$X, problem$Y, 5, runs, fit_intercept = TRUE)
  expect_close(got$predictions, want$predictions)
})

test_that("rows that no fold tests have no prediction", {
  problem <- random_problem(20, 4, 2, seed = 4)
  cv <- list(list(train = 1:10, test = 11:13), list(train = 5:14, test = 15:16))
  got <- predict_quietly(problem$X, problem$Y, alphas = 1, cv = cv)
  want <- oracle_cross_val_predict(problem$X, problem$Y, 1, cv)
  tested <- c(11:13, 15:16)
  expect_true(all(is.na(got$predictions[-tested, ])))
  expect_close(got$predictions[tested, ], want$predictions[tested, ])
  expect_close(got$scores, want$scores)
  expect_identical(as.integer(got$folds), c(rep(NA, 10), 1L, 1L, 1L, NA, 2L, 2L, rep(NA, 4)))
})

test_that("a vector y gives a vector of predictions, names survive", {
  problem <- random_problem(20, 4, 2, seed = 5)
  rownames(problem$X) <- paste0("s", 1:20)
  colnames(problem$Y) <- c("u", "v")
  both <- predict_quietly(problem$X, problem$Y, alphas = 1)
  one <- predict_quietly(problem$X, problem$Y[, 1L], alphas = 1)
  expect_null(dim(one$predictions))
  expect_identical(colnames(both$predictions), c("u", "v"))
  expect_identical(colnames(both$scores), c("u", "v"))
  expect_close(one$predictions, both$predictions[, 1L], 1e-12)
})

test_that("skipped targets are NA and touch nothing else", {
  problem <- random_problem(20, 4, 3, seed = 6)
  Y <- problem$Y
  Y[7L, 2L] <- NA
  expect_refused(predict_quietly(problem$X, Y, alphas = 1), "Y", "\\b2\\b")
  got <- predict_quietly(problem$X, Y, alphas = c(1, 5, 2), na_targets = "skip")
  want <- predict_quietly(problem$X, problem$Y[, c(1, 3)], alphas = c(1, 2))
  expect_true(all(is.na(got$predictions[, 2L])))
  expect_close(got$predictions[, c(1, 3)], want$predictions, 1e-12)
  expect_true(all(is.na(got$scores[, 2L])))
})

test_that("wrong input is refused with its name", {
  problem <- random_problem(20, 4, 3, seed = 7)
  expect_refused(predict_quietly(problem$X, problem$Y, alphas = c(1, 2)), "alphas", c("2", "3"))
  expect_refused(predict_quietly(problem$X, problem$Y, alphas = -1), "alphas")
  expect_refused(predict_quietly(problem$X, problem$Y, alphas = 1, cv = 30), "cv", c("20", "30"))
  expect_refused(predict_quietly(problem$X, problem$Y[1:3, ], alphas = 1), "Y", c("20", "3"))
  expect_error(predict_quietly(problem$X, problem$Y, alphas = 1, cv = 20), "neg_mse", class = "voxridge_error_score")
})
