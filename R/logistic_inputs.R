# What fit_logistic_ridge() is given, checked and brought into the form that the core takes.

# n x t, with the names of y.
logistic_targets <- function(outcome, n, call) {
  Y <- outcome$y
  if (outcome$is_vector) Y <- one_column(Y)
  check_same_rows(if (outcome$is_vector) as.vector(Y) else Y, n, "y", call = call)
  Y
}

# Descending, each once; NULL stays NULL.
as_lambdas <- function(lambda, call) {
  if (is.null(lambda)) return(NULL)
  if (!is.numeric(lambda) || is.object(lambda) || !length(lambda)) {
    found <- if (length(lambda)) describe(lambda) else "an empty vector"
    abort("{.arg lambda} must be NULL or numbers greater than 0, not {found}.", "lambda", found = found, call = call)
  }
  advice <- if (any(lambda == 0, na.rm = TRUE)) {
    "Without a penalty use {.fn glm}; where a plane separates the classes it has no answer (package detectseparation)."
  } else {
    "Larger values shrink more; NULL makes a grid."
  }
  check_elements(lambda, lambda > 0, "greater than 0", advice, "lambda", "lambda", call)
  sort(unique(as.double(lambda)), decreasing = TRUE)
}

# NULL, or p numbers greater than 0.
as_feature_penalty <- function(penalty, p, call) {
  if (is.null(penalty)) return(NULL)
  if (!is.numeric(penalty) || is.object(penalty) || length(penalty) != p) {
    found <- if (is.numeric(penalty)) length(penalty) else describe(penalty)
    abort("{.arg penalty} must be NULL or a number per feature ({p}), not {found}.", "penalty", expected = p,
          found = found, call = call)
  }
  advice <- "A feature with a small number is nearly unpenalised; leave a feature out of {.arg X} to exclude it."
  check_elements(penalty, penalty > 0, "greater than 0", advice, "penalty", "penalty", call)
  as.double(penalty)
}

LARGEST_OFFSET <- 1e15

# NULL, or n x t.
as_offset <- function(offset, n, t, call, arg = "offset", rows = "samples") {
  if (is.null(offset)) return(NULL)
  vector <- length(dim(offset)) < 2L
  size <- if (vector) length(offset) == n else identical(dim(offset), c(as.integer(n), as.integer(t)))
  if (!is.numeric(offset) || is.object(offset) || !size) {
    found <- describe(offset)
    shape <- if (t > 1L) paste0("{n} numbers, one per ", sub("s$", "", rows), ", or an {n} x {t} matrix")
             else paste0("{n} numbers, one per ", sub("s$", "", rows))
    abort(paste0("{.arg {arg}} must be NULL or ", shape, ", not {found}."), "offset", expected = c(n, t),
          found = found, call = call)
  }
  bad <- which(!is.finite(offset))
  if (length(bad)) {
    where <- first_few(bad)
    abort("{.arg {arg}} must be finite, not NA, NaN or Inf in {length(bad)} of {length(offset)} values ({where}).",
          "nonfinite", found = length(bad), where = bad, call = call)
  }
  if (max(abs(offset)) > LARGEST_OFFSET) {
    found <- format(offset[which.max(abs(offset))])
    abort(
      c("{.arg {arg}} must be at most {LARGEST_OFFSET} in size, not {found}.",
        i = "It is added to logits, and larger ones have no digits left for them."),
      "offset",
      found = offset[which.max(abs(offset))], call = call
    )
  }
  matrix(as.double(offset), n, t)
}

# ---- classes ---------------------------------------------------------------------------------

# Targets to leave out: those with missing values, and those of a single class.
single_class_targets <- function(Y, weights, is_vector, na_targets, call) {
  missing <- core_nonfinite_columns(Y)
  ones <- colSums(weights * Y)
  zeros <- colSums(weights * (1 - Y))
  single <- setdiff(which(!(ones > 0 & zeros > 0)), missing)
  if (!length(single)) return(missing)
  if (na_targets == "skip") {
    shown <- first_few(column_labels(single, colnames(Y)))
    warn(c("{length(single)} target{?s} of a single class {?is/are} NA in the results ({shown})."), "single_class",
         where = single)
    return(sort(c(missing, single)))
  }
  value <- if (ones[single[1L]] > 0) 1 else 0
  place <- if (!is_vector) sprintf(" in %s", paste("column", column_labels(single[1L], colnames(Y))))
  more <- if (length(single) > 1L) sprintf(" and %d more", length(single) - 1L)
  abort(
    c("{.arg y} must have both classes with positive weight, not one class (all {value}){place}{more}.",
      i = if (!is_vector) "Drop these targets, or skip them with {.code na_targets = \"skip\"}."),
    "single_class",
    found = value, where = single, call = call
  )
}

