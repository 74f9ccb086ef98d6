#' Write a NIfTI image
#'
#' Writes an array as a NIfTI file, so that a reader sees the old file or the new one, never half of it.
#'
#' The file is written under another name in the same folder and put in the place of `path` when it is complete; after
#' an error or an interrupt nothing is left behind. Equal data give equal bytes. The format is NIfTI-1, or NIfTI-2
#' where a dimension exceeds 32,767 or `like` is NIfTI-2. The sform is always set, the qform too where the affine is a
#' rotation times voxel sizes. Values are stored as they are, without scaling.
#'
#' @param x Numeric or logical array, 3-D or 4-D; a [brain_mask()]; or an image of the packages RNifti, oro.nifti or
#'   neuroim2. To write a vector over the voxels of a mask, make it an array with [brain_map()].
#' @param path The file to write: a string that ends in `.nii` or `.nii.gz`.
#' @param affine 4 x 4 matrix that takes voxels (counted from 0) to mm. The default is that of `x`; needed where
#'   neither `x` nor `like` has one.
#' @param datatype `"auto"` (the default): `float32` for doubles, `int16` for integers in its range, else `int32`,
#'   `uint8` for logical values and masks; integers with NA are stored as doubles are. Or one of `uint8`, `int8`,
#'   `int16`, `uint16`, `int32`, `uint32`, `int64`, `uint64`, `float32`, `float64`. A value that the type cannot hold
#'   (NA, a fraction or a number out of range for integers, a number too large for `float32`) is an error; doubles are
#'   rounded to `float32`.
#' @param like NULL, or an image that supplies what `x` lacks: affine and its code, units, repetition time,
#'   description. A path, a [nifti_header()], a mask or another image, with the same first three dimensions.
#' @param tr NULL (that of `x` or `like`, else 1), or the time between volumes in seconds.
#' @param compress Level of compression for `.nii.gz`, from 1 (fast) to 9 (small).
#' @param overwrite FALSE (the default) refuses to replace an existing file.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns `path`, invisibly.
#' @section Errors:
#' `voxridge_error_argument`, `voxridge_error_type`, `voxridge_error_shape`, `voxridge_error_grid` (other dimensions
#' than `like`), `voxridge_error_nifti` (a value that does not fit, a folder that cannot be written, a full disk). See
#' [voxridge-conditions].
#' @section Invariants:
#' [read_nifti()] gives `x` back, bit for bit for doubles that are float32 numbers and for integers; its affine to the
#' precision of float32. The same `x` gives the same bytes.
#' @source The file formats: nifti1.h and nifti2.h of the NIfTI data format working group.
#' @seealso [read_nifti()], [brain_map()].
#' @examples
#' path <- tempfile(fileext = ".nii")
#' write_nifti(array(1:24, c(2, 3, 4)), path, affine = diag(c(3, 3, 3, 1)))
#' range(read_nifti(path))
#' @export
write_nifti <- function(x, path, affine = attr(x, "affine"), datatype = "auto", like = NULL, tr = NULL, compress = 6,
                        overwrite = FALSE, progress = interactive()) {
  call <- rlang::current_env()
  target <- as_target(path, overwrite, call)
  compress <- as_count(compress, min = 1, max = 9)
  datatype <- as_choice(datatype, c("auto", NIFTI_TYPES))
  tr <- as_positive(tr, null_ok = TRUE)
  progress <- as_flag(progress)
  affine <- as_affine(if (!missing(affine)) affine, call = call)
  image <- as_image(x, "x", affine = affine, call = call)
  if (!is.null(like)) like <- as_image(like, "like", call = call)
  from <- if (is.null(image$affine)) like else if (is.null(affine)) image
  if (!is.null(from$header)) warn_affine(from$header)
  data <- image_data(image, "x", call)
  header <- output_header(data, image, like, tr, datatype, call)
  # NA is a number like others in the memory of integers
  if (!is.double(data) && startsWith(header$datatype, "float") && anyNA(data)) storage.mode(data) <- "double"
  bar <- start_progress(progress, "Writing")
  on.exit(bar$close())
  control <- core_control(NULL, bar$report, call)
  level <- if (endsWith(path, ".gz")) compress else 0L
  run_nifti_write(core_nifti_write(data, target, header, level, control), target, call)
  invisible(path)
}

