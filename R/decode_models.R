# Decoders that run in R, location by location and fold by fold: logistic regression and functions of the user. They
# give what the core gives for ridge (decode_in_core()).

# The answer of the core for ridge.
decode_in_core <- function(X, problem, locations, options, control, call) {
  run_core(core_decode(X, problem, locations, options, control), call)
}

# `decoder`: list(word, fun); `y`: what a function of the user is told, a factor or numbers. Locations x metrics and the
# like as in the core; failures have `detail`.
decode_in_r <- function(X, problem, locations, options, decoder, y, control, progress) {
  states <- voxel_states(X)
  global <- rep(1, ncol(X))
  if (options$scale == "global") {
    X <- scale_by_rows(X, seq_len(nrow(X)), X)
    global <- attr(X, "sd")
  }
  core <- with_sphere_offsets(locations)
  L <- if (core$kind == "all") 1L else if (core$kind == "lists") length(core$start) - 1L else length(core$centers)
  voxels <- function(k) {
    all <- location_voxels(core, k, ncol(X))
    all[states[all] == 0L]
  }
  m <- if (options$n_permutations) options$m else 0L
  total <- L * (1 + m)
  done <- 0
  run <- function(order, observed) {
    lapply(seq_len(L), function(k) {
      out <- decode_location(X, voxels(k), problem, options, decoder, y, order, observed, control)
      done <<- done + 1
      if (!is.null(progress)) progress(done, total)
      out
    })
  }
  fits <- run(NULL, TRUE)
  out <- collect_fits(fits, problem, options)
  out$voxel_state <- states
  if (options$weights) out[c("weights", "fold_weights", "patterns")] <- collect_weights(fits, core, states, global)
  if (m) out <- c(out, null_counts(out, m, problem, options, function(order) run(order, FALSE)))
  out
}

# 0: used; 1: constant; 3: with NA, NaN or Inf.
voxel_states <- function(X) {
  state <- integer(ncol(X))
  bad <- core_nonfinite_columns(X)
  state[bad] <- 3L
  good <- which(state == 0L)
  state[good[vapply(good, function(j) all(X[, j] == X[1L, j]), NA)]] <- 1L
  state
}

# Centred and divided by the standard deviation (divisor n) of `rows` of `from`; by 1 where that is 0.
scale_by_rows <- function(from, rows, x) {
  mean <- colMeans(from[rows, , drop = FALSE])
  sd <- sqrt(colMeans(sweep(from[rows, , drop = FALSE], 2L, mean)^2))
  sd[!is.finite(sd) | sd <= sqrt(length(rows)) * .Machine$double.eps * abs(mean)] <- 1
  structure(sweep(sweep(x, 2L, mean), 2L, sd, "/"), sd = sd)
}

# One location: list(size, scores, pooled, decision, alpha, weights, fold_weights, failures). `order`: of the labels;
# NULL leaves them as they are.
decode_location <- function(X, voxels, problem, options, decoder, y, order, observed, control) {
  folds <- length(problem$train)
  fit <- list(size = length(voxels), scores = matrix(NA_real_, folds, length(options$metrics)),
              pooled = rep(NA_real_, length(options$metrics)), failures = NULL)
  fail <- function(fold, reason, detail = NA_character_) {
    fit$failures <<- rbind(fit$failures, data.frame(fold = fold, reason = reason, detail = detail))
    fit
  }
  if (length(voxels) < max(1L, options$min_voxels)) return(fail(NA_integer_, "too_small"))
  truth <- problem$classes %||% problem$values
  if (!is.null(order)) {
    truth <- truth[order]
    y <- y[order]
  }
  x <- X[, voxels, drop = FALSE]
  decisions <- vector("list", folds)
  fit$alpha <- rep(NA_real_, folds)
  for (fold in seq_len(folds)) {
    train <- problem$train[[fold]]
    test <- problem$test[[fold]]
    if (length(unique(truth[train])) < 2L) {
      fail(fold, "one_class")
      next
    }
    if (all(x[train, ] == rep(x[train[1L], ], each = length(train)))) {
      fail(fold, "constant")
      next
    }
    answer <- tryCatch(
      decoder_answer(decoder, x, y, truth, train, test, options, problem$n_classes, fold, control),
      error = function(cnd) cnd
    )
    if (inherits(answer, "error")) {
      reason <- if (decoder$word == "user") "user_error" else "singular"
      fit$scores[] <- NA
      return(fail(fold, reason, cli::ansi_strip(conditionMessage(answer))))
    }
    decisions[[fold]] <- answer$decision
    fit$alpha[fold] <- answer$alpha
    fit$fold_weights <- c(fit$fold_weights, list(answer$weights))
    fit$scores[fold, ] <- decode_scores(truth[test], answer$decision, options$metrics, problem$n_classes)
    if (anyNA(fit$scores[fold, ])) fail(fold, "undefined")
  }
  known <- !vapply(decisions, is.null, NA)
  if (!any(known)) return(fit)
  fit$decision <- decisions
  fit$pooled <- decode_scores(truth[unlist(problem$test[known])], do.call(rbind, decisions[known]), options$metrics,
                              problem$n_classes)
  if (options$weights && observed) fit$weights <- whole_weights(x, truth, options, problem$n_classes, fit, control)
  fit$voxels <- voxels
  fit
}

