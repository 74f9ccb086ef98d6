#' Clusters and threshold-free cluster enhancement
#'
#' What a permutation test looks at besides single voxels: the size or mass of clusters, or TFCE. For the argument
#' `enhance` of [one_sample_permutation_test()] and its relatives.
#'
#' Clusters are neighbouring voxels whose statistic is strictly beyond the threshold (within a millionth of it counts as
#' equal to it); positive and negative ones are apart. The extent is the number of voxels, the mass the sum of |t| -
#' threshold over them. p compares each cluster with the largest one of every permutation (0 where there is none), which
#' controls the chance of any false cluster. It is not corrected for a choice among several thresholds: fix the
#' threshold before looking.
#'
#' TFCE needs no threshold: a voxel of height t > 0 gets the integral over h from 0 to t of e(h)^E h^H, where e(h) is
#' the number of voxels of its cluster at the threshold h. It is taken exactly, not in steps; negative voxels get the
#' same of -t, with a negative sign.
#'
#' Heights are those of t (F in an F test; for correlations t = r sqrt(df / (1 - r^2))), cut at 1e6.
#'
#' @param threshold_p Number above 0 and below 0.5: the one-sided p, by Student's t (or F) distribution, of the
#'   statistic from which voxels are in clusters. The default is 0.001.
#' @param threshold_t NULL (the default), or the threshold as a t statistic, a number above 0, in the place of
#'   `threshold_p`.
#' @param connectivity Which voxels are neighbours: those that share a face (6), also an edge (18), or also a corner
#'   (26). The default is 26 for clusters, 6 for TFCE.
#' @param E,H Numbers above 0: powers of extent and height. The defaults, 0.5 and 2, are those of the source.
#'
#' @returns A list of class `voxridge_enhancement`.
#' @section Errors:
#' `voxridge_error_argument`, `voxridge_error_conflict` (both thresholds). See [voxridge-conditions].
#' @section Invariants:
#' TFCE of a voxel alone is t^(H + 1) / (H + 1). Turning the sign of the data turns the signs of TFCE and of clusters.
#' Results do not depend on threads.
#' @references
#' Bullmore, E. T., Suckling, J., Overmeyer, S., Rabe-Hesketh, S., Taylor, E., Brammer, M. J. (1999). Global, voxel, and
#' cluster tests, by theory and permutation, for a difference between two groups of structural MR images of the brain.
#' IEEE Transactions on Medical Imaging 18, 32-42. \doi{10.1109/42.750253}
#'
#' Smith, S. M., Nichols, T. E. (2009). Threshold-free cluster enhancement: addressing problems of smoothing, threshold
#' dependence and localisation in cluster inference. NeuroImage 44, 83-98. \doi{10.1016/j.neuroimage.2008.03.061}
#' @seealso [one_sample_permutation_test()], [brain_map()]
#' @examples
#' mask <- brain_mask(array(1, c(8, 8, 8)), affine = diag(c(2, 2, 2, 1)))
#' set.seed(1)
#' Y <- matrix(rnorm(12 * 512), 12, 512)
#' Y[, 1:20] <- Y[, 1:20] + 1
#' test <- one_sample_permutation_test(Y, n_permutations = 200, seed = 1, mask = mask,
#'                                     enhance = cluster_mass(threshold_p = 0.01), n_threads = 2)
#' head(test$clusters, 3)
#' test <- one_sample_permutation_test(Y, n_permutations = 200, seed = 1, mask = mask,
#'                                     enhance = tfce(), n_threads = 2)
#' sum(test$p_tfce_fwer <= 0.05)
#' @export
cluster_extent <- function(threshold_p = 0.001, threshold_t = NULL, connectivity = 26) {
  new_cluster_enhancement("extent", setting(threshold_p, !missing(threshold_p)), threshold_t, connectivity,
                          rlang::current_env())
}

#' @rdname cluster_extent
#' @export
cluster_mass <- function(threshold_p = 0.001, threshold_t = NULL, connectivity = 26) {
  new_cluster_enhancement("mass", setting(threshold_p, !missing(threshold_p)), threshold_t, connectivity,
                          rlang::current_env())
}

#' @rdname cluster_extent
#' @export
tfce <- function(E = 0.5, H = 2, connectivity = 6) {
  structure(list(kind = "tfce", E = as_positive(E), H = as_positive(H), connectivity = as_connectivity(connectivity)),
            class = "voxridge_enhancement")
}

