# Small collections: files of float32 volumes, and what is in them.

# `n` files of `rows` volumes of 5 x 4 x 3 voxels in a folder that goes with the test: list(folder, paths, mask, x,
# values), the last a list of matrices, volumes x voxels of the mask, by base R.
collection_problem <- function(n = 6L, rows = 7L, seed = 1, .local_envir = parent.frame(), ...) {
  folder <- withr::local_tempdir(.local_envir = .local_envir)
  dim <- c(5L, 4L, 3L)
  rows <- rep_len(rows, n)
  inside <- array(withr::with_seed(seed, runif(60) > 0.4), dim)
  mask <- brain_mask(inside, affine = diag(c(2, 2, 2, 1)))
  draws <- withr::with_seed(seed + 1, lapply(rows, function(k) round(rnorm(60 * k, 50, 10), 1)))
  paths <- file.path(folder, sprintf("sub-%02d%s", seq_len(n), rep_len(c(".nii.gz", ".nii"), n)))
  values <- lapply(seq_len(n), function(i) {
    bytes <- nifti_bytes(draws[[i]], c(dim, rows[i]), "float32")
    if (endsWith(paths[i], ".gz")) write_gz(bytes, paths[i]) else writeBin(bytes, paths[i])
    stored <- readBin(writeBin(draws[[i]], raw(), 4L), "double", length(draws[[i]]), 4L)
    t(matrix(stored, 60L))[, inside, drop = FALSE]
  })
  list(folder = folder, paths = paths, mask = mask, values = values,
       x = brain_collection(paths, mask, ...))
}

# Statistics over a list of matrices by apply().
over_items <- function(values, f) {
  stack <- simplify2array(values)
  apply(stack, seq_len(length(dim(stack)) - 1L), f)
}

plain <- function(x) {
  attributes(x) <- list(dim = dim(x))
  x
}

# Cuts a file in the middle of its data, and opens the collection as if it had been so from the beginning.
damage_item <- function(problem, i, share = 0.6, ...) {
  bytes <- read_bytes(problem$paths[i])
  writeBin(bytes[seq_len(share * length(bytes))], problem$paths[i])
  out <- unclass(problem$x)
  state <- voxridge:::core_file_states(problem$paths[i], TRUE)
  out$sizes[i] <- state$sizes
  out$modified[i] <- state$modified
  structure(out, class = "brain_collection")
}

expect_item_error <- function(expr, item, pattern = NULL, where = NULL) {
  cnd <- expect_refused(expr, "x", pattern)
  testthat::expect_s3_class(cnd, "voxridge_error_item")
  testthat::expect_identical(cnd$item, item)
  if (!is.null(where)) testthat::expect_identical(cnd$where, where)
  invisible(cnd)
}
