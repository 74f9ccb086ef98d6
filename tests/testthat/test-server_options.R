options_fit <- local({
  fit <- NULL
  function() {
    if (is.null(fit)) fit <<- quiet_logistic(withr::with_seed(1, matrix(rnorm(60), 20)), rep(0:1, 10), lambda = 1)
    fit
  }
})

# serve() with one bad argument.
refused <- function(arg, ..., class = "argument", pattern = NULL) {
  cnd <- expect_refused(serve(options_fit(), ...), arg, pattern)
  expect_s3_class(cnd, paste0("voxridge_error_", class))
  expect_identical(as.character(cnd$call[[1L]]), "serve")
  invisible(cnd)
}

test_that("ports and addresses", {
  for (port in list(-1, 65536, 1.5, NA, "80", NULL, 1:2, Inf)) refused("port", port = port)
  for (host in list("example.org", "", "127.0.0", "1.2.3.256", "*", NA_character_, 1, NULL, c("::1", "::1"), "a:b:g",
                    "127.0.0.1:80", "http://127.0.0.1")) {
    refused("host", port = 0, host = host)
  }
  # no address of this machine (reserved for documents)
  cnd <- refused("host", port = 0, host = "192.0.2.1", class = "network", pattern = "192.0.2.1:0")
  expect_identical(cnd$found, "http://192.0.2.1:0")
  for (host in c("localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2")) {
    expect_silent(server <- local_server(options_fit(), host = host))
    expect_match(server$url, sprintf("^http://127\\.0\\.0\\.[12]:%d$", server$port))
    stop_server(server)
  }
  expect_true(is_ipv6("::1") && is_ipv6("fe80::1%eth0") && is_ipv6("::ffff:1.2.3.4"))
  expect_identical(server_url(list(host = "::1", socket_path = ""), 80L), "http://[::1]:80")
  expect_identical(as_address("[::1]", NULL), "::1")
})

test_that("a port that is in use", {
  server <- local_server(options_fit())
  cnd <- refused("port", port = server$port, class = "port_in_use", pattern = c("in use", server$port, "port = 0"))
  expect_identical(cnd$found, server$url)
  stop_server(server)
  again <- serve(options_fit(), port = server$port)
  expect_identical(again$port, server$port)
  stop_server(again)
})

test_that("paths of sockets", {
  skip_on_os("windows")
  for (path in list("", 1, NA_character_, c("a", "b"))) refused("socket_path", socket_path = path)
  refused("socket_path", socket_path = file.path(withr::local_tempdir(), "none", "s"), pattern = "folder")
  refused("port", port = 0, socket_path = "s", class = "conflict")
  refused("host", host = "127.0.0.1", socket_path = "s", class = "conflict")
  file <- withr::local_tempfile(lines = "x")
  refused("socket_path", socket_path = file, class = "file")
  expect_identical(readLines(file), "x")
})

test_that("labels, names of hosts, times and flags", {
  for (label in list("", "a b", "a\n", "\u00e9", NA_character_, 1, c("a", "b"), strrep("a", 129), "a\"")) {
    refused("model_name", port = 0, model_name = label)
    refused("model_version", port = 0, model_version = label)
  }
  refused("model_name", port = 0, model_name = NULL)
  for (hosts in list("a:80", "", NA_character_, 1, "a b", c("a", "http://b"), list("a"))) {
    refused("allowed_hosts", port = 0, allowed_hosts = hosts)
  }
  expect_identical(as_allowed_hosts(c("A.b", "[::1]"), NULL), c("A.b", "[::1]"))
  refused("allowed_hosts", port = 0, allowed_hosts = "a", token = strrep("a", 16), class = "conflict")
  refused("allowed_hosts", port = 0, allowed_hosts = "a", host = "0.0.0.0", class = "conflict")
  refused("allowed_hosts", socket_path = "s", allowed_hosts = "a", class = "conflict")
  for (seconds in list(-1, NA, Inf, "1", 1:2, 86401, NULL)) {
    refused("drain_delay_s", port = 0, drain_delay_s = seconds)
    refused("drain_timeout_s", port = 0, drain_timeout_s = seconds)
  }
  refused("wait", port = 0, wait = NA)
  for (n in list(0, 257, 1.5, "1", NULL)) refused("n_threads", port = 0, n_threads = n)
  for (threshold in list(0, 1, NA, "a", NULL, c(0.1, 0.2))) refused("threshold", port = 0, threshold = threshold)
  for (prior in list(0, 1, NA, "a", c(0.1, 0.2))) refused("prior", port = 0, prior = prior, class = "prior")
  expect_error(serve(options_fit(), prot = 0), "unused argument")
  expect_identical(length(running_servers()), 0L)
})

