# Data of the logistic cases, and how far each side stopped from the optimum.

# n x p features and t columns of 0/1. The odds of a target are exp(2 f), f of variance 1. Where there are more samples
# than features, f is a random combination of them. Otherwise no method could learn random weights from so few samples:
# f is drawn first and added to all features, with small random loads whose squares sum to 10, as where many voxels
# each carry a little of the same signal.
simulate_logistic <- function(n, p, t, spectrum, seed = 20240603) {
  set.seed(seed)
  X <- simulate_features(n, p, spectrum)
  if (n > p) {
    signal <- scale(X %*% matrix(stats::rnorm(p * t), p, t))
  } else {
    signal <- matrix(stats::rnorm(n * t), n, t)
    X <- X + signal %*% matrix(stats::rnorm(t * p, sd = sqrt(10 / p)), t, p)
  }
  Y <- matrix(stats::rbinom(n * t, 1, stats::plogis(2 * signal)), n, t)
  list(X = X, Y = Y)
}

# Log-spaced penalties, largest first. If all r eigenvalues of Z'Z / 4n (Z: standardised features) are d = p / 4r, half
# a degree of freedom is left at 2 r d and 99 % of them at d / 100: about the default grid of fit_logistic_ridge().
lambda_values <- function(n, p, n_lambdas) {
  r <- min(n - 1, p)
  p / (4 * r) * exp(seq(log(2 * r), log(0.01), length.out = n_lambdas))
}

# The file with the penalties of a case: its own `lambda`, or the grid.
write_case_lambdas <- function(dir, case) {
  lambda <- case$lambda %||% lambda_values(case$n, case$p, case$n_alphas)
  write_doubles(lambda, file.path(dir, "lambdas.bin"))
}

# Gradient norms of F(b, beta) = mean log-loss + lambda / 2 ||s beta||^2 (s: standard deviations with divisor n) with
# respect to b and gamma = s beta, for k solutions: coefs (1 + p) x k with the intercepts first, Y n x k, lambda k.
# In gamma, with features X standardised to Z and residuals r = (y - p) / n: Z'r - lambda gamma.
gradient_norms <- function(X, Y, coefs, lambda) {
  center <- colMeans(X)
  scale <- sqrt(colMeans(X^2) - center^2)
  beta <- coefs[-1, , drop = FALSE]
  logits <- X %*% beta + rep(coefs[1, ], each = nrow(X))
  R <- (Y * stats::plogis(-logits) - (1 - Y) * stats::plogis(logits)) / nrow(X)
  G <- (crossprod(X, R) - outer(center, colSums(R))) / scale - rep(lambda, each = ncol(X)) * beta * scale
  sqrt(colSums(G^2) + colSums(R)^2)
}

# What read_agreement() gives, and the largest gradient norm of each side at its own stop and its own lambda. Columns of
# the coefficients are targets, or the penalties of a path.
logistic_agreement <- function(dir, names, case, job) {
  agreement <- read_agreement(dir, names, case$t, columns = if (case$output == "path") case$n_alphas)
  X <- read_doubles(file.path(job$data, "X.bin"), c(case$n, case$p))
  Y <- read_doubles(file.path(job$data, "Y.bin"), c(case$n, case$t))[, compared_targets(case$t), drop = FALSE]
  largest <- vapply(file.path(dir, names), function(path) {
    if (!file.exists(paste0(path, ".coefs"))) return(NA_real_)
    coefs <- matrix(read_doubles(paste0(path, ".coefs")), case$p + 1)
    choice <- paste0(path, ".alphas")
    lambda <- rep_len(read_doubles(if (file.exists(choice)) choice else job$alphas), ncol(coefs))
    max(gradient_norms(X, Y[, rep_len(seq_len(ncol(Y)), ncol(coefs)), drop = FALSE], coefs, lambda))
  }, 0)
  c(agreement, list(ours_gradient = largest[[1]], peer_gradient = largest[[2]]))
}
