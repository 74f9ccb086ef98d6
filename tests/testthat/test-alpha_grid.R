test_that("the grid is log-spaced in units of the mean eigenvalue of the centred Gram matrix", {
  for (shape in list(c(30, 8), c(12, 40))) {
    X <- random_problem(shape[1L], shape[2L], 1, seed = 1)$X + 5
    centred <- sweep(X, 2L, colMeans(X))
    gram <- if (shape[1L] > shape[2L]) crossprod(centred) else tcrossprod(centred)
    unit <- mean(eigen(gram, symmetric = TRUE, only.values = TRUE)$values)
    grid <- alpha_grid(X)
    expect_length(grid, 20L)
    expect_equal(range(grid), unit * c(1e-3, 1e5), tolerance = 1e-12)
    expect_equal(diff(log(grid)), rep(log(1e8) / 19, 19), tolerance = 1e-10)
  }
})

test_that("n and span are as asked", {
  X <- random_problem(30, 8, 1, seed = 2)$X
  unit <- alpha_grid(X, n = 2, span = c(1, 10))[1L]
  expect_equal(alpha_grid(X, n = 5, span = c(0.01, 100)), unit * 10^(-2:2), tolerance = 1e-12)
  expect_length(alpha_grid(X, n = 1), 1L)
})

test_that("scale and offset of the features do not change its meaning", {
  X <- random_problem(30, 8, 1, seed = 3)$X
  expect_equal(alpha_grid(4 * X), 16 * alpha_grid(X), tolerance = 1e-12)
  expect_equal(alpha_grid(X + 1e4), alpha_grid(X), tolerance = 1e-8)
})

test_that("a list of matrices has the grid of the matrices side by side", {
  for (problem in band_problems(3L)) {
    X <- do.call(cbind, problem$Xs)
    expect_equal(alpha_grid(problem$Xs), alpha_grid(X), tolerance = 1e-14)
    expect_equal(alpha_grid(structure(unname(problem$Xs), class = "feature_spaces")), alpha_grid(X), tolerance = 1e-14)
  }
  expect_equal(alpha_grid(list(1:5, matrix(c(2, 1, 3, 5, 9), 5))), alpha_grid(cbind(1:5, c(2, 1, 3, 5, 9))),
               tolerance = 1e-14)
  expect_refused(alpha_grid(list()), "X")
  expect_refused(alpha_grid(list(a = X, b = X[-1L, ])), "X\\$b")
  expect_refused(alpha_grid(list(X, replace(X, 1L, NA))), "X\\[\\[2\\]\\]")
  expect_refused(alpha_grid(list(X, "a")), "X\\[\\[2\\]\\]")
  expect_refused(alpha_grid(list(1, matrix(2))), "X", "varies")
})

test_that("wrong input is refused with its name", {
  X <- random_problem(30, 8, 1, seed = 4)$X
  expect_refused(alpha_grid("a"), "X")
  expect_refused(alpha_grid(X, n = 0), "n", "0")
  expect_refused(alpha_grid(X, span = c(0, 1)), "span")
  expect_refused(alpha_grid(X, span = c(10, 1)), "span")
  expect_refused(alpha_grid(X, span = 1), "span")
  expect_refused(alpha_grid(matrix(3, 5, 2)), "X")
  X[2L, 2L] <- NA
  expect_refused(alpha_grid(X), "X")
})
