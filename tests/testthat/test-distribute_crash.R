# Runs of distribute_ridge_cv() whose workers or driver are killed. The same on a cluster: test-slurm.R.

test_that("a killed worker of plan(multisession) costs no finished batch and changes nothing", {
  skip_on_cran()
  skip_on_os("windows")
  problem <- crash_problem()
  dir <- file.path(withr::local_tempdir(), "run")
  local_workers("multisession", workers = 2)
  when_finished(2L, dir, sprintf("kill -9 %d", worker_pids(2L)[1L]))
  fit <- distribute_slowly(problem, 0.2, dir = dir)
  expect_finished_kept(fit, dir)
  expect_true(any(fit$diagnostics$batches$attempt > 1L))
  expect_identical(answer_of(fit), undisturbed(problem))
})

test_that("all workers of plan(cluster) killed at once: others go on with the rest", {
  skip_on_cran()
  skip_on_os("windows")
  problem <- crash_problem()
  dir <- file.path(withr::local_tempdir(), "run")
  local_workers("cluster", workers = c("localhost", "localhost"))
  when_finished(2L, dir, sprintf("kill -9 %s", paste(worker_pids(2L), collapse = " ")))
  fit <- distribute_slowly(problem, 0.2, dir = dir)
  expect_finished_kept(fit, dir)
  expect_identical(answer_of(fit), undisturbed(problem))
})

test_that("a killed worker of a banded search costs no finished batch and changes nothing", {
  skip_on_cran()
  skip_on_os("windows")
  data <- simulate_encoding(n = 40, p = 12, t = 600, n_bands = 3, seed = 1)
  search <- function(dir, seconds) {
    muffle_edge(distribute_banded_ridge_cv(
      data$Xs, data$Y, n_iter = 12, alphas = c(0.1, 10), cv = 2, score_func = slow_score(seconds), seed = 3,
      n_candidates_batch = 2, return_coefs = "primal", dir = dir, progress = FALSE
    ))
  }
  answer <- function(fit) c(fit[c("best_alphas", "gammas", "deltas", "cv_scores")], list(fit$coefs[, 1:600]))
  folder <- withr::local_tempdir()
  want <- answer(search(file.path(folder, "undisturbed"), 0))
  dir <- file.path(folder, "run")
  local_workers("multisession", workers = 2)
  when_finished(2L, dir, sprintf("kill -9 %d", worker_pids(2L)[1L]), stage = "search")
  fit <- search(dir, 0.05)
  expect_finished_kept(fit, dir, stage = "search")
  expect_identical(answer(fit), want)
})

test_that("a run whose driver was killed is resumed under another plan", {
  skip_on_cran()
  skip_on_os("windows")
  problem <- crash_problem()
  folder <- withr::local_tempdir()
  dir <- file.path(folder, "run")
  finished <- kill_driver(problem, dir, 2L, "future::plan('multisession', workers = 2)", folder)
  expect_lt(length(finished), 6L)
  local_workers("sequential")
  fit <- distribute_slowly(problem, 0.15, dir = dir)
  expect_identical(answer_of(fit), undisturbed(problem))
  expect_identical(fit$missing_targets, integer(0))
  # once more: nothing is left to do
  files <- list.files(file.path(dir, "batches"), full.names = TRUE)
  before <- file.mtime(files)
  again <- distribute_slowly(problem, 0.15, dir = dir)
  expect_identical(answer_of(again), answer_of(fit))
  expect_identical(file.mtime(files), before)
})
