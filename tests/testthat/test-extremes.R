# Data at the edge of what doubles can hold apart, against singular value decompositions of every fold.

# Scores per fold, alpha and target. Singular values under the rank cut-off count as 0, and so does the one that
# centring takes.
scores_by_svd <- function(X, Y, alphas, k, intercept, score) {
  fold <- rep(seq_len(k), nrow(X) %/% k + (seq_len(k) <= nrow(X) %% k))
  out <- array(0, c(k, length(alphas), ncol(Y)))
  for (f in seq_len(k)) {
    train <- fold != f
    x_mean <- if (intercept) colMeans(X[train, ]) else numeric(ncol(X))
    y_mean <- if (intercept) colMeans(Y[train, ]) else numeric(ncol(Y))
    s <- svd(sweep(X[train, ], 2, x_mean))
    d <- s$d * (s$d > max(dim(X)) * .Machine$double.eps * s$d[1])
    if (intercept && sum(train) <= ncol(X)) d[sum(train)] <- 0
    z <- crossprod(s$u, sweep(Y[train, ], 2, y_mean))
    V <- sweep(X[!train, ], 2, x_mean) %*% s$v
    truth <- sweep(Y[!train, ], 2, y_mean)
    for (a in seq_along(alphas)) {
      P <- V %*% (ifelse(d > 0, d / (d^2 + alphas[a]), 0) * z)
      out[f, a, ] <- switch(score,
        r2 = 1 - colSums((truth - P)^2) / colSums(sweep(truth, 2, colMeans(truth))^2),
        correlation = vapply(seq_len(ncol(Y)), function(j) cor(truth[, j], P[, j]), 0)
      )
    }
  }
  out
}

expect_scores_by_svd <- function(X, Y, alphas, intercept = FALSE, score = "r2", tolerance = 1e-8) {
  fit <- suppressWarnings(solve_ridge_cv(X, Y, alphas = alphas, cv = 5, fit_intercept = intercept, score_func = score,
                                         n_threads = 2))
  want <- scores_by_svd(X, Y, alphas, 5, intercept, score)
  expect_lt(max(abs(fit$cv_scores - want) / (1 + abs(want))), tolerance)
}

make <- function(n, p, t, seed) {
  withr::with_seed(seed, {
    X <- matrix(rnorm(n * p), n)
    list(X = X, Y = X %*% matrix(rnorm(p * t) / sqrt(p), p) + matrix(rnorm(n * t), n))
  })
}

test_that("one direction of X far above the others hides none of them", {
  data <- make(60, 100, 5, 7)
  grid <- 10^seq(-1, 5, length.out = 20)
  expect_scores_by_svd(cbind(data$X, 1e7), data$Y, grid)
  expect_scores_by_svd(data$X + 1e6, data$Y, grid)
  expect_scores_by_svd(cbind(data$X[, 1:10], 1e7), data$Y, grid)
  expect_scores_by_svd(cbind(data$X, 1e7 * sin(1:60)), data$Y, grid, intercept = TRUE)
})

test_that("column offsets cost no digits at alpha = 0", {
  data <- make(40, 60, 4, 3)
  plain <- solve_ridge_cv(data$X, data$Y, alphas = 0, fit_intercept = TRUE, n_threads = 2)$coefs
  for (offset in c(1e3, 1e6)) {
    moved <- solve_ridge_cv(data$X + offset, data$Y, alphas = 0, fit_intercept = TRUE, n_threads = 2)$coefs
    expect_lt(max(abs(moved - plain)), 1e-16 * offset * 1e3) # the offset itself rounds the features to 1e-16 of it
  }
  data$X[1:8, ] <- data$X[1:8, ] + 1e3
  expect_scores_by_svd(data$X, data$Y, 0, intercept = TRUE)
})

test_that("correlations are right over twenty decades of penalties", {
  data <- make(40, 60, 4, 3)
  for (top in c(10, 20)) {
    expect_scores_by_svd(data$X, data$Y, 10^seq(0, top, length.out = 40), intercept = TRUE, score = "correlation")
  }
})

test_that("factors do not depend on threads, in any of many runs", {
  data <- make(400, 400, 3, 1)
  one <- ridge_svd(data$X, data$Y, alpha = 1, n_threads = 1)
  for (run in 1:30) expect_identical(ridge_svd(data$X, data$Y, alpha = 1, n_threads = 2), one)
})

