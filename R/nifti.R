#' Read NIfTI images
#'
#' `read_nifti()` reads an image, or some of its volumes, into an array; `nifti_header()` says what is in a file
#' without reading the data.
#'
#' Files are NIfTI-1 or NIfTI-2, `.nii` or a pair of `.hdr` and `.img` (name either), plain or gzip, in either byte
#' order, with any type of real numbers. Values are `scl_slope * stored + scl_inter` in double; a slope of 0, or one
#' that is not finite, means no scaling. Anything else is refused with the reason, also a file that is cut off or
#' fails its checksum. Data are read as a stream: memory beyond the result is constant.
#'
#' The affine is the sform where its code is positive, else the qform where its code is positive, else voxel sizes
#' alone. A matrix that is singular or not finite is passed over. Where only voxel sizes are left, or sform and qform
#' disagree by more than 0.1 mm at a corner of the image, a warning says so: left and right are then uncertain.
#'
#' To read the voxels of a mask as a matrix, without the whole image in memory, use [brain_matrix()].
#'
#' @param path The file: a string.
#' @param volumes NULL (the default) for all volumes, or whole numbers from 1 to their number, in any order.
#' @param progress TRUE shows a progress bar on the console (stderr); never in scripts, tests and knitr.
#'
#' @returns `read_nifti()`: an array, x by y by z, or x by y by z by volumes as the file has it (with `volumes`, always
#'   the latter); integer where the stored numbers are unscaled and fit R's integers (not `uint32`), else double.
#'   Attributes: `affine` (4 x 4; voxel i, j, k, counted from 0, lies at `affine %*% c(i, j, k, 1)` in mm), `pixdim`
#'   (voxel sizes, and seconds between volumes, as in the file), `pixunits`, `header`.
#'
#'   `nifti_header()`: a list of class `nifti_header` with `path`, `version` (1 or 2), `dim` (3 or 4 values),
#'   `n_volumes`, `pixdim` (8 values), `datatype` (a name such as `"int16"`), `bitpix`, `endian`, `scl_slope`,
#'   `scl_inter`, `vox_offset`, `qform_code`, `sform_code`, `affine` (4 x 4), `affine_source` (`"sform"`, `"qform"` or
#'   `"pixdim"`), `units` (`space` and `time`), `descrip`, `intent_code`, `extensions` (data frame of `code` and
#'   `size`).
#' @section Errors:
#' `voxridge_error_nifti` (what is wrong with the file; the condition has `path`, `where`, the field, and `found`, its
#' value), `voxridge_error_argument`, `voxridge_error_memory`; a warning `voxridge_warning_affine`. See
#' [voxridge-conditions].
#' @section Invariants:
#' What [write_nifti()] wrote comes back bit for bit for the types float32, int16, int32 and uint8. Reading some
#' volumes gives those of reading all.
#' @references
#' Cox, R. W., et al. (2004). A (sort of) new image data format standard: NIfTI-1. 10th Annual Meeting of the
#' Organization for Human Brain Mapping.
#' @source The file formats: nifti1.h and nifti2.h of the NIfTI data format working group.
#' @seealso [brain_matrix()], [brain_mask()], [write_nifti()].
#' @examples
#' path <- tempfile(fileext = ".nii.gz")
#' x <- array(rnorm(4 * 5 * 6 * 3), c(4, 5, 6, 3))
#' write_nifti(x, path, affine = diag(c(-2, 2, 2, 1)), tr = 1.5)
#' nifti_header(path)
#' dim(read_nifti(path, volumes = c(3, 1)))
#' @export
read_nifti <- function(path, volumes = NULL, progress = interactive()) {
  call <- rlang::current_env()
  header <- read_header(path, call = call)
  warn_affine(header)
  wanted <- as_volumes(volumes, header$n_volumes, call = call)
  dim <- c(header$dim[1:3], if (!is.null(volumes)) length(wanted) else header$dim[-(1:3)])
  attributes <- list(dim = dim, affine = header$affine, pixdim = header$pixdim[1L + seq_along(dim)],
                     pixunits = unname(unlist(header$units)), header = header)
  read_values(header, wanted, attributes, "path", progress, call)
}

#' @rdname read_nifti
#' @export
nifti_header <- function(path) read_header(path)

