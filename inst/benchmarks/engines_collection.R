# The R sides of the collections (engines.R). The files are opened and read within the clock.

collection_engine <- function(compute) {
  list(
    setup = function(job) suppressPackageStartupMessages(library(voxridge)),
    fit = function(data, job) {
      x <- voxridge::brain_collection(data$paths, data$mask)
      compute(x, job)
    },
    answer = function(fit, data, job) list(statistics = as.vector(fit), fields = list(setting = "defaults")),
    version = function() paste("voxridge", utils::packageVersion("voxridge"))
  )
}

collection_engines <- list(
  collection_mean = collection_engine(function(x, job) {
    voxridge::collection_mean(x, n_threads = job$threads, progress = FALSE)
  }),
  collection_t = collection_engine(function(x, job) {
    test <- voxridge::collection_t_test(x, mu = 100, within = "mean", n_threads = job$threads, progress = FALSE)
    test$statistic
  })
)
