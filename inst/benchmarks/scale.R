# The measurements of the scale cases. Each takes a case and gives rows of the table, one per measure and way.

# The rows of a case, whose words tell its sizes; small sizes have no figures to reach.
measure_scale <- function(case, settings, here) {
  case$what <- sprintf("%s; n=%d p=%d t=%d", case$what, case$n, case$p, case$t)
  if (settings$size == "quick") case$wanted <- c()
  cbind(measure_case(case, settings, here), load = load_average())
}

scale_job <- function(case, spectrum, settings, ...) {
  data_dir <- write_case_data(case, spectrum, settings$work_dir)
  c(list(n = case$n, p = case$p, t = case$t, folds = case$folds, cv = case$cv, precision = case$precision,
    output = case$output, data = data_dir, alphas = write_case_alphas(data_dir, case$n_alphas), repeats = 1L,
    batches = case$batches, batch = ceiling(case$t / case$batches), sample = case$sample,
    warm_up = case$warm_up), list(...))
}

# One side in a process of its own; a side that fails ends the case.
run_scale_side <- function(engine, name, job, settings, here) {
  run <- run_worker("R", c(list(name = name, engine = engine), job), settings$work_dir, 1L, settings$limit_s, here)
  if (!run$ok) stop(engine, ": ", run$reason, call. = FALSE)
  run
}

# distribute_ridge_cv() in this process, one worker, against ways that factor anew for every batch or target. Those are
# run on one batch, or on `sample` targets, and their seconds are multiplied.
measure_refactoring <- function(case, settings, here) {
  job <- scale_job(case, case$spectra, settings)
  engines <- names(case$peers)
  ours <- list()
  peers <- list()
  agreement <- list()
  problems <- character()
  for (round in seq_len(case$rounds)) {
    ours[[round]] <- run_scale_side("distribute", "ours", job, settings, here)
    for (engine in setdiff(engines, names(problems))) {
      run <- run_worker("R", c(list(name = "peer", engine = engine), job), settings$work_dir, 1L, settings$limit_s,
        here)
      if (!run$ok) {
        problems[engine] <- run$reason
        next
      }
      peers[[engine]][[round]] <- run
      count <- as.integer(run$count)
      agreement[[engine]] <- scale_agreement(settings$work_dir, count, job)
    }
  }
  of <- function(runs, field) vapply(runs, number_of, 0, field)
  rows <- lapply(engines, function(engine) {
    case$peer_label <- case$peers[[engine]]
    if (engine %in% names(problems)) {
      return(measured_row(case, "CPU s", of(ours, "cpu_seconds"), problem = problems[[engine]]))
    }
    runs <- peers[[engine]]
    times <- of(runs, "times")
    detail <- c(runs[[1]]$detail, agreement[[engine]]$text)
    row <- function(measure, field, detail = "") {
      measured_row(case, measure, of(ours, field), times * of(runs, field), lower = TRUE,
        difference = agreement[[engine]]$coef_difference, detail = detail, peer_version = runs[[1]]$version)
    }
    rbind(row("CPU s", "cpu_seconds", paste(detail, collapse = "; ")), row("s", "seconds"))
  })
  do.call(rbind, rows)
}

# Over the first `count` targets, which the peer has fitted: the same alphas, and the coefficients where those are.
scale_agreement <- function(dir, count, job) {
  names <- c("ours-R", "peer-R")
  if (!file.exists(file.path(dir, "peer-R.alphas"))) {
    return(list(coef_difference = NA_real_, text = "penalty on another scale"))
  }
  kept <- file.path(dir, "ours-R.alphas")
  write_doubles(read_doubles(kept)[seq_len(count)], file.path(dir, "first-R.alphas"))
  coefs <- file.path(dir, "ours-R.coefs")
  if (file.exists(coefs)) {
    columns <- compared_targets(count)
    write_doubles(matrix(read_doubles(coefs), job$p)[, columns], file.path(dir, "first-R.coefs"))
  }
  found <- read_agreement(dir, c("first-R", "peer-R"), count)
  unlink(file.path(dir, c("first-R.alphas", "first-R.coefs", "peer-R.alphas", "peer-R.coefs")))
  found$text <- sprintf("%.2f %% same alpha%s", 100 * found$alphas_equal,
    if (is.na(found$coef_difference)) "" else sprintf(", coefs %.0e", found$coef_difference))
  found
}

