test_that("the scores of a fit are the means over folds at what was chosen", {
  problem <- random_problem(30, 8, 5, seed = 1)
  targets <- paste0("v", 1:5)
  Y <- problem$Y
  colnames(Y) <- targets
  for (cv in list(4, "loo", "gcv")) {
    fit <- fit_quietly(problem$X, Y, cv = cv)
    index <- cbind(fit$diagnostics$alpha_index, 1:5)
    want <- apply(fit$cv_scores, 2:3, mean)[index]
    expect_equal(fit$scores, stats::setNames(want, targets), tolerance = 1e-14)
    expect_equal(fit_quietly(problem$X, Y, cv = cv, return_cv_scores = "mean")$scores, fit$scores, tolerance = 1e-14)
    expect_equal(fit_quietly(problem$X, Y[, 2L], cv = cv)$scores, unname(fit$scores[2L]), tolerance = 1e-14)
    expect_equal(fit_quietly(problem$X, Y[, 2L], cv = cv, return_cv_scores = "mean")$scores, unname(fit$scores[2L]),
                 tolerance = 1e-14)
    expect_null(fit_quietly(problem$X, Y, cv = cv, return_cv_scores = "none")$scores)
  }
})

test_that("a fit says what was asked, and keeps the data without copying them", {
  problem <- random_problem(30, 8, 4, seed = 2)
  X <- problem$X
  Y <- problem$Y
  dimnames(X) <- list(NULL, letters[1:8])
  colnames(Y) <- paste0("v", 1:4)
  runs <- rep(c("b", "a", "c"), each = 10)
  fit <- fit_quietly(X, Y, cv = runs)
  expect_s3_class(fit, c("voxridge_ridge", "voxridge_fit"), exact = TRUE)
  expect_identical(fit$dims, c(n = 30L, p = 8L, t = 4L))
  expect_identical(fit$features, letters[1:8])
  expect_identical(fit$targets, paste0("v", 1:4))
  expect_identical(fit$folds[c("kind", "n", "labels", "id")],
                   list(kind = "kfold", n = 3L, labels = c("a", "b", "c"), id = match(runs, c("a", "b", "c"))))
  expect_identical(fit$folds$test, list(11:20, 1:10, 21:30))
  expect_identical(fit$folds$train[[1L]], c(1:10, 21:30))
  expect_identical(fit[c("score_func", "score_fun", "is_vector", "standardize", "coef_form", "mask")],
                   list(score_func = "r2", score_fun = NULL, is_vector = FALSE, standardize = FALSE,
                        coef_form = "primal", mask = NULL))
  expect_identical(fit$data, list(X = X, Y = Y))
  # inspect() shows the address first
  address <- function(x) sub(" .*", "", capture.output(.Internal(inspect(x)))[1L])
  expect_match(address(X), "^@")
  expect_false(address(X) == address(X + 0))
  expect_identical(address(fit$data$X), address(X))
  expect_identical(address(fit$data$Y), address(Y))
  expect_null(fit_quietly(X, Y, keep = "none")$data)
  expect_identical(fit_quietly(X, Y, keep = "none", return_coefs = "dual")$data, list(X = X))
  mse <- function(y_true, y_pred) -colMeans((y_true - y_pred)^2)
  by_function <- fit_quietly(X, Y, score_func = mse)
  expect_identical(by_function$score_func, "user")
  expect_identical(by_function$score_fun, mse)
  one <- fit_quietly(X, Y[, 1L])
  expect_true(one$is_vector)
  expect_identical(one$data$Y, unname(Y[, 1L, drop = FALSE]))
})

test_that("a mask that Y carries is kept where it fits", {
  problem <- random_problem(30, 8, 4, seed = 3)
  mask <- structure(list(dim = c(2L, 2L, 2L), affine = diag(4), index = c(1L, 3L, 4L, 8L), n = 4L),
                    class = "brain_mask")
  Y <- structure(problem$Y, mask = mask)
  fit <- fit_quietly(problem$X, Y)
  expect_identical(fit$mask, mask)
  expect_match(printed(fit), "mask: +4 voxels of 2 x 2 x 2", all = FALSE)
  expect_identical(residuals(fit), problem$Y - fitted(fit))
  mask$n <- 3L
  expect_null(fit_quietly(problem$X, structure(problem$Y, mask = mask))$mask)
  expect_null(fit_quietly(problem$X, structure(problem$Y, mask = 1:4))$mask)
})

