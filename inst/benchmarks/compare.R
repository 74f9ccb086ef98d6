# One comparison: data, the peer's best setting, then both sides in turn, and whether they found the same answer.

# Who runs the peer: "R", "python", or NULL where it is not installed.
peer_side <- function(peer, precision) {
  if (peer == "published") return(NULL)
  if (startsWith(peer, "ours_")) return("R")
  for (package in c("glmnet", "multtest")) {
    if (startsWith(peer, paste0(package, "_"))) return(if (requireNamespace(package, quietly = TRUE)) "R")
  }
  if (!is.null(peers_python())) return("python")
  if (peer == "blas_rate" && precision == "double") "R"
}

# Share of targets with the same choice (alpha, in banded cases the candidate as well, in every outer fold of nested
# ones), and over those the largest relative difference of a target's coefficients; of a path, of one penalty's.
read_agreement <- function(dir, names, t, columns = NULL) {
  path <- function(name, kind) file.path(dir, paste0(name, ".", kind))
  have <- function(kind) all(file.exists(path(names, kind)))
  same <- rep(TRUE, t)
  for (kind in Filter(have, c("alphas", "candidates"))) {
    choice <- lapply(path(names, kind), read_doubles)
    equal <- abs(choice[[1]] / choice[[2]] - 1) < 1e-6
    same <- same & rowSums(matrix(!equal, t)) == 0
  }
  difference <- NA_real_
  if (have("coefs")) {
    compared <- compared_targets(t)
    coefs <- lapply(path(names, "coefs"), function(p) matrix(read_doubles(p), ncol = columns %||% length(compared)))
    distance <- sqrt(colSums((coefs[[1]] - coefs[[2]])^2)) / sqrt(colSums(coefs[[2]]^2))
    if (any(same[compared])) difference <- max(distance[same[compared]])
  }
  list(alphas_equal = if (have("alphas")) mean(same) else NA_real_, coef_difference = difference)
}

# Splits `repeats` over interleaved rounds: A B A B, so that a machine that slows down slows both.
round_sizes <- function(repeats, rounds) {
  rounds <- min(rounds, repeats)
  repeats %/% rounds + (seq_len(rounds) <= repeats %% rounds)
}

# A time that others reported, for the sizes of the case; NA at other sizes.
published_run <- function(case) {
  list(ok = TRUE, seconds = as.character(case$published_s), setting = paste("published:", case$published_where))
}

compare_case <- function(case, spectrum, settings, here) {
  settings$threads <- case$threads %||% settings$threads
  settings$repeats <- max(settings$repeats, case$repeats)
  data_dir <- write_case_data(case, spectrum, settings$work_dir)
  logistic <- identical(case$model, "logistic")
  inference <- identical(case$model, "inference")
  kinds <- "\\.(job|result|log|alphas|candidates|coefs|counts|maxima|statistics|predictions|decisions)$"
  unlink(list.files(settings$work_dir, kinds, full.names = TRUE))
  job <- c(
    list(n = case$n, p = case$p, t = case$t, folds = case$folds, precision = case$precision, output = case$output,
      data = data_dir),
    switch(case$model %||% "linear",
      linear = list(alphas = write_case_alphas(data_dir, case$n_alphas)),
      logistic = list(alphas = write_case_lambdas(data_dir, case)),
      inference = list(permutations = case$permutations, rows = write_case_rows(data_dir, case)),
      collection = list(items = case$items, files = write_case_items(data_dir, case)),
      predict = write_case_locations(data_dir, case))
  )
  if (!is.null(case$bands)) job <- c(job, write_case_gammas(data_dir, case))
  run <- function(side, job) run_worker(side, job, settings$work_dir, settings$threads, settings$limit_s, here)
  ours_job <- c(list(engine = case$ours), job)
  peer_job <- c(list(engine = case$peer), job, case$peer_options)
  if (case$peer == "ours_20_alphas") {
    peer_job$engine <- case$ours
    peer_job$alphas <- write_case_alphas(data_dir, 20)
  }
  if (case$peer == "blas_rate") peer_job$library <- extSoftVersion()[["BLAS"]]

  peer <- peer_side(case$peer, case$precision)
  setting <- NULL
  tried <- ""
  untuned <- if (is.null(peer) && case$peer != "published") paste(case$peer_label, "is not installed")
  has_settings <- identical(peer, "python") || identical(peer, "R") && !is.null(r_engines[[case$peer]]$settings)
  if (has_settings && is.null(case$peer_options$setting) && settings$sides != "ours") {
    tuned <- run(peer, c(list(name = "tune", tune = "yes"), peer_job))
    setting <- tuned$setting
    tried <- tuned$tried %||% tuned$reason
    # the peer then runs with its first setting, and the row has to say so
    if (is.null(setting)) untuned <- paste("peer's best setting not found:", tuned$reason)
  }
  ours_runs <- list()
  peer_runs <- list()
  sizes <- round_sizes(settings$repeats, settings$rounds)
  for (i in seq_along(sizes)) {
    if (settings$sides != "peers") {
      ours_runs[[i]] <- run("R", c(list(name = "ours", repeats = sizes[i]), ours_job))
    }
    if (!is.null(peer) && settings$sides != "ours") {
      peer_runs[[i]] <- run(peer, c(list(name = "peer", repeats = sizes[i]), peer_job,
        if (!is.null(setting)) list(setting = setting)))
    }
  }
  if (case$peer == "published") peer_runs <- list(published_run(case))
  names <- c("ours-R", paste0("peer-", peer))
  agreement <- if (case$peer %in% c("blas_rate", "ours_20_alphas") || is.null(peer)) {
    list(alphas_equal = NA_real_, coef_difference = NA_real_)
  } else if (inference || identical(case$model, "collection")) {
    inference_agreement(settings$work_dir, names)
  } else if (identical(case$model, "predict")) {
    predict_agreement(settings$work_dir, names)
  } else if (logistic) {
    logistic_agreement(settings$work_dir, names, case, job)
  } else {
    read_agreement(settings$work_dir, names, case$t)
  }
  result_row(case, spectrum, ours_runs, peer_runs, agreement, tried, untuned, settings)
}

