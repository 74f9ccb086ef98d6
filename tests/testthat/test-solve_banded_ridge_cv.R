ALPHAS <- c(0.1, 1, 10, 100)

# `got` of bands as a list, `want` of oracle_banded().
expect_bands_solved <- function(got, want, tolerance = 1e-9) {
  expect_identical(as.vector(got$diagnostics$gamma_index), want$gamma_index)
  expect_identical(as.vector(got$diagnostics$alpha_index), want$alpha_index)
  expect_identical(unname(got$best_alphas), want$best_alphas)
  expect_identical(unname(got$gammas), unname(want$gammas))
  expect_close(got$cv_scores, want$cv_scores, tolerance)
  expect_close(exp(got$deltas), exp(want$deltas))
  expect_identical(unname(got$deltas == -Inf), unname(want$gammas == 0))
  expect_close(got$coefs, want$coefs, tolerance)
  if (!is.null(got$intercept)) expect_close(got$intercept, want$intercept, tolerance)
}

test_that("every class of problem agrees with normal equations, candidate by candidate and fold by fold", {
  for (problem in band_problems()) {
    gammas <- random_gammas(4, length(problem$Xs), seed = 1)
    for (score_func in c("r2", "neg_mse", "correlation")) {
      for (fit_intercept in c(FALSE, TRUE)) {
        got <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = ALPHAS, cv = 4, score_func = score_func,
                            fit_intercept = fit_intercept)
        expect_bands_solved(got, oracle_banded(problem$Xs, problem$Y, gammas, ALPHAS, 4, score_func = score_func,
                                               fit_intercept = fit_intercept))
        expect_identical(is.null(got$intercept), !fit_intercept)
      }
    }
  }
})

test_that("drawn candidates are scored as they are returned", {
  for (problem in band_problems(11L)) {
    got <- band_quietly(problem$Xs, problem$Y, n_iter = 8, alphas = ALPHAS, seed = 3, fit_intercept = TRUE)
    want <- oracle_banded(problem$Xs, problem$Y, unname(got$candidates), ALPHAS, fit_intercept = TRUE)
    expect_bands_solved(got, want)
  }
})

test_that("the answer has the documented parts, in their order", {
  problem <- random_bands(30, c(3, 5), 4, seed = 1)
  fit <- band_quietly(problem$Xs, problem$Y, n_iter = 7, fit_intercept = TRUE, seed = 1)
  expect_named(fit, c("deltas", "cv_scores", "backend", "coefs", "intercept", "gammas", "best_alphas", "penalties",
                      "candidates", "bands", "diagnostics"))
  expect_identical(lapply(fit[c("deltas", "cv_scores", "coefs", "gammas", "penalties", "candidates")], dim),
                   list(deltas = c(2L, 4L), cv_scores = c(7L, 4L), coefs = c(8L, 4L), gammas = c(2L, 4L),
                        penalties = c(2L, 4L), candidates = c(7L, 2L)))
  expect_identical(fit$backend, "armadillo")
  expect_identical(fit$bands, factor(rep(c("motion", "words"), c(3, 5))))
  expect_true(all(fit$best_alphas %in% c(0.1, 1, 10)))
  expect_identical(fit$penalties, rep(fit$best_alphas, each = 2) / fit$gammas)
  expect_identical(unname(fit$gammas), unname(t(fit$candidates[fit$diagnostics$gamma_index, ])))
  expect_named(fit$diagnostics, c("alpha_index", "gamma_index", "share_at_edge", "share_at_edge_by_band",
                                  "unused_candidates", "constant_targets", "skipped_targets", "seed", "info"))
  expect_identical(fit$diagnostics$unused_candidates, setdiff(1:7, fit$diagnostics$gamma_index))
})

# ---- choice ----------------------------------------------------------------------------------

test_that("local_alpha = FALSE shares candidate and penalty, in both shapes", {
  for (problem in band_problems(31L)) {
    gammas <- random_gammas(6, length(problem$Xs), seed = 3)
    got <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = ALPHAS, local_alpha = FALSE)
    expect_bands_solved(got, oracle_banded(problem$Xs, problem$Y, gammas, ALPHAS, local_alpha = FALSE))
    expect_length(unique(got$diagnostics$gamma_index), 1L)
    expect_length(unique(got$best_alphas), 1L)
  }
})

