# What a comparison is; the files cases_<domain>.R list them. Sizes and wanted ratios are the project's own targets.
#
# The cases of the domains serving, scale and blas measure by themselves and have fields of their own.
# fields: id, what (words for the table), n, p, t, n_alphas, folds, spectra, precision ("double" or "single"),
#   ours / peer: the name of an engine (engines*.R, engines*.py), with options for it (`setting`: the only one to try);
#     peer = "published" runs nothing and takes published_s (seconds that others reported for these sizes) and
#     published_where (where, on what),
#   output: what both sides return ("dual" n x t, "primal" p x t, "path" p x n_alphas for one target, "none"),
#   wanted: ratio peer seconds / our seconds to reach, one number per spectrum; NA where nothing was set,
#   quick: fields that are replaced for `--size quick` (n, p, t),
#   more: threads and repeats (the least number of timed fits) where a case has its own; bands (how many), candidates
#     (rows of band weights to try) and outer (outer folds) of banded cases; model = "logistic" for data with two
#     classes, and lambda, its only penalty, where there is one; model = "inference" for permutation tests, and
#     permutations, how many; model = "collection" for files, and items, how many; model = "predict" for decoding, with
#     permutations (of labels), scale, where ("whole", "parcels" or "spheres"), parcels (how many) or grid, shape,
#     margin, voxel_mm and radius_mm (predict.R), and spheres and peer_spheres, how many each side decodes, where
#     seconds are per sphere.

both <- c("white", "power")

benchmark_case <- function(id, what, n, p, t, n_alphas = 20, folds = 5, spectra = both, precision = "double",
                           ours, ours_label = "voxridge", peer, peer_label, peer_options = list(),
                           output = "primal", wanted = c(NA, NA), quick, more = list()) {
  c(
    list(
      id = id, what = what, n = n, p = p, t = t, n_alphas = n_alphas, folds = folds, spectra = spectra,
      precision = precision, ours = ours, ours_label = ours_label, peer = peer, peer_label = peer_label,
      peer_options = peer_options, output = output, wanted = stats::setNames(rep_len(wanted, length(spectra)), spectra),
      quick = quick
    ),
    more
  )
}
