# Runs of a scanner: contiguous blocks of samples that are delayed, cleaned and held out as a whole.

# list(id, first, last): the run of each sample (1, 2, ...) and the first and last row of each run. NULL is one run.
as_runs <- function(runs, n, arg = "runs", call = rlang::caller_env()) {
  if (is.null(runs)) return(list(id = rep(1L, n), first = 1L, last = n))
  if (!is.atomic(runs) || length(dim(runs)) > 1L || length(runs) != n) {
    found <- describe(runs)
    abort(
      c("{.arg {arg}} must have a label for each of the {n} sample{?s}, not be {found}.",
        i = "Labels are numbers, text or a factor: the run in which each sample was recorded."),
      "runs",
      expected = n, found = length(runs), call = call
    )
  }
  check_labels(runs, arg, call, "runs")
  labels <- as.vector(runs)
  first <- c(1L, which(labels[-1L] != labels[-n]) + 1L)
  check_contiguous(labels[first], first, arg, call)
  last <- c(first[-1L] - 1L, n)
  list(id = rep(seq_along(first), last - first + 1L), first = first, last = last)
}

# `labels` of the blocks, which begin at rows `first`.
check_contiguous <- function(labels, first, arg, call) {
  again <- which(duplicated(labels))
  if (!length(again)) return(invisible(labels))
  where <- first[again]
  label <- encodeString(as.character(labels[again[1L]]))
  abort(
    c("{.arg {arg}} must have each run in one block of rows, not run {label} again from row {where[1]} on.",
      i = "Runs that share a number, as those of several sessions do, need labels of their own, for example
           {.code paste(session, run)}. Samples of one run must follow each other."),
    "runs",
    found = labels[again], where = where, call = call
  )
}

# ---- folds that keep runs whole --------------------------------------------------------------

# Data that were cleaned run by run carry the attribute `runs`, the label of each sample. Here `to` gets that of `from`.
keep_runs <- function(to, from, rows = NULL) {
  runs <- attr(from, "runs", exact = TRUE)
  if (!is.null(runs)) attr(to, "runs") <- if (is.null(rows)) runs else runs[rows]
  to
}

cleaned_bands <- function(bands) stats::setNames(bands$Xs, rep("Xs", length(bands$Xs)))

# Every sample of a cleaned run has been influenced by all others of it, so none of them may train a model that is
# judged on another. `data`: matrices, named as their arguments.
check_whole_runs <- function(folds, data, call = rlang::caller_env()) {
  for (arg in unique(names(data))) {
    for (x in data[names(data) == arg]) check_runs_of(x, arg, folds, call)
  }
  invisible(folds)
}

check_runs_of <- function(x, arg, folds, call) {
  runs <- attr(x, "runs", exact = TRUE)
  if (!is.atomic(runs) || length(runs) != nrow(x)) return(invisible(x))
  labels <- unique(as.vector(runs))
  problem <- if (folds$kind == "kfold") {
    split_run(folds, match(as.vector(runs), labels), labels)
  } else if (length(labels)) {
    list(text = sprintf("hold out single samples (\"%s\")", folds$kind))
  }
  if (is.null(problem)) return(invisible(x))
  abort(
    c("{.arg cv} must keep runs whole, not {problem$text}, because {.arg {arg}} was cleaned run by run.",
      i = "All samples of a cleaned run depend on each other. Use {.code cv = runs}, with the runs given to
           {.fn clean_runs}."),
    "leakage",
    found = problem$run, where = problem$fold, call = call
  )
}

# The first fold that trains and tests on the same run, or NULL. `id`: number of the run of each sample.
split_run <- function(folds, id, labels) {
  for (fold in seq_along(folds$test)) {
    tested <- logical(length(labels))
    tested[id[folds$test[[fold]]]] <- TRUE
    both <- id[folds$train[[fold]]]
    both <- both[tested[both]]
    if (!length(both)) next
    text <- sprintf("train and test fold %d on run %s", fold, encodeString(as.character(labels[both[1L]])))
    return(list(text = text, run = labels[both[1L]], fold = fold))
  }
  NULL
}
