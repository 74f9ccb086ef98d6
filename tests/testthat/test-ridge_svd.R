test_that("coefficients solve the normal equations, for every class of problem and alpha", {
  for (problem in problem_classes()) {
    for (alpha in c(0, 1e-3, 1, 1e4)) {
      expect_close(ridge_svd(problem$X, problem$Y, alpha = alpha), oracle_fit(problem$X, problem$Y, alpha)$coefs, 1e-8)
    }
  }
})

test_that("the gradient of the objective vanishes", {
  # the definition itself: X'(Y - X B) = alpha B
  for (seed in 1:10) {
    problem <- random_problem(25, 40, 3, seed)
    B <- ridge_svd(problem$X, problem$Y, alpha = 3)
    expect_close(crossprod(problem$X, problem$Y - problem$X %*% B), 3 * B)
  }
})

test_that("the default alpha is 1", {
  problem <- random_problem(20, 5, 2, seed = 1)
  expect_identical(ridge_svd(problem$X, problem$Y), ridge_svd(problem$X, problem$Y, alpha = 1))
})

test_that("a vector gives a vector, names survive", {
  problem <- random_problem(20, 5, 2, seed = 2)
  colnames(problem$X) <- letters[1:5]
  colnames(problem$Y) <- c("u", "v")
  B <- ridge_svd(problem$X, problem$Y, alpha = 2)
  b <- ridge_svd(problem$X, problem$Y[, 1L], alpha = 2)
  expect_identical(dimnames(B), list(letters[1:5], c("u", "v")))
  expect_null(dim(b))
  expect_equal(b, B[, 1L], tolerance = 1e-14)
})

test_that("alpha 0 has a rank cut-off: duplicate and zero columns share or get nothing", {
  problem <- random_problem(20, 3, 2, seed = 3)
  X <- cbind(problem$X, problem$X[, 1L], 0)
  B <- ridge_svd(X, problem$Y, alpha = 0)
  expect_close(B, oracle_coefs(X, problem$Y, 0))
  expect_close(B[1L, ], B[4L, ])
  expect_close(B[5L, ], c(0, 0))
})

test_that("ill-conditioned problems keep the digits that the data have", {
  # singular values from 1 down to 1 / condition; the right answer is known by construction: with Y = U C the solution
  # is V diag(d / (d^2 + alpha)) C. Relative to the largest coefficient the SVD of X (below alpha = 1e-9 of the largest
  # eigenvalue) loses eps times the condition number of X, the Gram matrix its square; both no more than alpha allows.
  withr::local_seed(4)
  n <- 40
  p <- 12
  U <- qr.Q(qr(matrix(rnorm(n * p), n)))
  V <- qr.Q(qr(matrix(rnorm(p * p), p)))
  C <- matrix(rnorm(p * 2), p)
  for (condition in 10^c(0, 3, 6, 9, 12)) {
    d <- condition^-seq(0, 1, length.out = p)
    X <- U %*% (d * t(V))
    Y <- U %*% C
    for (alpha in c(0, 1e-20, 1e-8, 1)) {
      if (alpha < 1e-16 && condition > 1e10) next
      want <- V %*% (d / (d^2 + alpha) * C)
      lost <- EPS * if (alpha < 1e-9) min(condition, alpha^-0.5) else min(condition^2, 1 / alpha)
      expect_close(ridge_svd(X, Y, alpha = alpha), want, max(1e-12, 100 * lost))
    }
  }
})

test_that("wrong input is refused with its name", {
  problem <- random_problem(20, 4, 2, seed = 5)
  expect_refused(ridge_svd(problem$X, problem$Y, alpha = -1), "alpha", "-1")
  expect_refused(ridge_svd(problem$X, problem$Y, alpha = NaN), "alpha")
  expect_refused(ridge_svd(problem$X, problem$Y, alpha = c(1, 2, 3)), "alpha", "3")
  expect_refused(ridge_svd(problem$X, problem$Y, alpha = "1"), "alpha")
  expect_refused(ridge_svd(problem$X, 1:19), "y")
  expect_refused(ridge_svd(problem$X, problem$Y, device = "tpu"), "device")
  problem$X[1L] <- Inf
  expect_refused(ridge_svd(problem$X, problem$Y), "X")
})
