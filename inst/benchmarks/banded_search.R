# Does looking near the best candidates beat drawing more of them? Rscript inst/benchmarks/banded_search.R [DATA]
#
# For solve_banded_ridge_cv(): random candidates against a search of the same number of candidates, so of the same time,
# that draws only its first third at random and takes the rest, in two rounds, near the winners: the winner of a target
# picked at random, each weight times exp(sigma z), z normal, sigma 1 and then 0.5. Compared are mean R2 on samples that
# the search has not seen, and the cross-validated R2 that it maximises. "equal" tries equal weights only, "random x4"
# four times the candidates. DATA is a folder with haxby_slice/ (bold.nii.gz, mask.nii.gz, attributes_literal.txt).

suppressPackageStartupMessages(library(voxridge))
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
threads <- 2

search <- function(Xs, Y, cv, alphas, n_iter, seed = NULL, coefs = "none") {
  suppressWarnings(solve_banded_ridge_cv(Xs, Y, n_iter = n_iter, alphas = alphas, cv = cv, seed = seed,
    fit_intercept = TRUE, return_coefs = coefs, n_threads = threads, progress = FALSE))
}

near_winners <- function(fit, n, sigma) {
  winners <- t(fit$gammas)[sample(ncol(fit$gammas), n, TRUE), , drop = FALSE]
  logs <- log(pmax(winners, 1e-6)) + sigma * rnorm(length(winners))
  gammas <- exp(logs - apply(logs, 1, max))
  gammas / rowSums(gammas)
}

refined_candidates <- function(Xs, Y, cv, alphas, n_iter, seed) {
  gammas <- search(Xs, Y, cv, alphas, n_iter %/% 3, seed)$candidates
  for (sigma in c(1, 0.5)) {
    fit <- search(Xs, Y, cv, alphas, gammas)
    gammas <- rbind(gammas, near_winners(fit, n_iter %/% 3, sigma))
  }
  gammas
}

samples <- function(Xs, rows) lapply(Xs, function(X) X[rows, , drop = FALSE])

# Mean over targets of R2 on the test rows, and of the score that the search found, per way to search.
compare_searches <- function(Xs, Y, train, test, cv, alphas, n_iter, seed, targets = TRUE) {
  set.seed(seed)
  ways <- list(
    equal = matrix(1, 1, length(Xs)), random = n_iter,
    refined = refined_candidates(samples(Xs, train), Y[train, ], cv, alphas, n_iter, seed), "random x4" = 4 * n_iter
  )
  vapply(ways, function(candidates) {
    fit <- search(samples(Xs, train), Y[train, ], cv, alphas, candidates,
      seed = if (is.matrix(candidates)) NULL else seed, coefs = "primal")
    P <- sweep(do.call(cbind, samples(Xs, test)) %*% fit$coefs, 2, fit$intercept, "+")
    centred <- sweep(Y[test, ], 2, colMeans(Y[test, ]))
    r2 <- 1 - colSums((Y[test, ] - P)^2) / colSums(centred^2)
    c(held_out = mean(r2[targets]), found = mean(apply(fit$cv_scores, 2, max)[targets]))
  }, c(held_out = 0, found = 0))
}

# Targets with known penalties: normal weights whose variances over bands are Dirichlet(0.3) shares, so most targets
# need one or two bands. R2 to reach: 0.3.
simulated <- function(n_bands, n, p, t, n_iter, seed) {
  data <- simulate_encoding(2 * n, p, t, n_bands = n_bands, n_runs = 2, seed = seed)
  set.seed(seed)
  signal <- 0
  for (X in data$Xs) {
    part <- X %*% matrix(rnorm(ncol(X) * t), ncol(X))
    signal <- signal + sweep(part, 2, apply(part, 2, sd), "/") * rep(sqrt(rgamma(t, 0.3)), each = 2 * n)
  }
  signal <- sweep(signal, 2, apply(signal, 2, sd), "/")
  Y <- sqrt(0.3) * signal + sqrt(0.7) * rnorm(length(signal))
  compare_searches(data$Xs, Y, seq_len(n), n + seq_len(n), 5, alpha_grid(data$X), n_iter, seed)
}

# Two feature spaces: the category that is shown, and where in its run a volume lies within a cycle of its blocks.
haxby <- function(folder, n_iter, seed) {
  source(file.path(dirname(normalizePath(script)), "..", "..", "tests", "testthat", "helper-nifti.R"))
  file <- function(name) file.path(folder, "haxby_slice", name)
  bold <- read_nifti_array(file("bold.nii.gz"))
  inside <- as.vector(read_nifti_array(file("mask.nii.gz"))) != 0
  labels <- utils::read.table(file("attributes_literal.txt"), col.names = c("label", "run"))
  runs <- labels$run
  Y <- t(matrix(bold, ncol = nrow(labels))[inside, ])
  for (run in unique(runs)) {
    rows <- runs == run
    residuals <- qr.resid(qr(cbind(1, poly(seq_len(sum(rows)), 2))), Y[rows, ])
    Y[rows, ] <- sweep(residuals, 2, sqrt(colMeans(residuals^2)), "/")
  }
  since_start <- ave(seq_along(runs), runs, FUN = seq_along)
  delayed <- function(X) {
    do.call(cbind, lapply(1:4, function(delay) {
      rows <- which(since_start > delay)
      late <- 0 * X
      late[rows, ] <- X[rows - delay, ]
      late
    }))
  }
  onset <- labels$label != c("rest", labels$label[-nrow(labels)]) & labels$label != "rest"
  Xs <- list(category = delayed(outer(labels$label, setdiff(unique(labels$label), "rest"), "==") + 0),
    timing = delayed(cbind(task = labels$label != "rest", onset = onset, order = since_start / 121)))
  train <- which(runs < 8)
  compare_searches(Xs, Y, train, which(runs >= 8), runs[train], 10^seq(0, 5, length.out = 20), n_iter, seed)
}

report <- function(title, runs) {
  cat(title, "\n")
  means <- Reduce(`+`, runs) / length(runs)
  gains <- vapply(runs, function(x) x["held_out", "refined"] - x["held_out", "random"], 0)
  print(round(means, 4))
  cat(sprintf("refined - random, held out: %+.4f (standard error over %d repeats %.4f)\n\n", mean(gains), length(gains),
    if (length(gains) > 1) sd(gains) / sqrt(length(gains)) else NA))
}

seeds <- 1:4
report("simulated, 3 bands, 30 candidates", lapply(seeds, function(s) simulated(3, 300, 150, 300, 30, s)))
report("simulated, 8 bands, 60 candidates", lapply(seeds, function(s) simulated(8, 300, 240, 300, 60, s)))
arguments <- commandArgs(TRUE)
if (length(arguments)) {
  report("haxby_slice, 2 bands, 12 candidates", lapply(seeds, function(s) haxby(arguments[1], 12, s)))
}
