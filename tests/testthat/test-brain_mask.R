# brain_mask(), coordinates(), intersect_masks().

AFFINE <- rbind(c(-2, 0.25, 0, 30), c(0.5, 2, 0.125, -40), c(0, -0.25, 3, -16.5), c(0, 0, 0, 1))

test_that("voxels above the threshold are in the mask, in R's order", {
  x <- withr::with_seed(1, array(rnorm(60), 3:5))
  x[c(1, 7, 20)] <- c(NA, Inf, NaN)
  x[8] <- -Inf
  for (threshold in c(0, -1, 0.5)) {
    mask <- brain_mask(x, threshold = threshold, affine = AFFINE)
    expect_s3_class(mask, "brain_mask")
    expect_named(mask, c("dim", "affine", "index", "n"))
    expect_identical(mask$index, which(is.finite(x) & x > threshold))
    expect_identical(mask$n, length(mask$index))
    expect_identical(mask$dim, 3:5)
    expect_identical(mask$affine, AFFINE)
  }
  expect_null(brain_mask(x)$affine)
  attr(x, "affine") <- AFFINE
  expect_identical(brain_mask(x)$affine, AFFINE)
  expect_identical(brain_mask(x, affine = diag(4))$affine, diag(4))
  logical <- array(c(TRUE, NA, FALSE), 3:5)
  expect_identical(brain_mask(logical)$index, seq(1L, 60L, 3L))
})

test_that("one voxel and all voxels make masks, none does not", {
  x <- array(0, 2:4)
  x[17] <- 1
  expect_identical(brain_mask(x)$index, 17L)
  expect_identical(brain_mask(array(1L, 2:4))$index, 1:24)
  cnd <- expect_refused(brain_mask(array(0, 2:4)), "x", c("above the threshold", "largest value is 0"))
  expect_s3_class(cnd, "voxridge_error_shape")
  expect_refused(brain_mask(x, threshold = 5), "x", "\\(5\\).*\n.*largest value is 1")
  expect_refused(brain_mask(array(NaN, 2:4)), "x", "no finite value")
  expect_refused(brain_mask(array(NA, 2:4)), "x", "no finite value")
  expect_refused(brain_mask(make_nifti(rep(0, 24))), "x", "largest value is 0")
})

test_that("a file, its array and its header make the same mask", {
  for (name in c("m.nii", "m.nii.gz")) {
    path <- make_nifti(c(0, NaN, 1, -1, 0.5, Inf), c(1, 2, 3), "float32", name = name)
    mask <- brain_mask(path)
    expect_identical(mask$index, c(3L, 5L))
    expect_identical(mask$affine, diag(c(2, 2, 2, 1)))
    expect_identical(brain_mask(read_nifti(path)), mask)
    expect_identical(brain_mask(nifti_header(path)), mask)
    expect_identical(brain_mask(path, threshold = 0.7)$index, 3L)
    expect_identical(brain_mask(mask), mask)
  }
  expect_identical(brain_mask(make_nifti(c(3, 7), c(1, 1, 2), fields = list(scl_slope = 1, scl_inter = -5)))$index, 2L)
})

test_that("a fourth dimension of one is accepted, of more is not", {
  path <- make_nifti(rep(0:1, 12), c(2, 3, 4, 1))
  expect_identical(brain_mask(path), brain_mask(make_nifti(rep(0:1, 12))))
  expect_identical(brain_mask(array(1, c(2, 3, 4, 1)))$n, 24L)
  for (x in list(make_nifti(1:48, c(2, 3, 4, 2)), array(1, c(2, 3, 4, 2)))) {
    cnd <- expect_refused(brain_mask(x), "x", "one volume, not 2")
    expect_s3_class(cnd, "voxridge_error_shape")
  }
})

test_that("an affine that says nothing certain warns, unless one is given", {
  nowhere <- make_nifti(fields = list(sform_code = 0L))
  expect_warning(brain_mask(nowhere), class = "voxridge_warning_affine")
  expect_silent(mask <- brain_mask(nowhere, affine = AFFINE))
  expect_identical(mask$affine, AFFINE)
})

test_that("wrong arguments are refused", {
  x <- array(1, 2:4)
  for (bad in list(NA, "1", NULL, c(0, 1), Inf, TRUE)) expect_refused(brain_mask(x, threshold = bad), "threshold")
  for (bad in list(diag(3), "a", matrix(0, 4, 4), diag(4)[4:1, ])) expect_refused(brain_mask(x, affine = bad), "affine")
  expect_refused_file(brain_mask("missing.nii"), "missing.nii", where = "path", arg = "x")
  expect_refused(brain_mask(c("a.nii", "b.nii")), "x", "path")
  expect_error(brain_mask(x, treshold = 1), "unused argument")
})

