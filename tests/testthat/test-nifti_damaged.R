# Files that are damaged or no images: each is refused with a class, or read right.

test_that("headers that make no image are refused, with the field and its value", {
  refused <- function(where, found, pattern = NULL, ...) {
    for (version in 1:2) {
      path <- make_nifti(fields = list(...), version = version, name = c("a.nii", "a.nii.gz")[version])
      cnd <- expect_refused_file(if (version == 1L) read_nifti(path) else nifti_header(path), pattern, where = where)
      expect_match(conditionMessage(cnd), basename(path), fixed = TRUE)
      expect_identical(cnd$path, path)
      if (!is.null(found)) expect_identical(cnd$found, found)
    }
  }
  refused("dim[0]", "0", dim = c(0, 2, 3, 4))
  refused("dim[0]", "8", dim = c(8, 2, 3, 4))
  refused("dim[0]", "-3", dim = c(-3, 2, 3, 4))
  refused("dim[2]", "0", dim = c(3, 2, 0, 4))
  refused("dim[3]", "-4", dim = c(3, 2, 3, -4))
  refused("dim[4]", "0", dim = c(4, 2, 3, 4, 0))
  refused("dim[5]", "3", "several values per voxel", dim = c(5, 2, 3, 4, 1, 3))
  refused("dim[7]", "2", dim = c(7, 2, 3, 4, 1, 1, 1, 2))
  refused("datatype", "128", "RGB", datatype = 128L)
  refused("datatype", "2304", "RGBA", datatype = 2304L)
  refused("datatype", "32", "complex", datatype = 32L)
  refused("datatype", "1792", "complex", datatype = 1792L)
  refused("datatype", "1536", "float128", datatype = 1536L)
  refused("datatype", "1", "binary", datatype = 1L)
  refused("datatype", "0", datatype = 0L)
  refused("datatype", "77", datatype = 77L)
  refused("bitpix", "8", "int16", bitpix = 8L)
  refused("vox_offset", "0", vox_offset = 0)
  refused("vox_offset", "347", vox_offset = 347)
  refused("magic", NULL, magic = as.raw(1:8))
})

test_that("vox_offset must be a place in the file", {
  for (value in c(NaN, Inf, -Inf, 352.5, -16)) {
    cnd <- expect_refused_file(nifti_header(make_nifti(fields = list(vox_offset = value))), where = "vox_offset")
    expect_match(cnd$found, "nan|inf|352.5|-16")
  }
  for (name in c("a.nii", "a.nii.gz")) {
    path <- make_nifti(fields = list(vox_offset = 1e9), name = name)
    expect_refused_file(read_nifti(path), "before its last voxel", "size")
  }
  huge <- list(vox_offset = as.raw(c(rep(255, 7), 127)))
  expect_refused_file(read_nifti(make_nifti(fields = huge, version = 2L)), where = "vox_offset")
  # a larger place is a fine one: what lies before is passed over
  bytes <- nifti_bytes(raw(0), fields = list(vox_offset = 400))
  path <- file.path(withr::local_tempdir(), "a.nii")
  writeBin(c(bytes, raw(48), as_bytes(1:24, "int16")), path)
  expect_identical(as.vector(read_nifti(path)), 1:24)
})

test_that("dimensions whose product is beyond all memory are refused before any is taken", {
  largest <- as.raw(c(rep(255, 7), 127))
  one <- as.raw(c(1, rep(0, 7)))
  two31 <- as.raw(c(0, 0, 0, 128, 0, 0, 0, 0))
  four <- as.raw(c(4, rep(0, 7)))
  for (dim in list(c(four, largest, two31, one), c(four, two31, two31, two31), c(four, largest, one, one))) {
    for (name in c("a.nii", "a.nii.gz")) {
      path <- make_nifti(fields = list(dim = dim), version = 2L, name = name)
      expect_refused_file(read_nifti(path))
      expect_refused_file(brain_mask(path), arg = "x")
    }
  }
  # 1.8e14 and 1.6e10 voxels: the header can be, the memory cannot. A plain file shows that it is too short.
  for (dim in list(c(4, 32767, 32767, 32767, 5), c(3, 4096, 2048, 2048))) {
    path <- make_nifti(fields = list(dim = dim))
    expect_refused_file(read_nifti(path), where = "size")
  }
  skip_if(is.na(core_memory_available()), "free memory is not known here")
  for (run in list(read_nifti, brain_mask)) {
    path <- make_nifti(fields = list(dim = c(3, 32767, 32767, 32767)), name = "a.nii.gz")
    expect_error(run(path), class = "voxridge_error_memory")
  }
})

