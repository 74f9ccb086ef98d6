# Plugins without a device, built on the fly; R in a process of its own opens them, for a process keeps its plugin.

# Compiles cuda/fake_plugin.c into `folder` and returns its path.
fake_plugin <- function(folder, name = "plugin.so", flags = character()) {
  testthat::skip_on_cran()
  testthat::skip_on_os("windows")
  include <- system.file("cuda", package = "voxridge")
  testthat::skip_if(!file.exists(file.path(include, "abi.h")), "the package is not installed")
  compiler <- system2(file.path(R.home("bin"), "R"), c("CMD", "config", "CC"), stdout = TRUE)
  compiler <- strsplit(compiler, " +")[[1L]]
  testthat::skip_if(!nzchar(Sys.which(compiler[1L])), "no C compiler")
  path <- file.path(folder, name)
  log <- suppressWarnings(system2(
    compiler[1L],
    c(compiler[-1L], "-shared", "-fPIC", flags, "-I", shQuote(include), "-o", shQuote(path),
      shQuote(testthat::test_path("cuda", "fake_plugin.c"))),
    stdout = TRUE, stderr = TRUE
  ))
  if (!file.exists(path)) testthat::fail(paste(c("the plugin was not built:", log), collapse = "\n"))
  normalizePath(path)
}

# The value of `code` (text) in an R process that takes `plugin`; what it says of the GPU is set by `...` (FAKE_*).
with_plugin <- function(plugin, code, ...) {
  folder <- withr::local_tempdir()
  answer <- file.path(folder, "answer.rds")
  text <- c(
    "reason <- function(path = Sys.getenv('VOXRIDGE_CUDA_PLUGIN')) {",
    "  Sys.setenv(VOXRIDGE_CUDA_PLUGIN = path)",
    "  check_gpu_available()$reason",
    "}",
    "caught <- function(expr) tryCatch(expr, error = function(cnd) {",
    "  c(class(cnd)[1L], gsub('[[:space:]]+', ' ', conditionMessage(cnd)))",
    "})",
    "answer <- local({", code, "})",
    sprintf("saveRDS(answer, %s)", deparse(answer))
  )
  log <- withr::with_envvar(c(VOXRIDGE_CUDA_PLUGIN = plugin, ...), run_r(text, folder))
  if (!file.exists(answer)) testthat::fail(paste(c("no answer:", log), collapse = "\n"))
  readRDS(answer)
}

# A device, as a plugin describes it.
FAKE_GPU <- c(
  FAKE_AVAILABLE = "1", FAKE_NAME = "Pocket 9000", FAKE_FREE = "10e9", FAKE_DRIVER = "12040",
  FAKE_ARCHITECTURES = "80 90", FAKE_LIBRARIES = "libcublas.so.12",
  FAKE_SOLVER = "cuSOLVER cannot be loaded: no such file"
)
