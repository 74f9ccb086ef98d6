# Decoding in plain R: every fold, penalty and permutation is a refit by the normal equations. Takes what the core takes
# and returns what it returns.

# ---- ridge -----------------------------------------------------------------------------------

# Coefficients (with the intercept first) of ridge regression with unpenalised intercept, minimum norm for alpha = 0.
plain_ridge <- function(x, y, alpha) {
  centred <- sweep(x, 2L, colMeans(x))
  target <- sweep(y, 2L, colMeans(y))
  s <- svd(centred)
  keep <- s$d > max(dim(x)) * .Machine$double.eps * max(s$d, 0)
  d <- s$d[keep]
  b <- s$v[, keep, drop = FALSE] %*% (d / (d^2 + alpha) * crossprod(s$u[, keep, drop = FALSE], target))
  rbind(colMeans(y) - colMeans(x) %*% b, b)
}

# +1 and -1: a column per class, or the second of two; values as they are.
plain_codes <- function(truth, n_classes) {
  if (is.null(n_classes)) return(cbind(truth))
  codes <- 2 * outer(truth, seq_len(n_classes), "==") - 1
  if (n_classes == 2L) codes[, 2L, drop = FALSE] else codes
}

# mean and sd (divisor n) of the training rows.
plain_scaler <- function(x) {
  mean <- colMeans(x)
  sd <- sqrt(colMeans(sweep(x, 2L, mean)^2))
  sd[sd < 1e-12 * pmax(1, abs(mean))] <- 1
  list(mean = mean, sd = sd, apply = function(new) sweep(sweep(new, 2L, mean), 2L, sd, "/"))
}

# Decisions for the test rows of a model of the training rows; and its weights in the unit of x.
plain_fold <- function(x, truth, n_classes, train, test, alpha, scale) {
  scaler <- list(sd = rep(1, ncol(x)), apply = identity)
  if (scale == "fold") scaler <- plain_scaler(x[train, , drop = FALSE])
  codes <- plain_codes(truth, n_classes)
  b <- plain_ridge(scaler$apply(x[train, , drop = FALSE]), codes[train, , drop = FALSE], alpha)
  decision <- cbind(1, scaler$apply(x[test, , drop = FALSE])) %*% b
  if (!is.null(n_classes) && n_classes > 2L) decision[, !seq_len(n_classes) %in% truth[train]] <- -Inf
  list(decision = unname(decision), weights = unname(b[-1L, , drop = FALSE] / scaler$sd),
       error = mean((codes[test, ] - decision)[is.finite(decision)]^2))
}

# ---- scores ----------------------------------------------------------------------------------

plain_guess <- function(decision) {
  if (ncol(decision) == 1L) return(ifelse(decision[, 1L] > 0, 2L, 1L))
  apply(decision, 1L, function(d) which(d == max(d))[1L])
}

# The share of pairs of a positive and a negative in the right order, ties half.
plain_auc <- function(positive, z) {
  pairs <- outer(z[positive], z[!positive], function(a, b) (a > b) + (a == b) / 2)
  mean(pairs)
}

plain_score <- function(metric, truth, decision, n_classes) {
  z <- decision[, 1L]
  classes <- unique(truth)
  switch(metric,
    accuracy = mean(plain_guess(decision) == truth),
    balanced_accuracy = mean(vapply(classes, function(k) mean(plain_guess(decision)[truth == k] == k), 0)),
    auc = if (length(classes) < 2L) NA_real_ else if (n_classes == 2L) plain_auc(truth == 2L, z)
          else mean(vapply(classes, function(k) plain_auc(truth == k, decision[, k]), 0)),
    r = if (length(truth) < 3L || stats::sd(truth) == 0 || stats::sd(z) == 0) NA_real_ else stats::cor(truth, z),
    r2 = if (length(classes) < 2L) NA_real_ else 1 - sum((truth - z)^2) / sum((truth - mean(truth))^2),
    mse = mean((truth - z)^2)
  )
}

# ---- locations -------------------------------------------------------------------------------

# Columns of each location; spheres by the distances of all pairs of voxels.
plain_voxels <- function(locations, p) {
  if (locations$kind == "all") return(list(seq_len(p)))
  if (locations$kind == "lists") {
    return(lapply(seq_len(length(locations$start) - 1L), function(k) {
      locations$voxel[seq_len(locations$start[k + 1L] - locations$start[k]) + locations$start[k]]
    }))
  }
  places <- arrayInd(locations$index, locations$dim) - 1
  mm <- cbind(places, 1) %*% t(locations$affine[1:3, ])
  distance <- as.matrix(stats::dist(mm))
  lapply(locations$centers, function(k) unname(which(distance[k, ] <= locations$radius_mm * (1 + 5e-7))))
}