# list(decision, alpha, weights) of one training set, in the units of x.
decoder_answer <- function(decoder, x, y, truth, train, test, options, n_classes, fold, control) {
  if (options$scale == "fold") x <- scale_by_rows(x, train, x)
  if (decoder$word == "user") {
    answer <- decoder$fun(x[train, , drop = FALSE], y[train], x[test, , drop = FALSE])
    return(list(decision = as_decisions(answer, length(test), y), alpha = NA_real_))
  }
  lambda <- options$alphas / length(train)
  inner <- if (length(lambda) > 1L) {
    lapply(options$inner[[fold]]$test, function(out) {
      list(train = which(!train %in% out), test = which(train %in% out))
    })
  }
  fit <- fit_codes(x[train, , drop = FALSE], truth[train], n_classes, lambda, inner, control)
  decision <- x[test, , drop = FALSE] %*% fit$coefs + rep(fit$intercept, each = length(test))
  decision[is.na(decision)] <- -Inf
  coefs <- fit$coefs
  if (options$scale == "fold") coefs <- coefs / attr(x, "sd")
  list(decision = unname(decision), alpha = fit$lambda * length(train), weights = coefs)
}

# One class against the rest; of two classes the second. list(coefs, intercept, lambda), NA for a class that is missing.
fit_codes <- function(x, truth, n_classes, lambda, inner, control) {
  columns <- if (n_classes == 2L) 2L else seq_len(n_classes)
  codes <- outer(truth, columns, "==")
  there <- colSums(codes) > 0L
  fit <- withCallingHandlers(
    fit_logistic_ridge(x, codes[, there, drop = FALSE], lambda = lambda, cv = inner, standardize = FALSE,
                       local_lambda = FALSE, keep = "none", n_threads = control$n_threads, progress = FALSE),
    voxridge_message_separable = function(cnd) rlang::cnd_muffle(cnd),
    voxridge_warning_lambda_at_edge = function(cnd) rlang::cnd_muffle(cnd)
  )
  coefs <- matrix(NA_real_, ncol(x), length(columns))
  coefs[, there] <- fit$coefs
  intercept <- rep(NA_real_, length(columns))
  intercept[there] <- fit$intercept
  list(coefs = coefs, intercept = intercept, lambda = fit$best_lambda[[1L]])
}

# Of all samples, at the median of the chosen penalties (of their logarithms), in the units of x.
whole_weights <- function(x, truth, options, n_classes, fit, control) {
  alpha <- exp(stats::median(log(fit$alpha[!is.na(fit$alpha)])))
  scaled <- if (options$scale == "fold") scale_by_rows(x, seq_len(nrow(x)), x) else x
  coefs <- fit_codes(scaled, truth, n_classes, alpha / nrow(x), NULL, control)$coefs
  if (options$scale == "fold") coefs <- coefs / attr(scaled, "sd")
  centred <- sweep(x, 2L, colMeans(x))
  signal <- centred %*% coefs
  list(weights = coefs, patterns = crossprod(centred, signal) %*% pseudo_inverse(crossprod(signal)))
}

pseudo_inverse <- function(x) {
  e <- eigen(x, symmetric = TRUE)
  keep <- e$values > max(e$values, 0) * nrow(x) * .Machine$double.eps
  e$vectors[, keep, drop = FALSE] %*% (t(e$vectors[, keep, drop = FALSE]) / e$values[keep])
}

# The answer of a user's function as decisions: m numbers, m x C, or predicted classes.
as_decisions <- function(answer, m, y) {
  n_classes <- if (is.factor(y)) nlevels(y) else 1L
  if (is.factor(y) && (is.factor(answer) || is.character(answer)) && length(answer) == m) {
    code <- match(as.vector(answer), levels(y))
    if (!anyNA(code) && n_classes == 2L) return(cbind(2 * code - 3))
    if (!anyNA(code)) return(2 * outer(code, seq_len(n_classes), "==") - 1)
  }
  columns <- if (n_classes > 2L) n_classes else 1L
  if (is.numeric(answer) && !anyNA(answer)) {
    if (is.matrix(answer) && identical(dim(answer), c(m, columns))) return(unname(answer))
    if (length(answer) == m && columns == 1L) return(cbind(as.vector(answer)))
    if (is.matrix(answer) && n_classes == 2L && identical(dim(answer), c(m, 2L))) {
      return(cbind(answer[, 2L] - answer[, 1L]))
    }
  }
  wanted <- if (columns > 1L) sprintf("a %d x %d matrix of decision values", m, columns) else sprintf("%d numbers", m)
  found <- if (is.numeric(answer) && anyNA(answer)) "values that are NA" else describe(answer)
  classes <- if (is.factor(y)) " or predicted classes"
  abort("{.arg model} must return {wanted}{classes} for {.code X_test}, not {found}.", "argument", found = found,
        call = NULL)
}

