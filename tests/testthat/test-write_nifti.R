# write_nifti(), read back by itself, by nibabel and by nifti_tool.

AFFINE <- rbind(c(-2, 0.25, 0, 30), c(0.5, 2, 0.125, -40), c(0, -0.25, 3, -16.5), c(0, 0, 0, 1))

target <- function(name = "out.nii", .local_envir = parent.frame()) {
  file.path(withr::local_tempdir(.local_envir = .local_envir), name)
}

only_file <- function(path) {
  testthat::expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), basename(path))
}

as_float32 <- function(x) {
  dim <- dim(x)
  array(readBin(writeBin(as.vector(x), raw(), 4L), "double", length(x), 4L), dim)
}

plain <- function(x) `attributes<-`(x, list(dim = dim(x)))

random_array <- function(dim, seed = 1) withr::with_seed(seed, array(rnorm(prod(dim)), dim))

test_that("files of other programs come back the same, to us and to nibabel, and content nifti_tool", {
  skip_without_nibabel()
  skip_without_nifti_tool()
  folder <- withr::local_tempdir()
  files <- list.files(test_data("data", "nifti_io"), "[.]nii", full.names = TRUE)
  files <- c(files, test_data("data", "haxby_25mm", "mask_gray.nii.gz"))
  expect_length(files, 5L)
  copies <- file.path(folder, paste0(seq_along(files), c(".nii", ".nii.gz")[1 + seq_along(files) %% 2]))
  original <- nibabel_read(files)
  for (k in seq_along(files)) {
    x <- read_nifti(files[k])
    expect_identical(write_nifti(x, copies[k], like = files[k]), copies[k])
    again <- read_nifti(copies[k])
    is_scaled <- basename(files[k]) == "functional.nii"
    expect_identical(plain(again), if (is_scaled) as_float32(x) else plain(x))
    expect_lt(max(abs(attr(again, "affine") - attr(x, "affine"))), 1e-5)
    first <- read_bytes(copies[k])
    write_nifti(files[k], copies[k], overwrite = TRUE)
    expect_identical(read_bytes(copies[k]), first)
  }
  written <- nibabel_read(copies)
  for (k in seq_along(files)) {
    expect_identical(written[[k]]$values, as.double(read_nifti(copies[k])))
    expect_lt(max(abs(written[[k]]$affine - original[[k]]$affine)), 1e-5)
    expect_identical(written[[k]]$dim, original[[k]]$dim)
    expect_identical(written[[k]]$header$sform_code, original[[k]]$header$sform_code)
    expect_identical(written[[k]]$descrip, original[[k]]$descrip)
    size <- seq_along(written[[k]]$dim)
    expect_equal(abs(written[[k]]$header$pixdim[1 + size]), original[[k]]$header$pixdim[1 + size], tolerance = 1e-6)
  }
  second <- basename(files) == "example_nifti2.nii.gz"
  expect_identical(nifti_tool_complaints(copies[!second]), character())
  # that version of nifti_tool checks NIfTI-1 only, but shows both
  expect_identical(nifti_tool_field(copies[second], "dim"), nifti_tool_field(files[second], "dim"))
  expect_identical(nifti_header(copies[second])$version, 2L)
})

test_that("the affine is what nibabel reads from the sform and from the qform", {
  skip_without_nibabel()
  skip_without_nifti_tool()
  folder <- withr::local_tempdir()
  affines <- withr::with_seed(1, lapply(1:12, function(k) {
    q <- qr.Q(qr(matrix(rnorm(9), 3)))  # half of them reflect
    cbind(rbind(q %*% diag(runif(3, 0.5, 4)), 0), c(rnorm(3, sd = 50), 1))
  }))
  affines <- c(affines, list(AFFINE, diag(c(-2, -2, 2, 1)), diag(c(1, -1, -1, 1)), diag(c(-3, 3, -3, 1))))
  paths <- file.path(folder, sprintf("%d.nii", seq_along(affines)))
  for (k in seq_along(paths)) write_nifti(array(1:24, 2:4), paths[k], affine = affines[[k]])
  expect_identical(nifti_tool_complaints(paths), character())
  read <- nibabel_read(paths)
  # without the sform, the qform
  without <- file.path(folder, sprintf("q%d.nii", seq_along(affines)))
  for (k in seq_along(paths)) {
    bytes <- read_bytes(paths[k])
    bytes[254 + 1:2] <- as.raw(0)
    writeBin(bytes, without[k])
  }
  read_q <- nibabel_read(without)
  for (k in seq_along(paths)) {
    is_rotation <- k != 13L
    expect_lt(max(abs(read[[k]]$affine - affines[[k]])), 1e-5)
    expect_identical(read[[k]]$header$qform_code, if (is_rotation) 2 else 0)
    expect_equal(read[[k]]$header$pixdim[2:4], sqrt(colSums(affines[[k]][1:3, 1:3]^2)), tolerance = 1e-6)
    if (is_rotation) expect_lt(max(abs(read_q[[k]]$affine - affines[[k]])), 1e-4)
    expect_silent(read_nifti(paths[k]))
  }
})

