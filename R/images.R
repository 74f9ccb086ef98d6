# Images in one form, whatever form they come in: list(dim, data, path, affine, header, tr, space).
#   dim     3 or 4 numbers
#   data    array without a class, NULL for a file
#   path    of a file, else NULL
#   affine  4 x 4, or NULL where nothing says where voxels lie
#   header  of a file, else NULL
#   tr      seconds between volumes, or NULL
#   space   unit of the affine: "mm", "um" or "m"
# Foreign objects are recognised by their shape: RNifti's niftiImage, oro.nifti's nifti, neuroim2's NeuroVol and
# NeuroVec. `affine`: of an array that has none, or instead of its own.
as_image <- function(x, arg = rlang::caller_arg(x), affine = NULL, call = rlang::caller_env()) {
  force(arg)
  image <- if (is.character(x) && is.null(dim(x))) {
    file_image(read_header(x, arg, call))
  } else if (inherits(x, "nifti_header")) {
    file_image(validate_header(x, arg, call))
  } else if (inherits(x, "brain_mask")) {
    mask_image(validate_mask(x, arg, call))
  } else if (isS4(x)) {
    s4_image(x, affine, arg, call)
  } else {
    array_image(x, affine, arg, call)
  }
  if (!is.null(affine)) image[c("affine", "space")] <- list(affine, "mm")
  image
}

new_image <- function(dim, data = NULL, affine = NULL, header = NULL, tr = NULL, space = "mm") {
  list(dim = dim, data = data, path = header$path, affine = affine, header = header, tr = tr, space = space)
}

file_image <- function(header) {
  tr <- if (length(header$dim) == 4L) in_seconds(header$pixdim[5L], header$units$time)
  new_image(header$dim, affine = header$affine, header = header, tr = tr, space = known_space(header$units$space))
}

# Without a unit, as in many files, lengths are mm and times are s.
known_space <- function(unit) if (unit %in% SPACE_UNITS) unit else "mm"

in_seconds <- function(tr, unit) {
  if (!is_number(tr) || tr <= 0) return(NULL)
  switch(unit, ms = tr / 1e3, us = tr / 1e6, s = , unknown = tr)
}

mask_image <- function(mask) new_image(mask$dim, mask_array(mask), mask$affine)

array_image <- function(x, affine, arg, call) {
  dim <- dim(x)
  if (!length(dim) %in% 3:4 || !(is.numeric(x) || is.logical(x)) || inherits(x, "integer64")) {
    refuse_image(x, arg, call)
  }
  if (any(dim < 1L)) {
    found <- paste(dim, collapse = " x ")
    abort("{.arg {arg}} must have at least one voxel, not {found}.", "shape", found = dim, call = call)
  }
  affine <- affine %||% attr(x, "affine") %||% if (inherits(x, "niftiImage")) rnifti_affine(x, arg, call)
  units <- attr(x, "pixunits")
  size <- attr(x, "pixdim")
  unit <- if (length(units) > 1L) units[2L] else "s"
  tr <- if (length(dim) == 4L && length(size) >= 4L) in_seconds(size[4L], unit)
  if (inherits(x, "internalImage")) x <- as.array(x)
  if (is.object(x)) attributes(x) <- list(dim = dim)  # a copy; other attributes do no harm
  new_image(dim, x, if (!is.null(affine)) as_affine(affine, arg, call), tr = tr,
            space = known_space(if (length(units)) units[1L] else ""))
}

refuse_image <- function(x, arg, call) {
  found <- describe(x)
  advice <- if (inherits(x, "voxridge_fit")) {
    "{.code brain_map(fit)} makes an array of the scores of a fit, or of another part of it."
  } else if (is.numeric(x) && length(x) > 1L && length(dim(x)) < 3L) {
    "{.fn brain_map} makes an array of values over the voxels of a mask."
  } else {
    "An image is the path of a NIfTI file, an array with 3 or 4 dimensions, or an object of RNifti, oro.nifti or
     neuroim2."
  }
  abort(c("{.arg {arg}} must be an image, not {found}.", i = advice), "type", found = found, call = call)
}

# ---- objects of other packages ---------------------------------------------------------------

# The affine of an image of RNifti is known to that package alone.
rnifti_affine <- function(x, arg, call) {
  if (requireNamespace("RNifti", quietly = TRUE)) return(matrix(as.double(RNifti::xform(x)), 4L))
  abort(
    c("{.arg {arg}} must come with its affine, which an image of RNifti tells only where that package is installed.",
      i = "Install RNifti, or pass the path of the file."),
    "type",
    call = call
  )
}