# ---- the form of the core --------------------------------------------------------------------

collect_fits <- function(fits, problem, options) {
  metrics <- options$metrics
  folds <- length(problem$train)
  failures <- do.call(rbind, lapply(seq_along(fits), function(k) {
    if (!is.null(fits[[k]]$failures)) cbind(location = k, fits[[k]]$failures)
  }))
  columns <- if (is.null(problem$n_classes) || problem$n_classes == 2L) 1L else problem$n_classes
  sizes <- lengths(problem$test)
  decision <- if (options$keep_predictions) {
    array(unlist(lapply(fits, function(fit) {
      parts <- fit$decision %||% vector("list", folds)
      do.call(rbind, Map(function(part, n) part %||% matrix(NA_real_, n, columns), parts, sizes))
    })), c(sum(sizes), columns, length(fits)))
  }
  predictions <- if (options$keep_predictions) {
    apply(decision, 3L, function(d) {
      d <- matrix(d, ncol = columns)
      if (is.null(problem$n_classes)) return(d[, 1L])
      guess <- rep(NA_integer_, nrow(d))
      known <- !is.na(d[, 1L])
      guess[known] <- as.integer(predicted_class(d[known, , drop = FALSE]))
      guess
    })
  }
  list(
    scores = aperm(array(unlist(lapply(fits, `[[`, "scores")), c(folds, length(metrics), length(fits))), c(1L, 3L, 2L)),
    pooled = matrix(unlist(lapply(fits, `[[`, "pooled")), length(fits), byrow = TRUE),
    size = vapply(fits, `[[`, 0L, "size"),
    failures = failures,
    predictions = predictions,
    decision = decision,
    alpha = if (length(options$alphas) > 1L) {
      vapply(fits, function(fit) fit$alpha %||% rep(NA_real_, folds), numeric(folds))
    }
  )
}

# Along the voxels of the lists, or all voxels; NA where a location failed or a voxel was left out. `global`: what
# voxels were divided by beforehand.
collect_weights <- function(fits, core, states, global) {
  p <- length(states)
  columns <- max(1L, vapply(fits, function(fit) NCOL(fit$weights$weights) * !is.null(fit$weights), 0L))
  place <- if (core$kind == "all") seq_len(p) else core$voxel
  used <- states[place] == 0L
  owner <- if (core$kind == "all") rep(1L, p) else rep(seq_along(fits), diff(core$start))
  folds <- nrow(fits[[1L]]$scores)
  spread <- function(part) {
    out <- matrix(NA_real_, length(place), columns)
    for (k in seq_along(fits)) {
      values <- part(fits[[k]])
      if (!is.null(values)) out[used & owner == k, ] <- values
    }
    out
  }
  list(
    weights = spread(function(fit) fit$weights$weights) / global[place],
    fold_weights = array(unlist(lapply(seq_len(folds), function(fold) {
      spread(function(fit) if (length(fit$fold_weights) == folds) fit$fold_weights[[fold]])
    })), c(length(place), columns, folds)) / global[place],
    patterns = spread(function(fit) fit$weights$patterns) * global[place]
  )
}

# Counts over permutations of null values at least as good as the observed, of each location and of the best.
null_counts <- function(observed, m, problem, options, run) {
  metrics <- options$metrics
  sign <- ifelse(metrics == "mse", -1, 1)
  pick <- function(raw) {
    means <- matrix(colMeans(raw$scores, na.rm = TRUE), ncol = length(metrics))
    accuracy <- metrics == "accuracy"
    means[, accuracy] <- raw$pooled[, accuracy]
    sweep(means, 2L, sign, "*")
  }
  best <- pick(observed)
  options$keep_predictions <- FALSE
  counts <- max_counts <- matrix(0L, nrow(best), ncol(best))
  sums <- defined <- matrix(0, nrow(best), ncol(best))
  maxima <- matrix(NA_real_, m, ncol(best))
  for (r in seq_len(m)) {
    null <- pick(collect_fits(run(options$orders[r, ]), problem, options))
    largest <- apply(null, 2L, max, -Inf, na.rm = TRUE)
    known <- !is.na(null)
    counts <- counts + !(known & null < best - 1e-10)  # an undefined score counts as extreme
    max_counts <- max_counts + (rep(largest, each = nrow(best)) >= best - 1e-10)
    sums[known] <- sums[known] + null[known]
    defined <- defined + known
    maxima[r, ] <- ifelse(largest > -Inf, sign * largest, NA)
  }
  means <- ifelse(defined > 0, sums / defined, NA)
  list(counts = counts, max_counts = max_counts, max_null = maxima, null_mean = sweep(means, 2L, sign, "*"))
}
