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
