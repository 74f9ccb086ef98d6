# What decode() is given, checked and brought into the form of the core: data, outcomes, folds, settings.

DECODERS <- c("ridge", "logistic")
CLASS_METRICS <- c("accuracy", "balanced_accuracy", "auc")
VALUE_METRICS <- c("r", "r2", "mse")

# list(X, mask, runs, names): voxels may be constant, or have values that are not finite.
as_decoded <- function(X, call) {
  mask <- target_mask(X)
  runs <- attr(X, "runs", exact = TRUE)
  X <- as_double_matrix(X, arg = "X", call = call)
  list(X = X, mask = mask, runs = if (is.atomic(runs) && length(runs) == nrow(X)) as.vector(runs), names = colnames(X))
}

# list(y, codes, values, levels): classes as a factor and as numbers, or values; NA stay NA.
as_decoded_outcome <- function(y, n, call) {
  if (inherits(y, c("Date", "POSIXt", "difftime")) || !is.null(dim(y)) && length(dim(y)) > 1L || !is.atomic(y) ||
      is.null(y) || is.complex(y) || is.raw(y) || inherits(y, "integer64")) {
    found <- describe(y)
    abort(
      c("{.arg y} must be a factor, strings or logical (classes), or numeric, not {found}.",
        i = "One value per row of {.arg X}; several outcomes are decoded one by one."),
      "type",
      found = found, call = call
    )
  }
  if (length(dim(y)) == 1L) y <- if (is.factor(y)) factor(as.vector(y), levels(y)) else as.vector(y)
  check_same_rows(y, n, "y", call = call)
  if (is.numeric(y) && !is.factor(y)) {
    y <- as.double(y)
    if (any(is.infinite(y))) {
      where <- which(is.infinite(y))
      abort("{.arg y} must be finite, not Inf in {length(where)} of {n} values ({first_few(where)}).", "nonfinite",
            found = length(where), where = where, call = call)
    }
    return(list(y = y, codes = NULL, values = y, levels = NULL))
  }
  if (is.character(y)) y <- factor(y, sort(unique(y), method = "radix"))
  if (is.logical(y)) y <- factor(y, c(FALSE, TRUE))
  list(y = factor(as.vector(y), levels(y)), codes = NULL, values = NULL, levels = levels(y))
}

# Leaves the rows out that are in no fold, and drops classes that do not occur in the others.
use_outcome <- function(outcome, rows, call) {
  y <- outcome$y[rows]
  where <- rows[is.na(y)]
  if (length(where)) {
    abort(
      c("{.arg y} must be known for all rows in {.arg cv}, not NA for {length(where)} (row{?s} {first_few(where)}).",
        i = "Drop these samples, or leave them out by {.code cv = list(list(train = rows, test = rows), ...)}."),
      "nonfinite",
      found = length(where), where = where, call = call
    )
  }
  if (!is.null(outcome$values)) return(use_values(y, call))
  y <- droplevels(y)
  if (nlevels(y) < 2L) {
    abort(
      c("{.arg y} must have at least 2 classes, not only {.val {levels(y)}}.",
        i = "Numbers are decoded by regression; classes are a factor, strings or logical."),
      "single_class",
      expected = 2L, found = levels(y), call = call
    )
  }
  list(y = y, codes = as.integer(y), values = NULL, levels = levels(y))
}

use_values <- function(y, call) {
  different <- length(unique(y))
  if (different < 2L) {
    abort("{.arg y} must have at least 2 different values, not only {format(y[1])}.", "shape", expected = 2L,
          found = y[1L], call = call)
  }
  if (different < 6L) {
    inform(
      c("{.arg y} is numeric, with {different} different values: they are predicted by regression.",
        i = "For classes use {.code factor(y)}."),
      "few_values",
      found = different
    )
  }
  list(y = y, codes = NULL, values = y, levels = NULL)
}

# ---- folds -----------------------------------------------------------------------------------

# Folds as of as_folds(), with `rows`, those that are in any fold, `labels_of`, the label of each row where `cv` is one
# label per row, and `form`: "labels", "count" or "lists". Rows of train and test count from 1 within `rows`.
as_decode_folds <- function(cv, n, call) {
  folds <- as_folds(cv, n, call = call)
  if (folds$kind == "gcv") {
    abort(
      c("{.arg cv} must make held-out predictions, not be {.val gcv}.",
        i = "For brain data leave one run or subject out: {.code cv = runs}."),
      "folds",
      call = call
    )
  }
  form <- if (is.list(cv)) "lists" else if (length(cv) == n && n > 1L && folds$kind == "kfold") "labels" else "count"
  if (folds$kind == "loo") folds <- folds_from_id(seq_len(n))
  if (length(folds$test) < 2L) {
    abort(
      c("{.arg cv} must have at least 2 folds, not {length(folds$test)}.", i = "{.fn cv_folds} makes folds."),
      "folds",
      expected = 2L, found = length(folds$test), call = call
    )
  }
  rows <- sort(unique(unlist(c(folds$train, folds$test))))
  if (length(rows) < n) {
    folds$train <- lapply(folds$train, match, rows)
    folds$test <- lapply(folds$test, match, rows)
  }
  times <- tabulate(unlist(folds$test), length(rows))
  complement <- all(lengths(folds$train) == length(rows) - lengths(folds$test)) &&
    !any(vapply(folds$train, anyDuplicated, 0L))
  folds$partition <- all(times == 1L) && complement
  folds$rows <- rows
  folds$n_rows <- n
  folds$times <- times
  folds$form <- form
  folds$labels_of <- if (form == "labels") as.vector(cv)
  folds$count <- if (form == "count" && is.numeric(cv)) as.integer(cv)
  folds
}

