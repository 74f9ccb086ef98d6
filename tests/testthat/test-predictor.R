test_that("an engine has the bits of predict(), in every form", {
  d <- logistic_data()
  for (one in logistic_fits()) {
    engine <- predictor(one$fit)
    for (type in c("response", "link", "class")) {
      want <- predict(one$fit, d$X, type, newoffset = one$newoffset)
      expect_identical(predict(engine, d$X, type, newoffset = one$newoffset), want)
      # by the long way round
      expect_identical(predict(engine, as.data.frame(d$X), type, newoffset = one$newoffset, n_threads = 2), want)
      expect_identical(predict(engine, d$X[, 11:1], type, newoffset = one$newoffset, na = "pass"), want)
    }
    expect_identical(predict(engine, d$X, newoffset = one$newoffset), predict(one$fit, d$X, newoffset = one$newoffset))
    at <- predictor(one$fit, lambda = 1)
    expect_identical(predict(at, d$X, newoffset = one$newoffset),
                     predict(one$fit, d$X, lambda = 1, newoffset = one$newoffset))
  }
})

test_that("each row has the bits of the row alone, in any batch and with any threads", {
  fits <- logistic_fits()
  large <- withr::with_seed(2, matrix(rnorm(2e5 * 11), 2e5))
  for (fit in list(fits$numbers$fit, fits$targets$fit)) {
    engine <- predictor(fit)
    whole <- as.matrix(predict(engine, large, "link"))
    for (n_threads in c(2, 5)) {
      expect_identical(as.matrix(predict(engine, large, "link", n_threads = n_threads)), whole)
    }
    for (rows in list(1L, 200000L, 64:65, 1e5 + 0:200, c(3L, 3L, 1L))) {
      expect_identical(as.matrix(predict(engine, large[rows, , drop = FALSE], "link")), whole[rows, , drop = FALSE])
    }
    expect_identical(as.matrix(predict(engine, large[2e5:1, ], "link")), whole[2e5:1, , drop = FALSE])
  }
})

test_that("an engine that was saved, or is in another process, builds itself again", {
  d <- logistic_data()
  folder <- withr::local_tempdir()
  engine <- predictor(logistic_fits()$targets$fit)
  want <- predict(engine, d$X, "link")
  saveRDS(list(engine = engine, X = d$X), file.path(folder, "engine.rds"))
  again <- readRDS(file.path(folder, "engine.rds"))$engine
  expect_silent(got <- predict(again, d$X, "link"))
  expect_identical(got, want)
  expect_identical(predict(again, d$X, "link"), want)
  expect_null(core_engine_quick(NULL, d$X, NULL, NULL, NULL, TRUE, FALSE))
  saveRDS(want, file.path(folder, "want.rds"))
  shown <- run_r(c(
    sprintf("from <- readRDS(%s)", deparse(file.path(folder, "engine.rds"))),
    sprintf("want <- readRDS(%s)", deparse(file.path(folder, "want.rds"))),
    "cat(identical(predict(from$engine, from$X, 'link'), want))"
  ), folder)
  expect_identical(shown, "TRUE")
})

test_that("columns, missing values and offsets are seen to as by predict()", {
  d <- logistic_data()
  engine <- predictor(quiet_logistic(d$X, d$y, lambda = 0.1, offset = d$offset))
  row <- d$X[4L, , drop = FALSE]
  want <- predict(engine, row, newoffset = d$offset[4L])
  expect_identical(predict(engine, row[, 11:1, drop = FALSE], newoffset = d$offset[4L]), want)
  expect_identical(predict(engine, unname(row), newoffset = d$offset[4L]), unname(want))
  expect_s3_class(expect_refused(predict(engine, row), "newoffset", "length 1"), "voxridge_error_missing_newoffset")
  expect_refused(predict(engine, row, newoffset = 1:2), "newoffset")
  expect_refused(predict(engine, row, newoffset = NaN), "newoffset")
  expect_identical(predict(engine, row, newoffset = 0L), predict(engine, row, newoffset = 0))
  for (bad in list(NA, NaN, Inf)) {
    holed <- replace(row, 5, bad)
    expect_refused(predict(engine, holed, newoffset = 0), "newdata")
    got <- predict(engine, holed, newoffset = 0, na = "pass")
    expect_identical(got, c(s4 = NA_real_))
  }
  cnd <- expect_refused(predict(engine, row[, -2L, drop = FALSE], newoffset = 0), "newdata", "\"b\"")
  expect_s3_class(cnd, "voxridge_error_newdata")
  expect_refused(predict(engine, cbind(unname(row), 1), newoffset = 0), "newdata", "11 columns")
  wrong <- row
  colnames(wrong)[2L] <- "B"
  expect_refused(predict(engine, wrong, newoffset = 0), "newdata", "\"B\"")
  expect_refused(predict(engine, drop(row), newoffset = 0), "newdata")
  expect_refused(predict(engine, row[0L, , drop = FALSE], newoffset = numeric()), "newdata")
  storage.mode(row) <- "integer"
  expect_identical(predict(engine, row, newoffset = 0), predict(engine, row + 0, newoffset = 0))
  expect_refused(predict(predictor(quiet_logistic(d$X, d$y, lambda = 1)), d$X, newoffset = d$offset), "newoffset")
  # an offset per target
  many <- predictor(quiet_logistic(d$X, d$Y, lambda = 0.1, offset = d$offset, cv = NULL))
  each <- matrix(d$offset, 60, 3)
  expect_identical(predict(many, d$X, newoffset = each), predict(many, d$X, newoffset = d$offset))
})