# ---- one location ----------------------------------------------------------------------------

# The penalty by inner folds: best mean metric, then smallest squared error, then largest.
plain_choice <- function(x, truth, n_classes, inner, options) {
  metric <- options$metrics[1L]
  found <- vapply(options$alphas, function(alpha) {
    each <- mapply(function(train, test) {
      if (length(unique(truth[train])) < 2L) return(c(NA, NA))
      fit <- plain_fold(x, truth, n_classes, train, test, alpha, options$scale)
      c(plain_score(metric, truth[test], fit$decision, n_classes), fit$error)
    }, inner$train, inner$test)
    rowMeans(each, na.rm = TRUE)
  }, numeric(2L))
  good <- found[1L, ] * if (metric == "mse") -1 else 1
  order <- order(-round(good, 12), round(found[2L, ], 12), -options$alphas)
  options$alphas[order[1L]]
}

plain_location <- function(x, problem, options, truth) {
  folds <- length(problem$train)
  k <- options$metrics
  out <- list(size = ncol(x), scores = matrix(NA_real_, folds, length(k)), pooled = rep(NA_real_, length(k)),
              alpha = rep(NA_real_, folds), decision = vector("list", folds), weights = vector("list", folds),
              failures = NULL)
  fail <- function(fold, reason) out$failures <<- rbind(out$failures, data.frame(fold = fold, reason = reason))
  if (ncol(x) < max(1, options$min_voxels)) {
    fail(NA, "too_small")
    return(out)
  }
  for (fold in seq_len(folds)) {
    train <- problem$train[[fold]]
    test <- problem$test[[fold]]
    if (!is.null(problem$n_classes) && length(unique(truth[train])) < 2L) {
      fail(fold, "one_class")
      next
    }
    if (all(apply(x[train, , drop = FALSE], 2L, function(v) length(unique(v))) == 1L)) {
      fail(fold, "constant")
      next
    }
    alpha <- options$alphas
    if (length(alpha) > 1L) alpha <- plain_choice(x, truth, problem$n_classes, options$inner[[fold]], options)
    fit <- plain_fold(x, truth, problem$n_classes, train, test, alpha, options$scale)
    out$alpha[fold] <- alpha
    out$decision[[fold]] <- fit$decision
    out$weights[[fold]] <- fit$weights
    out$scores[fold, ] <- vapply(k, plain_score, 0, truth = truth[test], decision = fit$decision,
                                 n_classes = problem$n_classes)
    if (anyNA(out$scores[fold, ])) fail(fold, "undefined")
  }
  known <- which(!vapply(out$decision, is.null, NA))
  if (length(known)) {
    out$pooled <- vapply(k, plain_score, 0, truth = truth[unlist(problem$test[known])],
                         decision = do.call(rbind, out$decision[known]), n_classes = problem$n_classes)
  }
  out
}

plain_weights <- function(x, given, global, truth, problem, options, fit) {
  alpha <- exp(stats::median(log(fit$alpha), na.rm = TRUE))
  W <- plain_fold(x, truth, problem$n_classes, seq_len(nrow(x)), 1L, alpha, options$scale)$weights / global
  # Haufe: covariance of voxels times weights times the inverse covariance of what they give
  covariance <- stats::cov(given)
  s <- svd(t(W) %*% covariance %*% W)
  keep <- s$d > 1e-10 * max(s$d)
  inverse <- s$v[, keep, drop = FALSE] %*% (t(s$u[, keep, drop = FALSE]) / s$d[keep])
  list(weights = W, patterns = covariance %*% W %*% inverse)
}

# ---- all -------------------------------------------------------------------------------------

