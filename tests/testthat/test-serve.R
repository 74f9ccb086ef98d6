test_that("outcomes of every form are served, decisions are of the positive class", {
  skip_if_not_installed("jsonlite")
  d <- logistic_data()
  fits <- logistic_fits()
  for (name in setdiff(names(fits), c("offset", "offsets", "skipped"))) {
    fit <- fits[[name]]$fit
    server <- local_server(fit, threshold = 0.7)
    got <- json_of(predict_json(server, d$X))
    link <- unname(predict(fit, d$X, "link"))
    if (name == "one column") link <- drop(link)
    expect_identical(got$probabilities, stable_sigmoid(link), info = name)
    expect_identical(got$decisions, (link >= stats::qlogis(0.7)) + 0L, info = name)
    meta <- json_of(http(server, "/v1/metadata"))
    expect_identical(meta$features, letters[1:11])
    expect_identical(meta$n_features, 11L)
    expect_identical(meta$threshold, 0.7)
    expect_null(meta$prior)
    expect_equal(as.vector(meta$lambda), unname(fit$best_lambda))
    expect_identical(meta$package_version, format(utils::packageVersion("voxridge")))
    stop_server(server)
  }
  server <- local_server(fits$factor$fit)
  meta <- json_of(http(server, "/v1/metadata"))
  expect_identical(as.vector(t(meta$classes)), c("face", "house"))
  expect_identical(as.vector(meta$positive), "house")
  expect_identical(meta$name, "model")
  expect_identical(meta$version, substr(meta$sha256, 1L, 12L))
  expect_identical(server$model_version, meta$version)
  expect_identical(server_status(server)$model$sha256, meta$sha256)
})

test_that("a decision at the very threshold is that of predict()", {
  skip_if_not_installed("jsonlite")
  d <- logistic_data()
  fit <- logistic_fits()$numbers$fit
  server <- local_server(fit)
  for (p in unname(predict(fit, d$X))) {
    update(server, threshold = p)
    expect_identical(json_of(predict_json(server, d$X))$decisions, unname(predict(fit, d$X, "class", threshold = p)))
  }
})

test_that("columns may be named, and are never put in another order", {
  d <- logistic_data()
  server <- local_server(logistic_fits()$numbers$fit)
  body <- function(columns) {
    sub("{", sprintf("{\"columns\":[%s],", paste0("\"", columns, "\"", collapse = ",")), json_rows(d$X[1:2, ]),
        fixed = TRUE)
  }
  expect_identical(http(server, "/v1/predict", body(letters[1:11]))$status, 200L)
  expect_identical(http(server, "/v1/predict", body(letters[11:1]))$status, 422L)
  expect_match(text_of(http(server, "/v1/predict", body(letters[1:10]))), "column_mismatch")
})

test_that("names are UTF-8, whatever they were in R", {
  skip_if_not_installed("jsonlite")
  X <- made_features(30, 2, 1)
  latin1 <- "\xe9t\xe9"
  Encoding(latin1) <- "latin1"
  colnames(X) <- c(latin1, "\u8133 \"}{")
  f <- factor(rep(c("ja", "n\u00f6"), 15))
  server <- local_server(quiet_logistic(X, f, lambda = 1))
  meta <- jsonlite::fromJSON(`Encoding<-`(text_of(http(server, "/v1/metadata")), "UTF-8"))
  expect_identical(meta$features, enc2utf8(colnames(X)))
  expect_identical(as.vector(meta$positive), "n\u00f6")
  reply <- http(server, "/v1/predict", "{\"columns\":[\"\u00e9t\u00e9\",\"\u8133 \\\"}{\"],\"features\":[[1,2]]}")
  expect_identical(reply$status, 200L)
})

