test_that("specifications say what they are", {
  expect_identical(capture.output(print(whole_brain())), "Whole brain: all voxels at once")
  expect_identical(capture.output(print(roi(c(1, 1, 0, 7, NA)))), "Parcels: 2 of 3 voxels, of at least 2 voxels")
  expect_identical(capture.output(print(roi(array(1:8, c(2, 2, 2)), min_voxels = 1))),
                   "Parcels of a label image, 2 x 2 x 2")
  mask <- brain_mask(array(1, c(3, 3, 3)), affine = diag(c(2, 2, 2, 1)))
  expect_identical(capture.output(print(searchlight(mask, 4))),
                   "Searchlight: spheres of 4 mm around 27 voxels, of at least 2 voxels")
  expect_match(capture.output(print(searchlight(mask, 4, centers = 1))), "around 1 voxel,")
  expect_match(capture.output(print(searchlight(neighbours = list(1, 2:3)))), "2 lists of neighbours")
  expect_match(capture.output(print(searchlight(neighbours = list(1, 2:3), centers = 2))), "1 list of neighbours")
  expect_error(print(whole_brain(), foo = 1), class = "rlib_error_dots_nonempty")
})

test_that("labels of every kind become the same parcels, in their order", {
  ids <- c(2L, 1L, 0L, 1L, 0L)
  expect_identical(roi(c("b", "a", "", "a", NA))$parcel, list(id = ids, names = c("a", "b")))
  expect_identical(roi(c(20, 3, 0, 3, NA))$parcel, list(id = ids, names = c("3", "20")))
  expect_identical(roi(c(20L, 3L, 0L, 3L, NA))$parcel, list(id = ids, names = c("3", "20")))
  expect_identical(roi(factor(c("a", "z", NA, "z", NA), levels = c("z", "unused", "a")))$parcel,
                   list(id = ids, names = c("z", "a")))
  expect_identical(roi(c(TRUE, FALSE, NA, TRUE))$parcel, list(id = c(1L, 0L, 0L, 1L), names = "TRUE"))
  expect_identical(roi(c(1e6, 2e6))$parcel$names, c("1000000", "2000000"))
  # an image keeps its labels for later
  image <- array(c(0, 5, 5, 2, 0, 0, 2, 1), c(2, 2, 2))
  path <- withr::local_tempfile(fileext = ".nii.gz")
  write_nifti(image, path, affine = diag(c(3, 3, 3, 1)))
  expect_identical(roi(path)$image$dim[1:3] + 0, c(2, 2, 2))
  expect_identical(roi(array(image, c(2, 2, 2, 1)))$kind, "parcels")
})

test_that("labels that are none are refused", {
  expect_refused(roi(), "labels", "whole_brain")
  expect_refused(roi(list(1, 2)), "labels")
  expect_refused(roi(c(0.5, 1)), "labels", "0.5 \\(voxel 1\\)")
  expect_refused(roi(c(1, Inf)), "labels", "Inf")
  expect_s3_class(expect_refused(roi(c(0, NA)), "labels", "only 0 or NA"), "voxridge_error_shape")
  expect_refused(roi(character()), "labels")
  expect_refused(roi(matrix(1:4, 2)), "labels")
  expect_refused(roi(array(1, c(2, 2, 2, 3))), "labels", "one volume, not 3")
  expect_refused(roi("no_such_file.nii"), "labels")
  expect_refused(roi(1:3, min_voxels = 0), "min_voxels")
  # a string is a label, as that of a single voxel
  expect_identical(roi("V1")$parcel$id, 1L)
})

test_that("radii that reach no other voxel are refused, with the numbers", {
  mask <- brain_mask(array(1, c(3, 3, 3)), affine = diag(c(3, 3.5, 4, 1)))
  expect_refused(searchlight(mask, 1.4, min_voxels = 1), "radius_mm", c("3 mm away", "1.4 mm", "3 x 3.5 x 4 mm"))
  expect_refused(searchlight(mask, 2.9), "radius_mm", "single voxel")
  expect_identical(searchlight(mask, 2.9, min_voxels = 1)$radius_mm, 2.9)
  expect_identical(searchlight(mask, 3)$radius_mm, 3)
  for (radius in list(0, -1, NA, "10", 1:2, Inf)) expect_refused(searchlight(mask, radius), "radius_mm")
  expect_refused(searchlight(radius_mm = 5), "mask", "neighbours")
  expect_s3_class(expect_refused(searchlight(array(1, c(2, 2, 2))), "mask", "affine"), "voxridge_error_grid")
  expect_refused(searchlight("no_such_file.nii"), "mask")
})

