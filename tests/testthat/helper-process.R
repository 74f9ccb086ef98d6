# R in a process of its own: memory and interrupts can be seen only from outside.

# Starts `code` (text) in the background; returns its pid, log and finished().
start_r <- function(code, folder) {
  script <- file.path(folder, "script.R")
  log <- file.path(folder, "log")
  done <- file.path(folder, "done")
  header <- c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    sprintf("cat(Sys.getpid(), '\\n', file = %s)", deparse(file.path(folder, "pid"))),
    "options(voxridge.threads = 2L)",
    "library(voxridge)"
  )
  writeLines(c(header, code), script)
  # no shell job control here: a background process of sh ignores SIGINT, so R is started by R's own system2()
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = log, stderr = log,
          wait = FALSE)
  pid_file <- file.path(folder, "pid")
  wait_until(function() file.exists(pid_file) && length(readLines(pid_file)) > 0L, 20)
  list(pid = as.integer(readLines(pid_file)), log = log, folder = folder)
}

# TRUE as soon as `condition()` holds, FALSE after `seconds`.
wait_until <- function(condition, seconds) {
  end <- proc.time()[["elapsed"]] + seconds
  while (proc.time()[["elapsed"]] < end) {
    if (isTRUE(condition())) return(TRUE)
    Sys.sleep(0.02)
  }
  isTRUE(condition())
}

# Runs `code` to its end and returns what it printed.
run_r <- function(code, folder) {
  script <- file.path(folder, "script.R")
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
               "options(voxridge.threads = 2L)", "library(voxridge)", code), script)
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE,
                           stderr = TRUE))
}

# Peak resident memory of `code` beyond what was there before it, in MB, as the kernel counts it, its seconds, and the
# first line that `after` prints. `before` is not measured; it makes such calls thrice, so that R has compiled them.
measure_peak <- function(before, code, after = "") {
  testthat::skip_on_cran()
  testthat::skip_if_not(file.exists("/proc/self/clear_refs"), "memory can be measured on Linux only")
  out <- run_r(c(
    "resident <- function(what) {",
    "  line <- grep(paste0('^', what), readLines('/proc/self/status'), value = TRUE)",
    "  as.numeric(gsub('[^0-9]', '', line)) / 1024",
    "}",
    before,
    "invisible(gc())",
    "cat('5', file = '/proc/self/clear_refs')   # the peak starts anew from here",
    "resident_before <- resident('VmRSS')",
    sprintf("seconds <- system.time(%s)[['elapsed']]", code),
    "cat(sprintf('peak %.1f\\ntime %.2f\\n', resident('VmHWM') - resident_before, seconds))",
    after
  ), withr::local_tempdir())
  number <- function(name) as.numeric(sub("^[a-z]* ", "", grep(paste0("^", name, " "), out, value = TRUE)))
  if (length(number("peak")) != 1L) testthat::fail(paste(c("no peak was measured:", out), collapse = "\n"))
  list(peak = number("peak"), time = number("time"), shown = out[-(1:2)][1L])
}
