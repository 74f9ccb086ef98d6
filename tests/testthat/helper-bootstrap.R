# The bootstrap in plain R: literal fits to the rows of each resample.

# A literal fit to the rows of each resample; `resamples`: a list or a matrix of rows.
oracle_refits <- function(X, Y, alphas, resamples, fit_intercept = TRUE) {
  if (is.matrix(resamples)) resamples <- split(resamples, row(resamples))
  Y <- as.matrix(Y)
  lapply(resamples, function(rows) {
    oracle_fit(X[rows, , drop = FALSE], Y[rows, , drop = FALSE], alphas, fit_intercept)
  })
}

# What they say, of weights or of the rows of X_new: [resamples, outputs, targets].
oracle_samples <- function(refits, X_new = NULL) {
  answers <- lapply(refits, function(fit) if (is.null(X_new)) fit$coefs else oracle_predict(fit, X_new))
  aperm(array(unlist(answers), c(dim(answers[[1L]]), length(answers))), c(3L, 1L, 2L))
}

oracle_bootstrap <- function(X, Y, alphas, resamples, fit_intercept = TRUE, X_new = NULL) {
  oracle_samples(oracle_refits(X, Y, alphas, resamples, fit_intercept), X_new)
}

random_resamples <- function(n, n_boot, seed) {
  withr::with_seed(seed, matrix(sample.int(n, n * n_boot, replace = TRUE), n_boot))
}

# Everything the bootstrap says of samples [resamples, outputs, targets].
expect_bootstrap <- function(got, samples, estimate, conf = 0.95, tolerance = 1e-10) {
  over <- function(f) apply(samples, 2:3, f)
  expect_close(got$estimate, estimate, tolerance)
  expect_close(got$mean, over(mean), tolerance)
  expect_close(got$sd, over(stats::sd), tolerance)
  testthat::expect(identical(got$z, got$mean / got$sd), "z is not mean / sd")
  tails <- c(1 - conf, 1 + conf) / 2
  if (got$interval == "percentile") {
    limits <- over(function(x) stats::quantile(x, tails, names = FALSE, type = 7L))
    expect_close(got$lower, array(limits[1L, , ], dim(limits)[-1L]), tolerance)
    expect_close(got$upper, array(limits[2L, , ], dim(limits)[-1L]), tolerance)
  } else {
    reach <- stats::qnorm(tails[2L]) * over(stats::sd)
    expect_close(got$lower, over(mean) - reach, tolerance)
    expect_close(got$upper, over(mean) + reach, tolerance)
  }
  if (!is.null(got$samples)) expect_close(got$samples, samples, tolerance)
}

# Warnings about few resamples do not matter to a test of numbers.
boot_quietly <- function(...) {
  withCallingHandlers(bootstrap_ridge(..., progress = FALSE),
                      voxridge_warning_few_resamples = function(w) invokeRestart("muffleWarning"))
}

same_maps <- function(a, b) identical(unclass(a)[BOOTSTRAP_MAPS], unclass(b)[BOOTSTRAP_MAPS])
