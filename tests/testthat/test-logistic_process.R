# Interrupts, memory and speed of logistic regression, seen from outside of the process.

LOGISTIC_WORKER <- '
X <- matrix(rnorm(600 * 1500), 600)
Y <- matrix(rbinom(600 * 40, 1, 0.5), 600)
say <- function(x, name) {
  saveRDS(x, file.path(folder, "part"))
  file.rename(file.path(folder, "part"), file.path(folder, name))
}
small <- function() fit_logistic_ridge(X[1:60, 1:20], Y[1:60, 1], lambda = 1, progress = FALSE)$coefs
want <- small()
jobs <- list(
  primal = function() fit_logistic_ridge(X[, 1:400], Y[, 1:7], cv = 10, progress = FALSE),
  dual = function() fit_logistic_ridge(X, Y[, 1:7], cv = 10, progress = FALSE),
  rotate = function() fit_logistic_ridge(X, Y, cv = 10, progress = FALSE),
  matrix_free = function() fit_logistic_ridge(X, Y[, 1], solver = "matrix_free", cv = 10, progress = FALSE)
)
for (name in names(jobs)) {
  say(NULL, paste0("ready_", name))
  outcome <- tryCatch({
    repeat suppressWarnings(jobs[[name]]())
    "finished"
  }, interrupt = function(cnd) "interrupted")
  say(list(outcome = outcome, ended = as.numeric(Sys.time()), same = identical(want, small())), paste0("result_", name))
}
'

test_that("SIGINT ends a fit within two seconds, in any solver, and the next call works", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  worker <- start_r(c(sprintf("folder <- %s", deparse(folder)), LOGISTIC_WORKER), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  there <- function(name) function() file.exists(file.path(folder, name))
  for (solver in c("primal", "dual", "rotate", "matrix_free")) {
    if (!wait_until(there(paste0("ready_", solver)), 60)) {
      fail(paste(c("no start:", readLines(worker$log)), collapse = "\n"))
      break
    }
    Sys.sleep(0.4)
    sent <- as.numeric(Sys.time())
    tools::pskill(worker$pid, tools::SIGINT)
    if (!wait_until(there(paste0("result_", solver)), 30)) {
      fail(paste(c("the process did not go on after the interrupt:", readLines(worker$log)), collapse = "\n"))
      break
    }
    result <- readRDS(file.path(folder, paste0("result_", solver)))
    expect_identical(result$outcome, "interrupted", info = solver)
    expect_lt(result$ended - sent, 2)
    expect_true(result$same)
  }
})

test_that("a wide fit makes no copy of its features", {
  peak <- measure_peak(
    "X <- matrix(rnorm(100 * 100000), 100)
     y <- rep(0:1, 50)
     for (k in 1:3) invisible(fit_logistic_ridge(X[, 1:200], y, lambda = c(1, 0.1), progress = FALSE))",
    "fit <- suppressWarnings(fit_logistic_ridge(X, y, progress = FALSE))"
  )$peak
  # X takes 80 MB; scales, coefficients and what R makes of them, a few vectors of 0.8 MB each
  expect_lt(peak, 30)
})

test_that("a path over many features keeps what it may, and the budget holds for what it works on", {
  peak <- measure_peak(
    "X <- matrix(rnorm(60 * 40000), 60)
     Y <- matrix(rbinom(60 * 100, 1, 0.5), 60)
     options(voxridge.memory_gb = 0.02)
     for (k in 1:3) invisible(fit_logistic_ridge(X[, 1:200], Y[, 1:9], lambda = c(1, 0.1), cv = 3, progress = FALSE))",
    "fit <- suppressWarnings(fit_logistic_ridge(X, Y, lambda = 10^seq(1, -3), cv = 3, progress = FALSE))"
  )$peak
  # the coefficients take 32 MB, twice while they get their names; those of a group of 64 another 20
  expect_lt(peak, 2 * 32 + 20 + 20 + 15)
})

test_that("rows without weight do not take the room of samples", {
  peak <- measure_peak(
    "X <- matrix(rnorm(5000 * 60), 5000)
     y <- rep(0:1, 2500)
     weights <- rep(c(1, 0), c(50, 4950))
     for (k in 1:3) invisible(fit_logistic_ridge(X[1:60, ], y[1:60], lambda = c(1, 0.1), cv = 3, progress = FALSE))",
    "fit <- suppressWarnings(fit_logistic_ridge(X, y, lambda = 1, weights = weights, progress = FALSE))"
  )$peak
  # 50 samples of weight, 60 features: products of all 5000 rows would take 200 MB
  expect_lt(peak, 30)
})
