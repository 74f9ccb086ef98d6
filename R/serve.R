#' Serve a fit over HTTP
#'
#' Starts a server in this R process that scores rows with a fit, over HTTP, with the bits of `predict()`.
#'
#' The server runs on threads of its own, in compiled code, with a copy of the coefficients: R may go on computing,
#' sleep, or sit in another call. `rm(server)` does not stop it; `stop_server()`, unloading the package and the end of
#' R do. Call `serve()` with `wait = TRUE` in scripts and containers.
#'
#' @section Requests:
#'
#' * `POST /v1/predict` with `Content-Type: application/json` and `{"features":[[0.5,-1.2],[1,2]]}`, a list of numbers
#'   per row, answers `{"probabilities":[0.69,0.2],"decisions":[1,0]}`; for several targets one list per row. With
#'   `?logits=true` also `"logits"`. A request may name the columns, `"columns":["a","b"]`, which must be those of the
#'   fit, in their order. A ridge fit answers `{"predictions":[[1.5,0.2]]}`.
#' * `POST /v1/predict_binary` with `Content-Type: application/octet-stream` and rows of little-endian 8-byte numbers,
#'   one row after another, answers in the same form, rows x targets; with `?output=logits` logits.
#' * `GET /v1/metadata`, `GET /metrics` (for Prometheus), and the probes `GET /livez`, `/readyz` and `/healthz`.
#'
#' Numbers keep all their bits if they are sent with 17 digits: `sprintf("%.17g", x)`. One bad row (a number missing or
#' too many, `"1"`, `null`, `1e999`) fails its request, with status 4xx and
#' `{"error":{"code":"wrong_row_length","message":"...","row":2}}`.
#'
#' @section Decisions:
#'
#' A decision is 1 where the logit is at least the logit of `threshold`, as in `predict(fit, X, "class")`. `prior`
#' moves probabilities to another prevalence of the positive class, as [prior_correct()] does with
#' `from = fit$prevalence`: the difference of the logits of the two is added to each logit. A fit made with a `prior` of
#' its own is not shifted twice: `prior` here takes its place, and NULL leaves it.
#'
#' @section Security:
#'
#' By default only this machine can reach the server. `host = "0.0.0.0"` opens it to the network: use a token, and a
#' proxy in front for TLS, which the server does not speak. With a token, `/v1/*` and `/metrics` need the header
#' `Authorization: Bearer <token>`; the probes do not. Without one, on the loopback, the `Host` of a request must be
#' `localhost`, `127.0.0.1`, `[::1]` or one of `allowed_hosts`, so that no web page can reach the server through a
#' browser. Prefer the environment variable `VOXRIDGE_TOKEN` or `token_file`: what stands in a call ends up in histories
#' and tracebacks. The handle does not hold the token. `readRDS()` of a model runs what its author wants: read only
#' files that you trust.
#'
#' @section Limits:
#'
#' | name | default | beyond it |
#' | --- | --- | --- |
#' | `max_rows` | 512 rows per request | 413 |
#' | `max_body_bytes` | 1 MiB, or more for wide rows: four of 26 p + 64 bytes, at most 64 MiB | 413 |
#' | `max_header_bytes`, `max_uri_bytes` | 8192, 2048 | 431, 414 |
#' | `max_connections` | 1024, or fewer where the system says so | the rest wait |
#' | `max_requests_per_connection` | 100,000 | the connection is closed |
#' | `max_inflight_bytes` | 64 MiB received and not answered, in all | 503 |
#' | `max_pipelined`, `max_pending_output` | 64 requests, 1 MiB per connection | the connection waits |
#' | `header_timeout_s`, `request_timeout_s` | 10, 30 | 408 |
#' | `idle_timeout_s`, `write_timeout_s` | 30, 10 | the connection is closed |
#'
#' @section The end:
#'
#' `stop_server()` first makes `/readyz` say 503 for `drain_delay_s`, so that a load balancer can notice; then takes no
#' more connections, answers the requests that are under way, and after `drain_timeout_s` cuts off the rest. With
#' `wait = TRUE` SIGTERM and an interrupt (Ctrl-C) do the same, a second one cuts off at once; an interrupt then goes on
#' to what called `serve()`.
#'
#' A handle works in the R process that made it: in a child of [parallel::mcparallel()], after [readRDS()] or on a
#' worker it is dead. Child processes never hold the port.
#'
#' @param fit A fit of [fit_logistic_ridge()], [fit_ridge()] or [fit_banded_ridge()], without an offset and without
#'   skipped targets, of at most 64 targets; or a [predictor()]. Features are one number per column of the fit, for a
#'   banded fit those of all bands side by side.
#' @param port Whole number from 0 to 65535, 8080 by default; 0 for any free port, which is then `server$port`.
#' @param host An address of this machine, `"127.0.0.1"` by default: this machine alone; `"localhost"` is the same,
#'   other names are refused.
#' @param n_threads Whole number of threads of the server, 1 by default; one answers tens of thousands of requests per
#'   second.
#' @param threshold Number between 0 and 1, 0.5 by default (that of the engine, for a [predictor()]): the probability
#'   from which on a decision is 1. Only for logistic fits.
#' @param prior NULL (the default), or the prevalence of the positive class where the model is used, between 0 and 1,
#'   one or one per target. Only for logistic fits.
#' @param limits Named list of the limits to change, see section Limits.
#' @param token NULL (the default) or the token that requests must show: at least 16 printable ASCII characters without
#'   blanks.
#' @param token_file NULL (the default) or a file with the token as its only line. At most one of `token`, `token_file`
#'   and the environment variable `VOXRIDGE_TOKEN`.
#' @param allowed_hosts NULL (the default) or names by which requests may call this machine, see section Security. Only
#'   for the loopback, without a token: elsewhere names are not looked at.
#' @param socket_path NULL (the default) or the path of a Unix-domain socket, in place of `host` and `port`.
#' @param model_name,model_version What replies and metrics call the model: letters, digits and `. _ + - : /`.
#'   `model_version` is by default the first 12 digits of the SHA-256 of all that answers depend on; `update()` makes it
#'   anew.
#' @param drain_delay_s,drain_timeout_s Seconds, 0 and 10 by default, see section The end. For `stop_server()`, NULL
#'   (the default) is what `serve()` was told.
#' @param wait FALSE (the default) to return at once; TRUE to serve until SIGTERM or an interrupt, and then return the
#'   final status.
#' @param server NULL (the default) for the only running server (`stop_server()`), or for all of them
#'   (`server_status()`); or what `serve()` returned.
#' @param object,x What `serve()` returned.
#' @param ... No further arguments.
#'
#' @returns
#' * `serve()`: a handle of class `voxridge_server`, a list with `url`, `host`, `port`, `socket_path` (NULL where not in
#'   use), `model_name`, `model_version`; with `wait = TRUE` the final status, invisibly.
#' * `stop_server()`: the final status, invisibly. On a stopped server it does nothing.
#' * `server_status()`: a list of `running`, `ready`, `url`, `port`, `n_threads`, `model` (a list of `name`, `version`,
#'   `sha256`, `kind`, `n_features`, `n_targets`, `threshold`, `prior`), `uptime_s`, `requests` (counts by status code),
#'   `rejects` (counts by reason), `rows` (scored), `connections` (now), `connections_total`, `inflight_requests`,
#'   `inflight_bytes`, `received_bytes`, `sent_bytes`, `model_swaps`, `aborted` (requests cut off), `latency` (seconds
#'   `p50`, `p90`, `p99` from the last byte read to the last byte written, by straight lines within `buckets`, a data
#'   frame of `upper` and `count`), `cpu_seconds` (of the server's threads), `resident_bytes` (of the process). It works
#'   after the end too. Without `server` a list of these, named by url.
#' * `update()`: the handle with the new version, invisibly. Requests see the old model or the new one, never a mixture.
#'   Without `fit` the present model stays; without `threshold` or `prior` that of the server stays.
#' * `print()`: `x`, invisibly.
#' @section Errors:
#' `voxridge_error_wrong_model` (not a fit that can be served), `voxridge_error_too_many_targets`,
#' `voxridge_error_model_mismatch` (`update()` with other features, targets, classes or another kind of model),
#' `voxridge_error_limits`, `voxridge_error_token`, `voxridge_error_port_in_use`, `voxridge_error_network` (an address
#' that cannot be had), `voxridge_error_file` (a path where no socket can be), `voxridge_error_no_server`,
#' `voxridge_error_dead_handle`, `voxridge_error_conflict` (`socket_path` with `host` or `port`, `allowed_hosts` where
#' names are not looked at, `threshold` or `prior` for a ridge fit), `voxridge_error_prior`, `voxridge_error_argument`,
#' `voxridge_error_type`. Warnings: `voxridge_warning_no_token` (another host than the loopback without a token),
#' `voxridge_warning_max_connections` (fewer connections than asked for). See [voxridge-conditions].
#' @section Invariants:
#' A reply has the bits of `predict()` of the fit for these rows (of a ridge fit: of its [predictor()]), whatever the
#' batch, the form of the request, the number of threads and what R does meanwhile. With `prior`, logits are those of
#' `predict(fit, X, "link")` moved by `prior_correct(from = fit$prevalence, to = prior, scale = "logit")`, bit for bit,
#' for a fit without a prior.
#' @seealso [predictor()] for scoring in R, [prior_correct()], [decision_threshold()]; `vignette("serving")`.
#' @examples
#' set.seed(1)
#' X <- matrix(rnorm(100 * 3), 100)
#' fit <- fit_logistic_ridge(X, X[, 1] + rnorm(100) > 0, n_threads = 2)
#'
#' server <- serve(fit, port = 0)
#' server
#' update(server, threshold = 0.8)
#' server_status(server)$model$threshold
#' stop_server(server)
#' @export
serve <- function(fit, port = 8080L, host = "127.0.0.1", n_threads = 1L, threshold = 0.5, prior = NULL,
                  limits = list(), token = NULL, token_file = NULL, allowed_hosts = NULL, socket_path = NULL,
                  model_name = "model", model_version = NULL, drain_delay_s = 0, drain_timeout_s = 10, wait = FALSE) {
  call <- rlang::current_env()
  engine <- served_engine(fit, call)
  model <- served_model(engine, setting(threshold, !missing(threshold)), setting(prior, TRUE), call)
  place <- as_place(setting(host, !missing(host)), setting(port, !missing(port)), socket_path, call)
  n_threads <- as_count(n_threads, max = 256)
  values <- as_limits(limits, model$source$dims[["p"]], call)
  allowed_hosts <- as_allowed_hosts(allowed_hosts, call)
  labels <- list(name = as_label(model_name), version = as_label(model_version, null_ok = TRUE))
  settings <- list(n_threads = n_threads, drain_delay_s = as_seconds(drain_delay_s),
                   drain_timeout_s = as_seconds(drain_timeout_s), model = without_coefs(model))
  wait <- as_flag(wait)
  token <- as_token(token, token_file, call)
  check_hosts_used(allowed_hosts, place, token, call)
  options <- c(place, list(n_threads = n_threads, token = token, allowed_hosts = allowed_hosts))
  if (wait) {
    core_catch_sigterm(TRUE)   # before the first probe can find the server ready
    on.exit(core_catch_sigterm(FALSE))
  }
  pointer <- start_server(options, values, c(model, labels), call)
  server <- new_server(pointer, place, settings)
  kept <- FALSE
  on.exit(if (!kept) stop_at_once(server), add = TRUE, after = FALSE)
  warn_open(place, token)
  warn_connections(values[["max_connections"]], core_server_place(pointer)$max_connections)
  if (wait) {
    inform_serving(server)
    serve_until_signal(server)
    return(invisible(status_of(server)))
  }
  kept <- TRUE
  server
}