NIFTI_TYPES <- c("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
LARGEST_NIFTI1_DIM <- 32767
SECONDS_UNIT <- 8L
ALIGNED_SPACE <- 2L

# The path to write to; that of the file itself where `path` is a link, which stays.
as_target <- function(path, overwrite, call) {
  overwrite <- as_flag(overwrite, arg = "overwrite", call = call)
  path <- as_path(path, "path", call)
  if (!grepl("[^/\\\\]\\.nii(\\.gz)?$", path)) {
    found <- describe(basename(path))
    abort("{.arg path} must end in {.file .nii} or {.file .nii.gz}, not be {found}.", "argument",
          found = path, call = call)
  }
  as_new_file(path, overwrite, call)
}

as_new_file <- function(path, overwrite, call, arg = "path") {
  if (!file.exists(path)) {
    to <- Sys.readlink(path)
    if (to %in% c("", NA)) return(path)
    abort("{.arg {arg}} must not be a link to a file that is not there ({.file {to}}).", "argument",
          found = path, call = call)
  }
  if (core_file_states(path, FALSE)$sizes < 0) {
    found <- if (dir.exists(path)) "a folder" else "a pipe or device"
    abort("{.arg {arg}} must be a file, not {found} ({.file {basename(path)}}).", "argument", found = path,
          call = call)
  }
  if (overwrite) return(normalizePath(path))
  abort(
    c("{.arg {arg}} must be a new file, not one that exists ({.file {basename(path)}}).",
      i = if (arg == "path") "{.code overwrite = TRUE} replaces it." else "Choose another name, or remove the file."),
    "argument",
    found = path, call = call
  )
}

output_header <- function(data, image, like, tr, datatype, call) {
  if (!is.null(like)) check_like(image, like, call)
  place <- if (is.null(image$affine)) like else image
  if (is.null(place$affine)) {
    abort(
      c("{.arg affine} must be given: neither {.arg x} nor {.arg like} says where voxels lie.",
        i = "Take that of another image: {.code like = \"that.nii.gz\"}; or {.code affine = diag(c(2, 2, 2, 1))} for
             voxels of 2 mm."),
      "argument",
      call = call
    )
  }
  dim <- dim(data)
  from <- like$header %||% image$header
  large <- any(dim > LARGEST_NIFTI1_DIM) || identical(from$version, 2L)
  list(
    version = if (large) 2L else 1L,
    dim = as.double(dim),
    datatype = if (datatype == "auto") smallest_type(data) else datatype,
    affine = place$affine,
    code = affine_code(place$affine, as.double(dim), list(like$header, image$header)),
    tr = tr %||% image$tr %||% like$tr %||% 1,
    units = as.integer(names(SPACE_UNITS)[SPACE_UNITS == place$space]) + SECONDS_UNIT,
    intent_code = 0L,
    description = from$descrip %||% "voxridge"
  )
}

# What kind of space an affine leads to (the format's codes): as in the first header that has this affine.
affine_code <- function(affine, dim, headers) {
  for (header in headers[lengths(headers) > 0L]) {
    code <- switch(header$affine_source, sform = header$sform_code, qform = header$qform_code, 0L)
    if (code > 0L && core_corner_distance(affine, header$affine, dim) < GRID_TOLERANCE_MM) return(code)
  }
  ALIGNED_SPACE
}

check_like <- function(image, like, call) {
  if (all(image$dim[1:3] == like$dim[1:3])) return(invisible())
  found <- paste(image$dim[1:3], collapse = " x ")
  expected <- paste(like$dim[1:3], collapse = " x ")
  abort("{.arg x} must have the dimensions of {.arg like} ({expected}), not {found}.", "grid",
        expected = like$dim, found = image$dim, call = call)
}

smallest_type <- function(x) {
  if (is.double(x)) return("float32")
  if (anyNA(x)) return(if (is.logical(x) || max(abs(x), 0, na.rm = TRUE) <= 2^24) "float32" else "float64")
  if (is.logical(x)) return("uint8")
  limits <- range(x)
  if (limits[1L] >= -32768 && limits[2L] <= 32767) "int16" else "int32"
}

run_nifti_write <- function(expr, path, call) {
  tryCatch(run_core(expr, call), voxridge_error_file = function(cnd) {
    text <- cnd$message
    first <- if (cnd$where == "datatype") {
      c("{.arg datatype} must hold every value of {.arg x}, but {text}.",
        i = "Use {.code datatype = \"float64\"} or another wider type; {.fn round} makes whole numbers.")
    } else {
      c("{.arg path} must be a file that can be written: {text}.",
        i = "Check the folder, its permissions and its space.")
    }
    abort(first, "nifti", path = path, where = cnd$where, found = cnd$found, call = call)
  })
}
