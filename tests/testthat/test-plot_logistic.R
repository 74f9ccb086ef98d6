drawn_logistic <- function() {
  d <- logistic_data()
  holes <- d$Y
  holes[3L, 2L] <- NA
  list(
    one = quiet_logistic(d$X, d$y, cv = 4),
    several = quiet_logistic(d$X, d$Y, cv = 4, criterion = "auc"),
    skipped = quiet_logistic(d$X, holes, cv = 4, na_targets = "skip", choose = "1se"),
    single = quiet_logistic(d$X, d$y, lambda = 1, cv = 4),
    wide = quiet_logistic(d$X, d$y, lambda = 10^(-6:1), cv = 4),
    brier = quiet_logistic(d$X, d$y, lambda = c(1, 0.1), cv = 4, criterion = "brier"),
    accuracy = quiet_logistic(d$X, d$Y[, 1L, drop = FALSE], lambda = c(1, 0.1), cv = 4, criterion = "accuracy")
  )
}

test_that("every path is drawn, in any size, and gives what was drawn", {
  for (fit in drawn_logistic()) {
    got <- expect_draws(plot(fit))
    expect_named(got, c("lambda", "x", "mean", "lower", "upper"))
    expect_identical(got$lambda, sort(fit$lambda))
    expect_identical(got$x, log10(got$lambda))
    expect_draws(plot(fit, title = "A title"), width = 3, height = 2)
    counted <- counted_by_logistic(fit)
    expect_draws(plot(fit, target = counted[length(counted)]))
  }
})

test_that("of one target the mean and one standard error, best and one-se penalty marked", {
  fits <- drawn_logistic()
  for (name in c("one", "single", "brier", "accuracy")) {
    fit <- fits[[name]]
    path <- lambda_path(fit, NULL, "x", NULL)
    order <- rev(seq_along(fit$lambda))
    expect_identical(path$curve$mean, as.vector(fit$cv$mean)[order])
    expect_equal(path$curve$upper - path$curve$mean, as.vector(fit$cv$se)[order])
    expect_equal(path$curve$mean - path$curve$lower, as.vector(fit$cv$se)[order])
    expect_identical(path$marks$lambda, unname(c(fit$cv$lambda_min, fit$cv$lambda_1se)))
    expect_match(path$marks$label[1L], "^best, chosen: ")
  }
  expect_identical(lambda_path(fits$one, NULL, "x", NULL)$null, fits$one$null_loss)
  expect_null(lambda_path(fits$brier, NULL, "x", NULL)$null)
  marks <- lambda_path(fits$skipped, "v3", "x", NULL)$marks
  expect_match(marks$label[2L], "chosen")
  expect_identical(marks$lambda, unname(c(fits$skipped$cv$lambda_min[3L], fits$skipped$cv$lambda_1se[3L])))
})

test_that("of several targets the mean over those with scores, and the best of it", {
  fits <- drawn_logistic()
  path <- lambda_path(fits$several, NULL, "x", NULL)
  mean <- rowMeans(fits$several$cv$mean)
  expect_equal(path$curve$mean, rev(mean))
  expect_equal(path$marks$lambda, fits$several$lambda[mean == max(mean)][1L])
  skipped <- lambda_path(fits$skipped, NULL, "x", NULL)
  expect_equal(skipped$curve$mean, rev(rowMeans(fits$skipped$cv$mean[, c(1L, 3L)])))
  expect_identical(skipped$null, mean(fits$skipped$null_loss[c(1L, 3L)]))
})

test_that("losses that would flatten the rest are left out, with a note", {
  path <- lambda_path(drawn_logistic()$wide, NULL, "x", NULL)
  expect_match(path$note, "lie above the axis")
  expect_true(anyNA(path$shown$mean))
  expect_false(anyNA(path$curve$mean))
  best <- which.min(path$curve$mean)
  expect_identical(path$shown$mean[best], path$curve$mean[best])
})

test_that("autoplot draws the same", {
  skip_if_not_installed("ggplot2")
  for (fit in drawn_logistic()) {
    picture <- ggplot2::autoplot(fit, title = "A title")
    expect_s3_class(picture, "ggplot")
    path <- lambda_path(fit, NULL, "x", NULL)
    expect_equal(picture$data$mean, path$shown$mean[!is.na(path$shown$mean)])
    expect_silent(built <- ggplot2::ggplot_build(picture))
    expect_identical(picture$labels$title, "A title")
    expect_true(any(vapply(built$data, function(layer) identical(layer$xintercept, path$marks$x), NA)))
  }
})

test_that("what cannot be drawn is refused", {
  fits <- drawn_logistic()
  d <- logistic_data()
  expect_s3_class(expect_refused(plot(quiet_logistic(d$X, d$y, lambda = 1)), "x"), "voxridge_error_missing_part")
  expect_refused(plot(fits$several, target = 4), "target", "1 to 3")
  expect_refused(plot(fits$several, target = "v9"), "target")
  expect_refused(plot(fits$several, target = 1:2), "target")
  expect_s3_class(expect_refused(plot(fits$skipped, target = 2), "x"), "voxridge_error_nonfinite")
  expect_refused(plot(fits$one, title = 1), "title")
  expect_error(plot(fits$one, type = "alphas"), class = "rlib_error_dots_nonempty")
  skip_if_not_installed("ggplot2")
  expect_refused(ggplot2::autoplot(fits$one, title = 1), "title")
  expect_refused(ggplot2::autoplot(quiet_logistic(d$X, d$y, lambda = 1)), "object")
})
