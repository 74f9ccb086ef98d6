# Oracles for ridge-penalised logistic regression, independent of the package.

# Newton's method on all coefficients together, to the rounding of the gradient: list(intercept, coefs, gradient).
logistic_oracle <- function(X, y, lambda, weights = rep(1, length(y)), offset = rep(0, length(y)),
                            penalty = rep(1, ncol(X)), standardize = TRUE, intercept = TRUE, steps = 100L) {
  w <- weights / sum(weights)
  m <- colSums(w * X)
  s <- if (standardize) sqrt(colSums(w * sweep(X, 2L, m)^2)) else rep(1, ncol(X))
  Z <- sweep(sweep(X, 2L, if (intercept) m else 0), 2L, ifelse(s > 0, s * sqrt(penalty), Inf), "/")
  A <- if (intercept) cbind(1, Z) else Z
  ridge <- lambda * c(if (intercept) 0, rep(1, ncol(X)))
  beta <- rep(0, ncol(A))
  objective <- function(beta) {
    z <- drop(A %*% beta) + offset
    sum(w * (y * log1p(exp(-abs(z))) + y * pmax(-z, 0) + (1 - y) * log1p(exp(-abs(z))) + (1 - y) * pmax(z, 0))) +
      sum(ridge * beta^2) / 2
  }
  smallest <- Inf
  stale <- 0L
  for (step in seq_len(steps)) {
    z <- drop(A %*% beta) + offset
    p <- 1 / (1 + exp(-z))
    gradient <- drop(crossprod(A, w * (y / (1 + exp(z)) - (1 - y) * p))) - ridge * beta
    # nothing but rounding is left where three steps do not halve a tiny gradient
    size <- sqrt(sum(gradient^2))
    stale <- if (size < smallest / 2) 0L else stale + 1L
    smallest <- min(smallest, size)
    if (stale >= 3L && smallest < 1e-13) break
    e <- exp(-abs(z))
    hessian <- crossprod(A, w * e / (1 + e)^2 * A) + diag(ridge, ncol(A))
    move <- solve(hessian, gradient)
    size <- 1
    while (objective(beta + size * move) > objective(beta) + 1e-13 && size > 1e-8) size <- size / 2
    beta <- beta + size * move
    if (max(abs(move)) < 1e-15 * max(abs(beta), 1)) break
  }
  gamma <- if (intercept) beta[-1L] else beta
  coefs <- ifelse(s > 0, gamma / (s * sqrt(penalty)), 0)
  list(intercept = if (intercept) beta[1L] - sum(m * coefs) else 0, coefs = coefs, gamma = gamma,
       gradient = sqrt(sum(gradient^2)))
}

# Data of two classes: the first features carry signal.
two_classes <- function(n, p, seed, strength = 1) {
  set.seed(seed)
  X <- matrix(stats::rnorm(n * p), n, p)
  used <- min(3L, p)
  z <- strength * drop(X[, seq_len(used), drop = FALSE] %*% rep(1, used)) + stats::rnorm(n)
  y <- as.integer(z > stats::median(z))
  list(X = X, y = y)
}

SOLVERS <- c("primal", "dual", "rotate", "batch", "matrix_free")

# Fits without what they say of the ends of the grid and of classes that a plane separates.
logistic_quietly <- function(...) {
  withCallingHandlers(
    fit_logistic_ridge(..., progress = FALSE),
    voxridge_warning_lambda_at_edge = function(w) invokeRestart("muffleWarning"),
    voxridge_message_separable = function(m) invokeRestart("muffleMessage")
  )
}

# A fit without the time that it took.
without_time <- function(fit) {
  fit$diagnostics$seconds <- NULL
  fit
}

# Coefficients and intercept of one target within 1e-7 of those of the oracle, relative to the largest.
expect_oracle <- function(fit, want, info = NULL) {
  error <- max(abs(unname(fit$coefs) - want$coefs)) / max(abs(want$coefs))
  error_b <- abs(unname(fit$intercept) - want$intercept) / max(1, abs(want$intercept))
  testthat::expect(
    isTRUE(error <= 1e-7 && error_b <= 1e-7),
    sprintf("%s: off by %.2g (coefficients), %.2g (intercept)", paste(info, collapse = " "), error, error_b)
  )
}

# Scores of held-out logits, the slow and obvious way.
logistic_score_oracle <- function(criterion, y, z, w = rep(1, length(y))) {
  p <- stats::plogis(z)
  mean_of <- function(x) sum(w * x) / sum(w)
  switch(criterion,
    log_loss = mean_of(-y * stats::plogis(z, log.p = TRUE) - (1 - y) * stats::plogis(-z, log.p = TRUE)),
    brier = mean_of((y - p)^2),
    accuracy = mean_of(ifelse(z >= 0, y, 1 - y)),
    auc = {
      pairs <- outer(w * y, w * (1 - y))
      if (sum(pairs) > 0) sum(pairs * (outer(z, z, ">") + outer(z, z, "==") / 2)) / sum(pairs) else NA_real_
    }
  )
}