plain_decode <- function(X, problem, locations, options) {
  state <- ifelse(colSums(!is.finite(X)) > 0, 3L, ifelse(apply(X, 2L, function(v) length(unique(v))) == 1L, 1L, 0L))
  voxels <- lapply(plain_voxels(locations, ncol(X)), function(v) v[state[v] == 0L])
  given <- X
  global <- rep(1, ncol(X))
  if (options$scale == "global") {
    scaler <- plain_scaler(X[, state == 0L, drop = FALSE])
    X[, state == 0L] <- scaler$apply(X[, state == 0L, drop = FALSE])
    global[state == 0L] <- scaler$sd
  }
  truth <- if (is.null(problem$classes)) problem$values else problem$classes
  run <- function(truth) lapply(voxels, function(v) plain_location(X[, v, drop = FALSE], problem, options, truth))
  collect <- function(fits) {
    scores <- array(NA_real_, c(length(problem$train), length(fits), length(options$metrics)))
    for (k in seq_along(fits)) scores[, k, ] <- fits[[k]]$scores
    list(scores = scores, pooled = do.call(rbind, lapply(fits, `[[`, "pooled")))
  }
  fits <- run(truth)
  out <- c(collect(fits), list(size = lengths(voxels), voxel_state = unname(state)))
  failures <- do.call(rbind, lapply(seq_along(fits), function(k) {
    if (!is.null(fits[[k]]$failures)) cbind(location = k, fits[[k]]$failures)
  }))
  out$failures <- as.list(failures)
  columns <- if (is.null(problem$n_classes) || problem$n_classes == 2L) 1L else problem$n_classes
  held_out <- sum(lengths(problem$test))
  decision <- array(NA_real_, c(held_out, columns, length(fits)))
  for (k in seq_along(fits)) {
    parts <- Map(function(d, test) if (is.null(d)) matrix(NA_real_, length(test), columns) else d, fits[[k]]$decision,
                 problem$test)
    decision[, , k] <- do.call(rbind, parts)
  }
  if (options$keep_decision) out$decision <- decision
  if (options$keep_predictions) {
    out$predictions <- matrix(vapply(seq_along(fits), function(k) {
      d <- matrix(decision[, , k], ncol = columns)
      if (is.null(problem$n_classes)) d[, 1L] else as.double(plain_guess_na(d))
    }, numeric(held_out)), held_out)
  }
  if (length(options$alphas) > 1L) out$alpha <- vapply(fits, `[[`, numeric(length(problem$train)), "alpha")
  if (options$weights) {
    out <- c(out, plain_maps(X, truth, problem, options, fits, voxels, columns, locations, given, global))
  }
  if (options$n_permutations) {
    orders <- plain_orders(options)
    null <- lapply(seq_len(nrow(orders)), function(r) plain_value(collect(run(truth[orders[r, ]])), options))
    out <- c(out, plain_counts(plain_value(out, options), null, options))
  }
  out
}

plain_guess_na <- function(d) {
  guess <- rep(NA_integer_, nrow(d))
  known <- !is.na(d[, 1L])
  if (any(known)) guess[known] <- plain_guess(d[known, , drop = FALSE])
  guess
}

# In the units of the data as `given`; `global`: what all samples were divided by.
plain_maps <- function(X, truth, problem, options, fits, voxels, columns, locations, given, global) {
  place <- if (locations$kind == "all") seq_len(ncol(X)) else locations$voxel
  folds <- length(problem$train)
  weights <- patterns <- matrix(NA_real_, length(place), columns)
  fold_weights <- array(NA_real_, c(length(place), columns, folds))
  for (k in seq_along(fits)) {
    if (all(is.na(fits[[k]]$alpha))) next
    at <- match(voxels[[k]], place)
    v <- voxels[[k]]
    maps <- plain_weights(X[, v, drop = FALSE], given[, v, drop = FALSE], global[v], truth, problem, options, fits[[k]])
    weights[at, ] <- maps$weights
    patterns[at, ] <- maps$patterns
    for (fold in seq_len(folds)) {
      if (!is.null(fits[[k]]$weights[[fold]])) fold_weights[at, , fold] <- fits[[k]]$weights[[fold]] / global[v]
    }
  }
  list(weights = weights, fold_weights = fold_weights, patterns = patterns)
}

plain_orders <- function(options) {
  if (!is.null(options$rows$given)) return(options$rows$given)
  core_permutation_rows(options$rows, options$n_permutations)
}

# What permutations are compared by, larger is better: locations x metrics.
plain_value <- function(raw, options) {
  value <- matrix(apply(raw$scores, 2:3, mean, na.rm = TRUE), ncol = length(options$metrics))
  for (j in seq_along(options$metrics)) {
    if (options$metrics[j] == "accuracy") value[, j] <- raw$pooled[, j]
    if (options$metrics[j] == "mse") value[, j] <- -value[, j]
  }
  value
}

plain_counts <- function(observed, null, options) {
  sign <- ifelse(options$metrics == "mse", -1, 1)
  best <- t(vapply(null, function(v) apply(v, 2L, max, na.rm = TRUE), numeric(ncol(observed))))
  if (ncol(observed) == 1L) best <- t(best)
  counts <- Reduce(`+`, lapply(null, function(v) v >= observed - 1e-10))
  max_counts <- Reduce(`+`, lapply(seq_along(null), function(r) {
    matrix(best[r, ], nrow(observed), ncol(observed), byrow = TRUE) >= observed - 1e-10
  }))
  list(counts = counts, max_counts = max_counts, max_null = best * rep(sign, each = nrow(best)),
       null_mean = Reduce(`+`, null) / length(null) * rep(sign, each = nrow(observed)))
}

