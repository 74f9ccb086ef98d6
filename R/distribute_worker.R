# What runs in the workers of a distributed run. They get paths, numbers of units and a few settings; everything else
# they read from the folder of the run.

# list(host, pid, problem, final, messages, done): problem: list(what, message) where this machine cannot do the work;
# final: an error that no further attempt would change; messages: of units that failed; done: units with a checkpoint.
work_on_units <- function(dir, key, stage, units, settings, tick = function() invisible()) {
  out <- list(host = host_name(), pid = Sys.getpid(), problem = NULL, final = NULL, messages = character(),
              done = integer())
  run <- attend_run(dir, key)
  if (!is.null(run$problem)) return(utils::modifyList(out, list(problem = run$problem)))
  control <- worker_control(settings)
  out$problem <- examine_node(dir, control$n_threads)
  if (!is.null(out$problem)) return(out)
  stages <- run_stages(run$spec$kind)[[stage]]
  context <- NULL
  for (unit in units) {
    if (file.exists(stop_file(dir, settings$token)) || !dir.exists(dir)) break
    started <- proc.time()[["elapsed"]]
    failure <- tryCatch({
      if (is.null(context)) context <- stages$prepare(run, control)
      result <- stages$work(context, run, unit, control)
      result$log <- list(host = out$host, pid = out$pid, attempt = settings$attempt, n_threads = control$n_threads,
                         seconds = proc.time()[["elapsed"]] - started)
      write_checkpoint(run, stage, unit, result, rlang::current_env())
      NULL
    }, error = identity)
    if (is.null(failure)) {
      out$done <- c(out$done, unit)
    } else {
      out$messages[[as.character(unit)]] <- first_line(conditionMessage(failure))
      note_failure(dir, stage, unit, settings$attempt, failure)
      if (is_final(failure)) {
        out$final <- plain_condition(failure)
        file.create(stop_file(dir, settings$token), showWarnings = FALSE)
        break
      }
    }
    gc()  # what batches leave behind would add up before R sees to it by itself
    tick()
  }
  out
}

# The run as its manifest tells it; `problem` where that is not there, or is one of another version.
attend_run <- function(dir, key) {
  path <- file.path(dir, "manifest.rds")
  until <- Sys.time() + if (dir.exists(dir)) getOption("voxridge.fs_grace", 30) else 0
  while (!file.exists(path) && Sys.time() < until) Sys.sleep(0.2)
  found <- tryCatch(readRDS(path), error = function(cnd) NULL, warning = function(cnd) NULL)
  if (is.null(found)) {
    return(list(problem = list(what = "dir_not_shared", message = paste("there is no run in", dir))))
  }
  if (!identical(found$numerics, RUN_NUMERICS) || !identical(found$key, key)) {
    return(list(problem = list(what = "worker_version", message = paste(
      "the package there is of version", format(utils::packageVersion("voxridge"))
    ))))
  }
  list(dir = dir, key = key, spec = found$spec)
}

# The cores of this worker, as its scheduler tells, not those of the driver; its share of the memory.
worker_control <- function(settings) {
  control <- core_control(settings$n_threads %||% default_worker_threads())
  control$memory_bytes <- settings$memory_bytes %||%
    (control$memory_bytes / if (settings$share_memory) settings$slots else 1)
  if (settings$careful) control$memory_bytes <- control$memory_bytes / 2
  control
}

default_worker_threads <- function() {
  set <- thread_setting()
  if (set$source == "default") parallelly::availableCores() else set$n
}

node_state <- new.env(parent = emptyenv())

# Tests the BLAS once per process and keeps what it found.
examine_node <- function(dir, n_threads) {
  if (is.null(node_state$verdict)) node_state$verdict <- core_test_blas(n_threads)
  verdict <- node_state$verdict
  path <- file.path(dir, "nodes", paste0(host_name(), "_", Sys.getpid(), ".rds"))
  if (!file.exists(path)) {
    facts <- c(list(host = host_name(), pid = Sys.getpid(), blas = core_blas_info(), verdict = verdict),
               list(n_threads = n_threads, versions = run_versions()))
    try(write_whole(facts, path, rlang::current_env()), silent = TRUE)
  }
  if (verdict$good) return(NULL)
  worst <- max(verdict$plain, verdict$threaded)
  list(what = "blas_self_test",
       message = sprintf("its BLAS is wrong by %.3g times the rounding of a product (a good one: 4)", worst))
}

# ---- failures --------------------------------------------------------------------------------

# Memory and disks may be there the next time; what the data are will be the same.
is_final <- function(cnd) {
  passing <- paste0("voxridge_error_", c("memory", "file", "internal"))
  inherits(cnd, "voxridge_error") && !inherits(cnd, passing)
}

# What is left of a condition on its way to the driver: no environments.
plain_condition <- function(cnd) {
  fields <- unclass(cnd)
  plain <- vapply(fields, function(x) is.atomic(x) && !is.null(x), NA)
  fields <- fields[plain & !names(fields) %in% c("message", "body", "footer", "header", "call", "trace", "parent",
                                                "rlang", "use_cli_format")]
  list(what = sub("^voxridge_error_", "", grep("^voxridge_error_", class(cnd), value = TRUE)[1L]),
       message = cli::ansi_strip(conditionMessage(cnd)), fields = fields)
}

note_failure <- function(dir, stage, unit, attempt, cnd) {
  path <- file.path(dir, "failed", sprintf("%s_%06d_%d.txt", stage, unit, attempt))
  text <- c(paste("host:", host_name()), paste("process:", Sys.getpid()),
            paste("class:", paste(class(cnd), collapse = ", ")), cli::ansi_strip(conditionMessage(cnd)))
  try(suppressWarnings(writeLines(text, path)), silent = TRUE)
}

# ---- data ------------------------------------------------------------------------------------

read_shared <- function(store, control, call = rlang::caller_env()) {
  store <- validate_store(store, "X", call)
  run_core(core_store_columns(store, seq_len(store$cols), control), call)
}

# What a user's function refers to: variables, functions, packages. future puts them where workers look for them.
score_needs <- function(score_func) {
  if (!is.function(score_func)) return(NULL)
  frame <- list2env(list(score_func = score_func), parent = environment(score_func) %||% baseenv())
  needs <- future::getGlobalsAndPackages(quote(score_func(y_true, y_pred)), envir = frame, maxSize = Inf)
  globals <- unclass(needs$globals)[setdiff(names(needs$globals), "score_func")]
  list(globals = lapply(globals, identity), packages = needs$packages)
}