test_that("ridge fits give predictions, and nothing else", {
  skip_if_not_installed("jsonlite")
  problem <- random_problem(30, 9, 4, seed = 1)
  dimnames(problem$X) <- list(NULL, letters[1:9])
  colnames(problem$Y) <- paste0("v", 1:4)
  bands <- random_bands(30, c(4, 6), 3, seed = 2)
  fits <- list(
    list(fit_quietly(problem$X, problem$Y), problem$X), list(fit_quietly(problem$X, problem$Y[, 1L]), problem$X),
    list(fit_quietly(problem$X, problem$Y, return_coefs = "dual", fit_intercept = FALSE), problem$X),
    list(fit_bands_quietly(bands$Xs, bands$Y, n_iter = 4, seed = 1), bands$X),
    list(predictor(fit_quietly(problem$X, problem$Y)), problem$X)
  )
  for (one in fits) {
    engine <- if (inherits(one[[1L]], "voxridge_predictor")) one[[1L]] else predictor(one[[1L]])
    want <- unname(as.matrix(predict(engine, one[[2L]])))
    server <- local_server(one[[1L]])
    got <- json_of(predict_json(server, one[[2L]]))
    expect_identical(names(got), "predictions")
    expect_identical(as.matrix(got$predictions), want)
    expect_identical(numbers_of(predict_binary(server, one[[2L]]), ncol(want)), want)
    expect_identical(predict_json(server, one[[2L]], "?logits=true")$status, 400L)
    meta <- json_of(http(server, "/v1/metadata"))
    expect_null(meta$threshold)
    expect_identical(meta$n_features, ncol(one[[2L]]))
    expect_identical(server_status(server)$model$kind, "ridge")
    expect_refused(update(server, threshold = 0.3), "threshold", "ridge")
    expect_refused(update(server, prior = 0.3), "prior", "ridge")
    stop_server(server)
  }
  expect_s3_class(expect_refused(serve(fits[[1L]][[1L]], port = 0, threshold = 0.5), "threshold"),
                  "voxridge_error_conflict")
  expect_refused(serve(fits[[1L]][[1L]], port = 0, prior = 0.5), "prior")
})

test_that("probes, status and metrics say what has happened", {
  X <- made_features(3, 4, 1)
  server <- local_server(small_fit(4L), model_name = "a/b:c", model_version = "v+1")
  for (path in c("/livez", "/readyz", "/healthz")) {
    expect_identical(http(server, path)$status, 200L)
    expect_identical(http(server, path, method = "HEAD")$status, 200L)
  }
  reply <- predict_json(server, X)
  expect_identical(unname(reply$headers["x-model-version"]), "v+1")
  expect_identical(predict_json(server, X[, 1:3])$status, 422L)
  expect_identical(http(server, "/nothing")$status, 404L)
  expect_identical(http(server, "/v1/predict")$status, 405L)
  status <- server_status(server)
  expect_true(status$running && status$ready)
  expect_identical(status$requests[c("200", "422", "404", "405")], c("200" = 7, "422" = 1, "404" = 1, "405" = 1))
  expect_identical(status$rejects[["wrong_row_length"]], 1)
  expect_identical(status$rows, 3)
  expect_gte(status$connections_total, 10)
  expect_identical(status$n_threads, 1L)
  expect_identical(status$model[c("name", "version", "n_features", "n_targets")],
                   list(name = "a/b:c", version = "v+1", n_features = 4L, n_targets = 1L))
  expect_gt(status$latency$p50, 0)
  expect_lte(status$latency$p50, status$latency$p99)
  expect_identical(sum(status$latency$buckets$count), 3)   # of the two paths that score
  expect_gt(status$received_bytes, 500)
  expect_gt(status$uptime_s, 0)
  expect_identical(metric(server, "voxridge_rows_total"), 3)
  expect_identical(metric(server, "voxridge_ready"), 1)
  expect_identical(metric(server, "voxridge_model_info{name=\"a/b:c\",version=\"v+1\",sha256=\"" |>
                            paste0(status$model$sha256, "\"}")), 1)
  final <- stop_server(server)
  expect_false(final$running || final$ready)
  expect_identical(final$rows, 3)
  expect_identical(server_status(server)$rows, 3)
})

