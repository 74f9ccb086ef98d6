# Handles of servers, and the table that keeps servers alive whatever happens to the handles.

# $all: handles of the servers of this process, and after a fork those of its parent; $has_run: whether there was any.
SERVERS <- new.env(parent = emptyenv())
SERVERS$all <- list()
SERVERS$has_run <- FALSE

# `settings`: what is asked of the handle later (n_threads, drain_delay_s, drain_timeout_s, source).
new_server <- function(pointer, place, settings) {
  port <- core_server_place(pointer)$port
  model <- core_server_model(pointer)
  on_socket <- nzchar(place$socket_path)
  server <- structure(
    list(
      url = server_url(place, port), host = if (!on_socket) place$host, port = if (!on_socket) port,
      socket_path = if (on_socket) place$socket_path, model_name = model$name, model_version = model$version,
      pointer = pointer, settings = list2env(settings, parent = emptyenv())
    ),
    class = "voxridge_server"
  )
  SERVERS$all <- c(SERVERS$all, list(server))
  SERVERS$has_run <- TRUE
  server
}

server_url <- function(place, port) {
  if (nzchar(place$socket_path)) return(paste0("unix:", place$socket_path))
  sprintf(if (grepl(":", place$host, fixed = TRUE)) "http://[%s]:%d" else "http://%s:%d", place$host, port)
}

is_here <- function(server) core_server_is_here(server$pointer)

is_running <- function(server) core_server_status(server$pointer)$running

# The servers that run, without those that have ended.
running_servers <- function() {
  SERVERS$all <- Filter(function(server) !is_here(server) || is_running(server), SERVERS$all)
  Filter(is_here, SERVERS$all)
}

# A handle whose server is in this process.
as_server <- function(server, call, arg = "server") {
  if (!inherits(server, "voxridge_server")) {
    found <- describe(server)
    abort("{.arg {arg}} must be a server that {.fn serve} returned, not {found}.", "type", found = found, call = call)
  }
  if (!is_here(server)) abort_dead_handle(arg, call)
  server
}

abort_dead_handle <- function(arg, call) {
  abort(
    c("{.arg {arg}} must be a server of this R process, not of another one.",
      i = "A handle that was saved, sent or forked has no server: call {.code serve(fit)} here."),
    "dead_handle",
    call = call
  )
}

# Where no server is named: the servers that run. In a child of a fork there are only those of its parent.
all_servers <- function(call) {
  servers <- running_servers()
  if (!length(servers) && length(SERVERS$all)) abort_dead_handle("server", call)
  servers
}

the_only_server <- function(call) {
  servers <- all_servers(call)
  if (length(servers) == 1L) return(servers[[1L]])
  if (!length(servers)) {
    abort(c("{.arg server} must be a running server, but there is none.", i = "{.fn serve} starts one."), "no_server",
          call = call)
  }
  urls <- vapply(servers, `[[`, "", "url")
  abort(
    c("{.arg server} must be given where there is not one server, but {length(urls)}.",
      i = paste("They are", escape(first_few(urls, 10L)))),
    "no_server",
    found = urls, call = call
  )
}

# ---- the end ---------------------------------------------------------------------------------

# TRUE where it has ended. Sys.sleep() lets R see interrupts and time limits.
wait_a_moment <- function(server) {
  ended <- core_server_wait(server$pointer, 0.1)
  if (!ended) Sys.sleep(0)
  ended
}

# R can interrupt this; the server goes on with its drain.
wait_for_end <- function(server) {
  repeat if (wait_a_moment(server)) break
  invisible(running_servers())
}

