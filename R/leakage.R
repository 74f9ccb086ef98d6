# What decode() warns of before it starts: folds that let held-out samples in, and folds that lack classes. `folds`: of
# as_decode_folds(); `y`: of use_outcome(); samples are those in any fold.

# `runs`: the run of each sample, or NULL.
warn_of_leakage <- function(folds, y, runs, scale) {
  if (!is.null(runs)) warn_split_runs(folds, runs)
  if (is.factor(y)) warn_split_blocks(folds, y, runs)
  if (scale != "global") return(invisible())
  warn(
    c("{.code scale = \"global\"} scales voxels by all samples, so held-out samples take part in their own prediction.",
      i = "{.code scale = \"fold\"} learns mean and standard deviation from training samples alone."),
    "leakage",
    found = scale
  )
}

warn_split_runs <- function(folds, runs) {
  labels <- unique(runs)
  problem <- split_run(folds, match(runs, labels), labels)
  if (is.null(problem)) return(invisible())
  warn(
    c("{.arg cv} must keep runs whole, not {problem$text}: samples of one run depend on each other, and accuracy comes
       out too high.",
      i = "Leave whole runs out: {.code cv = runs}."),
    "leakage",
    found = problem$run, where = problem$fold
  )
}

# Blocks: equal labels in a row, within a run, three or more on average (random orders of two classes have two); where
# each class is one block, samples are sorted by class and say nothing about time.
warn_split_blocks <- function(folds, y, runs) {
  runs <- runs %||% contiguous_labels(folds$labels_of[folds$rows])
  n <- length(y)
  starts <- c(TRUE, y[-1L] != y[-n] | if (is.null(runs)) FALSE else runs[-1L] != runs[-n])
  block <- cumsum(starts)
  if (block[n] <= nlevels(y) || n < 3L * block[n] || any(folds$times > 1L)) return(invisible())
  id <- integer(n)
  for (fold in seq_along(folds$test)) id[folds$test[[fold]]] <- fold
  split <- vapply(split(id, block), function(x) length(unique(x)) > 1L, NA)
  if (!any(split)) return(invisible())
  first <- which(starts)[which(split)[1L]]
  warn(
    c("{.arg cv} splits {sum(split)} of {block[n]} block{?s} of equal labels among folds (the first begins at row
       {folds$rows[first]}): neighbours in time would train and test.",
      i = "Leave whole runs out, or average each block first."),
    "leakage",
    found = sum(split), where = folds$rows[first]
  )
}

# The labels where each is one block of samples, as runs are; else NULL.
contiguous_labels <- function(labels) {
  if (is.null(labels)) return(NULL)
  n <- length(labels)
  if (anyDuplicated(labels[c(TRUE, labels[-1L] != labels[-n])])) NULL else labels
}

# ---- classes ---------------------------------------------------------------------------------

# Folds of training sets with a single class, which cannot be decoded; warns of these and of classes that are missing.
check_training_labels <- function(folds, y, call) {
  there <- vapply(folds$train, function(rows) tabulate(y[rows], nlevels(y)) > 0L, logical(nlevels(y)))
  single <- which(colSums(there) < 2L)
  if (length(single) == length(folds$train)) {
    abort(
      c("{.arg cv} must leave at least 2 classes for training, not one in each of the {length(single)} folds.",
        i = "Runs and classes are confounded: every run that is left out takes a class with it."),
      "single_class_fold",
      where = single, call = call
    )
  }
  names <- folds$labels %||% seq_along(folds$train)
  if (length(single)) {
    warn(
      c("Training sets must have at least 2 classes, not one (fold{?s} {first_few(names[single])}): scores there are
         NA.", i = "Runs and classes are confounded in part; other folds may help."),
      "single_class",
      where = single
    )
  }
  missing <- which(!there & rep(colSums(there) > 1L, each = nrow(there)), arr.ind = TRUE)
  if (nrow(missing)) {
    pairs <- sprintf("%s in fold %s", encodeString(levels(y)[missing[, 1L]], quote = "\""), names[missing[, 2L]])
    warn(
      c("Training sets lack classes: {first_few(pairs)}. They cannot be predicted there.",
        i = "{.code cv_folds(y, k, stratify = TRUE)} spreads classes over folds."),
      "class_missing",
      where = missing[, 2L], found = levels(y)[missing[, 1L]]
    )
  }
  warn_confounded(folds, y)
  invisible(single)
}

# Where every fold holds out one class, in more than one sample, classes are runs.
warn_confounded <- function(folds, y) {
  held_out <- vapply(folds$test, function(rows) length(unique(y[rows])), 0L)
  if (any(held_out > 1L) || all(lengths(folds$test) == 1L)) return(invisible())
  warn(
    c("Every fold holds out a single class: class and {.arg cv} are confounded, and accuracy says nothing about
       either.",
      i = "Runs (or subjects) should each have all classes."),
    "confounded"
  )
}
