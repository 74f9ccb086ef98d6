# brain_matrix() and brain_map().

AFFINE <- rbind(c(-2, 0.25, 0, 30), c(0.5, 2, 0.125, -40), c(0, -0.25, 3, -16.5), c(0, 0, 0, 1))
FIELDS <- list(srow = t(AFFINE[1:3, ]))

# A 4-D image as an array and as files, a mask, and what the matrix is by base R.
image_problem <- function(n = 5L, seed = 1, .local_envir = parent.frame()) {
  dim <- c(5L, 4L, 3L)
  draws <- withr::with_seed(seed, list(x = round(rnorm(60 * n, sd = 100)), mask = runif(60) > 0.5))
  x <- array(draws$x, c(dim, n))
  attr(x, "affine") <- AFFINE
  folder <- withr::local_tempdir(.local_envir = .local_envir)
  paths <- file.path(folder, c("x.nii", "x.nii.gz"))
  bytes <- nifti_bytes(x, dim(x), "float32", FIELDS)
  writeBin(bytes, paths[1L])
  write_gz(bytes, paths[2L])
  list(x = x, paths = paths, folder = folder, mask = brain_mask(array(draws$mask, dim), affine = AFFINE),
       want = t(matrix(draws$x, 60L))[, draws$mask])
}

test_that("rows are volumes and columns the voxels of the mask, from files and arrays alike", {
  problem <- image_problem()
  for (x in list(problem$x, problem$paths[1L], problem$paths[2L], nifti_header(problem$paths[2L]))) {
    got <- brain_matrix(x, problem$mask)
    expect_identical(got, structure(problem$want, mask = problem$mask))
    for (volumes in list(3, c(5, 1), c(2, 2, 4, 2), 5:1)) {
      got <- brain_matrix(x, problem$mask, volumes = volumes)
      expect_identical(got, structure(problem$want[volumes, , drop = FALSE], mask = problem$mask))
    }
  }
  # no name of an axis, no class, double
  expect_identical(names(attributes(got)), c("dim", "mask"))
  expect_type(brain_matrix(array(1:24, 2:4), array(1, 2:4)), "double")
  # a single volume
  expect_identical(brain_matrix(problem$x[, , , 2], problem$mask)[1L, ], problem$want[2L, ])
})

test_that("a mask of one voxel, of all, and of the first or last", {
  problem <- image_problem()
  all <- t(matrix(as.vector(problem$x), 60L))
  for (index in list(1L, 60L, 17L, 1:60, c(1L, 60L))) {
    mask <- array(FALSE, c(5, 4, 3))
    mask[index] <- TRUE
    for (x in list(problem$x, problem$paths[1L], problem$paths[2L])) {
      expect_equal(brain_matrix(x, mask), all[, index, drop = FALSE], ignore_attr = TRUE, tolerance = 0)
    }
  }
})

test_that("many volumes and every type go through the same buffers", {
  # more rows than wait at a time, volumes beyond one chunk of 256 KB
  mask <- array(withr::with_seed(1, runif(60 * 50 * 40) > 0.99), c(60, 50, 40))
  for (type in c("int16", "uint8", "float64")) {
    x <- withr::with_seed(2, array(sample(0:255, 60 * 50 * 40 * 11, replace = TRUE), c(60, 50, 40, 11)))
    for (name in c("a.nii", "a.nii.gz")) {
      path <- make_nifti(x, dim(x), type, name = name)
      want <- t(matrix(x, 60 * 50 * 40)[mask, ])
      expect_equal(brain_matrix(path, mask), want, ignore_attr = TRUE, tolerance = 0)
      expect_equal(brain_matrix(path, mask, volumes = c(11, 3)), want[c(11, 3), ], ignore_attr = TRUE, tolerance = 0)
    }
  }
})

