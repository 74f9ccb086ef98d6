drawn_curves <- function() {
  z <- withr::with_seed(1, rnorm(200))
  y <- withr::with_seed(2, rbinom(200, 1, stats::plogis(z)))
  list(
    usual = reliability_curve(y, z, scale = "logit"),
    rare = reliability_curve(y, z - 5, scale = "logit"),
    "one bin" = reliability_curve(y, rep(0.5, 200)),
    "one sample" = reliability_curve(0, 0.3),
    certain = reliability_curve(c(0, 1, 1), c(0, 1, 1)),
    many = reliability_curve(y, z, scale = "logit", bins = 200)
  )
}

test_that("every curve is drawn, in any size, and gives its bins", {
  for (curve in drawn_curves()) {
    expect_identical(expect_draws(plot(curve)), curve$bins)
    expect_draws(plot(curve, title = "Held-out forecasts"), width = 3, height = 2)
  }
})

test_that("what is drawn lies within the axes", {
  for (curve in drawn_curves()) {
    limits <- reliability_limits(curve$bins)
    drawn <- unlist(curve$bins[c("forecast", "observed", "lower", "upper")])
    expect_true(all(drawn >= limits[1L] & drawn <= limits[2L]))
    expect_lt(limits[1L], limits[2L])
  }
  # rare events get an axis of their own
  rare <- reliability_curve(rep(c(0, 1), c(990, 10)), rep_len(c(0.01, 0.02), 1000))
  expect_lt(diff(reliability_limits(rare$bins)), 0.1)
})

test_that("autoplot draws the same data", {
  skip_if_not_installed("ggplot2")
  for (curve in drawn_curves()) {
    picture <- ggplot2::autoplot(curve, title = "Held-out")
    expect_s3_class(picture, "ggplot")
    expect_identical(picture$data, curve$bins)
    expect_identical(picture$labels$title, "Held-out")
    built <- ggplot2::ggplot_build(picture)
    points <- built$data[[4L]]
    expect_identical(points$x, curve$bins$forecast)
    expect_identical(points$y, curve$bins$observed)
    expect_identical(built$data[[2L]]$ymax, curve$bins$upper)
  }
})

test_that("settings are checked", {
  curve <- drawn_curves()$usual
  expect_refused(plot(curve, title = 1), "title")
  expect_error(plot(curve, tilte = "a"), class = "rlib_error_dots_nonempty")
  skip_if_not_installed("ggplot2")
  expect_refused(ggplot2::autoplot(curve, title = 1), "title")
  expect_error(ggplot2::autoplot(curve, tilte = "a"), class = "rlib_error_dots_nonempty")
})
