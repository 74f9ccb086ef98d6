test_that("autoplot draws the data of plot", {
  skip_if_not_installed("ggplot2")
  d <- class_problem(n_runs = 4, n_classes = 3, per_class = 2, p = 60, seed = 2)
  mask <- brain_mask(array(1, c(5, 4, 3)), affine = diag(c(2, 2, 2, 1)))
  run <- function(...) decode_quietly(structure(d$X, mask = mask), d$y, cv = d$runs, seed = 1, ...)
  fits <- list(run(n_permutations = 99), run(where = roi(rep(c("V1", "IT", "MT"), 20))),
               run(where = searchlight(mask, 3), n_permutations = 99))
  for (fit in fits) {
    types <- c("scores", if (!is.null(fit$p)) "null", if (!is.null(confusion_table(fit))) "confusion")
    for (type in types) {
      picture <- ggplot2::autoplot(fit, type, title = "Decoding")
      expect_s3_class(picture, "ggplot")
      expect_silent(ggplot2::ggplot_build(picture))
      s <- decode_plot_settings(fit, type, NULL, NULL, 0.05, NULL, "x", rlang::current_env())
      drawn <- decode_plot_data(fit, s, "x", rlang::current_env())$table
      expect_identical(nrow(picture$data), nrow(drawn))
    }
  }
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(fits[[3L]])))
  expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(fits[[3L]], what = "p_fwer", plane = "sagittal")))
  expect_refused(ggplot2::autoplot(fits[[3L]], "confusion"), "object")
  expect_error(ggplot2::autoplot(fits[[1L]], foo = 1), class = "rlib_error_dots_nonempty")
})

test_that("tiles are as large as voxels where few of them have values", {
  skip_if_not_installed("ggplot2")
  mask <- brain_mask(array(1, c(6, 6, 2)), affine = diag(c(3, 3, 3, 1)))
  d <- class_problem(n_runs = 4, n_classes = 2, p = mask$n)
  fit <- decode_quietly(d$X, d$y, cv = d$runs, where = searchlight(mask, 4, centers = c(3, 5, 33)))
  built <- ggplot2::ggplot_build(ggplot2::autoplot(fit))$data[[2L]]
  expect_equal(nrow(built), 3)
  expect_close(built$xmax - built$xmin, rep(1, 3))
  expect_close(built$ymax - built$ymin, rep(1, 3))
})
