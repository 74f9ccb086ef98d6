# One side of a comparison, in R: worker.R JOB. Reads X, Y and alphas, warms up, then fits `repeats` times.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
here <- dirname(normalizePath(script))
source(file.path(here, "data.R"))
source(file.path(here, "sides.R"))
source(file.path(here, "engines.R"))
source(file.path(here, "engines_logistic.R"))
source(file.path(here, "engines_inference.R"))
source(file.path(here, "engines_collection.R"))
source(file.path(here, "engines_predict.R"))
source(file.path(here, "engines_scale.R"))

memory_mb <- function(field) { # field: VmRSS (now) or VmHWM (highest so far); NA where the system does not say
  status <- tryCatch(readLines("/proc/self/status"), error = function(e) character(), warning = function(w) character())
  line <- grep(paste0("^", field, ":"), status, value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA_real_
}
# Sets VmHWM back to VmRSS (proc(5), clear_refs), so that reading the data does not count.
forget_peak <- function() {
  tryCatch(cat("5", file = "/proc/self/clear_refs"), error = function(e) NULL, warning = function(w) NULL)
}

job <- read_fields(commandArgs(TRUE)[1])
for (name in intersect(c("n", "p", "t", "folds", "outer", "candidates", "threads", "repeats", "permutations",
  "items", "n_centers", "n_compared", "batches", "batch", "sample", "workers"), names(job))) {
  job[[name]] <- as.integer(job[[name]])
}
engine <- c(r_engines, logistic_engines, inference_engines, collection_engines, predict_engines,
  scale_engines)[[job$engine]]
if (is.null(engine)) stop("no engine named ", job$engine)

data <- if (job$engine == "blas_rate") NULL else if (!is.null(job$files)) list(
  paths = utils::head(list.files(job$files, "^item-", full.names = TRUE), job$items),
  mask = voxridge::brain_mask(file.path(job$files, "mask.nii.gz"))
) else list(
  X = read_doubles(file.path(job$data, "X.bin"), c(job$n, job$p)),
  Y = read_doubles(file.path(job$data, "Y.bin"), c(job$n, job$t)),
  alphas = if (!is.null(job$alphas)) read_doubles(job$alphas),
  rows = if (!is.null(job$rows)) read_doubles(job$rows, c(job$permutations, job$n))
)
if (!is.null(job$gammas)) {
  sizes <- as.integer(strsplit(job$band_sizes, ",", fixed = TRUE)[[1]])
  data$gammas <- read_doubles(job$gammas, c(job$candidates, length(sizes)))
  data$Xs <- split_bands(data$X, sizes)
  data$X <- NULL
}
engine$setup(job)

timed <- function(fit) {
  invisible(gc())
  cpu <- proc.time()
  start <- Sys.time()
  result <- fit()
  seconds <- as.numeric(difftime(Sys.time(), start, units = "secs"))
  list(seconds = seconds, cpu = sum((proc.time() - cpu)[c("user.self", "sys.self")]), result = result)
}

# With `tune: yes`, the fastest setting of an engine that has several, found as worker.py does it.
if (!is.null(engine$settings) && is.null(job$setting)) job$setting <- engine$settings(job)[1]
if (identical(job$tune, "yes")) {
  tried <- c()
  for (setting in engine$settings(job)) {
    fit <- function() engine$fit(data, utils::modifyList(job, list(setting = setting)))
    seconds <- timed(fit)$seconds
    if (seconds < 1.5 * min(tried, Inf)) seconds <- min(seconds, timed(fit)$seconds)
    tried[setting] <- seconds
  }
  write_fields(list(
    setting = names(which.min(tried)), seconds = min(tried),
    tried = paste(sprintf("%s %.3f s", names(tried), tried), collapse = "; ")
  ), job$result)
  quit(save = "no")
}
invisible(gc())
forget_peak()
before <- memory_mb("VmRSS")

# Warm-up: one fit, and up to four more within a second (R compiles functions to byte code in their first calls).
warm_start <- Sys.time()
fit <- NULL
for (i in if (!identical(job$warm_up, "no")) 1:5) {
  fit <- NULL
  invisible(gc())
  fit <- engine$fit(data, job)
  if (difftime(Sys.time(), warm_start, units = "secs") > 1) break
}
seconds <- numeric()
cpu <- numeric()
for (i in seq_len(job$repeats)) {
  fit <- NULL
  run <- timed(function() engine$fit(data, job))
  fit <- run$result
  seconds[i] <- run$seconds
  cpu[i] <- run$cpu
  run <- NULL
}
peak <- memory_mb("VmHWM")

answer <- engine$answer(fit, data, job)
prefix <- sub("\\.result$", "", job$result)
for (kind in intersect(c("alphas", "candidates", "coefs", "counts", "maxima", "statistics", "predictions",
  "decisions"), names(answer))) {
  if (!is.null(answer[[kind]])) write_doubles(answer[[kind]], paste(prefix, kind, sep = "."))
}
write_fields(c(
  list(seconds = format(seconds, digits = 8, trim = TRUE), cpu_seconds = mean(cpu), before_mb = before, peak_mb = peak,
    version = engine$version()),
  answer$fields
), job$result)
