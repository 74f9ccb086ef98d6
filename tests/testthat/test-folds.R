test_that("every form of cv comes to the same folds", {
  want <- as_folds(3, 7)
  expect_identical(want$test, list(1:3, 4:5, 6:7))
  expect_identical(want$train, list(4:7, c(1:3, 6:7), 1:5))
  expect_true(want$partition)
  for (cv in list(3L, c(1, 1, 1, 2, 2, 3, 3), rep(c("a", "b", "c"), c(3, 2, 2)), list(1:3, 4:5, 6:7),
                  lapply(1:3, function(f) list(train = want$train[[f]], test = want$test[[f]])))) {
    expect_true(same_folds(as_folds(cv, 7), want))
    expect_identical(as_folds(cv, 7)$id, c(1L, 1L, 1L, 2L, 2L, 3L, 3L))
  }
})

test_that("duplicated, unused and unordered labels do no harm", {
  a <- as_folds(c(2, 1, 2, 1, 3), 5)
  expect_identical(a$test, list(c(2L, 4L), c(1L, 3L), 5L))
  expect_identical(as_folds(factor(c("y", "x", "y", "x", "z"), levels = c("x", "y", "unused", "z")), 5)$test, a$test)
  expect_identical(as_folds(c(FALSE, TRUE, TRUE, FALSE), 4)$test, list(c(1L, 4L), 2:3))
})

test_that("objects of rsample are read by their shape", {
  data <- data.frame(x = 1:6)
  split <- function(train) list(data = data, in_id = train, out_id = NA)
  rset <- list(splits = list(split(1:4), split(3:6), split(c(1L, 2L, 5L, 6L))), id = c("Fold1", "Fold2", "Fold3"))
  folds <- as_folds(rset, 6)
  expect_identical(folds$test, list(5:6, 1:2, 3:4))
  expect_identical(folds$labels, c("Fold1", "Fold2", "Fold3"))
  # a bootstrap repeats training rows: not the complement of its test set
  boot <- list(splits = list(split(c(1L, 1L, 2L, 3L, 4L, 4L)), split(c(2L, 3L, 3L, 5L, 6L, 6L))))
  expect_false(as_folds(boot, 6)$partition)
  expect_identical(as_folds(boot, 6)$test, list(5:6, c(1L, 4L)))
  expect_refused(as_folds(rset, 7), "cv", c("6", "7"))
})

test_that("only complements of held-out rows count as a partition", {
  expect_false(as_folds(list(list(train = 1:4, test = 5:6), list(train = 5:6, test = 1:3)), 6)$partition)
  expect_false(as_folds(list(list(train = 1:3, test = 5:6), list(train = 5:6, test = 1:4)), 6)$partition)
})

test_that("bootstrapped training rows count as often as they are given", {
  problem <- random_problem(12, 3, 2, seed = 1)
  cv <- list(list(train = c(1L, 1L, 2:6), test = 7:12), list(train = c(7:12, 12L, 12L), test = 1:6))
  got <- solve_quietly(problem$X, problem$Y, alphas = c(0.5, 5), cv = cv, fit_intercept = TRUE)
  expect_close(got$cv_scores, oracle_cv_scores(problem$X, problem$Y, c(0.5, 5), cv, "r2", TRUE))
})