test_that("several files follow each other in the order given", {
  problem <- image_problem()
  more <- image_problem(3L, seed = 2)
  single <- file.path(problem$folder, "single.nii")
  writeBin(nifti_bytes(more$x[, , , 2], dim(more$x)[1:3], "float32", FIELDS), single)
  got <- brain_matrix(c(problem$paths[2L], single, more$paths[1L], problem$paths[1L]), problem$mask)
  use <- problem$mask$index
  from <- function(x) t(matrix(as.vector(x), 60L)[use, ])
  want <- rbind(problem$want, from(more$x)[2L, ], from(more$x), problem$want)
  expect_identical(got, structure(want, mask = problem$mask))
  cnd <- expect_refused(brain_matrix(problem$paths, problem$mask, volumes = 1), "volumes", "several files")
  expect_s3_class(cnd, "voxridge_error_conflict")

  # the file that is wrong is named by its number and its path
  writeBin(nifti_bytes(1:24, 2:4, "float32", FIELDS), single)
  cnd <- expect_refused(brain_matrix(c(problem$paths, single), problem$mask), "x\\[3\\]", "2 x 3 x 4")
  expect_s3_class(cnd, "voxridge_error_grid")
  missing <- file.path(problem$folder, "missing.nii")
  cnd <- expect_refused_file(brain_matrix(c(problem$paths, missing), problem$mask), "missing.nii", arg = "x\\[3\\]")
  expect_identical(cnd$path, missing)
  cut <- file.path(problem$folder, "cut.nii.gz")
  writeBin(read_bytes(problem$paths[2L])[1:400], cut)
  cnd <- expect_refused_file(brain_matrix(c(problem$paths[2L], cut), problem$mask), "cut.nii.gz is cut off",
                             where = "gzip", arg = "x\\[2\\]")
  expect_identical(cnd$path, cut)
  expect_false(grepl("2: ", conditionMessage(cnd), fixed = TRUE))
  cnd <- expect_refused_file(brain_matrix(cut, problem$mask), "read: cut.nii.gz", where = "gzip", arg = "x")
  expect_identical(cnd$path, cut)
})

test_that("real files give what arrays of them give", {
  path <- test_data("data", "haxby_25mm", "run01_bold_25mm.nii.gz")
  mask <- brain_mask(test_data("data", "haxby_25mm", "mask_brain.nii.gz"))
  expect_identical(mask$n, 129L)
  expect_identical(brain_matrix(path, mask), brain_matrix(read_nifti(path), mask))
  expect_equal(brain_matrix(path, mask), t(matrix(read_nifti_array(path), 600L)[mask$index, ]), ignore_attr = TRUE,
               tolerance = 0)
  contrasts <- test_data("data", "wager2008", "contrasts_4d.nii.gz")
  mask <- brain_mask(test_data("data", "wager2008", "mask.nii.gz"))
  x <- brain_matrix(contrasts, mask)
  expect_identical(dim(x), c(30L, 33793L))
  at <- match(22 + (41 - 1) * 47 + (24 - 1) * 47 * 56, mask$index)
  expect_equal(x[1:3, at], c(2.64957, 3.06179, 1.98299), tolerance = 1e-5)
  t <- colMeans(x) / apply(x, 2L, sd) * sqrt(30)
  expect_equal(max(t), 7.2546, tolerance = 1e-5)
})

test_that("images and masks of other grids are refused", {
  problem <- image_problem()
  sources <- list(problem$paths[1L], problem$x)
  shifted <- AFFINE
  shifted[2L, 4L] <- shifted[2L, 4L] + 1
  flip <- diag(4)
  flip[1L, c(1L, 4L)] <- c(-1, 4)
  at <- function(affine) brain_mask(array(1, c(5, 4, 3)), affine = affine)
  for (x in sources) {
    cnd <- expect_refused(brain_matrix(x, at(shifted)), "x", c("`mask`", "1 mm away", "Resample"))
    expect_s3_class(cnd, "voxridge_error_grid")
    expect_equal(cnd$distance_mm, 1)
    expect_refused(brain_matrix(x, at(AFFINE %*% flip)), "x", "direction or order of their axes only")
    expect_refused(brain_matrix(x, array(1, c(5, 4, 4))), "x", c("5 x 4 x 4", "5 x 4 x 3"))
    # a mask without an affine is told by its dimensions
    expect_identical(dim(brain_matrix(x, array(1, c(5, 4, 3)))), c(5L, 60L))
  }
})