test_that("what is written comes back bit for bit, and the same values give the same bytes", {
  values <- list(
    float32 = as_float32(random_array(c(4, 3, 2, 5))),
    int16 = array(c(-32768L, 32767L, 1:22), 2:4),
    int32 = array(c(-2147483647L, 2147483647L, 1:22), 2:4),
    int32 = array(c(-32769L, 1:23), 2:4),
    uint8 = array(c(TRUE, FALSE, FALSE), 2:4)
  )
  for (k in seq_along(values)) {
    for (name in c("a.nii", "a.nii.gz")) {
      path <- target(name)
      shown <- withVisible(write_nifti(values[[k]], path, affine = AFFINE))
      expect_identical(shown, list(value = path, visible = FALSE))
      only_file(path)
      x <- read_nifti(path)
      expect_identical(attr(x, "header")$datatype, names(values)[k])
      want <- values[[k]]
      if (is.logical(want)) storage.mode(want) <- "integer"
      expect_identical(plain(x), want)
      expect_identical(attr(x, "affine"), AFFINE)  # these are float32 numbers
      bytes <- read_bytes(path)
      expect_identical(write_nifti(values[[k]], path, affine = AFFINE, overwrite = TRUE), path)
      expect_identical(read_bytes(path), bytes)
      header <- attr(x, "header")
      expect_identical(c(header$scl_slope, header$scl_inter, header$vox_offset, header$sform_code), c(1, 0, 352, 2))
      expect_identical(header$units, list(space = "mm", time = "s"))
    }
    # neither name nor time in the gzip header
    expect_identical(bytes[c(4:8)], as.raw(rep(0, 5)))
  }
  special <- array(c(NaN, Inf, -Inf, NA, 0, -0, 3.4e38, 1e-45), c(2, 2, 2))
  for (type in c("float32", "float64")) {
    path <- target()
    write_nifti(special, path, affine = AFFINE, datatype = type)
    expect_equal(plain(read_nifti(path)), special, tolerance = 1e-6)
  }
  expect_identical(plain(read_nifti(path)), special)
})

test_that("arrays with NA are stored as real numbers", {
  for (x in list(array(c(1:23, NA), 2:4), array(c(TRUE, FALSE, NA), 2:4))) {
    path <- target()
    write_nifti(x, path, affine = AFFINE)
    expect_identical(nifti_header(path)$datatype, "float32")
    expect_equal(plain(read_nifti(path)), x + 0)
    write_nifti(x, path, affine = AFFINE, datatype = "float64", overwrite = TRUE)
    expect_equal(plain(read_nifti(path)), x + 0)
  }
  x <- array(c(2^24 + 1, rep(NA, 23)), 2:4)
  storage.mode(x) <- "integer"
  path <- target()
  write_nifti(x, path, affine = AFFINE)
  expect_identical(nifti_header(path)$datatype, "float64")
  expect_identical(read_nifti(path)[1L], 2^24 + 1)
  # maps of whole numbers, NA outside the mask
  mask <- brain_mask(array(rep(0:1, 12), 2:4), affine = AFFINE)
  write_nifti(brain_map(1:12, mask), path, overwrite = TRUE)
  expect_equal(plain(read_nifti(path)), array(rbind(NA, 1:12), 2:4))
})

