# The driver of a distributed run: units of work are dealt to the workers of the current plan, one future for each with
# a list of units, and dealt again where a worker failed. What is finished is read off the folder of the run.

# All units of a stage; returns those that are still missing after the last round, as a data frame of `unit` and the
# last `message`.
run_stage <- function(run, stage, units, label, call) {
  dir.create(file.path(run$dir, stage), showWarnings = FALSE)
  todo <- Filter(function(unit) is.null(read_checkpoint(run, stage, unit)), units)
  bar <- start_progress(run$settings$progress, label, call)
  on.exit(bar$close())
  tick <- function() {
    if (!is.null(bar$report)) bar$report(length(units) - length(missing_units(run, stage, todo)), length(units))
  }
  messages <- character()
  for (attempt in seq_len(run$settings$retries + 1L)) {
    if (!length(todo)) break
    if (attempt > 1L && reports$ended) renew_plan()
    alone <- attempt > 1L && attempt == run$settings$retries + 1L
    reports <- run_round(run, stage, todo, attempt, alone, tick, call)
    stop_where_final(reports, call)
    messages[names(reports$messages)] <- reports$messages
    await_files(run, stage, reports$done)
    todo <- missing_units(run, stage, todo)
  }
  data.frame(unit = todo, message = unname(messages[as.character(todo)]))
}

# Workers: as many as the plan has, no more than there are units.
n_slots <- function(n_units, call) {
  workers <- future::nbrOfWorkers()
  if (length(workers) != 1L || is.na(workers) || workers < 1) {
    abort(c("{.fn future::plan} must have at least one worker, not {workers}.",
            i = "For example {.code plan(multisession, workers = 2)}."), "argument", found = workers, call = call)
  }
  as.integer(min(workers, n_units, if (is.infinite(workers)) UNTOLD_SLOTS))
}

# For plans that do not say how many workers they have.
UNTOLD_SLOTS <- 100L

# Round-robin, so that every worker has units from all over; alone, so that one that kills its worker harms no other.
deal_units <- function(units, slots, alone) {
  if (alone && length(units) <= 4L * slots) return(as.list(units))
  unname(split(units, rep_len(seq_len(slots), length(units))))
}

# list(nodes, final, messages by unit, done, ended): what the workers report; `ended`: did any of them?
run_round <- function(run, stage, units, attempt, alone, tick, call) {
  slots <- n_slots(length(units), call)
  hands <- deal_units(units, slots, alone)
  settings <- run$settings[c("n_threads", "memory_bytes", "share_memory")]
  settings <- c(settings, list(attempt = attempt, careful = alone, slots = slots, token = new_token()))
  if (inherits(future::plan(), "sequential")) {
    return(join_reports(list(work_on_units(run$dir, run$key, stage, units, settings, tick)), list(units)))
  }
  finished <- FALSE
  on.exit(if (!finished) file.create(stop_file(run$dir, settings$token), showWarnings = FALSE))
  restore <- set_user()
  on.exit(restore(), add = TRUE)
  futures <- lapply(hands, function(hand) {
    tryCatch(submit_units(run, stage, hand, settings), FutureError = identity)
  })
  wait_for(futures, tick)
  reports <- lapply(futures, function(one) {
    if (inherits(one, "condition")) return(one)
    tryCatch(future::value(one), error = identity)
  })
  finished <- TRUE
  join_reports(reports, hands)
}

submit_units <- function(run, stage, units, settings) {
  globals <- c(run$needs$globals, unit_globals(run, stage, units, settings))
  future::future(quote(do.call(.voxridge_work, .voxridge_unit)), substitute = FALSE, globals = globals, seed = NULL,
                 packages = c(run$needs$packages, "voxridge"), envir = new.env(parent = baseenv()))
}

# Nothing of ours goes along but these few values: the function is found in the package, the data in the folder.
unit_globals <- function(run, stage, units, settings) {
  list(.voxridge_work = work_on_units, .voxridge_unit = list(run$dir, run$key, stage, units, settings))
}

wait_for <- function(futures, tick) {
  pending <- futures[!vapply(futures, inherits, NA, "condition")]
  pause <- 0.02
  while (length(pending)) {
    done <- vapply(pending, function(one) tryCatch(future::resolved(one), error = function(cnd) TRUE), NA)
    pending <- pending[!done]
    tick()
    if (length(pending)) Sys.sleep(pause)
    pause <- min(1.3 * pause, 0.5)
  }
}

