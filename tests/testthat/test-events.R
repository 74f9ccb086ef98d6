# 100 volumes of 2 s
refused_events <- function(events, pattern, n_scans = 100) {
  cnd <- expect_refused(convolve_hrf(events, n_scans, 2), "events", pattern)
  expect_s3_class(cnd, "voxridge_error_events")
  cnd
}

good <- data.frame(onset = c(0, 10, 50), duration = c(0, 5, 1), trial_type = c("a", "b", "a"))

test_that("events that are incomplete or lie outside their run are refused, with their rows", {
  expect_silent(convolve_hrf(good, 100, 2))
  refused_events(good[0, ], "none")
  refused_events(as.list(good), "data frame")
  cnd <- refused_events(good["onset"], "duration")
  expect_identical(cnd$expected, "duration")
  refused_events(data.frame(a = 1), "onset")
  cnd <- refused_events(transform(good, onset = c(0, -0.5, -1)), c("at least 0", "-0.5", "rows 2, 3"))
  expect_identical(cnd$where, 2:3)
  expect_identical(cnd$found, c(-0.5, -1))
  refused_events(transform(good, onset = c(0, 200, 1)), c("200 s", "row 2"))
  expect_silent(convolve_hrf(transform(good, onset = c(0, 199.9, 1), duration = 500), 100, 2))
  refused_events(transform(good, onset = c(NA, 1, 2)), c("onset", "NA", "row 1"))
  refused_events(transform(good, duration = c(0, NA, 2)), c("duration", "row 2"))
  refused_events(transform(good, duration = NA), c("duration", "rows 1, 2, 3"))
  refused_events(transform(good, duration = c(0, Inf, 2)), c("duration", "Inf"))
  refused_events(transform(good, duration = c(0, 1, -2)), c("duration", "-2", "row 3"))
  refused_events(transform(good, onset = c("0", "one", "2")), c("onset", "one", "row 2"))
  refused_events(transform(good, onset = factor(1:3)), c("onset", "numbers"))
  refused_events(transform(good, onset = Sys.Date() + 0:2), c("onset", "numbers"))
  refused_events(transform(good, modulation = c(1, NA, 1)), c("modulation", "row 2"))
  refused_events(transform(good, trial_type = c("a", NA, "b")), c("trial_type", "row 2"))
  refused_events(transform(good, trial_type = c("a", "b", "")), c("trial_type", "row 3"))
  refused_events(transform(good, onset = -(1:3))[rep(1:3, 4), ], "and 7 more")
})

test_that("runs are matched by number or by name", {
  events <- data.frame(onset = c(1, 2, 3), duration = 1, run = c(2, 1, 3))
  index <- function(events, n_scans) as_events(events, n_scans, 2)$run
  expect_identical(index(events, c(10, 10, 10)), c(2L, 1L, 3L))
  expect_identical(index(transform(events, run = as.integer(run)), c(10, 10, 10, 10)), c(2L, 1L, 3L))
  expect_identical(index(transform(events, run = c("rest", "go", "rest")), c(go = 10, rest = 9)), c(2L, 1L, 2L))
  expect_identical(index(transform(events, run = factor(c("z", "a", "z"))), c(z = 10, a = 9)), c(1L, 2L, 1L))
  expect_identical(index(transform(events, run = 7), 10), rep(1L, 3))
  expect_identical(index(transform(events, run = 7), c("7" = 10)), rep(1L, 3))
  refused_events(events, c("run", "rows 1, 3"), n_scans = 10)
  refused_events(events, c("run", "row 3"), n_scans = c(10, 10))
  refused_events(events, c("named", "rows 1, 2, 3"), n_scans = c(a = 10, b = 10, c = 10))
  refused_events(transform(events, run = c(1, NA, 1)), c("run", "row 2"), n_scans = c(10, 10))
  refused_events(events[1:2], c("run", "\\(2\\)"), n_scans = c(10, 10))
  # the end is that of the event's own run
  refused_events(transform(events, onset = 15), c("before the end", "10 s", "row 1"), n_scans = c(10, 5, 10))
})

# ---- files -----------------------------------------------------------------------------------

write_events <- function(events, folder, name) {
  path <- file.path(folder, name)
  utils::write.table(events, path, sep = "\t", quote = FALSE, row.names = FALSE, na = "n/a")
  path
}

