test_that("the matrices of a list are used in place", {
  Xs <- list(a = matrix(rnorm(12), 4), b = matrix(rnorm(8), 4))
  bands <- as_bands(Xs)
  expect_identical(bands$Xs, unname(Xs))
  expect_identical(rlang::obj_address(bands$Xs[[1L]]), rlang::obj_address(Xs$a))
  expect_identical(bands[c("names", "sizes")], list(names = c("a", "b"), sizes = 3:2))
  expect_null(bands$order)
  expect_null(bands$features)
  expect_null(bands$samples)
  expect_identical(band_factor(bands), factor(c("a", "a", "a", "b", "b")))
})

test_that("a matrix is divided by its labels, and the order says where columns came from", {
  X <- matrix(rnorm(20), 4, dimnames = list(letters[1:4], paste0("f", 1:5)))
  # levels of a factor give the order of the bands
  bands <- as_bands(X, factor(c("u", "v", "u", "w", "v"), levels = c("w", "v", "u")))
  expect_identical(bands$names, c("w", "v", "u"))
  expect_identical(bands$sizes, c(1L, 2L, 2L))
  expect_identical(bands$order, c(4L, 2L, 5L, 1L, 3L))
  expect_identical(do.call(cbind, bands$Xs), X[, bands$order])
  expect_identical(bands$features, colnames(X))
  expect_identical(bands$samples, letters[1:4])
  expect_identical(as.character(band_factor(bands)), c("u", "v", "u", "w", "v"))
  expect_named(band_factor(bands), colnames(X))
  # the first appearance of text and numbers does
  expect_identical(as_bands(X, c("u", "v", "u", "w", "v"))$names, c("u", "v", "w"))
  expect_identical(as_bands(X, c(7, 2, 7, 2, 2))$names, c("7", "2"))
  expect_identical(as_bands(X, c(3L, 3L, 1L, 1L, 1L))[c("names", "sizes", "order")],
                   list(names = c("3", "1"), sizes = 2:3, order = NULL))
})

test_that("one band of a matrix is the matrix itself", {
  X <- matrix(rnorm(20), 4)
  expect_identical(rlang::obj_address(as_bands(X, rep("a", 5))$Xs[[1L]]), rlang::obj_address(X))
})

test_that("bands can be data frames, integers, logicals, one column, a vector", {
  Xs <- list(frame = data.frame(u = 1:3, v = c(TRUE, FALSE, TRUE)), one = matrix(1:3), vector = c(2.5, 3, 1),
             whole = 3:1)
  bands <- as_bands(Xs)
  expect_identical(bands$sizes, c(2L, 1L, 1L, 1L))
  expect_true(all(vapply(bands$Xs, is.double, NA)))
  expect_identical(bands$Xs[[3L]], cbind(c(2.5, 3, 1)))
  expect_identical(bands$Xs[[4L]], cbind(c(3, 2, 1)))
  # where only some have names, the others are called after their band
  expect_identical(bands$features, c("u", "v", "one[1]", "vector[1]", "whole[1]"))
})

test_that("a band must have a name of its own", {
  X <- matrix(0.5, 6, 2)
  for (Xs in list(list(X, X), list(a = X, X), stats::setNames(list(X, X), c("a", NA)), list(a = X, a = X), list())) {
    cnd <- expect_refused(as_bands(Xs), "Xs")
    expect_s3_class(cnd, "voxridge_error_bands")
  }
  expect_match(conditionMessage(expect_error(as_bands(list(a = X, b = X, a = X)))), "\"a\"")
})

