test_that("maps of every shape are drawn and give back what they show", {
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  for (plane in names(MAP_PLANES)) {
    out <- expect_draws(plot_map(x, mask, plane = plane, label = "weight", title = "A map"))
    expect_identical(out$plane, plane)
    expect_identical(out$limits, robust_limits(x))
  }
  out <- expect_draws(plot_map(x, mask, slices = c(6, 3), limits = c(0, 1), palette = c("white", "red")))
  expect_identical(out$slices, c("z = 7 mm" = 6L, "z = -5 mm" = 3L))
  expect_identical(out$limits, c(0, 1))
  expect_invisible(expect_draws(plot_map(x, mask)))
  missing <- replace(x, 1:40, NA)
  background <- array(abs(x[1L]) + seq_len(prod(mask$dim)), mask$dim)
  expect_draws(plot_map(missing, mask, threshold = 1, background = background))
  expect_draws(plot_map(missing, mask, threshold = 50))
  expect_draws(plot_map(missing > 0, mask))
  expect_draws(plot_map(rep(2, mask$n), mask, label = quote(italic(R)^2)))
  expect_draws(plot_map(x, ball_mask(affine = NULL)))
  expect_draws(plot_map(x * 1e-9, mask))
  expect_draws(plot_map(x * 1e9, mask, label = "a rather long label with its unit (arbitrary units per second)"))
})

test_that("the mask that a map carries is found", {
  mask <- ball_mask()
  x <- structure(seq_len(mask$n) + 0, mask = mask)
  expect_identical(expect_draws(plot_map(x)), expect_draws(plot_map(as.vector(x), mask)))
})

test_that("one slice, one row and one voxel", {
  slice <- new_mask(array(TRUE, c(7, 9, 1)), box_affine())
  for (plane in names(MAP_PLANES)) expect_draws(plot_map(seq_len(63), slice, plane = plane))
  one <- new_mask(array(c(TRUE, FALSE), c(2, 1, 1)))
  for (plane in names(MAP_PLANES)) expect_draws(plot_map(3, one, plane = plane))
  expect_identical(expect_draws(plot_map(array(3, c(1, 1, 1))))$slices, c("slice 1" = 1L))
})

test_that("a mask is drawn alone or with values", {
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  expect_identical(expect_draws(plot(mask, slices = 3:4, title = "Mask"))$slices, c("z = -5 mm" = 3L, "z = -1 mm" = 4L))
  expect_identical(expect_draws(plot(mask, values = x, plane = "coronal")),
                   expect_draws(plot_map(x, mask, plane = "coronal")))
})

test_that("maps fit into small figures, one after the other", {
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  grDevices::pdf(NULL, 7, 5)
  withr::defer(grDevices::dev.off())
  graphics::par(mfrow = c(2, 2), mar = c(4, 4, 1, 1))
  expect_silent({
    plot_map(x, mask)
    plot(mask)
  })
  expect_identical(graphics::par("mfg"), c(1L, 2L, 2L, 2L))
  expect_identical(graphics::par("mar"), c(4, 4, 1, 1))
  expect_draws(plot_map(x, mask, title = "t", label = "l"), 1.5, 1)
})

test_that("a brain of 91 x 109 x 91 voxels is drawn within a second", {
  skip_on_cran()
  mask <- ball_mask(c(91L, 109L, 91L), box_affine(c(-2, 2, 2), c(90, -126, -72)))
  x <- withr::with_seed(1L, rnorm(mask$n))
  seconds <- system.time(expect_draws(plot_map(x, mask)))[["user.self"]]
  expect_lt(seconds, 1)
})

test_that("wrong arguments are refused before anything is drawn", {
  mask <- ball_mask()
  x <- seq_len(mask$n)
  expect_refused(plot_map(x, mask, plane = "axail"), "plane", "axial")
  expect_refused(plot_map(x, mask, palette = "sunset boulevard"), "palette")
  expect_refused(plot_map(x, mask, label = 3), "label")
  expect_refused(plot_map(x, mask, title = c("a", "b")), "title")
  expect_refused(plot_map(x[-1L], mask), "x")
  expect_refused(plot(mask, values = x[-1L]), "x")
  expect_error(plot_map(x, mask, treshold = 2), class = "rlib_error_dots_nonempty")
  expect_error(plot(mask, limits = c(0, 1)), class = "rlib_error_dots_nonempty")
  expect_identical(grDevices::dev.cur(), c("null device" = 1L))
})
