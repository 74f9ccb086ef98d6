# The same model elsewhere, and mistakes that are made with it.

glmnet_coefs <- function(X, y, lambda, ..., factors = rep(1, ncol(X))) {
  # glmnet scales penalty factors to mean 1
  path <- lambda * mean(factors) * c(100, 30, 10, 3, 1)
  fit <- glmnet::glmnet(X, y, family = "binomial", alpha = 0, lambda = path, penalty.factor = factors, thresh = 1e-24,
                        maxit = 1e7, ...)
  unname(c(as.matrix(stats::coef(fit, s = path[5L]))))
}

ours <- function(fit) unname(c(fit$intercept, fit$coefs))

test_that("coefficients are those of glmnet, with weights, an offset, penalty factors and either scaling", {
  skip_if_not_installed("glmnet")
  for (shape in list(c(60, 8), c(30, 45))) {
    d <- two_classes(shape[1L], shape[2L], 1)
    n <- shape[1L]
    set.seed(2)
    X <- sweep(d$X, 2L, stats::runif(shape[2L], 0.5, 3), "*") + 1
    weights <- stats::runif(n, 0.2, 3)
    offset <- stats::rnorm(n)
    factors <- stats::runif(shape[2L], 0.3, 2)
    for (lambda in c(0.5, 0.02)) {
      for (standardize in c(TRUE, FALSE)) {
        want <- glmnet_coefs(X, d$y, lambda, standardize = standardize)
        expect_close(ours(logistic_quietly(X, d$y, lambda = lambda, standardize = standardize)), want, 1e-7)
        want <- glmnet_coefs(X, d$y, lambda, standardize = standardize, weights = weights, offset = offset)
        got <- logistic_quietly(X, d$y, lambda = lambda, standardize = standardize, weights = weights, offset = offset)
        expect_close(ours(got), want, 1e-7)
      }
      want <- glmnet_coefs(X, d$y, lambda, factors = factors)
      expect_close(ours(logistic_quietly(X, d$y, lambda = lambda, penalty = factors)), want, 1e-7)
    }
  }
})

test_that("proportions and trials are glmnet's two columns, the second of which is positive", {
  skip_if_not_installed("glmnet")
  d <- two_classes(40, 4, 11)
  set.seed(12)
  trials <- sample(2:9, 40, TRUE)
  successes <- stats::rbinom(40, trials, stats::plogis(d$X[, 1L]))
  want <- glmnet_coefs(d$X, cbind(trials - successes, successes), 0.05)
  expect_close(ours(logistic_quietly(d$X, successes / trials, lambda = 0.05, weights = trials)), want, 1e-7)
})

test_that("scores are half the deviances of cv.glmnet, with its means and standard errors", {
  skip_if_not_installed("glmnet")
  d <- two_classes(48, 6, 21)
  set.seed(22)
  weights <- stats::runif(48, 0.5, 2)
  lambda <- c(1, 0.3, 0.1, 0.03)
  foldid <- rep(1:4, 12)
  for (w in list(rep(1, 48), weights)) {
    cv <- glmnet::cv.glmnet(d$X, d$y, family = "binomial", alpha = 0, lambda = lambda, foldid = foldid, weights = w,
                            thresh = 1e-22, maxit = 1e7)
    fit <- logistic_quietly(d$X, d$y, lambda = lambda, cv = foldid, weights = w, fold_scaling = "fold")
    # forecasts are not as extreme as 1e-5, where glmnet clips them
    expect_lt(max(abs(fit$cv$predictions)), 11)
    expect_close(fit$cv$mean, unname(cv$cvm) / 2, 1e-7)
    expect_close(fit$cv$se, unname(cv$cvsd) / 2, 1e-7)
    expect_identical(fit$cv$lambda_min, cv$lambda.min)
    expect_identical(fit$cv$lambda_1se, cv$lambda.1se)
    offset <- sin(1:48)
    cv <- glmnet::cv.glmnet(d$X, d$y, family = "binomial", alpha = 0, lambda = lambda, foldid = foldid, weights = w,
                            offset = offset, thresh = 1e-22, maxit = 1e7)
    fit <- logistic_quietly(d$X, d$y, lambda = lambda, cv = foldid, weights = w, fold_scaling = "fold", offset = offset)
    expect_close(fit$cv$mean, unname(cv$cvm) / 2, 1e-7)
    expect_close(fit$cv$se, unname(cv$cvsd) / 2, 1e-7)
  }
})

