# One server of the serving cases, in R: server.R SIDE DIR. The sides answer POST /v1/predict with
# {"features": [[...], ...]} by {"probabilities": [...]}, from the same solution (intercept, then coefficients).
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1])
here <- dirname(normalizePath(script))
source(file.path(here, "data.R"))
source(file.path(here, "sides.R"))

# A file that appears at once with all that it says.
write_ready <- function(fields, path) {
  write_fields(fields, paste0(path, ".new"))
  file.rename(paste0(path, ".new"), path)
}

versions <- function(names) {
  paste(sprintf("%s %s", names, vapply(names, function(name) as.character(utils::packageVersion(name)), "")),
    collapse = ", ")
}

# Work without a pause: arithmetic, memory that R has to collect, and sorting.
compute_for <- function(seconds) {
  end <- Sys.time() + seconds
  x <- stats::runif(1e5)
  while (Sys.time() < end) x <- sort((x + stats::runif(1e5)) %% 1)
  invisible(x)
}

# Takes commands from its standard input, "status FILE" and "compute SECONDS", until that is closed.
run_voxridge <- function(dir, ready) {
  server <- voxridge::serve(readRDS(file.path(dir, "fit.rds")), port = 0L, n_threads = 1L)
  ready(server$port, "voxridge")
  commands <- file("stdin", "r")
  while (length(line <- readLines(commands, 1L))) {
    words <- strsplit(line, " ", fixed = TRUE)[[1]]
    if (words[1] == "status") {
      status <- voxridge::server_status(server)
      fields <- list(cpu_seconds = status$cpu_seconds, resident_bytes = status$resident_bytes,
        requests = sum(unlist(status$requests)))
      write_ready(lapply(fields, format, digits = 15), file.path(dir, words[2]))
    } else {
      compute_for(as.numeric(words[2]))
    }
  }
  voxridge::stop_server(server)
}

read_solution <- function(dir) {
  solution <- read_doubles(file.path(dir, "solution.bin"))
  list(intercept = solution[1], coefs = solution[-1])
}

run_plumber <- function(dir, ready) {
  solution <- read_solution(dir)
  predict <- function(req) {
    list(probabilities = as.vector(stats::plogis(req$body$features %*% solution$coefs + solution$intercept)))
  }
  # all digits that R's JSON has, instead of plumber's four: it takes no longer
  api <- plumber::pr_post(plumber::pr(), "/v1/predict", predict, parsers = "json",
    serializer = plumber::serializer_json(digits = NA))
  api <- plumber::pr_set_docs(api, FALSE)
  port <- httpuv::randomPort()
  ready(port, c("plumber", "httpuv", "jsonlite"))
  plumber::pr_run(api, host = "127.0.0.1", port = port, quiet = TRUE)
}

run_httpuv <- function(dir, ready) {
  solution <- read_solution(dir)
  predict <- function(req) {
    rows <- jsonlite::fromJSON(rawToChar(req$rook.input$read()))$features
    probabilities <- as.vector(stats::plogis(rows %*% solution$coefs + solution$intercept))
    list(status = 200L, headers = list("Content-Type" = "application/json"),
      body = as.character(jsonlite::toJSON(list(probabilities = probabilities), digits = NA)))
  }
  port <- httpuv::randomPort()
  ready(port, c("httpuv", "jsonlite"))
  httpuv::runServer("127.0.0.1", port, list(call = predict))
}

side <- commandArgs(TRUE)[1]
dir <- commandArgs(TRUE)[2]
run <- list(voxridge = run_voxridge, plumber = run_plumber, httpuv = run_httpuv)[[side]]
run(dir, function(port, packages) {
  write_ready(list(pid = Sys.getpid(), port = port, version = versions(packages)),
    file.path(dir, paste0(side, ".server")))
})
