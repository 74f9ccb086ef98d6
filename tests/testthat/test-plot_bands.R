test_that("bands of every number are drawn", {
  for (fit in banded_fits()) expect_draws(plot(fit))
  expect_draws(plot(made_banded_fit(3L), title = "Three"))
  long <- made_banded_fit(3L)
  levels(long$bands) <- rownames(long$gammas) <- c("contrast energy of the first layer", "words", "sound")
  expect_draws(plot(long))
  long <- made_banded_fit(2L)
  rownames(long$gammas) <- c("contrast energy of the first layer of a network", "words")
  expect_draws(plot(long))
})

test_that("three bands give points, other numbers stacked shares", {
  three <- made_banded_fit(3L)
  expect_identical(expect_draws(plot(three)), ternary_data(three)$points)
  for (n in c(1L, 2L, 6L)) {
    fit <- made_banded_fit(n)
    expect_identical(expect_draws(plot(fit)), stacked_data(fit)$cells)
  }
})

test_that("areas of points are as the numbers of targets, small ones stay visible", {
  expect_equal(point_radius(c(100, 25), 100, 0.2), c(0.2, 0.1))
  expect_equal(point_radius(1, 1e6, 0.2), 0.024)
})
