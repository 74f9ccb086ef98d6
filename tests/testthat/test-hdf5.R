# HDF5 files as sources of stores.

# A file with two matrices, one of them in a group, and what is none.
hdf5_file <- function(.local_envir = parent.frame()) {
  path <- withr::local_tempfile(fileext = ".h5", .local_envir = .local_envir)
  Y <- withr::with_seed(1, matrix(rnorm(7 * 1100), 7))
  rhdf5::h5createFile(path)
  rhdf5::h5createGroup(path, "group")
  rhdf5::h5write(Y, path, "group/Y")
  rhdf5::h5write(1:5, path, "vector")
  rhdf5::h5write(array(1, c(2, 2, 2)), path, "array")
  rhdf5::h5write("text", path, "text")
  rhdf5::h5closeAll()
  list(path = path, Y = Y)
}

test_that("the matrix of a file becomes a store, a range of columns at a time", {
  skip_if_not_installed("rhdf5")
  d <- hdf5_file()
  store <- target_store(d$path, withr::local_tempfile(), type = "float64")
  expect_identical(store[, ], d$Y)
  withr::local_options(voxridge.memory_gb = 1e-4)
  expect_identical(target_store(d$path, withr::local_tempfile(), type = "float64")[, ], d$Y)
  rhdf5::h5write(matrix(1:6, 2), d$path, "numbers")
  rhdf5::h5closeAll()
  cnd <- expect_kind(target_store(d$path, tempfile()), "argument", "dataset")
  expect_match(conditionMessage(cnd), "group/Y", fixed = TRUE)
  expect_identical(target_store(d$path, withr::local_tempfile(), dataset = "numbers", type = "float64")[, ],
                   matrix(as.double(1:6), 2))
  expect_identical(dim(target_store(d$path, withr::local_tempfile(), dataset = "/group/Y")), c(7L, 1100L))
})

test_that("both packages read the same", {
  skip_if_not_installed("rhdf5")
  skip_if_not_installed("hdf5r")
  d <- hdf5_file()
  for (package in c("rhdf5", "hdf5r")) {
    source <- voxridge:::hdf5_source(d$path, NULL, NULL, package)
    expect_identical(c(source$rows, source$cols), c(7, 1100))
    expect_identical(source$columns(513:600), d$Y[, 513:600])
    expect_identical(source$columns(7L), d$Y[, 7, drop = FALSE])
  }
})

test_that("bad requests are refused", {
  expect_kind(target_store(matrix(1), tempfile(), dataset = "Y"), "conflict", "dataset")
  expect_kind(target_store("nowhere", dataset = "Y"), "conflict", "dataset")
  cnd <- expect_kind(voxridge:::hdf5_package(NULL, function(package) FALSE), "store_unsupported", "x")
  expect_match(conditionMessage(cnd), "rhdf5")
  skip_if_not_installed("rhdf5")
  d <- hdf5_file()
  for (dataset in list("no", "vector", "text", 3, NA_character_, c("a", "b"))) {
    expect_kind(target_store(d$path, tempfile(), dataset = dataset), "argument", "dataset")
  }
  bytes <- readBin(d$path, "raw", 300)
  writeBin(bytes, d$path)
  expect_kind(target_store(d$path, tempfile()), "file", "x")
})