test_that("wrong arguments are refused", {
  problem <- image_problem()
  for (x in list(problem$paths[1L], problem$x)) {
    for (bad in list(0, 6, 1.5, NA, "1", TRUE, numeric(), Inf)) {
      expect_refused(brain_matrix(x, problem$mask, volumes = bad), "volumes")
    }
  }
  for (bad in list(character(), NA_character_, c("a.nii", NA), NULL, 1:3, matrix(0, 2, 2), list(problem$x), TRUE)) {
    expect_refused(brain_matrix(bad, problem$mask), "x")
  }
  for (bad in list(NULL, 1:3, "missing.nii", array(0, c(5, 4, 3)), array(1, c(5, 4, 3, 2)), c(TRUE, FALSE))) {
    expect_refused(brain_matrix(problem$x, bad), "mask")
  }
  expect_refused(brain_matrix(problem$x, problem$mask, progress = 1), "progress")
  expect_error(brain_matrix(problem$x), "mask")
  expect_error(brain_matrix(problem$x, problem$mask, rows = 1), "unused argument")
  expect_refused(brain_matrix(c("", "a.nii"), problem$mask), "x\\[1\\]", "path of a file")
})

test_that("the first file with a doubtful affine is told, once", {
  fields <- list(sform_code = 0L)
  paths <- c(make_nifti(), make_nifti(fields = fields, name = "second.nii"), make_nifti(fields = fields))
  warnings <- character()
  withCallingHandlers(brain_matrix(paths, array(1, 2:4)), voxridge_warning_affine = function(cnd) {
    warnings <<- c(warnings, conditionMessage(cnd))
    invokeRestart("muffleWarning")
  })
  expect_length(warnings, 1L)
  expect_match(warnings, "second.nii")
})

# ---- brain_map() -----------------------------------------------------------------------------

test_that("brain_map(brain_matrix(x)) is x inside the mask", {
  for (seed in 1:5) {
    problem <- image_problem(seed = seed)
    inside <- array(FALSE, c(5, 4, 3))
    inside[problem$mask$index] <- TRUE
    rows <- brain_matrix(problem$paths[2L], problem$mask)
    map <- brain_map(rows)
    expect_identical(dim(map), dim(problem$x))
    expect_identical(attr(map, "affine"), AFFINE)
    expect_identical(as.vector(map), ifelse(rep(inside, 5), as.vector(problem$x), NA))
    one <- brain_map(rows[2L, ], problem$mask, fill = 0)
    expect_identical(dim(one), c(5L, 4L, 3L))
    expect_identical(as.vector(one), as.vector(ifelse(inside, problem$x[, , , 2L], 0)))
    expect_identical(brain_matrix(map, problem$mask), rows)
    expect_identical(dim(brain_map(rows[2L, , drop = FALSE], problem$mask)), c(5L, 4L, 3L, 1L))
  }
})

test_that("whole numbers and logical values stay so", {
  mask <- brain_mask(array(rep(0:1, 12), 2:4))
  expect_type(brain_map(1:12, mask), "integer")
  expect_type(brain_map(rep(c(TRUE, FALSE), 6), mask), "logical")
  expect_type(brain_map(1:12, mask, fill = 0), "integer")
  expect_type(brain_map(1:12, mask, fill = -1L), "integer")
  expect_type(brain_map(1:12, mask, fill = 0.5), "double")
  expect_type(brain_map(1:12, mask, fill = NaN), "double")
  expect_type(brain_map(1:12, mask, fill = 1e10), "double")
  expect_type(brain_map(rep(TRUE, 12), mask, fill = FALSE), "logical")
  expect_type(brain_map(matrix(1:24, 2), mask), "integer")
  expect_identical(as.vector(brain_map(1:12, mask)), as.vector(rbind(NA, 1:12)))
  expect_identical(as.vector(brain_map(1:12, mask, fill = 0)), as.vector(rbind(0L, 1:12)))
  expect_identical(as.vector(brain_map(1:12 / 2, mask, fill = NaN)), as.vector(rbind(NaN, 1:12 / 2)))
  # without an affine there is none
  expect_named(attributes(brain_map(1:12, mask)), "dim")
  # names of voxels do not matter, a single voxel and a mask as array neither
  expect_identical(brain_map(stats::setNames(1:12, letters[1:12]), mask), brain_map(1:12, mask))
  expect_identical(as.vector(brain_map(7, array(c(0, 1), c(1, 2, 1)))), c(NA, 7))
})