result_row <- function(case, spectrum, ours_runs, peer_runs, agreement, tried, untuned, settings) {
  first <- function(runs) if (length(runs)) runs[[1]] else list()
  # per sphere where the sides decode so many of them
  ours_count <- case$spheres %||% 1
  peer_count <- case$peer_spheres %||% 1
  ours_s <- unlist(lapply(ours_runs, seconds_of)) / ours_count
  peer_s <- unlist(lapply(peer_runs, seconds_of)) / peer_count
  nodes <- number_of(first(ours_runs), "nodes")
  if (case$peer == "blas_rate") {
    work <- if (identical(case$model, "inference")) {
      inference_flops(case)
    } else {
      counted_flops(case$n, case$p, case$t, case$folds, min(nodes, case$n_alphas, na.rm = TRUE), case$output)
    }
    rate <- number_of(first(peer_runs), "flops") / peer_s
    peer_s <- work / rate
  }
  middle <- function(x) if (length(x)) stats::median(x) else NA_real_
  lowest <- function(x) if (length(x)) min(x) else NA_real_
  highest <- function(x) if (length(x)) max(x) else NA_real_
  largest <- function(runs, field) {
    values <- vapply(runs, number_of, 0, field)
    if (length(values)) max(values) else NA_real_
  }
  problems <- unique(c(untuned, unlist(lapply(c(ours_runs, peer_runs), function(run) run$reason))))
  no_memory <- case$peer == "blas_rate"
  data.frame(
    case = case$id, what = unname(case$what), spectrum = spectrum, precision = case$precision,
    n = case$n, p = case$p, t = case$t,
    alphas = case$n_alphas, bands = case$bands %||% NA_integer_, candidates = case$candidates %||% NA_integer_,
    permutations = case$permutations %||% NA_integer_, folds = case$folds, output = case$output,
    threads = settings$threads,
    ours = case$ours_label, ours_s = middle(ours_s), ours_min_s = lowest(ours_s), ours_max_s = highest(ours_s),
    peer = case$peer_label, peer_s = middle(peer_s), peer_min_s = lowest(peer_s), peer_max_s = highest(peer_s),
    ratio = middle(peer_s) / middle(ours_s), wanted = unname(case$wanted[spectrum]),
    alphas_equal = agreement$alphas_equal, coef_difference = agreement$coef_difference,
    ours_gradient = agreement$ours_gradient %||% NA_real_, peer_gradient = agreement$peer_gradient %||% NA_real_,
    ours_cpu_s = largest(ours_runs, "cpu_seconds") / ours_count,
    peer_cpu_s = largest(peer_runs, "cpu_seconds") / peer_count,
    ours_before_mb = largest(ours_runs, "before_mb"), ours_peak_mb = largest(ours_runs, "peak_mb"),
    peer_before_mb = if (no_memory) NA_real_ else largest(peer_runs, "before_mb"),
    peer_peak_mb = if (no_memory) NA_real_ else largest(peer_runs, "peak_mb"),
    ours_nodes = nodes,
    ours_version = first(ours_runs)$version %||% "", peer_version = first(peer_runs)$version %||% "",
    peer_setting = first(peer_runs)$setting %||% "", peer_tried = tried, repeats = length(ours_s),
    problem = paste(problems, collapse = "; "), date = format(Sys.time(), "%Y-%m-%d", tz = "UTC")
  )
}
