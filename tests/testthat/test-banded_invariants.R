# Laws of banded ridge, each over several seeds. Answers that go through other factors agree to
# rounding: 1e-9 is a thousand times what well-conditioned problems of this size lose.

ALPHAS <- 10^(-1:3)

# A problem whose shape and options depend on the seed.
any_bands <- function(seed) {
  withr::with_seed(seed, {
    n <- sample(18:40, 1L)
    sizes <- sample(c(1:8, 15:25), sample(2:4, 1L))
    t <- sample(2:9, 1L)
    options <- list(fit_intercept = sample(c(TRUE, FALSE), 1L),
                    score_func = sample(c("r2", "neg_mse", "correlation"), 1L),
                    local_alpha = sample(c(TRUE, FALSE), 1L), cv = sample(2:6, 1L))
  })
  c(random_bands(n, sizes, t, seed), list(options = options, gammas = random_gammas(6, length(sizes), seed)))
}

fit_bands <- function(problem, ..., alphas = ALPHAS) {
  args <- c(list(Xs = problem$Xs, Y = problem$Y, n_iter = problem$gammas, alphas = alphas), problem$options)
  other <- list(...)
  args[names(other)] <- other
  do.call(band_quietly, args)
}

expect_same_bands <- function(got, want, tolerance = 1e-9) {
  expect_identical(got$diagnostics$gamma_index, want$diagnostics$gamma_index)
  expect_identical(got$best_alphas, want$best_alphas)
  for (part in c("cv_scores", "coefs", "intercept")) {
    if (!is.null(want[[part]])) expect_close(got[[part]], want[[part]], tolerance)
  }
}

test_that("one band is ridge regression", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    options <- problem$options
    plain <- do.call(solve_quietly, c(list(problem$X, problem$Y, alphas = ALPHAS), options))
    one <- fit_bands(problem, Xs = list(all = problem$X), n_iter = 3, seed = 1)
    expect_identical(one$best_alphas, plain$best_alphas)
    expect_close(one$coefs, plain$coefs)
    expect_identical(unname(one$gammas), matrix(1, 1, ncol(problem$Y)))
    expect_close(one$deltas, -log(rbind(plain$best_alphas)), 1e-12)
    means <- apply(plain$cv_scores, 2:3, mean)
    best <- means[cbind(plain$diagnostics$alpha_index, seq_along(plain$best_alphas))]
    for (i in 1:3) expect_close(one$cv_scores[i, ], best)
  }
})

test_that("equal gammas of 1 are ridge regression on all columns", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    plain <- do.call(solve_quietly, c(list(problem$X, problem$Y, alphas = ALPHAS), problem$options))
    ones <- fit_bands(problem, Xs = problem$X, bands = problem$bands, n_iter = matrix(1, 1, length(problem$Xs)))
    expect_identical(ones$best_alphas, plain$best_alphas)
    expect_close(ones$coefs, plain$coefs)
    if (problem$options$fit_intercept) expect_close(ones$intercept, plain$intercept)
  }
})

test_that("drawn candidates give the same answer when they are given", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    drawn <- fit_bands(problem, n_iter = 8, seed = seed)
    given <- fit_bands(problem, n_iter = drawn$candidates)
    parts <- setdiff(names(drawn), "diagnostics")
    expect_identical(given[parts], drawn[parts])
  }
})

test_that("the same call gives the same bits, and so does the seed that was drawn", {
  for (seed in 1:5) {
    problem <- any_bands(seed)
    a <- withr::with_seed(seed, fit_bands(problem, n_iter = 8, jitter_alphas = TRUE))
    expect_identical(withr::with_seed(seed, fit_bands(problem, n_iter = 8, jitter_alphas = TRUE)), a)
    expect_identical(fit_bands(problem, n_iter = 8, jitter_alphas = TRUE, seed = a$diagnostics$seed), a)
  }
})

# Which parts of two fits differ in any bit.
differing_bands <- function(got, want) {
  parts <- setdiff(names(want), "diagnostics")
  parts[!mapply(identical, got[parts], want[parts])]
}

