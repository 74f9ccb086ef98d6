read <- function(y, positive = NULL, ...) as_outcome(y, positive, "y", NULL, ...)

test_that("the forms of one target are one vector from 0 to 1", {
  want <- c(0, 1, 1, 0)
  expect_identical(read(want)$y, want)
  expect_identical(read(as.integer(want))$y, want)
  expect_identical(read(want == 1)$y, want)
  expect_identical(read(factor(c("no", "yes", "yes", "no")))$y, want)
  expect_identical(read(c(0, 0.25, 1))$y, c(0, 0.25, 1))
  expect_identical(read(c(a = 0, b = 1))$y, c(a = 0, b = 1))
  expect_identical(read(array(want))$y, want)
  expect_true(read(want)$is_vector)
  expect_identical(read(c(0, 0))$y, c(0, 0))
  expect_identical(read(factor("a", c("a", "b")))$y, 0)
})

test_that("levels, the positive one and the type are told", {
  y <- factor(c("face", "house", "face"))
  expect_identical(read(y)[c("levels", "positive", "type")],
                   list(levels = c("face", "house"), positive = "house", type = "factor"))
  expect_identical(read(y, "face")$y, c(1, 0, 1))
  expect_identical(read(y, "face")[c("levels", "positive")], list(levels = c("face", "house"), positive = "face"))
  expect_identical(read(TRUE)[-1L], list(levels = c("FALSE", "TRUE"), positive = "TRUE", type = "logical",
                                         is_vector = TRUE))
  expect_identical(read(1L)[-1L], list(levels = c("0", "1"), positive = "1", type = "number", is_vector = TRUE))
})

test_that("`positive` swaps 0 and 1 exactly", {
  for (seed in 1:10) {
    y <- withr::with_seed(seed, factor(sample(c("a", "b"), 20, replace = TRUE), c("a", "b")))
    expect_identical(read(y, "a")$y, 1 - read(y, "b")$y)
  }
})

test_that("a matrix, a data frame and a list are targets", {
  Y <- cbind(a = c(0, 1, 1), b = c(1, 0, 0.5))
  expect_identical(read(Y), list(y = Y, levels = c("0", "1"), positive = "1", type = "number", is_vector = FALSE))
  expect_identical(read(Y == 1)$y, 1 * (Y == 1))
  expect_identical(read(Y == 1)$type, "logical")
  frame <- data.frame(a = factor(c("x", "y", "x")), b = c(TRUE, FALSE, NA), c = c(0, 0.5, 1))
  got <- read(frame, na_targets = "skip")
  expect_identical(got$y, cbind(a = c(0, 1, 0), b = c(1, 0, NA), c = c(0, 0.5, 1)))
  expect_identical(got$levels, cbind(a = c("x", "y"), b = c("FALSE", "TRUE"), c = c("0", "1")))
  expect_identical(got$positive, c(a = "y", b = "TRUE", c = "1"))
  expect_identical(got$type, c(a = "factor", b = "logical", c = "number"))
  expect_false(got$is_vector)
  expect_identical(read(frame, "x", na_targets = "skip")$y[, "a"], c(1, 0, 1))
  factors <- list(factor(c("x", "y")), factor(c("u", "v")))
  expect_identical(read(factors)$y, cbind(c(0, 1), c(0, 1)))
  expect_identical(read(factors, c("x", "v"))$y, cbind(c(1, 0), c(0, 1)))
  named <- data.frame(a = 0:1, row.names = c("s1", "s2"))
  expect_identical(dimnames(read(named)$y), list(c("s1", "s2"), "a"))
})

test_that("wrong forms are refused with the right one", {
  form <- function(y, found, advice, ...) {
    cnd <- expect_refused(read(y, ...), "y.*", c(found, advice))
    expect_s3_class(cnd, "voxridge_error_y_form")
  }
  form(c(-1, 1, 1), "not -1/\\+1", "`\\(y \\+ 1\\) / 2`")
  form(c(-1L, -1L), "not -1/\\+1", "\\(y \\+ 1\\) / 2")
  form(c(1, 2, 2), "not 1/2", "`y - 1`")
  form(factor(1:3), "a factor of 3 levels", "y == levels\\(y\\)\\[2\\]")
  form(factor(c("a", "b"), c("a", "b", "c")), "a factor of 3 levels", "droplevels\\(y\\)")
  form(factor(c("a", "a")), "a factor of 1 level\\.", "levels = c")
  form(c("no", "yes"), "a character vector", 'factor\\(y, levels = c\\("no", "yes"\\)\\)')
  form(c("{", "b"), "a character vector", 'y == "class"')
  form(letters, "a character vector", 'y == "class"')
  form(c(0, 3, 5), "counts from 0 to 5", "weights = trials")
  form(c(12.5, 87), "values from 12.5 to 87", "y / 100")
  form(c(-3.5, 0.2), "values from -3.5 to 0.2", "probability")
  form(cbind(c(3, 4), c(1, 0)), "counts in column 1", "successes / trials")
  form(cbind(a = c(0, 1, 0), b = c(-1, 1, 1)), "-1/\\+1 in column b", "\\(y \\+ 1\\) / 2")
  form(matrix("a", 2L, 2L), "a 2 x 2 character matrix", "factor")
  form(as.Date("2024-01-01"), "2024-01-01", "as.numeric")
  form(1i, "0\\+1i", "as.numeric")
  form(NULL, "NULL", "as.numeric")
  form(list(a = c(0, 1), b = c(1, 2)), "y\\$b", "y\\$b - 1")
  form(list(c(0, 1), c("u", "v")), "y\\[\\[2\\]\\]", "levels = c")
  form(list(list(1)), "a list", "vector per target")
  cnd <- expect_refused(read(c(0, 1, 7, -2)), "y")
  expect_identical(cnd$where, 3:4)
})