test_that("what is wrong with a band is told with its name", {
  X <- matrix(0.5, 6, 2)
  expect_error(as_bands(list(a = X, b = X[, 0L])), "\"b\"", class = "voxridge_error_bands")
  expect_error(as_bands(list(a = X, b = X[-1L, ])), "Xs\\$b.*Xs\\$a.*6.*5", class = "voxridge_error_shape")
  expect_error(as_bands(list(a = X, b = 1:5)), "Xs\\$b", class = "voxridge_error_shape")
  expect_error(as_bands(list(a = X, "my words" = "text")), "Xs\\[\\[\"my words\"\\]\\]", class = "voxridge_error_type")
  expect_error(as_bands(list(a = X, b = NULL)), "Xs\\$b", class = "voxridge_error_type")
  bad <- X
  bad[2L, 2L] <- NaN
  cnd <- expect_error(as_bands(list(a = X, b = bad)), "Xs\\$b.*1 of 2", class = "voxridge_error_nonfinite")
  expect_identical(cnd$where, 2L)
})

test_that("labels must fit the columns", {
  X <- matrix(0.5, 6, 3)
  for (bands in list(NULL, c("a", "b"), 1:4, c("a", NA, "b"), c("a", "", "b"), c(1, NA, 2), list("a", "a", "b"),
                     matrix(letters[1:6], 2), c(TRUE, TRUE, FALSE), factor(c("a", NA, "b")),
                     factor(c("a", "b", "b"), levels = c("a", "b", "c")))) {
    expect_error(as_bands(X, bands), "bands", class = "voxridge_error_bands")
  }
  expect_error(as_bands(X, factor(c("a", "b", "b"), levels = c("a", "b", "c"))), "\"c\"")
  expect_error(as_bands(list(a = X), c("a", "a", "a")), "bands", class = "voxridge_error_conflict")
})

test_that("what cannot be divided into bands is refused", {
  prepared <- prepare_ridge(matrix(rnorm(20), 10), n_threads = 2)
  for (Xs in list(NULL, "a", 1:10, sum, prepared)) {
    expect_error(as_bands(Xs, rep("a", 2)), "Xs", class = "voxridge_error_type")
  }
  expect_error(as_bands(matrix("a", 2, 2), c("a", "b")), class = "voxridge_error_type")
  expect_error(as_bands(matrix(NA_real_, 2, 2), c("a", "b")), "Xs", class = "voxridge_error_nonfinite")
})

# ---- through the solver ------------------------------------------------------------------------

test_that("interleaved columns of one matrix give what the list gives, in the user's order", {
  for (problem in band_problems(21L)) {
    order <- order(problem$bands)
    X <- do.call(cbind, unname(problem$Xs))
    X[, order] <- X
    gammas <- random_gammas(5, length(problem$Xs), seed = 2)
    for (return_coefs in c("primal", "dual")) {
      solve <- function(...) {
        band_quietly(..., n_iter = gammas, alphas = 10^(-1:2), fit_intercept = TRUE, return_coefs = return_coefs)
      }
      list <- solve(problem$Xs, problem$Y)
      matrix <- solve(X, problem$Y, bands = problem$bands)
      if (return_coefs == "primal") {
        expect_close(matrix$coefs[order, ], drop(list$coefs), 1e-12)
      } else {
        expect_close(matrix$coefs, list$coefs, 1e-12)
      }
      expect_identical(matrix$bands, problem$bands)
      same <- c("deltas", "gammas", "best_alphas", "penalties", "candidates")
      expect_identical(matrix[same], list[same])
      expect_close(matrix$cv_scores, list$cv_scores, 1e-12)
      expect_close(matrix$intercept, list$intercept, 1e-12)
    }
  }
})