new_cluster_enhancement <- function(kind, threshold_p, threshold_t, connectivity, call) {
  if (!is.null(threshold_t)) {
    if (threshold_p$given) {
      found <- describe(threshold_p$value)
      abort("{.arg threshold_p} must be left out where {.arg threshold_t} is given, not {found}.", "conflict",
            found = threshold_p$value, call = call)
    }
    threshold_p$value <- NULL
    threshold_t <- as_positive(threshold_t, arg = "threshold_t", call = call)
  } else if (!is_number(threshold_p$value) || threshold_p$value <= 0 || threshold_p$value >= 0.5) {
    found <- describe(threshold_p$value)
    abort(
      c("{.arg threshold_p} must be a number above 0 and below 0.5, not {found}.",
        i = "It is a p. A threshold of the statistic itself is {.arg threshold_t}."),
      "argument",
      expected = c(0, 0.5), found = threshold_p$value, call = call
    )
  }
  structure(list(kind = kind, threshold_p = threshold_p$value, threshold_t = threshold_t,
                 connectivity = as_connectivity(connectivity, call)), class = "voxridge_enhancement")
}

as_connectivity <- function(connectivity, call = rlang::caller_env()) {
  if (is_number(connectivity) && connectivity %in% c(6, 18, 26)) return(as.integer(connectivity))
  found <- describe(connectivity)
  abort(
    c("{.arg connectivity} must be 6, 18 or 26, not {found}.",
      i = "Neighbours share a face (6), also an edge (18), or also a corner (26)."),
    "argument",
    expected = c(6, 18, 26), found = connectivity, call = call
  )
}

#' @export
print.voxridge_enhancement <- function(x, ...) {
  rlang::check_dots_empty()
  what <- if (x$kind == "tfce") {
    paste0("Threshold-free cluster enhancement (E = ", format(x$E), ", H = ", format(x$H))
  } else {
    beyond <- if (is.null(x$threshold_t)) c("p < ", format(x$threshold_p)) else c("t > ", format(x$threshold_t))
    paste0("Cluster ", x$kind, " (", beyond[1L], beyond[2L])
  }
  cat(what, ", ", x$connectivity, " neighbours)\n", sep = "")
  invisible(x)
}

# ---- in a test -------------------------------------------------------------------------------

# The mask that says which columns are neighbours, checked against the data; NULL where none is asked for. `mask` is a
# setting(value, given).
enhancement_mask <- function(enhance, mask, v, call) {
  if (is.null(enhance) && !(mask$given && length(mask$value))) return(NULL)
  mask <- mask$value
  if (is.null(mask)) {
    abort(
      c("{.arg mask} must be a brain mask where {.arg enhance} is given, not NULL: it says which columns are
         neighbours.",
        i = "{.fn brain_matrix} attaches one to {.arg Y}, or pass {.code mask =}."),
      "argument",
      found = NULL, call = call
    )
  }
  mask <- make_mask(mask, call = call)
  if (mask$n == v) return(mask)
  found <- mask$n
  abort(
    c("{.arg mask} must have one voxel per column of {.arg Y} ({format_count(v)}), not {format_count(found)}.",
      i = "Use the mask that {.arg Y} was read with."),
    "shape",
    expected = v, found = found, call = call
  )
}

as_enhancement <- function(enhance, call) {
  if (is.null(enhance) || inherits(enhance, "voxridge_enhancement")) return(enhance)
  if (is.function(enhance)) {
    abort("{.arg enhance} must be a call such as {.code tfce()}, not the function alone.", "argument", call = call)
  }
  found <- describe(enhance)
  abort(
    c("{.arg enhance} must be {.fn cluster_extent}, {.fn cluster_mass} or {.fn tfce}, or NULL, not {found}.",
      i = "For example {.code enhance = tfce()}."),
    "argument",
    found = enhance, call = call
  )
}

# The form of the core (bind_permutation.cpp), without the directions.
map_rule <- function(enhance, mask, design, call) {
  if (is.null(enhance)) return(NULL)
  list(
    kind = enhance$kind, E = enhance$E %||% 0.5, H = enhance$H %||% 2, connectivity = enhance$connectivity,
    threshold = if (enhance$kind == "tfce") 0 else cluster_threshold(enhance, design, call),
    correlation_df = if (design$statistic == "correlation") design$df else 0,
    dim = as.double(mask$dim), index = as.double(mask$index)
  )
}

# The directions of one call of the core.
map_options <- function(maps, tail, design) {
  if (is.null(maps)) return(NULL)
  c(maps, list(upper = tail != "less", lower = tail != "greater" && design$statistic != "f"))
}

