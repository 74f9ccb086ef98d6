test_that("check_gpu_available answers with its four parts and a reason", {
  gpu <- check_gpu_available()
  expect_named(gpu, c("available", "reason", "device_name", "memory_gb"), ignore.order = TRUE)
  expect_type(gpu$available, "logical")
  expect_length(gpu$available, 1L)
  expect_true(is.character(gpu$reason) && nzchar(gpu$reason))
})

test_that("a build without nvcc, a lost plugin and a lost record are told apart", {
  folder <- withr::local_tempdir()
  answer <- function() gpu_info(cuda_plugin("", folder))
  skip_on_os("windows")
  expect_identical(answer(), list(
    available = FALSE, reason = "voxridge was built without its CUDA plugin: the build left no record."
  ))
  record <- file.path(folder, "build.dcf")
  writeLines(c("Plugin: no", "Reason: nvcc was not found"), record)
  expect_identical(answer()$reason, "voxridge was built without its CUDA plugin: nvcc was not found.")
  writeLines(c("Plugin: yes", "Toolkit: 13.0"), record)
  expect_match(answer()$reason, "voxridge_cuda.so is missing. Install voxridge again.", fixed = TRUE)
  writeLines("not a library", file.path(folder, "voxridge_cuda.so"))
  expect_null(cuda_plugin("", folder)$why_not)
  expect_identical(cuda_plugin("", folder)$build$Toolkit, "13.0")
})

test_that("a path of one's own goes before what was built", {
  expect_identical(cuda_plugin("/some/where.so", withr::local_tempdir()), list(path = "/some/where.so"))
})

test_that("the installed package knows what was built", {
  skip_on_os("windows")
  expect_true(file.exists(file.path(cuda_folder(), if (basename(dirname(cuda_folder())) == "src") "" else "build.dcf")))
  expect_false(is.null(cuda_plugin("")$build$Plugin))
  # where there is neither the installed folder nor the sources
  expect_identical(cuda_folder(withr::local_tempdir()), NA_character_)
})

test_that("files that are no plugin of this package are refused in words, and a good one still works afterwards", {
  folder <- withr::local_tempdir()
  good <- fake_plugin(folder)
  fake_plugin(folder, "foreign.so", "-DNO_ENTRY")
  writeLines("not a library", file.path(folder, "text.so"))
  bytes <- readBin(good, "raw", file.size(good))
  writeBin(utils::head(bytes, 40L), file.path(folder, "head.so"))
  writeBin(utils::head(bytes, length(bytes) %/% 2L), file.path(folder, "half.so"))
  writeBin(utils::head(bytes, length(bytes) - 1L), file.path(folder, "last_byte.so"))
  # what an installation on another machine leaves: one library does not take the name of another
  for (name in c("abi.so", "table.so")) file.copy(good, file.path(folder, name))
  answers <- with_plugin(good, c(
    sprintf("folder <- %s", deparse(folder)),
    "answers <- sapply(c('none.so', 'text.so', 'head.so', 'half.so', 'last_byte.so', 'foreign.so'),",
    "                  function(file) reason(file.path(folder, file)))",
    "Sys.setenv(FAKE_ABI = '1')",
    "answers[['abi.so']] <- reason(file.path(folder, 'abi.so'))",
    "Sys.unsetenv('FAKE_ABI'); Sys.setenv(FAKE_TABLE_SIZE = '8')",
    "answers[['table.so']] <- reason(file.path(folder, 'table.so'))",
    "Sys.unsetenv('FAKE_TABLE_SIZE')",
    "c(answers, good = reason(file.path(folder, 'plugin.so')))"
  ), FAKE_GPU)
  words <- c(
    "none.so" = "is not there or cannot be read", "text.so" = "cannot be opened", "head.so" = "is damaged",
    "half.so" = "is damaged: it ends too early. Install voxridge again.", "last_byte.so" = "is damaged",
    "foreign.so" = "is not a plugin of voxridge",
    "abi.so" = "its interface has number 1, not 3. Install voxridge again.",
    "table.so" = "is of another voxridge: its table has 8 bytes, not"
  )
  for (file in names(words)) {
    expect_match(answers[[file]], file.path(folder, file), fixed = TRUE)
    expect_match(answers[[file]], words[[file]], fixed = TRUE)
  }
  expect_identical(answers[["good"]], "The GPU Pocket 9000 can be used.")
})

