# Training and test samples of the same problem.
split_problem <- function(sizes, t, seed, n = 60) {
  problem <- random_bands(n, sizes, t, seed)
  part <- function(rows) {
    list(Xs = lapply(problem$Xs, function(X) X[rows, , drop = FALSE]), X = problem$X[rows, ], bands = problem$bands,
         Y = problem$Y[rows, , drop = FALSE])
  }
  list(train = part(seq_len(n / 2)), test = part(n / 2 + seq_len(n / 2)))
}

fit_part <- function(part, ...) band_quietly(part$Xs, part$Y, n_iter = 6, seed = 1, ...)

centred <- function(x) sweep(x, 2L, colMeans(x))

# Bands x targets, in plain R, one band and target at a time.
oracle_split <- function(fit, Xs, Y, method) {
  y <- centred(Y)
  first <- cumsum(vapply(Xs, ncol, 0L)) - vapply(Xs, ncol, 0L)
  parts <- Map(function(X, from) {
    rows <- from + seq_len(ncol(X))
    part <- X %*% fit$coefs[rows, , drop = FALSE]
    if (is.null(fit$intercept)) part else centred(part)
  }, Xs, first)
  P <- Reduce(`+`, parts)
  t(vapply(parts, function(part) {
    vapply(seq_len(ncol(Y)), function(j) {
      if (method == "product") return(sum((2 * y[, j] - P[, j]) * part[, j]) / sum(y[, j]^2))
      stats::cov(y[, j], part[, j]) / (stats::sd(y[, j]) * stats::sd(P[, j]))
    }, 0)
  }, numeric(ncol(Y))))
}

test_that("the parts are what they are defined to be, and sum to the joint score", {
  for (sizes in list(c(3, 1, 5), c(30, 12))) {
    for (fit_intercept in c(FALSE, TRUE)) {
      parts <- split_problem(sizes, 6, seed = 1)
      fit <- fit_part(parts$train, fit_intercept = fit_intercept)
      X <- do.call(cbind, unname(parts$test$Xs))
      P <- X %*% fit$coefs
      if (fit_intercept) P <- centred(P)
      y <- centred(parts$test$Y)
      product <- r2_split(fit, parts$test$Xs, parts$test$Y)
      expect_close(product, oracle_split(fit, parts$test$Xs, parts$test$Y, "product"), 1e-12)
      expect_close(colSums(product), 1 - colSums((y - P)^2) / colSums(y^2), 1e-12)
      correlation <- r2_split(fit, parts$test$Xs, parts$test$Y, method = "correlation")
      expect_close(correlation, oracle_split(fit, parts$test$Xs, parts$test$Y, "correlation"), 1e-12)
      expect_close(colSums(correlation), diag(cor(y, P)), 1e-12)
      expect_identical(dimnames(product), list(names(parts$test$Xs), NULL))
    }
  }
})

test_that("with an intercept an offset of new samples does not count", {
  parts <- split_problem(c(3, 5), 4, seed = 3)
  fit <- fit_part(parts$train, fit_intercept = TRUE)
  moved <- parts$test
  moved$Xs <- lapply(moved$Xs, function(X) X + 5)
  for (method in c("product", "correlation")) {
    expect_close(r2_split(fit, moved$Xs, moved$Y + 100, method = method),
                 r2_split(fit, parts$test$Xs, parts$test$Y, method = method), 1e-10)
  }
})

test_that("on the samples of a fit with an intercept, the sum is its R2", {
  parts <- split_problem(c(3, 5), 4, seed = 2)
  for (fit in list(fit_part(parts$train, fit_intercept = TRUE),
                   solve_quietly(do.call(cbind, unname(parts$train$Xs)), parts$train$Y, fit_intercept = TRUE))) {
    predictions <- sweep(do.call(cbind, unname(parts$train$Xs)) %*% fit$coefs, 2L, fit$intercept, "+")
    r2 <- oracle_scores(parts$train$Y, predictions, "r2")
    expect_close(colSums(r2_split(fit, parts$train$Xs, parts$train$Y)), r2, 1e-12)
  }
})