test_that("a score function may use the prepared object it is called for", {
  data <- make(40, 60, 4, 3)
  prepared <- prepare_ridge(data$X, cv = 4, n_threads = 2)
  score <- function(y_true, y_pred) {
    suppressWarnings(solve_ridge_cv(prepared, data$Y[, 1:3], alphas = c(0, 1), score_func = "neg_mse", n_threads = 2))
    -colMeans((y_true - y_pred)^2)
  }
  grid <- c(1, 10, 100, 1000)
  nested <- suppressWarnings(solve_ridge_cv(prepared, data$Y, alphas = grid, score_func = score, n_threads = 2))
  plain <- suppressWarnings(
    solve_ridge_cv(data$X, data$Y, alphas = grid, cv = 4, score_func = "neg_mse", n_threads = 2)
  )
  expect_equal(nested$cv_scores, plain$cv_scores, tolerance = 1e-10)
})

test_that("penalties next to zero count as zero, and features that overflow are told", {
  data <- make(20, 3, 2, 5)
  tiny <- ridge_svd(cbind(data$X, data$X), data$Y, alpha = 1e-310, n_threads = 2)
  expect_equal(tiny, ridge_svd(cbind(data$X, data$X), data$Y, alpha = 0, n_threads = 2), tolerance = 1e-10)
  expect_error(ridge_svd(data$X * 1e200, data$Y, n_threads = 2), "overflow", class = "voxridge_error_argument")
})

test_that("a penalty of 0 in a long grid changes no score of the others", {
  withr::local_seed(1)
  n <- 120
  X <- matrix(rnorm(n * 30), n) %*% diag((1:30)^-2)
  Y <- X %*% matrix(rnorm(30 * 50), 30) + 0.02 * matrix(rnorm(n * 50), n)
  alphas <- c(0, 10^seq(-4, 4, length.out = 40))
  r2 <- function(y_true, y_pred) 1 - colSums((y_true - y_pred)^2) / colSums(scale(y_true, TRUE, FALSE)^2)
  for (intercept in c(FALSE, TRUE)) {
    for (word in c("r2", "correlation")) {
      plain <- if (word == "r2") r2 else function(y_true, y_pred) diag(stats::cor(y_true, y_pred))
      got <- solve_quietly(X, Y, alphas = alphas, score_func = word, fit_intercept = intercept)
      want <- solve_quietly(X, Y, alphas = alphas, score_func = plain, fit_intercept = intercept)
      expect_close(got$cv_scores, want$cv_scores, 1e-8)
      expect_identical(got$best_alphas, want$best_alphas)
      if (word == "r2") expect_lt(got$diagnostics$info$n_nodes, 41)
    }
  }
})

test_that("the intercept of a dual fit is that of its coefficients, however small the penalty", {
  withr::local_seed(1)
  X <- matrix(rnorm(240), 60) + 5
  Y <- X %*% matrix(rnorm(8), 4) + matrix(rnorm(120), 60)
  for (alpha in c(1e-4, 1e-8, 1e-12)) {
    fits <- lapply(c("primal", "dual"), function(kind) {
      solve_quietly(X, Y, alphas = alpha, fit_intercept = TRUE, return_coefs = kind)
    })
    expect_close(fits[[2L]]$intercept, fits[[1L]]$intercept, 1e-12)
  }
})

test_that("coefficients of badly scaled wide features predict as well as those of an exact decomposition", {
  withr::local_seed(3)
  n <- 60
  for (scale in c(1e4, 1e6, 1e8)) {
    Xs <- list(a = matrix(rnorm(n * 5), n) * scale, b = matrix(rnorm(n * 100), n))
    X <- do.call(cbind, unname(Xs))
    Y <- Xs$a %*% matrix(rnorm(15), 5) / scale + Xs$b %*% matrix(rnorm(300), 100) + matrix(rnorm(n * 3), n)
    exact <- svd(X)
    want <- exact$v %*% (exact$d / (exact$d^2 + 0.01) * crossprod(exact$u, Y))
    residual <- function(coefs) sqrt(mean((Y - X %*% coefs)^2))
    expect_lt(residual(ridge_svd(X, Y, alpha = 0.01)), 1.01 * residual(want) + 1e-12 * scale)
    banded <- band_quietly(Xs, Y, n_iter = rbind(c(1, 1)), alphas = 0.01)
    expect_lt(residual(banded$coefs), 1.01 * residual(want) + 1e-12 * scale)
  }
})
