# The R sides of the permutation tests (engines.R). The timed call draws its permutations; the answer is of another
# call, with those that the peers have.

# `test(Y, data, ...)` calls the test.
inference_engine <- function(test) {
  run <- function(data, job, ...) {
    suppressMessages(test(data$Y, data, n_threads = job$threads, progress = FALSE, ...))
  }
  list(
    setup = function(job) suppressPackageStartupMessages(library(voxridge)),
    fit = function(data, job) run(data, job, n_permutations = job$permutations, exact = "never", seed = 1),
    answer = function(fit, data, job) {
      out <- run(data, job, permutations = data$rows)
      list(counts = out$counts, maxima = out$max_null, statistics = out$statistic,
        fields = list(setting = "defaults"))
    },
    version = function() paste("voxridge", utils::packageVersion("voxridge"))
  )
}

halves <- function(Y) rep(1:2, each = nrow(Y) / 2)

inference_engines <- list(
  one_sample_test = inference_engine(function(Y, data, ...) voxridge::one_sample_permutation_test(Y, ...)),
  two_sample_test = inference_engine(function(Y, data, ...) voxridge::two_sample_permutation_test(Y, halves(Y), ...)),
  correlation_test = inference_engine(function(Y, data, ...) {
    voxridge::correlation_permutation_test(data$X[, 2], Y, ...)
  }),
  freedman_lane_test = inference_engine(function(Y, data, ...) {
    voxridge::glm_permutation_test(Y, cbind(1, data$X), c(0, 0, 1), ...)
  }),

  # draws its own permutations; its adjusted p are step-down, so that only the statistics are compared
  multtest_two = list(
    setup = function(job) suppressPackageStartupMessages(library(multtest)),
    fit = function(data, job) {
      multtest::mt.maxT(t(data$Y), 2L - halves(data$Y), test = "t.equalvar", B = job$permutations)
    },
    answer = function(fit, data, job) {
      list(statistics = fit$teststat[order(fit$index)], fields = list(setting = "test = \"t.equalvar\""))
    },
    version = function() paste("multtest", utils::packageVersion("multtest"))
  )
)
