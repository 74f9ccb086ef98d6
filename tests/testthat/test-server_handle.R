handle_fit <- local({
  fit <- NULL
  function() {
    if (is.null(fit)) fit <<- quiet_logistic(withr::with_seed(1, matrix(rnorm(60), 20)), rep(0:1, 10), lambda = 1)
    fit
  }
})

is_dead <- function(expr, arg = "server") {
  expect_s3_class(expect_refused(expr, arg, "another one"), "voxridge_error_dead_handle")
}

test_that("a stopped server refuses connections at once, and its handle still answers", {
  server <- local_server(handle_fit())
  expect_identical(http(server, "/livez")$status, 200L)
  expect_invisible(final <- stop_server(server))
  expect_false(final$running)
  expect_true(is_refused(server))
  expect_identical(stop_server(server)$requests, final$requests)
  expect_identical(server_status(server)$requests, c("200" = 1))
  expect_identical(running_servers(), list())
  expect_s3_class(expect_refused(stop_server(), "server", "none"), "voxridge_error_no_server")
})

test_that("a server lives without its handle", {
  server <- serve(handle_fit(), port = 0)
  place <- server[c("host", "port", "url")]
  rm(server)
  invisible(gc())
  expect_identical(http(place, "/readyz")$status, 200L)
  expect_identical(names(server_status()), place$url)
  expect_identical(stop_server()$url, place$url)
  expect_true(is_refused(place))
  invisible(gc())
})

test_that("two servers are told apart", {
  one <- local_server(handle_fit(), model_name = "one")
  two <- local_server(handle_fit(), model_name = "two")
  expect_false(one$port == two$port)
  cnd <- expect_refused(stop_server(), "server", c("2", one$url, two$url))
  expect_s3_class(cnd, "voxridge_error_no_server")
  expect_identical(vapply(server_status(), function(x) x$model$name, ""),
                   stats::setNames(c("one", "two"), c(one$url, two$url)))
  stop_server(one)
  expect_true(is_refused(one))
  expect_identical(http(two, "/readyz")$status, 200L)
  expect_identical(stop_server()$model$name, "two")
  expect_identical(server_status(), stats::setNames(list(), character()))
})

test_that("handles of files, of other processes and of no server are refused", {
  server <- local_server(handle_fit())
  path <- withr::local_tempfile()
  saveRDS(server, path)
  dead <- readRDS(path)
  is_dead(stop_server(dead))
  is_dead(server_status(dead))
  is_dead(update(dead, handle_fit()), "object")
  expect_match(capture.output(print(dead)), "another R process", all = FALSE)
  for (other in list(1, "http://localhost", list(), predictor(handle_fit())$handle)) {
    expect_s3_class(expect_refused(stop_server(other), "server"), "voxridge_error_type")
    expect_refused(server_status(other), "server")
  }
  forged <- server
  forged$pointer <- predictor(handle_fit())$handle$pointer
  is_dead(server_status(forged))
  for (seconds in list(-1, NA, "1", c(1, 2))) expect_refused(stop_server(server, seconds), "drain_timeout_s")
  expect_identical(http(server, "/readyz")$status, 200L)
})

test_that("a handle is printed in a few lines", {
  server <- local_server(handle_fit(), model_name = "faces", model_version = "v1")
  shown <- capture.output(printed <- withVisible(print(server)))
  expect_false(printed$visible)
  expect_identical(shown[1L], paste("Scoring server at", server$url))
  expect_match(shown, "state: +ready", all = FALSE)
  expect_match(shown, "faces, version v1 (logistic regression, 3 features x 1 target)", fixed = TRUE, all = FALSE)
  expect_match(shown, "requests: 0$", all = FALSE)
  expect_false(any(grepl("latency", shown)))
  for (i in 1:3) predict_json(server, diag(3))
  predict_json(server, diag(2))
  shown <- capture.output(print(server))
  expect_match(shown, "requests: 4 (200: 3, 422: 1)", fixed = TRUE, all = FALSE)
  expect_match(shown, "latency: +p50 [0-9.]+ ms, p99 [0-9.]+ ms", all = FALSE)
  stop_server(server)
  expect_match(capture.output(print(server)), "state: +stopped", all = FALSE)
  expect_error(print(server, digits = 3), class = "rlib_error_dots_nonempty")
})