test_that("a mask with other contents than its maker's is refused", {
  mask <- brain_mask(array(1, 2:4))
  changes <- list(list(n = 3L), list(index = 24:1), list(index = c(1L, 1L), n = 2L), list(dim = 2:3), list(dim = 1:3),
                  list(index = 0:23), list(index = NULL), list(n = NULL), list(index = integer(), n = 0L),
                  list(index = c(1, NA), n = 2L), list(index = letters[1:24]))
  for (change in changes) {
    bad <- mask
    for (name in names(change)) bad[[name]] <- change[[name]]
    cnd <- expect_refused(coordinates(bad), "mask")
    expect_s3_class(cnd, "voxridge_error_old_object")
    expect_refused(brain_mask(bad), "x")
  }
  bad <- structure(list(), class = "brain_mask")
  expect_refused(brain_map(1, bad), "mask")
  expect_refused(print(bad), "x")
})

test_that("coordinates are the centres of the voxels in mm", {
  x <- array(0, 3:5)
  voxels <- rbind(c(1, 1, 1), c(3, 1, 2), c(2, 4, 3), c(3, 4, 5))
  x[voxels] <- 1
  got <- coordinates(brain_mask(x, affine = AFFINE))
  want <- t(apply(voxels - 1, 1L, function(voxel) (AFFINE %*% c(voxel, 1))[1:3]))
  expect_equal(got, want, ignore_attr = TRUE, tolerance = 1e-14)
  expect_identical(colnames(got), c("x", "y", "z"))
  expect_identical(dim(coordinates(brain_mask(array(c(0, 1), c(2, 1, 1)), affine = AFFINE))), c(1L, 3L))
  attr(x, "affine") <- AFFINE
  expect_identical(coordinates(x), got)
  cnd <- expect_refused(coordinates(brain_mask(array(1, 2:4))), "mask", "affine")
  expect_s3_class(cnd, "voxridge_error_argument")
})

test_that("intersect_masks() gives the voxels that all share, in any order", {
  draws <- withr::with_seed(1, lapply(1:3, function(k) array(runif(60) > 0.4, 3:5)))
  masks <- lapply(draws, brain_mask, affine = AFFINE)
  shared <- intersect_masks(masks[[1]], masks[[2]], masks[[3]])
  expect_identical(shared, brain_mask(Reduce(`&`, draws), affine = AFFINE))
  expect_identical(intersect_masks(masks[[3]], masks[[1]], masks[[2]]), shared)
  expect_identical(intersect_masks(masks[[1]]), masks[[1]])
  # arrays have no affine: that of the others stands
  expect_identical(intersect_masks(draws[[1]], masks[[2]], draws[[3]]), shared)
  expect_null(intersect_masks(draws[[1]], draws[[2]])$affine)

  cnd <- expect_refused(intersect_masks(), "\\.\\.\\.", "at least one")
  expect_s3_class(cnd, "voxridge_error_argument")
  apart <- array(FALSE, 3:5)
  apart[which(!draws[[1]])[1L]] <- TRUE
  cnd <- expect_refused(intersect_masks(masks[[1]], apart), "\\.\\.\\.", "share a voxel")
  expect_s3_class(cnd, "voxridge_error_shape")
  shifted <- brain_mask(draws[[1]], affine = AFFINE + c(1, 0, 0, 0) %o% c(0, 0, 0, 1))
  expect_s3_class(expect_refused(intersect_masks(masks[[1]], shifted), "..2", "1 mm"), "voxridge_error_grid")
  # two that differ behind one that says nothing
  cnd <- expect_refused(intersect_masks(draws[[1]], masks[[1]], shifted), "..3", "`..2`")
  expect_s3_class(cnd, "voxridge_error_grid")
  expect_s3_class(expect_refused(intersect_masks(masks[[1]], array(1, 2:4)), "..2"), "voxridge_error_grid")
  expect_refused(intersect_masks(masks[[1]], threshold = 0.5), "..2", "image")
  expect_refused(intersect_masks(masks), "..1", "image")
})

test_that("a mask prints in one line", {
  x <- array(rep(0:1, 1500), c(10, 15, 20))
  expect_snapshot(print(brain_mask(x, affine = diag(c(-2, 2, 2.5, 1)))))
  expect_snapshot(brain_mask(x))
  mask <- brain_mask(x)
  capture.output(out <- withVisible(print(mask)))
  expect_identical(out, list(value = mask, visible = FALSE))
})

test_that("the wording of what people meet most", {
  x <- array(1, c(2, 3, 4, 5))
  expect_snapshot(error = TRUE, brain_mask(x))
  expect_snapshot(error = TRUE, brain_mask(x[, , , 1] - 1))
  expect_snapshot(error = TRUE, brain_mask(matrix(1, 2, 3)))
  mask <- brain_mask(x[, , , 1], affine = diag(c(2, 2, 2, 1)))
  flipped <- brain_mask(x[, , , 1], affine = rbind(c(-2, 0, 0, 2), c(0, 2, 0, 0), c(0, 0, 2, 0), c(0, 0, 0, 1)))
  expect_snapshot(error = TRUE, intersect_masks(mask, flipped))
  shifted <- brain_mask(x[, , , 1], affine = rbind(c(2, 0, 0, 1), c(0, 2, 0, 0), c(0, 0, 2, 0), c(0, 0, 0, 1)))
  expect_snapshot(error = TRUE, intersect_masks(mask, shifted))
  expect_snapshot(error = TRUE, intersect_masks(mask, array(1, c(2, 3, 5))))
})