test_that("what the plugin says of driver, device and libraries reaches the user", {
  plugin <- fake_plugin(withr::local_tempdir())
  reasons <- c(
    "cuBLAS cannot be loaded: libcublas.so.13: cannot open shared object file", "There is no NVIDIA driver.",
    "The driver is older than the CUDA runtime.", "there is no CUDA device (driver)"
  )
  answers <- with_plugin(plugin, c(
    sprintf("reasons <- %s", paste(deparse(reasons), collapse = "")),
    "c(sapply(reasons, function(text) { Sys.setenv(FAKE_REASON = text); reason() }, USE.NAMES = FALSE),",
    "  { Sys.setenv(FAKE_REASON = strrep('long', 500)); reason() },",
    "  { Sys.setenv(FAKE_REASON = '', FAKE_INFO = '2', FAKE_AVAILABLE = '1'); reason() },",
    "  caught(resolve_backend('gpu')))"
  ))
  expect_identical(answers[1:4], c(paste0(reasons[1L], "."), reasons[2:3], "There is no CUDA device (driver)."))
  expect_identical(answers[5L], paste0("Long", substr(strrep("long", 500), 5L, 511L), "."))
  expect_match(answers[6L], "gives no reason (code 2)", fixed = TRUE)
  expect_identical(answers[7L], "voxridge_error_device_unavailable")
})

test_that("a GPU is described, and chosen where it is asked for", {
  plugin <- fake_plugin(withr::local_tempdir())
  answers <- with_plugin(plugin, c(
    "list(check_gpu_available(), resolve_backend('gpu', 'single'), resolve_backend('auto'), resolve_backend(),",
    "     device_memory_budget('gpu'), device_memory_budget('gpu', 3), device_memory_budget('gpu', 1000),",
    "     voxridge_sitrep()$cuda, capture.output(print(voxridge_sitrep())),",
    "     { Sys.setenv(FAKE_FREE = '5e8'); caught(device_memory_budget('gpu')) })"
  ), FAKE_GPU)
  expect_identical(answers[[1L]], list(
    available = TRUE, reason = "The GPU Pocket 9000 can be used.", device_name = "Pocket 9000", memory_gb = 10
  ))
  expect_identical(answers[[2L]], list(name = "cuda", device = "gpu", precision = "single",
                                       reason = "The GPU was asked for."))
  expect_identical(answers[[3L]]$device, "cpu")
  expect_match(answers[[3L]]$reason, "unless the size of the work")
  expect_identical(answers[[4L]]$reason, "The CPU was asked for.")
  expect_equal(unlist(answers[5:7]), c(0.9 * 10 - 0.512, 3, 0.9 * 10 - 0.512))
  cuda <- answers[[8L]]
  expect_identical(cuda[c("plugin", "architectures", "libraries", "solver", "driver", "runtime")], list(
    plugin = plugin, architectures = "80 90", libraries = "libcublas.so.12",
    solver = "cuSOLVER cannot be loaded: no such file", driver = "12.4", runtime = "13.0"
  ))
  expect_equal(cuda$size_mb, file.size(plugin) / 1e6)
  report <- paste(answers[[9L]], collapse = "\n")
  words <- c("Pocket 9000 (10 GB free)", "architectures 80 90", "libcublas.so.12", "cuSOLVER cannot be loaded",
             "12.4, the plugin was built for 13")
  for (word in words) expect_match(report, word, fixed = TRUE)
  expect_lte(length(answers[[9L]]), 15L)
  expect_identical(answers[[10L]][1L], "voxridge_error_gpu_out_of_memory")
})