test_that("a model is swapped while it serves", {
  skip_if_not_installed("jsonlite")
  X <- made_features(20, 4, 1)
  fits <- list(small_fit(4L, seed = 1), small_fit(4L, seed = 2))
  server <- local_server(fits[[1L]])
  answer <- function() as.vector(json_of(predict_json(server, X))$probabilities)
  first <- server$model_version
  expect_identical(answer(), predict(fits[[1L]], X))
  expect_invisible(after <- update(server, fits[[2L]]))
  expect_identical(answer(), predict(fits[[2L]], X))
  expect_false(after$model_version == first)
  expect_identical(server_status(server)$model$version, after$model_version)
  expect_identical(update(server, fits[[1L]])$model_version, first)
  expect_identical(update(server, fits[[1L]], model_version = "v2")$model_version, "v2")
  expect_identical(update(server, model_version = "v3")$model_version, "v3")
  expect_identical(answer(), predict(fits[[1L]], X))
  expect_identical(server_status(server)$model_swaps, 4)
  # threshold and prior stay unless they are given
  update(server, threshold = 0.9)
  decided <- function() json_of(predict_json(server, X))$decisions
  link <- function(fit) predict(fit, X, "link")
  expect_identical(decided(), (link(fits[[1L]]) >= stats::qlogis(0.9)) + 0L)
  update(server, fits[[2L]], prior = 0.2)
  moved <- prior_correct(link(fits[[2L]]), fits[[2L]]$prevalence, 0.2, scale = "logit")
  expect_identical(answer(), stable_sigmoid(moved))
  expect_identical(decided(), (moved >= stats::qlogis(0.9)) + 0L)
  expect_identical(server_status(server)$model[c("threshold", "prior")], list(threshold = 0.9, prior = 0.2))
  update(server, fits[[1L]])
  expect_identical(answer(), stable_sigmoid(prior_correct(link(fits[[1L]]), fits[[1L]]$prevalence, 0.2, "logit")))
  update(server, prior = NULL, threshold = 0.5)
  expect_identical(answer(), predict(fits[[1L]], X))
  # others are refused, and nothing changes
  X30 <- made_features(30, 4, 1)
  others <- list(features = small_fit(5L), targets = small_fit(4L, 2L), kind = fit_quietly(X30, rnorm(30)),
                 classes = quiet_logistic(X30, factor(rep(c("a", "b"), 15)), lambda = 1))
  for (what in names(others)) {
    cnd <- expect_refused(update(server, others[[what]]), "fit", what)
    expect_s3_class(cnd, "voxridge_error_model_mismatch")
  }
  expect_identical(answer(), predict(fits[[1L]], X))
  expect_refused(update(server), "fit")
  expect_refused(update(server, 1), "fit")
  expect_refused(update(server, threshold = 2), "threshold")
  expect_refused(update(server, prior = c(0.1, 0.2)), "prior")
  expect_refused(update(server, model_version = "a b"), "model_version")
  expect_error(update(server, thresold = 0.5), class = "rlib_error_dots_nonempty")
  stop_server(server)
  expect_s3_class(expect_refused(update(server, fits[[1L]]), "object"), "voxridge_error_no_server")
})

test_that("a token is asked for where there is one", {
  token <- "0123456789abcdef+/"
  fit <- small_fit(2L)
  X <- made_features(1, 2, 1)
  bearer <- function(x) paste("Authorization: Bearer", x)
  folder <- withr::local_tempdir()
  writeLines(token, file.path(folder, "token"))
  withr::local_envvar(VOXRIDGE_TOKEN = NA)
  starts <- list(
    function() local_server(fit, token = token, .env = parent.frame(2)),
    function() local_server(fit, token_file = file.path(folder, "token"), .env = parent.frame(2)),
    function() withr::with_envvar(c(VOXRIDGE_TOKEN = token), serve(fit, port = 0))
  )
  for (start in starts) {
    server <- start()
    expect_identical(predict_json(server, X)$status, 401L)
    expect_identical(predict_json(server, X, fields = bearer(sub("f", "g", token)))$status, 401L)
    expect_identical(predict_json(server, X, fields = bearer(token))$status, 200L)
    expect_identical(http(server, "/metrics")$status, 401L)
    expect_identical(http(server, "/readyz")$status, 200L)
    expect_false(grepl(token, paste(capture.output(print(server), str(unclass(server)), server_status(server)),
                                    collapse = ""), fixed = TRUE))
    expect_false(any(grepl(token, rawToChar(serialize(server, NULL, ascii = TRUE)), fixed = TRUE)))
    stop_server(server)
  }
})

