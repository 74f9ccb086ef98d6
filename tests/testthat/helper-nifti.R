# A NIfTI-1 image (.nii or .nii.gz, little endian) as an array, in base R: header of 348 bytes, then the voxels.
read_nifti_array <- function(path) {
  con <- gzfile(path, "rb")
  on.exit(close(con))
  header <- readBin(con, "raw", 348L)
  field <- function(offset, what, n, size) {
    readBin(header[offset + seq_len(n * size)], what, n, size, endian = "little")
  }
  stopifnot(field(0L, "integer", 1L, 4L) == 348L)
  dims <- field(40L, "integer", 8L, 2L)
  dims <- dims[1L + seq_len(dims[1L])]
  type <- as.character(field(70L, "integer", 1L, 2L))
  readBin(con, "raw", field(108L, "double", 1L, 4L) - 348L)
  size <- c("2" = 1L, "4" = 2L, "8" = 4L, "16" = 4L, "64" = 8L)[[type]]
  what <- if (type %in% c("16", "64")) "double" else "integer"
  values <- readBin(con, what, prod(dims), size, signed = type != "2", endian = "little")
  slope <- field(112L, "double", 1L, 4L)
  if (slope == 0) slope <- 1
  array(values * slope + field(116L, "double", 1L, 4L), dims)
}

# The bytes of a NIfTI image, little endian: the header field by field, as nifti1.h and nifti2.h list them, 4 bytes that
# say "no extensions", then `data`, raw or numbers that are stored in the type.
NIFTI_FIELDS <- list(
  # name = offset and kind in version 1, the same in version 2
  dim = list(40L, "int16", 16L, "int64"), intent_code = list(68L, "int16", 504L, "int32"),
  datatype = list(70L, "int16", 12L, "int16"), bitpix = list(72L, "int16", 14L, "int16"),
  pixdim = list(76L, "float32", 104L, "float64"), vox_offset = list(108L, "float32", 168L, "int64"),
  scl_slope = list(112L, "float32", 176L, "float64"), scl_inter = list(116L, "float32", 184L, "float64"),
  xyzt_units = list(123L, "uint8", 500L, "int32"), qform_code = list(252L, "int16", 344L, "int32"),
  sform_code = list(254L, "int16", 348L, "int32"), quatern = list(256L, "float32", 352L, "float64"),
  qoffset = list(268L, "float32", 376L, "float64"), srow = list(280L, "float32", 400L, "float64"),
  magic = list(344L, "text", 4L, "text")
)
NIFTI_CODES <- c(uint8 = 2L, int16 = 4L, int32 = 8L, float32 = 16L, float64 = 64L, int8 = 256L, uint16 = 512L,
                 uint32 = 768L, int64 = 1024L, uint64 = 1280L)
NIFTI_BYTES <- c(uint8 = 1L, int16 = 2L, int32 = 4L, float32 = 4L, float64 = 8L, int8 = 1L, uint16 = 2L, uint32 = 4L,
                 int64 = 8L, uint64 = 8L)

as_bytes <- function(x, type) {
  if (is.raw(x)) return(x)
  if (type == "text") return(if (is.character(x)) c(charToRaw(x), as.raw(0)) else as.raw(x))
  if (type %in% c("int64", "uint64")) return(unlist(lapply(x, whole_bytes)))
  if (type == "uint32") return(unlist(lapply(x, function(one) whole_bytes(one)[1:4])))
  x <- if (startsWith(type, "float")) as.double(x) else as.integer(x)
  writeBin(x, raw(), NIFTI_BYTES[[type]], endian = "little")
}

# A whole number below 2^53 in size, as 8 bytes (two's complement).
whole_bytes <- function(x) {
  negative <- x < 0
  if (negative) x <- -x - 1
  bytes <- integer(8L)
  for (i in 1:8) {
    bytes[i] <- x %% 256
    x <- x %/% 256
  }
  as.raw(if (negative) 255L - bytes else bytes)
}

nifti_bytes <- function(data = 1:24, dim = c(2, 3, 4), type = "int16", fields = list(), version = 1L) {
  size <- if (version == 1L) 348L else 540L
  header <- c(writeBin(size, raw(), endian = "little"), raw(size - 4L))
  pixdim <- c(1, 2, 2, 2, 1, 1, 1, 1)
  default <- list(
    dim = c(length(dim), dim, rep(1, 7L - length(dim))), datatype = NIFTI_CODES[[type]],
    bitpix = 8L * NIFTI_BYTES[[type]], pixdim = pixdim, vox_offset = size + 4L, scl_slope = 1, xyzt_units = 10L,
    sform_code = 1L, srow = t(diag(c(2, 2, 2, 1))[1:3, ]),
    magic = if (version == 1L) "n+1" else c(charToRaw("n+2"), as.raw(c(0, 13, 10, 26, 10)))
  )
  fields <- utils::modifyList(default, fields)
  for (name in names(fields)) {
    at <- NIFTI_FIELDS[[name]][if (version == 1L) 1:2 else 3:4]
    bytes <- as_bytes(fields[[name]], at[[2L]])
    header[at[[1L]] + seq_along(bytes)] <- bytes
  }
  c(header, raw(4L), as_bytes(data, type))
}

# Writes such a file, in a folder that goes with the test, and returns its path.
make_nifti <- function(..., name = "image.nii", .local_envir = parent.frame()) {
  path <- file.path(withr::local_tempdir(.local_envir = .local_envir), name)
  bytes <- nifti_bytes(...)
  if (endsWith(name, ".gz")) write_gz(bytes, path) else writeBin(bytes, path)
  path
}

write_gz <- function(bytes, path) {
  con <- gzfile(path, "wb")
  on.exit(close(con))
  writeBin(bytes, con)
}

read_bytes <- function(path) readBin(path, "raw", file.size(path))

# No doubt about the affine is what most tests do not care for.
muffle_affine <- function(expr) {
  withCallingHandlers(expr, voxridge_warning_affine = function(w) invokeRestart("muffleWarning"))
}

# A refused file: class, argument, and fields of the condition.
expect_refused_file <- function(expr, pattern = NULL, where = NULL, arg = "path") {
  cnd <- expect_refused(expr, arg, pattern)
  testthat::expect_s3_class(cnd, "voxridge_error_nifti")
  testthat::expect_true(is.character(cnd$path) && length(cnd$path) == 1L)
  if (!is.null(where)) testthat::expect_identical(cnd$where, where)
  testthat::expect_true(is.character(cnd$found))
  invisible(cnd)
}
