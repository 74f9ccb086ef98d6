#' Situation report
#'
#' What this installation and this machine offer: versions, BLAS, threads, single precision, memory, GPU. Paste it into
#' bug reports.
#'
#' @returns A list of class `voxridge_sitrep`, printed as a short report: `version` (voxridge), `r_version`, `platform`,
#'   `blas` (list: `vendor`, `library`, `threads_controlled`, `threads`, `single`, `hardware_threads`), `threads` (list:
#'   `n`, `source`), `precision` (`"single and double"` or `"double only"`), `memory` (list, in GB: `available`,
#'   `budget`, `peak`; NA where not known), `gpu` (see [check_gpu_available()]), `cuda` (list about the plugin, NA
#'   where not known: `plugin`, its path; `size_mb`; `toolkit` and `architectures` it was built with; `libraries`, where
#'   cuBLAS was found; `solver`, where cuSOLVER was found, or why not (factors are then made on the CPU); `driver` and
#'   `runtime`, versions of CUDA; `reason`).
#' @inheritSection voxridge_threads Threads
#' @section Errors:
#' `voxridge_error_argument` where a thread or memory setting is not a number, see [voxridge-conditions].
#' @examples
#' voxridge_sitrep()
#' @export
voxridge_sitrep <- function() {
  call <- rlang::current_env()
  blas <- core_blas_info()
  structure(
    list(
      version = as.character(utils::packageVersion("voxridge")),
      r_version = as.character(getRversion()),
      platform = R.version$platform,
      blas = blas,
      threads = thread_setting(call = call),
      precision = if (blas$single) "single and double" else "double only",
      memory = list(
        available = core_memory_available() / 1e9,
        budget = memory_budget_bytes(call) / 1e9,
        peak = core_memory_peak() / 1e9
      ),
      gpu = check_gpu_available(),
      cuda = cuda_report()
    ),
    class = "voxridge_sitrep"
  )
}

#' @export
print.voxridge_sitrep <- function(x, ...) {
  gb <- function(value) if (is.na(value)) "unknown" else format_bytes(value * 1e9)
  blas <- x$blas
  control <- if (blas$threads_controlled) {
    "set for each call and restored"
  } else {
    "cannot be set from here; set them before R starts"
  }
  lines <- c(
    "voxridge" = x$version,
    "R" = paste0(x$r_version, " (", x$platform, ")"),
    "BLAS" = paste0(blas$vendor, " (", blas$library, ")"),
    "BLAS threads" = paste0(blas$threads, ", ", control),
    "precision" = x$precision,
    "threads" = paste0(x$threads$n, " (", x$threads$source, ") of ", blas$hardware_threads),
    "free memory" = paste0(gb(x$memory$available), ", budget of a call ", gb(x$memory$budget)),
    "peak memory" = paste(gb(x$memory$peak), "in this R process"),
    print_cuda(x$cuda),
    "GPU" = if (x$gpu$available) paste0(x$gpu$device_name, " (", gb(x$gpu$memory_gb), " free)") else x$gpu$reason
  )
  labels <- format(paste0(names(lines), ": "))
  show <- function(label, value) strwrap(value, 120L, initial = label, prefix = strrep(" ", nchar(label)))
  cat(unlist(Map(show, labels, lines)), sep = "\n")
  invisible(x)
}

# Lines about the plugin, as far as there is something to say.
print_cuda <- function(cuda) {
  if (is.na(cuda$plugin)) return(NULL)
  lines <- c(
    "CUDA plugin" = sprintf("%s, architectures %s", format_bytes(cuda$size_mb * 1e6), cuda$architectures),
    "CUDA libraries" = cuda$libraries,
    "CUDA solver" = cuda$solver,
    "CUDA driver" = sprintf("%s, the plugin was built for %s", cuda$driver, cuda$runtime)
  )
  lines[!is.na(c(cuda$architectures, cuda$libraries, cuda$solver, cuda$driver))]
}
