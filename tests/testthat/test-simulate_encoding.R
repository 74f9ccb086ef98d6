test_that("shapes are as asked and runs are contiguous blocks", {
  data <- simulate_encoding(n = 50, p = 12, t = 7, n_runs = 4, seed = 1)
  expect_identical(dim(data$X), c(50L, 12L))
  expect_identical(dim(data$Y), c(50L, 7L))
  expect_identical(data$runs, rep(1:4, c(13, 13, 12, 12)))
  expect_true(all(is.finite(data$X)) && all(is.finite(data$Y)))
  expect_identical(dim(data$truth$coefs), c(12L, 7L))
  expect_null(data[["Xs"]])
})

test_that("several bands come as a named list that shares the features", {
  data <- simulate_encoding(n = 50, p = 13, t = 7, n_bands = 3, seed = 1)
  expect_identical(data$X, do.call(cbind, unname(data$Xs)))
  expect_named(data$Xs, c("band1", "band2", "band3"))
  expect_identical(sum(vapply(data$Xs, ncol, 0L)), 13L)
  expect_equal(colSums(data$truth$band_share), rep(1, 7))
})

test_that("the seed fixes the data and leaves R's generator alone", {
  withr::local_seed(1)
  before <- .Random.seed
  a <- simulate_encoding(n = 30, p = 6, t = 4, seed = 7)
  expect_identical(.Random.seed, before)
  b <- withr::with_seed(1, simulate_encoding(n = 30, p = 6, t = 4, seed = 7), .rng_kind = "Wichmann-Hill")
  expect_identical(a, b)
  expect_false(identical(a$Y, simulate_encoding(n = 30, p = 6, t = 4, seed = 8)$Y))
})

test_that("set.seed works, and the seed that was drawn repeats the data", {
  a <- withr::with_seed(3, simulate_encoding(n = 30, p = 6, t = 4))
  b <- withr::with_seed(3, simulate_encoding(n = 30, p = 6, t = 4))
  expect_identical(a, b)
  expect_identical(simulate_encoding(n = 30, p = 6, t = 4, seed = a$seed), a)
  expect_false(identical(withr::with_seed(4, simulate_encoding(n = 30, p = 6, t = 4))$Y, a$Y))
})

test_that("power-law features have a falling spectrum, white ones a flat one", {
  spread <- function(spectrum) {
    values <- svd(simulate_encoding(n = 500, p = 40, t = 1, spectrum = spectrum, seed = 1)$X)$d^2
    values[1L] / values[40L]
  }
  # column variances j^-1.5 give 40^1.5 = 253; white noise at n / p = 12.5 gives about (1.28 / 0.72)^2 = 3.2
  expect_gt(spread("power"), 100)
  expect_lt(spread("white"), 6)
})

test_that("real features are correlated, and so are the simulated ones", {
  correlations <- function(spectrum) {
    r <- cor(simulate_encoding(n = 500, p = 20, t = 1, spectrum = spectrum, seed = 2)$X)
    mean(abs(r[upper.tri(r)]))
  }
  # independent columns of 500 samples have mean |r| of 0.036
  expect_gt(correlations("power"), 0.1)
  expect_lt(correlations("white"), 0.06)
})

test_that("delays start anew in every run", {
  data <- simulate_encoding(n = 40, p = 12, t = 3, n_runs = 4, n_delays = 3, seed = 1)
  for (delay in 1:2) {
    now <- data$X[, 1:4]
    late <- data$X[, delay * 4L + 1:4]
    for (run in 1:4) {
      rows <- which(data$runs == run)
      expect_true(all(late[rows[seq_len(delay)], ] == 0))
      expect_identical(late[rows[-seq_len(delay)], ], now[utils::head(rows, -delay), ])
    }
  }
})

test_that("voxels vary in signal, and the truth says how much there is", {
  data <- simulate_encoding(n = 4000, p = 10, t = 60, seed = 3)
  signal <- data$X %*% data$truth$coefs
  share <- 1 - apply(data$Y - signal, 2L, var) / apply(data$Y, 2L, var)
  # noise has an autocorrelation of 0.4, so a variance over 4000 samples has a relative sd of about 0.03
  expect_lt(max(abs(share - data$truth$noise_ceiling)), 0.1)
  expect_gt(mean(data$truth$noise_ceiling == 0), 0.05)
  expect_gt(max(data$truth$noise_ceiling), 0.4)
  expect_equal(data$truth$snr, data$truth$noise_ceiling / (1 - data$truth$noise_ceiling))
})

test_that("the main job works on it: signal is found where it is and only there", {
  data <- simulate_encoding(n = 400, p = 20, t = 80, n_runs = 4, seed = 4)
  fit <- solve_quietly(data$X, data$Y, alphas = alpha_grid(data$X), cv = data$runs, fit_intercept = TRUE,
                       score_func = "correlation", return_cv_scores = "mean")
  best <- apply(fit$cv_scores, 2L, max)
  ceiling <- data$truth$noise_ceiling
  expect_gt(cor(best, sqrt(ceiling)), 0.9)
  expect_lt(max(best[ceiling == 0]), 0.3)
})

test_that("wrong settings are refused with their names", {
  expect_refused(simulate_encoding(n = 1, p = 3, t = 2), "n")
  expect_refused(simulate_encoding(n = 10, p = 0, t = 2), "p")
  expect_refused(simulate_encoding(n = 10, p = 3, t = 0), "t")
  expect_refused(simulate_encoding(n = 10, p = 3, t = 2, n_runs = 11), "n_runs")
  expect_refused(simulate_encoding(n = 10, p = 3, t = 2, n_bands = 4), "n_bands")
  expect_refused(simulate_encoding(n = 10, p = 3, t = 2, n_delays = 2), "p", "2")
  expect_refused(simulate_encoding(n = 10, p = 3, t = 2, spectrum = "pink"), "spectrum")
  expect_refused(simulate_encoding(n = 10, p = 3, t = 2, seed = 0.5), "seed")
})

test_that("data too large for this machine are refused before anything is drawn", {
  skip_if(is.na(core_memory_available()))
  expect_error(simulate_encoding(n = 2e9, p = 2000, t = 2), class = "voxridge_error_memory")
})
