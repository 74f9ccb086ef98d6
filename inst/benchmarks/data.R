# Simulated data, the same for both sides: written once as raw little-endian doubles, column after column.

# Householder reflections H = I - 2 v v' / v'v from the right: a random rotation of the columns of X in O(n p) each.
rotate_columns <- function(X, reflections = 4) {
  for (i in seq_len(reflections)) {
    v <- stats::rnorm(ncol(X))
    X <- X - tcrossprod(X %*% v, v) * (2 / sum(v^2))
  }
  X
}

# Sizes of k contiguous blocks of n elements, the first n mod k one larger: folds, and the columns of bands.
block_sizes <- function(n, k) n %/% k + (seq_len(k) <= n %% k)

# n x p features: standard normal ("white"), or with column scales j^-0.75 and then rotated ("power"), the shape of the
# spectra of real stimulus features.
simulate_features <- function(n, p, spectrum) {
  X <- matrix(stats::rnorm(n * p), n, p)
  if (spectrum == "power") rotate_columns(sweep(X, 2, seq_len(p)^-0.75, "*")) else X
}

# n x t signals of several bands: X_b B_b, each of mean square 1, weighted by the square roots of shares that are drawn
# per target from Dirichlet(0.5, ..., 0.5): some targets follow one band, others all of them.
banded_signal <- function(Xs, t) {
  shares <- matrix(stats::rgamma(length(Xs) * t, 0.5), length(Xs))
  shares <- sweep(shares, 2, colSums(shares), "/")
  Y <- 0
  for (b in seq_along(Xs)) {
    signal <- Xs[[b]] %*% matrix(stats::rnorm(ncol(Xs[[b]]) * t), ncol(Xs[[b]]), t)
    Y <- Y + sweep(signal, 2, sqrt(shares[b, ] / colMeans(signal^2)), "*")
  }
  Y
}

# The columns of X as a named list of bands.
split_bands <- function(X, sizes) {
  last <- cumsum(sizes)
  Xs <- lapply(seq_along(sizes), function(b) X[, seq(last[b] - sizes[b] + 1, last[b]), drop = FALSE])
  stats::setNames(Xs, paste0("band", seq_along(sizes)))
}

# X has one of the spectra, every band by itself where there are several. Y = X B + noise, the share of explained
# variance drawn per target from U(0, 0.6), so that targets choose different alphas, as measured responses do. Columns
# are centred: nothing is fitted with an intercept.
simulate_case <- function(n, p, t, spectrum, bands = 1, seed = 20240601) {
  set.seed(seed)
  sizes <- block_sizes(p, bands)
  X <- do.call(cbind, lapply(sizes, function(size) simulate_features(n, size, spectrum)))
  X <- sweep(X, 2, colMeans(X))
  explained <- stats::runif(t, 0, 0.6)
  Y <- if (bands == 1) X %*% matrix(stats::rnorm(p * t), p, t) else banded_signal(split_bands(X, sizes), t)
  signal_scale <- sqrt(explained / colMeans(Y^2))
  Y <- sweep(Y, 2, signal_scale, "*") + sweep(matrix(stats::rnorm(n * t), n, t), 2, sqrt(1 - explained), "*")
  Y <- sweep(Y, 2, colMeans(Y))
  list(X = X, Y = Y)
}

# Log-spaced alphas over 1e-3 .. 1e5 times the mean non-zero eigenvalue of X X'.
alpha_values <- function(mean_eigenvalue, n_alphas) mean_eigenvalue * 10^seq(-3, 5, length.out = n_alphas)

# Band weights to try, candidates x bands: row 1 is equal weights, the others are drawn from Dirichlet(c, ..., c) with
# c = 0.1 and 1 in turn. None may vanish in single precision: himalaya's primal solver fails at a weight of 0.
gamma_values <- function(candidates, bands, seed = 20240602) {
  set.seed(seed)
  draws <- lapply(rep_len(c(0.1, 1), candidates), function(concentration) stats::rgamma(bands, concentration))
  gammas <- do.call(rbind, lapply(draws, function(draw) draw / sum(draw)))
  gammas[1, ] <- 1 / bands
  stopifnot(all(gammas > 1e-30))
  gammas
}

write_doubles <- function(x, path) {
  con <- file(path, "wb")
  on.exit(close(con))
  x <- as.double(x)
  chunk <- 2^24 # writeBin() takes less than 2^31 bytes at once
  for (start in seq(1, max(1, length(x)), by = chunk)) {
    writeBin(x[start:min(length(x), start + chunk - 1)], con, endian = "little")
  }
  invisible(path)
}

read_doubles <- function(path, dim = NULL) {
  size <- file.size(path) / 8
  x <- readBin(path, "double", n = size, endian = "little")
  if (is.null(dim)) x else matrix(x, dim[1], dim[2])
}

# Writes X and Y of a case into `dir` and the mean eigenvalue beside them; returns `dir`. Data of this size that are
# there already are kept, since several cases share them.
write_case_data <- function(case, spectrum, root) {
  bands <- case$bands %||% 1
  model <- case$model %||% "linear"
  dir <- file.path(root, sprintf("%s-%d-%d-%d-%d-%s", spectrum, case$n, case$p, case$t, bands, model))
  if (file.exists(file.path(dir, "mean_eigenvalue.bin")) || model == "collection" && dir.exists(dir)) return(dir)
  unlink(list.files(root, "^(white|power)-", full.names = TRUE), recursive = TRUE)
  dir.create(dir, recursive = TRUE)
  if (model == "collection") return(dir) # its files come one by one
  data <- switch(model,
    linear = simulate_case(case$n, case$p, case$t, spectrum, bands),
    logistic = simulate_logistic(case$n, case$p, case$t, spectrum),
    inference = simulate_inference(case$n, case$p, case$t),
    predict = simulate_predict(case$n, case$p, case$t)
  )
  write_doubles(data$X, file.path(dir, "X.bin"))
  write_doubles(data$Y, file.path(dir, "Y.bin"))
  write_doubles(sum(data$X^2) / min(case$n, case$p), file.path(dir, "mean_eigenvalue.bin"))
  dir
}

# What the job of a banded case holds besides: sizes of the bands, and the file with the weights to try.
write_case_gammas <- function(dir, case) {
  path <- file.path(dir, sprintf("gammas-%d.bin", case$candidates))
  if (!file.exists(path)) write_doubles(gamma_values(case$candidates, case$bands), path)
  list(
    band_sizes = block_sizes(case$p, case$bands), candidates = case$candidates, gammas = path,
    outer = case$outer %||% 1
  )
}

# The file with this many alphas for the data in `dir`.
write_case_alphas <- function(dir, n_alphas) {
  path <- file.path(dir, sprintf("alphas-%d.bin", n_alphas))
  if (!file.exists(path)) {
    write_doubles(alpha_values(read_doubles(file.path(dir, "mean_eigenvalue.bin")), n_alphas), path)
  }
  path
}