test_that("quantiles of buckets are on straight lines", {
  bounds <- c(1, 2, 4)
  expect_identical(bucket_quantile(0.5, bounds, c(0, 0, 0, 0)), NA_real_)
  expect_identical(bucket_quantile(0.5, bounds, c(2, 0, 0, 0)), 0.5)
  expect_identical(bucket_quantile(0.5, bounds, c(1, 0, 1, 0)), 1)
  expect_identical(bucket_quantile(0.9, bounds, c(0, 0, 10, 0)), 3.8)
  expect_identical(bucket_quantile(0.99, bounds, c(90, 0, 0, 10)), Inf)
  expect_match(milliseconds(Inf), "over")
})

test_that("servers that have ended leave no descriptor and no thread", {
  skip_if_not(dir.exists("/proc/self/fd"))
  held <- function() {
    invisible(gc())
    c(descriptors = length(list.files("/proc/self/fd")), threads = length(list.files("/proc/self/task")))
  }
  cycle <- function() {
    server <- serve(handle_fit(), port = 0, n_threads = 2)
    http(server, "/livez")
    stop_server(server)
    server$port
  }
  cycle()
  before <- held()
  for (i in 1:30) cycle()
  wait_until(function() all(held() <= before), 2)
  expect_identical(held(), before)
})

# ---- other processes -------------------------------------------------------------------------

test_that("a child of a fork holds no port and no server", {
  skip_on_os("windows")
  server <- local_server(handle_fit())
  child <- parallel::mcparallel({
    answer <- list(
      stop = class(tryCatch(stop_server(server), error = identity))[1L],
      the_only = class(tryCatch(stop_server(), error = identity))[1L],
      status = class(tryCatch(server_status(), error = identity))[1L],
      update = class(tryCatch(update(server, threshold = 0.3), error = identity))[1L]
    )
    own <- serve(handle_fit(), port = 0)
    answer$own <- http(own, "/readyz")$status
    stop_server()
    rm(server)
    invisible(gc())
    answer
  })
  idle <- parallel::mcparallel(Sys.sleep(20))
  withr::defer({
    tools::pskill(idle$pid, tools::SIGKILL)
    parallel::mccollect(idle, wait = FALSE)
  })
  answer <- parallel::mccollect(child)[[1L]]
  expect_identical(answer$own, 200L)
  expect_true(all(unlist(answer[c("stop", "the_only", "status", "update")]) == "voxridge_error_dead_handle"))
  expect_identical(http(server, "/readyz")$status, 200L)
  stop_server(server)
  # the idle child lives, and the port is free
  expect_true(tools::pskill(idle$pid, 0L))
  expect_true(is_refused(server))
  again <- serve(handle_fit(), port = server$port)
  stop_server(again)
})

test_that("a program that R starts holds no port", {
  skip_on_os("windows")
  server <- local_server(handle_fit())
  connection <- open_connection(server)
  withr::defer(close(connection))
  writeBin(request_bytes("/livez"), connection)
  read_reply(connection)
  pid <- as.integer(system("sleep 20 >/dev/null 2>&1 & echo $!", intern = TRUE))
  withr::defer(tools::pskill(pid))
  stop_server(server)
  expect_true(tools::pskill(pid, 0L))
  expect_true(is_refused(server))
  again <- serve(handle_fit(), port = server$port)
  stop_server(again)
})

test_that("requests are answered while R computes and collects garbage", {
  skip_on_cran()
  server <- local_server(handle_fit())
  ask <- start_python("
connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[3]))
slowest = 0
start = time.time()
answers = 0
while time.time() - start < 1.5:
    sent = time.time()
    connection.request('GET', '/livez')
    assert connection.getresponse().read() == b'{\"status\":\"alive\"}'
    slowest = max(slowest, time.time() - sent)
    answers += 1
    time.sleep(0.01)
print(answers, slowest)
", server$port)
  started <- server_status(server)$connections_total
  wait_until(function() server_status(server)$connections_total > started, 20)
  end <- proc.time()[["elapsed"]] + 2
  while (proc.time()[["elapsed"]] < end) {
    invisible(sum(as.numeric(1:1e6)))
    invisible(gc())
  }
  answers <- scan(text = ask(), quiet = TRUE)
  expect_gt(answers[1L], 50)
  # two busy processes on a shared core: without R's help there would be none at all for 2 s
  expect_lt(answers[2L], 0.5)
})

