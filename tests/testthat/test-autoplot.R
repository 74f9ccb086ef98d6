skip_if_not_installed("ggplot2")

expect_ggplot <- function(picture) {
  expect_s3_class(picture, "ggplot")
  expect_draws(print(picture))
  invisible(picture)
}

layer_data <- function(picture, i) ggplot2::layer_data(picture, i)

test_that("every kind of fit is drawn", {
  null <- withr::with_seed(1L, rnorm(30, 0, 0.1))
  # printing takes a third of a second each: those that differ in their layers
  for (fit in drawn_fits()[c("plain", "without", "vector", "alpha 0", "one alpha")]) {
    expect_ggplot(ggplot2::autoplot(fit))
  }
  expect_ggplot(ggplot2::autoplot(drawn_fits()$spread, "scores", title = "Scores"))
  expect_ggplot(ggplot2::autoplot(made_fit(t = 50000L), "scores", null = null))
  for (fit in banded_fits()[c("1", "3", "without")]) expect_ggplot(ggplot2::autoplot(fit))
  expect_ggplot(ggplot2::autoplot(banded_fits()$jittered, "alphas"))
})

test_that("maps and masks are drawn", {
  mask <- ball_mask()
  fit <- made_fit(t = mask$n, skipped = 5:9)
  expect_ggplot(ggplot2::autoplot(fit, "map", mask = mask, what = "best_alphas"))
  fit$mask <- mask
  expect_ggplot(ggplot2::autoplot(fit, "map", plane = "sagittal", threshold = 0.1, label = "score", title = "A map"))
  expect_ggplot(ggplot2::autoplot(mask))
  background <- array(seq_len(prod(mask$dim)), mask$dim)
  expect_ggplot(ggplot2::autoplot(mask, fit$scores, background = background, slices = 3:5, limits = c(0, 0.3)))
  expect_ggplot(ggplot2::autoplot(new_mask(array(TRUE, c(7, 9, 1))), seq_len(63)))
})

test_that("the same data as in the base pictures", {
  fit <- made_fit()
  bars <- layer_data(ggplot2::autoplot(fit), 1L)
  expect_equal(bars$ymax, 100 * alpha_bars(fit)$share)
  scores <- layer_data(ggplot2::autoplot(fit, "scores"), 1L)
  expect_equal(scores$ymax, 100 * score_bins(fit)$bins$share)
  mask <- ball_mask()
  x <- withr::with_seed(1L, rnorm(mask$n))
  map <- map_picture(x, mask, call = rlang::current_env())
  picture <- ggplot2::autoplot(mask, x)
  expect_equal(sort(unique(picture$layers[[2L]]$data$value)), sort(unique(map_cells(map)$value)))
  three <- made_banded_fit(3L)
  expect_equal(ggplot2::autoplot(three)$data[c("x", "y", "n")], ternary_data(three)$points[c("x", "y", "n")])
})

test_that("labels are plotmath where the score has a superscript", {
  expect_identical(plotmath_source("Targets (%)"), "\"Targets (%)\"")
  expect_identical(eval(parse(text = plotmath_source(quote(1 + 2)))), 3)
  expect_identical(plotmath_source(expression(a^2)), "a^2")
})

test_that("wrong arguments are refused", {
  fit <- made_fit()
  expect_refused(ggplot2::autoplot(fit, "bands"), "type")
  expect_refused(ggplot2::autoplot(fit, "map"), "object", "mask =")
  expect_refused(ggplot2::autoplot(fit, null = 1), "null")
  expect_refused(ggplot2::autoplot(ball_mask(), 1:3), "values", "per voxel")
  expect_error(ggplot2::autoplot(fit, tittle = "a"), class = "rlib_error_dots_nonempty")
  expect_error(ggplot2::autoplot(ball_mask(), slcies = 1), class = "rlib_error_dots_nonempty")
  expect_error(ggplot2::autoplot(structure(list(), class = "voxridge_fit")), class = "voxridge_error_old_object")
})
