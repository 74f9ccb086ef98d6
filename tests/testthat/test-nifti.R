# read_nifti() and nifti_header(), against nibabel and files made byte by byte.

plain <- function(x) `attributes<-`(x, list(dim = dim(x)))

test_that("what nibabel writes in every type, byte order, version and container is read", {
  skip_without_nibabel()
  folder <- withr::local_tempdir()
  files <- nibabel_write_all(folder)
  expect_identical(nrow(files), 160L)
  expected <- nibabel_read(files$path)
  wrong <- vapply(seq_along(expected), function(k) {
    want <- expected[[k]]
    got <- read_nifti(files$path[k])
    type <- files$type[k]
    header <- attr(got, "header")
    pair_name <- sub("[.]img", ".hdr", files$path[k])
    is_small <- type %in% c("uint8", "int16", "int8", "uint16")
    same <- c(
      values = identical(as.double(got), want$values),
      type = is.integer(got) == is_small,  # int32 holds the value that is NA among R's integers
      dim = identical(dim(got), want$dim),
      affine = identical(attr(got, "affine"), want$affine) && identical(header$affine, want$affine),
      header = identical(header$datatype, type) && header$version == files$version[k] &&
        header$endian == files$endian[k] && identical(header$bitpix, 8L * NIFTI_BYTES[[type]]) &&
        header$descrip == want$descrip && identical(header$dim, want$dim) && header$n_volumes == 2L,
      codes = header$sform_code == want$header$sform_code && header$qform_code == want$header$qform_code &&
        header$affine_source == "sform",
      pixdim = identical(header$pixdim, want$header$pixdim) && identical(attr(got, "pixdim"), want$header$pixdim[2:5]),
      units = identical(header$units, list(space = "mm", time = "ms")) &&
        identical(attr(got, "pixunits"), c("mm", "ms")),
      partner = identical(plain(read_nifti(pair_name)), plain(got)),
      volume = identical(plain(read_nifti(files$path[k], volumes = c(2, 1, 2))), plain(got)[, , , c(2, 1, 2)])
    )
    paste(names(same)[!same], collapse = " ")
  }, "")
  expect_identical(paste(files$path, wrong)[nzchar(wrong)], character())
})

test_that("real files hold what other programs say they hold", {
  anatomical <- read_nifti(test_data("data", "nifti_io", "anatomical.nii"))
  header <- attr(anatomical, "header")
  expect_identical(header$endian, "big")
  expect_identical(dim(anatomical), c(33L, 41L, 25L))
  expect_type(anatomical, "integer")
  expect_identical(sum(as.double(anatomical)), 284166082)
  expect_identical(range(anatomical), c(-610L, 30393L))
  expect_identical(anatomical[6, 7, 8], 9844L)
  expect_identical(attr(anatomical, "affine"), rbind(cbind(diag(c(-2, 2, 2)), c(32, -40, -16)), c(0, 0, 0, 1)))

  functional <- read_nifti(test_data("data", "nifti_io", "functional.nii"))
  expect_identical(dim(functional), c(17L, 21L, 3L, 20L))
  expect_equal(unlist(attr(functional, "header")[c("scl_slope", "scl_inter")]),
               c(scl_slope = 0.07540697, scl_inter = 3100.76172), tolerance = 1e-7)
  expect_equal(functional[9, 11, 2, 4], 3832.0585, tolerance = 1e-8)
  expect_equal(sum(functional), 77913290.36, tolerance = 1e-9)
  expect_identical(attr(functional, "pixdim"), c(4, 4, 8, 2))

  second <- read_nifti(test_data("data", "nifti_io", "example_nifti2.nii.gz"))
  header <- attr(second, "header")
  expect_identical(dim(second), c(32L, 20L, 12L, 2L))
  expect_identical(c(header$version, header$vox_offset, nrow(header$extensions)), c(2, 608, 2))
  expect_equal(diag(attr(second, "affine"))[1:3], c(-2, 1.9737, 2.1711), tolerance = 1e-4)
  expect_identical(sum(second), 6926802L)
  expect_identical(second[11, 11, 7, 2], 423L)

  standard <- read_nifti(test_data("data", "nifti_io", "standard.nii.gz"))
  header <- attr(standard, "header")
  expect_identical(dim(standard), c(4L, 5L, 7L))
  expect_identical(c(header$qform_code, header$sform_code, sum(standard)), c(0L, 2L, 7650L))

  mask <- read_nifti(test_data("data", "haxby_25mm", "mask_brain.nii.gz"))
  header <- attr(mask, "header")
  expect_identical(c(header$scl_slope, header$vox_offset, nrow(header$extensions), sum(mask)), c(0, 3008, 1, 129))

  run <- read_nifti(test_data("data", "haxby_25mm", "run01_bold_25mm.nii.gz"))
  expect_identical(dim(run), c(6L, 10L, 10L, 121L))
  expect_identical(sum(as.double(run)), 22717688)
  expect_equal(attr(run, "affine")[1:3, 1:3], diag(c(-25, 25, 25)), tolerance = 1e-6)

  slice <- read_nifti(test_data("data", "haxby_slice", "bold.nii.gz"))
  expect_identical(dim(slice), c(40L, 20L, 1L, 1452L))
  expect_identical(sum(as.double(slice)), 1118771612)
  expect_identical(brain_mask(test_data("data", "haxby_slice", "mask.nii.gz"))$n, 530L)

  contrasts <- read_nifti(test_data("data", "wager2008", "contrasts_4d.nii.gz"), volumes = 1:3)
  expect_identical(dim(contrasts), c(47L, 56L, 31L, 3L))
  expect_equal(attr(contrasts, "header")$scl_slope, 0.00079734, tolerance = 1e-5)
  expect_equal(contrasts[22, 41, 24, ], c(2.64957, 3.06179, 1.98299), tolerance = 1e-5)
  expect_identical(brain_mask(test_data("data", "wager2008", "mask.nii.gz"))$n, 33793L)
})

