# Where to decode: specifications made by whole_brain(), roi() and searchlight(), and the locations that they name in
# data at hand.

#' Where to decode
#'
#' `whole_brain()` takes all voxels at once, `roi()` the voxels of each parcel, `searchlight()` the voxels around each
#' voxel; they are the argument `where` of [decode()].
#'
#' A voxel is in the sphere around another where their centres are at most `radius_mm` apart (relative tolerance 5e-7,
#' so that a voxel at exactly 10 mm belongs to a sphere of 10 mm), by the affine of the mask: grids may be anisotropic
#' and oblique. Spheres are made one by one while decoding and never stored.
#'
#' @param labels The parcel of each voxel: a vector (whole numbers, strings, factor, logical) with an element per column
#'   of `X`, or a label image (a NIfTI file, a 3-D array, or an image of RNifti, oro.nifti or neuroim2) on the grid of
#'   the mask that `X` carries. 0, FALSE, the empty string and NA: in no parcel. Parcels come in the order of factor
#'   levels, or of the sorted labels.
#' @param min_voxels Whole number: locations with fewer usable voxels (neither constant nor NA, NaN or Inf anywhere) are
#'   reported as failures, reason `"too_small"`. The default is 2.
#' @param mask A [brain_mask()] with an affine, or what it makes one of: its voxels are the columns of `X`. It may be
#'   left out where `neighbours` are given.
#' @param radius_mm Number greater than 0, in mm: radius of the spheres. The default is 10.
#' @param centers NULL (the default): a sphere around every voxel; or which voxels to take as centres: column numbers of
#'   `X`, a logical value per column, or a mask on the same grid, of whose voxels those in `mask` count. With
#'   `neighbours`: which of these.
#' @param neighbours NULL (the default), or the locations themselves, for surfaces or other shapes: a list of vectors of
#'   column numbers; a sparse matrix of the package Matrix with a row per location and a column per column of `X`, whose
#'   nonzero elements count; or a list of `ptr` (0, then the cumulative number of neighbours) and `index` (column
#'   numbers from 1, location after location).
#'
#' @returns A list of class `voxridge_where`, for [decode()].
#' @section Errors:
#' `voxridge_error_argument` (a radius that reaches no other voxel, centres or neighbours out of range),
#' `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_grid` (a mask without an affine; in [decode()]: a
#' label image on another grid), `voxridge_error_conflict` (`mask` or `radius_mm` with `neighbours`). See
#' [voxridge-conditions].
#' @section Invariants:
#' A searchlight whose spheres hold all voxels is `whole_brain()` at every voxel. Spheres as `neighbours` give what
#' `radius_mm` gives. The order of centres does not change their results.
#' @references
#' Kriegeskorte, N., Goebel, R., Bandettini, P. (2006). Information-based functional brain mapping. PNAS 103,
#' 3863-3868. \doi{10.1073/pnas.0600244103}
#' @seealso [decode()]
#' @examples
#' whole_brain()
#' roi(c("V1", "V1", "", "IT", "IT"))
#' mask <- brain_mask(array(1, c(5, 5, 3)), affine = diag(c(3, 3, 4, 1)))
#' searchlight(mask, radius_mm = 6)
#' searchlight(neighbours = list(1:3, 2:5))
#' @export
whole_brain <- function() new_where(list(kind = "all", min_voxels = 1L))

#' @rdname whole_brain
#' @export
roi <- function(labels, min_voxels = 2) {
  call <- rlang::current_env()
  min_voxels <- as_count(min_voxels)
  if (missing(labels)) {
    abort(c("{.arg labels} must be given: the parcel of each voxel.", i = "{.fn whole_brain} takes all voxels."),
          "argument")
  }
  is_image <- isS4(labels) || length(dim(labels)) > 2L || inherits(labels, c("nifti_header", "brain_mask")) ||
    (rlang::is_string(labels) && grepl("\\.(nii|img|hdr)(\\.gz)?$", labels))
  if (is_image) return(new_where(list(kind = "parcels", image = label_image(labels, call), min_voxels = min_voxels)))
  new_where(list(kind = "parcels", parcel = as_parcels(labels, "labels", call), min_voxels = min_voxels))
}

