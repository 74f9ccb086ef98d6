env <- function() rlang::current_env()

test_that("outcomes", {
  of <- function(y, n = length(y)) as_decoded_outcome(y, n, env())
  expect_identical(of(c("b", "a", "B"))$levels, c("B", "a", "b"))  # the order of bytes, in any locale
  expect_identical(of(factor(c("x", "y"), c("y", "x", "z")))$levels, c("y", "x", "z"))
  expect_identical(of(c(TRUE, FALSE))$levels, c("FALSE", "TRUE"))
  expect_identical(of(1:3)$values, c(1, 2, 3))
  expect_identical(of(array(c("a", "b"), 2L))$levels, c("a", "b"))
  expect_null(of(c(1.5, NA))$levels)
  for (y in list(NULL, matrix("a", 2, 2), list("a", "b"), as.POSIXct(1:2, origin = "1970-01-01"), 1i, raw(2))) {
    expect_refused(of(y, 2L), "y")
  }
  used <- use_outcome(of(factor(c("c", "a", "c", NA), c("a", "b", "c"))), 1:3, env())
  expect_identical(used[c("codes", "levels")], list(codes = c(2L, 1L, 2L), levels = c("a", "c")))
  expect_refused(use_outcome(of(c("c", "a", NA, NA)), 2:4, env()), "y", "2 \\(rows 3, 4\\)")
  expect_message(use_outcome(of(rep(1:5, 2)), 1:10, env()), class = "voxridge_message_few_values")
  expect_silent(use_outcome(of(rep(1:6, 2)), 1:12, env()))
})

test_that("folds of every form", {
  of <- function(cv, n = 12L) as_decode_folds(cv, n, env())
  labels <- of(rep(c("r2", "r1", "r3"), each = 4))
  expect_identical(labels$form, "labels")
  expect_identical(labels$labels, c("r1", "r2", "r3"))
  expect_true(labels$partition)
  expect_identical(of(3)$count, 3L)
  expect_identical(of("loo")$test, as.list(1:12))
  pairs <- of(list(list(train = c(2, 4, 6), test = c(8, 10)), list(train = c(8, 10, 10), test = c(2, 4))))
  expect_identical(pairs$rows, c(2L, 4L, 6L, 8L, 10L))
  expect_identical(pairs$train, list(1:3, c(4L, 5L, 5L)))
  expect_identical(pairs$test, list(4:5, 1:2))
  expect_false(pairs$partition)
  # a partition of the rows used
  expect_true(of(list(list(train = 1:3, test = 5:6), list(train = 5:6, test = 1:3)))$partition)
  # rows with weights of 2 are none
  expect_false(of(list(list(train = c(1, 1), test = 5:6), list(train = 5:6, test = 1:2)))$partition)
})

test_that("inner folds are the other groups, or blocks of the training rows", {
  inner <- function(cv, n = 12L) inner_folds(as_decode_folds(cv, n, env()), env())
  runs <- rep(1:3, each = 4)
  got <- inner(runs)
  expect_identical(got[[1L]], list(train = list(9:12, 5:8), test = list(5:8, 9:12)))
  expect_identical(got[[3L]]$test, list(1:4, 5:8))
  blocks <- inner(2)
  expect_identical(blocks[[1L]]$test, list(7:9, 10:12))
  expect_identical(blocks[[1L]]$train, list(10:12, 7:9))
  # rows drawn repeatedly stay in training
  drawn <- inner(list(list(train = c(1, 1, 2, 3, 4), test = 5:6), list(train = c(5, 6, 3), test = c(1, 2)),
                      list(train = c(1, 5), test = 3:4)))
  expect_identical(drawn[[1L]]$test, list(1:2, 3:4))
  expect_identical(drawn[[1L]]$train, list(3:4, c(1L, 1L, 2L)))
  # repeated folds
  again <- inner(c(lapply(1:2, function(k) list(train = which(runs != k), test = which(runs == k))),
                   list(list(train = 5:12, test = 1:4))))
  expect_length(again[[1L]]$test, 3L)
  expect_identical(sort(unlist(again[[1L]]$test)), 5:12)
  expect_s3_class(expect_refused(inner(rep(1:2, 6)), "cv", c("alphas", "3 groups")), "voxridge_error_folds")
  # no inner fold holds a row of the outer test set
  for (cv in list(runs, 4, "loo")) {
    folds <- as_decode_folds(cv, 12L, env())
    parts <- inner_folds(folds, env())
    for (f in seq_along(parts)) expect_false(any(unlist(parts[[f]]) %in% folds$test[[f]]))
  }
})

test_that("results that are too large are refused", {
  skip_if(is.na(core_memory_available()))
  dims <- c(n = 1e6, p = 1e5, locations = 1e5, folds = 10, columns = 8, metrics = 1, permutations = 0)
  settings <- list(keep_predictions = TRUE, weights = FALSE)
  expect_error(check_decode_memory(dims, settings, env()), class = "voxridge_error_memory")
  settings$keep_predictions <- FALSE
  expect_silent(check_decode_memory(dims, settings, env()))
  dims[["permutations"]] <- 1e6
  expect_error(check_decode_memory(dims, settings, env()), "permuted labels", class = "voxridge_error_memory")
})
