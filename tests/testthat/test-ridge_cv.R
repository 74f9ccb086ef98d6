test_that("one alpha for all targets, as solve_ridge_cv with local_alpha = FALSE", {
  alphas <- c(0.1, 1, 10, 100)
  for (problem in problem_classes()) {
    for (fit_intercept in c(FALSE, TRUE)) {
      got <- muffle_edge(ridge_cv(problem$X, problem$Y, alphas = alphas, cv = 4, fit_intercept = fit_intercept))
      want <- oracle_solve(problem$X, problem$Y, alphas, 4, local_alpha = FALSE, fit_intercept = fit_intercept)
      expect_identical(unname(got$alpha), want$best_alphas[1L])
      expect_close(got$coef, want$coefs)
      expect_close(got$cv_scores, want$cv_scores)
      expect_identical(is.null(got$intercept), !fit_intercept)
      if (fit_intercept) expect_close(got$intercept, want$intercept)
      expect_identical(got$backend, "armadillo")
    }
  }
})

test_that("alphas = NULL is 20 values from 1e-2 to 1e4 and 5 folds", {
  problem <- random_problem(30, 8, 3, seed = 1)
  got <- muffle_edge(ridge_cv(problem$X, problem$Y))
  alphas <- 10^seq(-2, 4, length.out = 20)
  want <- muffle_edge(ridge_cv(problem$X, problem$Y, alphas = alphas, cv = 5))
  expect_identical(dim(got$cv_scores), c(5L, 20L, 3L))
  expect_equal(got$alpha, want$alpha, tolerance = 1e-14)
  expect_close(got$coef, want$coef, 1e-12)
})

test_that("a vector y gives a vector of coefficients", {
  problem <- random_problem(30, 8, 1, seed = 2)
  got <- muffle_edge(ridge_cv(problem$X, problem$Y[, 1L], fit_intercept = TRUE))
  want <- muffle_edge(ridge_cv(problem$X, problem$Y, fit_intercept = TRUE))
  expect_null(dim(got$coef))
  expect_identical(unname(got$coef), unname(want$coef[, 1L]))
  expect_length(got$intercept, 1L)
  expect_length(got$alpha, 1L)
})

test_that("wrong input is refused with its name", {
  problem <- random_problem(20, 4, 2, seed = 3)
  expect_refused(ridge_cv(problem$X, problem$Y[-1L, ]), "y", c("20", "19"))
  expect_refused(ridge_cv(problem$X, problem$Y, alphas = -1), "alphas", "-1")
  expect_refused(ridge_cv(problem$X, problem$Y, cv = 21), "cv", c("20", "21"))
  expect_refused(ridge_cv(problem$X, problem$Y, device = "tpu"), "device")
  problem$Y[2L, 1L] <- NA
  expect_refused(ridge_cv(problem$X, problem$Y), "y")
})