test_that("of results the element `what` is shown, for models the scores", {
  mask <- brain_mask(array(rep(0:1, 12), 2:4), affine = AFFINE)
  result <- list(scores = 1:12 / 12, best_alphas = 10^(1:12), coefs = matrix(1:36, 3L), intercept = 12:1, name = "a")
  expect_refused(brain_map(result, mask), "what", c("scores", "best_alphas", "NULL"))
  expect_identical(brain_map(result, mask, what = "best_alphas"), brain_map(result$best_alphas, mask))
  expect_identical(dim(brain_map(result, mask, what = "coefs")), c(2:4, 3L))
  fit <- structure(c(result, list(mask = mask)), class = c("voxridge_ridge", "voxridge_fit"))
  expect_identical(brain_map(fit), brain_map(result$scores, mask))
  expect_identical(brain_map(fit, what = "coefs"), brain_map(result$coefs, mask))
  # a mask that is given comes before that of the model
  other <- brain_mask(array(rep(1:0, 12), 2:4))
  expect_identical(brain_map(fit, other), brain_map(result$scores, other))
  expect_refused(brain_map(fit, what = "score"), "what", "not \"score\"")
  expect_refused(brain_map(fit, what = 1), "what")
  expect_refused(brain_map(fit, what = "name"), "x")
  expect_refused(brain_map(unname(result), mask), "what")
  expect_refused(brain_map(list(), mask), "what")
  # an element whose name begins with "mask" is not the mask
  expect_refused(brain_map(list(scores = 1:12, mask_file = "a"), what = "scores"), "mask", "must be given")
  # a solver
  problem <- image_problem(30L)
  Y <- brain_matrix(problem$paths[1L], problem$mask)
  solved <- solve_quietly(withr::with_seed(1, matrix(rnorm(90), 30)), Y, alphas = c(1, 10))
  expect_identical(as.vector(brain_map(solved, problem$mask, what = "best_alphas"))[problem$mask$index],
                   as.vector(solved$best_alphas))
})

test_that("values that do not belong to the mask are refused", {
  mask <- brain_mask(array(rep(0:1, 12), 2:4))
  cnd <- expect_refused(brain_map(1:11, mask), "x", c("12 voxels", "not 11"))
  expect_s3_class(cnd, "voxridge_error_shape")
  expect_identical(cnd[c("expected", "found")], list(expected = 12L, found = 11L))
  expect_refused(brain_map(numeric(), mask), "x", "not 0")
  expect_refused(brain_map(matrix(0, 12, 2), mask), "x", "transpose")
  expect_refused(brain_map(matrix(0, 2, 3), mask), "x", "a column for each of the 12")
  expect_refused(brain_map(array(0, 2:4), mask), "x", "image already")
  for (bad in list("a", letters[1:12], factor(1:12), 1i * 1:12, NULL, data.frame(a = 1:12), mean,
                   structure(as.double(1:12), class = "integer64"))) {
    cnd <- expect_refused(brain_map(bad, mask), "x")
    expect_s3_class(cnd, "voxridge_error_type")
  }
  cnd <- expect_refused(brain_map(1:12), "mask", "must be given")
  expect_s3_class(cnd, "voxridge_error_argument")
  expect_refused(brain_map(1:12, 1:12), "mask")
  for (bad in list(c(0, 1), "0", NULL, 1i, factor(1), list(0), numeric())) {
    expect_refused(brain_map(1:12, mask, fill = bad), "fill")
  }
  cnd <- expect_refused(brain_map(1:12, mask, what = "scores"), "what", "must be NULL")
  expect_s3_class(cnd, "voxridge_error_conflict")
})

