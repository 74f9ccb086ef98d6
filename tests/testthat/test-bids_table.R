# bids_table().

bids_folder <- function(files, .local_envir = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = .local_envir)
  for (file in file.path(folder, files)) {
    dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
    file.create(file)
  }
  folder
}

FILES <- c(
  "sub-02/func/sub-02_task-rest_run-1_bold.nii.gz",
  "sub-01/ses-b/func/sub-01_ses-b_task-nback_run-2_space-MNI_desc-preproc_bold.nii.gz",
  "sub-01/ses-b/func/sub-01_ses-b_task-nback_run-2_events.tsv",
  "sub-01/ses-b/func/sub-01_ses-b_task-nback_run-2_desc-confounds_timeseries.tsv",
  "sub-01/ses-b/func/sub-01_ses-b_task-nback_run-2_events.json",
  "sub-01/anat/sub-01_T1w.nii",
  "sub-02/func/sub-02_task-rest_run-2_events.tsv",
  "group_mean.nii.gz", "participants.tsv"
)

test_that("names are taken apart, with events and confounds of the same run", {
  folder <- bids_folder(FILES)
  table <- bids_table(folder)
  expect_identical(table$path, file.path(folder, FILES[c(6, 2, 1)]))
  expect_identical(table$sub, c("01", "01", "02"))
  expect_identical(table$ses, c(NA, "b", NA))
  expect_identical(table$task, c(NA, "nback", "rest"))
  expect_identical(table$run, c(NA, "2", "1"))
  expect_identical(table$space, c(NA, "MNI", NA))
  expect_identical(table$desc, c(NA, "preproc", NA))
  expect_identical(table$suffix, c("T1w", "bold", "bold"))
  expect_identical(table$events, c(NA, file.path(folder, FILES[3]), NA))
  expect_identical(table$confounds, c(NA, file.path(folder, FILES[4]), NA))
})

test_that("rows are chosen by name", {
  folder <- bids_folder(FILES)
  expect_identical(bids_table(folder, suffix = "bold")$sub, c("01", "02"))
  expect_identical(bids_table(folder, suffix = "bold", task = c("rest", "x"))$sub, "02")
  expect_refused(bids_table(folder, suffix = "bold", sub = "03"), "path", "asks for")
  expect_refused(bids_table(folder, subject = "01"), "...", "subject")
  expect_refused(bids_table(folder, "01"), "...", "without a name")
  expect_refused(bids_table(folder, run = 1), "run", "text")
  expect_refused(bids_table(file.path(folder, "no")), "path", "folder")
  expect_refused(bids_table(3), "path")
  expect_refused(bids_table(bids_folder("a.txt")), "path", "none of 0")
})

test_that("folders that are there twice by a link count once, files that are links as often as they are there", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  func <- file.path(folder, "sub-01", "func")
  dir.create(func, recursive = TRUE)
  file.create(file.path(func, "sub-01_task-a_bold.nii"), file.path(func, "sub-01_task-a_events.tsv"))
  file.symlink(folder, file.path(folder, "sub-01", "again"))
  file.symlink(func, file.path(folder, "sub-00"))
  dir.create(file.path(folder, "sub-02"))
  file.symlink(file.path(func, "sub-01_task-a_bold.nii"), file.path(folder, "sub-02", "sub-02_task-a_bold.nii"))
  table <- bids_table(folder)
  expect_identical(table$sub, c("01", "02"))
  expect_match(table$path[2], "sub-02_task-a_bold.nii", fixed = TRUE)
})

test_that("the table makes a collection", {
  problem <- collection_problem(n = 2L)
  folder <- withr::local_tempdir()
  file.copy(problem$paths, file.path(folder, c("sub-1_task-a_bold.nii.gz", "sub-2_task-a_bold.nii")))
  x <- brain_collection(bids_table(folder, suffix = "bold"), problem$mask)
  expect_identical(x$data$sub, c("1", "2"))
  expect_identical(plain(x[[2]]), problem$values[[2]])
})