test_that("the threshold is that of the engine", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$f, lambda = 0.1)
  engine <- predictor(fit, threshold = 0.8)
  expect_identical(predict(engine, d$X, "class"), predict(fit, d$X, "class", threshold = 0.8))
  expect_identical(engine$threshold, 0.8)
  expect_refused(predictor(fit, threshold = 0), "threshold")
})

test_that("ridge fits are scored too, in one matrix for all bands", {
  problem <- random_problem(30, 13, 4, seed = 1)
  dimnames(problem$X) <- list(NULL, letters[1:13])
  colnames(problem$Y) <- paste0("v", 1:4)
  fits <- list(
    fit_quietly(problem$X, problem$Y), fit_quietly(problem$X, problem$Y[, 1L], fit_intercept = FALSE),
    fit_quietly(problem$X, problem$Y, return_coefs = "dual"), fit_quietly(problem$X, problem$Y, standardize = TRUE)
  )
  for (fit in fits) {
    engine <- predictor(fit)
    expect_equal(predict(engine, problem$X), predict(fit, problem$X), tolerance = 1e-12)
    expect_identical(as.matrix(predict(engine, problem$X[7L, , drop = FALSE])),
                     as.matrix(predict(engine, problem$X))[7L, , drop = FALSE])
    expect_refused(predict(engine, problem$X, "link"), "type", "response")
    expect_refused(predict(engine, problem$X, "class"), "type")
  }
  bands <- random_bands(30, c(4, 6), 3, seed = 2)
  fit <- fit_bands_quietly(bands$Xs, bands$Y, n_iter = 4, seed = 1)
  expect_equal(predict(predictor(fit), bands$X), predict(fit, bands$X), tolerance = 1e-12)
  expect_refused(predictor(fits[[1L]], lambda = 1), "lambda")
  expect_refused(predictor(fits[[1L]], threshold = 0.2), "threshold")
  expect_refused(predictor(fit_quietly(problem$X, problem$Y, return_coefs = "none")), "fit", "none")
  # many targets, bit by bit as well
  wide <- random_problem(20, 9, 100, seed = 3)
  engine <- predictor(fit_quietly(wide$X, wide$Y))
  expect_identical(predict(engine, wide$X[5L, , drop = FALSE]), predict(engine, wide$X)[5L, , drop = FALSE])
})

test_that("engines are printed in a few lines", {
  fits <- logistic_fits()
  for (one in fits) {
    shown <- capture.output(printed <- withVisible(print(predictor(one$fit))))
    expect_lte(length(shown), 8L)
    expect_match(shown, "Scoring engine: 11 features x", all = FALSE)
    expect_match(shown, "threshold: 0.5", all = FALSE)
    expect_false(printed$visible)
  }
  expect_match(capture.output(print(predictor(fits$factor$fit))), "positive:  \"house\" (not \"face\")", fixed = TRUE,
               all = FALSE)
  expect_match(capture.output(print(predictor(fits$offset$fit))), "newoffset", all = FALSE)
  ridge <- predictor(fit_quietly(matrix(rnorm(60), 20), rnorm(20)))
  expect_match(capture.output(print(ridge)), "ridge regression", all = FALSE)
})

test_that("what is no fit, and what is no engine, is refused", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$y, lambda = 0.1)
  engine <- predictor(fit)
  expect_s3_class(expect_refused(predictor(1), "fit"), "voxridge_error_type")
  expect_refused(predictor(engine), "fit")
  expect_refused(predictor(stats::lm(d$y ~ d$X)), "fit")
  expect_refused(predictor(fit, lambda = 0.5), "lambda")
  expect_refused(predict(engine), "newdata")
  expect_refused(predict(engine, d$X, type = "prob"), "type")
  expect_refused(predict(engine, d$X, type = c("link", "class")), "type")
  expect_refused(predict(engine, d$X, na = "keep"), "na")
  expect_refused(predict(engine, d$X, n_threads = 0), "n_threads")
  expect_error(predict(engine, d$X, thresold = 0.5), class = "rlib_error_dots_nonempty")
  broken <- engine
  broken$coefs <- NULL
  broken$handle <- NULL
  expect_s3_class(expect_refused(predict(broken, d$X), "object"), "voxridge_error_old_object")
})

test_that("a row takes microseconds", {
  skip_on_cran()
  X <- withr::with_seed(1, matrix(rnorm(800), 100))
  fit <- quiet_logistic(X, X[, 1L] > 0, lambda = 0.1)
  engine <- predictor(fit)
  row <- X[7L, , drop = FALSE]
  time_of <- function(f) {
    for (i in 1:100) f()
    min(replicate(5, system.time(for (i in 1:1000) f(), gcFirst = FALSE)[["user.self"]]))
  }
  # the machine may be slow: plain algebra is the measure
  plain <- time_of(function() 1 / (1 + exp(-(drop(row %*% fit$coefs) + fit$intercept))))
  expect_lt(time_of(function() predict(engine, row)), 10 * max(plain, 1e-3))
})
