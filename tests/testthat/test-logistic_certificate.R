# The certificate is a claim about the distance to the optimum: here the optimum is known from elsewhere.

# A problem of a random kind, with everything that the objective knows of.
random_logistic <- function(seed) {
  set.seed(seed)
  n <- c(3L, 8L, 20L, 40L)[1L + seed %% 4L]
  p <- sample(c(1L, 4L, 15L, 40L), 1L)
  X <- matrix(stats::rnorm(n * p), n, p)
  if (seed %% 3L == 0L) X[, 1L] <- 3
  if (seed %% 5L == 0L) X[, p] <- X[, 1L] + 1
  if (seed %% 7L == 0L) X[, p] <- 100 * X[, p]
  z <- sample(c(0, 1, 5), 1L) * rowSums(X[, seq_len(min(3L, p)), drop = FALSE]) + stats::rnorm(n)
  y <- as.double(z > stats::median(z))
  if (seed %% 11L == 0L) y <- stats::runif(n)
  weights <- if (seed %% 2L == 0L) stats::runif(n) * (stats::runif(n) > 0.2) else rep(1, n)
  weights[c(which.max(y), which.min(y))] <- 1
  list(X = X, y = y, weights = weights, offset = if (seed %% 4L == 1L) stats::rnorm(n) else rep(0, n),
       penalty = if (seed %% 6L == 2L) stats::runif(p, 0.3, 3) else rep(1, p), standardize = seed %% 5L != 1L,
       intercept = seed %% 9L != 4L)
}

# Of coefficients, the gradient in gamma that is left, and the rounding that is in it, both computed anew.
certificate_oracle <- function(d, lambda, coefs, intercept) {
  w <- d$weights / sum(d$weights)
  m <- colSums(w * d$X)
  s <- if (d$standardize) sqrt(colSums(w * sweep(d$X, 2L, m)^2)) else rep(1, ncol(d$X))
  size <- s * sqrt(d$penalty)
  Z <- sweep(sweep(d$X, 2L, if (d$intercept) m else 0), 2L, ifelse(s > 0, size, Inf), "/")
  z <- drop(d$X %*% coefs) + intercept + d$offset
  r <- w * (d$y * stats::plogis(-z) - (1 - d$y) * stats::plogis(z))
  norms <- sqrt(rowSums(Z^2))
  rounding <- sum((abs(r) + w * stats::plogis(z) * stats::plogis(-z) * drop(abs(d$X) %*% abs(coefs))) * norms)
  loss <- sum(w * (-d$y * stats::plogis(z, log.p = TRUE) - (1 - d$y) * stats::plogis(-z, log.p = TRUE)))
  gamma <- size * coefs
  list(gamma = gamma, p = stats::plogis(z)[w > 0], objective = loss + lambda / 2 * sum(gamma^2),
       gradient = sqrt(sum((drop(crossprod(Z, r)) - lambda * gamma)^2)),
       rounding = 16 * EPS * (rounding + lambda * sqrt(sum(gamma^2))), largest = max(norms[w > 0]))
}

test_that("the true distance, gap and error of probabilities lie within their bounds, for all solvers", {
  statuses <- wrong <- character()
  # one expectation in the end: thousands of them take longer than the fits
  check <- function(value, limit, what, where) {
    if (!isTRUE(value <= limit)) wrong <<- c(wrong, sprintf("%s: %s %.4g, not up to %.4g", where, what, value, limit))
  }
  for (seed in 1:50) {
    d <- random_logistic(seed)
    lambda <- sort(10^c(stats::runif(3L, -4, 1), stats::runif(1L, -8, -4)), decreasing = TRUE)
    optima <- lapply(lambda, function(one) {
      at <- logistic_oracle(d$X, d$y, one, d$weights, d$offset, d$penalty, d$standardize, d$intercept)
      certificate_oracle(d, one, at$coefs, at$intercept)
    })
    for (solver in SOLVERS) {
      fit <- suppressWarnings(logistic_quietly(
        d$X, d$y, lambda = lambda, cv = NULL, weights = d$weights, offset = d$offset, penalty = d$penalty,
        standardize = d$standardize, fit_intercept = d$intercept, solver = solver, keep_path = TRUE
      ), classes = "voxridge_warning_not_converged")
      table <- fit$diagnostics$table
      statuses <- c(statuses, table$status)
      for (l in seq_along(lambda)) {
        where <- sprintf("case %d, lambda %.2g, %s", seed, lambda[l], solver)
        got <- certificate_oracle(d, lambda[l], fit$path$coefs[, l], fit$path$intercept[l])
        want <- optima[[l]]
        # what rounding leaves of either solution
        slack <- (want$gradient + want$rounding + got$rounding) / lambda[l]
        check(sqrt(sum((got$gamma - want$gamma)^2)), table$bound[l] + slack, "distance", where)
        check(max(abs(got$p - want$p)), table$prob_bound[l] + want$largest * slack + 1e-14, "error", where)
        check(got$objective - want$objective, table$gap[l] + slack^2 * lambda[l] + 1e-14, "gap", where)
        if (table$status[l] == "converged") check(table$bound[l], 1e-8 * table$size[l] * (1 + 1e-9), "bound", where)
      }
      # what it says of the chosen coefficients is what they have, also where the search was in another space
      chosen <- fit$diagnostics$chosen
      got <- certificate_oracle(d, lambda[4L], fit$coefs, fit$intercept)
      check(abs(chosen$gradient - got$gradient), 1e-6 * got$gradient + got$rounding, "error of the gradient", where)
      check(abs(chosen$bound - chosen$gradient / lambda[4L]), 1e-15 * chosen$bound, "bound", where)
      check(abs(chosen$gap - chosen$gradient^2 / (2 * lambda[4L])), 1e-15 * chosen$gap, "gap", where)
      check(abs(chosen$prob_bound - want$largest / 2 * chosen$bound), 1e-12 * chosen$prob_bound, "prob_bound", where)
    }
  }
  expect_identical(wrong, character())
  expect_length(statuses, 50 * 4 * 5)
  expect_gt(mean(statuses == "converged"), 0.98)
})

