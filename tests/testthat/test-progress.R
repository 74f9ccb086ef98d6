test_that("nothing is shown unless a person is there to see it", {
  problem <- random_problem(60, 20, 600, seed = 1)
  expect_silent(muffle_edge(solve_ridge_cv(problem$X, problem$Y, progress = FALSE)))
  withr::local_options(rlang_interactive = FALSE)
  expect_silent(muffle_edge(solve_ridge_cv(problem$X, problem$Y, progress = TRUE)))
})

test_that("bars are for a console, not for knitr", {
  withr::local_options(rlang_interactive = TRUE)
  expect_true(progress_allowed())
  # set for a moment only: withr looks for knitr while this is on
  before <- options(knitr.in.progress = TRUE)
  allowed <- progress_allowed()
  options(before)
  expect_false(allowed)
})

test_that("showing progress does not change the answer", {
  problem <- random_problem(60, 20, 600, seed = 2)
  quiet <- solve_quietly(problem$X, problem$Y)
  withr::local_options(rlang_interactive = TRUE, cli.progress_handlers_force = "logger")
  utils::capture.output(
    shown <- suppressMessages(muffle_edge(solve_ridge_cv(problem$X, problem$Y, progress = TRUE))), type = "output"
  )
  expect_identical(shown, quiet)
})

test_that("the core reports on the main thread, up to its total and never down", {
  # a second of work: reports come every tenth
  problem <- random_problem(200, 100, 100, seed = 3)
  Y <- problem$Y[, rep(1:100, 200)]
  seen <- NULL
  report <- function(done, total) seen <<- rbind(seen, c(done, total))
  control <- list(n_threads = 1L, memory_bytes = 1e8, progress = report)
  options <- list(fit_intercept = FALSE, local_alpha = TRUE, conservative = FALSE, score = "r2", n_targets_batch = 0L,
                  n_targets_batch_refit = 0L, n_alphas_batch = 0L, coefs = "primal", cv_scores = "none", single = FALSE,
                  skip = integer(), names = list(features = NULL, samples = NULL, targets = NULL, folds = NULL))
  alphas <- 10^seq(-2, 4, length.out = 20)
  core_ridge_cv(problem$X, Y, NULL, core_folds(as_folds(5, 200)), alphas, options, control, NULL)
  expect_gt(NROW(seen), 0L)
  expect_true(all(diff(seen[, 1L]) >= 0))
  expect_true(all(seen[, 1L] <= seen[, 2L]))
  expect_length(unique(seen[, 2L]), 1L)
})

test_that("progress must be TRUE or FALSE", {
  problem <- random_problem(20, 4, 2, seed = 4)
  expect_refused(solve_ridge_cv(problem$X, problem$Y, progress = NA), "progress")
})
