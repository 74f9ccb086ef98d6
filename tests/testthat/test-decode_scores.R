test_that("scores are those of plain R, with ties, missing classes and infinities", {
  withr::local_seed(1)
  for (round in 1:20) {
    truth <- sample(3L, 10, TRUE)
    decision <- matrix(round(rnorm(30), 1), 10)
    if (round > 15) decision[, 2L] <- -Inf
    got <- decode_scores(truth, decision, CLASS_METRICS, 3L)
    want <- vapply(CLASS_METRICS, plain_score, 0, truth = truth, decision = decision, n_classes = 3L)
    expect_equal(got, want, tolerance = 1e-13)
    two <- pmin(truth, 2L)
    got <- decode_scores(two, decision[, 1L, drop = FALSE], CLASS_METRICS, 2L)
    expect_equal(got, vapply(CLASS_METRICS, plain_score, 0, truth = two, decision = decision[, 1L, drop = FALSE],
                             n_classes = 2L), tolerance = 1e-13)
    values <- rnorm(10)
    got <- decode_scores(values, decision[, 1L, drop = FALSE], VALUE_METRICS)
    expect_equal(got, vapply(VALUE_METRICS, plain_score, 0, truth = values, decision = decision[, 1L, drop = FALSE],
                             n_classes = NULL), tolerance = 1e-13)
  }
})

test_that("what is undefined is NA", {
  expect_identical(decode_scores(c(1L, 1L), cbind(1:2), "auc", 2L), c(auc = NA_real_))
  expect_identical(decode_scores(c(1, 2), cbind(1:2), c("r", "r2"))[["r"]], NA_real_)
  expect_identical(decode_scores(c(1, 1, 1), cbind(1:3), c("r", "r2")), c(r = NA_real_, r2 = NA_real_))
  expect_identical(decode_scores(1:3 + 0, cbind(rep(2, 3)), "r"), c(r = NA_real_))
})

test_that("ties go to the first class, 0 to the first of two", {
  expect_identical(predicted_class(rbind(c(1, 1, 0), c(0, 2, 2), c(-Inf, -1, -2))), c(1L, 2L, 2L))
  expect_identical(predicted_class(cbind(c(-1, 0, 1e-300))), c(1L, 1L, 2L))
})