# What the system refuses, in words of the arguments.
start_server <- function(options, limits, model, call) {
  place <- if (nzchar(options$socket_path)) options$socket_path else server_url(options, options$port)
  tryCatch(
    core_serve(options, limits, core_model(model)),
    voxridge_error_port_in_use = function(cnd) {
      arg <- if (nzchar(options$socket_path)) "socket_path" else "port"
      advice <- if (arg == "port") "Stop it, or choose another port; {.code port = 0} takes any that is free."
      abort(c("{.arg {arg}} must be free, not in use by another server ({place}).", i = advice), "port_in_use",
            found = place, call = call)
    },
    voxridge_error_network = function(cnd) {
      reason <- core_reason(cnd)
      abort(c("{.arg host} and {.arg port} must be an address to listen at, not {place}.", i = "{reason}"), "network",
            found = place, call = call)
    },
    voxridge_error_file = function(cnd) {
      reason <- core_reason(cnd)
      abort(c("{.arg socket_path} must be a path for a socket, not {.file {place}}.", i = "{reason}"), "file",
            found = place, call = call)
    },
    voxridge_error_argument = function(cnd) abort_no_score(cnd, call),
    voxridge_error = function(cnd) run_core(rlang::cnd_signal(cnd), call)
  )
}

abort_no_score <- function(cnd, call) {
  abort_model("a fit with finite forecasts", "this one", escape(core_reason(cnd)), call)
}

