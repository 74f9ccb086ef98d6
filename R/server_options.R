# The arguments of serve(), checked.

MAX_SECONDS <- 86400

as_seconds <- function(x, null_ok = FALSE, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (null_ok && is.null(x)) return(NULL)
  if (is_number(x) && x >= 0 && x <= MAX_SECONDS) return(as.double(x))
  found <- describe(x)
  most <- format_count(MAX_SECONDS)
  abort(paste0("{.arg {arg}} must be a number of seconds from 0 to {most}", if (null_ok) " or NULL", ", not {found}."),
        "argument", expected = c(0, MAX_SECONDS), found = found, call = call)
}

# ---- where it listens ------------------------------------------------------------------------

LOOPBACK <- "127.0.0.1"

# list(host, port, socket_path), "" and 0 for what is not used. All three: settings(value, given).
as_place <- function(host, port, socket_path, call) {
  if (is.null(socket_path)) {
    return(list(host = as_address(host$value, call), port = as_port(port$value, call), socket_path = ""))
  }
  check_not_beside_socket(host, "host", call)
  check_not_beside_socket(port, "port", call)
  list(host = LOOPBACK, port = 0L, socket_path = as_socket_path(socket_path, call))
}

check_not_beside_socket <- function(x, arg, call) {
  if (!x$given) return(invisible())
  abort(c("{.arg {arg}} must be left out where {.arg socket_path} is given, not {describe(x$value)}.",
          i = "A server listens at one place: a port, or a file of the system."),
        "conflict", found = describe(x$value), call = call)
}

as_port <- function(port, call) as_count(port, min = 0, max = 65535, arg = "port", call = call)

# Names are not looked up: one name may stand for several addresses, or for another one tomorrow.
as_address <- function(host, call) {
  if (rlang::is_string(host)) {
    if (tolower(host) == "localhost") return(LOOPBACK)
    bare <- sub("^\\[(.*)\\]$", "\\1", host)
    if (is_ipv4(bare) || is_ipv6(bare)) return(as.vector(bare))
  }
  found <- describe(host)
  abort(
    c("{.arg host} must be an address of this machine or {.val localhost}, not {found}.",
      i = "{.val 127.0.0.1} serves this machine alone, {.val 0.0.0.0} all that can reach it; names are not looked up."),
    "argument",
    found = found, call = call
  )
}

is_ipv4 <- function(x) {
  if (!grepl("^[0-9]{1,3}(\\.[0-9]{1,3}){3}$", x)) return(FALSE)
  all(as.integer(strsplit(x, ".", fixed = TRUE)[[1L]]) <= 255L)
}

# With a zone, as in fe80::1%eth0. What else is wrong with it, the system says.
is_ipv6 <- function(x) grepl("^[0-9A-Fa-f:]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9_.-]+)?$", x)

is_loopback <- function(place) {
  nzchar(place$socket_path) || core_is_loopback(place$host)
}

as_socket_path <- function(path, call) {
  if (rlang::is_string(path) && nzchar(path)) {
    folder <- dirname(path.expand(path))
    if (dir.exists(folder)) return(file.path(normalizePath(folder), basename(path)))
    abort(c("{.arg socket_path} must be a file in a folder that exists, not {.file {path}}."), "argument", found = path,
          call = call)
  }
  found <- describe(path)
  abort("{.arg socket_path} must be the path of a socket, or NULL, not {found}.", "argument", found = found,
        call = call)
}

# Names by which clients call this machine, without ports.
as_allowed_hosts <- function(x, call) {
  if (is.null(x)) return(character())
  bad <- if (is.character(x)) which(is.na(x) | !grepl("^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])$", x)) else 1L
  if (is.character(x) && !length(bad)) return(as.vector(x))
  found <- describe(if (is.character(x)) x[[bad[1L]]] else x)
  abort(
    c("{.arg allowed_hosts} must be names of hosts as in {.val scores.example.org}, or NULL, not {found}.",
      i = "Without a port: it may be any. An IPv6 address stands in brackets."),
    "argument",
    found = found, where = bad, call = call
  )
}

