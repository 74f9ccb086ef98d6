test_that("images become a store, a range of voxels at a time", {
  set.seed(1)
  x <- array(rnorm(6 * 5 * 4 * 9), c(6, 5, 4, 9))
  image <- withr::local_tempfile(fileext = ".nii.gz")
  write_nifti(x, image, affine = diag(4), datatype = "float64")
  mask <- brain_mask(array(rep(c(0, 1, 1), 40), c(6, 5, 4)))
  store <- target_store(image, withr::local_tempfile(), mask = mask, type = "float64")
  Y <- brain_matrix(image, mask)
  expect_identical(store[, ], matrix(Y, nrow(Y)))
  expect_identical(store$mask$index, mask$index)
  expect_identical(target_store(store$path)$mask, store$mask)
  # a budget of one stripe: many passes, the same file
  big <- matrix(rnorm(10 * 2000), 10)
  a <- target_store(big, withr::local_tempfile())
  b <- withr::with_options(list(voxridge.memory_gb = 1e-4), target_store(big, withr::local_tempfile()))
  expect_identical(tools::md5sum(a$path)[[1]], tools::md5sum(b$path)[[1]])
  expect_identical(a$checksums, b$checksums)
})

# A .npy file of version 1.
write_npy <- function(path, descr, fortran, shape, bytes) {
  header <- sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, if (fortran) "True" else "False",
                    paste(shape, collapse = ", "))
  header <- paste0(header, strrep(" ", (64 - (nchar(header) + 11) %% 64) %% 64), "\n")
  con <- file(path, "wb")
  on.exit(close(con))
  writeBin(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0, nchar(header) %% 256, nchar(header) %/% 256)), con)
  writeBin(charToRaw(header), con)
  writeBin(bytes, con)
}

test_that(".npy files with contiguous columns are used where they are", {
  set.seed(2)
  Y <- matrix(rnorm(7 * 600), 7)
  Y[2, 5] <- NaN
  path <- withr::local_tempfile(fileext = ".npy")
  raw8 <- writeBin(as.vector(Y), raw(), endian = "little")
  write_npy(path, "<f8", TRUE, c(7, 600), raw8)
  store <- target_store(path)
  expect_identical(store[, ], Y)
  expect_identical(store$nonfinite, 5L)
  expect_length(store$checksums, 2L)
  write_npy(path, "<f8", FALSE, c(600, 7), raw8)
  expect_identical(target_store(path)[, ], Y)
  write_npy(path, "<f4", TRUE, c(7, 600), writeBin(as.vector(Y), raw(), size = 4, endian = "little"))
  expect_equal(target_store(path)[, ], Y, tolerance = 1e-7)
  write_npy(path, ">f8", TRUE, c(7, 600), raw8)
  expect_kind(target_store(path), "store_unsupported", "x")
  write_npy(path, "<f8", TRUE, c(7, 6, 100), raw8)
  expect_kind(target_store(path), "store_unsupported", "x")
  write_npy(path, "<f8", TRUE, c(7, 601), raw8)
  expect_kind(target_store(path), "store_truncated")
  writeBin(raw8, path)
  expect_kind(target_store(path), "store_unsupported", "x")
})

test_that("matrices of bigmemory are used where they are", {
  skip_if_not_installed("bigmemory")
  folder <- withr::local_tempdir()
  Y <- matrix(as.double(1:60), 5)
  big <- bigmemory::filebacked.big.matrix(5, 12, type = "double", backingfile = "Y.bin", descriptorfile = "Y.desc",
                                          backingpath = folder)
  big[, ] <- Y
  bigmemory::flush(big)
  expect_identical(target_store(big)[, ], Y)
  part <- bigmemory::sub.big.matrix(big, firstRow = 2, lastRow = 4, firstCol = 3)
  expect_identical(target_store(part)[, ], Y[2:4, 3:12])
  whole <- bigmemory::filebacked.big.matrix(5, 2, type = "short", backingfile = "s.bin",
                                            descriptorfile = "s.desc", backingpath = folder)
  expect_kind(target_store(whole), "store_unsupported", "x")
  expect_kind(target_store(bigmemory::as.big.matrix(Y)), "store_unsupported", "x")
})

test_that("the backing file of a matrix of bigstatsr is used where it is", {
  Y <- matrix(as.double(1:60), 5)
  path <- withr::local_tempfile()
  writeBin(as.vector(Y), path)
  # the fields of the package's reference class that are read
  fbm <- function(type) {
    structure(list(type = type, backingfile = path, nrow = 5L, ncol = 12L), class = "FBM")
  }
  expect_identical(target_store(fbm(c(double = 8L)))[, ], Y)
  expect_kind(target_store(fbm(c(`unsigned char` = 1L))), "store_unsupported", "x")
})

test_that("a description that is damaged or of another version is refused", {
  Y <- matrix(rnorm(20), 4)
  path <- withr::local_tempfile()
  store <- target_store(Y, path)
  about <- paste0(path, ".dcf")
  lines <- readLines(about)
  for (change in list(c("Version: 1", "Version: 2"), c("Rows: 4", "Rows: four"), c("Type: float32", "Type: float16"),
                      c("^Checksums: .*", "Checksums: "), c("ByteOrder: little", "ByteOrder: big"))) {
    writeLines(sub(change[1], change[2], lines), about)
    expect_kind(target_store(path), "store_format")
  }
  writeLines("nonsense", about)
  expect_kind(target_store(path), "store_format")
  unlink(about)
  expect_kind(target_store(path), "store_format", "x")
})

test_that("names that need quoting in no language come back", {
  Y <- matrix(rnorm(8), 2, dimnames = list(NULL, c("a b", "", "\u00fc", "d\"e")))
  path <- withr::local_tempfile()
  target_store(Y, path)
  expect_identical(colnames(target_store(path)), colnames(Y))
  # also where the locale has no such letters
  withr::local_locale(LC_CTYPE = "C")
  target_store(Y, path, overwrite = TRUE)
  expect_identical(enc2utf8(colnames(target_store(path))), enc2utf8(colnames(Y)))
  expect_kind(target_store(matrix(1, 2, 1, dimnames = list(NULL, "a\nb")), tempfile()), "argument", "x")
})
