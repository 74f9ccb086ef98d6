folds_of <- function(cv, n) as_decode_folds(cv, n, rlang::current_env())

test_that("split runs are told, by the labels of cleaned data or of permute_within", {
  d <- class_problem()
  clean <- clean_runs(d$X, d$runs)
  cnd <- expect_warning(decode_quietly(clean, d$y, cv = 4), class = "voxridge_warning_leakage")
  expect_match(conditionMessage(cnd), "fold 1 on run 2")
  expect_identical(cnd$where, 1L)
  expect_warning(decode_quietly(d$X, d$y, cv = 4, n_permutations = 5, permute_within = d$runs, seed = 1),
                 class = "voxridge_warning_leakage")
  expect_silent(decode_quietly(clean, d$y, cv = d$runs))
})

test_that("scaling by all samples is told", {
  d <- class_problem()
  expect_warning(decode_quietly(d$X, d$y, cv = d$runs, scale = "global"), class = "voxridge_warning_leakage")
  expect_silent(decode_quietly(d$X, d$y, cv = d$runs, scale = "fold"))
})

test_that("split blocks of equal labels are told, but not single trials, sorted samples or whole runs", {
  warns <- function(y, cv, runs = NULL) {
    cnd <- rlang::catch_cnd(warn_split_blocks(folds_of(cv, length(y)), factor(y), runs), "voxridge_warning_leakage")
    if (is.null(cnd)) 0L else cnd$found
  }
  blocks <- rep(rep(c("a", "b"), 4), each = 5)
  expect_identical(warns(blocks, 4), 0L)       # folds of two blocks
  expect_identical(warns(blocks, 5), 4L)       # 8 rows each: every cut splits one
  expect_identical(warns(blocks, rep(1:4, 10)), 8L)
  expect_identical(warns(rep(c("a", "b"), 10), 5), 0L)
  # equal labels in a row by chance are no blocks
  expect_identical(warns(c("a", "a", "a", "b", "a", "b"), list(c(1, 4), c(2, 3, 5, 6))), 0L)
  expect_identical(warns(rep(c("a", "a", "b"), 6), rep(1:3, 6)), 0L)
  # sorted by class
  expect_identical(warns(rep(c("a", "b"), each = 10), rep(1:5, 4)), 0L)
  # the last block of a run is not the first of the next
  y <- rep(c("a", "b", "b", "a", "a", "b"), each = 3)
  expect_identical(warns(y, rep(1:3, each = 6)), 0L)
  expect_identical(warns(rep(c("a", "b", "b", "a"), each = 3), 4, runs = rep(1:2, each = 6)), 0L)
})

test_that("classes that training sets lack are named", {
  y <- c("a", "b", "c", "a", "b", "a", "a", "b", "a")
  X <- withr::with_seed(1, matrix(rnorm(18), 9))
  cnd <- expect_warning(fit <- decode_quietly(X, y, cv = rep(c("r1", "r2", "r3"), each = 3)),
                        class = "voxridge_warning_class_missing")
  expect_match(conditionMessage(cnd), "\"c\" in fold r1")
  expect_identical(fit$failures, data.frame(location = NA_integer_, fold = 1L, reason = "class_missing",
                                            detail = "no c in the training set"))
  expect_true(all(fit$decision[1:3, "c"] == -Inf))
  expect_false(anyNA(fit$scores))
})

test_that("training sets of one class are told, and refused where there are no others", {
  X <- withr::with_seed(1, matrix(rnorm(24), 12))
  y <- rep(c("a", "b", "a"), each = 4)
  expect_s3_class(expect_refused(decode_quietly(X[1:8, ], y[1:8], cv = rep(1:2, each = 4)), "cv", "confounded"),
                  "voxridge_error_single_class_fold")
  warnings <- character()
  fit <- withCallingHandlers(decode_quietly(X, y, cv = rep(1:3, each = 4)), warning = function(w) {
    warnings <<- c(warnings, class(w)[1L])
    invokeRestart("muffleWarning")
  })
  expect_identical(warnings, c("voxridge_warning_single_class", "voxridge_warning_confounded"))
  expect_identical(which(is.na(fit$scores[, 1L, 1L])), c("2" = 2L))
  expect_identical(fit$failures$reason, "one_class")
  expect_identical(fit$failures$fold, 2L)
  expect_identical(is.na(fit$predictions), rep(c(FALSE, TRUE, FALSE), each = 4))
})

test_that("runs that each show one class are told", {
  X <- withr::with_seed(1, matrix(rnorm(32), 16))
  y <- rep(c("a", "b", "a", "b"), each = 4)
  expect_warning(decode_quietly(X, y, cv = rep(1:4, each = 4)), class = "voxridge_warning_confounded")
  # leaving single samples out confounds nothing
  expect_silent(decode_quietly(X[c(1, 5, 2, 6, 3, 7), ], y[c(1, 5, 2, 6, 3, 7)], cv = "loo"))
})
