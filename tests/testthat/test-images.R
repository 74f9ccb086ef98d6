# as_image(), objects of other packages, and when two grids are the same.

AFFINE <- rbind(c(-2, 0.25, 0, 30), c(0.5, 2, 0.125, -40), c(0, -0.25, 3, -16.5), c(0, 0, 0, 1))

# Classes with the slots of oro.nifti's and neuroim2's. They go when the test ends.
image_class <- function(class, slots, envir) {
  where <- globalenv()
  methods::setClass(class, slots = slots, contains = "array", where = where)
  withr::defer(if (methods::isClass(class, where = where)) methods::removeClass(class, where = where), envir = envir)
}

oro_image <- function(data, ..., .local_envir = parent.frame()) {
  fields <- list(
    srow_x = AFFINE[1L, ], srow_y = AFFINE[2L, ], srow_z = AFFINE[3L, ], qform_code = 0, sform_code = 1, quatern_b = 0,
    quatern_c = 0, quatern_d = 1, qoffset_x = 5, qoffset_y = 6, qoffset_z = 7, pixdim = c(1, 2, 2, 2, 1500, 0, 0, 0),
    xyzt_units = 18
  )
  image_class("nifti", vapply(fields, class, ""), .local_envir)
  do.call(methods::new, c(list("nifti", data), utils::modifyList(fields, list(...))))
}

neuro_image <- function(class, data, trans = AFFINE, .local_envir = parent.frame()) {
  image_class("NeuroSpace", c(trans = "matrix"), .local_envir)
  image_class(class, c(space = "NeuroSpace"), .local_envir)
  methods::new(class, data, space = methods::new("NeuroSpace", trans = trans))
}

data3 <- array(as.double(1:24), 2:4)
data4 <- array(as.double(1:48), c(2:4, 2L))
mask3 <- array(rep(c(TRUE, FALSE, TRUE), 8), 2:4)

test_that("images of oro.nifti are images", {
  x <- oro_image(data4)
  image <- as_image(x)
  expect_identical(image$data, data4)
  expect_identical(image$affine, AFFINE)
  expect_identical(image$tr, 1.5)
  want <- matrix(data4, 24)[mask3, ]
  mask <- brain_mask(mask3, affine = AFFINE)
  expect_equal(brain_matrix(x, mask), t(want), ignore_attr = TRUE, tolerance = 0)
  path <- file.path(withr::local_tempdir(), "a.nii")
  write_nifti(x, path)
  read <- read_nifti(path)
  expect_identical(as.vector(read), as.vector(data4))
  expect_identical(attr(read, "affine"), AFFINE)
  expect_identical(attr(read, "pixdim")[4L], 1.5)
  # without an sform the qform, then voxel sizes, as for files
  expect_equal(as_image(oro_image(data3, sform_code = 0, qform_code = 1))$affine,
               rbind(c(-2, 0, 0, 5), c(0, -2, 0, 6), c(0, 0, 2, 7), c(0, 0, 0, 1)))
  expect_warning(image <- as_image(oro_image(data3, sform_code = 0)), class = "voxridge_warning_affine")
  expect_identical(image$affine, diag(c(2, 2, 2, 1)))
})

test_that("images of neuroim2 are images", {
  volume <- neuro_image("DenseNeuroVol", data3)
  expect_identical(as_image(volume)[c("dim", "data", "affine")], list(dim = 2:4, data = data3, affine = AFFINE))
  mask <- brain_mask(neuro_image("LogicalNeuroVol", mask3))
  expect_identical(mask, brain_mask(mask3, affine = AFFINE))
  run <- neuro_image("DenseNeuroVec", data4)
  expect_identical(brain_matrix(run, mask, volumes = 2), brain_matrix(data4, mask, volumes = 2))
  # the space of a series has a fifth row and column in some versions
  wide <- rbind(cbind(AFFINE[1:3, 1:3], 0, AFFINE[1:3, 4]), c(0, 0, 0, 1, 0), c(0, 0, 0, 0, 1))
  expect_identical(as_image(neuro_image("DenseNeuroVec", data4, wide))$affine, AFFINE)
  path <- file.path(withr::local_tempdir(), "a.nii")
  write_nifti(run, path)
  expect_identical(attr(read_nifti(path), "affine"), AFFINE)
  expect_refused(as_image(neuro_image("DenseNeuroVol", data3, diag(c(1, 1, 0, 1)))), "neuro_image.*", "singular")
})

test_that("an image of RNifti needs that package for its affine", {
  skip_if(requireNamespace("RNifti", quietly = TRUE), "RNifti is installed")
  x <- structure(data3, class = c("niftiImage", "array"), pixdim = c(2, 2, 2), pixunits = c("mm", "s"))
  cnd <- expect_refused(brain_mask(x), "x", "RNifti")
  expect_s3_class(cnd, "voxridge_error_type")
  # an affine beside it will do
  expect_identical(brain_mask(x, affine = AFFINE)$affine, AFFINE)
  path <- file.path(withr::local_tempdir(), "a.nii")
  write_nifti(x, path, affine = AFFINE)
  expect_identical(as.vector(read_nifti(path)), as.vector(data3))
})

test_that("images go to RNifti and come back", {
  skip_if_not_installed("RNifti")
  path <- file.path(withr::local_tempdir(), "a.nii")
  write_nifti(data4, path, affine = AFFINE, tr = 1.5)
  theirs <- RNifti::readNifti(path)
  expect_identical(as_image(theirs)$data, data4)
  expect_equal(as_image(theirs)$affine, AFFINE)
  expect_identical(as_image(theirs)$tr, 1.5)
  expect_identical(as_image(RNifti::readNifti(path, internal = TRUE))$data, data4)
  expect_equal(as.vector(RNifti::asNifti(read_nifti(path))), as.vector(data4))
})

