# Features in files against the same numbers in memory, and against plain R.

GRID <- 10^seq(-1, 4, length.out = 9)

as_file <- function(X, type = "float64", env = parent.frame()) {
  target_store(X, withr::local_tempfile(.local_envir = env), type = type)
}

# `X` and `Y` as matrices and as files: the same answer.
expect_same_fit <- function(X, Y, ..., type = "float64") {
  x <- as_file(X, type)
  X <- x[, ]
  y <- if (is.matrix(Y)) as_file(Y) else Y
  kept <- solve_quietly(X, Y, ..., n_threads = 2)
  filed <- solve_quietly(x, y, ..., n_threads = 2)
  expect_identical(filed$best_alphas, kept$best_alphas)
  expect_close(filed$cv_scores, kept$cv_scores, 1e-10)
  expect_lte(max(abs(filed$coefs - kept$coefs)), 1e-9 * max(abs(kept$coefs)))
  if (!is.null(kept$intercept)) expect_close(filed$intercept, kept$intercept, 1e-8)
  named <- c("share_at_edge", "constant_targets", "skipped_targets")
  expect_identical(filed$diagnostics[named], kept$diagnostics[named])
  expect_identical(names(filed), names(kept))
  expect_identical(dimnames(filed$coefs), dimnames(kept$coefs))
  expect_identical(dimnames(filed$cv_scores), dimnames(kept$cv_scores))
  invisible(filed)
}

# Columns of unlike size and sign; names.
file_problem <- function(n = 260L, p = 17L, t = 30L, seed = 1, noise = 1) {
  d <- random_problem(n, p, t, seed, noise)
  colnames(d$X) <- paste0("f", seq_len(p))
  colnames(d$Y) <- paste0("v", seq_len(t))
  d
}

FOLDS <- list(
  blocks = 5,
  runs = rep(c("b", "a", "c", "d"), each = 65),
  scattered = rep(1:4, 65),
  rows = list(c(3:100, 210:220), c(1:2, 101:209, 221:260)),
  hold_out = list(list(train = 1:200, test = 201:260)),
  gaps = list(list(train = c(1:90, 150:260), test = 100:140), list(train = 61:260, test = 1:50)),
  overlapping = list(list(train = c(1:150, 1:20), test = 180:260), list(train = 101:260, test = c(100, 3, 50:60))),
  gcv = "gcv"
)

test_that("features in a file give the answer of a matrix, for every kind of folds", {
  d <- file_problem()
  for (fit_intercept in c(TRUE, FALSE)) {
    for (cv in FOLDS) {
      for (score in c("r2", "neg_mse")) {
        expect_same_fit(d$X, d$Y, alphas = GRID, cv = cv, fit_intercept = fit_intercept, score_func = score)
      }
    }
  }
})

test_that("features in a file agree with normal equations and explicit folds", {
  d <- file_problem(n = 90L, p = 7L, t = 4L, seed = 2)
  for (fit_intercept in c(TRUE, FALSE)) {
    got <- solve_quietly(as_file(d$X), d$Y, alphas = GRID, cv = 4, fit_intercept = fit_intercept)
    want <- oracle_solve(d$X, d$Y, GRID, 4, fit_intercept = fit_intercept)
    expect_identical(unname(got$best_alphas), want$best_alphas)
    expect_close(got$cv_scores, want$cv_scores)
    expect_close(got$coefs, want$coefs)
  }
})

test_that("files of float32, several tiles, shared and conservative penalties", {
  d <- file_problem(t = 1100L, seed = 3)
  expect_same_fit(d$X, d$Y, alphas = GRID, fit_intercept = TRUE, type = "float32")
  expect_same_fit(d$X, d$Y, alphas = GRID, local_alpha = FALSE, return_cv_scores = "mean")
  expect_same_fit(d$X, d$Y, alphas = GRID, conservative = TRUE, fit_intercept = TRUE)
  expect_same_fit(d$X, d$Y[, 1], alphas = GRID, cv = FOLDS$runs)
  many <- expect_same_fit(d$X, d$Y[, 1:5], alphas = 10^seq(-1, 5, length.out = 200), fit_intercept = TRUE)
  expect_lt(many$diagnostics$info$n_nodes, 60)
})

test_that("offsets and drifts cost no digits", {
  n <- 5000L  # several blocks of rows
  d <- file_problem(n = n, p = 9L, t = 6L, seed = 4)
  offset <- 1e6 * rep(c(1, -1, 3), 3)
  for (cv in list(5, rep(1:5, n / 5))) {
    expect_same_fit(sweep(d$X, 2, offset, "+"), d$Y - 1e6, alphas = GRID, cv = cv, fit_intercept = TRUE)
    drift <- outer(seq_len(n) / n, 10 * c(1, -2, 0, 0, 3, 0, 0, 0, 1))
    expect_same_fit(d$X + drift + 1e4, d$Y, alphas = GRID, cv = cv, fit_intercept = TRUE)
  }
})