test_that("every type holds its smallest and largest number, and nothing beyond", {
  limits <- list(uint8 = c(0, 255), int8 = c(-128, 127), int16 = c(-2^15, 2^15 - 1), uint16 = c(0, 2^16 - 1),
                 int32 = c(-2^31, 2^31 - 1), uint32 = c(0, 2^32 - 1), int64 = c(-2^53, 2^53), uint64 = c(0, 2^53))
  for (type in names(limits)) {
    x <- array(c(limits[[type]], 0, 1), c(2, 2, 1))
    path <- target()
    write_nifti(x, path, affine = AFFINE, datatype = type)
    expect_identical(as.double(read_nifti(path)), as.vector(x))
    expect_identical(nifti_header(path)$datatype, type)
    before <- read_bytes(path)
    beyond <- switch(type, int64 = c(-2^63 * 1.5, 2^63), uint64 = c(-1, 2^64), limits[[type]] + c(-1, 1))
    for (value in c(beyond, if (type %in% c("int16", "uint64")) c(NA, NaN, Inf, 0.5))) {
      x[4L] <- value
      cnd <- expect_refused_file(write_nifti(x, path, affine = AFFINE, datatype = type, overwrite = TRUE),
                                 c(type, "does not fit"), where = "datatype", arg = "datatype")
    }
    expect_identical(read_bytes(path), before)
    only_file(path)
  }
  # integers and logicals of R
  expect_refused_file(write_nifti(array(c(1:3, NA), c(2, 2, 1)), target(), affine = AFFINE, datatype = "int32"),
                      "value NA", where = "datatype", arg = "datatype")
  expect_refused_file(write_nifti(array(c(TRUE, NA), c(2, 1, 1)), target(), affine = AFFINE, datatype = "uint8"),
                      "value NA", where = "datatype", arg = "datatype")
  expect_refused_file(write_nifti(array(256L, c(1, 1, 1)), target(), affine = AFFINE, datatype = "uint8"),
                      "value 256", where = "datatype", arg = "datatype")
  # a double that float32 does not hold
  for (value in c(3.5e38, -1e300)) {
    cnd <- expect_refused_file(write_nifti(array(value, c(1, 1, 1)), target(), affine = AFFINE), "float32",
                               where = "datatype", arg = "datatype")
  }
  path <- target()
  write_nifti(array(c(1, 1e300), c(2, 1, 1)), path, affine = AFFINE, datatype = "float64")
  expect_identical(read_nifti(path)[2L], 1e300)
})

test_that("a mask is written as 0 and 1", {
  mask <- brain_mask(array(rep(c(0, 2, NaN), 8), 2:4), affine = AFFINE)
  path <- target()
  write_nifti(mask, path)
  expect_identical(nifti_header(path)$datatype, "uint8")
  expect_identical(as.vector(read_nifti(path)), rep(c(0L, 1L, 0L), 8))
  expect_identical(brain_mask(path), mask)
})

