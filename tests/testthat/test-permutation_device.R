rates_of <- function(...) {
  utils::modifyList(list(cpu = 5e10, gpu = 3e13, gpu_single = 6e13, bus = 2e10, start = 0.3), list(...))
}
flips <- list(sums = TRUE, statistic = "t")
correlation <- list(sums = FALSE, statistic = "correlation", x = matrix(0, 40, 1), nuisance = matrix(0, 40, 1),
                    n_fixed = 1L)
linear <- list(sums = FALSE, statistic = "f", x = matrix(0, 40, 2), nuisance = matrix(0, 40, 4), n_fixed = 1L)

test_that("predictions are work over rate", {
  got <- permutation_seconds(40, 1e5, 1e4, flips, rates_of())
  columns <- 200 * 40 * 1e5 / 5e10
  expect_equal(got, c(cpu = columns + 1e9 * 5 / (0.3 * 5e10),
                      gpu = 0.3 + 4 * 40 * 1e5 / 2e10 + columns + 1e9 * 8 / (0.1 * 6e13)))
  got <- permutation_seconds(40, 1e5, 1e4, linear, rates_of())
  expect_equal(got, c(cpu = columns + 5e9 * (80 + 125) / 5e10,
                      gpu = 0.3 + 8 * 40 * 1e5 / 2e10 + columns + 5e9 * (80 + 40) / 3e13))
  expect_equal(sums_of_cell(correlation), 1)
  expect_equal(sums_of_cell(list(statistic = "welch")), 2)
  # sizes whose product is beyond R's integers
  expect_true(all(is.finite(permutation_seconds(40L, 300000L, 100000L, flips, rates_of()))))
})

test_that("the GPU is taken where the CPU needs more than a second and the GPU less", {
  backend <- solver_backend("auto")
  choose <- function(cpu, gpu) prefer_over_a_second(backend, c(cpu = cpu, gpu = gpu))
  expect_identical(choose(0.99, 0.4)$device, "cpu")
  expect_identical(choose(1.01, 0.4)$device, "gpu")
  expect_identical(choose(5, 5)$device, "cpu")
  expect_match(choose(5.123, 0.4)$reason, "5.1 s on the CPU, 0.4 s on the GPU", fixed = TRUE)
  expect_identical(choose(5, 0.4)$wanted, "auto")
  # the table kernel on two threads against a large card: a usual analysis stays on the CPU, many permutations do not
  at <- function(m, ...) {
    prefer_over_a_second(backend, permutation_seconds(40, 230000, m, ..., rates = rates_of(cpu = 1e11)))$device
  }
  expect_identical(at(1e4, flips), "cpu")
  expect_identical(at(1e6, flips), "gpu")
  expect_identical(at(1e4, linear), "gpu")
})

test_that("what only the CPU does is told before any work", {
  Y <- matrix(rnorm(60), 12)
  mask <- array(TRUE, c(5, 1, 1))
  refused <- function(expr, what) {
    cnd <- expect_refused(expr, "device", what)
    expect_s3_class(cnd, "voxridge_error_device_unsupported")
  }
  test <- function(...) one_sample_permutation_test(Y, ..., n_permutations = 20, progress = FALSE, device = "gpu")
  refused(test(enhance = tfce(), mask = mask), "for a test with `enhance`, not .gpu")
  refused(test(sequential = 5), "`sequential`")
  refused(test(return_null = TRUE), "`return_null`")
  refused(correlation_permutation_test(Y, Y, n_permutations = 20, device = "gpu"), "an `x` with a column\\s+for each")
  # "auto" takes the CPU for them
  auto <- quiet_test(one_sample_permutation_test)(Y, sequential = 5, n_permutations = 20, exact = "never", seed = 1,
                                                  device = "auto")
  expect_identical(auto$backend, "armadillo")
})

test_that("devices are checked like those of the solvers", {
  Y <- matrix(rnorm(60), 12)
  group <- rep(1:2, 6)
  tests <- list(
    function(...) one_sample_permutation_test(Y, ...), function(...) two_sample_permutation_test(Y, group, ...),
    function(...) correlation_permutation_test(seq_len(12), Y, ...),
    function(...) glm_permutation_test(Y, cbind(1, seq_len(12)), c(0, 1), ...)
  )
  for (test in tests) {
    expect_refused(test(device = "tpu"), "device", "tpu")
    got <- quiet_test(test)(n_permutations = 20, exact = "never", seed = 1, device = "auto", n_threads = 2)
    expect_identical(got$backend, "armadillo")
    if (check_gpu_available()$available) next
    expect_error(test(device = "gpu"), class = "voxridge_error_device_unavailable")
  }
  boot <- function(device) bootstrap_ridge(Y, Y, 1, n_boot = 100, seed = 1, device = device, n_threads = 2)
  expect_refused(boot("tpu"), "device", "tpu")
  expect_identical(boot("auto")$backend, "armadillo")
  skip_if(check_gpu_available()$available)
  expect_error(boot("gpu"), class = "voxridge_error_device_unavailable")
})

test_that("the bootstrap's prediction is of the products with the targets", {
  rates <- rates_of(cpu = 1e10)
  got <- bootstrap_seconds(300, 200, 5000, 200, 1000, one_penalty = FALSE, rates)
  flops <- 2 * 1000 * 5000 * (189 + 200) * 200
  expect_equal(got, c(cpu = flops / 1e10, gpu = 0.3 + 8 * (1000 * 200 * 5000 + 300 * 5000) / 2e10 + flops / 3e13))
  # of one penalty there are two ways
  stacked <- bootstrap_seconds(300, 200, 5000, 20, 1000, one_penalty = TRUE, rates)
  expect_equal(stacked[["cpu"]], 2 * 1000 * 5000 * 300 * 20 / 1e10)
})