#' @rdname whole_brain
#' @export
searchlight <- function(mask, radius_mm = 10, min_voxels = 2, centers = NULL, neighbours = NULL) {
  call <- rlang::current_env()
  min_voxels <- as_count(min_voxels)
  if (!is.null(neighbours)) {
    given <- c(mask = !missing(mask), radius_mm = !missing(radius_mm))
    if (any(given)) {
      arg <- names(given)[given][1L]
      abort("{.arg {arg}} must be left out where {.arg neighbours} say which voxels belong together.", "conflict")
    }
    lists <- as_neighbours(neighbours, call)
    return(new_where(c(list(kind = "neighbours", min_voxels = min_voxels, centers = centers), lists)))
  }
  if (missing(mask)) {
    abort(
      c("{.arg mask} must be given: the mask whose voxels are the columns of {.arg X}.",
        i = "A file, an array of 0 and 1 with an {.arg affine}, or a {.fn brain_mask}; or give {.arg neighbours}."),
      "argument"
    )
  }
  mask <- make_mask(mask)
  radius_mm <- as_positive(radius_mm)
  if (is.null(mask$affine)) {
    abort(
      c("{.arg mask} must have an affine, which says how many mm apart voxels are, not only dimensions.",
        i = "Give it in {.fn brain_mask}."),
      "grid"
    )
  }
  check_radius(radius_mm, mask, min_voxels, call)
  centers <- if (!is.null(centers)) as_centers(centers, mask, mask$n, call)
  new_where(list(kind = "spheres", mask = mask, radius_mm = radius_mm, min_voxels = min_voxels, centers = centers))
}

new_where <- function(fields) structure(fields, class = "voxridge_where")

#' @export
print.voxridge_where <- function(x, ...) {
  rlang::check_dots_empty()
  cat(where_words(x), "\n", sep = "")
  invisible(x)
}

where_words <- function(where) {
  least <- if (where$min_voxels > 1L) paste0(", of at least ", count_label(where$min_voxels, "voxel"))
  switch(where$kind,
    all = "Whole brain: all voxels at once",
    parcels = if (is.null(where$image)) {
      paste0("Parcels: ", length(where$parcel$names), " of ", count_label(sum(where$parcel$id > 0L), "voxel"), least)
    } else {
      paste0("Parcels of a label image, ", paste(where$image$dim[1:3], collapse = " x "), least)
    },
    spheres = paste0("Searchlight: spheres of ", format_numbers(where$radius_mm), " mm around ",
                     count_label(length(where$centers %||% where$mask$index), "voxel"), least),
    neighbours = paste0("Searchlight: ", count_label(length(where$centers %||% where$start) - is.null(where$centers),
                                                     "list"), " of neighbours", least)
  )
}

# ---- parcels ---------------------------------------------------------------------------------

label_image <- function(labels, call) {
  image <- as_image(labels, "labels", call = call)
  if (length(image$dim) == 4L && image$dim[4L] != 1) {
    found <- image$dim[4L]
    abort("{.arg labels} must have one volume, not {found}.", "shape", expected = 1L, found = found, call = call)
  }
  image
}