test_that("where the default threshold of glmnet stops early, the gradient and our bound say so", {
  skip_if_not_installed("glmnet")
  set.seed(31)
  n <- 200
  shared <- stats::rnorm(n)
  X <- vapply(1:50, function(j) shared + 0.05 * stats::rnorm(n), numeric(n))
  y <- stats::rbinom(n, 1, stats::plogis(shared))
  fit <- logistic_quietly(X, y, lambda = 1e-4)
  want <- logistic_oracle(X, y, 1e-4)
  expect_oracle(fit, want)
  expect_lt(fit$diagnostics$chosen$bound, 1e-8 * fit$diagnostics$chosen$size)
  loose <- glmnet::glmnet(X, y, family = "binomial", alpha = 0, lambda = 10^seq(1, -4))
  error <- max(abs(as.matrix(stats::coef(loose, s = 1e-4))[-1L] - want$coefs)) / max(abs(want$coefs))
  expect_gt(error, 1e-3)
})

test_that("the intercept is not penalised, as it is in liblinear and statsmodels", {
  d <- two_classes(60, 3, 41)
  y <- as.integer(d$X[, 1L] > 1)
  fit <- logistic_quietly(d$X, y, lambda = 100)
  # next to no features: the prevalence, not 1/2
  expect_close(fit$intercept, log(mean(y) / (1 - mean(y))), 1e-2)
  penalised <- stats::optim(0, function(b) mean(log1p(exp(b)) - y * b) + 50 * b^2, method = "BFGS")$par
  expect_gt(abs(fit$intercept - penalised), 1)
})

test_that("`C` is that of scikit-learn: the sum of losses, over C, on features scaled by hand", {
  d <- two_classes(40, 4, 51)
  set.seed(52)
  weights <- stats::runif(40, 0.5, 2)
  fit <- logistic_quietly(d$X, d$y, lambda = 0.1, weights = weights)
  Z <- sweep(sweep(d$X, 2L, fit$center), 2L, fit$scale, "/")
  objective <- function(theta) {
    z <- drop(Z %*% theta[-1L]) + theta[1L]
    fit$C * sum(weights * (log1p(exp(-abs(z))) + pmax(z, 0) - d$y * z)) + sum(theta[-1L]^2) / 2
  }
  slope <- function(theta) {
    z <- drop(Z %*% theta[-1L]) + theta[1L]
    r <- weights * (stats::plogis(z) - d$y)
    c(fit$C * sum(r), fit$C * drop(crossprod(Z, r)) + theta[-1L])
  }
  best <- stats::optim(rep(0, 5), objective, slope, method = "BFGS", control = list(reltol = 1e-16, maxit = 1000))
  expect_close(fit$coefs * fit$scale, best$par[-1L], 1e-6)
})

test_that("losses of far forecasts are neither clipped nor NaN in the scores", {
  # offsets of 40 on the wrong side of a held-out row: its loss is 40, not 11.5 (1e-5) or Inf
  d <- two_classes(20, 2, 61)
  offset <- rep(0, 20)
  test <- which(d$y == 0)[1:2]
  offset[test] <- c(40, 800)
  fit <- logistic_quietly(d$X, d$y, lambda = 10, cv = list(list(train = setdiff(1:20, test), test = test)),
                          offset = offset)
  z <- fit$cv$predictions[test]
  expect_gt(min(z), 37)
  expect_close(fit$cv$scores[1L], mean(z), 1e-13)
})

test_that("the area under the curve orders logits whose probabilities are all 1", {
  d <- two_classes(24, 2, 71)
  # all forecasts of the second fold saturate at 1, yet differ
  offset <- rep(c(0, 60), each = 12)
  folds <- rep(1:2, each = 12)
  fit <- logistic_quietly(d$X, d$y, lambda = 0.1, cv = folds, offset = offset, criterion = "auc")
  z <- fit$cv$predictions[13:24]
  expect_identical(range(stats::plogis(z)), c(1, 1))
  expect_close(fit$cv$scores[2L], logistic_score_oracle("auc", d$y[13:24], z), 1e-14)
  expect_true(fit$cv$scores[2L] != 0.5)
})
