test_that("flags, counts and numbers are what they say", {
  expect_identical(as_flag(TRUE), TRUE)
  for (x in list(NA, 1, "TRUE", c(TRUE, FALSE), NULL)) {
    expect_error(as_flag(x), "`x`", class = "voxridge_error_argument")
  }
  expect_identical(as_count(3), 3L)
  expect_identical(as_count(NULL, null_ok = TRUE), NULL)
  for (x in list(0, 1.5, -1, NA, Inf, "3", 1:2, NULL, 3e9)) {
    expect_error(as_count(x), "`x`", class = "voxridge_error_argument")
  }
  expect_identical(as_positive(0.5), 0.5)
  for (x in list(0, -1, NA, Inf, "1", 1:2)) expect_error(as_positive(x), "`x`", class = "voxridge_error_argument")
})

test_that("choices take the first of the default and refuse others with the list", {
  words <- c("primal", "dual", "none")
  expect_identical(as_choice(words, words), "primal")
  expect_identical(as_choice("dual", words), "dual")
  for (x in list("dua", "Dual", NA_character_, 1, c("dual", "none"), NULL)) {
    expect_error(as_choice(x, words), "primal", class = "voxridge_error_argument")
  }
  expect_error(as_choice("Dual", words), "Did you mean.*dual", class = "voxridge_error_argument")
})

test_that("penalties are finite and not negative, in the order given", {
  expect_identical(as_alphas(c(10, 0, 1L, 1)), c(10, 0, 1, 1))
  cnd <- expect_error(as_alphas(c(1, -2, NaN)), class = "voxridge_error_alphas")
  expect_identical(cnd$where, 2:3)
  expect_identical(cnd$found, c(-2, NaN))
})

test_that("errors carry what was expected, what was found and where", {
  X <- matrix(0, 300, 2)
  cnd <- expect_error(solve_ridge_cv(X, matrix(0, 299, 1)), class = "voxridge_error_shape")
  expect_identical(as.integer(cnd$expected), 300L)
  expect_identical(as.integer(cnd$found), 299L)
  X[7L, 2L] <- NA
  cnd <- expect_error(solve_ridge_cv(X, matrix(0, 300, 1)), class = "voxridge_error_nonfinite")
  expect_identical(as.integer(cnd$where), 2L)
})

test_that("errors name the function that the user called", {
  problem <- random_problem(20, 4, 2, seed = 1)
  calls <- list(
    solve_ridge_cv = function() solve_ridge_cv(problem$X, problem$Y, cv = 30),
    ridge_cv = function() ridge_cv(problem$X, problem$Y, alphas = -1),
    ridge_svd = function() ridge_svd(problem$X, problem$Y[1:3, ]),
    cross_val_predict_ridge = function() cross_val_predict_ridge(problem$X, problem$Y, alphas = 1:7),
    prepare_ridge = function() prepare_ridge("a"),
    cv_folds = function() cv_folds(1:10, k = 11),
    alpha_grid = function() alpha_grid(problem$X, span = -1),
    simulate_encoding = function() simulate_encoding(n = 0, p = 1, t = 1),
    auto_batch_size = function() auto_batch_size(0, 1, 1)
  )
  for (name in names(calls)) {
    cnd <- expect_error(calls[[name]](), class = "voxridge_error")
    expect_identical(as.character(conditionCall(cnd)[[1L]]), name)
  }
})

test_that("the number of bad columns is told, not all of them", {
  X <- matrix(NA_real_, 10, 500)
  cnd <- expect_error(solve_ridge_cv(X, 1:10), "500 of 500", class = "voxridge_error_nonfinite")
  expect_lt(nchar(conditionMessage(cnd)), 300L)
})

test_that("the finite check finds each bad value wherever it stands", {
  for (bad in c(NA, NaN, Inf, -Inf)) {
    for (at in c(1L, 7L, 8L, 1000L, 1003L, 4012L)) {
      x <- matrix(1e300, 1003, 4)
      x[at] <- bad
      expect_identical(core_nonfinite_columns(x), (at - 1L) %/% 1003L + 1L)
    }
  }
  expect_identical(core_nonfinite_columns(matrix(c(-1.7e308, 1.7e308, 5e-324, 0), 2)), integer())
})

test_that("what was found has its article", {
  expect_identical(describe(matrix(1L, 5, 2)), "a 5 x 2 integer matrix")
  expect_identical(describe(matrix("a", 8, 2)), "an 8 x 2 character matrix")
  expect_identical(describe(array(1, c(11, 2, 2))), "an 11 x 2 x 2 double array")
  expect_identical(describe(matrix(1, 180, 2)), "a 180 x 2 double matrix")
  expect_identical(describe(quote(x)), "a name")
  expect_identical(describe(expression(x)), "an expression")
})