test_that("arrays bring their affine and times along", {
  x <- structure(data4, affine = AFFINE, pixdim = c(2, 2, 2, 1500), pixunits = c("mm", "ms"))
  image <- as_image(x)
  expect_identical(image[c("dim", "affine", "tr", "space")],
                   list(dim = dim(data4), affine = AFFINE, tr = 1.5, space = "mm"))
  expect_equal(image$data, data4, ignore_attr = TRUE, tolerance = 0)
  attr(x, "affine") <- diag(3)
  expect_refused(as_image(x), "x", "affine")
  expect_null(as_image(data4)$affine)
  expect_null(as_image(structure(data4, pixdim = c(2, 2, 2, 0)))$tr)
  expect_identical(as_image(structure(data4, pixdim = c(2, 2, 2, 3)))$tr, 3)
  um <- structure(data4, affine = AFFINE, pixunits = c("um", "s"))
  expect_identical(as_image(um)$space, "um")
  expect_identical(as_image(um, affine = diag(4))[c("affine", "space")], list(affine = diag(4), space = "mm"))
  expect_identical(as_image(mask3)$data, mask3)
})

test_that("what is no image is refused", {
  bad <- list(1:3, matrix(0, 2, 2), array("a", 2:4), array(1i, 2:4), array(0, c(2, 2, 2, 2, 2)), list(1), NULL, mean,
              data.frame(a = 1), factor("a"), TRUE, new.env(), structure(data3, class = "integer64"))
  for (x in bad) {
    cnd <- expect_refused(brain_mask(x), "x", "must be an image, not ")
    expect_s3_class(cnd, "voxridge_error_type")
  }
  for (dim in list(c(0, 2, 2), c(2, 2, 2, 0))) {
    cnd <- expect_refused(brain_mask(array(0, dim)), "x", "at least one voxel")
    expect_s3_class(cnd, "voxridge_error_shape")
  }
  where <- globalenv()
  methods::setClass("Strange", slots = c(space = "numeric"), contains = "array", where = where)
  withr::defer(methods::removeClass("Strange", where = where))
  expect_refused(brain_mask(methods::new("Strange", data3, space = 1)), "x", "must be an image")
  skip_if_not_installed("Matrix")
  expect_refused(brain_mask(Matrix::Matrix(0, 3, 3)), "x", "must be an image")
})

# ---- grids -----------------------------------------------------------------------------------

grid_of <- function(dim = c(4, 5, 6), affine = AFFINE) list(dim = dim, affine = affine)

same <- function(a, b = grid_of()) {
  tryCatch({
    check_same_grid(a, b, "x", "mask", rlang::current_env())
    TRUE
  }, voxridge_error_grid = function(cnd) cnd)
}

moved <- function(affine = AFFINE, by = c(0, 0, 0)) {
  affine[1:3, 4L] <- affine[1:3, 4L] + by
  affine
}

test_that("grids are equal when corners move less than 0.01 mm", {
  expect_true(same(grid_of()))
  expect_true(same(grid_of(affine = moved(by = c(0.005, 0.005, 0)))))
  expect_true(same(list(dim = c(4, 5, 6))))
  expect_true(same(grid_of(c(4, 5, 6, 100))))
  cnd <- same(grid_of(affine = moved(by = c(0, 1, 0))))
  expect_equal(cnd$distance_mm, 1)
  expect_match(conditionMessage(cnd), "not up to 1 mm away")
  expect_match(conditionMessage(cnd), "Resample")
  # the first voxel is the same, the last is not
  stretched <- AFFINE
  stretched[3L, 3L] <- 3.004
  expect_equal(same(grid_of(affine = stretched))$distance_mm, 0.02, tolerance = 1e-6)
  stretched[3L, 3L] <- 3.0015
  expect_true(same(grid_of(affine = stretched)))
  expect_match(conditionMessage(same(grid_of(c(4, 5, 7)))), "4 x 5 x 6.*4 x 5 x 7")
  expect_match(conditionMessage(same(list(dim = c(5, 4, 6)))), "Resample")
})

test_that("a message says when only the direction or order of axes differs", {
  flip <- function(axis, dim = c(4, 5, 6)) {
    turn <- diag(4)
    turn[axis, axis] <- -1
    turn[axis, 4L] <- dim[axis] - 1
    AFFINE %*% turn
  }
  only_axes <- "direction or order of their axes only"
  for (axis in 1:3) {
    cnd <- same(grid_of(affine = flip(axis)))
    expect_match(conditionMessage(cnd), only_axes)
    expect_match(conditionMessage(cnd), "flipped silently")
  }
  for (order in list(c(2, 1, 3), c(3, 1, 2), c(3, 2, 1))) {
    cnd <- same(grid_of(c(4, 5, 6)[order], AFFINE[, c(order, 4)]))
    expect_match(conditionMessage(cnd), only_axes)
    expect_identical(cnd$expected, c(4, 5, 6))
    expect_identical(cnd$found, c(4, 5, 6)[order])
  }
  others <- list(grid_of(affine = moved(by = c(1, 0, 0))), grid_of(affine = moved(flip(1), c(2, 0, 0))),
                 grid_of(affine = AFFINE %*% diag(c(-1, 1, 1, 1))), grid_of(c(4, 5, 7)), grid_of(c(4, 6, 5)))
  for (other in others) expect_match(conditionMessage(same(other)), "Resample")
})
