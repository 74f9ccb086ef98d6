store_data <- function(n = 40L, t = 1100L, seed = 1) {
  set.seed(seed)
  X <- matrix(rnorm(n * 6), n)
  Y <- X %*% matrix(rnorm(6 * t), 6) + matrix(rnorm(n * t), n)
  colnames(Y) <- paste0("voxel", seq_len(t))
  list(X = X, Y = Y)
}

test_that("a store of float64 holds the matrix, bit for bit", {
  d <- store_data()
  path <- withr::local_tempfile()
  store <- target_store(d$Y, path, type = "float64")
  expect_s3_class(store, "voxridge_target_store")
  expect_identical(dim(store), dim(d$Y))
  expect_identical(colnames(store), colnames(d$Y))
  expect_identical(store[, ], d$Y)
  expect_identical(as.matrix(store), d$Y)
  expect_identical(file.size(path), 8 * prod(dim(d$Y)))
  expect_identical(target_store(path), store)
  expect_identical(target_store(store), store)
})

test_that("float32 rounds by less than half an ulp, and says by how much", {
  d <- store_data(n = 11L, t = 30L)
  store <- target_store(d$Y, withr::local_tempfile())
  off <- max(abs(store[, ] - d$Y) / abs(d$Y))
  expect_lte(off, 2^-24)
  expect_equal(store$rounding, off, tolerance = 1e-12)
})

test_that("columns are chosen as those of a matrix", {
  d <- store_data(t = 1200L)
  store <- target_store(d$Y, withr::local_tempfile(), type = "float64")
  for (j in list(1:3, 1200, c(5, 3, 3, 900), -(1:1190), c("voxel7", "voxel513"), integer(), 510:515)) {
    expect_identical(store[, j], d$Y[, j, drop = FALSE])
  }
  expect_identical(store[2:3, 4:5], d$Y[2:3, 4:5])
  expect_identical(store[, 4, drop = TRUE], d$Y[, 4])
  expect_identical(store[c(TRUE, FALSE), c(FALSE, TRUE)], d$Y[c(TRUE, FALSE), c(FALSE, TRUE)])
  expect_identical(store[-1, 0], d$Y[-1, 0])
  for (bad in list(1201, NA, c(1, NA), "no", NA_character_, Inf, c(-1, 2), rep(TRUE, 1201), list(1), factor("voxel3"),
                   sum, quote(x))) {
    expect_kind(store[, bad], "argument", "j")
    expect_kind(store[bad, 1], "argument", "i")
  }
  expect_kind(store["voxel3", 1], "argument", "i")
  expect_kind(store[3], "argument")
  expect_kind(store[, 1, drop = NA], "argument", "drop")
})

test_that("base R does not compute with the list that a store is", {
  d <- store_data(t = 5L)
  store <- target_store(d$Y, withr::local_tempfile())
  for (f in list(function(x) x + 1, mean, exp, range, sum, t, is.na, anyNA, rbind, cbind,
                 function(x) x[1, 1] <- 0)) {
    expect_kind(f(store), "type")
  }
  expect_identical(summary(store), store)
})

test_that("solvers give the same bits for a store and for its matrix", {
  d <- store_data()
  store <- target_store(d$Y, withr::local_tempfile(), type = "float64")
  grid <- alpha_grid(d$X)
  from_matrix <- solve_quietly(d$X, d$Y, alphas = grid, fit_intercept = TRUE, n_threads = 1)
  for (threads in 1:2) {
    expect_identical(solve_quietly(d$X, store, alphas = grid, fit_intercept = TRUE, n_threads = threads)[1:5],
                     from_matrix[1:5])
  }
  shared <- function(Y) solve_quietly(d$X, Y, alphas = grid, local_alpha = FALSE, n_threads = 2)[1:4]
  expect_identical(shared(store), shared(d$Y))
  spaces <- list(a = d$X[, 1:2], b = d$X[, 3:6])
  banded <- function(Y) {
    muffle_edge(solve_banded_ridge_cv(spaces, Y, n_iter = 4, alphas = grid, seed = 1, n_threads = 2))[1:3]
  }
  expect_identical(banded(store), banded(d$Y))
  predicted <- function(Y) cross_val_predict_ridge(d$X, Y, alphas = 1, n_threads = 2)[c("predictions", "scores")]
  expect_identical(predicted(store), predicted(d$Y))
})