test_that("a plain file that is cut anywhere is refused", {
  bytes <- nifti_bytes(1:48, c(2, 3, 4, 2), "int16")
  path <- file.path(withr::local_tempdir(), "cut.nii")
  for (size in c(0, 1, 4, 347, 348, 351, 352, 399, 447)) {
    writeBin(bytes[seq_len(size)], path)
    cnd <- expect_refused_file(read_nifti(path), "cut.nii", where = if (size %in% 1:3) "sizeof_hdr" else "size")
    if (size >= 348) {
      expect_match(conditionMessage(cnd), paste("ends", 448 - size, "bytes before"))
      expect_identical(cnd$found, as.character(size))
    }
  }
  writeBin(c(bytes, raw(1)), path)
  expect_identical(as.vector(read_nifti(path)), 1:48)  # bytes behind the image do not matter
})

test_that("a gzip file that is cut anywhere, or damaged, is refused", {
  folder <- withr::local_tempdir()
  path <- file.path(folder, "cut.nii.gz")
  write_gz(nifti_bytes(withr::with_seed(1, rnorm(2000)), c(10, 10, 20), "float32"), path)
  bytes <- read_bytes(path)
  total <- length(bytes)
  for (size in c(0, 2, 10, 60, 300, total / 2, total - 9, total - 8, total - 4, total - 1)) {
    writeBin(bytes[seq_len(size)], path)
    expect_refused_file(read_nifti(path), "cut.nii.gz", where = if (size == 0) "size" else "gzip")
  }
  for (at in c(total - 6, total - 2)) {  # the checksum, the length
    damaged <- bytes
    damaged[at] <- xor(damaged[at], as.raw(1))
    writeBin(damaged, path)
    expect_refused_file(read_nifti(path), c("damaged", "check"), where = "gzip")
    expect_refused_file(brain_matrix(path, array(c(1, rep(0, 1999)), c(10, 10, 20))), where = "gzip", arg = "x")
  }
  damaged <- bytes
  damaged[total / 2 + 0:7] <- as.raw(255)
  writeBin(damaged, path)
  expect_refused_file(read_nifti(path), "gzip stream", where = "gzip")
  # the stream is whole, the image is not
  short <- nifti_bytes(1:24)
  write_gz(short[1:390], path)
  expect_refused_file(read_nifti(path), "ends 10 bytes before its last voxel", where = "size")
  write_gz(short[1:200], path)
  expect_refused_file(read_nifti(path), "cut off within its header", where = "size")
})

test_that("gzip members that follow each other are one stream, whatever the name", {
  folder <- withr::local_tempdir()
  bytes <- nifti_bytes(withr::with_seed(1, rnorm(60)), c(3, 4, 5), "float64")
  part <- file.path(folder, "part")
  for (cut in c(10, 348, 500, length(bytes))) {
    write_gz(bytes[seq_len(cut)], part)
    first <- read_bytes(part)
    write_gz(bytes[-seq_len(cut)], part)
    for (name in c("two.nii.gz", "two.nii", "two")) {
      path <- file.path(folder, name)
      writeBin(c(first, read_bytes(part)), path)
      expect_identical(as.vector(read_nifti(path)), withr::with_seed(1, rnorm(60)))
    }
  }
  plain_gz <- file.path(folder, "plain.nii.gz")
  writeBin(bytes, plain_gz)
  expect_identical(as.vector(read_nifti(plain_gz)), withr::with_seed(1, rnorm(60)))
  # other bytes behind the last member are not looked at
  write_gz(bytes, part)
  writeBin(c(read_bytes(part), as.raw(rep(0, 20))), plain_gz)
  expect_identical(as.vector(read_nifti(plain_gz)), withr::with_seed(1, rnorm(60)))
})