test_that("batches change no bit", {
  for (seed in 1:6) {
    problem <- any_bands(seed)
    want <- fit_bands(problem)
    for (size in c(1, 2, 7, 1000)) {
      for (name in c("n_targets_batch", "n_targets_batch_refit", "n_alphas_batch")) {
        got <- do.call(fit_bands, c(list(problem), stats::setNames(list(size), name)))
        expect_identical(differing_bands(got, want), character())
      }
    }
  }
})

test_that("threads, batches and budgets change no bit over many tiles, in both shapes", {
  for (sizes in list(c(3, 6), c(25, 40))) {
    problem <- random_bands(40, sizes, 1300, seed = 1)
    problem$gammas <- random_gammas(5, 2, 1)
    problem$options <- list(fit_intercept = TRUE)
    want <- fit_bands(problem, n_threads = 1)
    for (settings in list(list(n_threads = 2), list(n_threads = 3, n_targets_batch = 500),
                          list(n_threads = 2, n_targets_batch = 513, n_alphas_batch = 2))) {
      expect_identical(differing_bands(do.call(fit_bands, c(list(problem), settings)), want), character())
    }
    withr::with_options(list(voxridge.memory_gb = 1e-4), {
      expect_identical(differing_bands(fit_bands(problem, n_threads = 2), want), character())
    })
  }
})

test_that("permuting the targets permutes the answers", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    order <- withr::with_seed(seed, sample(ncol(problem$Y)))
    want <- fit_bands(problem)
    got <- fit_bands(problem, Y = problem$Y[, order])
    expect_identical(got$deltas, want$deltas[, order])
    expect_close(got$cv_scores, want$cv_scores[, order], 1e-12)
    expect_close(got$coefs, want$coefs[, order], 1e-12)
  }
})

test_that("a target gets the same answer alone as among others", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    all <- fit_bands(problem, local_alpha = TRUE)
    one <- fit_bands(problem, Y = problem$Y[, 2L, drop = FALSE], local_alpha = TRUE)
    expect_identical(one$deltas[, 1L], all$deltas[, 2L])
    expect_close(one$cv_scores[, 1L], all$cv_scores[, 2L], 1e-12)
    expect_close(one$coefs[, 1L], all$coefs[, 2L], 1e-12)
  }
})

test_that("exchanging bands with their gammas exchanges their results", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    order <- rev(seq_along(problem$Xs))
    want <- fit_bands(problem)
    got <- fit_bands(problem, Xs = problem$Xs[order], n_iter = problem$gammas[, order])
    expect_identical(got$deltas, want$deltas[order, , drop = FALSE])
    got$coefs <- got$coefs[order(match(got$bands, names(problem$Xs))), , drop = FALSE]
    expect_same_bands(got, want)
  }
})

test_that("scaling a band by a and its gammas by 1 / a^2 scales its coefficients by 1 / a", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    want <- fit_bands(problem)
    for (a in c(1e-3, 1e4)) {
      scaled <- problem
      scaled$Xs[[2L]] <- a * scaled$Xs[[2L]]
      scaled$gammas[, 2L] <- scaled$gammas[, 2L] / a^2
      got <- fit_bands(scaled)
      rows <- which(as.integer(got$bands) == 2L)
      got$coefs[rows, ] <- a * got$coefs[rows, ]
      expect_same_bands(got, want)
    }
  }
})

test_that("scaling gammas and alphas alike changes no coefficient and no delta", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    want <- fit_bands(problem)
    for (c in c(1e-4, 8, 1e6)) {
      got <- fit_bands(problem, n_iter = c * problem$gammas, alphas = c * ALPHAS)
      expect_identical(got$diagnostics$alpha_index, want$diagnostics$alpha_index)
      got$best_alphas <- want$best_alphas
      expect_same_bands(got, want)
      expect_close(exp(got$deltas), exp(want$deltas))
    }
  }
})

test_that("a constant added to Y changes only the intercept", {
  for (seed in 1:10) {
    problem <- any_bands(seed)
    shift <- withr::with_seed(seed, round(rnorm(ncol(problem$Y), sd = 10)))
    want <- fit_bands(problem, fit_intercept = TRUE)
    got <- fit_bands(problem, Y = sweep(problem$Y, 2L, shift, "+"), fit_intercept = TRUE)
    expect_close(got$intercept, want$intercept + shift)
    got$intercept <- want$intercept
    expect_same_bands(got, want)
  }
})