test_that("conservative takes the largest alpha within one sd, in every candidate", {
  alphas <- 10^seq(-2, 3, length.out = 10)
  moved <- NULL
  for (seed in 1:5) {
    problem <- random_bands(30, c(4, 6), 4, seed, noise = 3)
    gammas <- random_gammas(4, 2, seed)
    got <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = alphas, conservative = TRUE)
    expect_bands_solved(got, oracle_banded(problem$Xs, problem$Y, gammas, alphas, conservative = TRUE))
    plain <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = alphas)
    moved <- c(moved, got$best_alphas > plain$best_alphas)
  }
  expect_gt(mean(moved), 0.3)
  expect_error(solve_banded_ridge_cv(problem$Xs, problem$Y, local_alpha = FALSE, conservative = TRUE),
               class = "voxridge_error_conflict")
})

test_that("jitter moves the grid of each candidate by a factor of its own", {
  problem <- random_bands(30, c(4, 6), 5, seed = 41)
  gammas <- random_gammas(6, 2, seed = 4)
  got <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = ALPHAS, jitter_alphas = TRUE, seed = 4)
  jitter <- draw_candidates(unname(gammas), 1, TRUE, 4, c("motion", "words"))$jitter
  expect_gt(length(unique(jitter)), 5L)
  expect_bands_solved(got, oracle_banded(problem$Xs, problem$Y, gammas, ALPHAS, jitter = jitter))
  # each candidate by itself on its own grid
  for (i in 1:6) {
    one <- band_quietly(problem$Xs, problem$Y, n_iter = gammas[i, , drop = FALSE], alphas = ALPHAS * jitter[i])
    expect_close(one$cv_scores[1L, ], got$cv_scores[i, ], 1e-12)
  }
})

test_that("ties go to the larger alpha, and to the first candidate", {
  problem <- random_bands(20, c(2, 3), 2, seed = 8)
  gammas <- rbind(c(0.5, 0.5), c(0.5, 0.5), c(0.2, 0.8))
  Y <- cbind(0 * problem$Y[, 1L], problem$Y[, 2L])
  for (alphas in list(c(0.1, 1, 10), c(10, 0.1, 1))) {
    fit <- band_quietly(problem$Xs, Y, n_iter = gammas, alphas = alphas, score_func = "neg_mse")
    expect_identical(unname(fit$best_alphas[1L]), 10)
    expect_identical(fit$diagnostics$gamma_index[1L], 1L)
    expect_false(2L %in% fit$diagnostics$gamma_index)
    expect_true(2L %in% fit$diagnostics$unused_candidates)
  }
})

test_that("chosen alphas are values of the grid, bit for bit, whatever its order", {
  problem <- random_bands(30, c(4, 9), 6, seed = 9)
  alphas <- withr::with_seed(1, exp(runif(15, -5, 8)))
  fit <- band_quietly(problem$Xs, problem$Y, n_iter = 9, alphas = alphas, seed = 1)
  expect_identical(unname(fit$best_alphas), alphas[fit$diagnostics$alpha_index])
  sorted <- band_quietly(problem$Xs, problem$Y, n_iter = 9, alphas = sort(alphas), seed = 1)
  expect_identical(sorted$best_alphas, fit$best_alphas)
  expect_identical(sorted$deltas, fit$deltas)
})

test_that("a function of (y_true, y_pred) chooses as the score it computes", {
  problem <- random_bands(30, c(4, 9), 4, seed = 24)
  neg_mse <- function(y_true, y_pred) -colMeans((y_true - y_pred)^2)
  of_vectors <- function(y_true, y_pred) -mean((y_true - y_pred)^2)
  for (local_alpha in c(TRUE, FALSE)) {
    solve <- function(score_func) {
      band_quietly(problem$Xs, problem$Y, n_iter = 5, seed = 1, alphas = ALPHAS, score_func = score_func,
                   local_alpha = local_alpha, fit_intercept = TRUE)
    }
    want <- solve("neg_mse")
    for (score_func in list(neg_mse, of_vectors)) {
      got <- solve(score_func)
      expect_identical(got[c("deltas", "best_alphas")], want[c("deltas", "best_alphas")])
      expect_close(got$cv_scores, want$cv_scores)
      expect_close(got$coefs, want$coefs)
    }
  }
  expect_error(solve_banded_ridge_cv(problem$Xs, problem$Y, score_func = function(y_true, y_pred) "high"),
               class = "voxridge_error_score")
})

