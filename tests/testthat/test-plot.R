test_that("penalties and scores of every kind of fit are drawn", {
  fits <- c(drawn_fits(), banded_fits())
  null <- withr::with_seed(1L, rnorm(30, 0, 0.1))
  for (fit in fits) {
    expect_draws(plot(fit, "alphas"))
    if (is.null(fit$scores)) next
    expect_draws(plot(fit, "scores"))
    expect_draws(plot(fit, "scores", null = null, title = "Scores"))
  }
  expect_draws(plot(made_fit(), "scores", null = 0.2))
})

test_that("the default is penalties for ridge and bands for banded ridge", {
  fit <- made_fit()
  expect_identical(expect_draws(plot(fit)), alpha_curve(fit))
  banded <- made_banded_fit(2L)
  expect_identical(expect_draws(plot(banded)), stacked_data(banded)$cells)
  expect_identical(expect_draws(plot(banded, "alphas")), alpha_bars(banded))
  expect_invisible(expect_draws(plot(fit)))
})

test_that("50,000 targets make a small file", {
  fit <- made_fit(t = 50000L, constant = 1:10, skipped = 11:20)
  banded <- made_banded_fit(4L, t = 50000L)
  mask <- new_mask(array(TRUE, c(50, 50, 20)), box_affine())
  draw_all <- function() {
    plot(fit)
    plot(fit, "scores", null = fit$scores - 0.1)
    plot(banded)
    plot(made_banded_fit(3L, t = 50000L))
    plot(fit, "map", mask = mask)
  }
  expect_draws(draw_all())
  path <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(path)
  draw_all()
  grDevices::dev.off()
  expect_lt(file.size(path), 3e5)
})

test_that("maps of scores, penalties and shares are drawn", {
  mask <- ball_mask()
  fit <- made_fit(t = mask$n, constant = 3L, skipped = 5:9)
  fit$mask <- mask
  out <- expect_draws(plot(fit, "map"))
  expect_identical(out$limits, robust_limits(fit$scores[-(5:9)]))
  expect_draws(plot(fit, "map", what = "best_alphas", plane = "coronal", threshold = 1))
  fit["mask"] <- list(NULL)
  expect_identical(expect_draws(plot(fit, "map", mask = mask)), out)
  banded <- made_banded_fit(2L, t = mask$n)
  expect_identical(expect_draws(plot(banded, "map", what = "space2", mask = mask))$limits, c(0, 1))
  expect_identical(expect_draws(plot(banded, "map", what = "space2", mask = mask, limits = c(0, 0.5)))$limits,
                   c(0, 0.5))
})

test_that("real fits are drawn", {
  problem <- random_bands(40, c(3, 4, 5), 6, seed = 1)
  fits <- muffle_edge(list(
    fit_ridge(problem$X, problem$Y, progress = FALSE),
    fit_ridge(problem$X, problem$Y[, 1L], alphas = c(0, 1), cv = "loo", progress = FALSE),
    fit_ridge(problem$X, problem$Y, return_cv_scores = "mean", return_coefs = "none", progress = FALSE),
    fit_ridge(problem$X, problem$Y, return_cv_scores = "none", progress = FALSE),
    fit_banded_ridge(problem$Xs, problem$Y, alphas = 10^(0:3), n_iter = 5, progress = FALSE),
    fit_banded_ridge(problem$Xs[1:2], problem$Y[, 1L], alphas = 10^(0:3), n_iter = 5, progress = FALSE)
  ))
  for (fit in fits) {
    expect_draws(plot(fit))
    expect_draws(plot(fit, "alphas"))
    if (!is.null(fit$scores)) expect_draws(plot(fit, "scores"))
  }
  curve <- alpha_curve(fits[[1L]])
  expect_close(curve$mean, rowMeans(apply(fits[[1L]]$cv_scores, 2:3, mean)), 1e-12)
  expect_draws(plot(fits[[1L]], "scores", null = null_scores(fits[[1L]], n_shifts = 3, seed = 1)))
})

test_that("pictures fit into small figures, one after the other", {
  grDevices::pdf(NULL, 7, 5)
  withr::defer(grDevices::dev.off())
  graphics::par(mfrow = c(2, 2))
  expect_silent({
    plot(made_fit(alphas = c(0, 1, 10)))
    plot(made_fit(), "scores")
    plot(made_banded_fit(3L))
  })
  expect_identical(graphics::par("mfg")[1:2], c(2L, 1L))
  for (fit in list(made_fit(), made_banded_fit(3L), made_banded_fit(6L))) expect_draws(plot(fit, title = "t"), 1.5, 1.2)
})

test_that("the order of targets does not matter", {
  fit <- made_fit(alphas = c(0, 1, 10))
  other <- fit
  order <- 40:1
  other$cv_scores <- fit$cv_scores[, , order]
  other[c("scores", "best_alphas")] <- list(fit$scores[order], fit$best_alphas[order])
  expect_equal(expect_draws(plot(other)), expect_draws(plot(fit)))
  expect_equal(expect_draws(plot(other, "scores")), expect_draws(plot(fit, "scores")))
})

test_that("wrong arguments are refused", {
  fit <- made_fit()
  expect_refused(plot(fit, "bands"), "type", "fit_banded_ridge")
  expect_refused(plot(fit, "alpas"), "type", "alphas")
  expect_refused(plot(fit, 3), "type")
  expect_refused(plot(fit, "alphas", null = 1), "null", "scores")
  expect_refused(plot(fit, "scores", what = "scores"), "what", "map")
  expect_refused(plot(fit, "map"), "x", "mask =")
  expect_refused(plot(fit, "map", mask = ball_mask()), "x", "one value per voxel")
  expect_refused(plot(fit, title = 1), "title")
  expect_error(plot(fit, "scores", nulls = 1), class = "rlib_error_dots_nonempty")
  box <- new_mask(array(TRUE, c(5, 4, 2)))
  expect_error(plot(fit, "map", mask = box, slcies = 1), class = "rlib_error_dots_nonempty")
  expect_error(plot(structure(list(), class = "voxridge_fit")), class = "voxridge_error_old_object")
  expect_identical(grDevices::dev.cur(), c("null device" = 1L))
})