test_that("limits", {
  bad <- function(arg, limits, pattern = NULL) {
    refused(arg, port = 0, limits = limits, class = "limits", pattern = pattern)
  }
  bad("limits", list(max_row = 1), "max_rows")
  bad("limits", list(nothing_like_it = 1))
  bad("limits", list(1))
  bad("limits", c(max_rows = 1))
  bad("limits", NULL)
  bad("limits", list(max_rows = 1, 2))
  bad("limits", list(max_rows = 1, max_rows = 2), "twice")
  names <- core_server_limits(3)
  for (name in names(names$counts)) {
    arg <- paste0("limits\\$", name)
    for (value in list(0, 1.5, NA, 2^53)) bad(arg, stats::setNames(list(value), name))
  }
  for (name in names(names$times)) {
    arg <- paste0("limits\\$", name)
    for (value in list(0, Inf, NULL, 86401)) bad(arg, stats::setNames(list(value), name))
  }
  for (value in list(-1, Inf, "1", NULL, 1:2, TRUE, factor(1))) bad("limits\\$max_rows", list(max_rows = value))
  # room for one JSON row of 3 features: 26 p + 64 bytes
  cnd <- bad("limits\\$max_body_bytes", list(max_body_bytes = 141), "142")
  expect_identical(cnd$where, "max_body_bytes")
  expect_silent(stop_server(serve(options_fit(), port = 0, limits = list(max_body_bytes = 142))))
  bad("limits\\$max_inflight_bytes", list(max_body_bytes = 2^30))
  bad("limits\\$max_inflight_bytes", list(max_inflight_bytes = 1000))
  expect_identical(core_server_limits(3)$counts[["max_body_bytes"]], 2^20)
  expect_identical(core_server_limits(1e5)$counts[["max_body_bytes"]], 4 * (26e5 + 64))
  expect_identical(core_server_limits(1e7)$counts[["max_body_bytes"]], 2^26)
})

test_that("limits are kept", {
  server <- local_server(options_fit(), limits = list(max_rows = 2, max_body_bytes = 300, max_uri_bytes = 64,
                                                      max_header_bytes = 256))
  X <- diag(3)
  expect_identical(predict_json(server, X[1:2, ])$status, 200L)
  expect_match(text_of(predict_json(server, X)), "too_many_rows")
  expect_identical(http(server, "/v1/predict", strrep(" ", 301))$status, 413L)
  expect_identical(http(server, paste0("/", strrep("a", 64)))$status, 414L)
  expect_identical(http(server, "/livez", fields = paste("X:", strrep("a", 256)))$status, 431L)
})

test_that("fewer connections than asked for are told", {
  expect_silent(warn_connections(10, 10))
  cnd <- expect_warning(warn_connections(1024, 200), "200 connections", class = "voxridge_warning_max_connections")
  expect_identical(cnd$found, 200)
})

test_that("tokens come from one place, are long enough, and are never shown", {
  withr::local_envvar(VOXRIDGE_TOKEN = NA)
  folder <- withr::local_tempdir()
  file <- function(name, ...) {
    path <- file.path(folder, name)
    writeLines(c(...), path)
    path
  }
  secret <- "0123456789abcde"
  quiet <- function(...) {
    cnd <- refused(..., port = 0, class = "token")
    expect_false(grepl("23456789", conditionMessage(cnd), fixed = TRUE))
    expect_false(any(grepl("23456789", unlist(unclass(cnd)[c("found", "expected", "where")]), fixed = TRUE)))
  }
  for (token in list(secret, "", paste(secret, "f"), paste0(secret, "\u00e9"), paste0(secret, "\n"), strrep("a", 5000),
                     NA_character_, 1, c(secret, secret))) {
    quiet("token", token = token)
  }
  quiet("token_file", token_file = file("short", secret))
  quiet("token_file", token_file = file("two", paste0(secret, "f"), "x"))
  quiet("token_file", token_file = file("none", character()))
  quiet("token_file", token_file = file.path(folder, "absent"))
  nul <- file.path(folder, "nul")
  writeBin(c(charToRaw(secret), charToRaw("0123456789"), as.raw(0), charToRaw("tail\n")), nul)
  quiet("token_file", token_file = nul)
  quiet("token_file", token_file = 1)
  good <- paste0(secret, "f")
  quiet("token", token = good, token_file = file("good", good))
  withr::with_envvar(c(VOXRIDGE_TOKEN = good), {
    quiet("token", token = good)
    quiet("token", token_file = file("good", good))
  })
  withr::with_envvar(c(VOXRIDGE_TOKEN = secret), quiet("VOXRIDGE_TOKEN"))
  expect_identical(as_token(NULL, file("good", good), NULL), good)
  expect_identical(withr::with_envvar(c(VOXRIDGE_TOKEN = good), as_token(NULL, NULL, NULL)), good)
  expect_identical(as_token(NULL, NULL, NULL), "")
  expect_identical(withr::with_envvar(c(VOXRIDGE_TOKEN = ""), as_token(good, NULL, NULL)), good)
})

test_that("an open server without a token warns once", {
  rlang::reset_warning_verbosity("voxridge_no_token")
  withr::defer(rlang::reset_warning_verbosity("voxridge_no_token"))
  open <- list(host = "0.0.0.0", socket_path = "")
  expect_silent(warn_open(open, strrep("a", 16)))
  for (host in c("127.0.0.1", "127.1.2.3", "::1")) expect_silent(warn_open(list(host = host, socket_path = ""), ""))
  expect_silent(warn_open(list(host = "127.0.0.1", socket_path = "/s"), ""))
  expect_warning(warn_open(open, ""), "0.0.0.0", class = "voxridge_warning_no_token")
  expect_silent(warn_open(open, ""))
  # nothing is left open where warnings are errors
  rlang::reset_warning_verbosity("voxridge_no_token")
  withr::local_options(warn = 2)
  expect_error(serve(options_fit(), port = 0, host = "0.0.0.0"), "token")
  expect_identical(running_servers(), list())
})
