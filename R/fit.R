# What the models share: their fits are plain lists of class c("voxridge_<model>", "voxridge_fit") that keep all a
# solver answers, with what was asked and, unless told otherwise, the data.

FIT_FORMAT <- 1L

# `solved`: the solver's answer; `design`: list(folds, fit_intercept, n, p, features); `targets`: of as_target_matrix();
# `data`: list(X =, Y =) or list(Xs =, Y =); `settings`: list(alphas, score, standardize, coef_form, keep, mask,
# started).
new_voxridge_fit <- function(model, solved, design, targets, data, settings) {
  solved$diagnostics$seconds <- proc.time()[["elapsed"]] - settings$started
  folds <- design$folds
  kept <- if (settings$keep == "data") names(data) else if (settings$coef_form == "dual") setdiff(names(data), "Y")
  own <- list(
    scores = chosen_scores(solved, targets),
    alphas = settings$alphas,
    folds = c(list(kind = folds$kind, n = n_folds(folds)), folds[c("labels", "id", "train", "test", "partition")]),
    score_func = settings$score$word,
    score_fun = settings$score_fun,
    fit_intercept = design$fit_intercept,
    dims = c(n = design$n, p = design$p, t = ncol(targets$Y)),
    features = design$features,
    targets = targets$names,
    is_vector = targets$is_vector,
    standardize = settings$standardize,
    coef_form = settings$coef_form,
    mask = settings$mask,
    data = if (length(kept)) data[kept]
  )
  structure(c(list(format = FIT_FORMAT), solved, own), class = c(paste0("voxridge_", model), "voxridge_fit"))
}

# Per target the mean held-out score of what was chosen; NULL without scores.
chosen_scores <- function(solved, targets) {
  scores <- solved$cv_scores
  if (is.null(scores)) return(NULL)
  t <- ncol(targets$Y)
  index <- solved$diagnostics$gamma_index %||% solved$diagnostics$alpha_index
  by_fold <- length(dim(scores)) == (if (targets$is_vector) 2L else 3L)
  folds <- if (by_fold) nrow(scores) else 1
  # places in the array, without a copy of it in another shape
  places <- (as.vector(index) - 1) * folds + (seq_len(t) - 1) * (length(scores) / t)
  chosen <- vapply(seq_len(folds), function(f) as.double(scores[f + places]), numeric(t))
  with_names(rowMeans(matrix(chosen, t)), targets$names)
}

# An object of this version of the package, or an error.
validate_fit <- function(fit, arg = "object", call = rlang::caller_env()) {
  refuse_logistic(fit, arg, call)
  fields <- c("best_alphas", "diagnostics", "alphas", "folds", "dims", "coef_form")
  if (is.list(fit) && identical(fit[["format"]], FIT_FORMAT) && all(fields %in% names(fit))) return(fit)
  abort_old_fit(fit, arg, call)
}

abort_old_fit <- function(fit, arg, call, what = "a fit", advice = "Fit the model again.") {
  found <- if (is.list(fit)) describe(fit[["format"]]) else "none"
  if (identical(found, describe(FIT_FORMAT))) found <- paste(found, "without its parts")
  abort(
    c("{.arg {arg}} must be {what} of this version of voxridge (format {FIT_FORMAT}), not format {found}.",
      i = advice),
    "old_object",
    expected = FIT_FORMAT, found = if (is.list(fit)) fit[["format"]], call = call
  )
}

# For functions about squared errors.
refuse_logistic <- function(fit, arg, call) {
  if (!inherits(fit, "voxridge_logistic")) return(invisible(fit))
  abort(
    c("{.arg {arg}} must be a fit of {.fn fit_ridge} or {.fn fit_banded_ridge}, not of {.fn fit_logistic_ridge}.",
      i = "This is about squared errors; logistic fits have {.fn score}, {.fn log_loss} and {.fn reliability_curve}."),
    "type",
    found = class(fit)[1L], call = call
  )
}

is_banded <- function(fit) !is.null(fit[["gammas"]])

# ---- the arguments of a model ----------------------------------------------------------------