test_that("nearly perfect fits keep the order of the penalties", {
  for (noise in c(1e-3, 1e-6, 0)) {
    d <- file_problem(seed = 5, noise = noise)
    for (fit_intercept in c(TRUE, FALSE)) {
      expect_same_fit(d$X, d$Y, alphas = 10^seq(-2, 4, length.out = 40), fit_intercept = fit_intercept)
    }
  }
})

test_that("small penalties serve where the features allow it, and are refused where they do not", {
  d <- file_problem(seed = 6)
  expect_same_fit(d$X, d$Y, alphas = c(0, 1e-9, 1), fit_intercept = TRUE)
  X <- cbind(d$X, f18 = d$X[, 1])
  cnd <- expect_kind(solve_ridge_cv(as_file(X), d$Y, alphas = c(1e-9, 1)), "alphas", "alphas")
  expect_match(conditionMessage(cnd), "not 1e-09")
  expect_kind(solve_ridge_cv(as_file(X), d$Y, alphas = 0), "alphas", "alphas")
  expect_same_fit(X, d$Y, alphas = c(1e-2, 1), fit_intercept = TRUE)
  zero <- matrix(0, 260, 3)
  expect_same_fit(zero, d$Y, alphas = c(0, 1), fit_intercept = TRUE)
})

test_that("constant targets, constant features and few held-out samples", {
  d <- file_problem(seed = 7)
  d$Y[, 3] <- 2
  d$Y[1:52, 4] <- -7.1  # in the first fold alone
  d$X[1:52, 6] <- 0.1
  for (fit_intercept in c(TRUE, FALSE)) {
    d$X[, 5] <- if (fit_intercept) 1e5 else 3
    fit <- expect_same_fit(d$X, d$Y, alphas = c(1, 10, 100), fit_intercept = fit_intercept)
    expect_identical(unname(fit$diagnostics$constant_targets), 3:4)
    expect_true(all(fit$cv_scores[, , 3] == 0))
    expect_identical(fit$best_alphas[[3]], 100)
  }
  small <- file_problem(n = 60L, p = 50L, seed = 8)
  expect_same_fit(small$X, small$Y, alphas = GRID, cv = 20, fit_intercept = TRUE)
  expect_same_fit(small$X, small$Y, alphas = GRID, cv = as.list(1:60), score_func = "neg_mse", fit_intercept = TRUE)
})

test_that("targets with missing values are skipped, features with missing values refused", {
  d <- file_problem(t = 600L, seed = 9)
  d$Y[3, c(5, 550)] <- c(NA, Inf)
  for (cv in list(5, "gcv")) {
    x <- as_file(d$X)
    for (y in list(d$Y, as_file(d$Y))) {
      skip <- function(X) {
        solve_quietly(X, y, alphas = GRID, cv = cv, na_targets = "skip", fit_intercept = TRUE, n_threads = 2)
      }
      expect_identical(skip(x)$best_alphas, skip(d$X)$best_alphas)
      expect_equal(skip(x)[c("coefs", "cv_scores", "intercept")], skip(d$X)[c("coefs", "cv_scores", "intercept")],
                   tolerance = 1e-10)
    }
  }
  d$X[7, 2] <- NaN
  expect_kind(solve_ridge_cv(as_file(d$X), d$Y[, 1:2]), "nonfinite", "X")
  expect_kind(solve_ridge_cv(x, d$Y), "nonfinite", "Y")
})

test_that("threads, memory and groups of targets change no bit", {
  d <- file_problem(n = 6000L, p = 12L, t = 1100L, seed = 10)
  x <- as_file(d$X, "float32")
  y <- as_file(d$Y, "float32")
  fit <- function(memory_gb = 1, n_threads = 2, Y = y, ...) {
    withr::local_options(voxridge.memory_gb = memory_gb)
    solve_quietly(x, Y, alphas = GRID, cv = 3, fit_intercept = TRUE, n_threads = n_threads, ...)
  }
  want <- fit()
  expect_identical(want$diagnostics$info$passes, 1L)
  expect_identical(fit(n_threads = 1)[1:5], want[1:5])
  expect_identical(fit(n_threads = 5)[1:5], want[1:5])
  expect_identical(fit(memory_gb = 0.0125)[1:5], want[1:5])
  groups <- fit(n_targets_batch = 512L)
  expect_identical(groups[1:5], want[1:5])
  expect_identical(groups$diagnostics$info$passes, 3L)
  expect_identical(fit(Y = y[, ])[1:5], want[1:5])
  shared <- fit(local_alpha = FALSE)
  expect_identical(fit(local_alpha = FALSE, n_targets_batch = 600L)[1:5], shared[1:5])
  path <- withr::local_tempfile()
  filed <- fit(local_alpha = FALSE, n_targets_batch = 512L, coefs_path = path)
  expect_lte(max(abs(target_store(path)[, ] - shared$coefs) / abs(shared$coefs)), 2^-24)
  expect_identical(filed$intercept, shared$intercept)
  expect_null(fit(return_coefs = "none", return_cv_scores = "none")$coefs)
})

