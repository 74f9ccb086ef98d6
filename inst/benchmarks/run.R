# Rscript inst/benchmarks/run.R --domain ridge [--size quick|full] [--repeats 5] [--threads 2] [--only PATTERN]
#   [--sides both|ours|peers] [--rounds 2] [--limit 600] [--out DIR] [--list]
# Rscript inst/benchmarks/run.R --domain serving [--size quick|full] [--repeats 5] [--only PATTERN] [--limit 600]
#   [--seconds 60] [--requests 1000000] [--out DIR] [--list]
# Rscript inst/benchmarks/run.R --domain scale|blas [--size quick|full] [--only PATTERN] [--limit 600] [--out DIR]
#   [--list]
#
# Measures every case of cases_<domain>.R whose id matches PATTERN, and keeps one row per case in <out>/<host>.csv.
# README.md beside this file says what is measured and how.

script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
here <- dirname(normalizePath(script))
for (file in c("data", "logistic", "inference", "collection", "predict", "sides", "engines", "engines_logistic",
  "engines_inference", "engines_collection", "engines_predict", "engines_scale", "compare", "host", "render", "servers",
  "serving", "serving_rows", "scale", "blas")) {
  source(file.path(here, paste0(file, ".R")))
}
r_engines <- c(r_engines, logistic_engines, inference_engines, collection_engines, predict_engines)

parse_arguments <- function(arguments) {
  settings <- list(domain = "ridge", size = "full", repeats = 5, threads = 2, only = "", sides = "both", rounds = 2,
    limit = 600, seconds = 60, requests = 1e6, out = "", list = FALSE)
  i <- 1
  while (i <= length(arguments)) {
    name <- sub("^--", "", arguments[i])
    if (!startsWith(arguments[i], "--") || is.null(settings[[name]])) {
      stop("unknown argument: ", arguments[i], call. = FALSE)
    }
    if (name == "list") {
      settings$list <- TRUE
      i <- i + 1
      next
    }
    if (i == length(arguments)) stop("no value for --", name, call. = FALSE)
    value <- arguments[i + 1]
    settings[[name]] <- if (is.numeric(settings[[name]])) as.integer(value) else value
    i <- i + 2
  }
  stopifnot(settings$size %in% c("quick", "full"), settings$sides %in% c("both", "ours", "peers"))
  settings$limit_s <- settings$limit
  settings
}

# Rows are identified by these columns: a new measurement replaces the old row and leaves the others. A case that is
# not a comparison has several rows, all made anew.
row_key <- function(rows) {
  if (!is.null(rows$measure) || !is.null(rows$library)) return(rows$case)
  paste(rows$case, rows$spectrum, rows$precision, rows$peer, rows$threads)
}

save_row <- function(row, path) {
  old <- if (file.exists(path)) utils::read.csv(path) else row[0, ]
  old[setdiff(names(row), names(old))] <- if (nrow(old)) NA else logical() # columns that an older file lacks
  rows <- rbind(old[!row_key(old) %in% row_key(row), names(row)], row)
  utils::write.csv(rows, path, row.names = FALSE)
}

say_row <- function(row) {
  seconds <- function(x) if (is.na(x)) "-" else if (x < 0.02) sprintf("%.3f ms", 1e3 * x) else sprintf("%.3f s", x)
  gradients <- if (!is.na(row$peer_gradient)) {
    sprintf(", gradients %s, %s", format(row$ours_gradient, digits = 2), format(row$peer_gradient, digits = 2))
  }
  cat(sprintf("%-18s %-5s %-6s ours %-10s peer %-10s ratio %s (wanted %s) choices equal %s, coefs %s%s%s\n",
    row$case, row$spectrum, row$precision, seconds(row$ours_s), seconds(row$peer_s), format(row$ratio, digits = 3),
    format(row$wanted, digits = 3), format(row$alphas_equal, digits = 4), format(row$coef_difference, digits = 2),
    c(gradients, "")[1],
    if (nzchar(row$problem)) paste0(" [", row$problem, "]") else ""))
}

settings <- parse_arguments(commandArgs(TRUE))
source(file.path(here, "cases.R"))
source(file.path(here, sprintf("cases_%s.R", settings$domain)))
cases <- Filter(function(case) grepl(settings$only, case$id), benchmark_cases())
if (settings$list) {
  for (case in cases) {
    cat(case$id, case$precision, if (!is.null(case$peer_label)) paste("against", case$peer_label), "\n")
  }
  quit(save = "no")
}
settings$work_dir <- tempfile("voxridge-benchmark-")
dir.create(settings$work_dir)
# Small sizes only show that everything works: they never mix with results worth keeping.
if (settings$out == "") {
  results <- file.path(here, "results")
  settings$out <- if (settings$size == "full") results else tempfile("quick-results-", dirname(tempdir()))
}
dir.create(settings$out, showWarnings = FALSE, recursive = TRUE)
# domains whose cases measure by themselves, into a file of their own
own_rows <- settings$domain %in% c("serving", "scale", "blas")
if (own_rows) settings$threads <- if (settings$domain == "blas") parallel::detectCores() else 1L
csv <- file.path(settings$out, paste0(host_id(), if (own_rows) paste0("-", settings$domain), ".csv"))
measure <- switch(settings$domain,
  serving = function(case) measure_case(case, settings, here, prepare_serving),
  scale = function(case) measure_scale(case, settings, here),
  blas = function(case) measure_blas(case, settings, here)
)
say <- if (settings$domain == "blas") say_blas else if (own_rows) say_measured else say_row

# cases that share data next to each other, so that the data are made once
order_key <- vapply(cases, function(case) sprintf("%06d %06d %06d", case$n, case$p, case$t), "")
for (case in cases[order(order_key)]) {
  if (settings$size == "quick") case <- utils::modifyList(case, case$quick)
  for (spectrum in case$spectra) {
    row <- if (own_rows) measure(case) else compare_case(case, spectrum, settings, here)
    save_row(row, csv)
    say(row)
  }
}
unlink(settings$work_dir, recursive = TRUE)

rows <- utils::read.csv(csv)
versions <- unique(unlist(strsplit(as.character(stats::na.omit(rows$peer_version)), ", ", fixed = TRUE)))
record <- environment_record(settings$threads, grep("^(voxridge|BLAS) ", versions, value = TRUE, invert = TRUE))
write_fields(record, sub("\\.csv$", ".txt", csv))
render_results(settings$out)
cat("results:", csv, "\n")