# 1, 2, ... workers of a plan, each with one thread, beside what the parts of the run with one worker predict: what the
# driver does by itself, the factors, and the work on targets over the workers. In seconds, where no more workers run at
# once than there are cores; and in CPU seconds of the driver and the busiest worker, which is the time that a machine
# with a core for each, and nothing else to do, would need.
measure_workers <- function(case, settings, here) {
  job <- scale_job(case, case$spectra, settings)
  runs <- lapply(case$workers, function(workers) list())
  for (round in seq_len(case$rounds)) {
    for (k in seq_along(case$workers)) {
      one <- c(job, list(workers = case$workers[k]))
      runs[[k]][[round]] <- run_scale_side("distribute_workers", "ours", one, settings, here)
    }
  }
  of <- function(k, field) vapply(runs[[k]], number_of, 0, field)
  cores <- parallel::detectCores()
  base <- which(case$workers == 1)
  factors <- of(base, "factor_s")
  targets <- of(base, "target_s")
  driver <- of(base, "seconds") - factors - targets
  cpu_targets <- of(base, "worker_cpu_s") * targets / (factors + targets)
  cpu_alone <- of(base, "cpu_seconds") + of(base, "worker_cpu_s") - cpu_targets
  cpu <- function(k) of(k, "cpu_seconds") + of(k, "worker_cpu_s")
  path <- function(k) of(k, "cpu_seconds") + of(k, "busiest_cpu_s")
  rows <- lapply(seq_along(case$workers), function(k) {
    workers <- case$workers[k]
    label <- sprintf("%d worker%s", workers, if (workers == 1) "" else "s")
    case$peer_label <- "model"
    note <- if (workers > cores) sprintf("; %d cores only, which the model knows", cores) else ""
    detail <- sprintf(
      "factors %.2f s in %d shares, targets %.2f s over all workers; CPU s: workers %.2f, driver %.2f%s",
      stats::median(of(k, "factor_s")), as.integer(of(k, "shares")[1]), stats::median(of(k, "target_s")),
      stats::median(of(k, "worker_cpu_s")), stats::median(of(k, "cpu_seconds")), note)
    row <- function(measure, ours, peer = NULL, ...) {
      measured_row(case, paste0(measure, ", ", label), ours, peer, TRUE, ...)
    }
    rbind(
      row("s", of(k, "seconds"), driver + factors + targets / min(workers, cores), detail = detail),
      row("CPU s, driver and busiest worker", path(k), cpu_alone + cpu_targets / workers),
      if (workers > 1) rbind(
        row("speed-up", of(base, "seconds") / of(k, "seconds")),
        row("speed-up, stage of targets", targets / of(k, "longest_s")),
        row("speed-up by CPU s", path(base) / path(k)),
        row("CPU s against 1 worker", cpu(k) / cpu(base))
      )
    )
  })
  do.call(rbind, rows)
}

# Highest resident memory of the one worker of a plan, with many targets and with few.
measure_worker_memory <- function(case, settings, here) {
  memory <- function(t, batches) {
    case$t <- t
    case$batches <- batches
    job <- scale_job(case, case$spectra, settings, workers = 1L, memory_gb = case$memory_gb, store = "yes")
    run_scale_side("distribute_workers", "ours", job, settings, here)
  }
  many <- memory(case$t, case$batches)
  few <- memory(case$few, max(1L, case$batches %/% (case$t %/% case$few)))
  case$peer_label <- sprintf("t = %d", case$few)
  values <- function(field) list(number_of(many, field), number_of(few, field))
  peak <- values("worker_peak_mb")
  own <- lapply(list(many, few), function(run) {
    number_of(run, "worker_peak_mb") - number_of(run, "worker_before_mb") - number_of(run, "shared_mb")
  })
  detail <- sprintf("t = %d; %.0f MB before; memory_gb = %g; X and factors %.1f MB; targets %.0f MB in the file",
    case$t, number_of(many, "worker_before_mb"), case$memory_gb, number_of(many, "shared_mb"),
    case$n * case$t * 4 / 2^20)
  rbind(
    measured_row(case, "peak of the worker (MB)", peak[[1]], peak[[2]], lower = TRUE, detail = detail),
    measured_row(case, "beside X and factors (MB)", own[[1]], own[[2]], lower = TRUE)
  )
}
