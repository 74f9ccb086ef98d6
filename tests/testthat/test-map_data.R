sliced <- function(x, mask = NULL, plane = "axial", background = NULL, slices = NULL, limits = NULL, threshold = NULL) {
  map_slices(x, mask, background, plane, slices, limits, threshold, "x", rlang::current_env())
}

noise_volume <- function(dim, seed = 1L) withr::with_seed(seed, array(rnorm(prod(dim)), dim))

test_that("the subject's left is at the first row, front and top at the last columns", {
  # x runs to the left, y to the front, z to the top
  affine <- box_affine(c(-2, 3, 4), c(9, -16, -13))
  volume <- array(0, c(10, 12, 8))
  volume[10, 5, 3] <- 1 # the left end
  volume[2, 12, 4] <- 2 # the front end
  volume[3, 6, 8] <- 3 # the top end
  attr(volume, "affine") <- affine
  mask <- new_mask(array(TRUE, dim(volume)), affine)
  axial <- sliced(volume, mask, slices = 3:4)
  expect_identical(which(axial$value[, , 1L] == 1, arr.ind = TRUE)[1L, ], c(row = 1L, col = 5L))
  expect_identical(which(axial$value[, , 2L] == 2, arr.ind = TRUE)[1L, ], c(row = 9L, col = 12L))
  expect_identical(axial$letters, c("L", "R", "P", "A"))
  expect_identical(axial$size, c(2, 3))
  coronal <- sliced(volume, mask, plane = "coronal", slices = 6L)
  expect_identical(which(coronal$value[, , 1L] == 3, arr.ind = TRUE)[1L, ], c(row = 8L, col = 8L))
  expect_identical(coronal$letters, c("L", "R", "I", "S"))
  expect_identical(coronal$size, c(2, 4))
  sagittal <- sliced(volume, mask, plane = "sagittal", slices = 2L)
  expect_identical(which(sagittal$value[, , 1L] == 2, arr.ind = TRUE)[1L, ], c(row = 12L, col = 4L))
  expect_identical(sagittal$letters, c("P", "A", "I", "S"))
  expect_identical(sagittal$size, c(3, 4))
})

test_that("the same image stored with other axes gives the same slices", {
  mask <- ball_mask()
  volume <- noise_volume(mask$dim)
  volume[-mask$index] <- NA
  attr(volume, "affine") <- mask$affine
  for (plane in names(MAP_PLANES)) {
    want <- sliced(volume, plane = plane)
    for (order in axis_orders) {
      for (code in c(0L, 1L, 6L, 7L)) {
        flip <- bitwAnd(code, c(1L, 2L, 4L)) > 0L
        got <- sliced(store_otherwise(volume, mask$affine, order, flip), plane = plane)
        same <- c("value", "inside", "size", "letters", "limits", "clipped", "plane")
        expect_equal(got[same], want[same])
        expect_identical(names(got$slices), names(want$slices))
      }
    }
  }
})

test_that("an oblique affine is read by its nearest axes", {
  angle <- 0.3
  turn <- rbind(c(cos(angle), -sin(angle), 0), c(sin(angle), cos(angle), 0), c(0, 0, 1))
  affine <- rbind(cbind(turn %*% diag(c(2, 3, 4))[, c(2, 1, 3)], 0), c(0, 0, 0, 1))
  orientation <- orient_axes(affine)
  expect_identical(orientation$axis, c(2L, 1L, 3L))
  expect_identical(orientation$flip, c(FALSE, FALSE, FALSE))
  expect_close(orientation$size, c(2, 3, 4), 1e-12)
})

test_that("slices are titled in mm at their centre, or numbered", {
  mask <- ball_mask()
  x <- seq_len(mask$n)
  expect_identical(names(sliced(x, mask, slices = c(4L, 2L))$slices), c("z = -1 mm", "z = -9 mm"))
  expect_identical(names(sliced(x, mask, "sagittal", slices = 1L)$slices), "x = -9 mm")
  half <- ball_mask(affine = box_affine(c(2, 3, 2.5)))
  expect_identical(names(sliced(x, half, slices = 1:2)$slices), c("z = -13.0 mm", "z = -10.5 mm"))
  plain <- ball_mask(affine = NULL)
  map <- sliced(x, plain, slices = 4L)
  expect_identical(names(map$slices), "slice 4")
  expect_null(map$letters)
  expect_identical(map$size, c(1, 1))
  plain$pixdim <- c(3, 2, 5)
  expect_identical(sliced(x, plain, "coronal")$size, c(3, 5))
})

test_that("up to 12 evenly spaced slices that hold voxels of the mask, from the bottom", {
  inside <- array(FALSE, c(3, 3, 60))
  inside[2, 2, 11:50] <- TRUE
  map <- sliced(rep(1, 40), new_mask(inside))
  expect_length(map$slices, 12L)
  expect_true(all(map$slices > 11L & map$slices < 50L))
  expect_true(all(diff(unname(map$slices)) %in% 3L))
  few <- inside
  few[, , -(20:24)] <- FALSE
  expect_identical(unname(sliced(rep(1, 5), new_mask(few))$slices), 20:24)
  down <- new_mask(few, box_affine(c(2, 2, -3)))
  expect_identical(unname(sliced(rep(1, 5), down)$slices), 24:20)
})