test_that("other names of this machine are allowed where they are named", {
  fit <- small_fit(2L)
  with_host <- function(server, host) {
    connection <- open_connection(server)
    on.exit(close(connection))
    writeBin(charToRaw(sprintf("GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", host)), connection)
    read_reply(connection)$status
  }
  server <- local_server(fit)
  expect_identical(with_host(server, "example.org"), 421L)
  expect_identical(with_host(server, sprintf("127.0.0.1:%d", server$port)), 200L)
  stop_server(server)
  server <- local_server(fit, allowed_hosts = c("Example.org", "b.example"))
  expect_identical(with_host(server, "example.org"), 200L)
  expect_identical(with_host(server, "c.example"), 421L)
})

test_that("a server at a Unix-domain socket", {
  skip_on_os("windows")
  fit <- small_fit(2L)
  path <- file.path(withr::local_tempdir(), "s")
  server <- serve(fit, socket_path = path)
  withr::defer(if (file.exists(path)) stop_server(server))
  expect_null(server$port)
  expect_identical(server$url, paste0("unix:", normalizePath(path)))
  ask <- start_python("
connection = http.client.HTTPConnection('localhost')
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect(sys.argv[3])
connection.request('POST', '/v1/predict_binary', struct.pack('<2d', 1.0, -1.0),
                   {'Content-Type': 'application/octet-stream'})
print(repr(struct.unpack('<d', connection.getresponse().read())[0]))
", path)
  expect_equal(as.numeric(ask()), predict(fit, cbind(1, -1)), tolerance = 1e-15)
  expect_s3_class(expect_refused(serve(fit, socket_path = path), "socket_path"), "voxridge_error_port_in_use")
  stop_server(server)
  expect_false(file.exists(path))
  expect_s3_class(expect_refused(serve(fit, socket_path = file.path(dirname(path), strrep("a", 200))), "socket_path"),
                  "voxridge_error_file")
})

test_that("a path that was handed over stays with the server that took it", {
  skip_on_os("windows")
  fit <- small_fit(2L)
  path <- file.path(withr::local_tempdir(), "socket")
  first <- serve(fit, socket_path = path)
  file.remove(path)
  second <- serve(fit, socket_path = path)
  stop_server(first)
  expect_true(file.exists(path))
  stop_server(second)
  expect_false(file.exists(path))
})

test_that("the loopback is the loopback, however it is written", {
  fit <- small_fit(2L)
  server <- tryCatch(serve(fit, port = 0, host = "::ffff:127.0.0.1"), voxridge_error_network = function(cnd) NULL)
  skip_if(is.null(server), "no IPv6 here")
  withr::defer(stop_server(server))
  status <- function(host) {
    connection <- suppressWarnings(socketConnection("127.0.0.1", server$port, open = "r+b", blocking = TRUE))
    on.exit(close(connection))
    writeBin(charToRaw(sprintf("GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", host)), connection)
    read_reply(connection)$status
  }
  expect_identical(status("[::ffff:127.0.0.1]"), 200L)
  expect_identical(status("example.org"), 421L)
})

test_that("with wait = TRUE the end of the call is the end of the server", {
  fit <- small_fit(2L)
  expect_error(withCallingHandlers(serve(fit, port = 0, wait = TRUE), message = function(cnd) stop("no messages")),
               "no messages")
  expect_length(server_status(), 0L)
})
