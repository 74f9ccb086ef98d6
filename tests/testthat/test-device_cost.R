rates <- function(...) utils::modifyList(list(cpu = 1e10, gpu = 1e13, bus = 1e10, start = 0.3), list(...))

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
  expect_false(prefer_gpu(large, rates(gpu = 1e9))$gpu)
  expect_false(prefer_gpu(large, rates(cpu = 1e16))$gpu)
  seconds <- predicted_seconds(list(flops = 2e10, bytes_in = 3e9, bytes_out = 1e9), rates())
  expect_equal(seconds, c(cpu = 2, gpu = 0.3 + 0.4 + 0.002))
})

test_that("auto goes by the size of the work, and never leaves the CPU without a GPU", {
  backend <- solver_backend("auto")
  expect_identical(backend$wanted, "auto")
  skip_if(check_gpu_available()$available)
  expect_identical(settle_backend(backend, ridge_work(1000, 5000, 1e6, 20, 5), 2L)$device, "cpu")
})
