#' Number of threads
#'
#' How many threads a call uses.
#'
#' @section Threads:
#' The first of these that is set counts: the argument `n_threads`; the environment variable `VOXRIDGE_NUM_THREADS`;
#' `options(voxridge.threads =)`; `options(Ncpus =)`; 2. All but the argument are capped by
#' [parallelly::availableCores()], which knows the limits of containers and job schedulers. The BLAS runs with one
#' thread inside threaded work, and its own setting is restored afterwards. [voxridge_sitrep()] shows the number in use.
#'
#' @name voxridge_threads
NULL

# list(n = integer, source = where the number comes from)
thread_setting <- function(n_threads = NULL, call = rlang::caller_env()) {
  if (!is.null(n_threads)) {
    return(list(n = as_count(n_threads, max = 4096, arg = "n_threads", call = call), source = "n_threads"))
  }
  sources <- list(
    "environment variable VOXRIDGE_NUM_THREADS" = environment_number("VOXRIDGE_NUM_THREADS"),
    "options(voxridge.threads)" = getOption("voxridge.threads"),
    "options(Ncpus)" = getOption("Ncpus"),
    "default" = 2L
  )
  source <- names(Filter(Negate(is.null), sources))[1L]
  n <- as_count(sources[[source]], arg = source, call = call)
  list(n = min(n, parallelly::availableCores()), source = source)
}

resolve_threads <- function(n_threads = NULL, call = rlang::caller_env()) {
  as.integer(thread_setting(n_threads, call)$n)
}

# The number in an environment variable, its text where it is not a number, NULL where it is not set.
environment_number <- function(name) {
  text <- Sys.getenv(name, "")
  if (!nzchar(text)) return(NULL)
  number <- suppressWarnings(as.numeric(text))
  if (is.na(number)) text else number
}
