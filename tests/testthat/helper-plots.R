# Masks, maps and fits to draw, and what every picture must satisfy.

# A 4 x 4 affine with voxels of `size` mm and the first voxel at `origin`.
box_affine <- function(size = c(2, 3, 4), origin = c(-9, -16, -13)) {
  rbind(cbind(diag(size), origin), c(0, 0, 0, 1), deparse.level = 0)
}

new_mask <- function(inside, affine = NULL) {
  index <- which(inside)
  structure(list(dim = dim(inside), affine = affine, index = index, n = length(index)), class = "brain_mask")
}

# A ball of voxels.
ball_mask <- function(dim = c(10L, 12L, 8L), affine = box_affine()) {
  grid <- as.matrix(expand.grid(lapply(dim, seq_len)))
  centre <- (dim + 1) / 2
  new_mask(array(colSums(((t(grid) - centre) / (dim / 2))^2) < 1, dim), affine)
}

# The same image stored with other directions and another order of its axes: new axis i is old axis order[i], run
# backwards where flip[i].
store_otherwise <- function(volume, affine, order, flip) {
  dim <- dim(volume)
  index <- lapply(1:3, function(i) if (flip[match(i, order)]) rev(seq_len(dim[i])) else seq_len(dim[i]))
  out <- aperm(volume[index[[1L]], index[[2L]], index[[3L]], drop = FALSE], order)
  old_from_new <- matrix(0, 4L, 4L)
  old_from_new[4L, 4L] <- 1
  for (i in 1:3) {
    old_from_new[order[i], i] <- if (flip[i]) -1 else 1
    if (flip[i]) old_from_new[order[i], 4L] <- dim[order[i]] - 1
  }
  attr(out, "affine") <- affine %*% old_from_new
  out
}

axis_orders <- list(1:3, c(1L, 3L, 2L), c(2L, 1L, 3L), c(2L, 3L, 1L), c(3L, 1L, 2L), 3:1)

# A fit made by hand, with scores per fold: fast for any number of targets.
made_fit <- function(t = 40L, alphas = 10^(-1:3), folds = 3L, constant = integer(), skipped = integer(), seed = 1L,
                     is_vector = FALSE, score_func = "r2") {
  cv_scores <- withr::with_seed(seed, array(rnorm(folds * length(alphas) * t, 0.1, 0.2), c(folds, length(alphas), t)))
  cv_scores[, , skipped] <- NA
  means <- matrix(colMeans(cv_scores), length(alphas))
  index <- apply(means, 2L, function(m) if (anyNA(m)) NA_integer_ else which.max(m))
  counted <- setdiff(seq_len(t), c(constant, skipped))
  chosen <- alphas[index[counted]]
  edge <- c(smallest = mean(chosen == min(alphas)), largest = mean(chosen == max(alphas)))
  if (length(alphas) == 1L) edge[] <- NA
  structure(list(
    format = 1L, best_alphas = alphas[index], cv_scores = if (is_vector) cv_scores[, , 1L] else cv_scores,
    scores = means[cbind(index, seq_len(t))], alphas = alphas, score_func = score_func, folds = list(kind = "kfold"),
    dims = c(n = 60L, p = 10L, t = t), is_vector = is_vector, coef_form = "primal", mask = NULL,
    diagnostics = list(alpha_index = index, constant_targets = constant, skipped_targets = skipped,
                       share_at_edge = edge)
  ), class = c("voxridge_ridge", "voxridge_fit"))
}

# The same with bands; targets share the weights of a few candidates.
made_banded_fit <- function(n_bands, t = 40L, n_candidates = 12L, seed = 1L, ...) {
  fit <- made_fit(t = t, seed = seed, ...)
  bands <- paste0("space", seq_len(n_bands))
  candidates <- random_gammas(n_candidates, n_bands, seed)
  colnames(candidates) <- bands
  chosen <- withr::with_seed(seed, sample(n_candidates, t, replace = TRUE))
  gammas <- t(candidates)[, chosen, drop = FALSE]
  fit$gammas <- if (fit$is_vector) gammas[, 1L] else gammas
  fit$candidates <- candidates
  fit$bands <- factor(rep(bands, each = 2L), levels = bands)
  fit$cv_scores <- withr::with_seed(seed, matrix(rnorm(n_candidates * t), n_candidates))
  class(fit) <- c("voxridge_banded_ridge", "voxridge_fit")
  fit
}

# Every kind of fit that a picture must survive.
drawn_fits <- function() {
  means <- made_fit()
  means$cv_scores <- colMeans(means$cv_scores)
  without <- made_fit()
  without[c("cv_scores", "scores")] <- list(NULL)
  spread <- made_fit()
  spread$scores[1:2] <- c(-40, 3)
  list(
    plain = made_fit(), means = means, without = without, spread = spread,
    vector = made_fit(t = 1L, is_vector = TRUE), "one target" = made_fit(t = 1L),
    "constant and skipped" = made_fit(constant = 2:4, skipped = 7L),
    "one alpha" = made_fit(alphas = 10), "alpha 0" = made_fit(alphas = c(10, 0, 1, 100)),
    "only alpha 0" = made_fit(alphas = 0), "one fold" = made_fit(folds = 1L),
    "two alphas" = made_fit(alphas = c(3, 5)), unsorted = made_fit(alphas = c(100, 1, 1e6, 1e-4)),
    "neg_mse" = made_fit(score_func = "neg_mse"), "function" = made_fit(score_func = "function"),
    correlation = made_fit(score_func = "correlation")
  )
}

banded_fits <- function() {
  without <- made_banded_fit(3L)
  without[c("cv_scores", "scores")] <- list(NULL)
  jittered <- made_banded_fit(2L)
  jittered$best_alphas <- jittered$best_alphas * withr::with_seed(2L, 10^(runif(40) - 0.5))
  list(
    "1" = made_banded_fit(1L), "2" = made_banded_fit(2L), "3" = made_banded_fit(3L), "6" = made_banded_fit(6L),
    "12" = made_banded_fit(12L), without = without, jittered = jittered,
    vector = made_banded_fit(3L, t = 1L, is_vector = TRUE), "vector, 2" = made_banded_fit(2L, t = 1L, is_vector = TRUE),
    "constant and skipped" = made_banded_fit(3L, constant = 1:3, skipped = 9L)
  )
}

# Settings of the device that a picture must leave as they were (the coordinates of the last plot are its own).
device_settings <- function() {
  settings <- graphics::par(no.readonly = TRUE)
  settings[setdiff(names(settings), c("usr", "xaxp", "yaxp", "xlog", "ylog"))]
}

# Draws on a device without output: no warnings, nothing printed, no device opened, settings put back.
expect_draws <- function(expr, width = 7, height = 5) {
  expr <- substitute(expr)
  frame <- parent.frame()
  grDevices::pdf(NULL, width, height)
  device <- grDevices::dev.cur()
  on.exit(grDevices::dev.off(device))
  before <- device_settings()
  value <- NULL
  testthat::expect_silent(value <- eval(expr, frame))
  testthat::expect_identical(grDevices::dev.cur(), device)
  testthat::expect_equal(device_settings(), before)
  invisible(value)
}