# NULL, or list(weights = n x t): those of the fit.
as_class_weights <- function(class_weights, Y, weights, outcome, skip, local_lambda, call) {
  if (is.null(class_weights)) return(NULL)
  if (!local_lambda && ncol(Y) > 1L) {
    abort(
      c("{.arg local_lambda} must be TRUE with {.arg class_weights} and several targets, not FALSE.",
        i = "Class weights make a problem of its own of each target, with scales of its own."),
      "conflict",
      call = call
    )
  }
  used <- setdiff(seq_len(ncol(Y)), skip)
  if (!all(Y[, used] %in% c(0, 1))) {
    found <- describe(class_weights)
    abort("{.arg class_weights} must be NULL where {.arg y} has proportions, not {found}.", "conflict", found = found,
          call = call)
  }
  balanced <- identical(class_weights, "balanced")
  if (!balanced) check_class_weights(class_weights, outcome, call)
  each <- vapply(seq_len(ncol(Y)), function(j) {
    if (j %in% skip) return(weights)
    one <- Y[, j] == 1
    if (balanced) {
      factors <- sum(weights) / (2 * c(sum(weights[!one]), sum(weights[one])))
    } else {
      levels <- if (is.matrix(outcome$levels)) outcome$levels[, j] else outcome$levels
      positive <- outcome$positive[min(j, length(outcome$positive))]
      factors <- class_weights[c(setdiff(levels, positive), positive)]
    }
    weights * ifelse(one, factors[[2L]], factors[[1L]])
  }, weights)
  each <- matrix(each, nrow(Y))
  if (all(is.finite(colSums(each)))) return(list(weights = each))
  found <- "a sum that overflows"
  abort("{.arg weights} must have a finite sum times {.arg class_weights}, not {found}.", "weights", found = found,
        call = call)
}

