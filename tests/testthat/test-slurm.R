# distribute_ridge_cv() on a Slurm cluster.

test_that("the cluster of the tests refuses another one in its folder or on its ports, and is not harmed", {
  skip_without_slurm()
  ours <- Sys.getenv("SLURM_CI_DIR")
  status <- function(command, dir, port = 19000) {
    withr::local_envvar(SLURM_CI_DIR = dir, SLURM_CI_PORT = port)
    system2("sh", c(shQuote(Sys.getenv("SLURM_CI_TOOL")), command), stdout = FALSE, stderr = FALSE)
  }
  expect_identical(status("run true", ours), 2L)
  port <- sub(".*=", "", grep("^SlurmctldPort", readLines(Sys.getenv("SLURM_CONF")), value = TRUE))
  folder <- withr::local_tempdir()
  expect_identical(status("run true", file.path(folder, "other"), port), 2L)
  expect_identical(status("kill-node n9", ours), 2L)
  # folders that are not by the script stay as they are
  file.create(file.path(folder, "mine"))
  expect_identical(status("run true", folder), 2L)
  expect_identical(status("stop", folder), 2L)
  expect_identical(list.files(folder, recursive = TRUE), "mine")
  expect_identical(system2("sinfo", c("-h", "-N", "-t", "idle", "-o", "%N"), stdout = TRUE), c("n1", "n2"))
  expect_identical(system2("srun", "hostname", stdout = FALSE), 0L)
})

test_that("the answer on Slurm is that of one process, on all cores of a job", {
  skip_without_slurm()
  problem <- crash_problem()
  folder <- withr::local_tempdir()
  local_slurm(folder, cpus = 2L)
  fit <- distribute_slowly(problem, 0.1, dir = file.path(folder, "run"))
  expect_identical(answer_of(fit), undisturbed(problem))
  expect_identical(fit$missing_targets, integer(0))
  batches <- fit$diagnostics$batches
  # 2700 targets are no multiple of 512: the last batch has what is left
  expect_identical(batches$last - batches$first + 1, c(512, 512, 512, 512, 512, 140))
  expect_length(unique(batches$pid), 2L)
  expect_false(Sys.getpid() %in% batches$pid)
  expect_equal(batches$n_threads, rep(2, 6))
})

test_that("USER may be unset", {
  skip_without_slurm()
  problem <- crash_problem()
  folder <- withr::local_tempdir()
  local_slurm(folder, cpus = 1L)
  withr::local_envvar(USER = NA)
  fit <- distribute_slowly(problem, dir = file.path(folder, "run"))
  expect_identical(Sys.getenv("USER", NA), NA_character_)
  expect_identical(answer_of(fit), undisturbed(problem))
  expect_equal(fit$diagnostics$batches$n_threads, rep(1, 6))
})

test_that("a killed R process of a job costs no finished batch and changes nothing", {
  skip_without_slurm()
  problem <- crash_problem()
  folder <- withr::local_tempdir()
  dir <- file.path(folder, "run")
  local_slurm(folder)
  when_finished(2L, dir, kill_slurm_worker(dir))
  fit <- distribute_slowly(problem, 0.4, dir = dir)
  expect_finished_kept(fit, dir)
  expect_true(any(fit$diagnostics$batches$attempt > 1L))
  expect_identical(answer_of(fit), undisturbed(problem))
})

test_that("a node that is lost and comes back costs no finished batch and changes nothing", {
  skip_without_slurm()
  problem <- crash_problem()
  folder <- withr::local_tempdir()
  dir <- file.path(folder, "run")
  local_slurm(folder)
  # a node that is back before Slurm has missed it takes a minute to tell that its job is gone
  missed <- "for i in $(seq 60); do [ -n \"$(squeue -h -w n1 -t RUNNING)\" ] || break; sleep 1; done"
  when_finished(2L, dir, c(slurm_tool("kill-node n1"), missed, slurm_tool("start-node n1")))
  fit <- distribute_slowly(problem, 0.4, dir = dir)
  expect_finished_kept(fit, dir)
  expect_identical(answer_of(fit), undisturbed(problem))
})

test_that("a run on Slurm whose driver was killed is resumed by one process", {
  skip_without_slurm()
  problem <- crash_problem()
  folder <- withr::local_tempdir()
  dir <- file.path(folder, "run")
  plan <- sprintf(
    "future::plan(future.batchtools::batchtools_slurm, workers = 2, template = %s, resources = list(cpus = 2))",
    deparse(slurm_template())
  )
  finished <- kill_driver(problem, dir, 2L, c(sprintf("setwd(%s)", deparse(folder)), plan), folder)
  expect_lt(length(finished), 6L)
  system2("scancel", paste0("--user=", Sys.info()[["effective_user"]]))
  local_workers("sequential")
  fit <- distribute_slowly(problem, 0.15, dir = dir)
  expect_identical(answer_of(fit), undisturbed(problem))
})