test_that("`like` supplies what `x` lacks", {
  fields <- list(sform_code = 4L, srow = t(AFFINE[1:3, ]), pixdim = c(1, 2, 2, 2, 1500), xyzt_units = 18L)
  like <- make_nifti(1:48, c(2, 3, 4, 2), fields = fields)
  x <- array(rnorm(48), c(2, 3, 4, 2))
  sources <- list(like, nifti_header(like), read_nifti(like))
  for (from in sources) {
    path <- target()
    write_nifti(x, path, like = from)
    header <- nifti_header(path)
    expect_equal(header$affine, AFFINE)
    expect_identical(header$pixdim[5L], 1.5)  # in seconds
    expect_identical(header$units$time, "s")
    if (!is.double(from) && !is.integer(from)) expect_identical(header$sform_code, 4L)
  }
  mask <- brain_mask(array(1, 2:4), affine = AFFINE)
  path <- target()
  write_nifti(x, path, like = mask)
  expect_identical(nifti_header(path)$affine, AFFINE)
  # what x has stays; the code is that of like where both have one affine
  attr(x, "affine") <- diag(c(3, 3, 3, 1))
  write_nifti(x, path, like = like, overwrite = TRUE)
  expect_identical(nifti_header(path)[c("affine", "sform_code")], list(affine = diag(c(3, 3, 3, 1)), sform_code = 2L))
  write_nifti(x, path, affine = AFFINE, like = like, overwrite = TRUE)
  expect_identical(nifti_header(path)[c("affine", "sform_code")], list(affine = AFFINE, sform_code = 4L))
  # 3-D like for a 4-D image, and the other way round
  write_nifti(array(0, 2:4), path, like = like, overwrite = TRUE)
  write_nifti(x, path, like = make_nifti(), overwrite = TRUE)
  second <- make_nifti(version = 2L)
  write_nifti(array(0, 2:4), path, like = second, overwrite = TRUE)
  expect_identical(nifti_header(path)$version, 2L)
  # units of the place come with it
  micro <- make_nifti(fields = list(xyzt_units = 11L))
  write_nifti(array(0, 2:4), path, like = micro, overwrite = TRUE)
  expect_identical(nifti_header(path)$units$space, "um")
  cnd <- expect_refused(write_nifti(array(0, c(2, 3, 5)), target(), like = like), "x", c("2 x 3 x 4", "2 x 3 x 5"))
  expect_s3_class(cnd, "voxridge_error_grid")
  nowhere <- make_nifti(fields = list(sform_code = 0L))
  expect_warning(write_nifti(array(0, 2:4), target(), like = nowhere), class = "voxridge_warning_affine")
  expect_silent(write_nifti(array(0, 2:4), target(), affine = AFFINE, like = nowhere))
  for (bad in list(1, "missing.nii", array(0, 2:3), TRUE)) {
    expect_refused(write_nifti(x, target(), like = bad), "like")
  }
})

test_that("times, also those that an image brings along, are in seconds", {
  x <- array(0, c(2, 2, 2, 3))
  tr_of <- function(...) {
    path <- target()
    write_nifti(..., path = path)
    nifti_header(path)$pixdim[5L]
  }
  expect_identical(tr_of(x, affine = AFFINE), 1)
  expect_identical(tr_of(x, affine = AFFINE, tr = 2.5), 2.5)
  made <- function(tr, units) {
    fields <- list(pixdim = c(1, 2, 2, 2, tr), xyzt_units = units)
    make_nifti(1:24, c(2, 2, 2, 3), fields = fields, .local_envir = parent.frame(2L))
  }
  expect_identical(tr_of(read_nifti(made(2, 10L))), 2)
  expect_identical(tr_of(made(2000, 18L)), 2)
  expect_identical(tr_of(read_nifti(made(2e6, 26L))), 2)
  expect_identical(tr_of(made(3, 2L)), 3)
  expect_identical(tr_of(made(3, 34L)), 1)  # Hz
  expect_identical(tr_of(made(0, 10L)), 1)
  expect_identical(tr_of(made(2, 10L), tr = 0.5), 0.5)
})

test_that("a dimension beyond 32,767 makes a NIfTI-2 file", {
  skip_without_nibabel()
  x <- array(c(TRUE, FALSE, FALSE), c(1, 1, 1, 32768))
  paths <- c(target(), target("out.nii.gz"))
  for (path in paths) write_nifti(x, path, affine = AFFINE)
  expect_identical(nifti_header(paths[1L])$version, 2L)
  expect_identical(plain(read_nifti(paths[2L])) == 1L, x)
  read <- nibabel_read(paths)
  for (one in read) {
    expect_identical(one$dim, dim(x))
    expect_identical(one$values, as.double(x))
    expect_identical(one$affine, AFFINE)
  }
  write_nifti(x[, , , -1L, drop = FALSE], paths[1L], affine = AFFINE, overwrite = TRUE)
  expect_identical(nifti_header(paths[1L])$version, 1L)
})

# ---- refusals, and files that stay -----------------------------------------------------------

