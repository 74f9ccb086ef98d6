# Simulated data, the same for both sides: written once as raw little-endian doubles, column after column.

# Householder reflections H = I - 2 v v' / v'v from the right: a random rotation of the columns of X in O(n p) each.
rotate_columns <- function(X, reflections = 4) {
  for (i in seq_len(reflections)) {
    v <- stats::rnorm(ncol(X))
    X <- X - tcrossprod(X %*% v, v) * (2 / sum(v^2))
  }
  X
}

# X: standard normal ("white"), or with column scales j^-0.75 and then rotated ("power"), the shape of the spectra of
# real stimulus features. Y = X B + noise, the share of explained variance drawn per target from U(0, 0.6), so that
# targets choose different alphas, as measured responses do. Columns are centred: nothing is fitted with an intercept.
simulate_case <- function(n, p, t, spectrum, seed = 20240601) {
  set.seed(seed)
  X <- matrix(stats::rnorm(n * p), n, p)
  if (spectrum == "power") X <- rotate_columns(sweep(X, 2, seq_len(p)^-0.75, "*"))
  X <- sweep(X, 2, colMeans(X))
  explained <- stats::runif(t, 0, 0.6)
  Y <- X %*% matrix(stats::rnorm(p * t), p, t)
  signal_scale <- sqrt(explained / colMeans(Y^2))
  Y <- sweep(Y, 2, signal_scale, "*") + sweep(matrix(stats::rnorm(n * t), n, t), 2, sqrt(1 - explained), "*")
  Y <- sweep(Y, 2, colMeans(Y))
  list(X = X, Y = Y)
}

# Log-spaced alphas over 1e-3 .. 1e5 times the mean non-zero eigenvalue of X X'.
alpha_values <- function(mean_eigenvalue, n_alphas) mean_eigenvalue * 10^seq(-3, 5, length.out = n_alphas)

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
  dir <- file.path(root, sprintf("%s-%d-%d-%d", spectrum, case$n, case$p, case$t))
  if (file.exists(file.path(dir, "mean_eigenvalue.bin"))) return(dir)
  unlink(list.files(root, "^(white|power)-", full.names = TRUE), recursive = TRUE)
  dir.create(dir, recursive = TRUE)
  data <- simulate_case(case$n, case$p, case$t, spectrum)
  write_doubles(data$X, file.path(dir, "X.bin"))
  write_doubles(data$Y, file.path(dir, "Y.bin"))
  write_doubles(sum(data$X^2) / min(case$n, case$p), file.path(dir, "mean_eigenvalue.bin"))
  dir
}

# The file with this many alphas for the data in `dir`.
write_case_alphas <- function(dir, n_alphas) {
  path <- file.path(dir, sprintf("alphas-%d.bin", n_alphas))
  if (!file.exists(path)) write_doubles(alpha_values(read_doubles(file.path(dir, "mean_eigenvalue.bin")), n_alphas), path)
  path
}