test_that("asking for more gives a smaller bound", {
  d <- two_classes(40, 30, 2)
  for (solver in SOLVERS) {
    bounds <- vapply(c(1e-2, 1e-4, 1e-8, 1e-12), function(tol) {
      fit <- logistic_quietly(d$X, d$y, lambda = 0.01, solver = solver, tol = tol)
      expect_lte(fit$diagnostics$chosen$bound, tol * fit$diagnostics$chosen$size)
      fit$diagnostics$chosen$bound
    }, 0)
    expect_true(all(diff(bounds) <= 0), info = solver)
    expect_lt(bounds[4L], bounds[2L])
  }
})

test_that("what does not converge says so, with a true bound", {
  d <- two_classes(30, 50, 3, strength = 3)
  for (solver in SOLVERS) {
    expect_warning(fit <- logistic_quietly(d$X, d$y, lambda = 1e-5, solver = solver, max_iter = 1L, tol = 1e-12),
                   class = "voxridge_warning_not_converged")
    expect_false(fit$converged)
    expect_identical(fit$diagnostics$chosen$status, "max_iter")
    want <- logistic_oracle(d$X, d$y, 1e-5)
    distance <- sqrt(sum((fit$scale * fit$coefs - want$gamma)^2))
    expect_lte(distance, fit$diagnostics$chosen$bound)
    expect_gt(distance, 1e-12 * sqrt(sum(want$gamma^2)))
  }
})

test_that("a gradient of 3e-9 at lambda 1e-8 is no proof, and below rounding the status says so", {
  set.seed(4)
  X <- matrix(stats::rnorm(200 * 3), 200)
  y <- as.double(stats::runif(200) < 0.5)
  for (solver in c("primal", "batch", "matrix_free")) {
    fit <- logistic_quietly(X, y, lambda = 1e-13, solver = solver)
    row <- fit$diagnostics$chosen
    expect_identical(row$status, "rounding", info = solver)
    expect_true(fit$converged)
    expect_close(row$bound, row$gradient / 1e-13, 1e-12)
    expect_lt(row$gradient, 1e-15)
    ml <- stats::glm(y ~ X, family = stats::binomial(), control = list(epsilon = 1e-15))
    expect_close(fit$coefs, stats::coef(ml)[-1L], 1e-7)
  }
})

test_that("Newton's method needs few steps where gradient descent is lost", {
  set.seed(5)
  n <- 1000
  X <- matrix(stats::rnorm(n * 50), n)
  beta <- stats::rnorm(50) / 5
  y <- stats::rbinom(n, 1, stats::plogis(drop(X %*% beta)))
  correlated <- X + 3 * stats::rnorm(n)
  scales <- sweep(X, 2L, 10^seq(-2, 2, length.out = 50), "*")
  for (features in list(X, correlated, scales)) {
    fit <- logistic_quietly(features, y, lambda = 0.01)
    expect_identical(fit$diagnostics$solver, "primal")
    expect_lte(fit$iterations, 8L)
    expect_true(fit$converged)
    exact <- logistic_quietly(features, y, lambda = 0.01, tol = 1e-13)
    expect_lt(exact$diagnostics$chosen$gradient, 1e-14)
  }
})

test_that("wide features of low rank, and samples that occur again, converge too", {
  set.seed(6)
  low_rank <- matrix(stats::rnorm(40 * 5), 40) %*% matrix(stats::rnorm(5 * 60), 5)
  repeated <- matrix(stats::rnorm(20 * 60), 20)[rep(1:20, 2), ]
  y <- stats::rbinom(40, 1, 0.5)
  for (X in list(low_rank, repeated)) {
    for (lambda in c(1e-2, 1e-4, 1e-6)) {
      want <- logistic_quietly(X, y, lambda = lambda, solver = "matrix_free")
      expect_silent(fit <- logistic_quietly(X, y, lambda = lambda))
      expect_identical(fit$diagnostics$solver, "dual")
      expect_true(fit$converged)
      expect_lte(fit$iterations, 40L)
      expect_close(fit$coefs, want$coefs, 1e-6)
    }
  }
})
