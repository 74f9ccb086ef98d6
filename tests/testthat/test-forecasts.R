test_that("probabilities and logits are brought to both scales", {
  scored <- as_scored(0:1, c(a = 0.25, b = 1), NULL, "probability", NULL)
  expect_identical(scored[c("y", "p", "weights", "scale")],
                   list(y = c(0, 1), p = c(0.25, 1), weights = c(1, 1), scale = "probability"))
  expect_equal(scored$z, c(-log(3), Inf), tolerance = 1e-15)
  expect_identical(as_scored(0:1, array(c(-1L, 2L)), NULL, "logit", NULL)$z, c(-1, 2))
  expect_equal(as_logits(c(1e-300, 0.3, 1 - 2^-53), "probability"), stats::qlogis(c(1e-300, 0.3, 1 - 2^-53)),
               tolerance = 1e-14)
  expect_identical(as_probabilities(c(-Inf, 0), "logit"), c(0, 0.5))
})

test_that("wrong forecasts are refused by every function that takes them", {
  takers <- list(log_loss, brier_score, auc, reliability_curve)
  for (take in takers) {
    refused <- function(p, class, pattern = NULL, scale = "probability") {
      cnd <- expect_refused(take(c(0, 1, 1), p, scale = scale), "p", pattern)
      expect_s3_class(cnd, paste0("voxridge_error_", class))
      cnd
    }
    cnd <- refused(c(0.1, -2.3, 4), "probability", c("-2.3 \\(position 2\\)", 'scale = "logit"'))
    expect_identical(cnd$where, 2:3)
    expect_identical(refused(c(0.1, NA, NaN), "nonfinite", "2 of 3 \\(2, 3\\)")$where, 2:3)
    refused(c(0.1, NA, 0), "nonfinite", scale = "logit")
    refused(c(0.1, 0.2), "shape", c("\\(3\\)", "not 2"))
    refused(numeric(), "shape")
    refused(c("0.1", "0.2", "0.3"), "type")
    refused(c(TRUE, FALSE, TRUE), "type")
    refused(factor(1:3), "type")
    refused(matrix(0.5, 3L, 1L), "type", "p\\[, 1\\]")
    refused(data.frame(p = 1:3), "type")
    refused(NULL, "type")
    expect_s3_class(expect_refused(take(0:1, c(0.1, 0.2), scale = "logits"), "scale", "logit"),
                    "voxridge_error_argument")
    expect_s3_class(expect_refused(take(c(-1, 1), c(0.1, 0.2)), "y", "-1/\\+1"), "voxridge_error_y_form")
    expect_s3_class(expect_refused(take(cbind(0:1, 1:0), c(0.1, 0.2)), "y"), "voxridge_error_y_form")
    expect_s3_class(expect_refused(take(c(0, NA), c(0.1, 0.2)), "y"), "voxridge_error_nonfinite")
    expect_s3_class(expect_refused(take(0:1, c(0.1, 0.2), weights = c(1, -1)), "weights"), "voxridge_error_weights")
    expect_s3_class(expect_refused(take(0:1, c(0.1, 0.2), positive = "1"), "positive"), "voxridge_error_conflict")
    expect_error(take(0:1, c(0.1, 0.2), weight = 1:2, wieghts = 2), "unused argument")
  }
})

test_that("errors show the call of the user", {
  cnd <- rlang::catch_cnd(log_loss(0:1, c(0.5, 2)))
  expect_identical(as.character(cnd$call[[1L]]), "log_loss")
  cnd <- rlang::catch_cnd(reliability_curve(0:1, c(0.5, NA)))
  expect_identical(as.character(cnd$call[[1L]]), "reliability_curve")
})

test_that("groups are distinct forecasts, or bins of about equal weight that keep equal forecasts together", {
  expect_identical(forecast_groups(c(0.3, 0.1, 0.3, 0.2), rep(1, 4)), c(3L, 1L, 3L, 2L))
  expect_identical(forecast_groups(1:100 / 100, rep(1, 100), 10), rep(1:10, each = 10L))
  expect_identical(forecast_groups(c(1, 1, 1, 2), rep(1, 4), 4), c(1L, 1L, 1L, 2L))
  expect_identical(forecast_groups(rep(0.5, 5), rep(1, 5), 10), rep(1L, 5))
  expect_identical(forecast_groups(c(1, 2, 3), c(10, 1, 1), 2), c(1L, 2L, 2L))
  for (seed in 1:10) {
    p <- withr::with_seed(seed, round(runif(60), 1))
    w <- withr::with_seed(seed, sample(1:3, 60, replace = TRUE))
    id <- forecast_groups(p, w, 5)
    expect_false(is.unsorted(id[order(p)]))
    expect_true(all(tapply(id, p, function(g) length(unique(g))) == 1L))
    expect_setequal(id, seq_len(max(id)))
    expect_lte(max(id), 5L)
    # repeating rows and changing the unit of the weights move nothing
    expect_identical(forecast_groups(rep(p, w), rep(1, sum(w)), 5), rep(id, w))
    for (unit in c(0.1, 1 / 3, 1e-200)) expect_identical(forecast_groups(p, unit * w, 5), id)
  }
})