test_that("centres are voxels, by number, flag or mask", {
  mask <- brain_mask(array(rep(0:1, 14)[1:27], c(3, 3, 3)), affine = diag(c(3, 3, 3, 1)))
  expect_identical(mask$n, 13L)
  light <- function(centers) searchlight(mask, 6, centers = centers)$centers
  expect_identical(light(c(5, 2)), c(5L, 2L))
  expect_identical(light(rep(c(TRUE, FALSE), c(2, 11))), 1:2)
  other <- array(0, c(3, 3, 3))
  other[mask$index[c(4, 9)]] <- 1
  other[1, 1, 1] <- 1
  expect_identical(light(brain_mask(other, affine = diag(c(3, 3, 3, 1)))), c(4L, 9L))
  expect_identical(light(other), c(4L, 9L))
  expect_refused(light(0), "centers", "from 1 to 13")
  expect_refused(light(14), "centers", "14")
  expect_refused(light(c(2, 2)), "centers", "a second 2")
  expect_refused(light(integer()), "centers")
  expect_refused(light(rep(NA, 13)), "centers")
  expect_refused(light(brain_mask(other, affine = diag(c(2, 3, 3, 1)))), "centers", "mm away")
  expect_refused(light(array(1, c(2, 3, 3))), "centers", "3 x 3 x 3")
  none <- array(0, c(3, 3, 3))
  none[1, 1, 1] <- 1
  expect_refused(light(none), "centers", "share a voxel")
})

test_that("neighbours come as lists, sparse matrices or rows of numbers", {
  lists <- list(a = c(1, 3), b = integer(), c = c(2L, 4L, 5L))
  want <- list(start = c(0, 2, 2, 5), voxel = c(1L, 3L, 2L, 4L, 5L))
  expect_identical(unclass(searchlight(neighbours = lists))[c("start", "voxel", "names")],
                   c(want, list(names = c("a", "b", "c"))))
  rows <- list(ptr = c(0, 2, 2, 5), index = c(1, 3, 2, 4, 5))
  expect_identical(unclass(searchlight(neighbours = rows))[c("start", "voxel")], want)
  skip_if_not_installed("Matrix")
  x <- Matrix::sparseMatrix(i = c(1, 1, 3, 3, 3), j = c(1, 3, 2, 4, 5), x = c(1, 2, 1, 0.5, 1), dims = c(3, 6))
  for (form in list(x, methods::as(x, "TsparseMatrix"), methods::as(x, "RsparseMatrix"), x != 0)) {
    expect_identical(unclass(searchlight(neighbours = form))[c("start", "voxel")], want)
  }
  symmetric <- Matrix::forceSymmetric(Matrix::sparseMatrix(i = c(1, 1, 2), j = c(1, 2, 3), dims = c(3, 3), x = 1))
  expect_identical(searchlight(neighbours = symmetric)$voxel, c(1L, 2L, 1L, 3L, 2L))
  # a zero that is stored is none
  x@x[2L] <- 0
  expect_identical(searchlight(neighbours = x)$voxel, c(1L, 3L, 4L, 5L))
  x@x[2L] <- NA
  expect_length(searchlight(neighbours = x)$voxel, 5L)
})

test_that("locations may be empty, all of them too", {
  expect_identical(searchlight(neighbours = list(NULL, 2:1))$start, c(0, 0, 2))
  where <- searchlight(neighbours = list(NULL, integer()))
  expect_identical(unclass(where)[c("start", "voxel")], list(start = c(0, 0, 0), voxel = integer()))
  X <- withr::with_seed(1, matrix(rnorm(24), 8))
  expect_error(decode(X, rep(1:2, 4) == 1, cv = 4, where = where), class = "voxridge_error_no_location")
})

test_that("neighbours that are none are refused", {
  expect_refused(searchlight(neighbours = 1:3), "neighbours", "integer vector")
  expect_refused(searchlight(neighbours = list()), "neighbours")
  expect_refused(searchlight(neighbours = list(1, "a")), "neighbours", "element 2")
  expect_refused(searchlight(neighbours = list(1, c(0, 2))), "neighbours", "not 0 in location 2")
  expect_refused(searchlight(neighbours = list(1, c(3, 2.5))), "neighbours", "2.5")
  expect_refused(searchlight(neighbours = list(1, c(3, NA))), "neighbours")
  expect_refused(searchlight(neighbours = list(1, c(2, 2))), "neighbours", "each once")
  expect_refused(searchlight(neighbours = list(1, c(3, 1e10))), "neighbours", "location 2")
  expect_refused(searchlight(neighbours = list(ptr = c(0, 3), index = 1:2)), "neighbours\\$ptr")
  expect_refused(searchlight(neighbours = list(ptr = c(1, 2), index = 1:2)), "neighbours\\$ptr")
  mask <- brain_mask(array(1, c(2, 2, 2)), affine = diag(4))
  expect_s3_class(expect_refused(searchlight(mask, neighbours = list(1:2)), "mask"), "voxridge_error_conflict")
  expect_refused(searchlight(radius_mm = 3, neighbours = list(1:2)), "radius_mm")
})