test_that("replies under a swap are of the model that they name", {
  skip_on_cran()
  X <- cbind(0.3, -1.2, 2.5)
  fits <- list(v1 = handle_fit(), v2 = quiet_logistic(withr::with_seed(2, matrix(rnorm(60), 20)), rep(0:1, 10),
                                                       lambda = 1))
  server <- local_server(fits$v1, model_version = "v1")
  ask <- start_python("
connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[3]))
seen = {}
start = time.time()
while time.time() - start < 1:
    connection.request('POST', '/v1/predict_binary', struct.pack('<3d', 0.3, -1.2, 2.5),
                       {'Content-Type': 'application/octet-stream'})
    reply = connection.getresponse()
    key = (reply.getheader('X-Model-Version'), reply.read().hex())
    seen[key] = seen.get(key, 0) + 1
for (version, value), count in sorted(seen.items()):
    print(version, value, count)
", server$port)
  wait_until(function() server_status(server)$rows > 0, 20)
  for (i in 1:100) {
    name <- names(fits)[1L + i %% 2L]
    update(server, fits[[name]], model_version = name)
    Sys.sleep(0.005)
  }
  seen <- utils::read.table(text = ask(), colClasses = "character")
  want <- vapply(fits, function(fit) {
    paste(format(writeBin(predict(fit, X), raw(), endian = "little")), collapse = "")
  }, "")
  expect_identical(seen$V1, c("v1", "v2"))
  expect_identical(seen$V2, unname(want))
  expect_true(all(as.numeric(seen$V3) > 10))
})

# serve(wait = TRUE) in a process of its own: list(worker, place).
start_waiting <- function(folder, arguments, before = "", env = parent.frame()) {
  saveRDS(handle_fit(), file.path(folder, "fit.rds"))
  worker <- start_r(c(
    sprintf("folder <- %s", deparse(folder)), "fit <- readRDS(file.path(folder, 'fit.rds'))", before,
    sprintf("outcome <- tryCatch(serve(fit, port = 0, wait = TRUE, %s), interrupt = function(cnd) 'interrupted')",
            arguments),
    "saveRDS(outcome, file.path(folder, 'part'))",
    "file.rename(file.path(folder, 'part'), file.path(folder, 'outcome'))"
  ), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL), envir = env)
  found <- function() grep("http://127.0.0.1:[0-9]+", readLines(worker$log, warn = FALSE), value = TRUE)
  if (!wait_until(function() length(found()) > 0L, 20)) testthat::fail(paste(readLines(worker$log), collapse = "\n"))
  port <- as.integer(sub("^.*http://127.0.0.1:([0-9]+).*$", "\\1", found()[1L]))
  list(worker = worker, host = "127.0.0.1", port = port)
}

outcome_of <- function(waiting, seconds = 10) {
  path <- file.path(waiting$worker$folder, "outcome")
  if (!wait_until(function() file.exists(path), seconds)) {
    testthat::fail(paste(c("no end:", readLines(waiting$worker$log)), collapse = "\n"))
    return(NULL)
  }
  readRDS(path)
}

test_that("with wait = TRUE, SIGTERM lets requests end and serve() returns the final status", {
  skip_on_cran()
  skip_on_os("windows")
  waiting <- start_waiting(withr::local_tempdir(), "drain_delay_s = 0.3")
  request <- request_bytes("/v1/predict", json_rows(diag(3)))
  late <- open_connection(waiting)
  withr::defer(close(late))
  writeBin(utils::head(request, -10L), late)
  expect_identical(http(waiting, "/readyz")$status, 200L)
  tools::pskill(waiting$worker$pid, tools::SIGTERM)
  Sys.sleep(0.2)
  expect_identical(http(waiting, "/readyz")$status, 503L)
  expect_identical(http(waiting, "/livez")$status, 200L)
  Sys.sleep(0.5)
  writeBin(utils::tail(request, 10L), late)
  reply <- read_reply(late)
  expect_identical(reply$status, 200L)
  expect_identical(tolower(reply$headers[["connection"]]), "close")
  outcome <- outcome_of(waiting)
  expect_false(outcome$running)
  expect_identical(outcome$aborted, 0)
  expect_identical(outcome$requests, c("200" = 3, "503" = 1))
  expect_true(is_refused(waiting))
})