test_that("bad arguments are refused before anything is written", {
  x <- array(0, 2:4)
  path <- target()
  for (bad in list(NULL, 1, "", NA_character_, "a.txt", "a.nii.bz2", "nii", ".nii", ".nii.gz", "a.img",
                   c("a.nii", "b.nii"))) {
    expect_refused(write_nifti(x, bad, affine = AFFINE), "path")
  }
  for (bad in list(diag(3), matrix(NA_real_, 4, 4), 1, "a", matrix(0, 4, 4), diag(c(1, 1, 1, 2)),
                   AFFINE[c(1, 1, 2, 4), ])) {
    expect_refused(write_nifti(x, path, affine = bad), "affine")
  }
  cnd <- expect_refused(write_nifti(x, path), "affine", "like =")
  expect_s3_class(cnd, "voxridge_error_argument")
  expect_refused(write_nifti(x, path, affine = AFFINE, datatype = "float"), "datatype", "float32")
  for (bad in list(0, -1, NA, Inf, "2", c(1, 2))) expect_refused(write_nifti(x, path, affine = AFFINE, tr = bad), "tr")
  for (bad in list(0, 10, 1.5, NA)) expect_refused(write_nifti(x, path, affine = AFFINE, compress = bad), "compress")
  expect_refused(write_nifti(x, path, affine = AFFINE, overwrite = NA), "overwrite")
  for (bad in list(1:3, matrix(0, 2, 2), array("a", 2:4), array(1i, 2:4), array(0, c(2, 2, 2, 2, 2)), list(1), NULL,
                   data.frame(a = 1), array(0, c(2, 0, 2)))) {
    expect_refused(write_nifti(bad, path, affine = AFFINE), "x")
  }
  expect_error(write_nifti(x, path, affine = AFFINE, overwite = TRUE), "unused argument")
  expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), character())
  expect_refused(write_nifti(x, dirname(path), affine = AFFINE), "path")
  folder <- target("folder.nii")
  dir.create(folder)
  expect_refused(write_nifti(x, folder, affine = AFFINE, overwrite = TRUE), "path", "folder")
  expect_refused_file(write_nifti(x, file.path(path, "a.nii"), affine = AFFINE), "opened", where = "path")
})

test_that("a damaged file as `x` is refused by its own name", {
  path <- target("damaged.nii.gz")
  write_gz(nifti_bytes(1:20000, c(10, 20, 100)), path)
  writeBin(read_bytes(path)[1:3000], path)
  out <- target()
  expect_refused_file(write_nifti(path, out), "damaged.nii.gz is cut off", where = "gzip", arg = "x")
  expect_false(file.exists(out))
})

test_that("an existing file is refused and untouched, or replaced when asked", {
  path <- target()
  writeLines("old", path)
  cnd <- expect_refused(write_nifti(array(0, 2:4), path, affine = AFFINE), "path", "overwrite = TRUE")
  expect_s3_class(cnd, "voxridge_error_argument")
  expect_identical(readLines(path), "old")
  write_nifti(array(0, 2:4), path, affine = AFFINE, overwrite = TRUE)
  expect_identical(dim(read_nifti(path)), 2:4)
  only_file(path)
})

test_that("a value that does not fit at the very end leaves the old file and nothing else", {
  x <- array(0, c(50, 50, 50))
  x[length(x)] <- 0.5
  for (name in c("a.nii", "a.nii.gz")) {
    path <- target(name)
    writeLines("old", path)
    expect_refused_file(write_nifti(x, path, affine = AFFINE, datatype = "int16", overwrite = TRUE), "value 0.5",
                        where = "datatype", arg = "datatype")
    expect_identical(readLines(path), "old")
    only_file(path)
    unlink(path)
    expect_refused_file(write_nifti(x, path, affine = AFFINE, datatype = "int16"), where = "datatype", arg = "datatype")
    expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), character())
  }
})

test_that("links stay, and lead to the new file", {
  skip_on_os("windows")
  path <- target("real.nii.gz")
  link <- file.path(dirname(path), "link.nii")
  writeLines("old", path)
  file.symlink("real.nii.gz", link)
  expect_refused(write_nifti(array(1:24, 2:4), link, affine = AFFINE), "path", "overwrite")
  expect_identical(write_nifti(array(1:24, 2:4), link, affine = AFFINE, overwrite = TRUE), link)
  expect_identical(Sys.readlink(link), "real.nii.gz")
  expect_identical(as.vector(read_nifti(path)), 1:24)
  unlink(path)
  expect_refused(write_nifti(array(1:24, 2:4), link, affine = AFFINE, overwrite = TRUE), "path", "link")
})

