test_that("a prepared X gives the answers of the matrix, for many Y", {
  alphas <- c(0.1, 1, 10, 100)
  for (problem in problem_classes()) {
    for (fit_intercept in c(FALSE, TRUE)) {
      prepared <- prepare_ridge(problem$X, cv = 4, fit_intercept = fit_intercept, progress = FALSE)
      for (Y in list(problem$Y, problem$Y[, 1L], problem$Y^2)) {
        want <- solve_quietly(problem$X, Y, alphas = alphas, cv = 4, fit_intercept = fit_intercept)
        got <- solve_quietly(prepared, Y, alphas = alphas)
        expect_identical(got$best_alphas, want$best_alphas)
        expect_close(got$cv_scores, want$cv_scores, 1e-12)
        expect_close(got$coefs, want$coefs, 1e-12)
        if (fit_intercept) expect_close(got$intercept, want$intercept, 1e-12)
      }
    }
  }
})

test_that("it serves ridge_cv, cross_val_predict_ridge and alpha_grid too", {
  problem <- random_problem(24, 6, 3, seed = 1)
  runs <- rep(1:4, each = 6)
  prepared <- prepare_ridge(problem$X, cv = runs, progress = FALSE)
  expect_close(muffle_edge(ridge_cv(prepared, problem$Y))$coef,
               muffle_edge(ridge_cv(problem$X, problem$Y, cv = runs))$coef, 1e-12)
  expect_close(cross_val_predict_ridge(prepared, problem$Y, alphas = 2)$predictions,
               cross_val_predict_ridge(problem$X, problem$Y, alphas = 2, cv = runs)$predictions, 1e-12)
  expect_identical(alpha_grid(prepared), alpha_grid(problem$X))
})

test_that("closed forms can be prepared", {
  problem <- random_problem(24, 6, 3, seed = 2)
  for (cv in c("loo", "gcv")) {
    prepared <- prepare_ridge(problem$X, cv = cv, fit_intercept = TRUE, progress = FALSE)
    got <- solve_quietly(prepared, problem$Y, score_func = "neg_mse")
    want <- solve_quietly(problem$X, problem$Y, cv = cv, score_func = "neg_mse", fit_intercept = TRUE)
    expect_close(got$cv_scores, want$cv_scores, 1e-12)
  }
})

test_that("saying the same folds again is allowed, other settings are a conflict", {
  problem <- random_problem(24, 6, 3, seed = 3)
  prepared <- prepare_ridge(problem$X, cv = 4, progress = FALSE)
  expect_identical(solve_quietly(prepared, problem$Y, cv = 4), solve_quietly(prepared, problem$Y))
  expect_error(solve_ridge_cv(prepared, problem$Y, cv = 3), "cv", class = "voxridge_error_conflict")
  expect_error(solve_ridge_cv(prepared, problem$Y, fit_intercept = TRUE), "fit_intercept",
               class = "voxridge_error_conflict")
  expect_refused(solve_ridge_cv(prepared, problem$Y[-1L, ]), "Y", c("24", "23"))
})

test_that("it survives saveRDS", {
  problem <- random_problem(24, 6, 3, seed = 4)
  prepared <- prepare_ridge(problem$X, cv = 4, progress = FALSE)
  want <- solve_quietly(prepared, problem$Y)
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(prepared, path)
  again <- readRDS(path)
  expect_identical(solve_quietly(again, problem$Y), want)
})

test_that("the object keeps X as it was when it was prepared", {
  problem <- random_problem(24, 6, 3, seed = 5)
  X <- problem$X
  prepared <- prepare_ridge(X, cv = 4, progress = FALSE)
  want <- solve_quietly(prepared, problem$Y)
  X[1L] <- 1e6
  rm(X)
  gc()
  expect_identical(solve_quietly(prepared, problem$Y), want)
})

test_that("foreign and old objects are refused, twice prepared ones too", {
  problem <- random_problem(24, 6, 3, seed = 6)
  prepared <- prepare_ridge(problem$X, cv = 4, progress = FALSE)
  old <- prepared
  old$format <- 0L
  expect_error(solve_ridge_cv(old, problem$Y), class = "voxridge_error_old_object")
  expect_error(solve_ridge_cv(structure(list(), class = "voxridge_prepared"), problem$Y),
               class = "voxridge_error_old_object")
  expect_refused(prepare_ridge(prepared), "X")
  expect_refused(prepare_ridge(problem$X, cv = 30), "cv", c("24", "30"))
  problem$X[1L] <- NA
  expect_refused(prepare_ridge(problem$X), "X")
})

test_that("print shows sizes and returns its input invisibly", {
  problem <- random_problem(24, 6, 3, seed = 7)
  prepared <- prepare_ridge(problem$X, cv = 4, progress = FALSE)
  lines <- utils::capture.output(out <- withVisible(print(prepared)))
  expect_identical(out$value, prepared)
  expect_false(out$visible)
  expect_match(lines, "24.*6", all = FALSE)
  expect_lte(length(lines), 15L)
})