test_that("a second SIGTERM cuts off what is left", {
  skip_on_cran()
  skip_on_os("windows")
  waiting <- start_waiting(withr::local_tempdir(), "drain_timeout_s = 60")
  late <- open_connection(waiting)
  withr::defer(close(late))
  writeBin(utils::head(request_bytes("/v1/predict", json_rows(diag(3))), -10L), late)
  http(waiting, "/livez")
  tools::pskill(waiting$worker$pid, tools::SIGTERM)
  Sys.sleep(0.5)
  expect_false(file.exists(file.path(waiting$worker$folder, "outcome")))
  tools::pskill(waiting$worker$pid, tools::SIGTERM)
  outcome <- outcome_of(waiting, 3)
  expect_identical(outcome$aborted, 1)
})

test_that("an interrupt stops a waiting server and goes on to the caller; SIGTERM is R's own again after it", {
  skip_on_cran()
  skip_on_os("windows")
  waiting <- start_waiting(withr::local_tempdir(), "drain_timeout_s = 5")
  expect_identical(http(waiting, "/livez")$status, 200L)
  tools::pskill(waiting$worker$pid, tools::SIGINT)
  expect_identical(outcome_of(waiting), "interrupted")
  expect_true(is_refused(waiting))
  skip_if_not(file.exists("/proc/self/status"))
  # signal 15 among those that this process catches
  caught <- function() {
    line <- grep("^SigCgt", readLines("/proc/self/status"), value = TRUE)
    bitwAnd(strtoi(substring(line, nchar(line) - 3L), 16L), bitwShiftL(1L, 14L)) > 0L
  }
  before <- caught()
  core_catch_sigterm(TRUE)
  expect_true(caught())
  core_catch_sigterm(FALSE)
  expect_identical(caught(), before)
})

test_that("stop_server() can be interrupted, and called again", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  saveRDS(handle_fit(), file.path(folder, "fit.rds"))
  worker <- start_r(c(
    sprintf("setwd(%s)", deparse(folder)),
    "server <- serve(readRDS('fit.rds'), port = 0, drain_timeout_s = 60)",
    "late <- socketConnection(server$host, server$port, open = 'r+b', blocking = TRUE)",
    "writeBin(charToRaw('POST /v1/predict HTTP/1.1\\r\\n'), late)",
    "Sys.sleep(0.2)",
    "file.create('ready')",
    "first <- tryCatch(stop_server(server), interrupt = function(cnd) server_status(server))",
    "saveRDS(list(first = first, second = stop_server(server, 0)), 'part')",
    "file.rename('part', 'outcome')"
  ), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  wait_until(function() file.exists(file.path(folder, "ready")), 20)
  Sys.sleep(0.3)
  tools::pskill(worker$pid, tools::SIGINT)
  outcome <- outcome_of(list(worker = worker))
  expect_true(outcome$first$running)
  expect_false(outcome$first$ready)
  expect_false(outcome$second$running)
})

test_that("the end of R and unloading end a server at once", {
  skip_on_cran()
  folder <- withr::local_tempdir()
  saveRDS(handle_fit(), file.path(folder, "fit.rds"))
  fit <- sprintf("fit <- readRDS(%s)", deparse(file.path(folder, "fit.rds")))
  started <- proc.time()[["elapsed"]]
  shown <- run_r(c(fit, "server <- serve(fit, port = 0, drain_timeout_s = 60)", "cat(server$port)"), folder)
  expect_lt(proc.time()[["elapsed"]] - started, 20)
  expect_true(is_refused(list(host = "127.0.0.1", port = as.integer(shown))))
  shown <- run_r(c(
    fit, "server <- serve(fit, port = 0)", "port <- server$port", "unloadNamespace('voxridge')",
    "gone <- inherits(try(suppressWarnings(socketConnection(port = port)), silent = TRUE), 'try-error')",
    "rm(server)", "invisible(gc())", "child <- parallel::mcparallel(1)", "invisible(parallel::mccollect(child))",
    "library(voxridge)", "again <- serve(fit, port = port)", "cat(gone, again$port == port)"
  ), folder)
  expect_identical(utils::tail(shown, 1L), "TRUE TRUE")
})
