# Logistic fits of small problems, quick and silent.

quiet_logistic <- function(...) {
  withCallingHandlers(
    fit_logistic_ridge(..., n_threads = 2, progress = FALSE),
    voxridge_warning_lambda_at_edge = function(w) invokeRestart("muffleWarning"),
    voxridge_message_separable = function(m) invokeRestart("muffleMessage")
  )
}

# 60 samples of 11 named features; outcomes in every form.
logistic_data <- function(seed = 1L) {
  withr::with_seed(seed, {
    X <- matrix(rnorm(60 * 11), 60, dimnames = list(paste0("s", 1:60), letters[1:11]))
    z <- X %*% matrix(rnorm(33), 11) / 2
    Y <- (z + rnorm(180) > 0) + 0
    offset <- rnorm(60)
  })
  dimnames(Y) <- list(NULL, c("v1", "v2", "v3"))
  list(X = X, y = unname(Y[, 1L]), Y = Y, offset = offset,
       f = factor(ifelse(Y[, 1L] == 1, "face", "house"), levels = c("face", "house")))
}

# Fits of every kind, made once: list(fit, newoffset), the latter for 60 samples.
logistic_fits <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- make_logistic_fits()
    made
  }
})

make_logistic_fits <- function() {
  d <- logistic_data()
  holes <- d$Y
  holes[3L, 2L] <- NA
  fit <- function(...) quiet_logistic(d$X, ..., lambda = c(1, 0.1, 0.01), cv = NULL, keep_path = TRUE)
  list(
    numbers = list(fit = fit(d$y)),
    logical = list(fit = fit(d$y == 1)),
    factor = list(fit = fit(d$f)),
    "other positive" = list(fit = fit(d$f, positive = "face")),
    proportions = list(fit = fit(0.1 + 0.8 * d$y)),
    targets = list(fit = fit(d$Y)),
    "one column" = list(fit = fit(d$Y[, 1L, drop = FALSE])),
    skipped = list(fit = fit(holes, na_targets = "skip")),
    mixed = list(fit = fit(data.frame(f = d$f, l = d$y == 1, n = d$Y[, 2L]))),
    offset = list(fit = fit(d$y, offset = d$offset), newoffset = d$offset),
    offsets = list(fit = fit(d$Y, offset = d$offset), newoffset = d$offset),
    "no intercept" = list(fit = fit(d$y, fit_intercept = FALSE)),
    prior = list(fit = fit(d$y, prior = 0.1))
  )
}