test_that("scl_slope and scl_inter follow the rule of nibabel", {
  skip_without_nibabel()
  cases <- list(c(0, 5), c(NaN, 3), c(Inf, 3), c(-Inf, 0), c(NaN, NaN), c(0, NaN), c(1, 0), c(1, 5), c(-2.5, 100),
                c(0.1, -1e-3))
  paths <- vapply(seq_along(cases), function(k) {
    make_nifti(fields = list(scl_slope = cases[[k]][1L], scl_inter = cases[[k]][2L]), .local_envir = parent.frame(3L))
  }, "")
  expected <- nibabel_read(paths)
  for (k in seq_along(cases)) {
    got <- read_nifti(paths[k])
    expect_identical(as.double(got), expected[[k]]$values)
    expect_identical(is.integer(got), k <= 7L)
  }
  for (inter in c(NaN, Inf, -Inf)) {
    path <- make_nifti(fields = list(scl_slope = 2, scl_inter = inter))
    cnd <- expect_refused_file(read_nifti(path), "scl_inter", where = "scl_inter")
    expect_match(cnd$found, "nan|inf")
    expect_match(nibabel_read(path)[[1L]]$error, "^error")
  }
})

# ---- affines ---------------------------------------------------------------------------------

# A rotation from a random quaternion (a, b, c, d) with a >= 0.
random_quaternion <- function() {
  q <- rnorm(4L)
  q <- q / sqrt(sum(q^2))
  if (q[1L] < 0) -q else q
}

test_that("sform, qform and voxel sizes give the affine that nibabel gives", {
  skip_without_nibabel()
  srow <- c(2, 0.1, 0, -10, -0.1, 2, 0.2, 5, 0, -0.2, 3, 7)
  fields <- withr::with_seed(1, c(
    lapply(1:10, function(k) {
      list(sform_code = 0L, qform_code = 1L + k %/% 3L, quatern = random_quaternion()[-1L], qoffset = rnorm(3, sd = 50),
           pixdim = c(if (k %% 2L) 1 else -1, runif(3, 0.5, 4), 2, 1, 1, 1))
    }),
    list(
      list(sform_code = 4L, srow = srow),
      list(sform_code = 0L, qform_code = 1L, quatern = c(1, 0, 0), qoffset = c(9, 8, 7), pixdim = c(-1, 1, 2, 3)),
      list(sform_code = 0L, qform_code = 1L, quatern = c(0, 0, 0), pixdim = c(0, 1, 2, 3)),
      list(sform_code = 0L, qform_code = 2L, quatern = c(0, 0, 1 + 1e-7))
    )
  ))
  paths <- vapply(seq_along(fields), function(k) {
    make_nifti(fields = fields[[k]], version = if (k %% 3L) 1L else 2L, .local_envir = parent.frame(3L))
  }, "")
  expected <- nibabel_read(paths)
  for (k in seq_along(fields)) {
    header <- expect_silent(nifti_header(paths[k]))
    expect_lt(max(abs(header$affine - expected[[k]]$affine)), 1e-5)
    expect_identical(header$affine_source, if (k == 11L) "sform" else "qform")
    expect_silent(read_nifti(paths[k]))
  }
})