check_hosts_used <- function(allowed_hosts, place, token, call) {
  reason <- if (nzchar(token)) {
    "a token"
  } else if (nzchar(place$socket_path)) {
    "a socket_path"
  } else if (!is_loopback(place)) {
    "another host than the loopback"
  }
  if (is.null(reason) || !length(allowed_hosts)) return(invisible())
  abort(
    c("{.arg allowed_hosts} must be NULL with {reason}, not {.val {allowed_hosts}}.",
      i = "It guards a server that only this machine reaches; with {reason} any name is taken."),
    "conflict",
    found = allowed_hosts, call = call
  )
}

# ---- names -----------------------------------------------------------------------------------

# Short words that can stand in a header.
as_label <- function(x, null_ok = FALSE, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  if (null_ok && is.null(x)) return("")
  if (rlang::is_string(x) && grepl("^[A-Za-z0-9._+:/-]{1,128}$", x)) return(as.vector(x))
  found <- describe(x)
  abort(
    c(paste0("{.arg {arg}} must be 1 to 128 letters a to z, digits or . _ + - : /", if (null_ok) ", or NULL",
             ", not {found}."),
      i = "It stands in headers of replies and among the metrics."),
    "argument",
    found = found, call = call
  )
}

# ---- token -----------------------------------------------------------------------------------

TOKEN_VARIABLE <- "VOXRIDGE_TOKEN"

# "" where there is none. A token is never shown, nor part of a condition.
as_token <- function(token, token_file, call) {
  from_environment <- Sys.getenv(TOKEN_VARIABLE, "")
  sources <- c("the argument {.arg token}" = !is.null(token), "the argument {.arg token_file}" = !is.null(token_file),
               "the environment variable VOXRIDGE_TOKEN" = nzchar(from_environment))
  if (sum(sources) > 1L) {
    both <- paste(names(sources)[sources], collapse = " and ")
    abort(c(paste0("{.arg token} must come from one place, not from ", both, "."), i = "Leave out all but one."),
          "token", call = call)
  }
  if (!is.null(token)) return(check_token(token, "{.arg token}", call))
  if (!is.null(token_file)) return(check_token(read_token(token_file, call), "The token of {.arg token_file}", call))
  if (nzchar(from_environment)) return(check_token(from_environment, "The token of {.envvar VOXRIDGE_TOKEN}", call))
  ""
}

check_token <- function(token, whose, call) {
  found <- token_fault(token)
  if (is.null(found)) return(as.vector(token))
  abort(c(paste0(whose, " must be text of at least 16 printable ASCII characters without blanks, not ", found, "."),
          i = "For example what {.code openssl rand -hex 32} prints."),
        "token", call = call)
}

# What is wrong with it, without showing it.
token_fault <- function(token) {
  if (!rlang::is_string(token)) return(paste(count_label(length(token), "value"), "of type", typeof(token)))
  bytes <- as.integer(charToRaw(token))
  if (any(bytes < 33L | bytes > 126L)) return("one with blanks or other characters")
  if (length(bytes) < 16L) return(paste("one of", count_label(length(bytes), "character")))
  if (length(bytes) > 4096L) return("one of more than 4096")
  NULL
}

# The one line of a file.
read_token <- function(path, call) {
  if (!rlang::is_string(path)) {
    found <- describe(path)
    abort("{.arg token_file} must be the path of a file, or NULL, not {found}.", "token", call = call)
  }
  bytes <- tryCatch(suppressWarnings(readBin(path, "raw", 65536L)), error = function(cnd) NULL)
  lines <- if (!any(bytes == 0L)) strsplit(rawToChar(bytes %||% raw()), "\r?\n", useBytes = TRUE)[[1L]]
  if (length(lines) == 1L) return(lines)
  found <- if (is.null(bytes)) "one that cannot be read"
           else if (any(bytes == 0L)) "one with bytes of no text"
           else if (length(lines)) "several lines" else "an empty one"
  abort("{.arg token_file} must be a file of one line, the token, not {found} ({.file {path}}).", "token", call = call)
}

warn_open <- function(place, token) {
  if (nzchar(token) || is_loopback(place)) return(invisible())
  warn_once(
    c("Whoever reaches {place$host} can use this server: it asks for no token.",
      i = "Set the environment variable VOXRIDGE_TOKEN, or serve at {.val 127.0.0.1} behind a proxy."),
    "no_token"
  )
}