# ---- problems --------------------------------------------------------------------------------

# Classes with means of their own in noise; `runs` of equal size, each with all classes in random order.
class_problem <- function(n_runs = 6, per_class = 1, n_classes = 3, p = 12, seed = 1, signal = 1) {
  withr::with_seed(seed, {
    n <- n_runs * per_class * n_classes
    code <- unlist(lapply(seq_len(n_runs), function(run) sample(rep(seq_len(n_classes), per_class))))
    means <- matrix(rnorm(n_classes * p), n_classes)
    X <- signal * means[code, , drop = FALSE] + matrix(rnorm(n * p), n)
  })
  list(X = X, y = letters[code], code = code, runs = rep(seq_len(n_runs), each = per_class * n_classes))
}

decode_quietly <- function(...) decode(..., progress = FALSE)

# Without the warnings of leakage and classes, which are told in tests of their own.
muffle_decode <- function(expr) {
  classes <- paste0("voxridge_warning_", c("leakage", "class_missing", "single_class", "confounded", "constant_labels",
                                           "alpha_at_edge"))
  withCallingHandlers(
    expr,
    warning = function(w) if (inherits(w, classes)) invokeRestart("muffleWarning"),
    message = function(m) if (inherits(m, "voxridge_message")) invokeRestart("muffleMessage")
  )
}

# What the core is told: list(problem, options), for folds that leave one label out.
core_problem <- function(code, runs, is_class = TRUE, ...) {
  rows <- seq_along(code)
  test <- unname(split(rows, runs))
  problem <- list(
    classes = if (is_class) as.integer(code), n_classes = if (is_class) max(code), values = if (!is_class) code,
    train = lapply(test, function(out) rows[-out]), test = test, partition = TRUE
  )
  options <- utils::modifyList(list(
    alphas = 1, inner = NULL, scale = "none", min_voxels = 1L, metrics = if (is_class) "accuracy" else "r",
    keep_predictions = TRUE, keep_decision = is_class, weights = FALSE, n_permutations = 0L, rows = NULL
  ), list(...))
  list(problem = problem, options = options)
}

# The rows of random orders of labels within blocks, as decode() hands them to the core.
label_rows <- function(n, block = NULL, seed = 1) {
  list(kind = "orders", n = n, block = block, whole = FALSE, first = NULL, exact = FALSE, seed = seed, stream = 3L,
       given = NULL)
}

# A slab of voxels that are not a box, on an oblique, anisotropic grid.
oblique_mask <- function(dim = c(6L, 5L, 4L), seed = 3) {
  inside <- withr::with_seed(seed, array(runif(prod(dim)) < 0.8, dim))
  affine <- rbind(cbind(matrix(c(2.6, 0.4, 0, -0.5, 3.1, 0.3, 0.2, 0, 4), 3L), c(-10, 4, 7)), c(0, 0, 0, 1))
  brain_mask(inside, affine = affine)
}

# Blocks of the Haxby slice: linear trend out and z against rest in each run, means of each block.
haxby_blocks <- local({
  kept <- NULL
  function() {
    if (!is.null(kept)) return(kept)
    labels <- utils::read.table(test_data("data", "haxby_slice", "attributes_literal.txt"),
                                col.names = c("shown", "run"))
    mask <- brain_mask(test_data("data", "haxby_slice", "mask.nii.gz"))
    volumes <- brain_matrix(test_data("data", "haxby_slice", "bold.nii.gz"), mask, progress = FALSE)
    clean <- clean_runs(volumes, labels$run, detrend = 1, scale = "z", reference = labels$shown == "rest")
    task <- labels$shown != "rest"
    block <- factor(paste(labels$run, labels$shown)[task], unique(paste(labels$run, labels$shown)[task]))
    X <- unname(rowsum(clean[task, ], block, reorder = FALSE)) / as.vector(table(block))
    attr(X, "mask") <- mask
    first <- !duplicated(block)
    kept <<- list(X = X, y = labels$shown[task][first], runs = labels$run[task][first], mask = mask,
                  volumes = structure(clean[task, ], mask = mask), volume_y = labels$shown[task],
                  volume_runs = labels$run[task])
    kept
  }
})
