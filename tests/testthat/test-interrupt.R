# A process that works until it gets SIGINT, twice, and says how it went.
WORKER <- '
X <- matrix(rnorm(1200 * 400), 1200)
Y <- matrix(rnorm(1200 * 100), 1200)[, rep(1:100, 60)]
alphas <- 10^seq(-3, 5, length.out = 60)
work <- function(t) {
  suppressWarnings(solve_ridge_cv(X, Y[, seq_len(t)], alphas = alphas, return_cv_scores = "mean", progress = FALSE))
}
state <- function() {
  list(blas = voxridge:::core_blas_info()$threads, threads = length(list.files("/proc/self/task")))
}
say <- function(x, name) {
  saveRDS(x, file.path(folder, "part"))
  file.rename(file.path(folder, "part"), file.path(folder, name))
}
want <- work(20)
before <- state()
for (i in 1:2) {
  say(NULL, paste0("ready", i))
  outcome <- tryCatch({
    repeat work(6000)
    "finished"
  }, interrupt = function(cnd) "interrupted")
  ended <- as.numeric(Sys.time())
  # the system takes a joined thread off its list a moment later
  for (look in 1:50) {
    after <- state()
    if (after$threads <= before$threads) break
    Sys.sleep(0.02)
  }
  say(list(outcome = outcome, ended = ended, before = before, after = after, same = identical(want, work(20))),
      paste0("result", i))
}
'

test_that("SIGINT ends a call within two seconds and leaves the process as it was", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  worker <- start_r(c(sprintf("folder <- %s", deparse(folder)), WORKER), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  there <- function(name) function() file.exists(file.path(folder, name))
  for (i in 1:2) {
    if (!wait_until(there(paste0("ready", i)), 60)) fail(paste(c("no start:", readLines(worker$log)), collapse = "\n"))
    Sys.sleep(c(0.2, 0.9)[i])
    sent <- as.numeric(Sys.time())
    tools::pskill(worker$pid, tools::SIGINT)
    if (!wait_until(there(paste0("result", i)), 30)) {
      fail(paste(c("the process did not go on after the interrupt:", readLines(worker$log)), collapse = "\n"))
      break
    }
    result <- readRDS(file.path(folder, paste0("result", i)))
    expect_identical(result$outcome, "interrupted")
    expect_lt(result$ended - sent, 2)
    expect_identical(result$after$blas, result$before$blas)
    # no thread is left behind (the count is 0 where /proc is not there)
    expect_lte(result$after$threads, result$before$threads)
    expect_true(result$same)
  }
})