# The arguments in `...` of a model: those of its solver that it has not itself.
as_solver_dots <- function(dots, solver, model, call) {
  allowed <- setdiff(names(formals(solver[[1L]])), names(formals(model[[1L]])))
  names <- names(dots) %||% character(length(dots))
  if (!all(nzchar(names))) {
    found <- describe(dots[[which(!nzchar(names))[1L]]])
    abort(
      c("{.arg ...} must be named arguments of {.fn {names(solver)}}, not {found} without a name."),
      "argument",
      found = found, call = call
    )
  }
  again <- names[duplicated(names)]
  if (length(again)) {
    abort("{.arg {again[1]}} must be given once, not twice.", "argument", found = again, call = call)
  }
  unknown <- setdiff(names, allowed)
  if (!length(unknown)) return(lapply(dots, as_value))
  nearest <- nearest_word(unknown[1L], setdiff(c(names(formals(model[[1L]])), allowed), "..."))
  advice <- if (length(nearest)) "Did you mean {.arg {nearest}}?" else "See the help page of {.fn {names(solver)}}."
  abort(
    c("{.arg {unknown[1]}} must be an argument of {.fn {names(model)}} or {.fn {names(solver)}}, not unknown to both.",
      i = advice),
    "argument",
    found = unknown, expected = nearest, call = call
  )
}

# For a call made of values: a name or a call is one too, and not to be evaluated.
as_value <- function(x) if (is.symbol(x) || is.call(x)) call("quote", x) else x

# The word that differs in the fewest letters, where these are few for its length.
nearest_word <- function(word, words) {
  distance <- utils::adist(word, words, ignore.case = TRUE)[1L, ]
  words[which.min(distance)][min(distance) <= max(1, nchar(word) %/% 3)]
}

given_or <- function(dots, name, default) if (name %in% names(dots)) dots[[name]] else default

# The form of the coefficients that `return_coefs` asks for.
as_coef_form <- function(dots, call) {
  forms <- c("primal", "dual", "none")
  as_choice(given_or(dots, "return_coefs", forms), forms, arg = "return_coefs", call = call)
}

as_keep <- function(keep, call) as_choice(keep, c("data", "none"), arg = "keep", call = call)

# The mask that the columns of Y came through, where Y carries one.
target_mask <- function(Y) {
  mask <- if (is_store(Y)) Y[["mask"]] else attr(Y, "mask", exact = TRUE)
  if (inherits(mask, "brain_mask") && is.list(mask) && isTRUE(mask[["n"]] == NCOL(Y))) mask
}

# The default grid reaches from next to no shrinkage, where there are more samples than features, to next to no
# prediction: there its ends say something of a target, not of the grid.
warn_fit_at_edge <- function(solved, alphas, design, t, default_grid, features) {
  grid <- sprintf("alpha_grid(%s)", features)
  diagnostics <- solved$diagnostics
  if (default_grid) {
    grid <- sprintf("alpha_grid(%s, span = c(1e-6, 1e5))", features)
    diagnostics$share_at_edge[["largest"]] <- 0
    if (design$n > design$p) return(invisible())
  }
  warn_alpha_at_edge(diagnostics, alphas, t, grid)
}

without_edge_warning <- function(expr) {
  withCallingHandlers(expr, voxridge_warning_alpha_at_edge = function(cnd) rlang::cnd_muffle(cnd))
}

# ---- the data of a fit -----------------------------------------------------------------------

# What verbs need of kept data: "features", "Y" or both.
check_kept <- function(fit, what, call, arg = "object") {
  kept <- names(fit[["data"]])
  if (("features" %in% what && !length(setdiff(kept, "Y"))) || ("Y" %in% what && !"Y" %in% kept)) {
    abort(
      c("{.arg {arg}} must have kept its data, not be a fit with {.code keep = \"none\"}.",
        i = "Use {.code predict(fit, X)} with the data at hand, or fit with {.code keep = \"data\"}."),
      "no_data",
      call = call
    )
  }
  invisible(fit)
}

# The kept features, one matrix per band, in the order of the bands of the fit.
kept_parts <- function(fit) if (is_banded(fit)) unname(fit$data$Xs) else list(fit$data$X)

# The kept targets as a matrix.
kept_targets <- function(fit) if (is_store(fit$data$Y)) as.matrix(fit$data$Y) else fit$data$Y

sample_names <- function(fit) {
  rownames(fit$data$Y) %||% Find(Negate(is.null), lapply(kept_parts(fit), rownames))
}

# Coefficient rows of each part.
part_rows <- function(fit) {
  if (is_banded(fit)) unname(split(seq_along(fit$bands), fit$bands)) else list(seq_len(fit$dims[["p"]]))
}

skipped_by_fit <- function(fit) unname(fit$diagnostics$skipped_targets)

# Targets that say something about scores and penalties.
counted_by_fit <- function(fit) {
  setdiff(seq_len(fit$dims[["t"]]), c(fit$diagnostics$constant_targets, fit$diagnostics$skipped_targets))
}

# One name or number per target.
target_labels <- function(fit) fit$targets %||% seq_len(fit$dims[["t"]])

# n x t, whatever the fit dropped for a vector.
as_targets_last <- function(x) if (is.null(dim(x))) matrix(x, ncol = 1L) else x
