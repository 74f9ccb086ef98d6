threads_of <- function(...) {
  problem <- random_problem(20, 4, 2, seed = 1)
  solve_quietly(problem$X, problem$Y, ...)$diagnostics$info$n_threads
}

test_that("argument, environment, option, Ncpus and 2, in this order", {
  cores <- as.integer(parallelly::availableCores())
  withr::local_envvar(VOXRIDGE_NUM_THREADS = NA)
  withr::local_options(voxridge.threads = NULL, Ncpus = NULL)
  expect_identical(as.integer(threads_of()), min(2L, cores))
  withr::local_options(Ncpus = 1L)
  expect_identical(as.integer(threads_of()), 1L)
  withr::local_options(voxridge.threads = 2L)
  expect_identical(as.integer(threads_of()), min(2L, cores))
  withr::local_envvar(VOXRIDGE_NUM_THREADS = "1")
  expect_identical(as.integer(threads_of()), 1L)
  expect_identical(as.integer(threads_of(n_threads = 2)), 2L)
})

test_that("all but the argument are capped by the cores this process may use", {
  withr::local_envvar(VOXRIDGE_NUM_THREADS = "1000")
  expect_lte(threads_of(), parallelly::availableCores())
})

test_that("a setting that is no number is an error that says where it comes from", {
  problem <- random_problem(20, 4, 2, seed = 2)
  withr::local_envvar(VOXRIDGE_NUM_THREADS = "many")
  expect_error(solve_ridge_cv(problem$X, problem$Y), "VOXRIDGE_NUM_THREADS", class = "voxridge_error_argument")
  withr::local_envvar(VOXRIDGE_NUM_THREADS = NA)
  withr::local_options(voxridge.threads = -1)
  expect_error(solve_ridge_cv(problem$X, problem$Y), "voxridge.threads", class = "voxridge_error_argument")
})

test_that("thread counts give the same bits where the factors are the same", {
  problem <- random_problem(40, 10, 1200, seed = 3)
  one <- solve_quietly(problem$X, problem$Y, n_threads = 1, fit_intercept = TRUE)
  two <- solve_quietly(problem$X, problem$Y, n_threads = 2, fit_intercept = TRUE)
  four <- solve_quietly(problem$X, problem$Y, n_threads = 4, fit_intercept = TRUE)
  for (other in list(two, four)) {
    expect_identical(other$best_alphas, one$best_alphas)
    # factors may differ by 1e-12 across thread counts of the BLAS
    expect_close(other$cv_scores, one$cv_scores, 1e-11)
    expect_close(other$coefs, one$coefs, 1e-11)
  }
})

test_that("the BLAS has its own thread setting back after a call, and after an error", {
  skip_if_not(core_blas_info()$threads_controlled, "no control over the threads of this BLAS")
  problem <- random_problem(40, 10, 600, seed = 4)
  before <- core_blas_info()$threads
  solve_quietly(problem$X, problem$Y, n_threads = 2)
  expect_identical(core_blas_info()$threads, before)
  try(solve_ridge_cv(problem$X, problem$Y, score_func = function(y_true, y_pred) stop("no")), silent = TRUE)
  expect_identical(core_blas_info()$threads, before)
})