test_that("folds can be labels, held-out rows, or train and test rows", {
  problem <- random_bands(23, c(2, 4), 3, seed = 2)
  gammas <- random_gammas(4, 2, seed = 5)
  overlapping <- list(list(train = c(1:15, 1:5), test = 16:20), list(train = 5:23, test = 1:4))
  for (cv in list(2, rep(c("b", "a", "c"), length.out = 23), list(c(1:5, 20L), 6:12, c(13:19, 21:23)), overlapping)) {
    got <- band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = ALPHAS, cv = cv, fit_intercept = TRUE)
    expect_bands_solved(got, oracle_banded(problem$Xs, problem$Y, gammas, ALPHAS, cv, fit_intercept = TRUE))
  }
})

test_that("leave-one-out and GCV are what they are for each scaled problem", {
  for (problem in band_problems(51L)[c("n > p", "n < p", "t = 1")]) {
    gammas <- random_gammas(2, length(problem$Xs), seed = 6)
    for (fit_intercept in c(FALSE, TRUE)) {
      solve <- function(cv) {
        band_quietly(problem$Xs, problem$Y, n_iter = gammas, alphas = ALPHAS, cv = cv, score_func = "neg_mse",
                     fit_intercept = fit_intercept)
      }
      loo <- solve("loo")
      gcv <- solve("gcv")
      for (i in 1:2) {
        Z <- oracle_scale(problem$Xs, gammas[i, ])
        expect_close(loo$cv_scores[i, ], apply(oracle_loo(Z, problem$Y, ALPHAS, fit_intercept), 2L, max), 1e-8)
        expect_close(gcv$cv_scores[i, ], apply(oracle_gcv(Z, problem$Y, ALPHAS, fit_intercept), 2L, max), 1e-8)
      }
      expect_close(gcv$coefs, oracle_banded_fit(problem$Xs, problem$Y, gcv$gammas, gcv$best_alphas,
                                                fit_intercept)$coefs)
    }
  }
})

# ---- targets ---------------------------------------------------------------------------------

test_that("constant targets score 0, are listed, and influence nothing", {
  problem <- random_bands(30, c(3, 5), 4, seed = 12)
  Y <- cbind(problem$Y, 0, 7)
  for (local_alpha in c(TRUE, FALSE)) {
    fit <- band_quietly(problem$Xs, Y, n_iter = 6, seed = 1, alphas = ALPHAS, local_alpha = local_alpha,
                        fit_intercept = TRUE)
    want <- band_quietly(problem$Xs, problem$Y, n_iter = 6, seed = 1, alphas = ALPHAS, local_alpha = local_alpha,
                         fit_intercept = TRUE)
    expect_true(all(fit$cv_scores[, 5:6] == 0))
    expect_identical(as.integer(fit$diagnostics$constant_targets), 5:6)
    expect_identical(fit$deltas[, 1:4], want$deltas)
    expect_close(fit$coefs[, 1:4], want$coefs, 1e-12)
    expect_identical(fit$diagnostics$share_at_edge_by_band, want$diagnostics$share_at_edge_by_band)
    expect_no_nan(fit)
  }
})

test_that("na_targets = 'skip' gives NA there and influences nothing else", {
  problem <- random_bands(30, c(3, 5), 6, seed = 22)
  Y <- problem$Y
  Y[4L, 2L] <- NA
  Y[5L, 6L] <- Inf
  keep <- c(1L, 3:5)
  for (local_alpha in c(TRUE, FALSE)) {
    for (return_coefs in c("primal", "dual")) {
      solve <- function(Y) {
        band_quietly(problem$Xs, Y, n_iter = 6, seed = 1, alphas = ALPHAS, na_targets = "skip", fit_intercept = TRUE,
                     local_alpha = local_alpha, return_coefs = return_coefs)
      }
      got <- solve(Y)
      want <- solve(problem$Y[, keep])
      for (part in c("deltas", "gammas", "penalties", "cv_scores", "coefs")) {
        expect_true(all(is.na(got[[part]][, -keep])))
        expect_equal(got[[part]][, keep], want[[part]], tolerance = 1e-12)
      }
      expect_identical(got$best_alphas[keep], want$best_alphas)
      expect_close(got$intercept[keep], want$intercept, 1e-12)
      expect_true(all(is.na(c(got$best_alphas[-keep], got$intercept[-keep], got$diagnostics$gamma_index[-keep]))))
      expect_identical(as.integer(got$diagnostics$skipped_targets), c(2L, 6L))
      expect_identical(got$diagnostics$unused_candidates, want$diagnostics$unused_candidates)
    }
  }
  expect_error(solve_banded_ridge_cv(problem$Xs, Y), class = "voxridge_error_nonfinite")
  all_bad <- band_quietly(problem$Xs, Y[, c(2, 6)], n_iter = 3, seed = 1, na_targets = "skip")
  expect_true(all(is.na(all_bad$deltas)) && all(is.na(all_bad$coefs)))
  expect_identical(all_bad$diagnostics$unused_candidates, 1:3)
})

