# Scores, choices and held-out predictions against a loop over folds of plain Newton fits.

# list(scores = folds x lambdas, predictions = n x lambdas); `weights` of the fit, `raw` of the scores.
logistic_cv_oracle <- function(X, y, lambda, folds, criterion, weights, offset, raw = weights, per_fold = FALSE) {
  w <- weights / sum(weights)
  s <- sqrt(colSums(w * sweep(X, 2L, colSums(w * X))^2))
  scores <- matrix(NA_real_, length(folds), length(lambda))
  predictions <- matrix(NA_real_, nrow(X), length(lambda))
  for (f in seq_along(folds)) {
    train <- folds[[f]]$train
    test <- folds[[f]]$test
    for (l in seq_along(lambda)) {
      # scales of all rows are a change of the features, undone on the coefficients
      fit <- if (per_fold) {
        logistic_oracle(X[train, ], y[train], lambda[l], weights[train], offset[train])
      } else {
        logistic_oracle(sweep(X[train, ], 2L, s, "/"), y[train], lambda[l], weights[train], offset[train],
                        standardize = FALSE)
      }
      coefs <- if (per_fold) fit$coefs else fit$coefs / s
      z <- drop(X[test, , drop = FALSE] %*% coefs) + fit$intercept + offset[test]
      scores[f, l] <- logistic_score_oracle(criterion, y[test], z, raw[test])
      predictions[test, l] <- z
    }
  }
  list(scores = scores, predictions = predictions)
}

# list(mean, se) over folds, weighted by what they hold out.
fold_summary <- function(scores, held_out) {
  each <- apply(scores, 2L, function(m) {
    w <- held_out[!is.na(m)]
    m <- m[!is.na(m)]
    mean <- sum(w * m) / sum(w)
    c(mean, sqrt(sum(w * (m - mean)^2) / sum(w) / (length(m) - 1)))
  })
  list(mean = each[1L, ], se = each[2L, ])
}

choice_oracle <- function(summary, lambda, criterion) {
  mean <- if (criterion %in% c("auc", "accuracy")) -summary$mean else summary$mean
  best <- which(mean == min(mean))[1L]
  list(min = lambda[best], one_se = lambda[which(mean <= mean[best] + summary$se[best])[1L]])
}

test_that("scores, summaries, choices and predictions are those of fits fold by fold", {
  lambda <- c(3, 0.3, 0.03)
  for (shape in list(c(36, 5), c(24, 30))) {
    d <- two_classes(shape[1L], shape[2L], 1)
    n <- shape[1L]
    set.seed(2)
    weights <- stats::runif(n, 0.2, 2) * rep(c(1, 1, 1, 0, 1, 1), n / 6)
    offset <- stats::rnorm(n)
    folds <- oracle_folds(rep(1:4, n / 4), n)
    held_out <- vapply(folds, function(fold) sum(weights[fold$test]), 0)
    for (per_fold in c(FALSE, TRUE)) {
      for (criterion in c("log_loss", "brier", "auc", "accuracy")) {
        want <- logistic_cv_oracle(d$X, d$y, lambda, folds, criterion, weights, offset, per_fold = per_fold)
        summary <- fold_summary(want$scores, held_out)
        choice <- choice_oracle(summary, lambda, criterion)
        solvers <- if (criterion == "log_loss") SOLVERS else "auto"
        for (solver in solvers) {
          fit <- logistic_quietly(d$X, d$y, lambda = lambda, cv = rep(1:4, n / 4), weights = weights, offset = offset,
                                  criterion = criterion, fold_scaling = if (per_fold) "fold" else "global",
                                  solver = solver)
          expect_close(fit$cv$scores, want$scores, 1e-7)
          expect_close(fit$cv$mean, summary$mean, 1e-7)
          expect_close(fit$cv$se, summary$se, 1e-7)
          expect_identical(fit$cv$lambda_min, choice$min)
          expect_identical(fit$cv$lambda_1se, choice$one_se)
          expect_identical(fit$best_lambda, choice$min)
          expect_identical(fit$cv$best_score, fit$cv$mean[match(choice$min, lambda)])
          # rows without weight are predicted too
          expect_close(fit$cv$predictions, want$predictions[, match(choice$min, lambda)], 1e-6)
          expect_identical(fit$cv$criterion, criterion)
        }
      }
    }
  }
})

