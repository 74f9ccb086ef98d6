# A process that works until it gets SIGINT, then says how it went.
WORKER <- '
X <- matrix(rnorm(1200 * 900), 1200)
Y <- matrix(rnorm(1200 * 100), 1200)[, rep(1:100, 60)]
alphas <- 10^seq(-3, 5, length.out = 60)
work <- function(t) {
  suppressWarnings(solve_ridge_cv(X, Y[, seq_len(t)], alphas = alphas, return_cv_scores = "mean", progress = FALSE))
}
threads <- function() length(list.files("/proc/self/task"))
state <- function() list(blas = voxridge:::core_blas_info()$threads, threads = threads())
want <- work(20)
before <- state()
cat("ready\\n", file = file.path(folder, "ready"))
outcome <- tryCatch({
  repeat work(6000)
  "finished"
}, interrupt = function(cnd) "interrupted")
ended <- as.numeric(Sys.time())
after <- state()
again <- work(20)
saveRDS(list(outcome = outcome, ended = ended, before = before, after = after, same = identical(want, again)),
        file.path(folder, "result.tmp"))
file.rename(file.path(folder, "result.tmp"), file.path(folder, "result"))
'

test_that("SIGINT ends a call within two seconds and leaves the process as it was", {
  skip_on_cran()
  skip_on_os("windows")
  for (delay in c(0.3, 1.1)) {
    folder <- withr::local_tempdir()
    worker <- start_r(c(sprintf("folder <- %s", deparse(folder)), WORKER), folder)
    withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
    expect_true(wait_until(function() file.exists(file.path(folder, "ready")), 60))
    Sys.sleep(delay)
    sent <- as.numeric(Sys.time())
    tools::pskill(worker$pid, tools::SIGINT)
    done <- wait_until(function() file.exists(file.path(folder, "result")), 30)
    expect(done, paste(c("the process did not go on after the interrupt:", readLines(worker$log)), collapse = "\n"))
    if (!done) next
    result <- readRDS(file.path(folder, "result"))
    expect_identical(result$outcome, "interrupted")
    expect_lt(result$ended - sent, 2)
    expect_identical(result$after$blas, result$before$blas)
    # no thread is left behind (the count is 0 where /proc is not there)
    expect_lte(result$after$threads, result$before$threads)
    expect_true(result$same)
  }
})
