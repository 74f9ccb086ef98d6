# Problems with several feature spaces, and banded ridge in plain R: every candidate, penalty and fold by normal
# equations.

# list(Xs, X, bands, Y): the bands as a list, and the same as one matrix whose columns are interleaved.
random_bands <- function(n, sizes, t, seed, noise = 1) {
  names <- c("motion", "words", "sound", "b4", "b5")[seq_along(sizes)]
  problem <- random_problem(n, sum(sizes), t, seed, noise)
  first <- cumsum(sizes) - sizes
  Xs <- Map(function(from, size) problem$X[, from + seq_len(size), drop = FALSE], first, sizes)
  names(Xs) <- names
  # every band gets a scale of its own, so that equal weights are wrong
  Xs <- Map(`*`, Xs, 4^(seq_along(sizes) - 2))
  order <- withr::with_seed(seed, sample(sum(sizes)))
  X <- do.call(cbind, unname(Xs))[, order, drop = FALSE]
  bands <- factor(rep(names, sizes)[order], levels = names)
  # columns of a band keep their order in the list
  Xs <- lapply(split(seq_along(bands), bands), function(j) X[, j, drop = FALSE])
  list(Xs = Xs, X = X, bands = bands, Y = problem$Y)
}

band_problems <- function(seed = 1L) {
  deficient <- random_bands(30, c(4, 3, 5), 4, seed + 4L)
  deficient$Xs$words[, 2L] <- 2
  deficient$Xs$sound[, 1L] <- deficient$Xs$motion[, 1L]
  list(
    "n > p" = random_bands(40, c(3, 1, 5), 5, seed),
    "n < p" = random_bands(20, c(12, 5, 14), 5, seed + 1L),
    "n = p" = random_bands(20, c(12, 8), 3, seed + 2L),
    "t = 1" = random_bands(30, c(4, 6), 1, seed + 3L),
    "constant and repeated columns" = deficient
  )
}

# Weights that sum to 1, the first row equal ones, a zero here and there.
random_gammas <- function(n_candidates, n_bands, seed, zeros = 0.2) {
  withr::with_seed(seed, {
    gammas <- matrix(rexp(n_candidates * n_bands), n_candidates)
    gammas[runif(length(gammas)) < zeros] <- 0
  })
  gammas[rowSums(gammas) == 0, 1L] <- 1
  gammas[1L, ] <- 1
  gammas / rowSums(gammas)
}

band_quietly <- function(...) muffle_edge(solve_banded_ridge_cv(..., progress = FALSE))

oracle_scale <- function(Xs, gamma) do.call(cbind, unname(Map(function(X, g) sqrt(g) * X, Xs, gamma)))

# The first that no later one beats by more than rounding.
oracle_first_best <- function(scores) {
  best <- 1L
  for (i in seq_along(scores)) if (scores[i] > scores[best] + EPS) best <- i
  best
}

# Everything solve_banded_ridge_cv() answers; rows of `coefs` one band after the other.
oracle_banded <- function(Xs, Y, gammas, alphas, cv = 5, local_alpha = TRUE, score_func = "r2", fit_intercept = FALSE,
                          conservative = FALSE, jitter = rep(1, nrow(gammas))) {
  targets <- seq_len(ncol(Y))
  scores <- matrix(NA_real_, nrow(gammas), ncol(Y))
  index <- matrix(NA_integer_, nrow(gammas), ncol(Y))
  for (i in seq_len(nrow(gammas))) {
    by_fold <- oracle_cv_scores(oracle_scale(Xs, gammas[i, ]), Y, alphas * jitter[i], cv, score_func, fit_intercept)
    index[i, ] <- oracle_choose(by_fold, alphas, local_alpha, conservative)
    scores[i, ] <- apply(by_fold, 2:3, mean)[cbind(index[i, ], targets)]
  }
  judged <- if (local_alpha) scores else matrix(rowMeans(scores), nrow(scores), ncol(scores))
  chosen <- apply(judged, 2L, oracle_first_best)
  out <- list(gamma_index = chosen, alpha_index = index[cbind(chosen, targets)], cv_scores = scores,
              gammas = t(gammas[chosen, , drop = FALSE]))
  out$best_alphas <- alphas[out$alpha_index] * jitter[chosen]
  fits <- oracle_banded_fit(Xs, Y, out$gammas, out$best_alphas, fit_intercept)
  out$deltas <- log(out$gammas) - rep(log(out$best_alphas), each = ncol(gammas))
  c(out, fits)
}

# gammas: bands x t; alphas: t.
oracle_banded_fit <- function(Xs, Y, gammas, alphas, fit_intercept = FALSE) {
  fits <- lapply(seq_len(ncol(Y)), function(j) {
    fit <- oracle_fit(oracle_scale(Xs, gammas[, j]), Y[, j, drop = FALSE], alphas[j], fit_intercept)
    list(coefs = sqrt(rep(gammas[, j], vapply(Xs, ncol, 0L))) * fit$coefs, intercept = fit$intercept)
  })
  list(coefs = do.call(cbind, lapply(fits, `[[`, "coefs")), intercept = vapply(fits, `[[`, 0, "intercept"))
}

# Bands x t: mean over folds of R2 with all bands less R2 without the band.
oracle_unique <- function(Xs, Y, gammas, alphas, cv, fit_intercept) {
  score <- function(j, gamma) {
    out <- oracle_cross_val_predict(oracle_scale(Xs, gamma), Y[, j, drop = FALSE], alphas[j], cv, "r2", fit_intercept)
    mean(out$scores)
  }
  out <- 0 * gammas
  for (j in seq_len(ncol(Y))) {
    for (b in seq_along(Xs)) out[b, j] <- score(j, gammas[, j]) - score(j, replace(gammas[, j], b, 0))
  }
  out
}

# Nothing is NaN or NA, and weights of 0 give coefficients of exactly 0.
expect_no_nan <- function(fit) {
  for (part in c("deltas", "cv_scores", "coefs", "intercept", "gammas", "best_alphas", "penalties")) {
    testthat::expect_false(anyNA(fit[[part]]))
  }
  zero <- unname(fit$gammas == 0)
  testthat::expect_true(all(unname(fit$deltas)[zero] == -Inf))
  testthat::expect_true(all(unname(fit$penalties)[zero] == Inf))
  testthat::expect_true(all(unname(fit$coefs)[zero[as.integer(fit$bands), , drop = FALSE]] == 0))
}
