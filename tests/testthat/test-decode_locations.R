locate <- function(where, p, mask = NULL) as_locations(where, p, mask, rlang::current_env())

test_that("parcels are lists of columns", {
  got <- locate(roi(c("b", "a", "", "a", "b")), 5L)
  expect_identical(got$core, list(kind = "lists", start = c(0, 2, 4), voxel = c(2L, 4L, 1L, 5L)))
  expect_identical(got$names, c("a", "b"))
  expect_identical(got$n, 2L)
  expect_refused(locate(roi(1:4), 5L), "labels", c("5 columns", "not 4"))
})

test_that("label images are read at the voxels of the mask of X", {
  mask <- brain_mask(array(c(0, 1, 1, 1, 1, 0, 1, 1), c(2, 2, 2)), affine = diag(c(3, 3, 3, 1)))
  image <- array(c(9, 5, 5, 2, 0, 9, 2, NA), c(2, 2, 2))
  got <- locate(roi(image), 6L, mask)
  expect_identical(got$parcel, c(2L, 2L, 1L, 0L, 1L, 0L))
  expect_identical(got$names, c("2", "5"))
  path <- withr::local_tempfile(fileext = ".nii")
  write_nifti(image, path, affine = mask$affine, datatype = "float32")
  expect_identical(locate(roi(path), 6L, mask), got)
  expect_refused(locate(roi(path), 6L), "X", "mask")
  write_nifti(image, path, affine = diag(c(3, 3, 4, 1)), overwrite = TRUE)
  expect_s3_class(expect_refused(locate(roi(path), 6L, mask), "labels", "mm away"), "voxridge_error_grid")
  expect_refused(locate(roi(array(1, c(2, 2, 3))), 6L, mask), "labels", "2 x 2 x 3")
  expect_refused(locate(roi(array(0, c(2, 2, 2))), 6L, mask), "labels", "only 0")
})

test_that("spheres are those of a distance matrix, on oblique, anisotropic and single-slice grids", {
  masks <- list(oblique_mask(), oblique_mask(c(9L, 8L, 1L), 4), brain_mask(array(1, c(5, 5, 5)), affine = diag(4)))
  for (mask in masks) {
    for (radius in c(2, 3, 5.5, 100)) {
      core <- with_sphere_offsets(locate(searchlight(mask, radius, min_voxels = 1), mask$n)$core)
      want <- plain_voxels(core, mask$n)
      got <- lapply(seq_len(mask$n), function(k) location_voxels(core, k, mask$n))
      expect_identical(got, want)
    }
  }
  # a voxel at exactly the radius belongs to the sphere: 33 voxels at two edges
  mask <- brain_mask(array(1, c(7, 7, 7)), affine = diag(c(0.1, 0.1, 0.1, 1)))
  core <- with_sphere_offsets(locate(searchlight(mask, 0.2), mask$n)$core)
  expect_length(location_voxels(core, 172L, 343L), 33L)
})

test_that("masks of a searchlight are those of X", {
  mask <- brain_mask(array(rep(0:1, c(1, 26)), c(3, 3, 3)), affine = diag(c(3, 3, 3, 1)))
  light <- searchlight(mask, 5)
  expect_identical(locate(light, 26L)$mask, mask)
  expect_refused(locate(light, 27L), "mask", c("27", "26 of them"))
  moved <- brain_mask(mask, affine = diag(c(3, 3, 5, 1)))
  expect_s3_class(expect_refused(locate(light, 26L, moved), "mask", "mm away"), "voxridge_error_grid")
  other <- brain_mask(array(rep(1:0, c(26, 1)), c(3, 3, 3)), affine = diag(c(3, 3, 3, 1)))
  expect_refused(locate(light, 26L, other), "mask", "as many others")
})

test_that("neighbours", {
  where <- searchlight(neighbours = list(a = 1:2, b = 3, c = c(2, 4)))
  expect_identical(locate(where, 4L)$core$voxel, c(1L, 2L, 3L, 2L, 4L))
  expect_refused(locate(where, 3L), "neighbours", "up to 3, not 4")
  chosen <- locate(searchlight(neighbours = list(a = 1:2, b = 3, c = c(2, 4)), centers = c(3, 1)), 4L)
  expect_identical(chosen$core, list(kind = "lists", start = c(0, 2, 4), voxel = c(2L, 4L, 1L, 2L)))
  expect_identical(chosen$names, c("c", "a"))
  expect_refused(locate(searchlight(neighbours = list(1, 2), centers = 3), 4L), "centers")
  # one location per column: a map can be made
  expect_identical(locate(searchlight(neighbours = list(1:2, 2:3, 3)), 3L)$centers, 1:3)
  expect_null(locate(searchlight(neighbours = list(1:2, 2:3)), 3L)$centers)
  skip_if_not_installed("Matrix")
  x <- Matrix::sparseMatrix(i = 1:2, j = 1:2, dims = c(2, 6))
  expect_refused(locate(searchlight(neighbours = x), 5L), "neighbours", "not 6")
})

test_that("other things are no places", {
  for (where in list(NULL, "brain", 1:3, list(kind = "all"), roi)) expect_refused(locate(where, 3L), "where")
})
