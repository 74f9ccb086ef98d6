# Plain R, independent of the package: what ridge.md says, written the slow and obvious way.

EPS <- .Machine$double.eps

# ---- one fit ---------------------------------------------------------------------------------

# Coefficients without an intercept: normal equations; alpha 0 is minimum-norm least squares.
oracle_coefs <- function(X, Y, alpha) {
  if (alpha > 0) return(solve(crossprod(X) + alpha * diag(ncol(X)), crossprod(X, Y)))
  s <- svd(X)
  keep <- s$d > max(dim(X)) * EPS * max(s$d)
  inverse <- ifelse(keep, 1 / s$d, 0)
  s$v %*% (inverse * crossprod(s$u, Y))
}

# One alpha, or one per target.
oracle_fit <- function(X, Y, alphas, fit_intercept = FALSE) {
  x0 <- if (fit_intercept) colMeans(X) else numeric(ncol(X))
  y0 <- if (fit_intercept) colMeans(Y) else numeric(ncol(Y))
  Xc <- sweep(X, 2L, x0)
  Yc <- sweep(Y, 2L, y0)
  alphas <- rep_len(alphas, ncol(Y))
  coefs <- matrix(NA_real_, ncol(X), ncol(Y))
  for (alpha in unique(alphas)) {
    coefs[, alphas == alpha] <- oracle_coefs(Xc, Yc[, alphas == alpha, drop = FALSE], alpha)
  }
  list(coefs = coefs, intercept = y0 - drop(x0 %*% coefs))
}

oracle_predict <- function(fit, X) sweep(X %*% fit$coefs, 2L, fit$intercept, "+")

# ---- folds -----------------------------------------------------------------------------------

# A count, labels, held-out rows, or train and test rows -> list of list(train =, test =).
oracle_folds <- function(cv, n) {
  if (is.list(cv) && is.list(cv[[1L]])) return(cv)
  if (is.list(cv)) {
    held_out <- cv
  } else if (length(cv) == 1L) {
    held_out <- split(seq_len(n), rep(seq_len(cv), n %/% cv + (seq_len(cv) <= n %% cv)))
  } else {
    held_out <- split(seq_len(n), factor(cv))
  }
  lapply(held_out, function(test) list(train = setdiff(seq_len(n), test), test = test))
}

# ---- scores ----------------------------------------------------------------------------------

oracle_is_constant <- function(y) sum((y - mean(y))^2) <= length(y)^2 * EPS^2 * sum(y^2)

oracle_score <- function(y, prediction, score_func) {
  if (score_func == "neg_mse") return(-mean((y - prediction)^2))
  if (oracle_is_constant(y)) return(0)
  if (score_func == "r2") return(1 - sum((y - prediction)^2) / sum((y - mean(y))^2))
  if (oracle_is_constant(prediction)) return(0)
  stats::cor(y, prediction)
}

# Column by column.
oracle_scores <- function(Y, predictions, score_func) {
  vapply(seq_len(ncol(Y)), function(j) oracle_score(Y[, j], predictions[, j], score_func), 0)
}

# [folds, alphas, targets]
oracle_cv_scores <- function(X, Y, alphas, cv, score_func = "r2", fit_intercept = FALSE) {
  folds <- oracle_folds(cv, nrow(X))
  scores <- array(NA_real_, c(length(folds), length(alphas), ncol(Y)))
  for (f in seq_along(folds)) {
    train <- folds[[f]]$train
    test <- folds[[f]]$test
    for (a in seq_along(alphas)) {
      fit <- oracle_fit(X[train, , drop = FALSE], Y[train, , drop = FALSE], alphas[a], fit_intercept)
      scores[f, a, ] <- oracle_scores(Y[test, , drop = FALSE], oracle_predict(fit, X[test, , drop = FALSE]), score_func)
    }
  }
  scores
}

# Leave one out by literal refits: minus the mean squared error, [alphas, targets].
oracle_loo <- function(X, Y, alphas, fit_intercept = FALSE) {
  apply(oracle_cv_scores(X, Y, alphas, as.list(seq_len(nrow(X))), "neg_mse", fit_intercept), c(2L, 3L), mean)
}

# Generalised cross-validation from the hat matrix, [alphas, targets]: minus mean(e^2) / (1 - tr(H) / n)^2.
oracle_gcv <- function(X, Y, alphas, fit_intercept = FALSE) {
  n <- nrow(X)
  centring <- if (fit_intercept) diag(n) - 1 / n else diag(n)
  Xc <- centring %*% X
  scores <- vapply(alphas, function(alpha) {
    H <- Xc %*% solve(crossprod(Xc) + alpha * diag(ncol(X)), t(Xc))
    if (fit_intercept) H <- H + 1 / n
    residuals <- Y - H %*% Y
    -colMeans(residuals^2) / (1 - sum(diag(H)) / n)^2
  }, numeric(ncol(Y)))
  matrix(scores, length(alphas), ncol(Y), byrow = TRUE)
}

# ---- choice ----------------------------------------------------------------------------------

# Position of the best alpha per target; ties go to the larger alpha.
oracle_choose <- function(scores, alphas, local_alpha = TRUE, conservative = FALSE) {
  means <- array(apply(scores, c(2L, 3L), mean), dim(scores)[2:3])
  if (!local_alpha) means <- matrix(rowMeans(means), nrow(means), ncol(means))
  vapply(seq_len(ncol(means)), function(j) {
    best <- which(means[, j] == max(means[, j]))
    best <- best[which.max(alphas[best])]
    if (!conservative) return(best)
    over_folds <- scores[, best, j]
    within <- which(means[, j] > means[best, j] - sqrt(mean((over_folds - mean(over_folds))^2)))
    within <- union(best, within)
    within[which.max(alphas[within])]
  }, 0L)
}

# Everything solve_ridge_cv() answers.
oracle_solve <- function(X, Y, alphas, cv = 5, local_alpha = TRUE, score_func = "r2", fit_intercept = FALSE,
                         conservative = FALSE) {
  scores <- oracle_cv_scores(X, Y, alphas, cv, score_func, fit_intercept)
  index <- oracle_choose(scores, alphas, local_alpha, conservative)
  c(list(best_alphas = alphas[index], index = index, cv_scores = scores),
    oracle_fit(X, Y, alphas[index], fit_intercept))
}

# Out-of-fold predictions and scores for alphas that are given.
oracle_cross_val_predict <- function(X, Y, alphas, cv, score_func = "r2", fit_intercept = FALSE) {
  folds <- oracle_folds(cv, nrow(X))
  predictions <- matrix(NA_real_, nrow(Y), ncol(Y))
  scores <- matrix(NA_real_, length(folds), ncol(Y))
  for (f in seq_along(folds)) {
    train <- folds[[f]]$train
    test <- folds[[f]]$test
    fit <- oracle_fit(X[train, , drop = FALSE], Y[train, , drop = FALSE], alphas, fit_intercept)
    predictions[test, ] <- oracle_predict(fit, X[test, , drop = FALSE])
    scores[f, ] <- oracle_scores(Y[test, , drop = FALSE], predictions[test, , drop = FALSE], score_func)
  }
  list(predictions = predictions, scores = scores)
}