check_class_weights <- function(class_weights, outcome, call) {
  levels <- sort(unique(as.vector(outcome$levels)))
  good <- is.numeric(class_weights) && length(class_weights) == 2L && all(is.finite(class_weights)) &&
    all(class_weights > 0) && setequal(names(class_weights), levels)
  if (good) return(invisible())
  found <- describe(class_weights)
  if (is.numeric(class_weights) && !is.null(names(class_weights))) {
    found <- paste0("names ", paste(names(class_weights), collapse = ", "))
  }
  abort(
    c("{.arg class_weights} must be NULL, {.val balanced}, or two numbers greater than 0 named {.or {.val {levels}}},
       not {found}."),
    "argument",
    found = found, call = call
  )
}

# ---- folds -----------------------------------------------------------------------------------

# list(kind, train, test, ...), with empty lists of rows where there is no cross-validation.
logistic_folds <- function(cv, Y, outcome, call) {
  n <- nrow(Y)
  if (is.null(cv)) return(list(kind = "none", train = list(), test = NULL))
  word <- if (is.character(cv)) as.vector(cv)
  if (identical(word, "gcv")) {
    abort(
      c("{.arg cv} must be folds or {.val loo} for a logistic regression, not {.val gcv}.",
        i = "Generalised cross-validation is for least squares."),
      "folds",
      found = cv, call = call
    )
  }
  if (identical(word, "loo")) cv <- seq_len(n)
  counted <- is.numeric(cv) && length(cv) == 1L
  if (counted && outcome$is_vector && all(Y %in% c(0, 1))) {
    cv <- run_core(cv_folds(as.integer(Y), as_fold_count(cv, n, "cv", call), stratify = TRUE), call)
    folds <- as_folds(cv, n, call = call)
    folds["labels"] <- list(NULL)
    return(folds)
  }
  as_folds(cv, n, call = call)
}

# Is there a fold that can have this score?
check_fold_criterion <- function(criterion, folds, call) {
  if (criterion != "auc" || !length(folds$test) || any(lengths(folds$test) > 1L)) return(invisible())
  abort(
    c("{.arg criterion} must be {.or {.val {setdiff(BINARY_CRITERIA, \"auc\")}}} where folds hold out a single sample,
       not {.val auc}.",
      i = "An area under the curve compares samples. Use larger folds."),
    "score",
    found = criterion, call = call
  )
}

# Both classes in every training fold, for every target that is not left out.
check_training_classes <- function(design, call) {
  used <- setdiff(seq_len(ncol(design$Y)), design$skip)
  for (f in seq_along(design$folds$test)) {
    rows <- design$folds$train[[f]]
    Y <- design$Y[rows, used, drop = FALSE]
    weights <- design$weights[rows]
    bad <- which(!(colSums(weights * Y) > 0 & colSums(weights * (1 - Y)) > 0))
    if (!length(bad)) next
    missing <- if (sum(weights * Y[, bad[1L]]) > 0) "negative" else "positive"
    place <- if (ncol(design$Y) > 1L) sprintf(" of target %s", column_labels(used[bad[1L]], colnames(design$Y)))
    fold <- design$folds$labels[f] %||% f
    abort(
      c("Each training fold in {.arg cv} must have both classes, not no {missing} rows{place} (fold {fold}).",
        i = "Use run labels that mix classes, or {.code cv_folds(y, stratify = TRUE)}."),
      "single_class_fold",
      found = missing, where = f, call = call
    )
  }
}

# A held-out score for every target that is not left out, or, with a penalty for all, for one of them. The area under
# the curve needs both classes in one fold at least; other scores need weight.
check_held_out_classes <- function(design, settings, call) {
  used <- setdiff(seq_len(ncol(design$Y)), design$skip)
  if (!length(used) || is.null(design$folds$test)) return(invisible())
  scored <- rep(FALSE, length(used))
  for (rows in design$folds$test) {
    weights <- design$weights[rows]
    Y <- design$Y[rows, used, drop = FALSE]
    both <- settings$criterion != "auc" | (colSums(weights * Y) > 0 & colSums(weights * (1 - Y)) > 0)
    scored <- scored | (both & any(weights > 0))
    if (all(scored) || (!settings$local_lambda && any(scored))) return(invisible())
  }
  bad <- used[!scored]
  place <- if (ncol(design$Y) > 1L) sprintf(" of target %s", first_few(column_labels(bad, colnames(design$Y))))
  what <- if (settings$criterion == "auc") "hold out both classes" else "hold out rows of positive weight"
  advice <- if (settings$criterion == "auc") {
    "Without it there is no AUC to choose {.arg lambda} by: use larger folds, or another {.arg criterion}."
  } else {
    "Without it there is no score to choose {.arg lambda} by."
  }
  abort(c("A fold in {.arg cv} must {what}{place}, not none.", i = advice), "folds", found = 0L, where = bad,
        call = call)
}

# ---- the machine -----------------------------------------------------------------------------

# list(route, reason): the solver that was asked for, or the one that the shape asks for.
logistic_route <- function(solver, n, p, t, call) {
  choice <- if (solver == "auto") core_logistic_route(n, p, t) else list(route = solver, reason = "asked for")
  side <- if (choice$route %in% c("dual", "rotate")) n else if (choice$route %in% c("primal", "batch")) p else 0
  if (side > 30000) {
    what <- if (side == n) "samples" else "features"
    abort(
      c("{.arg solver} must be {.val matrix_free} for {format_count(side)} {what}, not {.val {choice$route}}.",
        i = "LAPACK's work space is limited to matrices of about 30,000 rows."),
      "too_large",
      found = side, call = call
    )
  }
  choice
}

check_logistic_memory <- function(design, settings, route, call) {
  p <- as.double(ncol(design$X))
  t <- as.double(ncol(design$Y))
  l <- length(design$lambda %||% seq_len(N_LAMBDAS))
  results <- c(coefficients = 8 * p * t, scores = 8 * l * t * length(design$folds$test))
  if (settings$keep_path) results <- c(results, `the coefficients of all penalties` = 8 * p * l * t)
  side <- switch(route, primal = , batch = p, dual = , rotate = nrow(design$X), 0)
  results <- c(results, `products of samples or features` = 8 * 3 * side^2)
  check_result_memory(results, "Fit fewer targets at a time, or use {.code keep_path = FALSE} or
                      {.code solver = \"matrix_free\"}.", call)
}

# ---- what the user is told -------------------------------------------------------------------

report_logistic <- function(fit, default_grid) {
  table <- fit$diagnostics$chosen
  late <- fit$diagnostics$table$status == "max_iter"
  if (any(late)) {
    worst <- min(max(fit$diagnostics$table$prob_bound[late]), 1)
    warn(
      c("{sum(late)} of {length(late)} fits did not converge within {.arg max_iter} steps.",
        i = "Their probabilities may be off by {format_numbers(worst, 2L)}; see {.code fit$diagnostics$table}."),
      "not_converged",
      found = sum(late)
    )
  }
  separable <- sum(table$separable, na.rm = TRUE)
  if (separable && fit$dims[["p"]] < fit$dims[["n"]]) {
    whose <- if (nrow(table) > 1L) " of {separable} of {nrow(table)} target{?s}"
    cli::cli_inform(
      paste0("A plane separates the classes", whose, ": {.arg lambda} alone sets the size of the coefficients."),
      class = c("voxridge_message_separable", "voxridge_message")
    )
  }
  warn_lambda_at_edge(fit, default_grid)
}

# The ends of the default grid are next to no prediction and, for p < n, next to no penalty: they say something of a
# target, not of the grid.
warn_lambda_at_edge <- function(fit, default_grid) {
  if (is.null(fit$cv) || length(fit$lambda) < 2L) return(invisible())
  counted <- !is.na(fit$cv$lambda_min)
  smallest <- mean(fit$cv$lambda_min[counted] == min(fit$lambda))
  largest <- mean(fit$cv$lambda_min[counted] == max(fit$lambda))
  if (default_grid) {
    largest <- 0
    if (fit$dims[["p"]] < fit$dims[["n"]]) return(invisible())
  }
  if (!any(counted) || smallest + largest <= 0.05) return(invisible())
  share <- round(100 * (smallest + largest))
  end <- if (smallest >= largest) "smallest" else "largest"
  best <- if (length(counted) > 1L) "{share} % of the targets have their best score" else "The best score is"
  most <- if (length(counted) > 1L) "most at the {end}" else "the {end}"
  warn(
    c(paste0(best, " at an end of {.arg lambda}, ", most, "."),
      i = "Extend the grid on that side."),
    "lambda_at_edge",
    found = c(smallest = smallest, largest = largest)
  )
}