test_that("a vector is demanded where there is one target", {
  one <- function(y) as_outcome_vector(y, NULL, "y", NULL)
  expect_identical(one(array(0:1))$y, c(0, 1))
  for (bad in list(matrix(0, 2L, 1L), data.frame(a = 0:1), list(0, 1))) {
    expect_s3_class(expect_refused(one(bad), "y", "One target at a time"), "voxridge_error_y_form")
  }
  expect_refused(one(cbind(3:4, 0:1)), "y", "weights = trials")
})

test_that("missing values are errors with their places, or stay", {
  cnd <- expect_refused(read(c(0, NA, 1, NaN)), "y", "2 of 4 values \\(2, 4\\)")
  expect_s3_class(cnd, "voxridge_error_nonfinite")
  expect_identical(cnd$where, c(2L, 4L))
  expect_s3_class(expect_refused(read(c(0, Inf)), "y"), "voxridge_error_nonfinite")
  expect_refused(read(factor(c("a", "b", NA))), "y", "3")
  expect_refused(read(cbind(a = 0:1, b = c(NA, 1))), "y", "1 of 2 targets \\(b\\)")
  expect_identical(read(c(0, NA, 1), na_targets = "skip")$y, c(0, NA, 1))
  expect_identical(read(cbind(0:1, c(Inf, 1)), na_targets = "skip")$y, cbind(c(0, 1), c(Inf, 1)))
  expect_refused(read(cbind(0:1, c(NA, 2)), na_targets = "skip"), "y", "column 2")
})

test_that("sizes and `positive` are checked", {
  expect_s3_class(expect_refused(read(numeric()), "y"), "voxridge_error_shape")
  expect_s3_class(expect_refused(read(matrix(0, 3L, 0L)), "y"), "voxridge_error_shape")
  expect_s3_class(expect_refused(read(list()), "y"), "voxridge_error_shape")
  expect_s3_class(expect_refused(read(list(0:1, 0)), "y", "2, 1 values"), "voxridge_error_shape")
  y <- factor(c("a", "b"))
  expect_s3_class(expect_refused(read(y, "c"), "positive", '"c"'), "voxridge_error_argument")
  expect_refused(read(y, 1), "positive")
  expect_refused(read(y, c("a", "b")), "positive")
  expect_s3_class(expect_refused(read(0:1, "b"), "positive", "factor"), "voxridge_error_conflict")
  expect_refused(read(c(TRUE, FALSE), TRUE), "positive", "TRUE is the positive")
  expect_refused(read(data.frame(a = 0:1), "a"), "positive")
  expect_refused(read(data.frame(a = y, b = y, c = y), c("a", "b")), "positive", "one per target \\(3\\)")
})

test_that("weights are one finite number per sample", {
  weigh <- function(weights, n) as_weights(weights, n, "weights", NULL)
  expect_identical(weigh(NULL, 3L), c(1, 1, 1))
  expect_identical(weigh(c(a = 0L, b = 2L), 2L), c(0, 2))
  expect_identical(weigh(array(1:2), 2L), c(1, 2))
  bad <- list(c(1, -1, NA), c(1, Inf, 0), c(0, 0, 0), 1:2, "a", factor(1:3), matrix(1, 3L, 1L), TRUE,
              rep(.Machine$double.xmax, 3L))
  for (weights in bad) expect_s3_class(expect_refused(weigh(weights, 3L), "weights"), "voxridge_error_weights")
  cnd <- expect_refused(weigh(c(1, -1, NA), 3L), "weights", "-1 and NA \\(positions 2, 3\\)")
  expect_identical(cnd$where, 2:3)
  expect_identical(cnd$found, c(-1, NA))
  expect_refused(weigh(c(0, 0), 2L), "weights", "all 0")
})