# list(id, names): the number of each voxel's parcel, 0 for none.
as_parcels <- function(labels, arg, call) {
  known <- is.factor(labels) || is.character(labels) || is.logical(labels) || (is.numeric(labels) && !is.object(labels))
  if (!known || length(dim(labels)) > 1L || !length(labels)) {
    found <- if (length(labels)) describe(labels) else "an empty vector"
    abort(
      c("{.arg {arg}} must be a vector with a label per voxel or a label image, not {found}.",
        i = "Labels are whole numbers, strings or a factor; 0, \"\" and NA are in no parcel."),
      "type",
      found = found, call = call
    )
  }
  if (is.numeric(labels)) {
    bad <- which(!is.na(labels) & labels != round(labels) | is.infinite(labels))
    if (length(bad)) {
      found <- format(labels[bad[1L]])
      abort(
        c("{.arg {arg}} must be whole numbers, not {found} (voxel {bad[1]}).",
          i = "A probability per voxel is not a label: take the likeliest parcel of each voxel."),
        "argument",
        found = labels[bad], where = bad, call = call
      )
    }
    labels[labels == 0] <- NA
  }
  if (is.logical(labels)) labels[!labels] <- NA
  if (is.factor(labels)) labels <- droplevels(labels)
  values <- if (is.factor(labels)) levels(labels) else sort(unique(as.vector(labels)), method = "radix")
  values <- values[as.character(values) != "" & !is.na(values)]
  if (!length(values)) {
    abort("{.arg {arg}} must have a voxel in a parcel, not only 0 or NA.", "shape", found = 0L, call = call)
  }
  id <- match(as.vector(labels), values, nomatch = 0L)
  names <- if (is.numeric(values)) format(values, trim = TRUE, scientific = FALSE) else as.character(values)
  list(id = id, names = names)
}

# ---- spheres and lists -----------------------------------------------------------------------

# The distances to the 26 neighbours of a voxel, the smallest of which decides whether spheres have a second one.
check_radius <- function(radius_mm, mask, min_voxels, call) {
  steps <- as.matrix(expand.grid(-1:1, -1:1, -1:1))[-14L, ]
  edges <- sqrt(colSums(mask$affine[1:3, 1:3]^2))
  nearest <- sqrt(min(rowSums((steps %*% t(mask$affine[1:3, 1:3]))^2)))
  reaches <- radius_mm * (1 + 5e-7) >= nearest
  if (reaches || (min_voxels < 2L && radius_mm >= min(edges) / 2)) return(invisible(radius_mm))
  sizes <- paste(format_numbers(edges), collapse = " x ")
  abort(
    c("{.arg radius_mm} must reach a neighbouring voxel, {format_numbers(nearest)} mm away, not be
       {format_numbers(radius_mm)} mm: every sphere would be a single voxel.",
      i = "Voxels are {sizes} mm. The unit is mm, not voxels; {.val {10}} is usual for voxels of 3 mm."),
    "argument",
    expected = nearest, found = radius_mm, call = call
  )
}

# Increasing order is not needed: results come in the order asked for.
as_centers <- function(centers, mask, n, call) {
  is_mask <- inherits(centers, c("brain_mask", "nifti_header")) || length(dim(centers)) > 2L || is.character(centers) ||
    isS4(centers)
  if (is_mask && !is.null(mask)) {
    other <- make_mask(centers, arg = "centers", call = call)
    check_same_grid(other, mask, "centers", "mask", call)
    centers <- which(mask$index %in% other$index)
    if (length(centers)) return(centers)
    abort("{.arg centers} must share a voxel with {.arg mask}, not none.", "shape", found = 0L, call = call)
  }
  as_row_numbers(centers, n, "centers", if (is.null(mask)) "neighbours" else "voxels", call)
}

as_row_numbers <- function(x, n, arg, what, call) {
  rows <- if (is.logical(x) && length(x) == n && !anyNA(x)) which(x) else if (is.numeric(x) && !is.object(x)) x
  ok <- length(rows) && all(rows %in% seq_len(n))
  if (ok && !anyDuplicated(rows)) return(as.integer(rows))
  bad <- if (is.numeric(rows)) rows[!rows %in% seq_len(n) | duplicated(rows)]
  found <- if (length(bad)) paste(if (bad[1L] %in% seq_len(n)) "a second", format(bad[1L])) else describe(x)
  abort(
    "{.arg {arg}} must be different numbers of {what}, from 1 to {n}, or a logical value for each, not {found}.",
    "argument",
    expected = c(1L, n), found = x, call = call
  )
}

