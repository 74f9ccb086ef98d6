# ---- the optimum -----------------------------------------------------------------------------

test_that("all solvers reach the optimum of plain Newton steps, whatever the shape", {
  constant <- two_classes(30, 5, 7)
  constant$X[, 2L] <- 4
  twice <- two_classes(30, 6, 8)
  twice$X[, 5L] <- twice$X[, 1L]
  twice$X[, 6L] <- twice$X[, 2L]
  problems <- list("n > p" = two_classes(60, 40, 1), "p > n" = two_classes(40, 60, 2), "p = 1" = two_classes(30, 1, 3),
                   "n = 2" = two_classes(2, 3, 4), "n = 2, p = 1" = two_classes(2, 1, 5),
                   "n = p" = two_classes(12, 12, 6), "constant column" = constant, "duplicated columns" = twice)
  for (name in names(problems)) {
    X <- problems[[name]]$X
    y <- problems[[name]]$y
    for (lambda in c(1, 1e-3)) {
      want <- logistic_oracle(X, y, lambda)
      for (solver in SOLVERS) {
        fit <- logistic_quietly(X, y, lambda = lambda, solver = solver)
        expect_oracle(fit, want, c(name, lambda, solver))
        expect_identical(fit$diagnostics$chosen$status, "converged", info = paste(name, lambda, solver))
        expect_identical(fit$diagnostics$solver, solver)
      }
    }
  }
  expect_identical(logistic_quietly(constant$X, constant$y, lambda = 1)$coefs[2L], 0)
  expect_identical(logistic_quietly(constant$X, constant$y, lambda = 1)$diagnostics$constant_features, 2L)
  pair <- logistic_quietly(twice$X, twice$y, lambda = 0.01)$coefs
  expect_close(pair[5L], pair[1L], 1e-12)
})

test_that("weights, offsets, penalties, scaling and the intercept enter all solvers as they enter the objective", {
  for (shape in list(c(40, 8), c(20, 30))) {
    d <- two_classes(shape[1L], shape[2L], 11)
    n <- nrow(d$X)
    set.seed(12)
    X <- sweep(d$X, 2L, 10^stats::runif(ncol(d$X), -1, 1), "*") + 1
    weights <- sample(0:3, n, TRUE) / 7
    weights[match(0:1, d$y)] <- 1
    offset <- stats::rnorm(n)
    penalty <- stats::runif(ncol(X), 0.2, 3)
    cases <- list(
      list(weights = weights), list(offset = offset), list(penalty = penalty), list(standardize = FALSE),
      list(weights = weights, offset = offset, penalty = penalty),
      list(weights = weights, offset = offset, penalty = penalty, standardize = FALSE)
    )
    for (case in cases) {
      for (fit_intercept in c(TRUE, FALSE)) {
        want <- do.call(logistic_oracle, c(list(X, d$y, 0.02, intercept = fit_intercept), case))
        for (solver in SOLVERS) {
          fit <- do.call(logistic_quietly, c(list(X, d$y, lambda = 0.02, solver = solver,
                                                  fit_intercept = fit_intercept), case))
          expect_oracle(fit, want, c(names(case), fit_intercept, solver))
          if (!fit_intercept) expect_identical(fit$intercept, 0)
        }
      }
    }
  }
})

test_that("proportions with their trials as weights are the rows of the trials", {
  d <- two_classes(25, 4, 21)
  set.seed(22)
  trials <- sample(1:6, 25, TRUE)
  successes <- stats::rbinom(25, trials, stats::plogis(d$X[, 1L]))
  rows <- rep(seq_len(25), trials)
  y <- unlist(Map(function(s, k) rep(1:0, c(s, k - s)), successes, trials))
  want <- logistic_oracle(d$X[rows, ], y, 0.05)
  for (solver in SOLVERS) {
    fit <- logistic_quietly(d$X, successes / trials, lambda = 0.05, weights = trials, solver = solver)
    expect_oracle(fit, want, solver)
  }
})

