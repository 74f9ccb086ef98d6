# Servers of the serving cases: starts one side in a process of its own, asks it, reads what it has used. Linux only.

serving_sides <- list(
  voxridge = list(label = "voxridge serve()"),
  plumber = list(label = "plumber", packages = c("plumber", "httpuv", "jsonlite")),
  httpuv = list(label = "httpuv, jsonlite", packages = c("httpuv", "jsonlite")),
  fastapi = list(label = "FastAPI, uvicorn (uvloop, httptools)")
)

# R puts its own folders in front where libraries are looked for; among them may be another Python's.
without_r_libraries <- c("-u", "LD_LIBRARY_PATH")

# Why a side cannot run here, or NULL.
missing_side <- function(side) {
  packages <- serving_sides[[side]]$packages
  absent <- packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]
  if (length(absent)) return(paste("not installed:", paste(absent, collapse = ", ")))
  if (side != "fastapi") return(NULL)
  python <- peers_python()
  modules <- "fastapi, numpy, pydantic, uvicorn, uvloop, httptools"
  if (is.null(python)) return("no Python environment: run tools/peers.sh")
  check <- shQuote(c(without_r_libraries, python, "-c", paste("import", modules)))
  status <- system2("env", check, stdout = FALSE, stderr = FALSE)
  if (status != 0) paste("not installed, run tools/peers.sh:", modules)
}

wait_for_file <- function(path, seconds, what) {
  for (i in seq_len(seconds * 100)) {
    if (file.exists(path)) return(read_fields(path))
    Sys.sleep(0.01)
  }
  stop(what, " did not come within ", seconds, " s", call. = FALSE)
}

# Every side has one thread for its work; `limit_s` ends a server that was forgotten.
start_server <- function(side, dir, limit_s, here) {
  ready <- file.path(dir, paste0(side, ".server"))
  log <- file.path(dir, paste0(side, ".log"))
  unlink(ready)
  program <- if (side == "fastapi") {
    c(peers_python(), file.path(here, "server.py"), dir)
  } else {
    c(file.path(R.home("bin"), "Rscript"), file.path(here, "server.R"), side, dir)
  }
  environment <- sprintf("%s=1", c("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"))
  if (side == "fastapi") environment <- c(without_r_libraries, environment, "PYTHONDONTWRITEBYTECODE=1")
  command <- shQuote(c("env", environment, "timeout", limit_s, program))
  commands <- pipe(paste("exec", paste(command, collapse = " "), ">", shQuote(log), "2>&1"), "w")
  fields <- tryCatch(wait_for_file(ready, 30, paste("the server of", side)), error = function(e) {
    close(commands)
    stop(conditionMessage(e), ": ", utils::tail(readLines(log, warn = FALSE), 1), call. = FALSE)
  })
  server <- list(side = side, dir = dir, pid = as.integer(fields$pid), port = as.integer(fields$port),
    version = fields$version, commands = commands)
  for (i in 1:100) { # plumber and httpuv say that they are ready just before they listen
    if (!is.null(ask(server, "/v1/predict", json_type, file.path(dir, "rows.json"), fail = FALSE))) return(server)
    Sys.sleep(0.05)
  }
  stop_side(server)
  stop("the server of ", side, " does not answer", call. = FALSE)
}

stop_side <- function(server) {
  if (server$side != "voxridge") tools::pskill(server$pid)
  close(server$commands) # ends ours, and waits for either
}

# Calls code() with the servers of `sides`, and stops them whatever happens.
with_servers <- function(sides, settings, here, code) {
  servers <- list()
  on.exit(for (server in servers) stop_side(server))
  for (side in sides) servers[[side]] <- start_server(side, settings$work_dir, settings$limit_s, here)
  code(servers)
}

# Commands of our own server (server.R).
command_server <- function(server, ...) {
  writeLines(paste(...), server$commands)
  flush(server$commands)
}

server_numbers <- function(server) {
  path <- file.path(server$dir, "voxridge.status")
  unlink(path)
  command_server(server, "status", basename(path))
  lapply(wait_for_file(path, 30, "the status of the server"), as.numeric)
}

# CPU seconds of a process with all its threads, in user and kernel mode (proc(5)), in steps of 10 ms.
process_cpu <- function(server) {
  stat <- readLines(file.path("/proc", server$pid, "stat"))
  fields <- strsplit(sub(".*\\) ", "", stat), " ", fixed = TRUE)[[1]] # from the third on
  sum(as.numeric(fields[c(12, 13)])) / as.numeric(system2("getconf", "CLK_TCK", stdout = TRUE))
}

resident_mb <- function(server) {
  as.numeric(gsub("[^0-9]", "", first_match(file.path("/proc", server$pid, "status"), "^VmRSS"))) / 1024
}

json_type <- "application/json"
binary_type <- "application/octet-stream"

compile_client <- function(dir, here) {
  program <- file.path(dir, "serving_client")
  config <- function(name) system2(file.path(R.home("bin"), "R"), c("CMD", "config", name), stdout = TRUE)
  command <- paste(config("CXX17"), config("CXX17STD"), "-O2 -pthread -o", shQuote(program),
    shQuote(file.path(here, "serving_client.cpp")))
  if (system(command) != 0) stop("cannot compile serving_client.cpp: ", command, call. = FALSE)
  program
}

client_words <- function(server, path, type, body) shQuote(c(server$port, path, type, body))

# What the client prints, as numbers; an error where a request failed.
run_client <- function(mode, server, path, type, body, ...) {
  numbers <- list(...)
  words <- c(mode, client_words(server, path, type, body),
    sprintf("%s=%s", names(numbers), vapply(numbers, format, "", scientific = FALSE, digits = 15)))
  lines <- suppressWarnings(system2(file.path(server$dir, "serving_client"), words, stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(lines, "status"))) stop("client, ", mode, ": ", paste(lines, collapse = "; "), call. = FALSE)
  number_lines(lines)
}

number_lines <- function(lines) {
  pairs <- regmatches(lines, regexec("^([a-z_0-9]+): ([-0-9.e+naif]+)$", lines))
  pairs <- Filter(length, pairs)
  stats::setNames(lapply(pairs, function(pair) as.numeric(pair[3])), vapply(pairs, `[`, "", 2))
}

# The answer to one request as text, or NULL if there was none and `fail` is FALSE.
ask <- function(server, path, type, body, fail = TRUE) {
  answer <- suppressWarnings(system2(file.path(server$dir, "serving_client"),
    c("ask", client_words(server, path, type, body)), stdout = TRUE, stderr = FALSE))
  if (is.null(attr(answer, "status"))) return(paste(answer, collapse = "\n"))
  if (fail) stop("the server of ", server$side, " does not answer: ", paste(answer, collapse = " "), call. = FALSE)
}
