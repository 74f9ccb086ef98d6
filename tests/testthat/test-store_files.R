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
  # a single row or column is contiguous in both orders: NumPy saves it in C order
  for (shape in list(c(600, 1), c(1, 600))) {
    write_npy(path, "<f8", FALSE, shape, raw8[1:4800])
    expect_identical(target_store(path)[, ], matrix(Y[1:600], ncol = 1))
  }
  # shapes that are none
  for (shape in list(c("-7", "600"), c("7.5", "600"), c("7", "inf"), c("7", "x"), c("0", "600"),
                     c("99999999999", "600"), c("9e99", "600"), c("7", strrep("9", 40)))) {
    write_npy(path, "<f8", TRUE, shape, raw8)
    expect_kind(target_store(path), "store_unsupported", "x")
  }
  write_npy(path, "<f8", TRUE, c(7, 600), raw8)
  good <- readBin(path, "raw", 1e6)
  for (cut in c(0, 1, 5, 6, 9, 10, 12, 40)) {
    writeBin(good[seq_len(cut)], path)
    expect_kind(target_store(path), "store_unsupported", "x")
  }
  for (place in c(9, 10, 20)) {  # the length of the header, and a zero byte in it
    bad <- good
    bad[place] <- as.raw(if (place == 20) 0 else 255)
    writeBin(bad, path)
    expect_kind(target_store(path), "store_unsupported", "x")
  }
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
  expect_kind(target_store(unserialize(serialize(big, NULL))), "old_object", "x")
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
  expect_kind(target_store(fbm(8)), "store_unsupported", "x")
  for (columns in list(-1L, NA, 0L, 1e300)) {
    big <- fbm(c(double = 8L))
    big$ncol <- columns
    expect_kind(target_store(big), "store_format", "x")
  }
  for (file in list("/no/where", 3, tempdir())) {
    big <- fbm(c(double = 8L))
    big$backingfile <- file
    expect_kind(target_store(big), "file", "x")
  }
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
  for (field in sub(":.*", "", lines)) {
    if (field == "Rounding") next
    for (value in c("", "-1", "1e300", "2.5", "NaN", "text")) {
      if (field == "NonFinite" && value == "") next
      writeLines(sub(paste0("^", field, ":.*"), paste0(field, ": ", value), lines), about)
      expect_kind(target_store(path), "store_format")
    }
    writeLines(lines[!startsWith(lines, field)], about)
    expect_kind(target_store(path), "store_format")
  }
  # columns that are not there, or not in order
  for (columns in c("6", "0", "2 1", "3 3")) {
    writeLines(sub("^NonFinite:", paste("NonFinite:", columns), lines), about)
    expect_kind(target_store(path), "store_format")
  }
  writeLines(c(lines, "", lines), about)
  expect_kind(target_store(path), "store_format")
  writeBin(as.raw(255:0), about)
  expect_kind(target_store(path), "store_format")
  writeLines("nonsense", about)
  expect_kind(target_store(path), "store_format")
  unlink(about)
  expect_kind(target_store(path), "store_format", "x")
})

test_that("what lies beside the values must be of them", {
  Y <- matrix(rnorm(20), 4, dimnames = list(NULL, letters[1:5]))
  path <- withr::local_tempfile()
  store <- target_store(Y, path)
  for (names in list(letters[1:4], letters[1:6], character())) {
    writeLines(names, paste0(path, ".names"))
    expect_kind(target_store(path), "store_format")
  }
  writeBin(as.raw(c(97, 0, 98, 10)), paste0(path, ".names"))
  expect_kind(target_store(path), "store_format")
  unlink(paste0(path, ".names"))
  writeBin(as.raw(1:50), paste0(path, ".mask.rds"))
  expect_kind(target_store(path), "store_format")
  saveRDS(brain_mask(array(1, c(2, 2, 2))), paste0(path, ".mask.rds"))
  expect_kind(target_store(path), "store_format")
  unlink(paste0(path, ".mask.rds"))
  expect_null(target_store(path)$names)
  cat("more", file = path, append = TRUE)
  expect_kind(target_store(path), "store_format")
})

test_that("values whose description cannot be written do not stay", {
  path <- withr::local_tempfile()
  dir.create(paste0(path, ".dcf"))
  withr::defer(unlink(paste0(path, ".dcf"), recursive = TRUE))
  expect_kind(target_store(matrix(1, 2, 2, dimnames = list(NULL, c("a", "b"))), path), "file")
  expect_false(file.exists(path))
  expect_false(file.exists(paste0(path, ".names")))
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
