# Peak resident memory beyond what was there before the call, in MB, as the kernel counts it.
MEASURE <- '
resident <- function(what) {
  line <- grep(paste0("^", what), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
peak_of <- function(expr) {
  gc()
  cat("5", file = "/proc/self/clear_refs")   # the peak starts anew from here
  before <- resident("VmRSS")
  force(expr)
  cat(sprintf("peak %.1f\\n", resident("VmHWM") - before))
}
X <- matrix(rnorm(300 * 200), 300)
warm <- solve_ridge_cv(X, X, alphas = 1, progress = FALSE)   # buffers of the BLAS
'

peak_mb <- function(code) {
  out <- run_r(c(MEASURE, code), withr::local_tempdir())
  line <- grep("^peak ", out, value = TRUE)
  testthat::expect(length(line) == 1L, paste(c("no peak was measured:", out), collapse = "\n"))
  as.numeric(sub("^peak ", "", line))
}

skip_without_proc <- function() {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/clear_refs"), "memory can be measured on Linux only")
}

test_that("a search stays within its results and the budget", {
  skip_without_proc()
  # t = 40,000: Y 96 MB, coefs 64 MB, mean scores 8 x t 2.6 MB. An array alphas x samples x targets would be 770 MB,
  # predictions of one fold and alpha 19 MB, a copy of Y 96 MB.
  peak <- peak_mb("
Y <- matrix(rnorm(300 * 400), 300)[, rep(1:400, 100)]
options(voxridge.memory_gb = 0.05)
peak_of(fit <- suppressWarnings(solve_ridge_cv(X, Y, alphas = 10^seq(-2, 4, length.out = 8), fit_intercept = TRUE,
                                               return_cv_scores = 'mean', progress = FALSE)))")
  results <- 8 * 40000 * (200 + 8 + 4) / 2^20
  # 30 MB for R itself, Grams and factors (5 folds of 200 x 200)
  expect_lt(peak, results + 50 + 30)
  expect_gt(peak, results)
})

test_that("without coefficients and scores memory does not grow with the targets", {
  skip_without_proc()
  peak <- peak_mb("
Y <- matrix(rnorm(300 * 400), 300)[, rep(1:400, 100)]
options(voxridge.memory_gb = 0.05)
peak_of(fit <- suppressWarnings(solve_ridge_cv(X, Y, alphas = 10^seq(-2, 4, length.out = 8), return_coefs = 'none',
                                               return_cv_scores = 'none', progress = FALSE)))")
  # t = 40,000: alphas, positions and flags of every target take 20 bytes each
  expect_lt(peak, 50 + 30)
})

test_that("out-of-fold predictions exist once", {
  skip_without_proc()
  peak <- peak_mb("
Y <- matrix(rnorm(300 * 400), 300)[, rep(1:400, 100)]
options(voxridge.memory_gb = 0.05)
peak_of(out <- cross_val_predict_ridge(X, Y, alphas = 10, progress = FALSE))")
  results <- 8 * 40000 * (300 + 5) / 2^20
  expect_lt(peak, results + 50 + 30)
})

test_that("coefficients exist once, also for one penalty per target", {
  skip_without_proc()
  peak <- peak_mb("
Y <- matrix(rnorm(300 * 400), 300)[, rep(1:400, 100)]
options(voxridge.memory_gb = 0.05)
peak_of(B <- ridge_svd(X, Y, alpha = 10^seq(-2, 4, length.out = 40000)))")
  expect_lt(peak, 8 * 40000 * 200 / 2^20 + 50 + 30)
})
