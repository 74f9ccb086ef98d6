test_that("resolve_backend names backend, device, precision and reason", {
  cpu <- resolve_backend("cpu")
  expect_named(cpu, c("name", "device", "precision", "reason"), ignore.order = TRUE)
  expect_identical(cpu$name, "armadillo")
  expect_identical(cpu$device, "cpu")
  expect_identical(cpu$precision, "double")
  expect_identical(resolve_backend(), cpu)
  auto <- resolve_backend("auto")
  expect_identical(auto$name, "armadillo")
  expect_identical(auto$device, "cpu")
  gpu <- check_gpu_available()
  expect_identical(auto$reason, if (gpu$available) prefer_gpu()$reason else gpu$reason)
})

test_that("a GPU that is not there is a classed error with the reason, not a fall back", {
  skip_if(check_gpu_available()$available)
  problem <- random_problem(20, 4, 2, seed = 1)
  calls <- list(
    function() resolve_backend("gpu"),
    function() device_memory_budget("gpu"),
    function() solve_ridge_cv(problem$X, problem$Y, device = "gpu"),
    function() ridge_cv(problem$X, problem$Y, device = "gpu"),
    function() ridge_svd(problem$X, problem$Y, device = "gpu"),
    function() cross_val_predict_ridge(problem$X, problem$Y, alphas = 1, device = "gpu"),
    function() prepare_ridge(problem$X, 5, device = "gpu")
  )
  for (call in calls) {
    cnd <- expect_error(call(), class = "voxridge_error_device_unavailable")
    expect_match(conditionMessage(cnd), check_gpu_available()$reason, fixed = TRUE)
  }
})

test_that("the memory budget is positive, at most what there is, and follows the option", {
  budget <- device_memory_budget()
  expect_gt(budget, 0)
  expect_lt(budget, 1e5)
  withr::local_options(voxridge.memory_gb = 0.25)
  expect_equal(device_memory_budget("cpu"), 0.25)
  withr::local_options(voxridge.memory_gb = -1)
  expect_error(device_memory_budget(), "voxridge.memory_gb", class = "voxridge_error_argument")
})

test_that("a GPU limit without a GPU is a conflict", {
  expect_error(device_memory_budget("cpu", max_gpu_memory_gb = 4), class = "voxridge_error_conflict")
  expect_refused(device_memory_budget("auto", max_gpu_memory_gb = 0), "max_gpu_memory_gb")
})

test_that("batches are what fits, at least one, at most all", {
  expect_identical(auto_batch_size(1000, 1e6, 0.5), 500L)
  expect_identical(auto_batch_size(100, 1e6, 0.5), 100L)
  expect_identical(auto_batch_size(100, 1e12, 0.5), 1L)
  # not a whole number of items: never over the budget
  expect_identical(auto_batch_size(100, 3e8, 1), 3L)
  expect_refused(auto_batch_size(0, 1, 1), "n_items")
  expect_refused(auto_batch_size(10, 0, 1), "bytes_per_item")
  expect_refused(auto_batch_size(10, 1, -1), "budget_gb")
})

test_that("unknown words are refused with the known ones", {
  expect_refused(resolve_backend("tpu"), "device", c("cpu", "gpu", "auto"))
  expect_refused(resolve_backend("cpu", precision = "half"), "precision", c("double", "single"))
})

test_that("what has no code for the GPU refuses it, there or not, and takes the CPU for auto", {
  fit <- function(device) refuse_gpu(device, "logistic ridge", rlang::current_env())
  expect_identical(fit("cpu"), backend_for("cpu"))
  auto <- fit("auto")
  expect_identical(auto[c("name", "device", "precision")], backend_for("cpu")[c("name", "device", "precision")])
  expect_identical(auto$reason, "There is no code for the GPU for logistic ridge.")
  # the default of an argument
  expect_identical(fit(c("cpu", "gpu", "auto")), fit("cpu"))
  cnd <- expect_error(fit("gpu"), class = "voxridge_error_device_unsupported")
  expect_match(conditionMessage(cnd), '`device` must be "cpu" or "auto" for logistic ridge, not "gpu".', fixed = TRUE)
  expect_identical(cnd$found, "gpu")
  expect_identical(cnd$expected, c("cpu", "auto"))
  expect_identical(rlang::call_name(cnd$call), "fit")
  expect_refused(fit("tpu"), "device", c("cpu", "gpu", "auto"))
})