# For a script or a container: serves until SIGTERM or an interrupt, the first of which lets requests end. The second
# cuts them off. An interrupt goes on to what called serve(), when the server has ended. (serve() catches SIGTERM.)
serve_until_signal <- function(server) {
  interrupts <- 0L
  asked <- 0L
  suspendInterrupts({
    repeat {
      ended <- tryCatch(allowInterrupts(wait_a_moment(server)), interrupt = function(cnd) NULL)
      if (is.null(ended)) interrupts <- interrupts + 1L
      if (isTRUE(ended)) break
      signals <- interrupts + core_sigterm_count()
      if (signals > asked) begin_stop(server, cut = signals > 1L)
      asked <- signals
    }
  })
  running_servers()
  if (interrupts) rlang::interrupt()
}

begin_stop <- function(server, timeout_s = NULL, cut = FALSE) {
  settings <- server$settings
  core_server_begin_stop(server$pointer, if (cut) 0 else settings$drain_delay_s,
                         if (cut) 0 else timeout_s %||% settings$drain_timeout_s)
}

stop_at_once <- function(server) {
  begin_stop(server, cut = TRUE)
  core_server_wait(server$pointer, 5)
}

# At the end of the package.
stop_all_servers <- function() for (server in running_servers()) stop_at_once(server)

# ---- status ----------------------------------------------------------------------------------

status_of <- function(server) {
  core <- core_server_status(server$pointer)
  c(
    core[c("running", "ready")],
    list(url = server$url, port = server$port, n_threads = server$settings$n_threads,
         model = core_server_model(server$pointer)),
    core[c("uptime_s", "requests", "rejects", "rows", "connections", "connections_total", "inflight_requests",
           "inflight_bytes", "received_bytes", "sent_bytes", "model_swaps", "aborted")],
    list(latency = latency_of(core$latency_bounds, core$latency_counts)),
    core[c("cpu_seconds", "resident_bytes")]
  )
}

# Seconds. `buckets`: how many requests took at most `upper`, and more than the one before.
latency_of <- function(bounds, counts) {
  quantiles <- vapply(c(p50 = 0.5, p90 = 0.9, p99 = 0.99), bucket_quantile, 0, bounds, counts)
  c(as.list(quantiles), list(buckets = data.frame(upper = c(bounds, Inf), count = counts)))
}

# A straight line within the bucket; Inf above the last bound, NA of nothing.
bucket_quantile <- function(q, bounds, counts) {
  up_to <- cumsum(counts)
  rank <- q * sum(counts)
  if (rank == 0) return(NA_real_)
  i <- which(up_to >= rank)[1L]
  if (i > length(bounds)) return(Inf)
  lower <- c(0, bounds)[i]
  lower + (bounds[i] - lower) * (rank - up_to[i] + counts[i]) / counts[i]
}

#' @rdname serve
#' @export
print.voxridge_server <- function(x, ...) {
  rlang::check_dots_empty()
  if (!is_here(x)) {
    print_fields(paste("Scoring server at", x$url), c(state = "of another R process: serve(fit) starts one here"))
    return(invisible(x))
  }
  status <- status_of(x)
  latency <- status$latency
  print_fields(paste("Scoring server at", x$url), c(
    state = if (status$ready) "ready" else if (status$running) "draining" else "stopped",
    model = model_words(status$model),
    requests = paste0(format_count(sum(status$requests)), count_words(status$requests)),
    if (!is.na(latency$p50)) {
      c(latency = sprintf("p50 %s, p99 %s", milliseconds(latency$p50), milliseconds(latency$p99)))
    }
  ))
  invisible(x)
}

model_words <- function(model) {
  kind <- if (model$kind == "logistic") "logistic regression" else "ridge regression"
  sprintf("%s, version %s (%s, %s x %s)", model$name, model$version, kind, count_label(model$n_features, "feature"),
          count_label(model$n_targets, "target"))
}

# " (200: 12, 422: 1)"
count_words <- function(counts) {
  counts <- counts[counts > 0]
  if (!length(counts)) return("")
  sprintf(" (%s)", paste(names(counts), format_count(counts), sep = ": ", collapse = ", "))
}

milliseconds <- function(seconds) {
  if (is.infinite(seconds)) "over the last bound" else paste(format_numbers(1000 * seconds, 2L), "ms")
}
