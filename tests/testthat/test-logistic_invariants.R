# What must not change an answer.

test_that("only the ratios of weights count, and an integer weight is a row that occurs so often", {
  d <- two_classes(30, 8, 51)
  set.seed(52)
  weights <- stats::runif(30, 0.1, 2)
  times <- rep(c(2, 1, 0, 1, 3), 6)
  rows <- rep(seq_len(30), times)
  for (solver in SOLVERS) {
    a <- logistic_quietly(d$X, d$y, lambda = 0.05, weights = weights, solver = solver)
    b <- logistic_quietly(d$X, d$y, lambda = 0.05, weights = 10 * weights, solver = solver)
    expect_close(b$coefs, a$coefs, 1e-13)
    expect_close(b$intercept, a$intercept, 1e-13)
    expect_close(b$C, a$C / 10, 1e-13)
    c <- logistic_quietly(d$X, d$y, lambda = 0.05, weights = times, solver = solver, tol = 1e-11)
    e <- logistic_quietly(d$X[rows, ], d$y[rows], lambda = 0.05, solver = solver, tol = 1e-11)
    expect_close(c$coefs, e$coefs, 1e-10)
    expect_close(c$scale, e$scale, 1e-12)
  }
  far <- d$X
  far[times == 0, ] <- 1e6
  expect_identical(logistic_quietly(far, d$y, lambda = 0.05, weights = times)$coefs,
                   logistic_quietly(d$X, d$y, lambda = 0.05, weights = times)$coefs)
})

test_that("the intercept is not penalised: shifting all features leaves probabilities; scaling a feature too", {
  for (shape in list(c(40, 6), c(20, 30))) {
    d <- two_classes(shape[1L], shape[2L], 61)
    probabilities <- function(fit, X) stats::plogis(drop(X %*% fit$coefs) + fit$intercept)
    for (solver in SOLVERS) {
      fit <- function(X) logistic_quietly(X, d$y, lambda = 0.01, solver = solver, tol = 1e-11)
      p <- probabilities(fit(d$X), d$X)
      shifted <- d$X + 100
      expect_close(probabilities(fit(shifted), shifted), p, 1e-9)
      scaled <- d$X
      scaled[, 2L] <- -1e4 * scaled[, 2L]
      expect_close(probabilities(fit(scaled), scaled), p, 1e-9)
      expect_close(sum(p), sum(d$y), 1e-9)
    }
  }
})

test_that("`positive` swaps all signs, exactly", {
  d <- two_classes(30, 40, 71)
  y <- factor(ifelse(d$y == 1, "house", "face"), levels = c("face", "house"))
  for (solver in c(SOLVERS, "auto")) {
    a <- logistic_quietly(d$X, y, lambda = c(1, 0.1), cv = 3, solver = solver)
    b <- logistic_quietly(d$X, y, lambda = c(1, 0.1), cv = 3, solver = solver, positive = "face")
    expect_identical(b$coefs, -a$coefs)
    expect_identical(b$intercept, -a$intercept)
    expect_identical(b$cv$scores, a$cv$scores)
    expect_identical(c(a$positive, b$positive), c("house", "face"))
  }
})

test_that("a fit can be repeated, bit by bit, with any number of threads", {
  d <- two_classes(60, 90, 81)
  set.seed(82)
  Y <- cbind(d$y, matrix(stats::rbinom(60 * 9, 1, 0.5), 60))
  before <- .Random.seed
  for (solver in SOLVERS) {
    X <- if (solver %in% c("primal", "batch")) d$X[, 1:30] else d$X
    fits <- lapply(c(1L, 1L, 2L, 5L), function(k) {
      without_time(logistic_quietly(X, Y, cv = 3, lambda = c(1, 0.1), solver = solver, n_threads = k))
    })
    for (fit in fits[-1L]) expect_identical(fit, fits[[1L]], info = solver)
  }
  one <- lapply(c(1L, 2L, 5L), function(k) without_time(logistic_quietly(d$X, d$y, n_threads = k)))
  expect_identical(one[[2L]], one[[1L]])
  expect_identical(one[[3L]], one[[1L]])
  expect_identical(.Random.seed, before)
})

test_that("threads do not change an answer either where they decide whether a copy of the features fits", {
  d <- two_classes(4500, 5, 83)
  # a copy of the 3000 training rows takes 120 kB: half of 300 kB, not of 150 kB
  withr::local_options(voxridge.memory_gb = 3e-4)
  Y <- cbind(d$y, two_classes(4500, 1, 84)$y)
  for (y in list(d$y, Y)) {
    fits <- lapply(1:2, function(k) {
      without_time(logistic_quietly(d$X, y, cv = 3, lambda = c(1, 0.1), solver = "matrix_free", n_threads = k))
    })
    # only the scores: a page of numbers shows nothing
    expect_identical(fits[[2L]]$cv$scores, fits[[1L]]$cv$scores)
    expect_true(identical(fits[[2L]], fits[[1L]]))
  }
})

test_that("a small memory budget gives the same answer", {
  d <- two_classes(40, 60, 91)
  set.seed(92)
  Y <- matrix(stats::rbinom(40 * 70, 1, 0.5), 40)
  for (solver in c("primal", "rotate", "batch", "matrix_free")) {
    X <- if (solver %in% c("primal", "batch")) d$X[, 1:10] else d$X
    for (local_lambda in c(TRUE, FALSE)) {
      fit <- function() {
        logistic_quietly(X, Y, cv = 3, lambda = c(3, 1, 0.3), solver = solver, local_lambda = local_lambda, tol = 1e-10)
      }
      a <- fit()
      b <- withr::with_options(list(voxridge.memory_gb = 1e-6), fit())
      expect_identical(b$best_lambda, a$best_lambda)
      expect_close(b$coefs, a$coefs, 1e-9)
      expect_close(b$cv$scores, a$cv$scores, 1e-9)
      expect_close(b$cv$predictions, a$cv$predictions, 1e-8)
    }
  }
})

test_that("integer, logical and data frame features are the numbers that they are", {
  d <- two_classes(30, 4, 95)
  X <- round(d$X * 3)
  want <- logistic_quietly(X, d$y, lambda = 0.1)$coefs
  whole <- X
  storage.mode(whole) <- "integer"
  expect_identical(logistic_quietly(whole, d$y, lambda = 0.1)$coefs, want)
  expect_identical(unname(logistic_quietly(as.data.frame(X), d$y, lambda = 0.1)$coefs), want)
  positive <- logistic_quietly((X > 0) + 0, d$y, lambda = 0.1)$coefs
  expect_identical(logistic_quietly(X > 0, d$y, lambda = 0.1)$coefs, positive)
  same <- logistic_quietly(X, d$y == 1, lambda = 0.1)
  expect_identical(same$coefs, want)
  expect_identical(logistic_quietly(X, list(a = d$y, b = d$y == 0), lambda = 0.1)$coefs[, "a"], want)
})