test_that("any number of targets agrees with each of them alone", {
  for (shape in list(c(40, 6), c(24, 40))) {
    n <- shape[1L]
    X <- two_classes(n, shape[2L], 31)$X
    set.seed(32)
    Y <- vapply(1:60, function(j) {
      as.double(drop(X[, 1:3] %*% stats::rnorm(3)) + stats::rnorm(n) > stats::runif(1, -1, 1))
    }, numeric(n))
    offset <- matrix(stats::rnorm(n * 60), n)
    want <- lapply(1:60, function(j) logistic_oracle(X, Y[, j], 0.05, offset = offset[, j]))
    for (t in c(1L, 7L, 8L, 60L)) {
      fit <- logistic_quietly(X, Y[, seq_len(t), drop = FALSE], lambda = 0.05,
                              offset = offset[, seq_len(t), drop = FALSE])
      expect_identical(dim(fit$coefs), c(as.integer(shape[2L]), t))
      expect_close(fit$coefs, vapply(want[seq_len(t)], `[[`, numeric(shape[2L]), "coefs"), 1e-7)
      expect_close(fit$intercept, vapply(want[seq_len(t)], `[[`, 0, "intercept"), 1e-7)
      expect_identical(fit$diagnostics$solver, if (shape[2L] < n) if (t < 8L) "primal" else "batch"
                                               else if (t < 8L) "dual" else "rotate")
    }
  }
})

test_that("the order of targets and their company move an answer by at most twice the tolerance", {
  d <- two_classes(20, 25, 41)
  set.seed(42)
  Y <- matrix(stats::rbinom(20 * 9, 1, 0.5), 20)
  for (solver in SOLVERS) {
    fit <- function(y) logistic_quietly(d$X, y, lambda = c(1, 0.1), cv = NULL, solver = solver, tol = 1e-9)
    together <- fit(Y)
    order <- c(4:9, 1:3)
    turned <- fit(Y[, order])
    s <- together$scale
    alone <- vapply(1:9, function(j) fit(Y[, j])$coefs, numeric(25))
    size <- sqrt(colSums((s * alone)^2))
    expect_true(all(sqrt(colSums((s * (together$coefs - alone))^2)) <= 2e-9 * size), info = solver)
    expect_true(all(sqrt(colSums((s * (turned$coefs - alone[, order]))^2)) <= 2e-9 * size[order]), info = solver)
  }
})

# ---- the object ------------------------------------------------------------------------------

test_that("a vector drops the dimension of targets; names come along", {
  d <- two_classes(24, 3, 101)
  X <- d$X
  dimnames(X) <- list(paste0("s", 1:24), c("a", "b", "c"))
  one <- logistic_quietly(X, d$y, lambda = c(1, 0.1), cv = 3, keep_path = TRUE, keep_history = TRUE)
  expect_s3_class(one, c("voxridge_logistic", "voxridge_fit"), exact = TRUE)
  expect_named(one$coefs, c("a", "b", "c"))
  expect_null(dim(one$coefs))
  expect_identical(dim(one$cv$scores), c(3L, 2L))
  expect_length(one$cv$mean, 2L)
  expect_named(one$cv$predictions, rownames(X))
  expect_identical(dim(one$path$coefs), c(3L, 2L))
  expect_length(one$path$intercept, 2L)
  Y <- cbind(u = d$y, v = 1 - d$y)
  two <- logistic_quietly(X, Y, lambda = c(1, 0.1), cv = rep(c("r1", "r2", "r3"), 8), keep_path = TRUE)
  expect_identical(dimnames(two$coefs), list(c("a", "b", "c"), c("u", "v")))
  expect_named(two$best_lambda, c("u", "v"))
  expect_identical(dim(two$cv$scores), c(3L, 2L, 2L))
  expect_identical(dimnames(two$cv$scores), list(c("r1", "r2", "r3"), NULL, c("u", "v")))
  expect_identical(dimnames(two$cv$predictions), list(rownames(X), c("u", "v")))
  expect_identical(dim(two$path$coefs), c(3L, 2L, 2L))
  expect_identical(two$diagnostics$table$target, rep(c("u", "v"), each = 2))
  expect_identical(two$diagnostics$table$lambda, c(1, 0.1, 1, 0.1))
  expect_identical(two$diagnostics$chosen$lambda, unname(two$best_lambda))
  expect_close(two$coefs[, "v"], -two$coefs[, "u"], 1e-7)
})

