# The R sides of the decoding cases (engines.R). The timed call keeps no predictions, as a searchlight does by default;
# the answer is of another call, over the spheres that the peer decodes.

predict_where <- function(job, centers) {
  if (job$where == "whole") return(voxridge::whole_brain())
  if (job$where == "parcels") {
    return(voxridge::roi(rep(seq_len(job$parcels), block_sizes(job$p, as.integer(job$parcels)))))
  }
  volume <- array(0, as.integer(strsplit(job$grid, ",", fixed = TRUE)[[1]]))
  volume[read_doubles(job$voxels, c(job$p, 3))] <- 1
  mask <- voxridge::brain_mask(volume, affine = diag(c(rep(as.numeric(job$voxel_mm), 3), 1)))
  voxridge::searchlight(mask, radius_mm = as.numeric(job$radius_mm), centers = centers)
}

# Spheres are found within the clock; NULL: around every voxel.
run_decode <- function(data, job, centers = predict_centers(job), ...) {
  suppressMessages(voxridge::decode(data$X, factor(max.col(data$Y)),
    cv = fold_ids(job), where = predict_where(job, centers), alphas = 1, scale = job$scale, seed = 1, device = "cpu",
    n_threads = job$threads, progress = FALSE, ...))
}

predict_centers <- function(job) {
  if (job$where != "spheres" || job$n_centers == job$p) return(NULL)
  read_doubles(job$centers)
}

decode_engine <- function(fit, answer) {
  list(
    setup = function(job) suppressPackageStartupMessages(library(voxridge)),
    fit = fit,
    answer = function(fit, data, job) c(answer(fit, data, job), list(fields = list(setting = "defaults"))),
    version = function() paste("voxridge", utils::packageVersion("voxridge"))
  )
}

compared_predictions <- function(fit, data, job) {
  if (job$permutations > 0) return(list(statistics = fit$score))
  compared <- if (job$where == "spheres") read_doubles(job$centers)[seq_len(job$n_compared)]
  out <- run_decode(data, job, compared, keep_predictions = TRUE)
  list(predictions = as.integer(as.character(out$predictions)), decisions = out$decision)
}

predict_engines <- list(
  decode = decode_engine(
    function(data, job) run_decode(data, job, n_permutations = job$permutations),
    compared_predictions
  ),
  ours_unpermuted = decode_engine(
    function(data, job) run_decode(data, job),
    compared_predictions
  )
)