test_that("a map is ready to be written", {
  problem <- image_problem()
  path <- file.path(problem$folder, "map.nii.gz")
  map <- brain_map(problem$want, problem$mask)
  write_nifti(map, path)
  expect_identical(brain_matrix(path, problem$mask), brain_matrix(problem$x, problem$mask))
  expect_identical(as.vector(is.nan(read_nifti(path))), as.vector(is.na(map)))
})

# ---- memory and speed ------------------------------------------------------------------------

measure_read <- function(path, mask_code) {
  small <- make_nifti()
  measure_peak(
    c(sprintf("path <- %s; small <- %s", deparse(path), deparse(small)), mask_code,
      "for (k in 1:3) brain_matrix(small, array(1, 2:4)); mask <- brain_mask(mask_array); rm(mask_array)"),
    "x <- brain_matrix(path, mask)",
    "cat('rows', dim(x), 'first', x[1L, 1:3], 'last', x[nrow(x), 1:3], '\\n')"
  )
}

test_that("a masked read of 2 GB takes the memory of its result", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/clear_refs"), "memory can be measured on Linux only")
  # a file with a hole: 128 x 128 x 64 voxels of float32 in 488 volumes, numbers in one slice of the first and last
  path <- file.path(withr::local_tempdir(), "large.nii")
  header <- nifti_bytes(raw(0), c(128, 128, 64, 488), "float32")
  con <- file(path, "wb")
  writeBin(header, con)
  volume <- 128 * 128 * 64 * 4
  for (at in c(0, 487)) {
    seek(con, 352 + at * volume + 128 * 128 * 32 * 4, rw = "write")
    writeBin(as.double(1:(128 * 128) + at), con, 4L)
  }
  seek(con, 352 + 488 * volume - 1, rw = "write")
  writeBin(as.raw(0), con)
  close(con)
  expect_identical(file.size(path), 352 + 488 * volume)
  # slices 33 and 34: 31,250 voxels and 488 volumes are 122 MB
  got <- measure_read(path, "mask_array <- array(FALSE, c(128, 128, 64)); mask_array[3:127, 3:127, 33:34] <- TRUE")
  expect_identical(got$shown, paste("rows 488 31250 first", paste(128 * 2 + 3:5, collapse = " "), "last",
                                   paste(487 + 128 * 2 + 3:5, collapse = " "), ""))
  output <- 8 * 488 * 31250 / 2^20
  expect_gt(got$peak, output - 1)
  expect_lt(got$peak, output + 8)
  expect_lt(got$time, 10)
})

test_that("a masked read of a gzip file takes the memory of its result", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/clear_refs"), "memory can be measured on Linux only")
  # 80 MB of int16, the same volume again and again
  volume <- withr::with_seed(1, sample(0:255, 80 * 80 * 50, replace = TRUE))
  path <- file.path(withr::local_tempdir(), "large.nii.gz")
  con <- gzfile(path, "wb", compression = 1)
  writeBin(nifti_bytes(raw(0), c(80, 80, 50, 125)), con)
  bytes <- as_bytes(volume, "int16")
  for (k in 1:125) writeBin(bytes, con)
  close(con)
  got <- measure_read(path, "mask_array <- array(FALSE, c(80, 80, 50)); mask_array[11:70, 11:70, 11:40] <- TRUE")
  inside <- volume[10 * 80 * 80 + 10 * 80 + 11:13]
  expect_identical(got$shown, paste("rows 125 108000 first", paste(inside, collapse = " "), "last",
                                   paste(inside, collapse = " "), ""))
  output <- 8 * 125 * 108000 / 2^20
  expect_gt(got$peak, output - 1)
  expect_lt(got$peak, output + 8)
  expect_lt(got$time, 10)
})

