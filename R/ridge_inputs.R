# What the ridge solvers share: their inputs brought into one form, their settings in the form the core takes.

# X as a checked double matrix.
as_features <- function(X, arg = "X", call = rlang::caller_env()) {
  X <- as_double_matrix(X, arg = arg, call = call)
  check_finite_columns(X, arg, call = call)
}

# list(X, folds, fit_intercept, prepared): from a matrix, or from a prepared object, whose folds and intercept count.
# `cv` and `fit_intercept` are settings(value, given): given is TRUE where the user wrote the argument.
# A store stays one for callers that stream features.
as_design <- function(X, cv, fit_intercept, call = rlang::caller_env(), stream = FALSE) {
  if (inherits(X, "voxridge_prepared")) return(prepared_design(X, cv, fit_intercept, call))
  if (stream && is_store(X)) return(store_design(X, cv$value, fit_intercept$value, call))
  X <- as_features(X, call = call)
  list(
    X = X,
    folds = as_folds(cv$value, nrow(X), call = call),
    fit_intercept = as_flag(fit_intercept$value, arg = "fit_intercept", call = call),
    prepared = NULL
  )
}

setting <- function(value, given) list(value = value, given = given)

# list(Y, is_vector, names, skip): Y as a double matrix, samples x targets; `skip` are targets to leave out.
as_targets <- function(Y, n, na_targets = NULL, arg = "Y", call = rlang::caller_env(), arg_x = "X", stream = FALSE) {
  targets <- as_target_matrix(Y, n, arg, call, arg_x, stream)
  c(targets, list(skip = skipped_targets(targets$Y, targets$is_vector, na_targets, arg, call)))
}

# The same before missing values are looked for. A store stays one for callers that stream targets.
as_target_matrix <- function(Y, n, arg = "Y", call = rlang::caller_env(), arg_x = "X", stream = FALSE) {
  if (stream && is_store(Y)) {
    Y <- validate_store(Y, arg, call)
    check_same_rows(Y, n, arg, arg_x, call)
    return(list(Y = Y, is_vector = FALSE, names = Y$names))
  }
  is_vector <- length(dim(Y)) < 2L && is.atomic(Y) && !is.null(Y)
  if (is_vector) {
    check_target_vector(Y, arg, call)
    check_same_rows(Y, n, arg, arg_x, call)
    Y <- one_column(Y)
  } else {
    Y <- as_double_matrix(Y, arg = arg, call = call)
    check_same_rows(Y, n, arg, arg_x, call)
  }
  list(Y = Y, is_vector = is_vector, names = colnames(Y))
}

# A vector as a matrix of one column; its names are those of the rows.
one_column <- function(x) {
  keep_runs(matrix(as.double(x), ncol = 1L, dimnames = if (!is.null(names(x))) list(names(x), NULL)), x)
}

check_target_vector <- function(y, arg, call) {
  if ((is.numeric(y) || is.logical(y)) && !inherits(y, "integer64")) return(invisible(y))
  found <- describe(y)
  advice <- if (rlang::is_string(y)) {
    c(i = file_advice(y))
  } else if (is.factor(y) || is.character(y)) {
    c(i = "Classes need numbers first, for example +1 and -1.")
  }
  abort(
    c("{.arg {arg}} must be a numeric matrix or vector, not {found}.", advice),
    "type",
    found = found, call = call
  )
}

# `na_targets` is "skip", "error", or NULL for functions that cannot skip.
skipped_targets <- function(Y, is_vector, na_targets, arg, call) {
  if (!identical(na_targets, "skip")) {
    if (is_vector) check_finite_vector(Y, arg, call)
    advice <- if (is.null(na_targets)) {
      c(i = "Drop these targets, or skip them with {.code na_targets = \"skip\"} in {.fn solve_ridge_cv}.")
    } else {
      c(i = "Use {.code na_targets = \"skip\"} to leave these targets out; they come back as NA.")
    }
    check_finite_columns(Y, arg, "target", advice, call)
    return(integer())
  }
  nonfinite_columns(Y)
}

check_finite_vector <- function(y, arg, call, advice = NULL) {
  where <- which(!is.finite(y))
  if (!length(where)) return(invisible(y))
  shown <- first_few(where)
  abort(
    c("{.arg {arg}} must be finite, not NA, NaN or Inf in {length(where)} of {length(y)} values ({shown}).",
      advice %||% c(i = "Drop these samples from {.arg X} and {.arg {arg}} first.")),
    "nonfinite",
    found = length(where), where = where, call = call
  )
}

# ---- scores ----------------------------------------------------------------------------------

SCORES <- c("r2", "neg_mse", "correlation")

# list(word, fun): a named score, or "user" and a function whose answers are checked.
as_score <- function(score_func, call = rlang::caller_env()) {
  if (is.function(score_func)) return(list(word = "user", fun = checked_score(score_func, call)))
  if (rlang::is_string(score_func)) {
    return(list(word = as_choice(score_func, SCORES, arg = "score_func", call = call), fun = NULL))
  }
  found <- describe(score_func)
  abort(
    "{.arg score_func} must be {.or {.val {SCORES}}}, or a function of (y_true, y_pred), not {found}.",
    "argument",
    expected = SCORES, found = found, call = call
  )
}

