test_that("a colour bar has 3 to 5 numbers within its limits", {
  for (seed in 1:50) {
    limits <- withr::with_seed(seed, sort(rnorm(2L, 0, 10^sample(-6:6, 1L))))
    at <- bar_ticks(limits)
    expect_true(length(at) >= 3L && length(at) <= 5L)
    expect_true(all(at >= limits[1L] - 1e-6 * diff(limits) & at <= limits[2L] + 1e-6 * diff(limits)))
  }
  expect_identical(tick_labels(c(-0.2, 0, 0.2)), c("-0.2", "0.0", "0.2"))
})

test_that("text is made to fit, and never larger than asked for", {
  grDevices::pdf(NULL, 7, 5)
  withr::defer(grDevices::dev.off())
  graphics::plot.new()
  text <- "a text that is much too long for one inch"
  expect_lte(text_width(text, fit_cex(text, 1)), 1.01)
  expect_identical(fit_cex("a", 1, 0.8), 0.8)
  expect_identical(fit_cex(NULL, 1, 0.8), 0.8)
  expect_identical(text_width(character()), 0)
})

test_that("keys go into rows that are not wider than there is room", {
  grDevices::pdf(NULL, 7, 5)
  withr::defer(grDevices::dev.off())
  graphics::plot.new()
  figure <- list(width = 7, height = 5, line = 0.2)
  labels <- c("one", "two", "three", "four", "five")
  place <- key_rows(figure, labels, 2, 1)
  expect_gt(place$n, 1L)
  expect_false(is.unsorted(place$row))
  ends <- place$at + vapply(labels, text_width, 0, cex = 1) + 1.8 * figure$line
  expect_true(all(ends <= 2 + 1e-9))
  expect_identical(key_rows(figure, labels, 100, 1)$n, 1L)
})

test_that("settings are put back when a picture fails half way", {
  grDevices::pdf(NULL, 7, 5)
  withr::defer(grDevices::dev.off())
  before <- device_settings()
  draw <- function() {
    figure <- open_figure()
    set_area(figure, 1, 1, 2, 2, c(0, 1), c(0, 1))
    abort("Half way.", "internal")
  }
  expect_error(draw(), class = "voxridge_error_internal")
  expect_equal(device_settings(), before)
})
