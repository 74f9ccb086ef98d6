test_that("the report has versions, BLAS, threads, precision, memory and GPU", {
  report <- voxridge_sitrep()
  expect_s3_class(report, "voxridge_sitrep")
  expect_identical(report$version, as.character(utils::packageVersion("voxridge")))
  expect_identical(report$r_version, as.character(getRversion()))
  expect_true(is.character(report$blas$vendor) && nzchar(report$blas$vendor))
  expect_identical(report$precision == "single and double", report$blas$single)
  expect_identical(as.integer(report$threads$n), min(2L, as.integer(parallelly::availableCores())))
  expect_identical(report$threads$source, "options(voxridge.threads)")
  expect_gt(report$memory$budget, 0)
  expect_identical(report$gpu, check_gpu_available())
})

test_that("peak memory grows with what is used", {
  skip_if(is.na(voxridge_sitrep()$memory$peak))
  before <- voxridge_sitrep()$memory$peak
  expect_gt(before, 0.02)
  ballast <- numeric(4e7) + 1
  expect_gte(voxridge_sitrep()$memory$peak, min(before, 0.3))
  expect_gt(voxridge_sitrep()$memory$peak, 8 * length(ballast) / 1e9)
})

test_that("it prints on few lines and returns its input invisibly", {
  report <- voxridge_sitrep()
  lines <- utils::capture.output(out <- withVisible(print(report)))
  expect_identical(out$value, report)
  expect_false(out$visible)
  expect_lte(length(lines), 15L)
  for (word in c("voxridge", "BLAS", "threads", "memory", "GPU")) expect_match(lines, word, all = FALSE)
  expect_true(all(nchar(lines) < 160L))
})
