# Arguments of the distributed solvers, checked.

run_settings <- function(memory_gb, n_targets_batch, retries, resume, on_failure, n_threads, progress, call) {
  memory_gb <- as_positive(memory_gb, null_ok = TRUE, call = call)
  retries <- as_count(retries, min = 0, max = 100, call = call)
  if (!is.null(n_threads)) resolve_threads(n_threads, call)
  list(
    memory_bytes = if (!is.null(memory_gb)) memory_gb * 1e9,
    # jobs of a scheduler are told what is theirs; processes of one machine are not
    share_memory = !inherits(future::plan(), "batchtools"),
    n_targets_batch = as_count(n_targets_batch, null_ok = TRUE, call = call),
    retries = retries,
    resume = as_flag(resume, call = call),
    on_failure = as_choice(on_failure, c("error", "partial"), call = call),
    n_threads = n_threads,
    progress = as_flag(progress, call = call)
  )
}

MOST_BATCHES <- 10000
MOST_TILES <- 16

# list(width, slots): targets of a batch, in whole tiles, and the workers there are now. What a batch returns is in
# memory at once, so its width does not grow with the targets; `bytes`: of coefficients of a target that are.
plan_batches <- function(targets, settings, call, bytes = 0) {
  tiles <- ceiling(ncol(targets$Y) / STRIPE)
  slots <- n_slots(tiles, call)
  memory <- settings$memory_bytes %||% (memory_budget_bytes(call) / slots)
  most <- min(MOST_TILES, if (bytes > 0) floor(0.2 * memory / (STRIPE * bytes)))
  wanted <- settings$n_targets_batch
  per_batch <- if (is.null(wanted)) min(most, floor(tiles / (4 * slots))) else ceiling(wanted / STRIPE)
  list(width = STRIPE * max(1, per_batch, ceiling(tiles / MOST_BATCHES)), slots = slots)
}

# One factorisation serves all folds of many a wide problem: more shares would form the Gram matrix for nothing.
factor_shares <- function(design, score, slots) {
  folds <- design$folds
  if (folds$kind != "kfold") return(1L)
  wide <- ncol(design$X) >= min(lengths(folds$train))
  if (wide && folds$partition && score$word != "correlation") return(1L)
  min(slots, n_folds(folds) + 1L)
}

# A worker holds X, the factors, and a tile of targets for each of its threads.
check_worker_memory <- function(settings, n, p, n_folds, call) {
  if (is.null(settings$memory_bytes)) return(invisible())
  inner <- min(n, p)
  least <- 8 * (as.double(inner) * inner + 3 * STRIPE * as.double(max(n, inner)))
  if (settings$memory_bytes >= least) return(invisible())
  abort(
    c("{.arg memory_gb} must be at least {signif(least / 1e9, 3)} for these data, not {settings$memory_bytes / 1e9}.",
      i = "A worker holds a factor ({format_count(inner)} x {format_count(inner)}) and 512 targets beside {.arg X}."),
    "memory_budget",
    expected = least / 1e9, found = settings$memory_bytes / 1e9, call = call
  )
}

# A function of the user's must score each column by itself, however the targets are dealt.
check_score_columns <- function(score, design, call) {
  if (is.null(score$fun)) return(invisible(score))
  held_out <- lengths(design$folds$test)
  rows <- if (length(held_out)) max(2L, min(held_out)) else length(design$folds$id)
  at <- seq_len(rows)
  y_true <- cbind(sin(at), cos(1.7 * at), sin(0.3 * at * at))
  y_pred <- cbind(sin(at + 0.4), cos(1.5 * at), cos(at))
  together <- score$fun(y_true, y_pred)
  alone <- vapply(1:3, function(j) score$fun(y_true[, j, drop = FALSE], y_pred[, j, drop = FALSE]), 0)
  if (isTRUE(all.equal(together, alone, tolerance = 1e-10))) return(invisible(score))
  abort(
    c("{.arg score_func} must score every column by itself, not columns by what stands beside them.",
      i = "Three columns together gave {format(together, digits = 4)}, one at a time {format(alone, digits = 4)}."),
    "score",
    expected = alone, found = together, call = call
  )
}

# Names of targets become lines of a file beside the coefficients.
check_target_names <- function(names, options, call) {
  if (options$coefs == "none" || !any(is.na(names) | grepl("[\r\n]", names))) return(invisible(names))
  abort("{.arg Y} must have column names of one line each, not NA or with line breaks.", "argument", call = call)
}
