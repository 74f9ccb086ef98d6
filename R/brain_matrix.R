#' From images to matrices and back
#'
#' `brain_matrix()` reads the voxels of a mask as a matrix, volumes x voxels; `brain_map()` puts values over the
#' voxels of a mask back into an image.
#'
#' `brain_matrix()` reads files as a stream: memory beyond the result is a few MB, whatever the size of the image.
#' Files and mask must have the same dimensions, and corners less than 0.01 mm apart; nothing is flipped or resampled.
#' Where one of the two has no affine, as plain arrays do, dimensions decide.
#'
#' @param x For `brain_matrix()`: a NIfTI file with 4 dimensions; several files, whose volumes follow each other in the
#'   order given (3-D files have one each); a 4-D array (a 3-D one is a single volume); or an image of the packages
#'   RNifti, oro.nifti or neuroim2.
#'
#'   For `brain_map()`: a numeric or logical vector with a value per voxel; a matrix of m x voxels; or the result of a
#'   model or solver, see `what`.
#' @param mask A [brain_mask()], or what it makes one of. The default of `brain_map()` is the mask that `x` carries:
#'   results of [brain_matrix()], and models fitted to one as `Y`, do.
#' @param volumes NULL (the default) for all volumes, or whole numbers from 1 to their number, in any order, repeats
#'   allowed. For several files NULL only.
#' @param what The element of a model or solver's result to show, a value or a row of values per target: `"scores"`
#'   (the default for models), `"best_alphas"`, `"coefs"`, `"intercept"`, `"gammas"`, ... Of a fit of
#'   [fit_logistic_ridge()], whose features are voxels, a value or a row per feature: `"coefs"` (the default),
#'   `"center"`, `"scale"`. They are weights of a filter: they say what the decoder uses, not where a signal is. Of a
#'   permutation test `"statistic"` (the default), `"estimate"`, `"p"`, `"p_fwer"`, `"q_fdr"` or `"counts"`; of
#'   [collection_t_test()] `"statistic"` (the default), `"estimate"`, `"p"` or `"q_fdr"`.
#'   Of a bootstrap `"z"` (the default), `"estimate"`, `"mean"`, `"sd"`, `"lower"` or `"upper"`, a volume per feature
#'   or new sample. Of [decode()] at parcels or spheres a metric (the first is the default), `"p"`, `"p_fwer"`,
#'   `"q_fdr"`, `"counts"`, `"null_mean"` or `"pooled"` (a volume per metric where there are several), or `"size"`; of
#'   the whole brain and parcels `"weights"` or `"patterns"`, a volume per class.
#' @param fill A single value for the voxels outside the mask. The default is NA.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns `brain_matrix()`: double matrix, volumes x voxels of the mask, with the attribute `mask`. Values are as in
#'   the image, NaN included.
#'
#'   `brain_map()`: an array, x by y by z for a vector, x by y by z by m for m rows, with the attribute `affine`,
#'   ready for [write_nifti()] and [plot_map()].
#' @section Errors:
#' `voxridge_error_shape` (3-D where several volumes are asked for, a number of values that is not that of the mask),
#' `voxridge_error_grid` (image and mask of other dimensions or place), `voxridge_error_nifti`, `voxridge_error_type`,
#' `voxridge_error_argument`, `voxridge_error_memory`. See [voxridge-conditions].
#' @section Invariants:
#' `brain_map(brain_matrix(x, mask))` is `x` inside the mask. Rows are the volumes in the order asked for. A file and
#' the array read from it give the same matrix.
#' @seealso [brain_mask()], [read_nifti()], [write_nifti()].
#' @examples
#' path <- tempfile(fileext = ".nii.gz")
#' x <- array(rnorm(4 * 4 * 3 * 5), c(4, 4, 3, 5))
#' write_nifti(x, path, affine = diag(c(3, 3, 4, 1)))
#' mask <- brain_mask(array(rep(0:1, 24), c(4, 4, 3)))
#' Y <- brain_matrix(path, mask)
#' dim(Y)
#' dim(brain_map(colMeans(Y), mask))
#' @export
brain_matrix <- function(x, mask, volumes = NULL, progress = interactive()) {
  call <- rlang::current_env()
  if (missing(mask)) {
    abort(
      c("{.arg mask} must be given: which voxels to read.", i = "A file, an array of 0 and 1, or a {.fn brain_mask}."),
      "argument"
    )
  }
  mask <- make_mask(mask)
  progress <- as_flag(progress)
  if (inherits(x, "nifti_header")) x <- validate_header(x)$path
  if (!is.character(x)) return(array_matrix(as_image(x, "x", call = call), mask, volumes, call))
  if (!length(x) || anyNA(x)) abort("{.arg x} must name at least one file, without NA, not {describe(x)}.", "argument")
  if (length(x) > 1L && !is.null(volumes)) {
    abort(
      c("{.arg volumes} must be NULL where {.arg x} names several files, not {describe(volumes)}.",
        i = "Their volumes follow each other; choose rows of the result."),
      "conflict"
    )
  }
  args <- file_arg("x", seq_along(x), length(x))
  headers <- unname(Map(function(path, arg) read_header(path, arg, call), x, args))
  doubtful <- Filter(is_doubtful, headers)
  if (length(doubtful)) warn_affine(doubtful[[1L]])
  Map(function(header, arg) check_same_grid(header, mask, arg, "mask", call), headers, args)
  wanted <- if (length(x) > 1L) {
    lapply(headers, function(header) seq_len(header$n_volumes))
  } else {
    list(as_volumes(volumes, headers[[1L]]$n_volumes))
  }
  check_matrix_memory(sum(lengths(wanted)), mask, call)
  bar <- start_progress(progress, "Reading volumes")
  on.exit(bar$close())
  control <- core_control(NULL, bar$report, call)
  paths <- vapply(headers, `[[`, "", "path")
  run_nifti({
    rows <- core_nifti_rows(paths, lapply(wanted, as.double), as.double(mask$index), control)
    attr(rows, "mask") <- mask  # here, where nothing else holds the matrix: R would copy it later
    rows
  }, paths, "x", call)
}