test_that("coefficients go to a store where that is asked for", {
  d <- store_data()
  path <- withr::local_tempfile()
  grid <- alpha_grid(d$X)
  kept <- solve_quietly(d$X, d$Y, alphas = grid, fit_intercept = TRUE, n_threads = 2)
  filed <- solve_quietly(d$X, d$Y, alphas = grid, fit_intercept = TRUE, n_threads = 2, coefs_path = path)
  expect_s3_class(filed$coefs, "voxridge_target_store")
  expect_identical(target_store(path), filed$coefs)
  expect_identical(colnames(filed$coefs), colnames(d$Y))
  expect_lte(max(abs(filed$coefs[, ] - kept$coefs) / abs(kept$coefs)), 2^-24)
  expect_identical(filed[c("best_alphas", "cv_scores", "intercept")], kept[c("best_alphas", "cv_scores", "intercept")])
  expect_kind(solve_ridge_cv(d$X, d$Y, alphas = grid, coefs_path = path), "argument", "coefs_path")
  expect_kind(solve_ridge_cv(d$X, d$Y, alphas = grid, coefs_path = file.path(path, "no", "folder")), "file")
  expect_kind(solve_ridge_cv(d$X, d$Y, alphas = grid, coefs_path = tempfile(), return_coefs = "none"), "conflict",
                 "coefs_path")
})

test_that("a store is read where a function does not stream it", {
  d <- store_data(t = 60L)
  store <- target_store(d$Y, withr::local_tempfile(), type = "float64")
  fit <- function(Y) muffle_edge(fit_ridge(d$X, Y, n_threads = 2))
  from_store <- fit(store)
  from_matrix <- fit(d$Y)
  expect_s3_class(from_store$data$Y, "voxridge_target_store")
  expect_identical(coef(from_store), coef(from_matrix))
  expect_identical(residuals(from_store), residuals(from_matrix))
  expect_identical(augment(from_store), augment(from_matrix))
  expect_identical(score(from_store, d$X, store), score(from_matrix, d$X, d$Y))
  expect_identical(null_scores(from_store, seed = 1), null_scores(from_matrix, seed = 1))
  test <- function(Y) one_sample_permutation_test(Y, n_permutations = 200, seed = 1)$p
  expect_identical(test(store), test(d$Y))
  boot <- function(Y) bootstrap_ridge(d$X, Y, alphas = 1, n_boot = 100, seed = 1)$upper
  expect_identical(suppressWarnings(boot(store)), suppressWarnings(boot(d$Y)))
})

test_that("missing values are known without reading the targets", {
  d <- store_data(t = 700L)
  d$Y[3, c(5, 600)] <- c(NA, Inf)
  store <- target_store(d$Y, withr::local_tempfile(), type = "float64")
  expect_identical(store$nonfinite, c(5L, 600L))
  expect_kind(solve_ridge_cv(d$X, store), "nonfinite", "Y")
  skip <- function(Y) solve_ridge_cv(d$X, Y, alphas = c(1, 1e6), na_targets = "skip", n_threads = 2)
  expect_identical(suppressWarnings(skip(store))[1:4], suppressWarnings(skip(d$Y))[1:4])
})

test_that("a store survives saveRDS() and another process finds what it describes", {
  d <- store_data(t = 20L)
  path <- withr::local_tempfile()
  store <- target_store(d$Y, path)
  copy <- unserialize(serialize(store, NULL))
  expect_identical(copy[, ], store[, ])
  expect_lt(length(serialize(store, NULL)), 5000)
})

