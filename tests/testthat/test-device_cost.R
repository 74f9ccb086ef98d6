rates <- function(...) {
  utils::modifyList(
    list(cpu = 1e10, gpu = 1e13, cpu_double = 1e10, gpu_double = 1e13, bus = 1e10, start = 0.3), list(...)
  )
}

test_that("work is the operations of the products and the bytes that cross the bus", {
  # dual form: a fold's held-out rows times all training rows, 3 penalties, for 1000 targets; coefficients as X'A
  wide <- ridge_work(100, 400, 1000, n_alphas = 3, n_folds = 5)
  expect_equal(wide$flops, 2 * 3 * 100 * 100 * 1000 + 4 * 100^2 * 1000 + 2 * 100 * 400 * 1000)
  expect_equal(wide$bytes_in, 8 * (100 * 1000 + 100 * 400))
  expect_equal(wide$bytes_out, 8 * 400 * 1000)
  # primal form: X'Y once
  tall <- ridge_work(400, 50, 1000, n_alphas = 3, n_folds = 5, coefs = "none", precision = "single")
  expect_equal(tall$flops, 2 * 3 * 400 * 50 * 1000 + 2 * 400 * 50 * 1000)
  expect_equal(tall$bytes_in, 4 * (400 * 1000 + 400 * 50))
  expect_equal(tall$bytes_out, 0)
  # factors: a Gram matrix, operators of each penalty and fold; in dual form one factor serves all folds
  expect_equal(wide$factor_flops, 100 * 400 * 100 + 2 * 3 * 100 * 100^2)
  expect_equal(wide$eigen_flops, 6 * 100^3)
  expect_equal(tall$factor_flops, 400 * 50 * 50 + 2 * 3 * 400 * 50^2)
  expect_equal(tall$eigen_flops, 6 * 5 * 50^3)
  expect_equal(ridge_work(400, 50, 1000, 3, 5, n_candidates = 7)$eigen_flops, 6 * 7 * 6 * 50^3)
  expect_equal(tall$eigen_order, 50)
  # beyond some 30 penalties the scores of the others are interpolated
  expect_equal(ridge_work(100, 400, 10, 1000, 5)$flops, ridge_work(100, 400, 10, MOST_NODES, 5)$flops)
  expect_equal(ridge_work(100, 400, 10, 5, 0, "none")$flops, 0)
  # sizes whose product is beyond R's integers
  expect_true(is.finite(ridge_work(70000L, 200000L, 1000000L, 20, 5)$flops))
})

test_that("the device that is predicted to be done first is taken", {
  small <- ridge_work(100, 50, 10, 10, 5)
  large <- ridge_work(1000, 5000, 1e5, 20, 5)
  expect_false(prefer_gpu(small, rates())$gpu)
  expect_true(prefer_gpu(large, rates())$gpu)
  expect_match(prefer_gpu(large, rates())$reason, "s on the CPU, .* s on the GPU")
  # a slow bus, a slow card, a fast host
  expect_false(prefer_gpu(large, rates(bus = 1e6))$gpu)
  expect_false(prefer_gpu(large, rates(gpu = 1e9, gpu_double = 1e9))$gpu)
  expect_false(prefer_gpu(large, rates(cpu = 1e16, cpu_double = 1e16))$gpu)
  work <- list(flops = 2e10, factor_flops = 0, eigen_flops = 0, eigen_order = 100, bytes_in = 3e9, bytes_out = 1e9)
  expect_equal(predicted_seconds(work, rates()), c(cpu = 2, gpu = 0.3 + 0.4 + 0.002))
  # products of factors are double whatever the precision of the call
  work$factor_flops <- 1e10
  single <- rates(cpu = 2e10, gpu = 2e13, gpu_double = 5e11)
  expect_equal(predicted_seconds(work, single), c(cpu = 1 + 1, gpu = 0.3 + 0.4 + 0.001 + 0.02))
})

test_that("eigenvalue problems count on both devices, small ones as work of the CPU", {
  work <- list(flops = 0, factor_flops = 0, eigen_flops = 3e9, eigen_order = 511, bytes_in = 0, bytes_out = 0)
  expect_equal(predicted_seconds(work, rates(start = 0)), c(cpu = 1, gpu = 1))
  work$eigen_order <- 512
  expect_equal(predicted_seconds(work, rates(start = 0)), c(cpu = 1, gpu = 3e9 / GPU_EIGEN_RATE))
  # a card with slow double precision
  expect_equal(predicted_seconds(work, rates(start = 0, gpu_double = 1e11)), c(cpu = 1, gpu = 0.1))
  # few targets and a large Gram matrix: the factors alone are worth the way
  expect_true(prefer_gpu(ridge_work(8000, 20000, 10, 10, 5), rates())$gpu)
  expect_false(prefer_gpu(ridge_work(400, 20000, 10, 10, 5), rates(cpu = 1e11, cpu_double = 1e11))$gpu)
})

test_that("auto goes by the size of the work, and never leaves the CPU without a GPU", {
  backend <- solver_backend("auto")
  expect_identical(backend$wanted, "auto")
  skip_if(check_gpu_available()$available)
  expect_identical(settle_backend(backend, ridge_work(1000, 5000, 1e6, 20, 5), 2L)$device, "cpu")
})