array_matrix <- function(image, mask, volumes, call) {
  check_same_grid(image, mask, "x", "mask", call)
  n <- if (length(image$dim) == 4L) image$dim[4L] else 1L
  wanted <- as_volumes(volumes, n, call = call)
  check_matrix_memory(length(wanted), mask, call)
  voxels <- prod(mask$dim)
  out <- matrix(NA_real_, length(wanted), mask$n)
  for (row in seq_along(wanted)) out[row, ] <- image$data[(wanted[row] - 1) * voxels + mask$index]
  attr(out, "mask") <- mask
  out
}

check_matrix_memory <- function(n, mask, call) {
  bytes <- stats::setNames(8 * as.double(n) * mask$n, paste0("matrix (", n, " x ", format_count(mask$n), ")"))
  check_result_memory(bytes, "Read fewer {.arg volumes}, or the voxels of a smaller mask.", call)
}

#' @rdname brain_matrix
#' @export
brain_map <- function(x, mask = attr(x, "mask"), what = NULL, fill = NA) {
  call <- rlang::current_env()
  if (length(fill) != 1L || !(is.numeric(fill) || is.logical(fill))) {
    abort("{.arg fill} must be a single number or NA, not {describe(fill)}.", "argument", found = fill)
  }
  if (is.list(x) && !is.data.frame(x)) {
    mask <- mask %||% x[["mask"]]
    # in decoding the voxels are the features
    if (inherits(x, "voxridge_logistic")) mask <- mask %||% attr(x[["data"]][["X"]], "mask")
    x <- result_element(x, what, call)
  } else if (!is.null(what)) {
    abort("{.arg what} must be NULL where {.arg x} is {describe(x)}.", "conflict", found = what)
  }
  if (is.null(mask)) {
    abort(
      c("{.arg mask} must be given: {.arg x} does not carry one.",
        i = "Models carry the mask of a {.arg Y} made by {.fn brain_matrix}; {.code Y[rows, ]} has lost it."),
      "argument"
    )
  }
  mask <- make_mask(mask)
  values <- voxel_values(x, mask, call)
  m <- if (is.matrix(values)) nrow(values) else 1L
  # whole numbers stay integers where the other voxels are 0 or the like
  if (is.integer(values) && isTRUE(fill == round(fill) && abs(fill) < 2^31)) fill <- as.integer(fill)
  out <- array(fill, c(mask$dim, if (is.matrix(values)) m))
  voxels <- prod(mask$dim)
  if (is.matrix(values)) {
    for (row in seq_len(m)) out[(row - 1) * voxels + mask$index] <- values[row, ]
  } else {
    out[mask$index] <- values
  }
  attr(out, "affine") <- mask$affine
  out
}

