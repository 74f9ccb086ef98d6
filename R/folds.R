# Turns every form of the argument `cv` into one: list(kind, train, test, partition, labels, id).
#   kind       "kfold", "loo" or "gcv"; the other fields are empty for the last two
#   train,test lists of integer rows, one per fold
#   partition  every row is held out once, and each training set is the complement of its test set
#   labels     names of the folds, or NULL
#   id         fold in which each row is held out, NA for none; NULL where a row is held out more than once
as_folds <- function(cv, n, arg = "cv", call = rlang::caller_env()) {
  if (n < 2L) {
    abort("Cross-validation needs at least 2 samples, not {n}.", "folds", found = n, call = call)
  }
  if (rlang::is_string(cv) && is.null(attributes(cv))) return(closed_form_folds(cv, n, arg, call))
  if (inherits(cv, "POSIXlt")) refuse_cv(cv, n, arg, call)  # a list that cannot be taken apart as one
  if (is.list(cv) && is.list(cv[["splits"]])) return(folds_from_splits(cv, n, arg, call))
  if (is.list(cv) && !is.data.frame(cv)) return(folds_from_list(cv, n, arg, call))
  if (is.numeric(cv) && !is.object(cv) && length(cv) == 1L) return(contiguous_folds(cv, n, arg, call))
  if (is.atomic(cv) && length(cv) == n) return(folds_from_labels(cv, n, arg, call))
  refuse_cv(cv, n, arg, call)
}

refuse_cv <- function(cv, n, arg, call) {
  found <- describe(cv)
  abort(
    c("{.arg {arg}} must be a number of folds, a label per sample ({n}), a list of rows, an rsample object,
       {.val loo} or {.val gcv}, not {found}.",
      i = "{.fn cv_folds} makes folds."),
    "folds",
    expected = n, found = found, call = call
  )
}

closed_form_folds <- function(cv, n, arg, call) {
  if (!cv %in% c("loo", "gcv")) refuse_cv(cv, n, arg, call)
  list(kind = cv, train = list(), test = list(), partition = TRUE, labels = NULL,
       id = if (cv == "loo") seq_len(n))
}

# k contiguous blocks, the first n mod k one larger.
contiguous_id <- function(n, k) rep(seq_len(k), n %/% k + (seq_len(k) <= n %% k))

contiguous_folds <- function(k, n, arg, call) {
  folds_from_id(contiguous_id(n, as_fold_count(k, n, arg, call)))
}

as_fold_count <- function(k, n, arg, call) {
  if (is_number(k) && k == round(k) && k >= 2 && k <= n) return(as.integer(k))
  found <- describe(k)
  abort(
    "{.arg {arg}} must be a number of folds from 2 to the number of samples ({n}), not {found}.",
    "folds",
    expected = c(2L, n), found = found, call = call
  )
}

folds_from_id <- function(id, labels = NULL) {
  rows <- seq_along(id)
  test <- unname(split(rows, id))
  list(kind = "kfold", train = lapply(test, function(out) rows[-out]), test = test, partition = TRUE,
       labels = labels, id = as.integer(id))
}

# Leave one label out. Folds come in the order of factor levels, or of the sorted labels.
folds_from_labels <- function(cv, n, arg, call) {
  check_labels(cv, arg, call)
  levels <- if (is.factor(cv)) levels(droplevels(cv)) else sort(unique(as.vector(cv)), method = "radix")
  if (length(levels) < 2L) {
    only <- describe(as.vector(levels))
    abort(
      c("{.arg {arg}} must have at least 2 different labels, not only {only}.",
        i = "Each label is held out once while the others train. Use a number, as in {.code {arg} = 5}, for blocks."),
      "folds",
      expected = 2L, found = length(levels), call = call
    )
  }
  folds_from_id(match(as.vector(cv), levels), labels = as.character(levels))
}

check_labels <- function(x, arg, call, what = "folds") {
  where <- which(is.na(x))
  if (!length(where)) return(invisible(x))
  shown <- first_few(where)
  abort(
    c("{.arg {arg}} must have a label for every sample, not NA for {length(where)} of {length(x)}
       ({cli::qty(length(where))}row{?s} {shown}).",
      i = "Drop these samples from {.arg X} and {.arg Y}, or give them a label."),
    what,
    found = length(where), where = where, call = call
  )
}

# ---- lists of rows ---------------------------------------------------------------------------

folds_from_list <- function(cv, n, arg, call) {
  if (!length(cv)) refuse_cv(cv, n, arg, call)
  if (all(vapply(cv, is_train_test, NA))) {
    return(folds_from_pairs(lapply(cv, `[[`, "train"), lapply(cv, `[[`, "test"), n, names(cv), arg, call))
  }
  if (any(vapply(cv, is.list, NA))) {
    first <- which(!vapply(cv, is_train_test, NA))[1L]
    found <- describe(cv[[first]])
    abort(
      c("Each element of the list {.arg {arg}} must be {.code list(train = rows, test = rows)},
         not {found} (element {first}).",
        i = "A list of vectors, each with the rows of one held-out fold, is understood too."),
      "folds",
      found = found, where = first, call = call
    )
  }
  test <- Map(function(rows, fold) as_rows(rows, n, fold, "held-out", arg, call), cv, seq_along(cv))
  check_partition(test, n, arg, call)
  id <- integer(n)
  for (fold in seq_along(test)) id[test[[fold]]] <- fold
  out <- folds_from_id(id, names(cv))
  out$test <- unname(test)
  out
}