test_that("the share of a band's weight at the ends of the grid is told", {
  gammas <- cbind(c(1, 0, 0), c(2, 2, 0), c(0, 1, 0))
  shares <- band_share_at_edge(gammas, c(1, 10, 100), c(10, 1, 100))
  expect_identical(shares, cbind(smallest = c(2 / 3, 0, NA), largest = c(0, 2 / 3, NA)))
  expect_true(all(is.na(band_share_at_edge(gammas, c(1, 1, 1), 1))))
  expect_true(all(is.na(band_share_at_edge(gammas[, 0L], numeric(), c(1, 10)))))
  problem <- random_bands(30, c(3, 5), 8, seed = 10)
  expect_warning(
    fit <- solve_banded_ridge_cv(problem$Xs, problem$Y, n_iter = 4, alphas = c(1e-9, 1e-8), seed = 1, progress = FALSE),
    "alpha_grid\\(Xs\\)", class = "voxridge_warning_alpha_at_edge"
  )
  expect_close(rowSums(fit$diagnostics$share_at_edge_by_band), c(1, 1), 1e-12)
  expect_silent(solve_banded_ridge_cv(problem$Xs, problem$Y, n_iter = 4, alphas = 1, seed = 1, progress = FALSE))
})

# ---- what is returned ------------------------------------------------------------------------

test_that("dual coefficients give the primal ones, and none gives neither", {
  for (problem in band_problems(71L)) {
    for (fit_intercept in c(FALSE, TRUE)) {
      solve <- function(return_coefs) {
        band_quietly(problem$Xs, problem$Y, n_iter = 5, seed = 1, alphas = ALPHAS, fit_intercept = fit_intercept,
                     return_coefs = return_coefs)
      }
      primal <- solve("primal")
      dual <- solve("dual")
      expect_identical(dim(dual$coefs), dim(problem$Y))
      from_dual <- do.call(rbind, unname(Map(function(X, gamma) {
        crossprod(X, dual$coefs) * rep(gamma, each = ncol(X))
      }, problem$Xs, asplit(dual$gammas, 1L))))
      expect_close(from_dual, primal$coefs)
      if (fit_intercept) expect_close(dual$intercept, primal$intercept)
      none <- solve("none")
      expect_null(none$coefs)
      expect_identical(none[c("deltas", "cv_scores")], primal[c("deltas", "cv_scores")])
    }
  }
})

test_that("scores of candidates come, or not at all", {
  problem <- random_bands(30, c(4, 6), 4, seed = 15)
  solve <- function(return_cv_scores) {
    band_quietly(problem$Xs, problem$Y, n_iter = 5, seed = 1, return_cv_scores = return_cv_scores)
  }
  expect_identical(solve("mean"), solve("all"))
  none <- solve("none")
  expect_null(none$cv_scores)
  expect_identical(none[c("deltas", "coefs")], solve("all")[c("deltas", "coefs")])
})

test_that("single precision stays close and chooses from the grid", {
  for (sizes in list(c(8, 12), c(60, 50))) {
    problem <- random_bands(60, sizes, 5, seed = 28)
    double <- band_quietly(problem$Xs, problem$Y, n_iter = 5, seed = 1, alphas = ALPHAS, fit_intercept = TRUE)
    single <- suppressWarnings(solve_banded_ridge_cv(problem$Xs, problem$Y, n_iter = 5, seed = 1, alphas = ALPHAS,
                                                     fit_intercept = TRUE, precision = "single", progress = FALSE))
    expect_close(single$cv_scores, double$cv_scores, 5e-5)
    expect_close(single$coefs, double$coefs, 5e-5)
    expect_true(all(single$best_alphas %in% ALPHAS))
  }
})

# ---- silly input -----------------------------------------------------------------------------