join_reports <- function(reports, hands) {
  out <- list(nodes = list(), final = NULL, messages = character(), done = integer(), ended = FALSE)
  for (k in seq_along(reports)) {
    one <- reports[[k]]
    if (inherits(one, "condition")) {
      out$ended <- TRUE
      out$messages[as.character(hands[[k]])] <- paste("the worker ended:", first_line(conditionMessage(one)))
      next
    }
    out$nodes <- c(out$nodes, list(one[c("host", "pid", "problem")]))
    out$final <- out$final %||% one$final
    out$messages <- c(out$messages, one$messages)
    out$done <- c(out$done, one$done)
    if (!is.null(one$problem)) out$messages[as.character(hands[[k]])] <- one$problem$message
  }
  out
}

first_line <- function(text) {
  lines <- strsplit(cli::ansi_strip(paste(text, collapse = "\n")), "\n", fixed = TRUE)[[1L]]
  c(lines[nzchar(lines)], "an error without words")[1L]
}

# Faults of the data, and of all nodes, are final: no further attempt would go better.
stop_where_final <- function(reports, call) {
  if (!is.null(reports$final)) {
    final <- reports$final
    do.call(abort, c(list(escape(final$message), final$what), final$fields, list(call = call)))
  }
  problems <- lapply(reports$nodes, `[[`, "problem")
  found <- problems[!vapply(problems, is.null, NA)]
  hosts <- unique(vapply(reports$nodes, `[[`, "", "host"))
  if (!length(found)) return(invisible())
  kind <- found[[1L]]$what
  if (kind == "blas_self_test" && length(found) < length(problems)) {
    bad <- unique(vapply(reports$nodes[!vapply(problems, is.null, NA)], `[[`, "", "host"))
    return(warn(c("The BLAS of {.val {bad}} computes wrongly, and these nodes are left out.",
                  i = "Use another BLAS there, or one thread."), "blas_self_test"))
  }
  advice <- switch(kind,
    dir_not_shared = "Give {.arg dir}: a folder that all workers reach under the same path.",
    worker_version = "Install the same version of voxridge on every worker.",
    blas_self_test = "Use another BLAS, or {.code n_threads = 1}."
  )
  abort(c(paste0("{.fn future::plan} must have workers that can do this work, not (on {.val {hosts}}): ",
                 found[[1L]]$message, "."), i = advice), kind, where = hosts, call = call)
}

# Network file systems show a file late; a job that its scheduler has lost may still be running.
await_files <- function(run, stage, done) {
  patience <- getOption("voxridge.fs_grace", 30)
  until <- Sys.time() + patience
  while (length(missing_units(run, stage, done)) && Sys.time() < until) Sys.sleep(0.2)
}

# Once a worker has died, future 1.31 fails for all others until the plan is set again.
renew_plan <- function() {
  plans <- future::plan("list")
  future::plan(future::sequential)
  future::plan(plans)
}

# batchtools asks the scheduler for the jobs of $USER, which containers leave unset. Returns what puts it back.
set_user <- function() {
  if (nzchar(Sys.getenv("USER"))) return(function() invisible())
  Sys.setenv(USER = Sys.info()[["user"]])
  function() Sys.unsetenv("USER")
}

new_token <- function() paste0(Sys.getpid(), "_", format(as.numeric(Sys.time()) * 1e6, digits = 17L))

# A driver that is interrupted leaves this for workers that cannot be called back.
stop_file <- function(dir, token) file.path(dir, "nodes", paste0("stop_", token))

# A fork copies the threads of an OpenMP BLAS as dead ones: the first product hangs for ever.
check_forks <- function(call) {
  if (!inherits(future::plan(), "multicore")) return(invisible())
  kind <- core_blas_info()$parallel
  if (kind %in% c("serial", "pthread")) return(invisible())
  abort(
    c("{.fn future::plan} must not be {.code multicore} with a BLAS of {if (kind == 'openmp') 'OpenMP' else 'unknown'}
       threads: forked processes would hang.", i = "Use {.code plan(multisession)}."),
    "fork_unsafe",
    found = kind, call = call
  )
}