test_that("files that are gone, changed or cut are noticed", {
  d <- store_data(t = 20L)
  path <- withr::local_tempfile()
  store <- target_store(d$Y, path)
  Sys.setFileTime(path, Sys.time() - 100)
  expect_kind(solve_ridge_cv(d$X, store), "store_format", "Y")
  again <- target_store(path)
  bytes <- readBin(path, "raw", file.size(path))
  bytes[10] <- xor(bytes[10], as.raw(1))
  writeBin(bytes, path)
  expect_kind(target_store(path)[, ], "store_corrupt")
  writeBin(bytes[-1], path)
  expect_kind(target_store(path), "store_truncated")
  unlink(path)
  expect_kind(again[, ], "store_format", "x")
  expect_kind(target_store(path), "file", "x")
})

test_that("bad input is refused", {
  d <- store_data(t = 5L)
  path <- withr::local_tempfile()
  expect_kind(target_store(d$Y), "type", "x")
  expect_kind(target_store("nowhere.f32"), "file", "x")
  expect_kind(target_store(d$Y, path, type = "float16"), "argument", "type")
  expect_kind(target_store("bold.nii", path), "argument", "mask")
  expect_kind(target_store(path, mask = array(1, c(2, 2, 2))), "conflict", "mask")
  expect_kind(target_store(d$Y * 1e300, path), "file")
  expect_false(file.exists(path))
  target_store(d$Y, path)
  expect_kind(target_store(d$Y, path), "argument", "path")
  expect_identical(dim(target_store(d$Y[, 1:2], path, overwrite = TRUE)), c(40L, 2L))
  expect_kind(target_store(d$Y, file.path(path, "no", "folder")), "file")
  expect_kind(solve_ridge_cv(d$X[-1, ], target_store(path)), "shape", "Y")
})

test_that("an object with other contents never gets to the core", {
  d <- store_data(t = 600L)
  store <- target_store(d$Y, withr::local_tempfile())
  for (field in c("rows", "cols", "type", "offset", "ld", "segments", "checksums", "nonfinite", "stamp", "version")) {
    for (value in list(NULL, NA, NaN, -1, Inf, 1e18, 2.5, "x", list(), c(1, 2, 3), c(601L, 1L))) {
      broken <- unclass(store)
      broken[[field]] <- value
      expect_kind(structure(broken, class = class(store))[, 1], "old_object", "x")
    }
  }
  for (change in list(list(1, "first"), list(2, "cols"), list(NA, "path"))) {
    broken <- store
    broken$segments[1, change[[2]]] <- if (change[[2]] == "path") NA_character_ else change[[1]] + 1
    expect_kind(solve_ridge_cv(d$X, broken), "old_object", "Y")
  }
  broken <- store
  broken$names <- "one"
  expect_kind(broken[, 1], "old_object", "x")
})

test_that("a store takes the place of no pipe, and its files have names that the system allows", {
  d <- store_data(t = 5L)
  folder <- withr::local_tempdir()
  expect_kind(target_store(d$Y, file.path(folder, strrep("n", 247))), "argument", "path")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), character())
  expect_identical(dim(target_store(d$Y, file.path(folder, strrep("n", 246)))), c(40L, 5L))
  expect_kind(solve_ridge_cv(d$X, d$Y, coefs_path = file.path(folder, strrep("n", 247))), "argument", "coefs_path")
  skip_on_os("windows")
  pipe <- file.path(folder, "pipe.npy")
  expect_identical(system2("mkfifo", shQuote(pipe)), 0L)
  expect_kind(target_store(pipe), "file", "x")
  expect_kind(target_store(d$Y, pipe, overwrite = TRUE), "argument", "path")
  store <- target_store(d$Y, file.path(folder, "store"))
  file.copy(paste0(store$path, ".dcf"), paste0(pipe, ".dcf"))
  expect_kind(target_store(pipe), "file", "x")
})

test_that("printing says shape, type, size and file", {
  d <- store_data(t = 5L)
  path <- withr::local_tempfile()
  out <- capture.output(print(target_store(d$Y, path)))
  expect_match(out[1], "40 x 5 float32, 0.8 kB", fixed = TRUE)
  expect_match(out[2], basename(path), fixed = TRUE)
})
