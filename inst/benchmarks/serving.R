# The measurements of the serving cases. Each takes a case and gives rows of the table, one per measure.

# Numbers as JSON libraries print them: the fewest digits, up to 17, that read back to the same double.
json_numbers <- function(x) {
  short <- sprintf("%.15g", x)
  middle <- sprintf("%.16g", x)
  ifelse(as.numeric(short) == x, short, ifelse(as.numeric(middle) == x, middle, sprintf("%.17g", x)))
}

json_rows <- function(X) {
  rows <- apply(matrix(json_numbers(X), nrow(X)), 1, paste, collapse = ",")
  sprintf("{\"features\":[[%s]]}", paste(rows, collapse = "],["))
}

# The fit that all sides serve, the bodies that all are sent, and the programs that send them.
prepare_serving <- function(case, dir, here) {
  reason <- if (!is.null(case$peer)) missing_side(case$peer)
  if (!is.null(reason)) stop(reason, call. = FALSE)
  if (.Platform$OS.type != "unix" || !dir.exists("/proc/self/task")) stop("needs Linux", call. = FALSE)
  if (file.exists(file.path(dir, "fit.rds"))) return(invisible())
  compile_client(dir, here)
  data <- simulate_logistic(200, case$p, 1, "white")
  fit <- voxridge::fit_logistic_ridge(data$X, data$Y[, 1], lambda = 0.05, cv = NULL, n_threads = 1L, progress = FALSE)
  write_doubles(c(fit$intercept, fit$coefs), file.path(dir, "solution.bin"))
  rows <- simulate_features(512, case$p, "white")
  writeLines(json_rows(rows[seq_len(case$n), ]), file.path(dir, "rows.json"), sep = "")
  writeLines(json_rows(rows), file.path(dir, "block.json"), sep = "")
  write_doubles(t(rows), file.path(dir, "block.bin"))
  write_doubles(rows[1, ], file.path(dir, "row.bin"))
  write_doubles(stats::plogis(fit$intercept + rows %*% fit$coefs), file.path(dir, "probabilities.bin"))
  saveRDS(fit, file.path(dir, "fit.rds")) # last: all is there
}

# Largest difference of a side's probabilities of the 2 x 8 rows from those of R.
answer_difference <- function(server, n) {
  answer <- ask(server, "/v1/predict", json_type, file.path(server$dir, "rows.json"))
  numbers <- sub(".*\"probabilities\":\\[([^]]*)\\].*", "\\1", answer)
  wanted <- read_doubles(file.path(server$dir, "probabilities.bin"))[seq_len(n)]
  max(abs(as.numeric(strsplit(numbers, ",", fixed = TRUE)[[1]]) - wanted))
}

run_wrk <- function(server, seconds, here) {
  if (!nzchar(Sys.which("wrk"))) stop("wrk is not installed", call. = FALSE)
  url <- sprintf("http://127.0.0.1:%d/v1/predict", server$port)
  words <- c("-t1", "-c50", sprintf("-d%ds", seconds), "-s", file.path(here, "serving.lua"), url, "--",
    file.path(server$dir, "rows.json"), json_type)
  numbers <- number_lines(system2("wrk", shQuote(words), stdout = TRUE, stderr = TRUE))
  if (is.null(numbers$requests) || numbers$failed > 0) {
    stop("wrk: ", numbers$failed %||% "all", " requests to ", server$side, " failed", call. = FALSE)
  }
  numbers
}

# Requests per CPU second of the server's process, and of its own threads where R runs beside them, and per second.
closed_turn <- function(server, seconds, here) {
  threads_cpu <- function() if (server$side == "voxridge") server_numbers(server)$cpu_seconds else NA_real_
  threads <- threads_cpu()
  process <- process_cpu(server)
  run <- run_wrk(server, seconds, here)
  process <- process_cpu(server) - process
  threads <- threads_cpu() - threads
  c(process = run$requests / process, threads = run$requests / threads, rate = run$requests / run$seconds)
}

measure_closed_loop <- function(case, settings, here) {
  with_servers(c(case$peer, "voxridge"), settings, here, function(servers) {
    difference <- max(vapply(servers, answer_difference, 0, case$n))
    if (difference > 1e-12) stop("the answers differ by ", format(difference, digits = 2), call. = FALSE)
    for (server in servers) run_wrk(server, ceiling(case$seconds / 5), here) # R compiles what it runs often
    turns <- replicate(settings$repeats, sapply(servers, closed_turn, case$seconds, here)) # measures, sides, rounds
    row <- function(measure, ours, peer = NULL) {
      measured_row(case, measure, turns[ours, "voxridge", ], if (!is.null(peer)) turns[peer, case$peer, ],
        difference = difference, peer_version = servers[[case$peer]]$version)
    }
    rbind(
      row("requests per CPU second", "process", "process"),
      row("requests per CPU second of its threads", "threads", "process"),
      row("requests per second", "rate", "rate")
    )
  })
}

