# Files of the collections, and whether both sides found the same map.

# `items` NIfTI files of n volumes of noise, gzip, and a mask with t of their voxels (three in four). Written by base R:
# no side made them.
write_case_items <- function(dir, case) {
  side <- round((case$t / 0.74)^(1 / 3))
  dim <- c(side, side, side)
  mask_file <- file.path(dir, "mask.nii.gz")
  if (!file.exists(mask_file)) {
    set.seed(20240606)
    inside <- numeric(prod(dim))
    inside[sample(prod(dim), case$t)] <- 1
    write_image(inside, dim, mask_file)
  }
  for (k in seq_len(case$items)) {
    path <- file.path(dir, sprintf("item-%03d.nii.gz", k))
    if (file.exists(path)) next
    set.seed(20240607 + k)
    write_image(stats::rnorm(prod(dim) * case$n, 100, 10), c(dim, case$n), path)
  }
  dir
}

# float32, little endian, voxels of 2 mm: the fields of nifti1.h that are not 0.
write_image <- function(x, dim, path) {
  header <- raw(352)
  put <- function(header, at, bytes) {
    header[at + seq_along(bytes)] <- bytes
    header
  }
  bytes <- function(x, size) writeBin(x, raw(), size = size, endian = "little")
  sizes <- c(length(dim), dim, rep(1, 7 - length(dim)))
  header <- put(header, 0, bytes(348L, 4))
  header <- put(header, 40, bytes(as.integer(sizes), 2))
  header <- put(header, 70, bytes(c(16L, 32L), 2))
  header <- put(header, 76, bytes(c(1, 2, 2, 2, 1, 1, 1, 1), 4))
  header <- put(header, 108, bytes(c(352, 1, 0), 4))
  header <- put(header, 123, as.raw(10))
  header <- put(header, 254, bytes(1L, 2))
  header <- put(header, 280, bytes(c(2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0), 4))
  header <- put(header, 344, charToRaw("n+1"))
  con <- gzfile(path, "wb", compression = 6)
  on.exit(close(con))
  writeBin(c(header, bytes(x, 4)), con)
}
