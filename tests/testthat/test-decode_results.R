test_that("failures say where, why and what; what holds everywhere is said once", {
  d <- class_problem(n_runs = 4, p = 9)
  X <- d$X
  X[, 1:2] <- NaN
  X[d$runs != 2, 4:5] <- 1
  labels <- c("gone", "gone", "small", "flat", "flat", rep("good", 4))
  fit <- decode_quietly(X, d$y, cv = d$runs, where = roi(labels), metrics = c("accuracy", "auc"))
  expect_identical(fit$locations$names, c("flat", "gone", "good", "small"))
  expect_identical(fit$failures$location, c(1L, 2L, 4L))
  expect_identical(fit$failures$fold, c(2L, NA, NA))
  expect_identical(fit$failures$reason, c("constant", "not_finite", "too_small"))
  expect_match(fit$failures$detail[3L], "1 voxel of at least 2")
  expect_identical(unname(rowSums(is.na(fit$scores[, , 1L]))), c(0, 0, 0, 0) + c(2, 3, 2, 2))
  # a metric that one fold does not have, at every location
  y <- d$y
  y[d$runs == 1] <- "a"
  single <- muffle_decode(decode_quietly(d$X, y, cv = d$runs, where = roi(rep(1:3, 3)), metrics = c("auc", "accuracy")))
  undefined <- single$failures[single$failures$reason == "undefined", ]
  expect_identical(undefined$fold, 1L)
  expect_identical(undefined$location, NA_integer_)
  expect_true(all(is.na(single$scores[1L, , "auc"])))
  expect_false(anyNA(single$scores[, , "accuracy"]))
  expect_equal(single$score[, "auc"], colMeans(single$scores[-1L, , "auc"]))
})

test_that("where nothing can be decoded, the error counts the reasons", {
  d <- class_problem(n_runs = 4, p = 6)
  cnd <- expect_refused(decode_quietly(d$X * NaN, d$y, cv = d$runs, where = roi(1:6, 1)), "where",
                        c("none of 6", "not_finite \\(6\\)"))
  expect_s3_class(cnd, "voxridge_error_no_location")
  expect_identical(cnd$where$reason, rep("not_finite", 6L))
  expect_refused(decode_quietly(d$X, d$y, cv = d$runs, where = roi(1:6)), "where", "too_small \\(6\\)")
  expect_refused(decode_quietly(d$X[, 0L], d$y, cv = d$runs), "X")
  expect_refused(decode_quietly(0 * d$X, d$y, cv = d$runs), "where", "constant|too_small")
  expect_refused(muffle_decode(decode_quietly(d$X, d$y, cv = "loo", metrics = "auc")), "where", "undefined")
})

test_that("rows of the core go to the rows of X", {
  folds <- as_decode_folds(list(list(train = c(1, 4), test = c(6, 2)), list(train = c(2, 1), test = c(4, 6))), 7L,
                           rlang::current_env())
  expect_identical(spread_rows(matrix(1:4), folds)[, 1L, ],
                   cbind(c(NA, 2L, NA, 3L, NA, 1L, NA), c(NA, NA, NA, NA, NA, 4L, NA)))
  expect_identical(fold_of_rows(folds, NULL)[6L, ], 1:2)
  expect_identical(dim(spread_rows(array(1:24, c(4, 3, 2)), folds)), c(7L, 3L, 2L, 2L))
})

test_that("means leave undefined folds out, and nothing stays nothing", {
  scores <- array(c(0.5, NA, 0.7, NA, NA, NA), c(3L, 2L, 1L), list(NULL, c("a", "b"), "auc"))
  expect_identical(fold_means(scores), matrix(c(0.6, NA), 2L, dimnames = list(c("a", "b"), "auc")))
})

test_that("objects of other versions are refused", {
  d <- class_problem(n_runs = 4, p = 6)
  fit <- decode_quietly(d$X, d$y, cv = d$runs)
  old <- fit
  old$format <- 0L
  for (verb in list(print, tidy, glance, plot)) {
    expect_s3_class(expect_refused(verb(old), "x"), "voxridge_error_old_object")
  }
  expect_refused(summary(old), "object")
  # survives a file
  path <- withr::local_tempfile(fileext = ".rds")
  saveRDS(fit, path)
  expect_identical(readRDS(path), fit)
})