test_that("a doubtful affine is told, once per call", {
  none <- list(sform_code = 0L, pixdim = c(1, 3, 2, 4))
  warned <- expect_warning(x <- read_nifti(make_nifti(fields = none)), "left|Left", class = "voxridge_warning_affine")
  expect_s3_class(warned, "voxridge_warning")
  expect_identical(attr(x, "affine"), diag(c(3, 2, 4, 1)))
  expect_identical(attr(x, "header")$affine_source, "pixdim")
  count <- 0
  withCallingHandlers(read_nifti(make_nifti(fields = none)), warning = function(w) {
    count <<- count + 1
    invokeRestart("muffleWarning")
  })
  expect_identical(count, 1)
  expect_silent(nifti_header(make_nifti(fields = none)))

  # the sform moves the far corner by 0.3 mm, or by less than 0.1
  apart <- list(qform_code = 1L, srow = t(diag(c(2.1, 2, 2, 1))[1:3, ]))
  path <- make_nifti(dim = c(4, 3, 2), fields = apart)
  warned <- expect_warning(x <- read_nifti(path), "disagree", class = "voxridge_warning_affine")
  expect_equal(warned$found, 0.3, tolerance = 1e-6)
  expect_equal(attr(x, "affine")[1L], 2.1, tolerance = 1e-7)
  apart$srow[1L] <- 2.03
  expect_silent(read_nifti(make_nifti(dim = c(4, 3, 2), fields = apart)))
})

test_that("an affine that cannot be is passed over", {
  # the code says that there is an sform, the rows are 0: the qform, then voxel sizes
  zero <- list(srow = rep(0, 12))
  x <- read_nifti(make_nifti(fields = c(zero, qform_code = 1L, quatern = list(c(0, 0, 1)), qoffset = list(c(5, 6, 7)))))
  expect_identical(attr(x, "affine"), rbind(c(-2, 0, 0, 5), c(0, -2, 0, 6), c(0, 0, 2, 7), c(0, 0, 0, 1)))
  expect_warning(x <- read_nifti(make_nifti(fields = zero)), "neither", class = "voxridge_warning_affine")
  expect_identical(attr(x, "affine"), diag(c(2, 2, 2, 1)))
  nan <- list(srow = c(NaN, rep(1, 11)))
  expect_warning(read_nifti(make_nifti(fields = nan)), class = "voxridge_warning_affine")
  # b^2 + c^2 + d^2 > 1 is read as a rotation by 180 degrees
  x <- read_nifti(make_nifti(fields = list(sform_code = 0L, qform_code = 1L, quatern = c(3, 0, 0))))
  expect_equal(attr(x, "affine"), diag(c(2, -2, -2, 1)))
  nan <- list(sform_code = 0L, qform_code = 1L, quatern = c(NaN, 0, 0))
  expect_warning(x <- read_nifti(make_nifti(fields = nan)), "neither", class = "voxridge_warning_affine")
  expect_identical(attr(x, "affine"), diag(c(2, 2, 2, 1)))
})

test_that("voxel sizes that are not positive are repaired where they are needed, with a warning", {
  bad <- list(sform_code = 0L, qform_code = 1L, pixdim = c(1, -3, 0, NaN))
  warned <- expect_warning(x <- read_nifti(make_nifti(fields = bad)), "not positive", class = "voxridge_warning_affine")
  expect_identical(attr(x, "affine"), diag(c(3, 1, 1, 1)))
  expect_identical(warned$found, c(-3, 0, NaN))
  bad$sform_code <- 1L
  expect_silent(read_nifti(make_nifti(fields = bad)))
})

# ---- which volumes, which values -------------------------------------------------------------