test_that("lists, matrices and orders of bands give the same", {
  parts <- split_problem(c(3, 1, 5), 6, seed = 3)
  listed <- fit_part(parts$train, fit_intercept = TRUE)
  stacked <- band_quietly(parts$train$X, parts$train$Y, bands = parts$train$bands, n_iter = 6, seed = 1,
                          fit_intercept = TRUE)
  want <- r2_split(listed, parts$test$Xs, parts$test$Y)
  expect_close(r2_split(listed, rev(parts$test$Xs), parts$test$Y), want, 1e-12)
  expect_close(r2_split(stacked, parts$test$Xs, parts$test$Y), want, 1e-12)
  expect_close(r2_split(stacked, parts$test$X, parts$test$Y, bands = parts$test$bands), want, 1e-12)
  expect_close(r2_split(stacked, parts$test$X, parts$test$Y, bands = as.character(parts$test$bands)), want, 1e-12)
  expect_close(r2_split(listed, parts$test$X, parts$test$Y, bands = parts$test$bands), want, 1e-12)
})

test_that("blocks of targets change nothing", {
  parts <- split_problem(c(3, 5), 40, seed = 4)
  fit <- fit_part(parts$train, fit_intercept = TRUE)
  want <- r2_split(fit, parts$test$Xs, parts$test$Y)
  withr::local_options(voxridge.memory_gb = 1e-5)
  expect_gt(length(target_blocks(1:40, 30, 2)), 3L)
  expect_identical(unlist(target_blocks(c(3L, 5:9), 1e6, 2)), c(3L, 5:9))
  expect_close(r2_split(fit, parts$test$Xs, parts$test$Y), want, 1e-12)
})

test_that("constant targets and predictions have parts of 0, never NaN", {
  parts <- split_problem(c(3, 5), 4, seed = 5)
  parts$train$Y[, 2L] <- 0
  fit <- fit_part(parts$train, fit_intercept = TRUE)
  Y <- parts$test$Y
  Y[, 1L] <- 0.1
  Y[, 3L] <- 0
  for (method in c("product", "correlation")) {
    got <- r2_split(fit, parts$test$Xs, Y, method = method)
    expect_true(all(got[, 1:3] == 0))
    expect_true(all(is.finite(got)))
  }
})

test_that("a band of weight 0 has no part", {
  parts <- split_problem(c(3, 5), 4, seed = 6)
  fit <- band_quietly(parts$train$Xs, parts$train$Y, n_iter = rbind(c(0, 1)))
  expect_true(all(r2_split(fit, parts$test$Xs, parts$test$Y)["motion", ] == 0))
})

test_that("skipped targets are NA, other bad ones an error", {
  parts <- split_problem(c(3, 5), 4, seed = 7)
  want <- r2_split(fit_part(parts$train), parts$test$Xs, parts$test$Y)
  parts$train$Y[1L, 2L] <- NA
  fit <- fit_part(parts$train, na_targets = "skip")
  Y <- parts$test$Y
  Y[2L, 2L] <- NaN
  got <- r2_split(fit, parts$test$Xs, Y)
  expect_true(all(is.na(got[, 2L])))
  expect_close(got[, -2L], want[, -2L], 1e-12)
  Y[2L, 3L] <- Inf
  expect_error(r2_split(fit, parts$test$Xs, Y), "1 of 4.*\\(3\\)", class = "voxridge_error_nonfinite")
})

test_that("a vector gives a vector, and names survive", {
  parts <- split_problem(c(3, 5), 2, seed = 8)
  colnames(parts$train$Y) <- c("v1", "v2")
  fit <- fit_part(parts$train)
  want <- r2_split(fit, parts$test$Xs, parts$test$Y)
  expect_identical(dimnames(want), list(c("motion", "words"), c("v1", "v2")))
  one <- band_quietly(parts$train$Xs, parts$train$Y[, 1L], n_iter = 6, seed = 1)
  got <- r2_split(one, parts$test$Xs, parts$test$Y[, 1L])
  expect_null(dim(got))
  expect_named(got, c("motion", "words"))
  expect_close(got, want[, 1L], 1e-12)
  expect_identical(dim(r2_split(one, parts$test$Xs, parts$test$Y[, 1L, drop = FALSE])), c(2L, 1L))
})