test_that("class weights enter the fits of the folds, not their scores", {
  d <- two_classes(36, 4, 11)
  y <- as.integer(d$X[, 1L] > 0.5)
  set.seed(12)
  weights <- stats::runif(36, 0.5, 2)
  folds <- oracle_folds(rep(1:3, 12), 36)
  class <- c(sum(weights[y == 0]), sum(weights[y == 1]))
  want <- logistic_cv_oracle(d$X, y, c(1, 0.1), folds, "log_loss", weights / class[y + 1L], rep(0, 36), raw = weights)
  fit <- logistic_quietly(d$X, y, lambda = c(1, 0.1), cv = rep(1:3, 12), weights = weights, class_weights = "balanced")
  expect_close(fit$cv$scores, want$scores, 1e-7)
  held_out <- vapply(folds, function(fold) sum(weights[fold$test]), 0)
  expect_close(fit$cv$mean, fold_summary(want$scores, held_out)$mean, 1e-7)
})

test_that("the 1se rule takes the largest penalty within one standard error; ties go to the larger", {
  d <- two_classes(40, 6, 21)
  a <- logistic_quietly(d$X, d$y, cv = 5)
  b <- logistic_quietly(d$X, d$y, cv = 5, choose = "1se")
  at <- which(a$lambda == a$cv$lambda_min)
  within <- a$lambda[a$cv$mean <= a$cv$mean[at] + a$cv$se[at]]
  expect_identical(b$best_lambda, max(within))
  expect_gt(b$best_lambda, a$best_lambda)
  expect_identical(a$cv[c("lambda_min", "lambda_1se", "mean")], b$cv[c("lambda_min", "lambda_1se", "mean")])
  expect_false(identical(a$cv$predictions, b$cv$predictions))
  # accuracy: many penalties do equally well
  accuracy <- logistic_quietly(d$X, d$y, cv = 5, criterion = "accuracy")
  best <- which(accuracy$cv$mean == max(accuracy$cv$mean))
  expect_gt(length(best), 1L)
  expect_identical(accuracy$best_lambda, accuracy$lambda[min(best)])
})

test_that("with `local_lambda = FALSE` the mean over targets chooses", {
  d <- two_classes(30, 6, 31)
  Y <- cbind(d$y, as.integer(d$X[, 4L] > 0), as.integer(d$X[, 5L] + d$X[, 6L] > 0))
  runs <- rep(1:3, 10)
  for (choose in c("min", "1se")) {
    own <- logistic_quietly(d$X, Y, lambda = 10^seq(1, -3), cv = runs, choose = choose)
    shared <- logistic_quietly(d$X, Y, lambda = 10^seq(1, -3), cv = runs, choose = choose, local_lambda = FALSE)
    expect_identical(shared$cv$scores, own$cv$scores)
    summary <- fold_summary(apply(own$cv$scores, 1:2, mean), rep(10, 3))
    choice <- choice_oracle(summary, own$lambda, "log_loss")
    expect_identical(shared$best_lambda, rep(if (choose == "min") choice$min else choice$one_se, 3))
    at <- match(shared$best_lambda[1L], own$lambda)
    for (j in 1:3) {
      want <- logistic_oracle(d$X, Y[, j], own$lambda[at])
      expect_close(shared$coefs[, j], want$coefs, 1e-7)
    }
    expect_identical(shared$cv$best_score, shared$cv$mean[at, ])
  }
})