test_that("a process forked after the plugin was opened is refused, its parent goes on", {
  plugin <- fake_plugin(withr::local_tempdir())
  answers <- with_plugin(plugin, c(
    "in_child <- function(expr) parallel::mccollect(parallel::mcparallel(expr))[[1L]]",
    "c(in_child(reason()), reason(), in_child(reason()), in_child(caught(resolve_backend('gpu')))[1L],",
    "  in_child(resolve_backend('cpu')$device), reason())"
  ), FAKE_GPU)
  yes <- "The GPU Pocket 9000 can be used."
  no <- "This R process was forked from one that had opened the CUDA plugin, and CUDA does not survive a fork."
  expect_identical(answers, c(yes, yes, no, "voxridge_error_device_unavailable", "cpu", yes))
})

test_that("a device that fails is not asked again, one without memory is", {
  plugin <- fake_plugin(withr::local_tempdir())
  answers <- with_plugin(plugin, c(
    "try_session <- function(code) {",
    "  Sys.setenv(FAKE_OPEN = code)",
    "  caught({ voxridge:::core_cuda_try(Sys.getenv('VOXRIDGE_CUDA_PLUGIN')); 'opened' })",
    "}",
    "list(try_session('0'), try_session('1'), try_session('4'), try_session('2'), reason(),",
    "     try_session('3'), reason(), try_session('0'), caught(device_memory_budget('gpu')),",
    "     resolve_backend('auto')$device, voxridge_sitrep()$gpu$reason)"
  ), FAKE_GPU, FAKE_TEXT = "an illegal address")
  expect_identical(answers[[1L]], "opened")
  expect_identical(answers[[2L]], c("voxridge_error_gpu_out_of_memory", "an illegal address"))
  expect_identical(answers[[3L]], c("voxridge_error_device_unavailable", "an illegal address"))
  expect_identical(answers[[4L]][1L], "voxridge_error_internal")
  expect_identical(answers[[5L]], "The GPU Pocket 9000 can be used.")
  expect_identical(answers[[6L]][1L], "voxridge_error_device_failed")
  expect_match(answers[[6L]][2L], "an illegal address")
  dead <- "The GPU failed earlier in this R process (an illegal address). Restart R to use it again."
  expect_identical(answers[[7L]], dead)
  expect_identical(answers[[8L]], c("voxridge_error_device_unavailable", dead))
  expect_identical(answers[[9L]][1L], "voxridge_error_device_unavailable")
  expect_identical(answers[10:11], list("cpu", dead))
})

test_that("a failure that info() reports counts too", {
  plugin <- fake_plugin(withr::local_tempdir())
  answers <- with_plugin(plugin, "c(reason(), { Sys.setenv(FAKE_INFO = '0'); reason() })",
                         FAKE_GPU, FAKE_INFO = "3", FAKE_REASON = "lost")
  expect_identical(answers, c("Lost.", "The GPU failed earlier in this R process (lost). Restart R to use it again."))
})

test_that("neither the package nor a fit on the CPU opens the plugin", {
  skip_if_not(file.exists("/proc/self/status"), "memory can be measured on Linux only")
  plugin <- fake_plugin(withr::local_tempdir())
  code <- c(
    "peak <- function() as.numeric(gsub('[^0-9]', '', grep('^VmHWM', readLines('/proc/self/status'), value = TRUE)))",
    "opened <- function() any(grepl(Sys.getenv('VOXRIDGE_CUDA_PLUGIN'), readLines('/proc/self/maps'), fixed = TRUE))",
    "invisible(solve_ridge_cv(diag(4), diag(4), alphas = 1, cv = 2, progress = FALSE))",
    "before <- c(opened(), peak() / 1000)",
    "reason()",
    "c(before, opened(), peak() / 1000)"
  )
  answers <- with_plugin(plugin, code, FAKE_MB = "200")
  expect_identical(answers[c(1L, 3L)], c(0, 1))
  # the fake takes 200 MB; without it R and the package need about 80, and two runs differ by a few
  without <- with_plugin(file.path(dirname(plugin), "none.so"), code)
  expect_lt(answers[2L], without[2L] + 20)
  expect_gt(answers[4L], without[4L] + 180)
})

test_that("versions of CUDA are read", {
  expect_identical(cuda_version(12040L), "12.4")
  expect_identical(cuda_version(13000L), "13.0")
  expect_identical(cuda_version(0L), NA_character_)
  expect_identical(cuda_version(NULL), NA_character_)
})