test_that("any list with coefficients will do", {
  parts <- split_problem(c(3, 5), 3, seed = 9)
  fit <- fit_part(parts$train)
  expect_close(r2_split(fit["coefs"], parts$test$Xs, parts$test$Y), r2_split(fit, parts$test$Xs, parts$test$Y), 1e-14)
  plain <- solve_quietly(parts$train$X, parts$train$Y)
  got <- r2_split(plain, parts$test$X, parts$test$Y, bands = parts$test$bands)
  P <- parts$test$X %*% plain$coefs
  y <- centred(parts$test$Y)
  expect_close(colSums(got), 1 - colSums((y - P)^2) / colSums(y^2), 1e-12)
})

test_that("other bands, columns, samples and targets than those of the fit are refused", {
  parts <- split_problem(c(3, 5), 4, seed = 10)
  fit <- fit_part(parts$train)
  Xs <- parts$test$Xs
  Y <- parts$test$Y
  expect_error(r2_split(fit, Xs["motion"], Y), "Missing.*words", class = "voxridge_error_bands")
  expect_error(r2_split(fit, c(Xs, list(sound = Xs$words)), Y), "sound", class = "voxridge_error_bands")
  expect_error(r2_split(fit, stats::setNames(Xs, c("a", "b")), Y), class = "voxridge_error_bands")
  expect_error(r2_split(fit, list(motion = Xs$motion, words = Xs$words[, 1:4]), Y), "words.*5.*4",
               class = "voxridge_error_shape")
  expect_error(r2_split(fit, Xs, Y[, 1:3]), "4.*3", class = "voxridge_error_shape")
  expect_error(r2_split(fit, Xs, Y[-1L, ]), "30.*29", class = "voxridge_error_shape")
  expect_error(r2_split(fit["coefs"], Xs["motion"], Y), "8.*3", class = "voxridge_error_shape")
  # names of columns, where both have them
  X <- parts$train$X
  colnames(X) <- paste0("f", 1:8)
  named <- band_quietly(X, parts$train$Y, bands = parts$train$bands, n_iter = 2)
  expect_silent(r2_split(named, Xs, Y))
  expect_error(r2_split(named, X[, 8:1], parts$train$Y, bands = rev(parts$train$bands)), "f[1-8].*f[1-8]",
               class = "voxridge_error_bands")
  expect_refused(r2_split(fit, unname(Xs), Y), "Xs")
  expect_refused(r2_split(fit, Xs, Y, method = "shapley"), "method", "product")
  expect_refused(r2_split(fit_part(parts$train, return_coefs = "none"), Xs, Y), "fit")
  expect_refused(r2_split(fit_part(parts$train, return_coefs = "dual"), Xs, Y), "fit", "dual")
  expect_refused(r2_split(Xs$motion, Xs, Y), "fit")
  cnd <- expect_error(r2_split(fit, Xs["motion"], Y))
  expect_identical(as.character(conditionCall(cnd)[[1L]]), "r2_split")
})

test_that("the messages", {
  Xs <- list(motion = diag(6)[, 1:2], words = diag(6)[, 3:5])
  Y <- diag(6)[, 1:2]
  fit <- list(coefs = matrix(0.5, 5, 2), bands = factor(rep(c("motion", "words"), 2:3)))
  expect_snapshot(error = TRUE, r2_split(fit, Xs["motion"], Y))
  expect_snapshot(error = TRUE, r2_split(fit, c(Xs, list(sound = diag(6))), Y))
  expect_snapshot(error = TRUE, r2_split(fit, list(motion = diag(6), words = Xs$words), Y))
  expect_snapshot(error = TRUE, r2_split(fit, Xs, Y[, 1L]))
  expect_snapshot(error = TRUE, r2_split(list(gammas = 1), Xs, Y))
  expect_snapshot(error = TRUE, r2_split(Xs$motion, Xs, Y))
})