# list(start, voxel, names): offsets from 0 and column numbers from 1.
as_neighbours <- function(neighbours, call) {
  if (isS4(neighbours)) return(sparse_neighbours(neighbours, call))
  if (is.list(neighbours) && setequal(names(neighbours), c("ptr", "index"))) return(csr_neighbours(neighbours, call))
  if (!is.list(neighbours) || is.data.frame(neighbours) || !length(neighbours)) refuse_neighbours(neighbours, call)
  numeric <- vapply(neighbours, function(x) is.numeric(x) && !is.object(x), NA) | lengths(neighbours) == 0L
  if (!all(numeric)) refuse_neighbours(neighbours[[which(!numeric)[1L]]], call, which(!numeric)[1L])
  finish_neighbours(c(0, cumsum(lengths(neighbours))), as.double(unlist(neighbours)), names(neighbours), call)
}

refuse_neighbours <- function(x, call, element = NULL) {
  found <- describe(x)
  place <- if (!is.null(element)) " (element {element})"
  abort(
    c(paste0("{.arg neighbours} must be a list of column numbers per location, a sparse matrix, or a list of ",
             "{.field ptr} and {.field index}, not {found}", place, "."),
      i = "Numbers are columns of {.arg X}, from 1."),
    "type",
    found = found, where = element, call = call
  )
}

sparse_neighbours <- function(x, call) {
  if (!inherits(x, "sparseMatrix")) refuse_neighbours(x, call)
  rlang::check_installed("Matrix", "for sparse neighbours", call = call)
  x <- methods::as(methods::as(x, "generalMatrix"), "TsparseMatrix")
  rows <- x@i
  columns <- x@j + 1L
  if (methods::.hasSlot(x, "x")) {
    used <- is.na(x@x) | x@x != 0
    rows <- rows[used]
    columns <- columns[used]
  }
  order <- order(rows, columns)
  twice <- duplicated(cbind(rows, columns)[order, , drop = FALSE])  # triplets may repeat a place
  order <- order[!twice]
  counts <- tabulate(rows[order] + 1L, nrow(x))
  out <- finish_neighbours(c(0, cumsum(counts)), columns[order], rownames(x), call)
  out$n_columns <- ncol(x)
  out
}

csr_neighbours <- function(x, call) {
  ptr <- x$ptr
  whole <- is.numeric(ptr) && length(ptr) > 1L && all(is.finite(ptr)) && all(ptr == round(ptr)) && ptr[1L] == 0 &&
    !is.unsorted(ptr) && ptr[length(ptr)] == length(x$index)
  if (!whole || !is.numeric(x$index)) {
    abort(
      c("{.code neighbours$ptr} must rise from 0 to the length of {.code neighbours$index} ({length(x$index)}), not be
         {describe(ptr)} of other values.",
        i = "Location k has the elements {.code ptr[k] + 1} to {.code ptr[k + 1]} of {.code index}."),
      "argument",
      expected = length(x$index), found = ptr, call = call
    )
  }
  finish_neighbours(as.double(ptr), x$index, NULL, call)
}

finish_neighbours <- function(start, voxel, names, call) {
  bad <- which(!is.finite(voxel) | voxel != round(voxel) | voxel < 1 | voxel > .Machine$integer.max)
  location <- rep(seq_len(length(start) - 1L), diff(start))
  if (!length(bad)) bad <- which(duplicated(data.frame(location, voxel)))
  if (length(bad)) {
    found <- format(voxel[bad[1L]])
    at <- location[bad[1L]]
    abort(
      c("{.arg neighbours} must hold column numbers of {.arg X} from 1, each once in a location, not {found} in location
         {at}.", i = "R counts from 1."),
      "argument",
      found = voxel[bad], where = at, call = call
    )
  }
  list(start = as.double(start), voxel = as.integer(voxel), names = names)
}
