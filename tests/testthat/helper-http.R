# A small HTTP client over base R sockets, and servers that end with their test.

# A server on a free port that stops with the test.
local_server <- function(fit, ..., .env = parent.frame()) {
  server <- serve(fit, port = 0, ...)
  withr::defer(if (core_server_is_here(server$pointer)) stop_server(server, drain_timeout_s = 0), envir = .env)
  server
}

open_connection <- function(server, timeout = 10) {
  suppressWarnings(socketConnection(server$host, server$port, open = "r+b", blocking = TRUE, timeout = timeout))
}

# TRUE where nothing listens there any more.
is_refused <- function(server) {
  connection <- tryCatch(open_connection(server, 2), error = function(cnd) NULL)
  if (is.null(connection)) return(TRUE)
  close(connection)
  FALSE
}

# The bytes of a request.
request_bytes <- function(path, body = NULL, type = "application/json", method = if (is.null(body)) "GET" else "POST",
                          fields = NULL) {
  if (is.character(body)) body <- charToRaw(body)
  head <- c(paste(method, path, "HTTP/1.1"), "Host: localhost", fields,
            if (!is.null(body)) c(paste("Content-Type:", type), paste("Content-Length:", length(body))))
  c(charToRaw(paste0(paste(head, collapse = "\r\n"), "\r\n\r\n")), body)
}

# list(status, headers, body): the next reply of a connection; NULL where it has been closed.
read_reply <- function(connection, has_body = TRUE) {
  line <- readLines(connection, 1L)
  if (!length(line)) return(NULL)
  headers <- character()
  repeat {
    field <- readLines(connection, 1L)
    if (!length(field) || !nzchar(field)) break
    headers[tolower(sub(":.*$", "", field))] <- sub("^[^:]*: *", "", field)
  }
  size <- as.integer(headers["content-length"])
  body <- raw()
  while (has_body && length(body) < size) {
    more <- readBin(connection, "raw", size - length(body))
    if (!length(more)) break
    body <- c(body, more)
  }
  list(status = as.integer(sub("^HTTP/1.1 ([0-9]+).*$", "\\1", line)), headers = headers, body = body)
}

# One request on a connection of its own.
http <- function(server, path, body = NULL, ..., method = if (is.null(body)) "GET" else "POST") {
  connection <- open_connection(server)
  on.exit(close(connection))
  writeBin(request_bytes(path, body, ..., method = method), connection)
  read_reply(connection, method != "HEAD")
}

text_of <- function(reply) rawToChar(reply$body)

json_of <- function(reply) jsonlite::fromJSON(text_of(reply))

# Rows with all their bits.
json_rows <- function(X) {
  columns <- lapply(seq_len(ncol(X)), function(j) sprintf("%.17g", X[, j]))
  sprintf("{\"features\":[%s]}", paste0("[", do.call(paste, c(columns, sep = ",")), "]", collapse = ","))
}

predict_json <- function(server, X, query = "", ...) http(server, paste0("/v1/predict", query), json_rows(X), ...)

predict_binary <- function(server, X, query = "", ...) {
  bytes <- writeBin(as.vector(t(X)), raw(), endian = "little")
  http(server, paste0("/v1/predict_binary", query), bytes, "application/octet-stream", ...)
}

# n x t
numbers_of <- function(reply, t) {
  matrix(readBin(reply$body, "double", length(reply$body) / 8, endian = "little"), ncol = t, byrow = TRUE)
}

# The value of a metric, by the start of its line.
metric <- function(server, name) {
  lines <- strsplit(text_of(http(server, "/metrics")), "\n", fixed = TRUE)[[1L]]
  found <- lines[startsWith(lines, paste0(name, " "))]
  as.numeric(sub("^.* ", "", found))
}

# Runs a script of Python beside this process; returns a function that waits for its end and gives what it printed.
start_python <- function(code, ...) {
  python <- Sys.which("python3")
  testthat::skip_if(!nzchar(python), "python3 is not installed")
  script <- tempfile(fileext = ".py")
  log <- tempfile()
  done <- tempfile()
  writeLines(c("import sys, os, time, socket, struct, json, http.client", code,
               "os.rename(sys.argv[1], sys.argv[2])"), script)
  file.create(part <- tempfile())
  system2(python, shQuote(c(script, part, done, ...)), stdout = log, stderr = log, wait = FALSE)
  function(seconds = 30) {
    if (!wait_until(function() file.exists(done), seconds)) {
      testthat::fail(paste(c("the Python client did not end:", readLines(log)), collapse = "\n"))
    }
    readLines(log)
  }
}

# ---- what is served --------------------------------------------------------------------------

# Features of many sizes.
made_features <- function(n, p, seed) withr::with_seed(seed, matrix(rnorm(n * p), n) * 10^runif(n * p, -3, 2))

# A fit of made-up outcomes, with a vector y for one target.
small_fit <- function(p, t = 1L, seed = 1L, ...) {
  withr::with_seed(seed, {
    X <- matrix(rnorm(50 * p), 50)
    Y <- (X[, rep_len(seq_len(p), t)] + rnorm(50 * t) > 0) + 0
  })
  quiet_logistic(X, if (t == 1L) drop(Y) else matrix(Y, 50), lambda = 0.1, ...)
}
