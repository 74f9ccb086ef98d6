# The package on the CUDA plugin, in a process of its own. VOXRIDGE_TEST_PLUGIN names a plugin that can run here: the
# real one where there is a GPU, else the one that tests/cuda/run.sh builds, in which the kernels' own text runs on the
# CPU and memory of the device faults when the host touches it.
gpu_lines <- function(code, ...) {
  plugin <- gpu_plugin()
  withr::local_envvar(VOXRIDGE_CUDA_PLUGIN = plugin, VOXRIDGE_SHIM_GUARD = "yes", ...)
  run_r(c(GPU_TOOLS, code), withr::local_tempdir(.local_envir = parent.frame()))
}

gpu_plugin <- function() {
  testthat::skip_on_cran()
  plugin <- Sys.getenv("VOXRIDGE_TEST_PLUGIN")
  testthat::skip_if(!nzchar(plugin), "VOXRIDGE_TEST_PLUGIN is unset")
  plugin
}

# Sourced in the other process: problem(), same(what, gpu, cpu), which prints the largest relative difference.
GPU_TOOLS <- "
problem <- function(n, p, t, seed) {
  set.seed(seed)
  X <- matrix(rnorm(n * p), n, p)
  list(X = X, Y = X %*% matrix(rnorm(p * t), p) / sqrt(p) + matrix(rnorm(n * t), n))
}
differ <- function(a, b) {
  if (is.list(a)) return(max(0, unlist(Map(differ, a[names(b)], b))))
  if (!is.numeric(a)) return(if (identical(a, b)) 0 else Inf)
  if (!identical(dim(a), dim(b)) || !identical(is.na(a), is.na(b)) || length(a) != length(b)) return(Inf)
  if (!length(a) || all(is.na(a))) return(0)
  same <- is.finite(a) & is.finite(b)
  if (!identical(a[!same], b[!same])) return(Inf)
  max(0, abs(a[same] - b[same])) / max(1, abs(b[same]))
}
same <- function(what, fun, ..., parts = NULL) {
  quiet <- function(expr) withCallingHandlers(expr, voxridge_warning = function(w) rlang::cnd_muffle(w))
  gpu <- quiet(fun(..., device = 'gpu', progress = FALSE))
  cpu <- quiet(fun(..., device = 'cpu', progress = FALSE))
  if (is.list(gpu)) {
    if (!identical(gpu$backend, 'cuda')) stop(what, ': backend ', gpu$backend)
    gpu$backend <- cpu$backend <- gpu$diagnostics$info <- cpu$diagnostics$info <- NULL
  }
  if (!is.null(parts)) { gpu <- gpu[parts]; cpu <- cpu[parts] }
  cat(sprintf('%s | %.3g\\n', what, differ(gpu, cpu)))
}
# What has crossed the bus (bytes) and what was done there since the process began; NULL on a real GPU.
counts <- function() {
  text <- voxridge:::core_cuda_info(Sys.getenv('VOXRIDGE_CUDA_PLUGIN'))$libraries
  if (!grepl('in [0-9]+, out [0-9]+, syrk', text)) return(NULL)
  numbers <- as.numeric(regmatches(text, gregexpr('[0-9]+', text))[[1]])
  stats::setNames(numbers, c('bytes_in', 'bytes_out', 'syrk', 'syevd'))
}
"

expect_parity <- function(lines, tolerance, n) {
  shown <- grep(" \\| ", lines, value = TRUE)
  if (length(shown) != n) {
    testthat::fail(paste(c(sprintf("%d of %d comparisons ended:", length(shown), n), lines), collapse = "\n"))
  }
  errors <- as.numeric(sub(".* \\| ", "", shown))
  bad <- !(errors <= tolerance)
  testthat::expect(!any(bad), paste(c("differs from the CPU:", shown[bad]), collapse = "\n"))
}