test_that("the wording of what people meet most", {
  withr::local_dir(withr::local_tempdir())
  x <- array(1, c(2, 3, 4, 5))
  affine <- diag(c(2, 2, 2, 1))
  write_nifti(x, "bold.nii", affine = affine)
  mask <- brain_mask(array(1, 2:4), affine = affine)
  flipped <- brain_mask(array(1, 2:4), affine = rbind(c(-2, 0, 0, 2), affine[2:4, ]))
  expect_snapshot(error = TRUE, brain_matrix("bold.nii", flipped))
  expect_snapshot(error = TRUE, brain_matrix(c("bold.nii", "other.nii"), mask))
  expect_snapshot(error = TRUE, brain_matrix("bold.nii", mask, volumes = 6))
  expect_snapshot(error = TRUE, brain_matrix(c("bold.nii", "bold.nii"), mask, volumes = 1))
  expect_snapshot(error = TRUE, brain_matrix(character(), mask))
  expect_snapshot(error = TRUE, brain_map(1:23, mask))
  expect_snapshot(error = TRUE, brain_map(matrix(1, 24, 5), mask))
  expect_snapshot(error = TRUE, brain_map(1:24))
  expect_snapshot(error = TRUE, brain_map(list(scores = 1:24, coefs = 1), mask))
  expect_snapshot(error = TRUE, brain_map(1:24, mask, fill = "none"))
  expect_snapshot(error = TRUE, brain_map(1:24, mask, what = "scores"))
})

test_that("of a fit only what has a value per target is a map", {
  mask <- brain_mask(array(1, c(2, 2, 1)))
  problem <- random_problem(30, 3, 4, 1)
  fit <- fit_quietly(problem$X, problem$Y, alphas = 10^(0:3), cv = 3)
  expect_identical(dim(brain_map(fit, mask, "coefs")), c(2L, 2L, 1L, 3L))
  expect_identical(as.vector(brain_map(fit, mask, "best_alphas")), fit$best_alphas)
  # as many penalties as targets, and folds x penalties x targets
  for (what in c("alphas", "cv_scores", "dims", "targets")) expect_refused(brain_map(fit, mask, what), "what", what)
})

test_that("what is no image or has no mask is told what to do", {
  expect_refused(brain_matrix(array(1, c(2, 2, 2, 3))), "mask", "brain_mask")
  problem <- random_problem(30, 4, 3, seed = 1)
  fit <- muffle_edge(fit_ridge(problem$X, problem$Y, progress = FALSE))
  expect_refused(write_nifti(fit, withr::local_tempfile(fileext = ".nii")), "x", "brain_map\\(fit\\)")
  expect_refused(plot_map(fit), "x", "type = \"map\"")
  expect_refused(fit_ridge(problem$X, "run-1_bold.nii.gz"), "Y", "brain_matrix")
  expect_refused(fit_ridge("features.csv", problem$Y), "X", "read.csv")
  expect_refused(predict(fit, problem$X[1L, ]), "newdata", "rbind\\(newdata\\)")
})

test_that("the weights of a decoder are a map: its features are the voxels", {
  volumes <- withr::with_seed(1, array(rnorm(2 * 2 * 2 * 40), c(2, 2, 2, 40)))
  mask <- brain_mask(array(c(1, 1, 0, 1, 1, 1, 0, 1), c(2, 2, 2)))
  X <- brain_matrix(volumes, mask)
  y <- X[, 2L] > 0
  fit <- quiet_logistic(X, y, lambda = 0.1)
  map <- brain_map(fit)  # the mask comes with the kept X
  expect_identical(map[mask$index], unname(fit$coefs))
  expect_identical(dim(map), c(2L, 2L, 2L))
  expect_identical(brain_map(fit, mask, "scale")[mask$index], unname(fit$scale))
  two <- quiet_logistic(X, cbind(a = y, b = X[, 1L] > 0), lambda = 0.1, cv = NULL, keep = "none")
  expect_refused(brain_map(two), "mask")
  maps <- brain_map(two, mask)
  expect_identical(dim(maps), c(2L, 2L, 2L, 2L))
  expect_identical(maps[, , , 2L][mask$index], unname(two$coefs[, 2L]))
  expect_refused(brain_map(fit, mask, "best_lambda"), "what", "per feature")
})