test_that("files give what the data frame gives", {
  folder <- withr::local_tempdir()
  first <- data.frame(onset = c(0, 10.25), duration = c(1, 0), trial_type = c("T", "10"), modulation = c(2, 1),
                      response_time = c(NA, 0.5))
  second <- data.frame(trial_type = c("T", "it's"), onset = c(3, 4), duration = c(2, 2), modulation = 1, run = "x")
  none <- second[0, ]
  paths <- c(write_events(first, folder, "run-1_events.tsv"), write_events(none, folder, "run-2_events.tsv"),
             write_events(second, folder, "run-3_events.tsv"))
  columns <- c("onset", "duration", "trial_type", "modulation")
  together <- rbind(cbind(first[columns], run = 1), cbind(second[columns], run = 3))
  expect_identical(convolve_hrf(paths, 20, 2), convolve_hrf(together, rep(20, 3), 2))
  expect_identical(convolve_hrf(paths, c(20, 5, 9), 2), convolve_hrf(together, c(20, 5, 9), 2))
  expect_identical(colnames(convolve_hrf(paths, 20, 2)), c("10", "T", "it's"))
  expect_identical(convolve_hrf(paths[1L], 20, 2), convolve_hrf(first, 20, 2))
})

test_that("files are read as written by editors, spreadsheets and R", {
  path <- withr::local_tempfile(fileext = ".tsv")
  write <- function(...) writeBin(charToRaw(paste0(...)), path)
  plain <- "onset\tduration\ttrial_type\n1\t2\ta\n5\t1\tb"
  want <- convolve_hrf(data.frame(onset = c(1, 5), duration = 2:1, trial_type = c("a", "b")), 10, 2)
  # no end of the last line, Windows, a byte order mark, blank lines, quotes, tabs at the ends of lines
  for (text in c(plain, gsub("\n", "\r\n", plain), paste0("\xef\xbb\xbf", plain), gsub("\n", "\n\n", plain),
                 gsub("([a-z_]+)", "\"\\1\"", plain), paste0(gsub("\n", "\t\n", plain), "\t"),
                 paste0(sub("2\ta", "2\ta\t", plain), "\t"))) {
    write(text)
    expect_silent(got <- convolve_hrf(path, 10, 2))
    expect_identical(got, want)
  }
  # a quotation mark is a letter: no row is lost between two of them
  write(gsub("\t([ab])", "\t5\" \\1", plain))
  expect_identical(colnames(convolve_hrf(path, 10, 2)), c("5\" a", "5\" b"))
  expect_equal(sum(abs(convolve_hrf(path, 10, 2) - want)), 0)
  write(plain, "\t3\t4")
  cnd <- refused_events(path, c("\\(3\\), not 5", "row 2"))
  expect_identical(cnd$where, 2L)
  write("onset,duration\n1,2\n")
  expect_refused(convolve_hrf(path, 10, 2), basename(path), "columns `onset` and `duration`, not only `onset,duration`")
  write("onset\tduration\n1\t\n")
  refused_events(path, "not \"\" \\(row")
  writeBin(as.raw(c(31, 139, 8, 0, 255, 254, 10, 0, 200)), path)
  expect_silent(tryCatch(convolve_hrf(path, 10, 2), voxridge_error_events = function(cnd) NULL))
})

test_that("wrong files are refused, with file and row", {
  folder <- withr::local_tempdir()
  refused_events(file.path(folder, "absent.tsv"), "absent.tsv")
  refused_events(character(), "no path")
  refused_events(c(write_events(good, folder, "a.tsv"), folder), "existing files")
  bad <- write_events(transform(good, duration = c(1, NA, 1)), folder, "bad.tsv")
  cnd <- refused_events(c(file.path(folder, "a.tsv"), bad), "row 2 of bad.tsv")
  expect_identical(cnd$where, "2 of bad.tsv")
  text <- write_events(transform(good, onset = c("0", "soon", "2")), folder, "text.tsv")
  refused_events(text, c("onset", "soon", "row 2 of text.tsv"))
  untyped <- write_events(good[1:2], folder, "untyped.tsv")
  cnd <- expect_refused(convolve_hrf(c(bad, untyped), 100, 2), "untyped.tsv", "trial_type")
  expect_s3_class(cnd, "voxridge_error_events")
  refused_events(write_events(good[0, ], folder, "empty.tsv"), "none")
  file.create(file.path(folder, "blank.tsv"))
  refused_events(file.path(folder, "blank.tsv"), "blank.tsv")
  expect_refused(convolve_hrf(c(bad, bad, bad), c(5, 5), 2), "n_scans", c("3", "2"))
})

test_that("a column of kinds under another name is pointed out", {
  events <- data.frame(onset = c(0, 10), duration = 1, condition = c("face", "house"))
  cnd <- expect_warning(out <- convolve_hrf(events, 20, 2), class = "voxridge_warning_events")
  expect_match(conditionMessage(cnd), "condition")
  expect_identical(colnames(out), "event")
  expect_no_warning(convolve_hrf(events[-3L], 20, 2))
})