with_ours <- function(settings, here, code) {
  with_servers("voxridge", settings, here, function(servers) code(servers$voxridge))
}

measure_open_loop <- function(case, settings, here) {
  seconds <- case$seconds %||% settings$seconds
  with_ours(settings, here, function(server) {
    rows <- file.path(server$dir, "rows.json")
    run_client("count", server, "/v1/predict", json_type, rows, connections = 50, requests = 5000)
    result <- run_client("open", server, "/v1/predict", json_type, rows, rate = case$rate, connections = 50,
      seconds = seconds, late = case$late)
    # mean number of requests under way = rate x mean latency: else some latencies are missing or wrong
    if (abs(result$under_way / result$by_little - 1) > 0.02) stop("the times contradict Little's law", call. = FALSE)
    detail <- sprintf("%.0f requests/s; %d of %d seconds disturbed; under way %.4f, by Little's law %.4f", result$rate,
      result$disturbed, result$windows, result$under_way, result$by_little)
    row <- function(name, what, windows) {
      measured_row(case, sprintf("%s, %s (ms)", what, windows[[1]]), 1000 * result[[paste0(windows[[2]], "_", name)]],
        detail = if (name == "p99") detail else "")
    }
    both <- function(windows) {
      rbind(row("p50", "p50", windows), row("p90", "p90", windows), row("p99", "p99", windows),
        row("max", "longest", windows))
    }
    rbind(both(c("all windows", "all")), both(c("quiet windows", "undisturbed")))
  })
}

# CPU seconds of the server's threads per request.
cpu_per_request <- function(server, path, type, body, requests) {
  before <- server_numbers(server)
  run_client("count", server, path, type, file.path(server$dir, body), connections = 8, requests = requests)
  after <- server_numbers(server)
  stopifnot(after$requests - before$requests == requests)
  (after$cpu_seconds - before$cpu_seconds) / requests
}

# A request of one row costs next to nothing but the request itself: what 512 rows take more is work on the body.
measure_body_work <- function(case, settings, here) {
  with_ours(settings, here, function(server) {
    turn <- function() {
      c(binary = cpu_per_request(server, "/v1/predict_binary", binary_type, "block.bin", case$requests),
        json = cpu_per_request(server, "/v1/predict", json_type, "block.json", case$requests),
        row = cpu_per_request(server, "/v1/predict_binary", binary_type, "row.bin", case$requests))
    }
    turn()
    us <- 1e6 * replicate(settings$repeats, turn())
    case$peer_label <- "the same rows as JSON"
    rbind(
      measured_row(case, "CPU per request (us)", us["binary", ], us["json", ], lower = TRUE),
      measured_row(case, "CPU of the body (us)", us["binary", ] - us["row", ], us["json", ] - us["row", ],
        lower = TRUE, detail = sprintf("%.1f us for one row, binary", stats::median(us["row", ])))
    )
  })
}

measure_memory <- function(case, settings, here) {
  requests <- case$requests %||% settings$requests
  with_ours(settings, here, function(server) {
    send <- function(n) {
      run_client("count", server, "/v1/predict", json_type, file.path(server$dir, "rows.json"), connections = 50,
        requests = n)
    }
    start <- resident_mb(server)
    send(1e4)
    early <- resident_mb(server)
    send(requests - 1e4)
    end <- resident_mb(server)
    detail <- sprintf("%.1f MB at start, %.1f after 1e4 requests, %.1f after %s", start, early, end,
      format(requests, scientific = TRUE))
    rbind(
      measured_row(case, "resident memory (MB)", max(start, early, end), detail = detail),
      measured_row(case, "growth after the first 1e4 requests (MB)", end - early, detail = detail)
    )
  })
}

measure_half_open <- function(case, settings, here) {
  with_ours(settings, here, function(server) {
    result <- run_client("beside", server, "/v1/predict", json_type, file.path(server$dir, "rows.json"),
      half_open = case$half_open, requests = case$requests)
    detail <- sprintf("%.0f half-open connections at the end", result$still_open)
    rbind(
      measured_row(case, "median time (ms)", 1000 * result$healthy_p50, detail = detail),
      measured_row(case, "longest time (ms)", 1000 * result$healthy_max, detail = detail)
    )
  })
}

measure_busy <- function(case, settings, here) {
  with_ours(settings, here, function(server) {
    rate <- function(busy) {
      if (busy) {
        command_server(server, "compute", case$seconds + 1)
        Sys.sleep(0.2)
      }
      run <- run_wrk(server, case$seconds, here)
      server_numbers(server) # waits until R is idle again
      run$requests / run$seconds
    }
    rate(FALSE)
    rates <- replicate(settings$repeats, c(idle = rate(FALSE), busy = rate(TRUE)))
    case$peer_label <- "the same while R is idle"
    measured_row(case, "requests per second", rates["busy", ], rates["idle", ])
  })
}