s4_image <- function(x, affine, arg, call) {
  slots <- methods::slotNames(x)
  data <- tryCatch(plain_array(x, slots), error = function(cnd) NULL)
  if (!length(dim(data)) %in% 3:4 || !(is.numeric(data) || is.logical(data))) refuse_image(x, arg, call)
  if (all(c("srow_x", "qform_code", "pixdim", "xyzt_units") %in% slots)) {
    image <- new_image(dim(data), data, affine %||% oro_affine(x))
    if (length(image$dim) == 4L) image$tr <- in_seconds(x@pixdim[5L], time_unit(x@xyzt_units))
    return(image)
  }
  if ("space" %in% slots && "trans" %in% methods::slotNames(x@space)) {
    trans <- x@space@trans
    return(new_image(dim(data), data, as_affine(trans[c(1:3, nrow(trans)), c(1:3, ncol(trans))], arg, call)))
  }
  refuse_image(x, arg, call)
}

plain_array <- function(x, slots) {
  data <- if (".Data" %in% slots) x@.Data else as.array(x)
  array(as.vector(data), dim(data) %||% dim(x))
}

# By the rules for files.
oro_affine <- function(x) {
  raw <- core_nifti_affine(
    as.integer(x@sform_code), rbind(x@srow_x, x@srow_y, x@srow_z), as.integer(x@qform_code),
    c(x@quatern_b, x@quatern_c, x@quatern_d, x@qoffset_x, x@qoffset_y, x@qoffset_z), as.double(x@pixdim)
  )
  header <- structure(list(path = "The image of oro.nifti", pixdim = x@pixdim, affine_source = raw$source),
                      affine_doubt = raw[c("repaired", "disagreement")])
  if (is_doubtful(header)) warn_affine(header)
  raw$affine
}

# ---- affines and grids -----------------------------------------------------------------------

# A 4 x 4 matrix that can be inverted; NULL passes.
as_affine <- function(affine, arg = "affine", call = rlang::caller_env()) {
  if (is.null(affine)) return(NULL)
  if (!is.numeric(affine) || !identical(dim(affine), c(4L, 4L)) || !all(is.finite(affine))) {
    is_whole <- is.numeric(affine) && identical(dim(affine), c(4L, 4L))
    found <- if (is_whole) "one with NA, NaN or Inf" else describe(affine)
    abort("{.arg {arg}} must have a finite 4 x 4 affine matrix, not {found}.", "argument", found = affine, call = call)
  }
  affine <- matrix(as.double(affine), 4L)
  sizes <- sqrt(colSums(affine[1:3, 1:3]^2))
  last <- isTRUE(all.equal(affine[4L, ], c(0, 0, 0, 1)))
  if (last && all(sizes > 0) && abs(det(affine[1:3, 1:3])) > 1e-9 * prod(sizes)) return(affine)
  problem <- if (last) "one that is singular" else "one whose last row is not 0, 0, 0, 1"
  abort(
    c("{.arg {arg}} must have an affine matrix from voxels to mm, not {problem}.",
      i = "Columns 1 to 3 are the steps along the axes of the array, column 4 is where the first voxel lies."),
    "argument",
    found = affine, call = call
  )
}

GRID_TOLERANCE_MM <- 0.01

# Do both have the same voxels in the same places? Where one has no affine, dimensions decide.
check_same_grid <- function(a, b, arg_a, arg_b, call) {
  dim_a <- a$dim[1:3]
  dim_b <- b$dim[1:3]
  same_dim <- all(dim_a == dim_b)
  known <- !is.null(a$affine) && !is.null(b$affine)
  distance <- if (same_dim && known) core_corner_distance(a$affine, b$affine, as.double(dim_a)) else 0
  if (same_dim && distance < GRID_TOLERANCE_MM) return(invisible(a))
  first <- paste(dim_a, collapse = " x ")
  second <- paste(dim_b, collapse = " x ")
  apart <- format(signif(distance, 3L))
  message <- if (same_dim) {
    "{.arg {arg_a}} must lie where {.arg {arg_b}} does ({second} voxels), not up to {apart} mm away."
  } else {
    "{.arg {arg_a}} must have the voxels of {.arg {arg_b}} ({second}), not {first}."
  }
  advice <- if (known && same_axes(a, b)) {
    "They differ in the direction or order of their axes only. Nothing is flipped silently: reorient one of them."
  } else {
    "Resample one to the grid of the other, for example with {.code nilearn.image.resample_to_img()}."
  }
  abort(c(message, i = advice), "grid", expected = dim_b, found = dim_a, distance_mm = distance, call = call)
}

# Equal but for the direction and order of axes: the same numbers of voxels and the same corners, in another order.
same_axes <- function(a, b) {
  if (!all(sort(a$dim[1:3]) == sort(b$dim[1:3]))) return(FALSE)
  corners <- function(x) {
    ends <- as.matrix(expand.grid(lapply(x$dim[1:3], function(n) c(0, n - 1))))
    x$affine[1:3, ] %*% rbind(t(ends), 1)
  }
  of_b <- corners(b)
  nearest <- apply(corners(a), 2L, function(corner) sqrt(min(colSums((of_b - corner)^2))))
  all(nearest < GRID_TOLERANCE_MM)
}

# The values of an image as a plain array.
image_data <- function(image, arg, call) {
  if (!is.null(image$data)) return(image$data)
  read_values(image$header, seq_len(image$header$n_volumes), list(dim = image$dim), arg, FALSE, call)
}
