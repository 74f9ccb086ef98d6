drawn_tests <- function() {
  Y <- withr::with_seed(1, matrix(rnorm(12 * 40), 12) + rep(c(2, 0), c(12 * 2, 12 * 38)))
  run <- function(...) one_sample_permutation_test(Y, n_permutations = 300, seed = 1, progress = FALSE, ...)
  list(
    usual = run(), less = run(alternative = "less"), greater = run(alternative = "greater"),
    double = run(two_sided = "double"),
    "no threshold" = suppressMessages(one_sample_permutation_test(Y[1:4, ], seed = 1)),
    "infinite statistic" = two_sample_permutation_test(cbind(Y[, 1:5], rep(0:1, each = 6)), rep(1:2, each = 6),
                                                       n_permutations = 300, seed = 1),
    F = glm_permutation_test(Y, cbind(1, 1:12, (1:12)^2), rbind(c(0, 1, 0), c(0, 0, 1)), n_permutations = 99, seed = 1)
  )
}

test_that("every test is drawn, in any size, and gives its bars", {
  for (test in drawn_tests()) {
    bins <- expect_draws(plot(test))
    expect_identical(sum(bins$count), sum(is.finite(test$max_null)))
    expect_draws(plot(test, level = 0.2, title = "Maxima"), width = 3, height = 2)
  }
})

test_that("bars, threshold and ticks lie within the axis", {
  for (test in drawn_tests()) {
    data <- maximum_bins(test, 0.05, "x", rlang::current_env())
    drawn <- c(data$bins$left, data$bins$right, data$observed, data$threshold[is.finite(data$threshold)])
    expect_true(all(drawn >= data$xlim[1L] & drawn <= data$xlim[2L]))
    expect_identical(data$threshold, summary(test)$threshold)
    # the most extreme columns, of both directions where both count
    most <- test$statistic[order(test$p_fwer, -abs(test$statistic))[1L]]
    if (is.finite(most)) expect_true(any(abs(data$observed) == abs(most)))
  }
})

test_that("autoplot draws the same data", {
  skip_if_not_installed("ggplot2")
  for (test in drawn_tests()) {
    picture <- ggplot2::autoplot(test, title = "Maxima")
    expect_s3_class(picture, "ggplot")
    expect_identical(picture$data, maximum_bins(test, 0.05, "object", rlang::current_env())$bins)
    expect_silent(ggplot2::ggplot_build(picture))
  }
})

test_that("what cannot be drawn is refused", {
  none <- suppressWarnings(one_sample_permutation_test(matrix(1, 6, 3), seed = 1))
  expect_s3_class(expect_refused(plot(none), "x", "no column"), "voxridge_error_nonfinite")
  stopped <- one_sample_permutation_test(matrix(1:6 %% 5, 6, 3), sequential = 2, n_permutations = 50, seed = 1)
  expect_refused(plot(stopped), "x", "sequential")
  test <- drawn_tests()$usual
  expect_refused(plot(test, level = 2), "level")
  expect_refused(plot(test, title = 1), "title")
  expect_error(plot(test, foo = 1), class = "rlib_error_dots_nonempty")
})