test_that("a pair is read by the name of either file, and a missing partner is named", {
  folder <- withr::local_tempdir()
  bytes <- nifti_bytes(raw(0), fields = list(magic = "ni1", vox_offset = 0))
  data <- as_bytes(1:24, "int16")
  hdr <- file.path(folder, "pair.hdr")
  img <- file.path(folder, "pair.img")
  writeBin(bytes, hdr)
  expect_refused_file(read_nifti(hdr), "pair.img.* missing", where = "pair")
  writeBin(data, img)
  expect_identical(as.vector(read_nifti(hdr)), 1:24)
  expect_identical(as.vector(read_nifti(img)), 1:24)
  writeBin(data[-48], img)
  expect_refused_file(read_nifti(hdr), "pair.img ends 1 bytes before", where = "size")
  unlink(img)
  write_gz(data, paste0(img, ".gz"))
  expect_identical(as.vector(read_nifti(hdr)), 1:24)
  expect_identical(as.vector(read_nifti(paste0(img, ".gz"))), 1:24)
  unlink(hdr)
  expect_refused_file(read_nifti(paste0(img, ".gz")), "pair.hdr.* missing", where = "pair")
  # a header of a pair under another name
  other <- file.path(folder, "other.nii")
  writeBin(bytes, other)
  expect_refused_file(read_nifti(other), "pair", where = "pair")
})

test_that("what is no NIfTI file is refused", {
  folder <- withr::local_tempdir("some folder ")
  expect_refused_file(read_nifti(folder), "is a folder", where = "path")
  missing <- file.path(folder, "missing.nii")
  cnd <- expect_refused_file(read_nifti(missing), c("missing.nii cannot be opened", "Check the path"), where = "path")
  expect_identical(cnd$path, missing)
  text <- file.path(folder, "text.nii")
  writeLines("time,voxel", text)
  expect_refused_file(read_nifti(text), "not NIfTI", where = "sizeof_hdr")
  saveRDS(1:10, text)
  expect_refused_file(read_nifti(text), "not NIfTI", where = "sizeof_hdr")
  analyze <- make_nifti(fields = list(magic = as.raw(c(0, 0, 0, 0))))
  expect_refused_file(read_nifti(analyze), c("Analyze", "[Cc]onvert"), where = "magic")
  for (bad in list(NULL, 1, NA_character_, "", c("a.nii", "b.nii"), list("a.nii"), TRUE)) {
    expect_refused(read_nifti(bad), "path", "must be the path of a file")
    expect_refused(nifti_header(bad), "path", "must be the path of a file")
  }
  expect_refused(read_nifti(make_nifti(), progress = NA), "progress")
})

test_that("a FIFO is refused at once", {
  skip_on_cran()
  skip_on_os("windows")
  fifo <- file.path(withr::local_tempdir(), "pipe.nii")
  skip_if(system2("mkfifo", shQuote(fifo)) != 0L, "no mkfifo here")
  took <- system.time(expect_refused_file(read_nifti(fifo), "not a regular file", where = "path"))
  expect_lt(took[["elapsed"]], 2)
})

test_that("any byte of the header may be wrong: the file is read or refused, with a class", {
  bytes <- nifti_bytes()
  path <- file.path(withr::local_tempdir(), "a.nii")
  outcome <- vapply(seq_len(352), function(at) {
    damaged <- bytes
    damaged[at] <- xor(damaged[at], as.raw(255))
    writeBin(damaged, path)
    muffle_affine(tryCatch({
      read_nifti(path)
      "read"
    }, voxridge_error_nifti = function(cnd) "refused", voxridge_error_memory = function(cnd) "refused"))
  }, "")
  expect_true(all(outcome[c(1:4, 41:44, 71:74, 345:348)] == "refused"))
  expect_true(all(outcome[5:39] == "read"))
})