test_that("volumes come in the order asked for, with repeats, from plain and gzip files alike", {
  data <- withr::with_seed(1, round(rnorm(2 * 3 * 4 * 5, sd = 100)))
  want <- array(data, c(2, 3, 4, 5))
  for (name in c("a.nii", "a.nii.gz")) {
    path <- make_nifti(data, c(2, 3, 4, 5), "float32", name = name)
    expect_identical(plain(read_nifti(path)), want)
    for (volumes in list(3, c(5, 1), c(2, 2, 2), 5:1, c(1, 5, 1, 4))) {
      expect_identical(plain(read_nifti(path, volumes = volumes)), want[, , , volumes, drop = FALSE])
    }
    for (bad in list(0, 6, 1.5, NA, "1", TRUE, numeric(), Inf, -1, list(1), c(1, NA))) {
      expect_refused(read_nifti(path, volumes = bad), "volumes")
    }
  }
  single <- make_nifti()
  expect_identical(dim(read_nifti(single)), 2:4)
  expect_identical(dim(read_nifti(single, volumes = 1)), c(2:4, 1L))
})

test_that("integers stay integers unless one of them is NA in R", {
  x <- read_nifti(make_nifti(c(1:23, -2147483647), type = "int32"))
  expect_type(x, "integer")
  bytes <- c(as_bytes(1:23, "int32"), as.raw(c(0, 0, 0, 128)))
  x <- read_nifti(make_nifti(bytes, type = "int32"))
  expect_identical(as.vector(x), c(1:23, -2^31))
  expect_identical(brain_matrix(make_nifti(bytes, type = "int32"), array(1, 2:4))[1L, ], c(1:23, -2^31))
  expect_type(read_nifti(make_nifti(type = "uint32")), "double")
  x <- read_nifti(make_nifti(c(1:23, 2^32 - 1), type = "uint32"))
  expect_identical(x[24L], 2^32 - 1)
})

test_that("whole numbers beyond 2^53 are refused, not rounded", {
  for (type in c("int64", "uint64")) {
    path <- make_nifti(c(1:23, 2^53), type = type)
    expect_identical(read_nifti(path)[24L], 2^53)
    one_more <- as.raw(c(1, 0, 0, 0, 0, 0, 32, 0))
    path <- make_nifti(c(as_bytes(1:23, type), one_more), type = type)
    expect_refused_file(read_nifti(path), "2\\^53", where = "datatype")
    expect_refused_file(brain_matrix(path, array(1, 2:4)), "2\\^53", arg = "x")
  }
  expect_identical(read_nifti(make_nifti(c(1:23, -2^53), type = "int64"))[24L], -2^53)
})

# ---- names, extensions, memory, wording ------------------------------------------------------

test_that("names with spaces, letters of other languages, dots and links are read", {
  skip_if_not(l10n_info()[["UTF-8"]], "this locale has no such letters")
  folder <- withr::local_tempdir("r\u00e9sultats \u8111 ")
  names <- c("two words.nii", "\u00fcber \u8111.nii.gz", ".hidden.nii", "{braces} <b>%s.nii", "a'b\"c.nii", "no ending")
  for (name in names) {
    path <- file.path(folder, name)
    if (endsWith(name, ".gz")) write_gz(nifti_bytes(), path) else writeBin(nifti_bytes(), path)
    expect_identical(as.vector(read_nifti(path)), 1:24)
    expect_identical(nifti_header(path)$path, path)
    writeBin(nifti_bytes()[1:380], path)
    expect_refused_file(read_nifti(path), "ends 20 bytes before", where = "size")
  }
  real <- file.path(folder, "real.nii")
  writeBin(nifti_bytes(), real)
  latin <- file.path(folder, iconv("\u00fcber.nii", "UTF-8", "latin1"))
  file.copy(real, latin)
  if (file.exists(enc2native(latin))) expect_identical(as.vector(read_nifti(latin)), 1:24)
  skip_on_os("windows")
  link <- file.path(folder, "link.nii")
  file.symlink(real, link)
  expect_identical(as.vector(read_nifti(link)), 1:24)
  withr::local_envvar(HOME = folder)
  skip_if(path.expand("~") != folder, "this R knows the home folder of its start only")
  expect_identical(as.vector(read_nifti("~/real.nii")), 1:24)
  expect_identical(brain_mask("~/real.nii")$n, 24L)
})

