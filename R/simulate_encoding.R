#' Simulate an encoding experiment
#'
#' Makes features, responses of voxels in several runs, and the truth behind them.
#'
#' With `spectrum = "power"`, features of a band are independent components with standard deviations j^-0.75
#' (j = 1, 2, ...) and an autocorrelation of 0.5 between successive samples of a run, then mixed by a random rotation,
#' which gives correlated features as real ones are. With `"white"` they are independent standard normal numbers. With
#' `n_delays` > 1 every feature appears at delays of 0 to `n_delays - 1` samples (zero before a run begins), and the
#' columns of a band are all features at delay 0, then all at delay 1, and so on.
#'
#' The response of a voxel is a linear combination of all features with normal weights, in which each band has a random
#' share, plus noise with an autocorrelation of 0.4 within runs. Its variance is about 1. The share of the variance that
#' features explain (`noise_ceiling`) is 0 for about a fifth of the voxels and spread evenly up to 0.6 over the others.
#'
#' @param n Whole number of samples, over all runs.
#' @param p Whole number of features, over all bands: a multiple of `n_delays`, with at least one feature per band.
#' @param t Whole number of targets (voxels).
#' @param n_runs Whole number of runs, from 1 to `n`: contiguous blocks of samples, the first `n mod n_runs` one longer.
#' @param n_bands Whole number of bands (feature spaces), which share the features as evenly as possible.
#' @param spectrum `"power"` (the default) or `"white"`: see Details.
#' @param n_delays Whole number of delays per feature. 1 (the default): none.
#' @param seed NULL draws from R's generator, so `set.seed()` works; a whole number from 0 to 2^53 - 1 gives the same
#'   data always, for any `RNGkind()`, and leaves R's generator alone.
#'
#' @returns A list:
#' * `X`: n x p matrix; with several bands also `Xs`: named list of n x p_b matrices `band1`, `band2`, ..., its parts.
#' * `Y`: n x t matrix.
#' * `runs`: integer, n; the run of each sample, to be used as `cv`.
#' * `truth`: a list of `coefs` (p x t, rows in the order of the bands), `noise_ceiling` (t; share of variance that the
#'   features explain, the largest R2 to expect), `snr` (t; ratio of signal to noise variance), `band` (factor, p) and
#'   `band_share` (bands x t; columns sum to 1).
#' * `seed`: the key of the random numbers; giving it as `seed` makes the same data.
#' @section Errors:
#' `voxridge_error_argument`, `voxridge_error_memory`; see [voxridge-conditions].
#' @section Invariants:
#' The same `seed` gives the same data, and does so for any state or kind of R's generator.
#' @examples
#' data <- simulate_encoding(n = 60, p = 10, t = 4, seed = 1)
#' str(data, max.level = 1)
#' names(simulate_encoding(n = 60, p = 10, t = 4, n_bands = 2, seed = 1)$Xs)
#' @export
simulate_encoding <- function(n, p, t, n_runs = 4, n_bands = 1, spectrum = c("power", "white"), n_delays = 1,
                              seed = NULL) {
  call <- rlang::current_env()
  n <- as_count(n, min = 2)
  p <- as_count(p)
  t <- as_count(t)
  n_runs <- as_count(n_runs, max = n)
  n_delays <- as_count(n_delays)
  if (p %% n_delays != 0L) {
    abort(
      "{.arg p} must be a multiple of {.arg n_delays} ({n_delays}), not {p}.",
      "argument",
      expected = n_delays, found = p
    )
  }
  n_bands <- as_count(n_bands, max = p %/% n_delays)
  spectrum <- as_choice(spectrum, c("power", "white"))
  check_simulated_memory(as.double(n), p, t, call)
  key <- as_key(seed, call)

  runs <- contiguous_id(n, n_runs)
  Xs <- simulate_features(n, p %/% n_delays, contiguous_id(p %/% n_delays, n_bands), runs, spectrum, key)
  if (n_delays > 1L) Xs <- lapply(Xs, delay_columns, delays = seq_len(n_delays) - 1L, runs = as_runs(runs, n))
  names(Xs) <- paste0("band", seq_along(Xs))
  truth <- simulate_weights(Xs, t, key)
  Y <- simulate_noise(n, t, runs, key) * rep(sqrt(1 - truth$noise_ceiling), each = n)
  first <- 0L
  for (X in Xs) {
    Y <- Y + X %*% truth$coefs[first + seq_len(ncol(X)), , drop = FALSE]
    first <- first + ncol(X)
  }
  features <- if (n_bands == 1L) list(X = Xs[[1L]]) else list(X = do.call(cbind, unname(Xs)), Xs = Xs)
  c(features, list(Y = Y, runs = runs, truth = truth, seed = key))
}