test_that("names with spaces, letters of other languages and a leading dot are written", {
  skip_if_not(l10n_info()[["UTF-8"]], "this locale has no such letters")
  folder <- withr::local_tempdir("r\u00e9sultats \u8111 ")
  long <- paste0(strrep("a", 251), ".nii")
  for (name in c("two words.nii", "\u00fcber \u8111.nii.gz", ".hidden.nii", "{braces} 'q'.nii.gz", long)) {
    path <- file.path(folder, name)
    expect_identical(write_nifti(array(1:24, 2:4), path, affine = AFFINE), path)
    expect_identical(as.vector(read_nifti(path)), 1:24)
    expect_refused(write_nifti(array(1:24, 2:4), path, affine = AFFINE), "path")
  }
  expect_length(list.files(folder, all.files = TRUE, no.. = TRUE), 5L)
  withr::local_dir(folder)
  write_nifti(array(1:24, 2:4), "relative.nii", affine = AFFINE)
  expect_true(file.exists(file.path(folder, "relative.nii")))
})

test_that("a folder that cannot be written is refused", {
  skip_on_os("windows")
  skip_if(Sys.info()[["effective_user"]] == "root", "root may write everywhere")
  path <- target()
  Sys.chmod(dirname(path), "0555")
  withr::defer(Sys.chmod(dirname(path), "0755"))
  expect_refused_file(write_nifti(array(0, 2:4), path, affine = AFFINE), "opened", where = "path")
})

test_that("a full disk is refused and leaves nothing", {
  skip_on_cran()
  skip_if_not(file.exists("/dev/full") && nzchar(Sys.which("sh")), "no shell with limits here")
  path <- target()
  # files of at most 1 MB (2048 blocks of 512 bytes) in this process
  code <- sprintf("
out <- tryCatch(voxridge::write_nifti(array(0, c(100, 100, 100)), %s, affine = diag(4)), error = function(cnd) cnd)
cat(class(out)[1L], conditionMessage(out), sep = '\\n')", deparse(path))
  script <- target("script.R")
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), code), script)
  command <- sprintf("trap '' XFSZ; ulimit -f 2048; exec %s --vanilla %s", shQuote(file.path(R.home("bin"), "Rscript")),
                     shQuote(script))
  out <- suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE))
  expect_match(paste(out, collapse = "\n"), "voxridge_error_nifti.*cannot be written")
  expect_identical(list.files(dirname(path), all.files = TRUE, no.. = TRUE), character())
})

# ---- processes -------------------------------------------------------------------------------

# Writes numbers that zlib has much to do with, again and again.
WRITES <- '
set.seed(1)
x <- array(rnorm(96 * 96 * 60 * 12), c(96, 96, 60, 12))
cat("ready\\n", file = file.path(folder, "ready"))
'

test_that("kill -9 in mid-write leaves the old file", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  path <- target("map.nii.gz")
  write_nifti(array(1:24, 2:4), path, affine = AFFINE)
  before <- read_bytes(path)
  code <- sprintf("repeat write_nifti(x, %s, affine = diag(4), overwrite = TRUE, compress = 9)", deparse(path))
  worker <- start_r(c(sprintf("folder <- %s", deparse(folder)), WRITES, code), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  part <- function() list.files(dirname(path), "[.]part$", all.files = TRUE, full.names = TRUE)
  there <- wait_until(function() length(part()) == 1L && file.size(part()) > 1e6, 30)
  tools::pskill(worker$pid, tools::SIGKILL)
  if (!there) fail(paste(c("no write was seen:", readLines(worker$log)), collapse = "\n"))
  expect_identical(read_bytes(path), before)
  expect_identical(as.vector(read_nifti(path)), 1:24)
})