test_that("column offsets of a million sd cost no digits", {
  # on a dyadic grid an offset of 2^20 is exact, so both calls have the same centred data
  for (sizes in list(c(3, 5), c(40, 30))) {
    problem <- random_bands(30, sizes, 4, seed = 26)
    Xs <- lapply(problem$Xs, function(X) round(X * 2^16) / 2^16)
    Y <- round(problem$Y * 2^16) / 2^16
    gammas <- random_gammas(5, 2, 7)
    plain <- band_quietly(Xs, Y, n_iter = gammas, alphas = ALPHAS, fit_intercept = TRUE)
    shifted <- band_quietly(lapply(Xs, `+`, 2^20), Y - 2^20, n_iter = gammas, alphas = ALPHAS, fit_intercept = TRUE)
    expect_identical(shifted$deltas, plain$deltas)
    expect_close(shifted$cv_scores, plain$cv_scores)
    expect_close(shifted$coefs, plain$coefs)
  }
})

# ---- weights of zero -------------------------------------------------------------------------

test_that("a band of weight 0 has coefficients of exactly 0 and a delta of -Inf", {
  problem <- random_bands(30, c(4, 6, 40), 5, seed = 61)
  for (gammas in list(diag(3), rbind(c(1, 0, 0)), rbind(c(0.5, 0.5, 0), c(0, 0, 2)))) {
    for (alphas in list(ALPHAS, 0, c(0, 1))) {
      fit <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = alphas, fit_intercept = TRUE)
      expect_no_nan(fit)
      # what is left is ridge regression on the others
      for (j in 1:5) {
        on <- fit$gammas[, j] > 0
        Z <- oracle_scale(problem$Xs[on], fit$gammas[on, j])
        scores <- oracle_cv_scores(Z, problem$Y[, j, drop = FALSE], fit$best_alphas[j], 5, "r2", TRUE)
        expect_close(max(fit$cv_scores[, j]), mean(scores), 1e-8)
      }
    }
  }
})

test_that("random searches with extreme concentrations never give NaN", {
  sizes <- c(1, 2, 1, 3, 2, 1, 1, 2, 1, 2)
  for (shape in list(c(n = 30, times = 1), c(n = 12, times = 3))) {
    problem <- random_problem(shape[["n"]], sum(sizes) * shape[["times"]], 3, seed = 62)
    bands <- paste0("b", rep(1:10, sizes * shape[["times"]]))
    zeros <- 0
    for (seed in 1:50) {
      fit <- band_quietly(problem$X, problem$Y, bands = bands, n_iter = 10, alphas = c(0, 1e-3, 1, 1e6), cv = 3,
                          concentration = c(1e-3, 1e-2, 1, 100), seed = seed, fit_intercept = seed %% 2 == 0)
      bad <- anyNA(unlist(fit[c("deltas", "cv_scores", "coefs", "intercept", "gammas", "penalties")]))
      expect_false(bad)
      zeros <- zeros + sum(fit$candidates == 0)
    }
    expect_no_nan(fit)
    expect_gt(zeros, 0)
  }
})

test_that("the choice does not depend on the unit of the targets, whatever the score", {
  problem <- random_bands(60, c(5, 40), 10, seed = 31)
  problem$Y <- problem$Xs[[1L]] %*% matrix(rnorm(50), 5) + 0.5 * problem$Y
  mse <- function(y_true, y_pred) -colMeans((y_true - y_pred)^2)
  for (precision in c("double", "single")) {
    for (score_func in list("neg_mse", "r2", mse)) {
      chosen <- function(unit) {
        band_quietly(problem$Xs, problem$Y * unit, n_iter = 20, seed = 1, alphas = 10^seq(-2, 4, length.out = 13),
                     score_func = score_func, precision = precision)$diagnostics$gamma_index
      }
      expect_gt(length(setdiff(chosen(1), 1L)), 0L)
      expect_identical(chosen(2^-40), chosen(1))
      expect_identical(chosen(2^20), chosen(1))
    }
  }
})
