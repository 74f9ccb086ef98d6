# Results of ridge regression that go into stores instead of memory.

coef_store <- function(facts, design, targets, options, call) {
  rows <- if (options$coefs == "dual") nrow(design$X) else ncol(design$X)
  from <- list(rows = rows, cols = ncol(targets$Y), names = targets$names, mask = NULL)
  new_written_store(options$store_path, from, options$store_type, facts, call)
}

# Where the coefficients go instead of memory: store_path, store_type; nothing for NULL.
coef_file <- function(path, coefs, call) {
  if (is.null(path)) return(NULL)
  if (coefs == "none") {
    abort(
      c("{.arg coefs_path} must be NULL with {.code return_coefs = \"none\"}.", i = "There is nothing to write."),
      "conflict",
      call = call
    )
  }
  path <- as_path(path, "coefs_path", call)
  list(store_path = as_store_file(path, FALSE, "coefs_path", call), store_type = "float32")
}

# Mean scores go to a file instead: scores_path, and none in memory.
send_scores <- function(options, path, chosen, call) {
  if (is.null(path)) return(options)
  if (chosen && options$cv_scores != "mean") {
    abort(
      c("{.arg scores_path} must be NULL with {.code return_cv_scores = \"{options$cv_scores}\"}.",
        i = "Only means over folds are written: leave {.arg return_cv_scores} out."),
      "conflict",
      call = call
    )
  }
  path <- as_store_file(as_path(path, "scores_path", call), FALSE, "scores_path", call)
  if (identical(path, options$store_path)) {
    abort("{.arg scores_path} must be another file than {.arg coefs_path}, not the same.", "conflict", call = call)
  }
  options$cv_scores <- "none"
  c(options, list(scores_path = path))
}

score_store <- function(facts, n_alphas, targets, options, call) {
  from <- list(rows = n_alphas, cols = ncol(targets$Y), names = targets$names, mask = NULL)
  new_written_store(options$scores_path, from, "float64", facts, call)
}