core_reason <- function(cnd) cli::ansi_strip(rlang::cnd_header(cnd))

# In the form that the core takes.
core_model <- function(model) {
  model$source <- NULL
  c(model, package_version = format(utils::packageVersion("voxridge")))
}

inform_serving <- function(server) {
  cli::cli_inform(
    c("Serving {.val {server$model_name}} at {.url {server$url}}.", i = "SIGTERM or Ctrl-C stops it."),
    class = c("voxridge_message_serving", "voxridge_message")
  )
}

#' @rdname serve
#' @export
stop_server <- function(server = NULL, drain_timeout_s = NULL) {
  call <- rlang::current_env()
  timeout_s <- as_seconds(drain_timeout_s, null_ok = TRUE, arg = "drain_timeout_s")
  server <- if (is.null(server)) the_only_server(call) else as_server(server, call)
  begin_stop(server, timeout_s)
  wait_for_end(server)
  invisible(status_of(server))
}

#' @rdname serve
#' @export
server_status <- function(server = NULL) {
  call <- rlang::current_env()
  if (!is.null(server)) return(status_of(as_server(server, call)))
  servers <- all_servers(call)
  stats::setNames(lapply(servers, status_of), vapply(servers, `[[`, "", "url"))
}

#' @rdname serve
#' @export
update.voxridge_server <- function(object, fit = NULL, model_version = NULL, threshold, prior, ...) {
  call <- rlang::current_env()
  rlang::check_dots_empty()
  server <- as_server(object, call, "object")
  if (!is_running(server)) {
    abort(c("{.arg object} must be a running server, not a stopped one.", i = "{.fn serve} starts one."), "no_server",
          call = call)
  }
  if (is.null(fit) && is.null(model_version) && missing(threshold) && missing(prior)) {
    abort("{.arg fit} must be given, or one of {.arg model_version}, {.arg threshold} and {.arg prior}.", "argument",
          call = call)
  }
  version <- as_label(model_version, null_ok = TRUE)
  present <- core_server_model(server$pointer)
  kept <- setting(present$threshold, present$kind == "logistic")
  threshold <- if (missing(threshold)) kept else setting(threshold, TRUE)
  prior <- setting(if (missing(prior)) present$prior else prior, TRUE)
  model <- next_model(server, present, fit, threshold, prior, call)
  labels <- list(name = present$name, version = version)
  difference <- tryCatch(
    run_core(core_server_update(server$pointer, core_model(c(model, labels))), call),
    voxridge_error_argument = function(cnd) abort_no_score(cnd, call)
  )
  if (nzchar(difference)) abort_model_mismatch(difference, call)
  server$settings$model <- without_coefs(model)
  server$model_version <- core_server_model(server$pointer)$version
  invisible(server)
}