test_that("an interrupt ends a write within two seconds and leaves nothing", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  path <- target("map.nii.gz")
  code <- sprintf("
outcome <- tryCatch({
  write_nifti(x, %s, affine = diag(4), compress = 9)
  'finished'
}, interrupt = function(cnd) 'interrupted')
saveRDS(list(outcome = outcome, ended = as.numeric(Sys.time())), file.path(folder, 'part'))
file.rename(file.path(folder, 'part'), file.path(folder, 'result'))", deparse(path))
  worker <- start_r(c(sprintf("folder <- %s", deparse(folder)), WRITES, code), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  files <- function() list.files(dirname(path), all.files = TRUE, no.. = TRUE)
  if (!wait_until(function() length(files()) == 1L, 30)) fail(paste(readLines(worker$log), collapse = "\n"))
  Sys.sleep(0.3)
  expect_match(files(), "^[.]map[.]nii[.]gz[.].*[.]part$")
  sent <- as.numeric(Sys.time())
  tools::pskill(worker$pid, tools::SIGINT)
  expect_true(wait_until(function() file.exists(file.path(folder, "result")), 30))
  result <- readRDS(file.path(folder, "result"))
  expect_identical(result$outcome, "interrupted")
  expect_lt(result$ended - sent, 2)
  expect_identical(files(), character())
})

test_that("two processes that write one file leave one of the two, whole", {
  skip_on_cran()
  path <- target("map.nii.gz")
  folders <- c(withr::local_tempdir(), withr::local_tempdir())
  code <- function(k) {
    c(sprintf("x <- array(c(%dL, rep(seq_len(1000L), 500)), c(3, 167, 998))[, 1:100, 1:998]", k),
      sprintf("for (i in 1:15) write_nifti(x, %s, affine = diag(4), overwrite = TRUE)", deparse(path)),
      sprintf("saveRDS(x, %s)", deparse(file.path(folders[k], "x"))),
      sprintf("cat('done', file = %s)", deparse(file.path(folders[k], "done"))))
  }
  workers <- lapply(1:2, function(k) start_r(code(k), folders[k]))
  withr::defer(for (worker in workers) tools::pskill(worker$pid, tools::SIGKILL))
  # readers see a whole image at all times
  done <- function() {
    if (file.exists(path)) expect_true(read_nifti(path)[1L] %in% 1:2)
    all(file.exists(file.path(folders, "done")))
  }
  if (!wait_until(done, 60)) fail(paste(unlist(lapply(workers, function(worker) readLines(worker$log)))))
  x <- plain(read_nifti(path))
  expect_identical(x, readRDS(file.path(folders[x[1L]], "x")))
  only_file(path)
})

test_that("writing takes a few MB, whatever the size", {
  before <- "x <- array(rep(1:1000 + 0, 12000), c(100, 100, 100, 12))
for (k in 1:3) write_nifti(x[, , 1:2, 1], %s, affine = diag(4), overwrite = TRUE)"
  for (name in c("a.nii", "a.nii.gz")) {
    got <- measure_peak(sprintf(before, deparse(target("warm.nii.gz"))),
                        sprintf("write_nifti(x, %s, affine = diag(4), compress = 1)", deparse(target(name))))
    expect_lt(got$peak, 8)
  }
})

test_that("the wording of what people meet most", {
  withr::local_dir(withr::local_tempdir())
  x <- array(0.5, 2:4)
  expect_snapshot(error = TRUE, write_nifti(x, "map.nii"))
  expect_snapshot(error = TRUE, write_nifti(x, "map.img", affine = diag(4)))
  expect_snapshot(error = TRUE, write_nifti(x, "map.nii", affine = diag(3)))
  expect_snapshot(error = TRUE, write_nifti(x, "map.nii", affine = matrix(0, 4, 4)))
  expect_snapshot(error = TRUE, write_nifti(x, "map.nii", affine = diag(4), datatype = "int16"))
  expect_snapshot(error = TRUE, write_nifti(x, "no/map.nii", affine = diag(4)))
  expect_snapshot(error = TRUE, write_nifti(1:24, "map.nii", affine = diag(4)))
  write_nifti(x, "map.nii", affine = diag(4))
  expect_snapshot(error = TRUE, write_nifti(x, "map.nii", affine = diag(4)))
  expect_snapshot(error = TRUE, write_nifti(array(0, c(2, 3, 5)), "other.nii", like = "map.nii"))
})
