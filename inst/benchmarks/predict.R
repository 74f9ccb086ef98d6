# Data of the decoding cases, where they decode, and whether both sides predicted the same.

# The voxels of a grid that a case has, in the order of columns: voxels x 3 places from 1. "box" is all of it,
# "scattered" so many of it at random, "brain" an ellipsoid of 25 % of the volume, about what brains have of their
# images.
grid_voxels <- function(grid, shape, n_voxels = NULL) {
  places <- unname(as.matrix(expand.grid(lapply(grid, seq_len))))
  if (shape == "scattered") {
    set.seed(20240607)
    return(places[sort(sample(nrow(places), n_voxels)), ])
  }
  if (shape == "box") return(places)
  middle <- (grid + 1) / 2
  places[colSums(((t(places) - middle) / (0.39 * grid))^2) <= 1, ]
}

# Columns that are `margin` voxels or more from all faces of the grid: the spheres around them are whole.
inner_columns <- function(grid, voxels, margin) {
  which(colSums(t(voxels) > margin & t(voxels) <= grid - margin) == length(grid))
}

# n x p noise, to which every one of t classes adds a pattern of its own. Classes take turns, so that each run of
# t samples has all of them; Y has a column of 0 and 1 per class.
simulate_predict <- function(n, p, t, seed = 20240606) {
  set.seed(seed)
  class <- rep_len(seq_len(t), n)
  patterns <- matrix(stats::rnorm(t * p, sd = 0.3), t, p)
  list(X = matrix(stats::rnorm(n * p), n, p) + patterns[class, ], Y = 1 * outer(class, seq_len(t), "=="))
}

# What the job of a decoding case holds besides: the places of the voxels and the columns around which spheres are.
write_case_locations <- function(dir, case) {
  job <- list(where = case$where, scale = case$scale, permutations = case$permutations)
  if (case$where == "parcels") return(c(job, parcels = case$parcels))
  if (case$where == "whole") return(job)
  voxels <- grid_voxels(case$grid, case$shape, case$p)
  stopifnot(nrow(voxels) == case$p)
  centers <- inner_columns(case$grid, voxels, case$margin)
  c(job, list(
    grid = case$grid, voxel_mm = case$voxel_mm, radius_mm = case$radius_mm, n_centers = length(centers),
    n_compared = case$peer_spheres %||% (if (case$peer == "published") 1 else length(centers)),
    voxels = write_doubles(voxels, file.path(dir, "voxels.bin")),
    centers = write_doubles(centers, file.path(dir, "centers.bin"))
  ))
}

# Over the locations that both sides decoded: the share of predictions that are the same class, and the largest
# difference of a decision value, relative where they exceed 1. With label permutations, of the scores of all locations.
predict_agreement <- function(dir, names) {
  read <- function(kind) {
    path <- file.path(dir, paste0(names, ".", kind))
    if (all(file.exists(path))) lapply(path, read_doubles)
  }
  difference <- function(x) if (!is.null(x)) max(abs(x[[1]] - x[[2]]) / pmax(1, abs(x[[2]])))
  classes <- read("predictions")
  list(
    alphas_equal = if (is.null(classes)) NA_real_ else mean(classes[[1]] == classes[[2]]),
    coef_difference = difference(read("decisions")) %||% difference(read("statistics")) %||% NA_real_
  )
}