cluster_threshold <- function(enhance, design, call) {
  f <- design$statistic == "f"
  if (!is.null(enhance$threshold_t)) {
    if (!f) return(enhance$threshold_t)
    abort(
      c("{.arg enhance} must have a {.arg threshold_p} in an F test, not a {.arg threshold_t}.",
        i = "For example {.code cluster_extent(threshold_p = 0.001)}."),
      "conflict",
      found = enhance$threshold_t, call = call
    )
  }
  if (design$statistic == "welch") {
    abort(
      c("{.arg enhance} must have a {.arg threshold_t} with Welch's t, not a {.arg threshold_p}.",
        i = "Its degrees of freedom differ between voxels and permutations."),
      "conflict",
      found = enhance$threshold_p, call = call
    )
  }
  if (f) return(stats::qf(enhance$threshold_p, ncol(design$x), design$df, lower.tail = FALSE))
  stats::qt(enhance$threshold_p, design$df, lower.tail = FALSE)
}

# Values within this share of the observed one count as equal, as in the core.
EQUAL_SHARE <- 1 - 1e-6

# p of values from the maxima of all permutations.
p_of_maxima <- function(values, maxima, exact) {
  m <- length(maxima)
  above <- m - findInterval(values * EQUAL_SHARE, sort(maxima), left.open = TRUE)
  if (exact) above / m else (above + 1) / (m + 1)
}

# The result with its maps: of twice the smaller of two p, each sign has its own direction.
as_enhanced_result <- function(out, parts, settings, mask) {
  n_tails <- length(parts)
  out$enhance <- settings$enhance
  names <- names(out$p)
  used <- parts[[1L]]$state == 0L
  maps <- lapply(parts, `[[`, "maps")
  out$max_enhanced <- if (n_tails == 1L) maps[[1L]]$maximum else vapply(maps, `[[`, maps[[1L]]$maximum, "maximum")
  if (settings$enhance$kind != "tfce") {
    tables <- Map(function(map, tail) cluster_table(map, tail, out, settings, mask, n_tails), maps, base::names(maps))
    clusters <- do.call(rbind, unname(tables))
    rank <- order(clusters$p_fwer, -clusters[[if (settings$enhance$kind == "mass") "mass" else "size"]])
    labels <- integer(length(used))
    for (tail in base::names(maps)) {
      found <- maps[[tail]]$label
      here <- which(clusters$tail == tail)
      labels[found > 0L] <- match(here, rank)[found[found > 0L]]
    }
    clusters <- clusters[rank, base::names(clusters) != "tail"]
    rownames(clusters) <- NULL
    out$clusters <- data.frame(id = seq_along(rank), clusters)
    out$cluster_labels <- with_names(labels, names)
    return(out)
  }
  m <- as.double(out$n_permutations)
  value <- maps[[1L]]$enhanced
  each <- lapply(base::names(maps), function(tail) {
    map <- maps[[tail]]
    size <- switch(tail, abs = abs(value), greater = pmax(value, 0), less = pmax(-value, 0))
    list(p = if (out$exact) map$counts / m else (map$counts + 1) / (m + 1),
         fwer = p_of_maxima(size, map$maximum, out$exact))
  })
  fold <- function(what) {
    p <- pmin(1, n_tails * Reduce(pmin, lapply(each, `[[`, what)))
    with_names(ifelse(used, p, NA_real_), names)
  }
  out$tfce <- with_names(ifelse(used, value, NA_real_), names)
  out$p_tfce <- fold("p")
  out$p_tfce_fwer <- fold("fwer")
  out
}

# Clusters of one direction in the order of the core's labels.
cluster_table <- function(map, tail, out, settings, mask, n_tails) {
  inside <- which(map$label > 0L)
  label <- map$label[inside]
  n <- max(0L, label)
  size <- tabulate(label, n)
  height <- abs(map$map[inside])
  mass <- as.vector(rowsum(height - settings$maps$threshold, factor(label, seq_len(n))))
  by_height <- order(label, -height)
  peak <- inside[by_height[!duplicated(label[by_height])]]
  place <- arrayInd(mask$index[peak], mask$dim)
  mm <- if (is.null(mask$affine)) matrix(NA_real_, n, 3L) else coordinates(mask)[peak, , drop = FALSE]
  volume <- if (is.null(mask$affine)) NA_real_ else abs(det(mask$affine[1:3, 1:3]))
  value <- if (settings$enhance$kind == "mass") mass else size
  data.frame(
    tail = rep(tail, n), sign = sign(map$map[peak]), size = size, volume_mm3 = size * volume, mass = mass,
    peak = unname(out$statistic[peak]), i = place[, 1L], j = place[, 2L], k = place[, 3L],
    x = mm[, 1L], y = mm[, 2L], z = mm[, 3L], p_fwer = pmin(1, n_tails * p_of_maxima(value, map$maximum, out$exact))
  )
}