test_that("names of bands, features, samples and targets survive", {
  problem <- random_bands(20, c(2, 3), 3, seed = 17)
  colnames(problem$Y) <- paste0("v", 1:3)
  X <- problem$X
  dimnames(X) <- list(paste0("s", 1:20), paste0("f", 1:5))
  fit <- band_quietly(X, problem$Y, bands = problem$bands, n_iter = 3, seed = 1, fit_intercept = TRUE)
  expect_identical(dimnames(fit$coefs), list(colnames(X), colnames(problem$Y)))
  expect_identical(dimnames(fit$deltas), list(c("motion", "words"), colnames(problem$Y)))
  expect_identical(dimnames(fit$deltas), dimnames(fit$gammas))
  expect_identical(dimnames(fit$deltas), dimnames(fit$penalties))
  expect_identical(colnames(fit$cv_scores), colnames(problem$Y))
  expect_identical(colnames(fit$candidates), c("motion", "words"))
  expect_named(fit$intercept, colnames(problem$Y))
  expect_named(fit$best_alphas, colnames(problem$Y))
  expect_named(fit$bands, colnames(X))
  expect_identical(rownames(fit$diagnostics$share_at_edge_by_band), c("motion", "words"))
  dual <- band_quietly(X, problem$Y, bands = problem$bands, n_iter = 3, seed = 1, return_coefs = "dual")
  expect_identical(dimnames(dual$coefs), list(rownames(X), colnames(problem$Y)))
  # gammas may come in another order, by name
  gammas <- cbind(words = c(0.25, 1), motion = c(0.75, 0))
  named <- band_quietly(X, problem$Y, bands = problem$bands, n_iter = gammas)
  expect_identical(named, band_quietly(X, problem$Y, bands = problem$bands, n_iter = unname(gammas[, 2:1])))
})

test_that("a vector gives vectors back, a one-column matrix a matrix", {
  problem <- random_bands(30, c(3, 5), 1, seed = 16)
  solve <- function(Y) band_quietly(problem$Xs, Y, n_iter = 4, seed = 1, fit_intercept = TRUE)
  vector <- solve(problem$Y[, 1L])
  matrix <- solve(problem$Y)
  for (part in c("deltas", "gammas", "penalties", "coefs", "cv_scores")) {
    expect_null(dim(vector[[part]]))
    expect_identical(as.vector(vector[[part]]), as.vector(matrix[[part]]))
  }
  expect_named(vector$deltas, c("motion", "words"))
  expect_identical(dim(matrix$deltas), c(2L, 1L))
  expect_length(vector$cv_scores, 4L)
  expect_length(vector$coefs, 8L)
})

test_that("integers, logicals, data frames and vectors are bands like any other", {
  withr::local_seed(19)
  Xs <- list(counts = matrix(sample(-3:3, 60, TRUE), 30), flags = matrix(runif(30) > 0.5, 30), line = rnorm(30))
  Y <- matrix(sample(0:9, 60, TRUE), 30)
  want <- band_quietly(lapply(Xs, function(X) cbind(X + 0)), Y + 0, n_iter = 4, seed = 1)
  expect_identical(band_quietly(Xs, Y, n_iter = 4, seed = 1), want)
  expect_true(any(want$coefs != round(want$coefs)))
  Xs$counts <- as.data.frame(Xs$counts)
  expect_identical(unname(band_quietly(Xs, Y, n_iter = 4, seed = 1)$coefs), want$coefs)
})

test_that("inputs are not changed", {
  problem <- random_bands(20, c(8, 20), 3, seed = 18)
  before <- list(Xs = lapply(problem$Xs, `+`, 0), X = problem$X + 0, bands = problem$bands, Y = problem$Y + 0)
  band_quietly(problem$Xs, problem$Y, n_iter = 5, seed = 1, fit_intercept = TRUE)
  band_quietly(problem$X, problem$Y, bands = problem$bands, n_iter = 5, seed = 1)
  expect_identical(problem, before)
})

test_that("the messages", {
  X <- matrix(0.5, 300, 3)
  Y <- matrix(0.5, 300, 2)
  bad <- X
  bad[3L, 2:3] <- NA
  unused <- factor(c("a", "b", "b"), levels = c("a", "b", "c"))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(X, X), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(motion = X, X), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(motion = X, motion = X), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(motion = X, words = X[-1L, ]), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(motion = X, words = X[, 0L]), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(motion = X, words = bad), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(motion = X), Y, bands = c("a", "b", "b")))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(list(), Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(X, Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(X, Y, bands = c("a", "b")))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(X, Y, bands = c("a", NA, "b")))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(X, Y, bands = unused))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv("X.csv", Y))
  expect_snapshot(error = TRUE, solve_banded_ridge_cv(prepare_ridge(X, n_threads = 2), Y))
})