#' @export
print.nifti_header <- function(x, ...) {
  cat("NIfTI-", x$version, " image: ", basename(x$path), "\n", sep = "")
  cat("  dimensions:  ", paste(x$dim, collapse = " x "), "\n", sep = "")
  cat("  voxels:      ", paste(format_size(abs(x$pixdim[2:4])), collapse = " x "), " ", x$units$space, "\n", sep = "")
  if (length(x$dim) == 4L) cat("  repetition:  ", format_size(x$pixdim[5L]), " ", x$units$time, "\n", sep = "")
  cat("  stored as:   ", x$datatype, ", ", x$endian, " endian", sep = "")
  if (is.finite(x$scl_slope) && !x$scl_slope %in% c(0, 1)) cat(", scaled by", format(x$scl_slope, digits = 4L))
  cat("\n  affine:      from ", x$affine_source, "\n", sep = "")
  if (nrow(x$extensions)) cat("  extensions:  ", nrow(x$extensions), "\n", sep = "")
  if (nzchar(x$descrip)) cat("  description: ", x$descrip, "\n", sep = "")
  invisible(x)
}

format_size <- function(x) format(signif(x, 4L), trim = TRUE, drop0trailing = TRUE)

# ---- what the functions that read files share ------------------------------------------------

SPACE_UNITS <- c("1" = "m", "2" = "mm", "3" = "um")
TIME_UNITS <- c("8" = "s", "16" = "ms", "24" = "us", "32" = "Hz", "40" = "ppm", "48" = "rad/s")

read_header <- function(path, arg = "path", call = rlang::caller_env()) {
  path <- as_path(path, arg, call)
  raw <- run_nifti(core_nifti_header(path), path, arg, call)
  units <- raw$units
  text <- raw$description
  header <- list(
    path = path,
    version = raw$version,
    dim = as_dim(raw$dim[seq_len(max(3L, raw$n_dims))]),
    n_volumes = as_dim(raw$dim[4L]),
    pixdim = raw$pixdim,
    datatype = raw$datatype,
    bitpix = raw$bitpix,
    endian = if (raw$big_endian) "big" else "little",
    scl_slope = raw$scale[1L],
    scl_inter = raw$scale[2L],
    vox_offset = raw$offset,
    qform_code = raw$codes[1L],
    sform_code = raw$codes[2L],
    affine = raw$affine$affine,
    affine_source = raw$affine$source,
    units = list(space = unit_name(SPACE_UNITS, bitwAnd(units, 7L)), time = time_unit(units)),
    descrip = if (validUTF8(text)) text else iconv(text, "latin1", "UTF-8"),
    intent_code = raw$intent_code,
    extensions = data.frame(code = raw$extension_codes, size = raw$extension_sizes)
  )
  structure(header, class = "nifti_header", is_integer = raw$is_integer,
            affine_doubt = raw$affine[c("repaired", "disagreement")])
}

validate_header <- function(header, arg = "x", call = rlang::caller_env()) {
  fields <- c("path", "dim", "n_volumes", "pixdim", "affine", "affine_source", "units")
  if (is.list(header) && all(fields %in% names(header)) && is.list(attr(header, "affine_doubt"))) return(header)
  abort(
    c("{.arg {arg}} must be a header of {.fn nifti_header}, not an object of that class with other contents.",
      i = "Read it again from its file."),
    "old_object",
    call = call
  )
}

# The values of the `wanted` volumes, with these attributes (dim among them).
read_values <- function(header, wanted, attributes, arg, progress, call) {
  check_array_memory(attributes$dim, header, call)
  bar <- start_progress(progress, "Reading volumes", call)
  on.exit(bar$close())
  control <- core_control(NULL, bar$report, call)
  run_nifti({
    x <- core_nifti_values(header$path, as.double(wanted), control)
    attributes(x) <- attributes  # here, where nothing else holds x: R would copy it later
    x
  }, header$path, arg, call)
}

unit_name <- function(names, code) {
  name <- unname(names[as.character(code)])
  if (is.na(name)) "unknown" else name
}

# The three bits of xyzt_units for space, the next three for time.
time_unit <- function(units) unit_name(TIME_UNITS, bitwAnd(as.integer(units), 56L))

# Whole numbers as integers where they are small enough.
as_dim <- function(x) if (all(x <= .Machine$integer.max)) as.integer(x) else x