test_that("a vector and the array made of it are one map", {
  mask <- ball_mask()
  x <- withr::with_seed(2L, rnorm(mask$n))
  x[5:9] <- NA
  volume <- array(NA_real_, mask$dim)
  volume[mask$index] <- x
  expect_identical(sliced(volume, mask), sliced(x, mask))
  expect_identical(sliced(array(volume, c(mask$dim, 1L)), mask), sliced(x, mask))
  expect_identical(sliced(cbind(x), mask), sliced(x, mask))
})

test_that("an array without a mask has its brain where it is finite, else where it is not 0", {
  volume <- noise_volume(c(4, 5, 3))
  holes <- volume
  holes[1, 1, ] <- NA
  zeros <- volume
  zeros[1, 1, ] <- 0
  for (x in list(holes, zeros)) {
    kinds <- map_kinds(sliced(x))
    expect_identical(sum(kinds == "outside"), 3L)
    expect_identical(sum(kinds == "value"), 57L)
  }
  expect_identical(sum(map_kinds(sliced(array(0, c(2, 2, 2)))) == "value"), 8L)
})

test_that("slices are cut to what is drawn, with a margin of one voxel", {
  inside <- array(FALSE, c(20, 20, 5))
  inside[8:10, 5:12, 3] <- TRUE
  mask <- new_mask(inside)
  expect_identical(dim(sliced(seq_len(mask$n), mask)$value), c(5L, 10L, 1L))
  background <- array(0, dim(inside))
  background[4:15, 7, 3] <- 2
  expect_identical(dim(sliced(seq_len(mask$n), mask, background = background)$value), c(14L, 10L, 1L))
})

test_that("limits are the central 99 %, rounded outwards and symmetric where signs differ", {
  expect_equal(robust_limits(c(0, 0.5, 0.731)), c(0, 0.74))
  expect_equal(robust_limits(c(-0.2, 0.731)), c(-0.74, 0.74))
  expect_equal(robust_limits(c(-0.731, -0.2)), c(-0.74, -0.2))
  expect_equal(robust_limits(1:1000), c(0, 1000))
  outlier <- c(seq(0, 1, length.out = 999), 50)
  expect_true(robust_limits(outlier)[2L] <= 1)
  for (value in c(3, -3, 0)) {
    limits <- robust_limits(rep(value, 4L))
    expect_true(limits[1L] < value && limits[2L] > value)
  }
  for (seed in 1:20) {
    x <- withr::with_seed(seed, rnorm(300, sample(-3:3, 1L), 10^sample(-4:4, 1L)))
    limits <- robust_limits(x)
    expect_true(limits[1L] < limits[2L])
    expect_lte(mean(x < limits[1L]), 0.005)
    expect_lte(mean(x > limits[2L]), 0.005)
  }
})

test_that("clipped voxels are counted and said", {
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  x[1:3] <- NA
  map <- sliced(x, mask, limits = c(-0.5, 1))
  expect_equal(map$clipped, c(below = mean(x < -0.5, na.rm = TRUE), above = mean(x > 1, na.rm = TRUE)))
  expect_match(clip_note(c(below = 0.0312, above = 0.2)), "3.1 % of voxels below, 20 % above the limits", fixed = TRUE)
  expect_match(clip_note(c(below = 1e-5, above = 0)), "^under 0.1 % of voxels below the limits")
  expect_null(clip_note(c(below = 0, above = 0)))
})

test_that("colours: ends of the palette at the limits, greys for missing values and below the threshold", {
  palette <- as_palette(c("black", "white"), c(0, 1))
  expect_length(palette, 256L)
  expect_identical(colour_of(c(-5, 0, 1, 7), c(0, 1), palette), palette[c(1L, 1L, 256L, 256L)])
  expect_identical(as_palette(NULL, c(-1, 1)), grDevices::hcl.colors(256L, "Blue-Red 3"))
  expect_identical(as_palette(NULL, c(0, 1)), grDevices::hcl.colors(256L, "Inferno"))
  expect_identical(as_palette("viridis", c(0, 1)), grDevices::hcl.colors(256L, "viridis"))
  inside <- array(c(TRUE, TRUE, TRUE, FALSE), c(4, 1, 1))
  map <- sliced(c(1, -0.2, NaN), new_mask(inside), threshold = 0.5)
  expect_identical(as.vector(map_kinds(map)), c("value", "below", "missing", "outside"))
  colours <- as.vector(map_colours(map, palette))
  expect_identical(colours, c(palette[256L], MAP_GREY[["below"]], MAP_GREY[["missing"]], NA))
  background <- array(c(1, 2, 3, 4), c(4, 1, 1))
  with_background <- map_colours(sliced(c(1, -0.2, NaN), new_mask(inside), background = background, threshold = 0.5),
                                 palette)
  grey <- grDevices::grey.colors(256L, 0.1, 0.95)
  expect_identical(with_background[c(1L, 3L)], c(palette[256L], MAP_GREY[["missing"]]))
  expect_true(with_background[2L] %in% grey)
  expect_identical(with_background[4L], grey[256L])
})