test_that("extensions are listed where they are well formed, and passed over", {
  extension <- function(size, code, bytes = size - 8L) {
    c(writeBin(c(size, code), raw(), endian = "little"), raw(bytes))
  }
  with_extensions <- function(...) {
    blocks <- c(as.raw(c(1, 0, 0, 0)), ...)
    bytes <- nifti_bytes(raw(0), fields = list(vox_offset = 348 + length(blocks)))[1:348]
    path <- file.path(withr::local_tempdir(.local_envir = parent.frame()), "a.nii")
    writeBin(c(bytes, blocks, as_bytes(1:24, "int16")), path)
    path
  }
  x <- read_nifti(with_extensions(extension(16L, 4L), extension(48L, 6L)))
  expect_identical(as.vector(x), 1:24)
  expect_equal(attr(x, "header")$extensions, data.frame(code = c(4, 6), size = c(16, 48)))
  for (bad in list(extension(-16L, 4L, 8L), extension(20L, 4L), extension(4096L, 4L, 24L), extension(0L, 0L, 8L))) {
    x <- read_nifti(with_extensions(extension(16L, 4L), bad))
    expect_identical(as.vector(x), 1:24)
    expect_identical(nrow(attr(x, "header")$extensions), 1L)
  }
})

test_that("an image exists once in memory", {
  small <- make_nifti()
  for (type in c("int16", "float32")) {
    path <- make_nifti(raw(0), c(100, 100, 80, 20), type)
    bytes <- 16e6 * NIFTI_BYTES[[type]]
    con <- file(path, "r+b")
    seek(con, 352 + bytes - 1, rw = "write")
    writeBin(as.raw(1), con)
    close(con)
    got <- measure_peak(sprintf("path <- %s; for (k in 1:3) read_nifti(%s)", deparse(path), deparse(small)),
                        "x <- read_nifti(path)", "cat(dim(x), x[1L] == 0, '\\n')")
    expect_identical(got$shown, "100 100 80 20 TRUE ")
    output <- 16e6 * (if (type == "int16") 4 else 8) / 2^20
    expect_gt(got$peak, output - 1)
    expect_lt(got$peak, output + 8)
  }
})

test_that("headers print in a few lines", {
  fields <- list(pixdim = c(1, 2, 2.5, 3, 1.5), scl_slope = 0.25)
  header <- nifti_header(make_nifti(1:48, c(2, 3, 4, 2), fields = fields))
  expect_snapshot(print(header))
  capture.output(out <- withVisible(print(header)))
  expect_identical(out, list(value = header, visible = FALSE))
})

test_that("the wording of what people meet most", {
  withr::local_dir(withr::local_tempdir())
  writeBin(nifti_bytes()[1:380], "short.nii")
  expect_snapshot(error = TRUE, read_nifti("short.nii"))
  expect_snapshot(error = TRUE, read_nifti("missing.nii"))
  writeBin(nifti_bytes(fields = list(datatype = 128L)), "rgb.nii")
  expect_snapshot(error = TRUE, read_nifti("rgb.nii"))
  writeBin(nifti_bytes(fields = list(magic = "ni1")), "pair.hdr")
  expect_snapshot(error = TRUE, read_nifti("pair.hdr"))
  writeBin(nifti_bytes(fields = list(magic = as.raw(0:3))), "analyze.img")
  writeBin(nifti_bytes(fields = list(magic = as.raw(0:3))), "analyze.hdr")
  expect_snapshot(error = TRUE, read_nifti("analyze.img"))
  write_gz(nifti_bytes(), "cut.nii.gz")
  writeBin(read_bytes("cut.nii.gz")[1:60], "cut.nii.gz")
  expect_snapshot(error = TRUE, read_nifti("cut.nii.gz"))
  writeLines("no image", "text.nii")
  expect_snapshot(error = TRUE, read_nifti("text.nii"))
  writeBin(nifti_bytes(), "fine.nii")
  expect_snapshot(error = TRUE, read_nifti("fine.nii", volumes = 3))
  expect_snapshot(error = TRUE, read_nifti(3))
  writeBin(nifti_bytes(fields = list(sform_code = 0L)), "nowhere.nii")
  expect_snapshot(invisible(read_nifti("nowhere.nii")))
  writeBin(nifti_bytes(fields = list(qform_code = 1L, srow = t(diag(c(3, 2, 2, 1))[1:3, ]))), "two.nii")
  expect_snapshot(invisible(read_nifti("two.nii")))
})