# The core gives blocks of targets. A function of matrices answers for each column; one of vectors, told by its single
# number for several columns, is called column by column.
checked_score <- function(score_func, call) {
  function(y_true, y_pred) {
    t <- ncol(y_true)
    scores <- score_func(y_true, y_pred)
    if (t > 1L && is.numeric(scores) && length(scores) == 1L) {
      scores <- vapply(seq_len(t), function(j) as.double(score_func(y_true[, j], y_pred[, j])), 0)
    }
    if (is.numeric(scores) && length(scores) == t && !anyNA(scores)) return(as.double(scores))
    abort_score(scores, t, call)
  }
}

abort_score <- function(scores, t, call) {
  found <- if (is.numeric(scores) && length(scores) == t) {
    sprintf("NA in %d of %d", sum(is.na(scores)), t)
  } else if (is.numeric(scores)) {
    sprintf("%d", length(scores))
  } else {
    describe(scores)
  }
  abort(
    c("{.arg score_func} must return one number per column of {.code y_true} ({t}), not {found}.",
      i = "It gets two matrices, held-out samples x targets, for a block of targets at a time; larger is better."),
    "score",
    expected = t, found = found, call = call
  )
}

# Scores that the folds do not allow.
check_score_folds <- function(score, folds, call = rlang::caller_env()) {
  if (folds$kind == "gcv" && score$word %in% c("correlation", "user")) {
    found <- if (score$word == "user") "a function" else "\"correlation\""
    abort(
      c("{.arg score_func} must be {.val r2} or {.val neg_mse} with {.code cv = \"gcv\"}, not {found}.",
        i = "Generalised cross-validation makes no held-out predictions. Use {.code cv = \"loo\"} or folds."),
      "score",
      found = score$word, call = call
    )
  }
  single <- which(lengths(folds$test) == 1L)
  if (length(single) && score$word %in% c("r2", "correlation")) {
    abort(
      c("{.arg cv} must test at least 2 samples per fold with the score {.val {score$word}}, not a single one
         ({length(single)} of {length(folds$test)} folds).",
        i = "A single sample has no variance to explain. Use {.code cv = \"loo\"} for leave-one-out with any score,
             or {.code score_func = \"neg_mse\"} in {.fn solve_ridge_cv}."),
      "score",
      found = score$word, where = single, call = call
    )
  }
  invisible(score)
}

# ---- settings for the core -------------------------------------------------------------------

# What the cross-validated solvers are told besides the data, checked; called with arguments of the user's names.
search_options <- function(local_alpha, conservative, n_targets_batch, n_targets_batch_refit, n_alphas_batch,
                           return_coefs, return_cv_scores, call = rlang::caller_env()) {
  list(
    local_alpha = as_flag(local_alpha, call = call),
    conservative = as_flag(conservative, call = call),
    n_targets_batch = as_batch(n_targets_batch, call = call),
    n_targets_batch_refit = as_batch(n_targets_batch_refit, call = call),
    n_alphas_batch = as_batch(n_alphas_batch, call = call),
    coefs = as_choice(return_coefs, c("primal", "dual", "none"), call = call),
    cv_scores = as_choice(return_cv_scores, c("all", "mean", "none"), call = call)
  )
}

as_batch <- function(x, arg = rlang::caller_arg(x), call = rlang::caller_env()) {
  as_count(x, null_ok = TRUE, arg = arg, call = call) %||% 0L
}

core_control <- function(n_threads, progress = NULL, call = rlang::caller_env()) {
  list(
    n_threads = resolve_threads(n_threads, call),
    memory_bytes = memory_budget_bytes(call),
    progress = progress
  )
}

# ---- names of results ------------------------------------------------------------------------

# Names the results carry; sent to the core, which sets them without copying a result.
result_names <- function(design, targets) {
  list(
    features = colnames(design$X),
    samples = rownames(targets$Y) %||% rownames(design$X),
    targets = targets$names,
    folds = design$folds$labels
  )
}

with_names <- function(x, names) {
  if (is.null(names) && is.null(attributes(x))) return(x)
  x <- as.vector(x)
  names(x) <- names
  x
}

# Sets dimnames where the core has not and where there are any: setting them copies the result.
with_dimnames <- function(x, names) {
  if (!is.null(dimnames(x)) || all(vapply(names, is.null, NA))) return(x)
  dimnames(x) <- names
  x
}

# rows x targets, or a vector for a vector y.
name_rows_targets <- function(x, rows, targets, is_vector) {
  if (is_vector) with_names(x, rows) else with_dimnames(x, list(rows, targets))
}

name_coefs <- function(coefs, form, names, is_vector) {
  if (is.null(coefs)) return(NULL)
  name_rows_targets(coefs, if (form == "dual") names$samples else names$features, names$targets, is_vector)
}

# folds x alphas x targets or alphas x targets; the last dimension goes for a vector y.
name_cv_scores <- function(scores, names, is_vector) {
  if (is.null(scores)) return(NULL)
  by_fold <- length(dim(scores)) == 3L
  labels <- if (by_fold && dim(scores)[1L] == length(names$folds)) names$folds
  if (!is_vector) return(with_dimnames(scores, c(if (by_fold) list(labels), list(NULL, names$targets))))
  if (!by_fold) return(as.vector(scores))
  array(scores, dim(scores)[1:2], if (!is.null(labels)) list(labels, NULL))
}