# With several alphas, the folds inside each training set: list(train, test) in rows of X, per outer fold.
inner_folds <- function(folds, call) {
  lapply(seq_along(folds$train), function(fold) {
    train <- unique(folds$train[[fold]])
    id <- inner_id(folds, train, fold, call)
    held_out <- unname(split(train, id))
    # rows drawn repeatedly stay so
    list(train = lapply(held_out, function(out) setdiff_rows(folds$train[[fold]], out)), test = held_out)
  })
}

setdiff_rows <- function(rows, out) rows[!rows %in% out]

# The groups are the other folds; where rows are held out repeatedly, or by number, blocks of the training rows.
inner_id <- function(folds, train, fold, call) {
  blocks <- if (!is.null(folds$count)) folds$count else if (any(folds$times > 1L)) length(folds$test)
  if (!is.null(blocks)) return(contiguous_id(length(train), min(blocks, length(train))))
  group <- integer(length(folds$rows))
  for (other in seq_along(folds$test)) group[folds$test[[other]]] <- other
  id <- group[train]
  if (length(unique(id)) > 1L) return(id)
  abort(
    c("{.arg cv} must leave at least 2 groups in a training set to choose among several {.arg alphas}, not {1L} (fold
       {fold}).",
      i = "Give a single {.arg alphas}, or 3 groups or more."),
    "folds",
    expected = 2L, found = 1L, where = fold, call = call
  )
}

# ---- settings --------------------------------------------------------------------------------

# What decodes, as a list of `word` and, where it is a function of the user, `fun`.
as_decoder <- function(model, call) {
  if (is.function(model)) {
    if (length(formals(args(model))) < 3L && !"..." %in% names(formals(args(model)))) {
      abort("{.arg model} must be a function of {.code (X_train, y_train, X_test)}, not of
             {length(formals(args(model)))} argument{?s}.", "argument", found = names(formals(args(model))),
            call = call)
    }
    return(list(word = "user", fun = model))
  }
  if (!rlang::is_string(model) || !model %in% DECODERS) {
    found <- describe(model)
    abort(
      c("{.arg model} must be {.or {.val {DECODERS}}}, or a function of {.code (X_train, y_train, X_test)},
         not {found}.",
        i = "Other classifiers go into a function that returns decision values."),
      "argument",
      expected = DECODERS, found = model, call = call
    )
  }
  list(word = model, fun = NULL)
}

as_metrics <- function(metrics, is_class, call) {
  known <- if (is_class) CLASS_METRICS else VALUE_METRICS
  if (is.null(metrics)) return(known[1L])
  ok <- is.character(metrics) && length(metrics) && all(metrics %in% known) && !anyDuplicated(metrics)
  if (ok) return(as.vector(metrics))
  kind <- if (is_class) "classes" else "numeric {.arg y}"
  bad <- if (is.character(metrics)) c(metrics[!metrics %in% known], metrics[duplicated(metrics)])
  found <- if (length(bad)) encodeString(bad[1L], quote = "\"") else describe(metrics)
  other <- if (is_class) VALUE_METRICS else CLASS_METRICS
  advice <- if (length(bad) && bad[1L] %in% known) {
    "Each metric once."
  } else if (length(bad) && bad[1L] %in% other) {
    if (is_class) "{.arg y} is of classes; numbers are decoded by regression."
    else "{.arg y} is numeric, so it is predicted by regression; for classes use {.code factor(y)}."
  } else if (length(bad)) {
    near <- nearest_word(bad[1L], known)
    if (length(near)) "Did you mean {.val {near}}?"
  }
  abort(
    c(paste0("{.arg metrics} must be among {.or {.val {known}}} for ", kind, ", not {found}."), i = advice),
    "argument",
    expected = known, found = metrics, call = call
  )
}

check_decoder_settings <- function(model, alphas, n_permutations, call) {
  if (length(alphas) > 1L && model$word == "user") {
    abort(
      c("{.arg alphas} must be left out where {.arg model} is a function, not {length(alphas)} values.",
        i = "The function chooses its own settings, from its training rows."),
      "conflict",
      found = alphas, call = call
    )
  }
  if (length(alphas) > 1L && n_permutations > 0L) {
    abort(
      c("{.arg alphas} must be a single penalty with {.arg n_permutations}, not {length(alphas)}: the choice would have
         to be made again for every permutation.",
        i = "Fix it, for example {.code alphas = {format_numbers(stats::median(alphas))}}; a penalty chosen on the true
             labels is no valid null."),
      "conflict",
      found = alphas, call = call
    )
  }
  if (model$word == "logistic" && any(alphas == 0)) {
    abort("{.arg alphas} must be greater than 0 with {.code model = \"logistic\"}, not 0.", "alphas", found = alphas,
          where = which(alphas == 0), call = call)
  }
  invisible(alphas)
}

check_decode_memory <- function(dims, settings, call) {
  outcomes <- dims[["n"]] * as.double(dims[["locations"]])
  maps <- 8 * as.double(dims[["p"]]) * dims[["columns"]]
  results <- c(
    "scores" = 8 * as.double(dims[["folds"]]) * dims[["locations"]] * dims[["metrics"]],
    "out-of-fold predictions" = if (settings$keep_predictions) 8 * outcomes * (1 + dims[["columns"]]) else 0,
    "weights of all folds" = if (settings$weights) maps * (2 + dims[["folds"]]) else 0,
    "permuted labels" = dims[["permutations"]] * as.double(dims[["n"]]) * (5 + dims[["columns"]])
  )
  check_result_memory(results, "Leave {.arg keep_predictions} or {.arg weights} out, or make {.arg n_permutations}
                                smaller.", call)
}
