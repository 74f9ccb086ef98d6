# Runs one side of a comparison in a process of its own and reads back what it measured.
#
# A job and a result are text files of "key: value" lines (read.dcf()), so that R and Python need nothing extra.

write_fields <- function(fields, path) {
  writeLines(sprintf("%s: %s", names(fields), vapply(fields, function(x) paste(x, collapse = ","), "")), path)
}

read_fields <- function(path) {
  x <- read.dcf(path)
  stats::setNames(as.list(x[1, ]), colnames(x))
}

peers_python <- function() {
  dir <- Sys.getenv("VOXRIDGE_PEERS", file.path(Sys.getenv("HOME"), ".cache", "voxridge-peers"))
  python <- file.path(dir, "bin", "python")
  if (file.exists(python)) python else NULL
}

# `side` is "R" or "python". OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are overrides for one OpenBLAS build; the Python
# peers bring their own build, which chooses its kernels best by itself, so they are kept for R and dropped for Python.
# `variables` are set as well, "NAME=value".
run_worker <- function(side, job, dir, threads, limit_s, here, script = "worker.R", variables = NULL) {
  id <- paste0(job$name, "-", side)
  job_file <- file.path(dir, paste0(id, ".job"))
  result_file <- file.path(dir, paste0(id, ".result"))
  log_file <- file.path(dir, paste0(id, ".log"))
  unlink(result_file)
  job <- c(job, list(threads = threads, result = result_file, dir = dir))
  write_fields(job, job_file)
  environment <- c(
    if (side == "python") c("-u", "OPENBLAS_CORETYPE", "-u", "OPENBLAS_L2_SIZE"),
    sprintf("%s=%d", c("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VOXRIDGE_NUM_THREADS"), threads),
    "PYTHONDONTWRITEBYTECODE=1", variables
  )
  program <- if (side == "python") {
    c(peers_python(), file.path(here, "worker.py"))
  } else {
    c(file.path(R.home("bin"), "Rscript"), file.path(here, script))
  }
  status <- suppressWarnings(system2("env", shQuote(c(environment, program, job_file)),
    stdout = log_file, stderr = log_file, timeout = limit_s))
  if (file.exists(result_file)) return(c(read_fields(result_file), list(ok = TRUE)))
  reason <- if (status == 124) {
    sprintf("longer than %d s", limit_s)
  } else {
    log <- if (file.exists(log_file)) readLines(log_file, warn = FALSE) else character()
    log <- log[nzchar(log) & !grepl("^(Calls:|Execution halted)", log)]
    paste("failed:", utils::tail(c(sprintf("no output, status %d", status), log), 1))
  }
  list(ok = FALSE, reason = gsub("[[:space:]]+", " ", reason))
}

seconds_of <- function(result) if (isTRUE(result$ok)) as.numeric(strsplit(result$seconds, ",")[[1]]) else numeric()
number_of <- function(result, field) {
  value <- suppressWarnings(as.numeric(result[[field]] %||% NA))
  if (length(value) == 1) value else NA_real_
}
`%||%` <- function(x, y) if (is.null(x)) y else x
