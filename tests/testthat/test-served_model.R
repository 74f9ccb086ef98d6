test_that("prior moves logits as prior_correct() does, and takes the place of the fit's own", {
  skip_if_not_installed("jsonlite")
  d <- logistic_data()
  answers <- function(fit, ...) {
    server <- serve(fit, port = 0, ...)
    on.exit(stop_server(server))
    json_of(predict_json(server, d$X, "?logits=true"))
  }
  plain <- quiet_logistic(d$X, d$y, lambda = 0.1)
  link <- unname(predict(plain, d$X, "link"))
  want <- prior_correct(link, plain$prevalence, 0.1, scale = "logit")
  got <- answers(plain, prior = 0.1, threshold = 0.4)
  expect_identical(got$logits, want)
  expect_identical(got$probabilities, stable_sigmoid(want))
  expect_identical(got$decisions, (want >= stats::qlogis(0.4)) + 0L)
  # a fit with a prior of its own
  own <- quiet_logistic(d$X, d$y, lambda = 0.1, prior = 0.02)
  expect_identical(answers(own)$logits, unname(predict(own, d$X, "link")))
  expect_equal(answers(own, prior = 0.1)$logits, want, tolerance = 1e-12)
  expect_equal(answers(own, prior = 0.02)$logits, unname(predict(own, d$X, "link")), tolerance = 1e-12)
  # a prior per target, and one for all; class weights
  many <- quiet_logistic(d$X, d$Y, lambda = 0.1, class_weights = "balanced", cv = NULL)
  link <- unname(predict(many, d$X, "link"))
  for (prior in list(0.2, c(0.1, 0.5, 0.9))) {
    expect_identical(answers(many, prior = prior)$logits, prior_correct(link, unname(many$prevalence), prior, "logit"))
  }
  server <- local_server(many, prior = c(0.1, 0.5, 0.9))
  expect_identical(json_of(http(server, "/v1/metadata"))$prior, c(0.1, 0.5, 0.9))
  expect_identical(server_status(server)$model$prior, c(0.1, 0.5, 0.9))
})

test_that("an engine brings its penalty and its threshold", {
  skip_if_not_installed("jsonlite")
  d <- logistic_data()
  fit <- logistic_fits()$numbers$fit
  engine <- predictor(fit, lambda = 0.01, threshold = 0.8)
  server <- local_server(engine)
  got <- json_of(predict_json(server, d$X))
  expect_identical(got$probabilities, unname(predict(engine, d$X)))
  expect_identical(got$decisions, predict(engine, unname(d$X), "class"))
  expect_identical(server_status(server)$model$threshold, 0.8)
  expect_identical(json_of(http(server, "/v1/metadata"))$lambda, 0.01)
  # but not the threshold of a server that runs
  update(server, predictor(fit), prior = 0.3)
  expect_identical(server_status(server)$model$threshold, 0.8)
  expect_identical(json_of(predict_json(server, d$X, "?logits=true"))$logits,
                   prior_correct(unname(predict(fit, d$X, "link")), fit$prevalence, 0.3, scale = "logit"))
})

test_that("what cannot be served is refused", {
  d <- logistic_data()
  fits <- logistic_fits()
  wrong <- function(fit, pattern) {
    expect_s3_class(expect_refused(serve(fit, port = 0), "fit", pattern), "voxridge_error_wrong_model")
  }
  wrong(1, "not 1")
  wrong("{x}", "predictor")
  wrong(stats::lm(d$y ~ d$X), "list")
  wrong(fits$offset$fit, "offset")
  wrong(predictor(fits$offset$fit), "offset")
  wrong(fits$skipped$fit, c("1 target", "v2"))
  holed <- fits$numbers$fit
  holed$coefs[3L] <- Inf
  wrong(holed, "finite")
  holed$coefs[3L] <- 0
  holed$intercept <- NaN
  wrong(holed, "finite")
  huge <- fits$numbers$fit
  huge$intercept <- 1.7e308
  expect_silent(stop_server(serve(huge, port = 0)))
  problem <- random_problem(20, 3, 70, seed = 1)
  many <- fit_quietly(problem$X, problem$Y)
  expect_s3_class(expect_refused(serve(many, port = 0), "fit", c("64", "70")), "voxridge_error_too_many_targets")
  expect_silent(stop_server(serve(fit_quietly(problem$X, problem$Y[, 1:64]), port = 0)))
  skipping <- problem$Y[, 1:3]
  skipping[1L, 2L] <- NA
  wrong(fit_quietly(problem$X, skipping, na_targets = "skip"), "1 target")
  expect_refused(serve(fit_quietly(problem$X, skipping[, -2L], return_coefs = "none"), port = 0), "fit", "none")
  dual <- fit_quietly(problem$X, problem$Y[, 1:2], return_coefs = "dual", keep = "none")
  dual$data <- NULL
  expect_s3_class(expect_refused(serve(dual, port = 0), "fit"), "voxridge_error_no_data")
  old <- fits$numbers$fit
  old$format <- 0L
  expect_s3_class(expect_refused(serve(old, port = 0), "fit"), "voxridge_error_old_object")
  expect_error(serve(), "fit")
})

test_that("names that are incomplete stay in their places, names that are no text are refused", {
  expect_null(served_names(NULL, "features", NULL))
  expect_null(served_names(c(NA, ""), "features", NULL))
  expect_identical(served_names(c("a", NA), "features", NULL), c("a", ""))
  expect_identical(served_names(c("", "no"), "classes", NULL), c("", "no"))
  expect_identical(served_names(c(x = "a", y = "\u00e9"), "features", NULL), c("a", "\u00e9"))
  broken <- "\xff"
  Encoding(broken) <- "UTF-8"
  expect_refused(served_names(c("a", broken), "features", NULL), "fit", "name 2")
})

test_that("a fit that was changed by hand is refused, and never read beyond its numbers", {
  set.seed(11)
  X <- matrix(rnorm(120), 40)
  fit <- fit_logistic_ridge(X, X[, 1L] + rnorm(40) > 0)
  ridge <- fit_ridge(X, X + rnorm(120))
  engine <- predictor(fit)
  changed <- function(model, part, value) {
    model[part] <- list(value)
    cnd <- expect_refused(serve(model, port = 0), "fit", c("as its function returned it", part))
    expect_s3_class(cnd, "voxridge_error_wrong_model")
  }
  changed(fit, "levels", letters[1:5])
  changed(fit, "levels", NULL)
  changed(fit, "intercept", "1")
  changed(fit, "features", list(1))
  changed(fit, "features", c("a", "b"))
  changed(fit, "positive", c("a", "b"))
  changed(ridge, "intercept", ridge$intercept[1L])
  changed(engine, "intercept", NULL)
  changed(engine, "coefs", as.vector(engine$coefs))
  ridge$intercept <- ridge$intercept[1L]
  expect_error(predictor(ridge), class = "voxridge_error_argument")
  expect_length(server_status(), 0L)
})

test_that("a fit whose columns changed places is refused, also where one has no name", {
  set.seed(12)
  X <- matrix(rnorm(120), 40, dimnames = list(NULL, c("age", "dose", "")))
  y <- X[, 1L] + rnorm(40) > 0
  server <- local_server(fit_logistic_ridge(X, y))
  swapped <- fit_logistic_ridge(X[, c(2L, 1L, 3L)], y)
  expect_s3_class(expect_refused(update(server, swapped), "fit"), "voxridge_error_model_mismatch")
})
