# Distributed fits that something happens to in the middle: workers, nodes and drivers are killed.

# 30 samples x 4 features; 5 tiles of 512 targets and a part of one.
crash_problem <- function() random_problem(30, 4, 5L * 512L + 140L, seed = 1)

# Minus the mean squared error per target, slowly. It reads nothing but its arguments, so that any worker can run it.
slow_score <- function(seconds) {
  eval(bquote(function(y_true, y_pred) {
    Sys.sleep(.(seconds))
    -colMeans((y_true - y_pred)^2)
  }), baseenv())
}

# A run in batches of one tile, six in all, the last one a part of a tile.
distribute_slowly <- function(problem, seconds = 0, ...) {
  muffle_edge(distribute_ridge_cv(
    problem$X, problem$Y, alphas = c(0.1, 10), cv = 2, score_func = slow_score(seconds), fit_intercept = TRUE,
    return_coefs = "primal", n_targets_batch = 512, progress = FALSE, ...
  ))
}

# What must not depend on who computed it.
answer_of <- function(fit) {
  out <- fit[c("best_alphas", "cv_scores", "intercept")]
  out$coefs <- fit$coefs[, seq_len(ncol(fit$coefs))]
  out
}

# The answer of one process, to which nothing happens.
undisturbed <- function(problem) {
  local_workers("sequential")
  answer_of(distribute_slowly(problem, dir = file.path(withr::local_tempdir(), "run")))
}

# A future plan for as long as the caller runs, and little patience for files that are not there: all is on one machine.
local_workers <- function(..., .local_envir = parent.frame()) {
  before <- future::plan(...)
  withr::defer(future::plan(before), envir = .local_envir)
  withr::local_options(voxridge.fs_grace = 1, .local_envir = .local_envir)
}

# Process numbers of the `n` workers of the plan.
worker_pids <- function(n) {
  asked <- lapply(seq_len(n), function(i) {
    future::future({
      Sys.sleep(0.5)
      Sys.getpid()
    }, seed = NULL)
  })
  unique(vapply(asked, future::value, 0L))
}

# Runs shell commands in the background as soon as `n` batches of the run in `dir` are finished, once for all. Right
# after the first of them, `<dir>.finished` gets copies of the finished batches; `<dir>.done` says that all have run.
when_finished <- function(n, dir, commands, stage = "batches") {
  dir <- shQuote(dir)
  script <- c(
    "tries=0",
    sprintf("while [ \"$(ls %s/%s/ 2>/dev/null | grep -c '[.]rds$')\" -lt %d ] && [ $tries -lt 1200 ]", dir, stage, n),
    "do tries=$((tries + 1)); sleep 0.05; done",
    commands[1L],
    sprintf("cp -pR %s/%s %s.finished", dir, stage, dir),
    commands[-1L],
    sprintf("touch %s.done", dir)
  )
  system2("sh", c("-c", shQuote(paste(script, collapse = "\n"))), stdout = FALSE, stderr = FALSE, wait = FALSE)
}

# The batches that were finished when it happened are as they were then, and only the others were done again.
expect_finished_kept <- function(fit, dir, stage = "batches") {
  testthat::expect_true(wait_until(function() file.exists(paste0(dir, ".done")), 30))
  kept <- list.files(paste0(dir, ".finished"), "[.]rds$")
  testthat::expect_true(length(kept) > 0L && length(kept) < 6L)
  before <- file.path(paste0(dir, ".finished"), kept)
  after <- file.path(dir, stage, kept)
  testthat::expect_identical(unname(tools::md5sum(after)), unname(tools::md5sum(before)))
  testthat::expect_identical(file.mtime(after), file.mtime(before))
  attempts <- fit$diagnostics$batches$attempt
  testthat::expect_length(attempts, 6L)
  testthat::expect_true(all(attempts[batch_numbers(kept)] == 1L))
  testthat::expect_identical(batch_numbers(list.files(file.path(dir, stage), "[.]rds$")), 1:6)
}

batch_numbers <- function(files) as.integer(gsub("[^0-9]", "", basename(files)))

# A run in a process of its own, which is killed when `n` batches are finished; returns their names.
kill_driver <- function(problem, dir, n, plan_code, folder) {
  input <- file.path(folder, "input.rds")
  saveRDS(list(problem = problem, score = slow_score(0.15), dir = dir), input)
  body <- paste(deparse(distribute_slowly), collapse = "\n")
  driver <- start_r(c(
    plan_code,
    sprintf("input <- readRDS(%s)", deparse(input)),
    "muffle_edge <- suppressWarnings",
    "slow_score <- function(seconds) input$score",
    paste("distribute_slowly <-", body),
    "distribute_slowly(input$problem, dir = input$dir)"
  ), folder)
  finished <- function() list.files(file.path(dir, "batches"), "[.]rds$")
  testthat::expect_true(wait_until(function() length(finished()) >= n, 60))
  tools::pskill(driver$pid, 9L)
  finished()
}
