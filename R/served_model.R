# What a server scores with, from a fit or an engine: plain numbers and names, in the form that the core takes.

# Numbers and names for the core, and `source`, from which update() makes another shift. `engine`: of served_engine();
# `threshold` and `prior`: settings(value, given).
served_model <- function(engine, threshold, prior, call) {
  source <- list(model = engine$model, dims = engine$dims, prevalence = engine[["prevalence"]],
                 prior_shift = engine[["prior_shift"]])
  c(
    list(
      model = engine$model, coefs = engine$coefs, intercept = engine$intercept,
      features = served_names(engine$features, "features", call),
      targets = served_names(engine$targets, "targets", call),
      classes = served_names(as.vector(engine[["levels"]]), "classes", call),
      positive = served_names(engine[["positive"]], "classes", call),
      lambda = engine[["lambda"]]
    ),
    served_decision(source, threshold, engine[["threshold"]], prior, call),
    list(source = source)
  )
}

# What a server keeps in R of its model.
without_coefs <- function(model) {
  model[c("coefs", "intercept")] <- list(NULL)
  model
}

# The model that update() puts in the place of `present`.
next_model <- function(server, present, fit, threshold, prior, call) {
  if (is.null(fit)) {
    model <- server$settings$model
    decision <- served_decision(model$source, threshold, NULL, prior, call)
    model[names(decision)] <- decision
    return(model)
  }
  engine <- served_engine(fit, call)
  if (engine$model != present$kind) {
    abort_model_mismatch("kind", call)
  }
  if (engine$dims[["t"]] != present$n_targets) {
    abort_model_mismatch("targets", call)
  }
  served_model(engine, threshold, prior, call)
}

# `difference`: what is not the same.
abort_model_mismatch <- function(difference, call) {
  found <- if (difference == "kind") "be of another kind" else paste("have other", difference)
  abort(
    c("{.arg fit} must have the features, targets and classes of the model that is served, not {found}.",
      i = "Requests are made for these. Start another server with {.fn serve}."),
    "model_mismatch",
    found = difference, call = call
  )
}

# The engine of a fit that can be served.
served_engine <- function(fit, call) {
  kind <- which(inherits(fit, c("voxridge_predictor", "voxridge_logistic", "voxridge_fit"), which = TRUE) > 0L)
  if (!length(kind)) {
    abort_model(
      "a fit of {.fn fit_logistic_ridge}, {.fn fit_ridge} or {.fn fit_banded_ridge}, or a {.fn predictor} of one",
      describe(fit), "Only these models are served.", call
    )
  }
  validate <- list(validate_served_predictor, validate_logistic, validate_fit)[[kind[1L]]]
  make <- list(unclass, function(fit) logistic_engine(fit, NULL, 0.5, call), function(fit) ridge_engine(fit, call))
  engine <- tryCatch({
    validate(fit, "fit", call)
    check_served(fit, call)
    engine <- make[[kind[1L]]](fit)
    check_served_shapes(engine, call)
    engine
  }, error = function(cnd) {
    if (inherits(cnd, "voxridge_error")) rlang::cnd_signal(cnd)
    abort_altered("parts", call)
  })
  check_served_coefs(engine, call)
  engine
}

validate_served_predictor <- function(engine, arg, call) validate_predictor(engine, call, arg)

# What the core reads without a further look.
check_served_shapes <- function(engine, call) {
  p <- engine$dims[["p"]]
  t <- engine$dims[["t"]]
  numbers <- function(x, n, null_ok = FALSE) (is.null(x) && null_ok) || (is.double(x) && length(x) == n)
  words <- function(x, n) is.null(x) || (is.character(x) && length(x) %in% n)
  logistic <- engine$model == "logistic"
  good <- c(
    coefs = is.matrix(engine$coefs) && is.double(engine$coefs) && identical(dim(engine$coefs), c(p, t)),
    intercept = numbers(engine$intercept, t, null_ok = !logistic),
    features = words(engine$features, p),
    targets = words(engine$targets, t),
    lambda = numbers(engine[["lambda"]], t, null_ok = TRUE),
    levels = !logistic || (words(engine$levels, c(2L, 2L * t)) && !is.null(engine$levels)),
    positive = !logistic || (words(engine$positive, c(1L, t)) && !is.null(engine$positive)),
    prevalence = !logistic || numbers(engine$prevalence, t),
    prior_shift = !logistic || numbers(engine$prior_shift, t)
  )
  if (!all(good)) abort_altered(names(good)[!good][1L], call)
}