test_that("empty and silly input is refused before any work, with argument and numbers", {
  problem <- random_bands(20, c(2, 3), 3, seed = 30)
  Xs <- problem$Xs
  Y <- problem$Y
  expect_refused(solve_banded_ridge_cv(Xs, Y[-1L, ]), "Y", c("`Xs`", "20", "19"))
  expect_refused(solve_banded_ridge_cv(Xs, Y[-1L, 1L]), "Y", c("`Xs`", "20", "19"))
  expect_refused(solve_banded_ridge_cv(Xs, Y[, 0L]), "Y")
  expect_refused(solve_banded_ridge_cv(Xs, "a"), "Y")
  expect_refused(solve_banded_ridge_cv(Xs, Y, alphas = c(1, -0.5)), "alphas", "-0\\.5")
  expect_refused(solve_banded_ridge_cv(Xs, Y, alphas = numeric()), "alphas")
  expect_refused(solve_banded_ridge_cv(Xs, Y, cv = 21), "cv", c("20", "21"))
  expect_refused(solve_banded_ridge_cv(Xs, Y, cv = 20), "cv", "neg_mse")
  expect_refused(solve_banded_ridge_cv(Xs, Y, cv = "gcv", score_func = "correlation"), "score_func")
  expect_refused(solve_banded_ridge_cv(Xs, Y, cv = list(1:10, 10:20)), "cv")
  expect_refused(solve_banded_ridge_cv(Xs, Y, cv = "loo", conservative = TRUE), "conservative")
  expect_refused(solve_banded_ridge_cv(Xs, Y, score_func = "accuracy"), "score_func")
  expect_refused(solve_banded_ridge_cv(Xs, Y, fit_intercept = NA), "fit_intercept")
  expect_refused(solve_banded_ridge_cv(Xs, Y, local_alpha = "yes"), "local_alpha")
  expect_refused(solve_banded_ridge_cv(Xs, Y, jitter_alphas = 1), "jitter_alphas")
  expect_refused(solve_banded_ridge_cv(Xs, Y, search = "grid"), "search", "random")
  expect_refused(solve_banded_ridge_cv(Xs, Y, seed = 0.5), "seed")
  expect_refused(solve_banded_ridge_cv(Xs, Y, n_iter = 0), "n_iter")
  expect_refused(solve_banded_ridge_cv(Xs, Y, return_coefs = "both"), "return_coefs")
  expect_refused(solve_banded_ridge_cv(Xs, Y, return_cv_scores = "some"), "return_cv_scores")
  expect_refused(solve_banded_ridge_cv(Xs, Y, precision = "half"), "precision")
  expect_refused(solve_banded_ridge_cv(Xs, Y, n_targets_batch = 0), "n_targets_batch")
  expect_refused(solve_banded_ridge_cv(Xs, Y, n_threads = 0), "n_threads")
  expect_refused(solve_banded_ridge_cv(Xs, Y, device = "tpu"), "device")
  expect_refused(solve_banded_ridge_cv(Xs, Y, Y_in_cpu = NA), "Y_in_cpu")
  expect_error(solve_banded_ridge_cv(Xs, Y, n_candidates = 1), "n_candidates")
})

test_that("errors name the function that the user called", {
  problem <- random_bands(20, c(2, 3), 3, seed = 31)
  calls <- list(
    function() solve_banded_ridge_cv(unname(problem$Xs), problem$Y),
    function() solve_banded_ridge_cv(problem$X, problem$Y),
    function() solve_banded_ridge_cv(problem$Xs, problem$Y, n_iter = diag(3)),
    function() solve_banded_ridge_cv(problem$Xs, problem$Y, n_iter = "3"),
    function() solve_banded_ridge_cv(problem$Xs, problem$Y, seed = -1),
    function() solve_banded_ridge_cv(problem$Xs, problem$Y, local_alpha = NULL),
    function() solve_banded_ridge_cv(problem$Xs, problem$Y, concentration = -1)
  )
  for (one in calls) {
    cnd <- expect_error(one(), class = "voxridge_error")
    expect_identical(as.character(conditionCall(cnd)[[1L]]), "solve_banded_ridge_cv")
  }
})

test_that("results over half of the free memory are refused before any work", {
  skip_if(is.na(core_memory_available()))
  Xs <- list(a = matrix(0.5, 2, 1), b = matrix(0.5, 2, 1))
  t <- 1e6
  n_iter <- min(ceiling(core_memory_available() / 8 / t), 2e9)
  cnd <- expect_error(
    solve_banded_ridge_cv(Xs, matrix(0.5, 2, t), n_iter = n_iter, cv = 2, score_func = "neg_mse"),
    "cv_scores", class = "voxridge_error_memory"
  )
  expect_match(conditionMessage(cnd), "return_cv_scores")
})