test_that("order of targets and fold labels, and scales of features, change what they should", {
  d <- file_problem(seed = 11)
  fit <- function(X, Y = d$Y, alphas = GRID, cv = 5) {
    solve_quietly(as_file(X), Y, alphas = alphas, cv = cv, fit_intercept = TRUE, n_threads = 2)
  }
  want <- fit(d$X)
  turned <- fit(d$X, d$Y[, 30:1])
  expect_identical(rev(turned$best_alphas), want$best_alphas)
  expect_close(turned$coefs[, 30:1], want$coefs, 1e-12)
  scaled <- fit(2 * d$X, alphas = 4 * GRID)
  expect_close(scaled$cv_scores, want$cv_scores, 1e-12)
  expect_close(2 * scaled$coefs, want$coefs, 1e-12)
  moved <- fit(d$X, d$Y + 100)
  expect_close(moved$coefs, want$coefs, 1e-10)
  expect_close(moved$intercept, want$intercept + 100, 1e-10)
})

test_that("ridge_cv() takes features in a file", {
  d <- file_problem(seed = 12)
  kept <- ridge_cv(d$X, d$Y, alphas = GRID, n_threads = 2, progress = FALSE)
  filed <- ridge_cv(as_file(d$X), d$Y, alphas = GRID, n_threads = 2, progress = FALSE)
  expect_identical(filed$alpha, kept$alpha)
  expect_close(filed$coef, kept$coef, 1e-10)
})

test_that("damage is noticed, in features and targets", {
  d <- file_problem(seed = 13)
  files <- list(X = as_file(d$X), Y = as_file(d$Y))
  for (which in names(files)) {
    path <- files[[which]]$path
    bytes <- readBin(path, "raw", file.size(path))
    damaged <- bytes
    damaged[20000] <- xor(bytes[20000], as.raw(1))
    writeBin(damaged, path)
    now <- files
    now[[which]] <- target_store(path)
    expect_kind(solve_ridge_cv(now$X, now$Y, alphas = GRID), "store_corrupt")
    writeBin(bytes, path)
    files[[which]] <- target_store(path)
  }
  Sys.setFileTime(files$X$path, Sys.time() - 100)
  expect_kind(solve_ridge_cv(files$X, files$Y, alphas = GRID), "store_format", "X")
})

test_that("what features in a file cannot do is refused", {
  d <- file_problem(n = 60L, seed = 14)
  x <- as_file(d$X)
  solve <- function(..., X = x, Y = d$Y, alphas = GRID) solve_ridge_cv(X, Y, alphas = alphas, ..., progress = FALSE)
  expect_kind(solve(cv = "loo"), "folds", "cv")
  expect_kind(solve(score_func = "correlation"), "score", "score_func")
  expect_kind(solve(score_func = function(a, b) colMeans(a * b)), "score", "score_func")
  expect_kind(solve(return_coefs = "dual"), "conflict", "return_coefs")
  expect_kind(solve(X = as_file(t(d$X)), Y = t(d$X)), "shape", "X")
  expect_kind(solve(X = as_file(d$X[1:17, ]), Y = d$Y[1:17, ]), "shape", "X")
  expect_kind(solve(Y = d$Y[-1, ]), "shape", "Y")
  expect_kind(solve(conservative = TRUE, cv = "gcv"), "conflict", "conservative")
  expect_kind(solve(X = as_file(d$X * 1e300)), "argument", "X")
  expect_refused(solve(device = "gpu"), "device")
  memory <- withr::with_options(list(voxridge.memory_gb = 1e-6), expect_kind(solve(), "memory", "X"))
  expect_match(conditionMessage(memory), "voxridge.memory_gb")
  # every sample is a cell of its own
  withr::with_options(list(voxridge.memory_gb = 0.004), expect_kind(
    solve(cv = as.list(1:60), score_func = "neg_mse", X = as_file(matrix(rnorm(60 * 50), 60))), "memory", "X"
  ))
  rlang::reset_warning_verbosity("voxridge_single_precision")
  fit <- withCallingHandlers(muffle_edge(solve(precision = "single")), voxridge_warning_single_precision = function(w) {
    expect_match(conditionMessage(w), "double")
    invokeRestart("muffleWarning")
  })
  expect_identical(fit$diagnostics$info$precision, "double")
})

test_that("memory does not grow with the samples", {
  run <- function(n) {
    measure_peak(sprintf("
set.seed(1)
X <- matrix(rnorm(%d * 40), ncol = 40)
x <- target_store(X, tempfile())
y <- target_store(X, tempfile())
rm(X)
solve <- function() {
  solve_ridge_cv(x, y, alphas = c(10, 100), fit_intercept = TRUE, cv = 3, n_threads = 2, progress = FALSE)
}
options(voxridge.memory_gb = 0.02)
for (i in 1:3) invisible(suppressWarnings(solve()))", n), "suppressWarnings(solve())")$peak
  }
  # a matrix of 400,000 x 40 takes 128 MB; what folds say of each sample takes 40 bytes
  expect_lt(run(400000L), 20 + 400000 * 40 / 2^20 + 20)
})