test_that("a fit has no environments, survives saving, and predicts in another process", {
  problem <- random_bands(30, c(4, 6), 3, seed = 4)
  fits <- list(
    fit_quietly(problem$X, problem$Y),
    fit_bands_quietly(problem$Xs, problem$Y, n_iter = 3, seed = 1, return_coefs = "dual")
  )
  new <- list(problem$X[1:4, ], lapply(problem$Xs, function(X) X[1:4, ]))
  has_environment <- function(x) {
    is.environment(x) || typeof(x) == "externalptr" || is.function(x) ||
      (is.list(x) && any(vapply(x, has_environment, NA)))
  }
  folder <- withr::local_tempdir()
  for (i in 1:2) {
    expect_false(has_environment(unclass(fits[[i]])))
    path <- file.path(folder, "fit.rds")
    saveRDS(list(fits[[i]], new[[i]]), path)
    expect_identical(readRDS(path)[[1L]], fits[[i]])
    answer <- file.path(folder, "answer.rds")
    printed <- run_r(sprintf("x <- readRDS('%s'); saveRDS(predict(x[[1]], x[[2]]), '%s')", path, answer), folder)
    expect_true(file.exists(answer), info = paste(printed, collapse = "\n"))
    expect_identical(readRDS(answer), predict(fits[[i]], new[[i]]))
  }
})

test_that("foreign objects and other formats are refused by every verb", {
  problem <- random_problem(30, 8, 3, seed = 5)
  fit <- fit_quietly(problem$X, problem$Y)
  old <- fit
  old$format <- 99L
  cut <- fit
  cut$dims <- NULL
  foreign <- structure(list(a = 1), class = c("voxridge_ridge", "voxridge_fit"))
  X <- problem$X
  verbs <- list(
    print, summary, coef, predict, fitted, residuals, tidy, glance, augment, null_scores,
    function(fit) score(fit, X, problem$Y)
  )
  for (object in list(old, cut, foreign, structure(1, class = "voxridge_fit"))) {
    for (verb in verbs[if (is.list(object)) seq_along(verbs) else -4L]) {
      expect_error(capture.output(verb(object)), class = "voxridge_error_old_object")
    }
  }
  expect_error(null_scores(1), class = "voxridge_error_type")
})

test_that("the nearest argument is suggested only where it is near", {
  words <- c("local_alpha", "keep", "n_threads")
  expect_identical(nearest_word("local_alph", words), "local_alpha")
  expect_identical(nearest_word("n.threads", words), "n_threads")
  expect_identical(nearest_word("seed", words), character())
})

test_that("unknown, repeated and unnamed arguments are refused", {
  problem <- random_problem(30, 8, 3, seed = 6)
  cnd <- expect_refused(fit_ridge(problem$X, problem$Y, n_thread = 2), "n_thread", "n_threads")
  expect_s3_class(cnd, "voxridge_error_argument")
  expect_refused(fit_ridge(problem$X, problem$Y, precisio = "single"), "precisio")
  expect_refused(rlang::inject(fit_ridge(problem$X, problem$Y, !!!list(device = "cpu", device = "cpu"))), "device")
  expect_refused(fit_ridge(problem$X, problem$Y, 1, 5, "r2", TRUE, FALSE, "data", 1), "...")
  expect_refused(fit_banded_ridge(list(a = problem$X), problem$Y, standardize = TRUE), "standardize")
})

test_that("logistic fits are refused where errors are squared, in words", {
  d <- logistic_data()
  fit <- quiet_logistic(d$X, d$Y, lambda = 1, cv = NULL)
  bands <- list(a = d$X[, 1:5], b = d$X[, 6:11])
  calls <- list(quote(null_scores(fit)), quote(r2_split(fit, bands, d$Y)), quote(r2_unique(fit, bands, d$Y)))
  for (call in calls) {
    cnd <- expect_refused(eval(call), "fit", c("fit_ridge", "not of `fit_logistic_ridge"))
    expect_s3_class(cnd, "voxridge_error_type")
    expect_false(grepl("again", conditionMessage(cnd)))
  }
})