as_path <- function(path, arg = rlang::caller_arg(path), call = rlang::caller_env()) {
  if (rlang::is_string(path) && !is.na(path) && nzchar(path)) return(enc2native(path.expand(path)))
  found <- describe(path)
  abort("{.arg {arg}} must be the path of a file, not {found}.", "argument", found = found, call = call)
}

as_volumes <- function(volumes, n, arg = "volumes", call = rlang::caller_env()) {
  if (is.null(volumes)) return(seq_len(n))
  ok <- is.numeric(volumes) && !is.object(volumes) && length(volumes) && !anyNA(volumes)
  bad <- if (ok) volumes[volumes != round(volumes) | volumes < 1 | volumes > n]
  if (ok && !length(bad)) return(as.double(volumes))
  found <- if (ok) format(bad[1L]) else if (length(volumes)) describe(volumes) else "none"
  abort(
    c("{.arg {arg}} must be NULL or whole numbers from 1 to the number of volumes ({n}), not {found}."),
    "argument",
    expected = c(1, n), found = volumes, call = call
  )
}

# A call into the core that reads files: an error of a file names the argument that it came in by.
run_nifti <- function(expr, path, arg, call) {
  tryCatch(run_core(expr, call), voxridge_error_file = function(cnd) {
    text <- cnd$message
    if (length(path) > 1L) {  # the core begins with the number of the file
      k <- as.integer(sub(": .*", "", text))
      text <- sub("^[0-9]+: ", "", text)
      arg <- file_arg(arg, k, length(path))
      path <- path[k]
    }
    advice <- NIFTI_ADVICE[cnd$where]
    abort(
      c("{.arg {arg}} must be a NIfTI image that can be read: {text}.", i = if (!is.na(advice)) unname(advice)),
      "nifti",
      path = path, where = cnd$where, found = cnd$found, call = call
    )
  })
}

# What to call file k of n of an argument: `x`, or `x[k]`.
file_arg <- function(arg, k, n) if (n == 1L) arg else sprintf("%s[%d]", arg, k)

NIFTI_ADVICE <- c(
  path = "Check the path and its permissions.",
  pair = "Both files of a pair lie in the same folder: {.file name.hdr} and {.file name.img}.",
  gzip = "Copy or download the file again.",
  size = "Copy or download the file again.",
  magic = "Convert it, for example with {.code nib.load(path).to_filename()} of nibabel.",
  sizeof_hdr = "NIfTI files end in {.file .nii}, {.file .nii.gz}, {.file .hdr} or {.file .img}.",
  datatype = "Convert it to real numbers first, for example to float32."
)

is_doubtful <- function(header) {
  doubt <- attr(header, "affine_doubt")
  header$affine_source == "pixdim" || doubt$repaired || doubt$disagreement > LARGEST_DISAGREEMENT_MM
}

LARGEST_DISAGREEMENT_MM <- 0.1

# Says what is uncertain about where the voxels of a file lie.
warn_affine <- function(header) {
  doubt <- attr(header, "affine_doubt")
  name <- basename(header$path)
  if (header$affine_source == "pixdim") {
    warn(
      c("{.file {name}} has neither an sform nor a qform: only the sizes of its voxels are known.",
        i = "Left and right are uncertain. Maps line up with other images of this kind only."),
      "affine",
      path = header$path
    )
  } else if (doubt$disagreement > LARGEST_DISAGREEMENT_MM) {
    apart <- format(signif(doubt$disagreement, 3L))
    warn(
      c("{.file {name}} has an sform and a qform that disagree by up to {apart} mm; the sform is used."),
      "affine",
      path = header$path, found = doubt$disagreement
    )
  }
  if (doubt$repaired) {
    warn(
      "{.file {name}} has voxel sizes that are not positive numbers; absolute values are used, and 1 for 0.",
      "affine",
      path = header$path, found = header$pixdim[2:4]
    )
  }
}

check_array_memory <- function(dim, header, call) {
  bytes <- (if (attr(header, "is_integer")) 4 else 8) * prod(as.double(dim))
  names(bytes) <- paste0("array (", paste(dim, collapse = " x "), ")")
  check_result_memory(bytes, "Read some of the {.arg volumes}, or the voxels of a mask with {.fn brain_matrix}.", call)
}