# Arrays such as the scores of every fold are no maps, and settings are not per target.
result_element <- function(x, what, call) {
  if (inherits(x, "voxridge_decode")) return(decode_element(validate_decode(x, "x", call), what, call))
  logistic <- inherits(x, "voxridge_logistic")
  permuted <- inherits(x, "voxridge_permutation_test")
  resampled <- inherits(x, "voxridge_bootstrap")
  tested <- inherits(x, "voxridge_t_test")
  what <- what %||% if (logistic) "coefs" else if (permuted || tested) "statistic" else if (resampled) "z"
                    else if (inherits(x, "voxridge_fit")) "scores"
  is_map <- vapply(unclass(x), function(element) is.numeric(element) && length(dim(element)) < 3L, NA)
  maps <- setdiff(names(x)[is_map], c("format", "alphas", "dims"))
  if (logistic) maps <- intersect(maps, c("coefs", "center", "scale", "penalty"))
  if (permuted) maps <- intersect(maps, PERMUTATION_MAPS)
  if (resampled) maps <- intersect(maps, BOOTSTRAP_MAPS)
  if (tested) maps <- intersect(maps, T_TEST_MAPS)
  if (rlang::is_string(what) && what %in% maps) {
    return(if (logistic && is.matrix(x[[what]])) t(x[[what]]) else x[[what]])
  }
  found <- if (is.null(what)) "NULL" else describe(what)
  choice <- if (length(maps)) " ({.or {.val {maps}}})"
  abort(
    paste0("{.arg what} must name an element of {.arg x} with a value per ", if (logistic) "feature" else "target",
           choice, ", not {found}."),
    "argument",
    expected = maps, found = what, call = call
  )
}

# A vector, or a matrix with a column per voxel.
voxel_values <- function(x, mask, call) {
  numeric <- (is.numeric(x) || is.logical(x)) && !inherits(x, "integer64") && !is.factor(x)
  if (!numeric || length(dim(x)) > 2L) {
    found <- describe(x)
    abort(
      c("{.arg x} must be a numeric vector with a value per voxel, or a matrix with a column per voxel, not {found}.",
        i = if (length(dim(x)) > 2L) "An array is an image already."),
      "type",
      found = found, call = call
    )
  }
  found <- if (is.matrix(x)) ncol(x) else length(x)
  if (found == mask$n) return(if (is.matrix(x)) x else as.vector(x))
  advice <- if (is.matrix(x) && nrow(x) == mask$n) {
    "Columns are voxels: transpose {.arg x}."
  } else {
    "The values are those of the voxels of one mask, in its order."
  }
  wording <- if (is.matrix(x)) "a column" else "a value"
  abort(
    c(paste0("{.arg x} must have ", wording, " for each of the {mask$n} voxel{?s} of {.arg mask}, not {found}."),
      i = advice),
    "shape",
    expected = mask$n, found = found, call = call
  )
}
