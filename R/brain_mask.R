#' Brain masks
#'
#' `brain_mask()` says which voxels of an image to work on; `coordinates()` gives their places, `intersect_masks()` the
#' voxels that several masks share.
#'
#' Voxels are counted in R's order of arrays, the first axis fastest, everywhere in this package. That is the order of
#' NIfTI files too, but not that of a boolean index in numpy, where the last axis is fastest.
#'
#' @param x A NIfTI file, a 3-D array (numeric or logical; a 4-D one with a single volume too), a mask, or an image of
#'   the packages RNifti, oro.nifti or neuroim2.
#' @param threshold Number: voxels with a finite value above it are in the mask. The default 0 suits masks of 0 and 1.
#' @param affine NULL (that of `x`), or the 4 x 4 matrix from voxels (counted from 0) to mm, for arrays.
#' @param mask A mask, or what `brain_mask()` makes one of.
#' @param ... Masks, or what `brain_mask()` makes masks of, on the same grid.
#'
#' @returns `brain_mask()` and `intersect_masks()`: a list of class `brain_mask` with `dim` (3 integers), `affine` (4
#'   x 4, or NULL where it is not known), `index` (positions of the voxels in the array, increasing, as of [which()])
#'   and `n` (their number).
#'
#'   `coordinates()`: n x 3 matrix with the columns `x`, `y`, `z`: the centres of the voxels in mm.
#' @section Errors:
#' `voxridge_error_type`, `voxridge_error_shape` (4-D, or no voxel in the mask), `voxridge_error_grid`,
#' `voxridge_error_nifti`, `voxridge_error_argument`. See [voxridge-conditions].
#' @section Invariants:
#' A mask made of a mask is the same. `intersect_masks()` does not depend on the order of its arguments.
#' @seealso [brain_matrix()] and [brain_map()], from images to matrices and back.
#' @examples
#' x <- array(0, c(4, 4, 3))
#' x[2:3, 2:3, ] <- 1
#' mask <- brain_mask(x, affine = diag(c(3, 3, 4, 1)))
#' mask
#' head(coordinates(mask), 3)
#' @export
brain_mask <- function(x, threshold = 0, affine = NULL) {
  call <- rlang::current_env()
  make_mask(x, threshold, as_affine(affine), "x", call)
}

make_mask <- function(x, threshold = 0, affine = NULL, arg = "mask", call = rlang::caller_env()) {
  if (!is_number(threshold)) {
    found <- describe(threshold)
    abort("{.arg threshold} must be a finite number, not {found}.", "argument", found = found, call = call)
  }
  if (inherits(x, "brain_mask")) {
    x <- validate_mask(x, arg, call)
    if (!is.null(affine)) x$affine <- affine
    return(x)
  }
  image <- as_image(x, arg, affine = affine, call = call)
  if (length(image$dim) == 4L && image$dim[4L] != 1) {
    found <- image$dim[4L]
    abort(
      c("{.arg {arg}} must have one volume, not {found}.", i = "Choose one, or average them first."),
      "shape",
      expected = 1L, found = found, call = call
    )
  }
  if (is.null(affine) && !is.null(image$header)) warn_affine(image$header)
  values <- as.vector(image_data(image, arg, call))
  index <- which(is.finite(values) & values > as.vector(threshold))
  if (!length(index)) {
    finite <- values[is.finite(values)]
    largest <- if (length(finite)) paste("Its largest value is", format(max(finite))) else "It has no finite value"
    abort(
      c("{.arg {arg}} must have a voxel with a finite value above the threshold ({threshold}), not none.",
        i = "{largest}."),
      "shape",
      found = 0L, call = call
    )
  }
  new_brain_mask(image$dim[1:3], image$affine, index)
}

new_brain_mask <- function(dim, affine, index) {
  structure(list(dim = as_dim(dim), affine = affine, index = index, n = length(index)), class = "brain_mask")
}

validate_mask <- function(mask, arg = "mask", call = rlang::caller_env()) {
  index <- if (is.list(mask)) mask[["index"]]
  n <- length(index)
  ok <- n > 0L && is.numeric(mask[["dim"]]) && length(mask$dim) == 3L && is.numeric(index) &&
    identical(mask[["n"]], n) && !anyNA(index) && !is.unsorted(index, strictly = TRUE) && index[1L] >= 1 &&
    index[n] <= prod(mask$dim)
  if (isTRUE(ok)) return(mask)
  abort(
    c("{.arg {arg}} must be a mask of {.fn brain_mask}, not a list of that class with other contents.",
      i = "Make it again from its image."),
    "old_object",
    call = call
  )
}

#' @export
print.brain_mask <- function(x, ...) {
  validate_mask(x, "x")
  size <- if (is.null(x$affine)) {
    "no affine"
  } else {
    paste(paste(format_size(sqrt(colSums(x$affine[1:3, 1:3]^2))), collapse = " x "), "mm")
  }
  cat("Brain mask: ", format_count(x$n), " of ", format_count(prod(x$dim)), " voxels (", paste(x$dim, collapse = " x "),
      "; ", size, ")\n", sep = "")
  invisible(x)
}

#' @rdname brain_mask
#' @export
coordinates <- function(mask) {
  call <- rlang::current_env()
  mask <- make_mask(mask)
  if (is.null(mask$affine)) {
    abort(
      c("{.arg mask} must have an affine, not only dimensions.", i = "Give it in {.fn brain_mask}."),
      "argument",
      call = call
    )
  }
  # positions from 0 along each axis
  rest <- mask$index - 1
  i <- rest %% mask$dim[1L]
  rest <- rest %/% mask$dim[1L]
  voxels <- cbind(i, rest %% mask$dim[2L], rest %/% mask$dim[2L], 1)
  out <- voxels %*% t(mask$affine[1:3, ])
  dimnames(out) <- list(NULL, c("x", "y", "z"))
  out
}

#' @rdname brain_mask
#' @export
intersect_masks <- function(...) {
  call <- rlang::current_env()
  images <- list(...)
  if (!length(images)) abort("{.arg ...} must be at least one mask, not none.", "argument")
  masks <- Map(function(x, k) make_mask(x, arg = paste0("..", k), call = call), unname(images), seq_along(images))
  # a mask without an affine can be told by its dimensions only
  known <- which(!vapply(masks, function(mask) is.null(mask$affine), NA))
  at <- if (length(known)) known[1L] else 1L
  first <- masks[[at]]
  for (k in seq_along(masks)) check_same_grid(masks[[k]], first, paste0("..", k), paste0("..", at), call)
  index <- Reduce(intersect, lapply(masks, `[[`, "index"))
  if (!length(index)) {
    abort("{.arg ...} must be masks that share a voxel, not none.", "shape", found = 0L)
  }
  new_brain_mask(first$dim, first$affine, index)
}
