# Results of map_items() in files.

test_that("maps go to images, and come back as a collection", {
  problem <- collection_problem(n = 3L, data = data.frame(group = 1:3))
  folder <- file.path(problem$folder, "out")
  expect_invisible(out <- map_items(problem$x, function(Y) round(colMeans(Y)), write_to = folder))
  expect_s3_class(out, "brain_collection")
  expect_identical(names(out), names(problem$x))
  expect_identical(out$data, problem$x$data)
  expect_identical(sort(list.files(folder, all.files = TRUE, no.. = TRUE)), paste0(names(problem$x), ".nii.gz"))
  expect_identical(plain(stack_items(out)), round(t(sapply(problem$values, colMeans))))
  # matrices, arrays
  both <- map_items(problem$x, function(Y) Y[2:1, ], write_to = file.path(problem$folder, "rows"))
  expect_identical(plain(both[[2]]), problem$values[[2]][2:1, ])
  array <- map_items(problem$x[1], function(Y) brain_map(Y[1, ], fill = 0, mask = attr(Y, "mask")),
                     write_to = file.path(problem$folder, "array"))
  expect_identical(plain(array[[1]]), problem$values[[1]][1, , drop = FALSE])
})

test_that("what is there is not computed again, unless input, code or arguments have changed", {
  problem <- collection_problem(n = 3L)
  folder <- file.path(problem$folder, "out")
  log <- file.path(problem$folder, "log")
  called <- function() if (file.exists(log)) length(readLines(log)) else 0L
  f <- function(Y, info, log, scale = 1) {
    cat(info$item, "\n", file = log, append = TRUE)
    colMeans(Y) * scale
  }
  first <- map_items(problem$x, f, log = log, write_to = folder)
  expect_identical(called(), 3L)
  again <- map_items(problem$x, f, log = log, write_to = folder)
  expect_identical(called(), 3L)
  expect_identical(again$paths, first$paths)
  # the same code with other references to its source
  same <- eval(parse(text = deparse(f), keep.source = TRUE))
  map_items(problem$x, same, log = log, write_to = folder)
  expect_identical(called(), 3L)
  map_items(problem$x, f, log = log, scale = 2, write_to = folder)
  expect_identical(called(), 6L)
  map_items(problem$x[2:3], f, log = log, scale = 2, write_to = folder)
  expect_identical(called(), 6L)
  Sys.setFileTime(problem$paths[2], Sys.time() + 50)
  changed <- brain_collection(problem$paths, problem$mask)
  map_items(changed, f, log = log, scale = 2, write_to = folder)
  expect_identical(called(), 7L)
  # an interrupted run goes on where it was
  unlink(file.path(folder, "sub-03.nii.gz"))
  map_items(changed, f, log = log, scale = 2, write_to = folder)
  expect_identical(called(), 8L)
})

test_that("other results go to rds, and failed items leave no file", {
  problem <- collection_problem(n = 3L)
  folder <- file.path(problem$folder, "out")
  f <- function(Y, info) if (info$index == 2L) stop("no") else list(a = nrow(Y))
  expect_item_error(map_items(problem$x, f, write_to = folder), 2L)
  expect_identical(list.files(folder), c("sub-01.rds", "sub-03.rds"))
  expect_warning(paths <- map_items(problem$x, f, write_to = folder, on_error = "skip"), "sub-02")
  expect_identical(names(paths), c("sub-01", "sub-03"))
  expect_identical(readRDS(paths[["sub-03"]])$result, list(a = 7L))
  # the kind of file changes with the function
  map_items(problem$x, colMeans, write_to = folder)
  expect_identical(list.files(folder), paste0(names(problem$x), ".nii.gz"))
})

test_that("files of others and folders that cannot be written are refused before any work", {
  problem <- collection_problem(n = 3L)
  never <- function(Y) stop("must not be called")
  cnd <- expect_refused(map_items(problem$x, never, write_to = problem$folder), "write_to", "sub-01.nii.gz")
  expect_s3_class(cnd, "voxridge_error_file")
  expect_identical(plain(problem$x[[1]]), problem$values[[1]])
  folder <- withr::local_tempdir()
  saveRDS(1:3, file.path(folder, "sub-02.rds"))
  expect_refused(map_items(problem$x, never, write_to = folder), "write_to", "sub-02.rds")
  expect_refused(map_items(problem$x, never, write_to = file.path(folder, "a", "b")), "write_to", "folder")
  expect_refused(map_items(problem$x, never, write_to = problem$paths[1]), "write_to", "folder")
  expect_refused(map_items(problem$x, never, write_to = 3), "write_to")
  x <- problem$x
  names(x) <- c("a/b", "a b", "c")
  expect_refused(map_items(x, never, write_to = withr::local_tempdir()), "x", "a_b")
})

test_that("a full disk is an error that names the items, and leaves no part of a file", {
  skip_on_cran()
  folder <- withr::local_tempdir()
  small <- suppressWarnings(system2("mount", c("-t", "tmpfs", "-o", "size=64k", "tmpfs", shQuote(folder)),
                                    stdout = FALSE, stderr = FALSE))
  skip_if(small != 0L, "no small file system can be mounted here")
  withr::defer(system2("umount", shQuote(folder)))
  mask <- brain_mask(array(1, c(40, 40, 40)), affine = diag(4))
  x <- brain_collection(list(a = matrix(withr::with_seed(1, rnorm(64000)), 1), b = matrix(1, 1, 64000)), mask)
  expect_item_error(map_items(x, function(Y) Y[1, ], write_to = folder), 1L, "can be written")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "b.nii.gz")
  expect_item_error(map_items(x[1], function(Y) list(Y), write_to = folder), 1L)
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "b.nii.gz")
})

test_that("names too long for a file are refused before any work, pipes are not waited for", {
  problem <- collection_problem(n = 2L)
  x <- problem$x
  names(x) <- c("short", strrep("n", 249))
  expect_refused(map_items(x, colMeans, write_to = file.path(problem$folder, "new")), "x", "248 bytes")
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  system2("mkfifo", shQuote(file.path(folder, "sub-01.rds")))
  expect_refused(map_items(problem$x, colMeans, write_to = folder), "write_to")
})
