# The locations of a specification in data of p columns, in the form of the core: list(kind, ...), see as_locations().

# list(core, kind, n, names, mask, parcel, centers): `core` is what the core reads; `parcel`: the number of each
# voxel's parcel; `centers`: the voxel to which each location's results belong; `mask`: for maps, or NULL.
as_locations <- function(where, p, mask, call) {
  if (!inherits(where, "voxridge_where")) {
    found <- describe(where)
    abort(
      c("{.arg where} must be {.fn whole_brain}, {.fn roi} or {.fn searchlight}, not {found}.",
        i = "Labels of parcels go into {.code roi(labels)}, a mask into {.code searchlight(mask)}."),
      "type",
      found = found, call = call
    )
  }
  found <- switch(where$kind,
    all = list(core = list(kind = "all"), n = 1L, names = "whole brain"),
    parcels = parcel_locations(where, p, mask, call),
    spheres = sphere_locations(where, p, mask, call),
    neighbours = neighbour_locations(where, p, call)
  )
  c(list(kind = where$kind, mask = if (where$kind == "spheres") where$mask else mask), found)
}

parcel_locations <- function(where, p, mask, call) {
  parcel <- where$parcel %||% image_parcels(where$image, mask, call)
  check_voxel_number(length(parcel$id), p, "labels", "a label", call)
  order <- order(parcel$id)
  order <- order[parcel$id[order] > 0L]
  sizes <- tabulate(parcel$id, length(parcel$names))
  list(core = list(kind = "lists", start = c(0, cumsum(as.double(sizes))), voxel = order), n = length(parcel$names),
       names = parcel$names, parcel = parcel$id)
}

# Labels of the voxels of the mask.
image_parcels <- function(image, mask, call) {
  if (is.null(mask)) {
    abort(
      c("{.arg X} must carry its mask where {.arg labels} are an image, not be a matrix alone.",
        i = "{.fn brain_matrix} makes such matrices; {.code X[rows, ]} has lost it: set {.code attr(X, \"mask\")}."),
      "argument",
      call = call
    )
  }
  check_same_grid(image, mask, "labels", "X", call)
  as_parcels(as.vector(image_data(image, "labels", call))[mask$index], "labels", call)
}

check_voxel_number <- function(found, p, arg, what, call) {
  if (found == p) return(invisible(found))
  abort(
    c("{.arg {arg}} must have {what} for each of the {p} column{?s} of {.arg X}, not {format_count(found)}.",
      i = "Columns of {.arg X} are voxels, in the order of the mask."),
    "shape",
    expected = p, found = found, call = call
  )
}

sphere_locations <- function(where, p, mask, call) {
  if (!is.null(mask)) check_same_grid(where$mask, mask, "mask", "X", call)
  if (where$mask$n != p || (!is.null(mask) && !identical(as.double(where$mask$index), as.double(mask$index)))) {
    n <- format_count(where$mask$n)
    found <- if (where$mask$n == p) "as many others" else paste(n, "of them")
    abort(
      c("{.arg mask} must have the voxels that are the columns of {.arg X} ({p}), not {found}.",
        i = "Pass the mask that {.arg X} was read with; {.arg centers} says where to put spheres."),
      "shape",
      expected = p, found = where$mask$n, call = call
    )
  }
  centers <- where$centers %||% seq_len(p)
  core <- list(kind = "spheres", dim = as.integer(where$mask$dim), index = as.double(where$mask$index),
               affine = where$mask$affine, radius_mm = where$radius_mm, centers = as.integer(centers))
  list(core = core, n = length(centers), names = NULL, centers = centers)
}

neighbour_locations <- function(where, p, call) {
  largest <- max(where$voxel, 0L)
  if (!is.null(where$n_columns)) check_voxel_number(where$n_columns, p, "neighbours", "a column", call)
  if (largest > p) {
    abort("{.arg neighbours} must hold column numbers of {.arg X}, up to {p}, not {largest}.", "shape",
          expected = p, found = largest, call = call)
  }
  n <- length(where$start) - 1L
  centers <- if (n == p) seq_len(p)
  start <- where$start
  voxel <- where$voxel
  if (!is.null(where$centers)) {
    chosen <- as_centers(where$centers, NULL, n, call)
    sizes <- diff(start)[chosen]
    voxel <- voxel[sequence(sizes, start[chosen] + 1)]
    start <- c(0, cumsum(sizes))
    n <- length(chosen)
    centers <- if (!is.null(centers)) chosen
    where$names <- where$names[chosen]
  }
  list(core = list(kind = "lists", start = as.double(start), voxel = as.integer(voxel)), n = n, names = where$names,
       centers = centers)
}

# The columns of X at location k, increasing; `core`: locations in the form of the core, with the `offsets` of spheres.
location_voxels <- function(core, k, p) {
  switch(core$kind,
    all = seq_len(p),
    lists = core$voxel[seq_len(core$start[k + 1L] - core$start[k]) + core$start[k]],
    spheres = sphere_voxels(core, core$centers[k])
  )
}

# For code in R: which places of the array have a column, and which steps (in voxels) lie within the radius.
with_sphere_offsets <- function(core) {
  if (core$kind != "spheres") return(core)
  A <- core$affine[1:3, 1:3]
  reach <- floor(core$radius_mm * (1 + 5e-7) * sqrt(rowSums(solve(A)^2)))
  steps <- as.matrix(expand.grid(lapply(pmin(reach, core$dim - 1), function(r) -r:r)))
  inside <- rowSums((steps %*% t(A))^2) <= core$radius_mm^2 * (1 + 1e-6)
  core$offsets <- unname(steps[inside, , drop = FALSE])
  core$column <- integer(prod(core$dim))
  core$column[core$index] <- seq_along(core$index)
  core
}

sphere_voxels <- function(core, center) {
  place <- arrayInd(core$index[center], core$dim)
  at <- sweep(core$offsets, 2L, place, "+")
  within <- rowSums(at < 1 | at > rep(core$dim, each = nrow(at))) == 0
  at <- at[within, , drop = FALSE]
  columns <- core$column[at[, 1L] + core$dim[1L] * (at[, 2L] - 1 + core$dim[2L] * (at[, 3L] - 1))]
  sort(columns[columns > 0L])
}

# ---- words and places ------------------------------------------------------------------------

# One name or number per location.
location_labels <- function(fit) fit$locations$names %||% fit$locations$centers %||% seq_len(fit$locations$n)

# A value per location as a value per voxel, NA where there is none; `x`: a vector, or locations x m.
at_voxels <- function(fit, x, call) {
  places <- fit$locations
  p <- fit$dims[["p"]]
  if (places$kind == "all" || (is.null(places$parcel) && is.null(places$centers))) return(NULL)
  x <- as.matrix(x)
  out <- matrix(x[NA_integer_], p, ncol(x), dimnames = list(NULL, colnames(x)))
  if (!is.null(places$parcel)) {
    used <- which(places$parcel > 0L)
    out[used, ] <- x[places$parcel[used], ]
  } else {
    out[places$centers, ] <- x
  }
  if (ncol(out) == 1L) out[, 1L] else t(out)
}