test_that("cells for ggplot2 hold every voxel once, with its clipped value", {
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  x[1:3] <- NA
  cells <- map_cells(sliced(x, mask, limits = c(-1, 1)))
  expect_identical(nrow(cells), mask$n)
  expect_equal(sort(cells$value), sort(pmin(pmax(x, -1), 1)))
  expect_identical(sum(cells$kind == "missing"), 3L)
  # one voxel, from its place
  expect_identical(nlevels(cells$slice), 8L)
  voxel <- cells[cells$slice == "z = -1 mm" & cells$across == 5L & cells$up == 6L, ]
  place <- match(5L + 10L * (6L - 1L) + 120L * (4L - 1L), mask$index)
  expect_equal(voxel$value, pmin(pmax(x[place], -1), 1))
})

test_that("wrong maps and settings are refused", {
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  volume <- array(0.5, mask$dim)
  expect_refused(sliced(x[-1L], mask), "x", "per voxel")
  expect_refused(sliced(x), "mask", "NULL")
  expect_refused(sliced(letters, mask), "x")
  expect_refused(sliced(factor(x), mask), "x")
  expect_refused(sliced(matrix(x, 2), mask), "x")
  expect_refused(sliced(array(0, c(2, 2, 2, 2))), "x")
  expect_refused(sliced(NULL, mask), "x")
  expect_refused(sliced(x, list(dim = 1:3)), "mask")
  expect_refused(sliced(volume[-1, , ], mask), "x", "10 x 12 x 8")
  moved <- structure(volume, affine = box_affine(origin = c(-9, -16, -14)))
  expect_refused(sliced(moved, mask), "x", "1 mm away")
  expect_refused(sliced(rep(NA_real_, mask$n), mask), "x", "finite value")
  expect_refused(sliced(x, mask, slices = 0), "slices", "from 1 to 8")
  expect_refused(sliced(x, mask, slices = c(1, 9)), "slices", "not 9")
  expect_refused(sliced(x, mask, slices = 1.5), "slices")
  expect_refused(sliced(x, mask, slices = integer()), "slices", "empty")
  expect_refused(sliced(x, mask, limits = c(1, 1)), "limits", "increasing")
  expect_refused(sliced(x, mask, limits = c(2, 1)), "limits", "not 2, 1")
  expect_refused(sliced(x, mask, limits = c(0, Inf)), "limits")
  expect_refused(sliced(x, mask, limits = 1), "limits")
  expect_refused(sliced(x, mask, threshold = -1), "threshold")
  expect_refused(sliced(x, mask, background = volume[-1, , ]), "background")
  expect_refused(sliced(x, mask, background = x), "background")
  expect_refused(as_palette("no such palette", c(0, 1), rlang::current_env()), "palette")
  expect_refused(as_palette("red", c(0, 1), rlang::current_env()), "palette")
  expect_error(sliced(x, ball_mask(affine = diag(3))), class = "voxridge_error_grid")
  expect_error(sliced(x, ball_mask(affine = diag(c(1, 0, 1, 1)))), class = "voxridge_error_grid")
})

test_that("a file that is cut off is refused under the name of its argument", {
  folder <- withr::local_tempdir()
  path <- file.path(folder, "whole.nii")
  write_nifti(array(1:24, c(2, 3, 4)), path, affine = diag(4))
  cut <- file.path(folder, "cut.nii")
  writeBin(readBin(path, "raw", 370), cut)
  withr::local_pdf(NULL)
  expect_s3_class(expect_refused(plot_map(cut), "x", "be read"), "voxridge_error_nifti")
  expect_s3_class(expect_refused(plot_map(path, background = cut), "background", "be read"), "voxridge_error_nifti")
})

test_that("an affine that is none and text that is not valid are refused", {
  mask <- brain_mask(array(1, c(2, 3, 4)), affine = diag(4))
  withr::local_pdf(NULL)
  expect_refused(plot_map(structure(array(1, c(2, 3, 4)), affine = "x"), mask), "x", "affine")
  expect_refused(plot_map(1:24, mask, title = "\xff\xfe"), "title")
  expect_refused(plot_map(1:24, mask, palette = "\xff\xfe"), "palette")
})

test_that("limits begin at 0 where one side is next to nothing, and are symmetric where it is not", {
  values <- seq(0, 1, length.out = 2001)
  expect_identical(robust_limits(c(rep(-1e-3, 30), values))[1L], 0)
  expect_identical(robust_limits(-c(rep(-1e-3, 30), values))[2L], 0)
  limits <- robust_limits(c(rep(-0.1, 30), values))
  expect_identical(limits[1L], -limits[2L])
})