# ---- limits ----------------------------------------------------------------------------------

MAX_LIMIT <- 2^40

# Smallest and largest values that make sense, where they are not 1 and MAX_LIMIT.
LIMIT_RANGES <- list(
  max_rows = c(1, 1e6), max_header_bytes = c(256, 65536), max_uri_bytes = c(64, 65536), max_connections = c(1, 1e6),
  max_pipelined = c(1, 1e4), max_pending_output = c(1024, 2^30)
)

# All limits by name, those of `limits` in place of the defaults.
as_limits <- function(limits, n_features, call) {
  defaults <- core_server_limits(n_features)
  values <- c(defaults$counts, defaults$times)
  check_limit_names(limits, names(values), call)
  for (name in names(limits)) {
    values[[name]] <- if (name %in% names(defaults$times)) {
      as_limit_seconds(limits[[name]], name, call)
    } else {
      as_limit_count(limits[[name]], name, call)
    }
  }
  check_body_limit(values, names(limits), defaults$row_bytes, call)
  values
}

check_limit_names <- function(limits, known, call) {
  if (!is.list(limits) || is.object(limits) || (length(limits) && is.null(names(limits)))) {
    found <- describe(limits)
    abort(c("{.arg limits} must be a named list, not {found}.", i = "For example {.code list(max_rows = 64)}."),
          "limits", found = found, call = call)
  }
  unknown <- setdiff(names(limits), known)
  if (length(unknown)) {
    nearest <- if (nzchar(unknown[1L])) nearest_word(unknown[1L], known)
    advice <- if (length(nearest)) "Did you mean {.val {nearest[1]}}?" else "There are {.val {known}}."
    abort(c("{.arg limits} must have names of limits, not {.val {unknown[1]}}.", i = advice), "limits",
          expected = known, found = unknown, call = call)
  }
  again <- names(limits)[duplicated(names(limits))]
  if (!length(again)) return(invisible(limits))
  abort("{.arg limits} must have each limit once, not {.val {again[1]}} twice.", "limits", found = again, call = call)
}

as_limit_count <- function(x, name, call) {
  range <- LIMIT_RANGES[[name]] %||% c(1, MAX_LIMIT)
  if (is_number(x) && x == round(x) && x >= range[1L] && x <= range[2L]) return(as.double(x))
  words <- format_count(range)
  abort_limit(name, paste("a whole number from", words[1L], "to", words[2L]), describe(x), range, call)
}

as_limit_seconds <- function(x, name, call) {
  if (is_number(x) && x > 0 && x <= MAX_SECONDS) return(as.double(x))
  abort_limit(name, paste("a number of seconds greater than 0, at most", format_count(MAX_SECONDS)), describe(x),
              c(0, MAX_SECONDS), call)
}

abort_limit <- function(name, must, found, expected, call, advice = NULL) {
  abort(c("{.arg limits${name}} must be {must}, not {found}.", i = advice), "limits", expected = expected,
        found = found, where = name, call = call)
}

# A body must have room for a row, and the server for a body.
check_body_limit <- function(values, given, row_bytes, call) {
  body <- values[["max_body_bytes"]]
  if (body < row_bytes) {
    abort_limit("max_body_bytes", sprintf("at least %s, the bytes that a row may take", format_count(row_bytes)),
                format_count(body), row_bytes, call)
  }
  pool <- values[["max_inflight_bytes"]]
  if (pool >= body) return(invisible())
  abort_limit("max_inflight_bytes", sprintf("at least max_body_bytes (%s)", format_count(body)), format_count(pool),
              body, call, "Raise it with {.code limits$max_body_bytes}: no body that large would be taken.")
}

# What the system allows may be less.
warn_connections <- function(asked, got) {
  if (got >= asked) return(invisible())
  warn(
    c("The server takes {format_count(got)} connections at once, not {format_count(asked)}.",
      i = "The system lets this process open no more files: see {.code ulimit -n}."),
    "max_connections",
    expected = asked, found = got
  )
}
