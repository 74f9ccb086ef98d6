# The GPU and the CUDA plugin, a second shared object that is opened when a call first asks about the GPU, not when the
# package is loaded.

#' Is there a GPU?
#'
#' Says whether `device = "gpu"` can be used, and if not, why.
#'
#' The package is built with its CUDA plugin where a CUDA toolkit is found. The environment variable
#' `VOXRIDGE_CUDA=yes` makes the build fail where it is not, `VOXRIDGE_CUDA=no` builds without it; the file
#' `tools/configure_cuda.sh` of the sources lists the other options. `VOXRIDGE_CUDA_PLUGIN` names a plugin elsewhere.
#' The first call in an R process opens the plugin, which takes a moment. A process that has done so must not be
#' forked: in a child of `parallel::mclapply()` the GPU is refused.
#'
#' @returns A list: `available` (TRUE or FALSE), `reason` (one sentence; why not, where there is none), `device_name`
#'   (NA where there is none), `memory_gb` (free device memory in GB, NA where there is none).
#' @seealso [resolve_backend()], [voxridge_sitrep()]
#' @examples
#' check_gpu_available()$reason
#' @export
check_gpu_available <- function() {
  gpu <- gpu_info()
  list(
    available = gpu$available,
    reason = gpu$reason,
    device_name = if (gpu$available) gpu$name else NA_character_,
    memory_gb = if (gpu$available) gpu$memory_free / 1e9 else NA_real_
  )
}

# What the plugin says of driver and device (core_cuda_info()), or only `available` FALSE and the reason.
gpu_info <- function(plugin = cuda_plugin()) {
  if (!is.null(plugin$why_not)) return(list(available = FALSE, reason = plugin$why_not))
  info <- core_cuda_info(plugin$path)
  info$reason <- if (info$available) sprintf("The GPU %s can be used.", info$name) else as_sentence(info$reason)
  info
}

# A capital and a full stop, for texts of the plugin; names such as cuBLAS stay.
as_sentence <- function(text) {
  sub("([^.!?])$", "\\1.", sub("^([a-z])([a-z]*\\b)", "\\U\\1\\E\\2", text, perl = TRUE))
}

# Where the plugin is and what is known of its build; `why_not`: a sentence where there is no file to open.
cuda_plugin <- function(path = Sys.getenv("VOXRIDGE_CUDA_PLUGIN"), folder = cuda_folder()) {
  if (nzchar(path)) return(list(path = normalizePath(path, mustWork = FALSE)))
  if (.Platform$OS.type == "windows") return(list(why_not = "The GPU cannot be used on Windows."))
  build <- file.path(folder, "build.dcf")
  build <- if (file.exists(build)) as.list(read.dcf(build)[1L, ]) else list(Reason = "the build left no record")
  if (!identical(build$Plugin, "yes")) {
    return(list(build = build, why_not = sprintf("voxridge was built without its CUDA plugin: %s.", build$Reason)))
  }
  path <- file.path(folder, "voxridge_cuda.so")
  missing <- sprintf("The CUDA plugin %s is missing. Install voxridge again.", path)
  list(path = path, build = build, why_not = if (!file.exists(path)) missing)
}

# In the sources, where they are loaded without being installed, it is the folder of the build.
cuda_folder <- function(package = getNamespaceInfo("voxridge", "path")) {
  folders <- file.path(package, c("cuda", "src/cuda"))
  folders[dir.exists(folders)][1L]
}

# The plugin's part of the situation report.
cuda_report <- function() {
  plugin <- cuda_plugin()
  info <- gpu_info(plugin)
  text <- function(value) if (is.null(value) || !nzchar(value)) NA_character_ else value
  path <- if (is.null(plugin$path) || !file.exists(plugin$path)) NA_character_ else plugin$path
  list(
    plugin = path,
    size_mb = file.size(path) / 1e6,
    toolkit = text(plugin$build$Toolkit),
    architectures = text(if (is.null(info$architectures)) plugin$build$Architectures else info$architectures),
    libraries = text(info$libraries),
    solver = if (info$available) text(core_cuda_solver(plugin$path)) else NA_character_,
    driver = cuda_version(info$driver),
    runtime = cuda_version(info$runtime),
    reason = info$reason
  )
}

# 12040 is 12.4.
cuda_version <- function(number) {
  if (is.null(number) || number == 0L) return(NA_character_)
  sprintf("%d.%d", number %/% 1000L, number %% 1000L %/% 10L)
}

# Of the free memory a tenth and 512 MB stay for the driver, the libraries and the screen.
gpu_memory_budget_bytes <- function(limit_gb = NULL, free = gpu_info()$memory_free, call = rlang::caller_env()) {
  budget <- min(0.9 * free - 512e6, if (!is.null(limit_gb)) limit_gb * 1e9)
  if (budget > 0) return(budget)
  abort(
    c("The GPU must have more than 0.57 GB of free memory, not {format_bytes(free)}.",
      i = "Other processes may be using it. See {.code nvidia-smi}."),
    "gpu_out_of_memory",
    expected = 512e6 / 0.9, found = free, call = call
  )
}
