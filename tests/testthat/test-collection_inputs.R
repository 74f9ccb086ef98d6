# What brain_collection() is made of.

test_that("names come from files, folders and volumes, and differ", {
  names_of <- function(paths, volumes = lapply(paths, function(path) 1:3)) voxridge:::default_names(paths, volumes)
  expect_identical(names_of(c("/a/x.nii", "/a/y.nii.gz", "/b/z.hdr", "/b/w.img.gz")), c("x", "y", "z", "w"))
  expect_identical(names_of(c("/a/s1/x.nii", "/a/s2/x.nii")), c("s1_x", "s2_x"))
  expect_identical(names_of(c("/a/s1/f/x.nii", "/a/s2/f/x.nii")), c("s1_f_x", "s2_f_x"))
  expect_identical(names_of(rep("/a/x.nii", 2), list(3, 9)), c("x_3", "x_9"))
  expect_identical(names_of(rep("/a/x.nii", 2), list(1:2, 2:3)), c("x", "x_1"))
  expect_identical(names_of(c("/a/x.nii", "/a/x.nii.gz")), c("x", "x_1"))
})

test_that("paths are kept as whole ones, links by their own name", {
  problem <- collection_problem(n = 2L)
  withr::local_dir(problem$folder)
  x <- brain_collection(basename(problem$paths), problem$mask)
  withr::local_dir(withr::local_tempdir())
  expect_identical(plain(x[[2]]), problem$values[[2]])
  skip_on_os("windows")
  link <- file.path(problem$folder, "linked.nii")
  file.symlink(problem$paths[2], link)
  expect_identical(names(brain_collection(link, problem$mask)), "linked")
  expect_refused(brain_collection(c(problem$paths[2], link), problem$mask), "paths", "once")
})

test_that("names with spaces and letters beyond ASCII", {
  problem <- collection_problem(n = 1L)
  name <- "M\u00fcller 1.nii.gz"
  skip_if(!l10n_info()[["UTF-8"]], "the file system's encoding is not UTF-8")
  path <- file.path(problem$folder, name)
  file.copy(problem$paths[1], path)
  x <- brain_collection(file.path(problem$folder, "M*"), problem$mask)
  expect_identical(plain(collection_mean(x)), problem$values[[1]])
})

test_that("a pair of files is one item, and a change of either is seen", {
  problem <- collection_problem(n = 1L)
  image <- nifti_bytes(1:60, c(5, 4, 3), "float32", fields = list(magic = "ni1", vox_offset = 0))
  writeBin(image[1:352], file.path(problem$folder, "p.hdr"))
  writeBin(image[-(1:352)], file.path(problem$folder, "p.img"))
  x <- brain_collection(file.path(problem$folder, "p.hdr"), problem$mask)
  expect_identical(plain(collection_mean(x)), as.double(problem$mask$index))
  Sys.setFileTime(file.path(problem$folder, "p.img"), Sys.time() + 60)
  expect_item_error(collection_mean(x), 1L, "changed")
})

test_that("an object with other contents never gets to the core", {
  problem <- collection_problem(n = 3L, rows = 2L)
  lazy <- problem$x
  loaded <- brain_collection(problem$paths, problem$mask, load = "memory")
  values <- list(NULL, NA, -1, "x", list(), 1:4, list(1, 2, 3), list(NULL, NULL, NULL), c(2.5, 2), rep("a", 2),
                 list(c(0, 1), c(1, 2), c(1, 2)), list(matrix(1), matrix(1), matrix(1)),
                 rep(list(matrix(1L, 2, 30)), 3))
  for (x in list(lazy, loaded)) {
    for (field in c("format", "paths", "names", "volumes", "n_rows", "sizes", "modified", "matrices", "mask", "load")) {
      for (value in values) {
        if (field == "matrices" && identical(value, list(NULL, NULL, NULL))) next
        if (field == "volumes" && identical(value, list(NULL, NULL, NULL)) && identical(x, loaded)) next
        broken <- unclass(x)
        broken[[field]] <- value
        broken <- structure(broken, class = class(x))
        expect_error(collection_mean(broken), class = "voxridge_error_old_object")
      }
    }
    for (field in c("dim", "index", "n")) {
      broken <- unclass(x)
      broken$mask[[field]] <- c(1L, 1000L)
      expect_error(stack_items(structure(broken, class = class(x)), row = 1), class = "voxridge_error_old_object")
    }
  }
})