test_that("a number of folds cuts blocks within the classes of a single target, and plain blocks otherwise", {
  d <- two_classes(24, 3, 41)
  y <- rep(0:1, c(15, 9))
  one <- logistic_quietly(d$X, y, lambda = c(1, 0.1), cv = 3)
  expect_identical(one$cv$folds$id, cv_folds(y, 3, stratify = TRUE))
  expect_identical(vapply(one$cv$folds$test, function(rows) sum(y[rows]), 0), c(3, 3, 3))
  expect_null(rownames(one$cv$scores))
  two <- logistic_quietly(d$X, cbind(d$y, 1 - d$y), lambda = c(1, 0.1), cv = 3)
  expect_identical(two$cv$folds$id, rep(1:3, each = 8))
  half <- logistic_quietly(d$X, y / 2 + 0.25, lambda = c(1, 0.1), cv = 3)
  expect_identical(half$cv$folds$id, rep(1:3, each = 8))
  # the default: five folds for a path, none for one penalty
  expect_identical(logistic_quietly(d$X, d$y, lambda = c(1, 0.1))$cv$folds$n, 5L)
  expect_null(logistic_quietly(d$X, d$y, lambda = 1)$cv)
  single <- logistic_quietly(d$X, d$y, lambda = 1, cv = 4)
  expect_identical(dim(single$cv$scores), c(4L, 1L))
  expect_identical(single$cv$at_edge, NA)
  expect_null(logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = NULL)$cv)
  expect_identical(logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = NULL)$best_lambda, 0.1)
})

test_that("labels, lists, bootstraps and leave-one-out are the folds that they say", {
  d <- two_classes(20, 3, 51)
  runs <- rep(c("b", "c", "a", "d"), 5)
  by_run <- logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = runs)
  expect_identical(rownames(by_run$cv$scores), c("a", "b", "c", "d"))
  listed <- logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = unname(split(1:20, runs)))
  expect_identical(listed$cv$predictions, by_run$cv$predictions)
  pairs <- list(list(train = c(1:10, 1:10, 15L), test = 11:14), list(train = 5:20, test = 1:3))
  boot <- logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = pairs)
  want <- logistic_cv_oracle(d$X, d$y, c(1, 0.1), pairs, "log_loss", rep(1, 20), rep(0, 20))
  expect_close(boot$cv$scores, want$scores, 1e-7)
  expect_identical(which(is.na(boot$cv$predictions)), c(4:10, 15:20))
  expect_close(boot$cv$mean, fold_summary(want$scores, c(4, 3))$mean, 1e-7)
  loo <- logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = "loo")
  alone <- logistic_cv_oracle(d$X, d$y, c(1, 0.1), oracle_folds(as.list(1:20), 20), "log_loss", rep(1, 20), rep(0, 20))
  expect_close(loo$cv$scores, alone$scores, 1e-7)
  expect_close(loo$cv$predictions, alone$predictions[, match(loo$best_lambda, c(1, 0.1))], 1e-6)
})

test_that("the area under the curve of a fold with one class is NA and left out", {
  d <- two_classes(32, 4, 61)
  y <- d$y
  y[1:8] <- 1
  runs <- rep(1:4, each = 8)
  fit <- logistic_quietly(d$X, y, lambda = c(1, 0.1), cv = runs, criterion = "auc")
  expect_identical(is.na(fit$cv$scores[, 1L]), c(TRUE, FALSE, FALSE, FALSE), ignore_attr = TRUE)
  want <- fold_summary(unname(fit$cv$scores), rep(8, 4))
  expect_close(fit$cv$mean, want$mean, 1e-14)
  expect_close(fit$cv$se, want$se, 1e-14)
  expect_false(anyNA(fit$cv$predictions))
  # a fold whose rows have no weight has no score either
  weights <- rep(c(1, 1, 0, 1), each = 8)
  loss <- logistic_quietly(d$X, d$y, lambda = c(1, 0.1), cv = runs, weights = weights)
  expect_identical(is.na(loss$cv$scores[, 1L]), c(FALSE, FALSE, TRUE, FALSE), ignore_attr = TRUE)
  expect_false(anyNA(loss$cv$mean))
})

test_that("the order of penalties and repeated ones do not matter", {
  d <- two_classes(30, 4, 71)
  want <- without_time(logistic_quietly(d$X, d$y, lambda = c(1, 0.1, 0.01), cv = 3))
  expect_identical(without_time(logistic_quietly(d$X, d$y, lambda = c(0.1, 0.01, 1), cv = 3)), want)
  expect_identical(without_time(logistic_quietly(d$X, d$y, lambda = c(0.01, 0.1, 0.01, 1), cv = 3)), want)
})

