# The serving cases: what it costs to score rows over HTTP. Each entry is one measurement (serving.R), which gives one
# or more rows. All servers have one thread for their work and one core's worth of it is what is compared.
#
# `wanted` are the figures to reach, by the names of the rows' measures.

serving_case <- function(id, what, measure, peer = NULL, wanted = c(), seconds = NULL, quick = list(), ...) {
  list(id = id, what = what, measure = measure, peer = peer, peer_label = serving_sides[[peer %||% "voxridge"]]$label,
    wanted = wanted, n = 2L, p = 8L, t = 1L, spectra = "none", precision = "double", seconds = seconds, quick = quick,
    ...)
}

benchmark_cases <- function() {
  closed <- function(peer, ratio) {
    serving_case(paste0("serving-rate-", peer), "2 x 8 JSON, 50 connections that always wait for an answer",
      measure_closed_loop, peer = peer, seconds = 10,
      wanted = c("requests per CPU second" = paste("ratio >=", ratio),
        "requests per CPU second of its threads" = "ours >= 50000"),
      quick = list(seconds = 1))
  }
  list(
    closed("plumber", 50),
    closed("httpuv", 20),
    closed("fastapi", 8),
    serving_case("serving-latency", "2 x 8 JSON, 1,425 requests per second at fixed times, 50 connections",
      measure_open_loop, rate = 1425, late = 0.01, wanted = c("p99, quiet windows (ms)" = "ours <= 0.85"),
      quick = list(seconds = 3)),
    serving_case("serving-body", "512 x 8, binary against JSON", measure_body_work, requests = 4000,
      wanted = c("CPU of the body (us)" = "ratio >= 10"), quick = list(requests = 200)),
    serving_case("serving-memory", "2 x 8 JSON, 50 connections", measure_memory,
      wanted = c("resident memory (MB)" = "ours <= 118",
        "growth after the first 1e4 requests (MB)" = "ours <= 1"),
      quick = list(requests = 20000)),
    serving_case("serving-half-open", "a new connection and its request, beside 500 half-open ones",
      measure_half_open, half_open = 500, requests = 200, wanted = c("longest time (ms)" = "ours <= 50"),
      quick = list(requests = 20)),
    serving_case("serving-busy", "2 x 8 JSON while R computes in the same process", measure_busy, seconds = 10,
      wanted = c("requests per second" = "ratio >= 0.5"), quick = list(seconds = 1))
  )
}