abort_altered <- function(part, call) {
  abort_model("a fit as its function returned it", sprintf("one whose %s changed since", part), "Fit again.", call)
}

# `must` and `advice` are cli text.
abort_model <- function(must, found, advice, call, what = "wrong_model") {
  abort(c(paste0("{.arg fit} must be ", must, ", not {found}."), i = advice), what, found = found, call = call)
}

check_served <- function(fit, call) {
  t <- fit$dims[["t"]]
  if (t > MAX_ENGINE_TARGETS) {
    abort_model(sprintf("a fit of at most %d targets", MAX_ENGINE_TARGETS), paste("one of", format_count(t)),
                "Fit the targets to be served by themselves.", call, "too_many_targets")
  }
  if (isTRUE(fit[["has_offset"]])) {
    abort_model("a fit without an offset", "one with an offset",
                "Requests have no offset. Give the offset as a feature, or fit without it.", call)
  }
}

check_served_coefs <- function(engine, call) {
  values <- rbind(engine$coefs, engine$intercept)
  bad <- which(!is.finite(colSums(values * 0)))
  if (!length(bad)) return(invisible(engine))
  shown <- first_few(escape(encodeString(column_labels(bad, engine$targets))))
  abort_model("a fit of finite coefficients", paste("NA for", count_label(length(bad), "target")),
              paste0("Leave out the targets that were skipped: ", shown, "."), call)
}

# As UTF-8, "" for what has no name; NULL where nothing has one.
served_names <- function(x, part, call) {
  x[is.na(x)] <- ""
  if (!any(nzchar(x))) return(NULL)
  x <- enc2utf8(unname(x))
  bad <- which(!validUTF8(x))
  if (!length(bad)) return(x)
  abort_model(paste("a fit whose", part, "have names in UTF-8"), paste("other bytes in name", bad[1L]),
              "Convert the names with {.fn iconv} and fit again.", call)
}

# ---- decisions -------------------------------------------------------------------------------

# list(threshold, prior, shifts) of a logistic model; nothing of them for a ridge model. `fallback`: the threshold where
# none is given.
served_decision <- function(source, threshold, fallback, prior, call) {
  if (source$model != "logistic") {
    refuse_decision(threshold, prior, call)
    return(list(threshold = NULL, prior = NULL, shifts = NULL))
  }
  value <- if (threshold$given) as_threshold(threshold$value, call) else fallback
  c(list(threshold = value), served_prior(source, prior$value, call))
}

refuse_decision <- function(threshold, prior, call) {
  given <- c(threshold = threshold$given, prior = !is.null(prior$value))
  if (!any(given)) return(invisible())
  arg <- names(given)[given][1L]
  found <- describe(if (arg == "threshold") threshold$value else prior$value)
  abort(
    c("{.arg {arg}} must be left out for a ridge fit, not {found}.", i = "Its predictions are not probabilities."),
    "conflict",
    found = found, call = call
  )
}

# Prevalences that forecasts are for, and what that adds to the logits: a shift that the fit has already is taken off.
served_prior <- function(source, prior, call) {
  if (is.null(prior)) return(list(prior = NULL, shifts = NULL))
  t <- source$dims[["t"]]
  prior <- rep_len(unname(as_prevalence(prior, t, "prior", call)), t)
  shifts <- as_logits(prior, "probability") - as_logits(source$prevalence, "probability") - source$prior_shift
  list(prior = prior, shifts = unname(shifts))
}