test_that("a minimum at the end of the grid is flagged, and told where it says something of the grid", {
  d <- two_classes(40, 3, 81)
  expect_warning(fit <- fit_logistic_ridge(d$X, d$y, lambda = c(100, 50), cv = 4, progress = FALSE),
                 class = "voxridge_warning_lambda_at_edge")
  expect_true(fit$cv$at_edge)
  inner <- logistic_quietly(d$X, d$y, cv = 4)
  expect_identical(inner$cv$at_edge, inner$cv$lambda_min %in% range(inner$lambda))
  set.seed(82)
  noise <- stats::rbinom(40, 1, 0.5)
  expect_silent(fit_logistic_ridge(d$X, noise, cv = 4, progress = FALSE))
})

# ---- the default grid ------------------------------------------------------------------------

grid_oracle <- function(X, weights = rep(1, nrow(X)), penalty = rep(1, ncol(X)), standardize = TRUE, centred = TRUE) {
  w <- weights / sum(weights)
  m <- colSums(w * X)
  s <- if (standardize) sqrt(colSums(w * sweep(X, 2L, m)^2)) else rep(1, ncol(X))
  Z <- sweep(sweep(X, 2L, if (centred) m else 0), 2L, ifelse(s > 0, s * sqrt(penalty), Inf), "/")
  d <- eigen(crossprod(sqrt(w) * Z) / 4, symmetric = TRUE, only.values = TRUE)$values
  d <- d[d > length(d) * EPS * max(d)]
  df <- function(log_lambda, wanted) sum(d / (d + exp(log_lambda))) - wanted
  at <- function(wanted) {
    exp(stats::uniroot(df, c(-60, 60) + log(max(d)), wanted = wanted, tol = 1e-13)$root)
  }
  ends <- log(c(at(min(0.5, length(d) / 100)), max(at(0.99 * length(d)), 1e-4 * max(d))))
  exp(seq(ends[1L], ends[2L], length.out = 50))
}

test_that("the default grid goes by effective degrees of freedom", {
  for (shape in list(c(40, 6), c(20, 60), c(15, 15), c(30, 1))) {
    X <- two_classes(shape[1L], shape[2L], 91)$X
    y <- rep(0:1, length.out = shape[1L])
    set.seed(92)
    weights <- stats::runif(shape[1L]) * rep(c(1, 1, 1, 1, 0), length.out = shape[1L])
    penalty <- stats::runif(shape[2L], 0.5, 2)
    weights[1:4] <- 1
    grid <- function(...) logistic_quietly(X, y, cv = NULL, max_iter = 200L, ...)$lambda
    expect_close(grid() / grid_oracle(X), rep(1, 50), 1e-8)
    expect_close(grid(weights = weights, penalty = penalty) / grid_oracle(X, weights, penalty), rep(1, 50), 1e-8)
    plain <- grid_oracle(X, standardize = FALSE, centred = FALSE)
    expect_close(grid(standardize = FALSE, fit_intercept = FALSE) / plain, rep(1, 50), 1e-8)
    for (solver in SOLVERS) expect_close(grid(solver = solver) / grid(), rep(1, 50), 1e-8)
  }
  low_rank <- two_classes(30, 4, 93)$X %*% matrix(stats::rnorm(40), 4)
  grid <- logistic_quietly(low_rank, rep(0:1, 15), cv = NULL)$lambda
  expect_close(grid / grid_oracle(low_rank), rep(1, 50), 1e-6)
})

test_that("features that are all constant leave the intercept alone, with any penalty", {
  y <- rep(0:1, c(4, 6))
  for (X in list(matrix(3, 10, 2), matrix(3, 10, 20))) {
    for (solver in SOLVERS) {
      fit <- logistic_quietly(X, y, cv = 2, solver = solver)
      expect_length(fit$lambda, 50L)
      expect_true(all(is.finite(fit$lambda) & fit$lambda > 0))
      expect_identical(fit$coefs, rep(0, ncol(X)))
      expect_close(fit$intercept, log(6 / 4), 1e-14)
      expect_close(fit$final_loss, fit$null_loss, 1e-14)
    }
    fit <- logistic_quietly(X, matrix(y, 10, 9), cv = NULL)
    expect_identical(range(fit$coefs), c(0, 0))
  }
})
