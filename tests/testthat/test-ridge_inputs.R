test_that("targets come as a matrix with what to leave out", {
  y <- as_targets(1:4, 4)
  expect_identical(y$Y, matrix(as.double(1:4)))
  expect_true(y$is_vector)
  Y <- as_targets(matrix(c(1, NA, 3, 4, 5, 6), 3), 3, "skip")
  expect_identical(Y$skip, 1L)
  expect_false(Y$is_vector)
  expect_identical(as_targets(diag(2), 2, "skip")$skip, integer())
})

test_that("a double matrix is used in place", {
  X <- matrix(rnorm(12), 4)
  expect_identical(rlang::obj_address(as_features(X)), rlang::obj_address(X))
  expect_identical(rlang::obj_address(as_targets(X, 4)$Y), rlang::obj_address(X))
})

test_that("a scoring function gets matrices and must answer one number per column", {
  score <- as_score(function(y_true, y_pred) colSums(y_true * y_pred))
  expect_identical(score$fun(diag(2), diag(2)), c(1, 1))
  of_vectors <- as_score(function(y_true, y_pred) sum(y_true * y_pred))
  expect_identical(of_vectors$fun(diag(2), matrix(1:4, 2)), c(1, 4))
  three <- as_score(function(y_true, y_pred) 1:3)
  expect_error(three$fun(diag(2), diag(2)), "\\b2\\b.*3", class = "voxridge_error_score")
  expect_error(as_score(function(y_true, y_pred) c(1, NA))$fun(diag(2), diag(2)), class = "voxridge_error_score")
  expect_refused(as_score(3), "score_func")
})