is_train_test <- function(x) is.list(x) && length(x) == 2L && setequal(names(x), c("train", "test"))

as_rows <- function(rows, n, fold, what, arg, call) {
  if (!is.numeric(rows) || is.object(rows) || !length(rows)) {
    found <- if (length(rows)) describe(rows) else "no rows"
    abort(
      c("Fold {fold} of {.arg {arg}} must have {what} rows, not {found}.", i = "Rows are numbers from 1 to {n}."),
      "folds",
      found = found, where = fold, call = call
    )
  }
  bad <- which(!is.finite(rows) | rows != round(rows) | rows < 1 | rows > n)
  if (length(bad)) {
    first <- format(rows[bad[1L]])
    abort(
      "The {what} rows of fold {fold} of {.arg {arg}} must be whole numbers from 1 to {n}, not {first}.",
      "folds",
      expected = c(1L, n), found = rows[bad], where = fold, call = call
    )
  }
  as.integer(rows)
}

check_partition <- function(test, n, arg, call) {
  times <- tabulate(unlist(test), n)
  again <- which(times > 1L)
  never <- which(times == 0L)
  if (length(test) > 1L && !length(again) && !length(never)) return(invisible(test))
  problem <- if (length(again)) {
    shown <- first_few(again)
    "{length(again)} more than once (row{?s} {shown})"
  } else if (length(never)) {
    shown <- first_few(never)
    "{length(never)} never (row{?s} {shown})"
  } else {
    "all of them at once: that leaves nothing to train on"
  }
  abort(
    c(paste0("The held-out rows in {.arg {arg}} must hold out each of the {n} samples once, not ", problem, "."),
      i = "For other designs give {.code list(train = rows, test = rows)} per fold."),
    "folds",
    found = times, where = c(again, never), call = call
  )
}

folds_from_pairs <- function(train, test, n, labels, arg, call) {
  folds <- seq_along(test)
  train <- unname(Map(function(rows, fold) as_rows(rows, n, fold, "training", arg, call), train, folds))
  test <- unname(Map(function(rows, fold) as_rows(rows, n, fold, "test", arg, call), test, folds))
  for (fold in folds) check_pair(train[[fold]], test[[fold]], fold, arg, call)
  times <- tabulate(unlist(test), n)
  complement <- all(lengths(train) == n - lengths(test)) && !any(vapply(train, anyDuplicated, 0L))
  list(kind = "kfold", train = train, test = test, partition = all(times == 1L) && complement,
       labels = labels, id = if (all(times <= 1L)) held_out_id(test, n))
}

held_out_id <- function(test, n) {
  id <- rep(NA_integer_, n)
  for (fold in seq_along(test)) id[test[[fold]]] <- fold
  id
}

check_pair <- function(train, test, fold, arg, call) {
  again <- unique(test[duplicated(test)])
  if (length(again)) {
    shown <- first_few(again)
    abort(
      "Fold {fold} of {.arg {arg}} must test each row once, not repeat {length(again)} (row{?s} {shown}).",
      "folds",
      where = fold, found = again, call = call
    )
  }
  both <- test[test %in% train]
  if (length(both)) {
    shown <- first_few(both)
    abort(
      c("Fold {fold} of {.arg {arg}} must train and test on different rows, not share {length(both)}
         (row{?s} {shown}).",
        i = "A row that trains the model cannot judge it."),
      "folds",
      where = fold, found = both, call = call
    )
  }
}

# ---- rsample ---------------------------------------------------------------------------------

# Objects of rsample, recognised by shape: `splits` is a list of splits with `data`, `in_id` and `out_id`, where NA as
# `out_id` means the rows that are not in `in_id`.
folds_from_splits <- function(cv, n, arg, call) {
  splits <- cv[["splits"]]
  known <- vapply(splits, function(s) is.list(s) && all(c("data", "in_id", "out_id") %in% names(s)), NA)
  if (!length(splits) || !all(known)) refuse_cv(cv, n, arg, call)
  rows <- vapply(splits, function(s) NROW(s[["data"]]), 0L)
  if (any(rows != n)) {
    found <- rows[rows != n][1L]
    abort(
      c("The splits in {.arg {arg}} must be of data with as many rows as {.arg X} ({n}), not {found}.",
        i = "Split the samples, not the voxels."),
      "folds",
      expected = n, found = found, call = call
    )
  }
  train <- lapply(splits, function(s) s[["in_id"]])
  test <- lapply(splits, function(s) if (anyNA(s[["out_id"]])) setdiff(seq_len(n), s[["in_id"]]) else s[["out_id"]])
  ids <- cv[grepl("^id[0-9]*$", names(cv))]
  labels <- if (length(ids)) do.call(paste, c(lapply(unclass(ids), as.character), sep = "/"))
  folds_from_pairs(train, test, n, labels, arg, call)
}

# The part of the folds that the core reads.
core_folds <- function(folds) folds[c("kind", "train", "test", "partition")]

n_folds <- function(folds) if (folds$kind == "kfold") length(folds$test) else 1L

same_folds <- function(a, b) identical(core_folds(a), core_folds(b))