check_simulated_memory <- function(n, p, t, call) {
  sizes <- c(X = n * p, Y = n * t, coefficients = as.double(p) * t)
  check_result_memory(2 * 8 * sizes, "Ask for fewer samples, features or targets.", call)
}

FEATURE_AUTOCORRELATION <- 0.5
NOISE_AUTOCORRELATION <- 0.4
LARGEST_CEILING <- 0.6

# A list of n x p_b matrices.
simulate_features <- function(n, p, band, runs, spectrum, key) {
  Z <- matrix(draw(n * as.double(p), key, "features", "normal"), n, p)
  if (spectrum == "white") return(lapply(split(seq_len(p), band), function(j) Z[, j, drop = FALSE]))
  Z <- autocorrelate(Z, FEATURE_AUTOCORRELATION, runs)
  signs <- sign(draw(p, key, "rotation") - 0.5)
  unname(lapply(split(seq_len(p), band), function(j) {
    scales <- seq_along(j)^-0.75
    rotate(Z[, j, drop = FALSE] * rep(scales * signs[j], each = n))
  }))
}

# Rows times an orthogonal matrix that mixes all columns: the discrete Hartley transform, by the fast Fourier transform.
# With random signs before it, it stands in for a random rotation at a cost of n p log(p).
rotate <- function(Z) {
  spectrum <- stats::mvfft(t(Z))
  t(Re(spectrum) - Im(spectrum)) / sqrt(ncol(Z))
}

# Independent normal rows become a stationary AR(1) series within each run, of the same variance.
autocorrelate <- function(Z, rho, runs) {
  for (i in which(runs[-1L] == runs[-length(runs)]) + 1L) {
    Z[i, ] <- rho * Z[i - 1L, ] + sqrt(1 - rho^2) * Z[i, ]
  }
  Z
}

# Weights, scaled so that the signal of a target has the variance of its ceiling and bands have their shares of it.
simulate_weights <- function(Xs, t, key) {
  sizes <- vapply(Xs, ncol, 0L)
  band <- factor(rep(names(Xs), sizes), levels = names(Xs))
  quantile <- (rank(draw(t, key, "ceiling")) - 0.5) / t
  ceiling <- LARGEST_CEILING * pmax(0, quantile - 0.2) / 0.8
  shares <- matrix(-log(draw(length(Xs) * as.double(t), key, "band_share")), length(Xs), t)
  shares <- shares / rep(colSums(shares), each = length(Xs))
  coefs <- matrix(draw(sum(sizes) * as.double(t), key, "coefs", "normal"), sum(sizes), t)
  signal <- 0
  for (b in seq_along(Xs)) {
    rows <- which(as.integer(band) == b)
    part <- Xs[[b]] %*% coefs[rows, , drop = FALSE]
    scale <- sqrt(shares[b, ] / column_variance(part))
    coefs[rows, ] <- coefs[rows, ] * rep(scale, each = length(rows))
    signal <- signal + part * rep(scale, each = nrow(part))
  }
  coefs <- coefs * rep(sqrt(ceiling / column_variance(signal)), each = nrow(coefs))
  rownames(shares) <- names(Xs)
  list(coefs = coefs, noise_ceiling = ceiling, snr = ceiling / (1 - ceiling), band = band, band_share = shares)
}

# Variance about the mean; 1 where it is zero, so that it can divide.
column_variance <- function(x) {
  variance <- colMeans(x^2) - colMeans(x)^2
  variance[variance <= 0] <- 1
  variance
}

simulate_noise <- function(n, t, runs, key) {
  autocorrelate(matrix(draw(n * as.double(t), key, "noise", "normal"), n, t), NOISE_AUTOCORRELATION, runs)
}