test_that("what the object says of the problem is true", {
  d <- two_classes(30, 4, 111)
  set.seed(112)
  weights <- stats::runif(30)
  fit <- logistic_quietly(d$X, d$y, lambda = c(0.5, 0.05), cv = NULL, weights = weights)
  w <- weights / sum(weights)
  m <- colSums(w * d$X)
  expect_close(fit$center, m, 1e-14)
  expect_close(fit$scale, sqrt(colSums(w * sweep(d$X, 2L, m)^2)), 1e-14)
  expect_identical(fit$lambda, c(0.5, 0.05))
  expect_identical(fit$best_lambda, 0.05)
  expect_close(fit$C, 1 / (0.05 * sum(weights)), 1e-14)
  expect_close(fit$weight_sum, sum(weights), 1e-14)
  p <- sum(w * d$y)
  expect_close(fit$prevalence, p, 1e-14)
  expect_close(fit$null_loss, -p * log(p) - (1 - p) * log(1 - p), 1e-14)
  z <- drop(d$X %*% fit$coefs) + fit$intercept
  expect_close(fit$final_loss, logistic_score_oracle("log_loss", d$y, z, weights), 1e-13)
  expect_close(fit$diagnostics$chosen$objective, fit$final_loss + 0.025 * sum((fit$scale * fit$coefs)^2), 1e-13)
  expect_close(fit$diagnostics$chosen$size, sqrt(sum((fit$scale * fit$coefs)^2)), 1e-13)
  expect_null(fit$cv)
  expect_null(fit$path)
  expect_null(fit$diagnostics$history)
  expect_identical(fit$dims, c(n = 30L, p = 4L, t = 1L))
  expect_false(fit$has_offset)
  expect_identical(fit$data$X, d$X)
  expect_null(logistic_quietly(d$X, d$y, lambda = 1, keep = "none")$data)
  expect_identical(unserialize(serialize(fit, NULL)), fit)
})

test_that("the kept path holds every fit", {
  for (shape in list(c(40, 6), c(20, 30))) {
    d <- two_classes(shape[1L], shape[2L], 121)
    lambda <- c(1, 0.1, 0.01)
    want <- lapply(lambda, function(one) logistic_oracle(d$X, d$y, one))
    for (solver in SOLVERS) {
      fit <- logistic_quietly(d$X, d$y, lambda = lambda, cv = 4, keep_path = TRUE, solver = solver, prior = 0.2)
      for (l in 1:3) {
        expect_oracle(list(coefs = fit$path$coefs[, l], intercept = fit$path$intercept[l]), want[[l]], c(solver, l))
      }
      chosen <- match(fit$best_lambda, lambda)
      expect_identical(fit$path$coefs[, chosen], fit$coefs)
      expect_close(fit$path$intercept[chosen], fit$intercept - fit$prior_shift, 1e-12)
    }
  }
})

test_that("the kept objectives never rise, and their last is that of the fit", {
  d <- two_classes(30, 40, 131)
  set.seed(132)
  Y <- cbind(d$y, stats::rbinom(30, 1, 0.5))
  for (solver in SOLVERS) {
    fit <- logistic_quietly(d$X, Y, lambda = c(1, 0.01), cv = NULL, keep_history = TRUE, solver = solver)
    history <- fit$diagnostics$history
    expect_length(history, 4L)
    for (k in 1:4) {
      expect_true(all(diff(history[[k]]) <= 1e-13), info = paste(solver, k))
      expect_close(utils::tail(history[[k]], 1L), fit$diagnostics$table$objective[k], 1e-13)
      expect_length(history[[k]], fit$diagnostics$table$iterations[k] + 1L)
    }
    # a path starts where the last one ended
    expect_lt(history[[2L]][1L], log(2))
  }
})

test_that("the chosen solver goes by shape, and says so", {
  route <- function(n, p, t) core_logistic_route(n, p, t)$route
  expect_identical(route(100, 100, 7), "primal")
  expect_identical(route(100, 100, 8), "batch")
  expect_identical(route(2001, 2001, 1), "matrix_free")
  expect_identical(route(5000, 5001, 7), "dual")
  expect_identical(route(5000, 5001, 8), "rotate")
  expect_identical(route(5001, 5002, 8), "matrix_free")
  d <- two_classes(20, 3, 141)
  expect_match(logistic_quietly(d$X, d$y, lambda = 1)$diagnostics$reason, "p <= n")
  expect_match(logistic_quietly(d$X, d$y, lambda = 1, solver = "dual")$diagnostics$reason, "asked")
})
