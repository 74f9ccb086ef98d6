test_that("both endpoints have the bits of predict()", {
  skip_if_not_installed("jsonlite")
  for (t in c(1L, 5L)) {
    for (p in c(1L, 7L, 8L, 9L, 63L)) {
      fit <- small_fit(p, t)
      n <- 1e4
      X <- made_features(n, p, seed = p + t)
      want <- unname(as.matrix(predict(fit, X)))
      link <- unname(as.matrix(predict(fit, X, "link")))
      server <- local_server(fit, limits = list(max_rows = n, max_body_bytes = 2^26), n_threads = 1 + p %% 2)
      reply <- predict_binary(server, X)
      expect_identical(reply$status, 200L)
      expect_identical(unname(reply$headers[c("x-rows", "x-targets")]), c("10000", as.character(t)))
      expect_identical(numbers_of(reply, t), want)
      expect_identical(numbers_of(predict_binary(server, X, "?output=logits"), t), link)
      some <- if (p < 63L) seq_len(n) else 1:1500
      got <- json_of(predict_json(server, X[some, , drop = FALSE], "?logits=true"))
      expect_identical(as.matrix(got$probabilities), want[some, , drop = FALSE])
      expect_identical(as.matrix(got$logits), link[some, , drop = FALSE])
      expect_identical(as.matrix(got$decisions), (link[some, , drop = FALSE] >= 0) + 0L)
      # a row has the bits it has in a batch
      one <- json_of(predict_json(server, X[7L, , drop = FALSE]))
      expect_identical(as.vector(one$probabilities), want[7L, ])
      expect_identical(server_status(server)$rows, 3 * 1e4 - 1e4 + length(some) + 1)
      stop_server(server)
    }
  }
})

test_that("a hundred thousand rows, a body of 512 at a time, through both endpoints", {
  skip_on_cran()
  skip_if_not_installed("jsonlite")
  fit <- small_fit(8L, 1L)
  X <- made_features(1e5, 8L, seed = 1)
  server <- local_server(fit)
  connection <- open_connection(server)
  withr::defer(close(connection))
  ask <- function(path, body, type) {
    writeBin(request_bytes(path, body, type), connection)
    read_reply(connection)
  }
  want <- unname(predict(fit, X))
  batches <- split(seq_along(want), (seq_along(want) - 1L) %/% 512L)
  differ <- vapply(batches, function(rows) {
    batch <- X[rows, , drop = FALSE]
    json <- json_of(ask("/v1/predict", json_rows(batch), "application/json"))
    bytes <- writeBin(as.vector(t(batch)), raw(), endian = "little")
    binary <- numbers_of(ask("/v1/predict_binary", bytes, "application/octet-stream"), 1L)
    c(json = sum(json$probabilities != want[rows]), binary = sum(binary != want[rows]))
  }, c(json = 0L, binary = 0L))
  expect_identical(rowSums(differ), c(json = 0, binary = 0))
  expect_identical(server_status(server)$rows, 2e5)
})
