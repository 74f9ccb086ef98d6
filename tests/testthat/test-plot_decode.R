drawn_decodings <- function() {
  d <- class_problem(n_runs = 4, n_classes = 3, per_class = 2, p = 60, seed = 2)
  mask <- brain_mask(array(1, c(5, 4, 3)), affine = diag(c(2, 2, 2, 1)))
  run <- function(...) muffle_decode(decode_quietly(structure(d$X, mask = mask), ..., cv = d$runs, seed = 1))
  list(
    whole = run(d$y, n_permutations = 99), parcels = run(d$y, where = roi(rep(c("V1", "IT", "MT"), 20))),
    light = run(d$y, where = searchlight(mask, 3), n_permutations = 99, metrics = c("accuracy", "auc")),
    values = run(d$X[, 1L], metrics = c("mse", "r"), n_permutations = 50)
  )
}

test_that("every kind is drawn, in any size, and gives its data", {
  fits <- drawn_decodings()
  for (fit in fits) {
    for (metric in fit$metrics) {
      expect_draws(plot(fit, "scores", metric = metric))
      expect_draws(plot(fit, "scores", metric = metric, title = "Scores"), width = 3, height = 2)
      if (!is.null(fit$p)) expect_draws(plot(fit, "null", metric = metric, level = 0.2))
    }
    expect_draws(plot(fit))
  }
  table <- expect_draws(plot(fits$whole))
  expect_identical(sum(table$count), 24L)
  expect_equal(sum(table$share), 3)
  expect_draws(plot(fits$whole, "confusion", title = "Classes"), width = 2, height = 2)
  scores <- expect_draws(plot(fits$whole, "scores"))
  expect_equal(scores$score, unname(fits$whole$scores[, 1L, 1L]))
  bins <- expect_draws(plot(fits$light, "scores"))
  expect_identical(sum(bins$count), 60L)
  locations <- expect_draws(plot(fits$parcels, "scores"))
  expect_identical(unique(as.character(locations$location)), names(sort(fits$parcels$score[, 1L], decreasing = TRUE)))
  null <- expect_draws(plot(fits$light, "null"))
  expect_identical(sum(null$count), 99L)
  map <- expect_draws(plot(fits$light))
  expect_named(map, c("limits", "slices", "plane"))
  expect_draws(plot(fits$light, "map", what = "size", plane = "coronal"))
})

test_that("the default is the picture that says most", {
  fits <- drawn_decodings()
  expect_identical(vapply(fits, default_decode_plot, ""),
                   c(whole = "confusion", parcels = "scores", light = "map", values = "scores"))
  expect_identical(metric_chance(fits$whole, "accuracy"), 1 / 3)
  expect_identical(metric_chance(fits$whole, "auc"), 0.5)
  expect_null(metric_chance(fits$values, "mse"))
})

test_that("the threshold of the null is that of p_fwer", {
  fit <- drawn_decodings()$light
  for (metric in fit$metrics) {
    data <- decode_null_data(fit, list(metric = metric, level = 0.1), "x", rlang::current_env())
    observed <- if (metric == "accuracy") fit$pooled[, metric] else fit$score[, metric]
    expect_identical(unname(observed > data$threshold + 1e-10), unname(fit$p_fwer[, metric] <= 0.1))
    expect_identical(sum(data$table$count), 99L)
  }
})

test_that("what cannot be drawn is refused", {
  fits <- drawn_decodings()
  expect_refused(plot(fits$whole, "bars"), "type")
  expect_s3_class(expect_refused(plot(fits$light, "confusion"), "x", "predictions"), "voxridge_error_missing_part")
  expect_refused(plot(fits$parcels, "null"), "x", "n_permutations = 1000")
  expect_refused(plot(fits$whole, "scores", what = "p"), "what", "map")
  expect_refused(plot(fits$light, metric = "r2"), "metric")
  expect_refused(plot(fits$light, "null", level = 1), "level")
  expect_refused(plot(fits$whole, title = 3), "title")
  expect_refused(plot(fits$light, "map", what = "p_fwer"), "x", "2")
  expect_error(plot(fits$whole, foo = 1), class = "rlib_error_dots_nonempty")
  fits$light$mask <- NULL
  expect_refused(plot(fits$light, "map"), "x", "mask")
})

test_that("a metric that is undefined in every fold is not drawn", {
  d <- class_problem(n_runs = 4, n_classes = 2, p = 8)
  for (where in list(whole_brain(), roi(rep(1:2, 4)))) {
    fit <- muffle_decode(decode_quietly(d$X, d$y, cv = 8, where = where, metrics = c("accuracy", "auc")))
    expect_refused(plot(fit, "scores", metric = "auc"), "x", "undefined in every fold")
  }
})
