# Features in a file: X as a target_store() of samples x features, for fewer features than samples. The core reads it
# by ranges of rows and works from sums of products (core/moments.h); what needs the rows themselves is refused here.

# A design whose X stays in its file.
store_design <- function(X, cv, fit_intercept, call) {
  X <- validate_store(X, "X", call)
  check_not_empty(X, "X", call)
  check_finite_columns(X, "X", call = call)
  if (ncol(X) >= nrow(X)) {
    abort(
      c("{.arg X} in a file must have fewer features than samples, not {ncol(X)} for {nrow(X)}.",
        i = "Sums of products are too large otherwise: pass {.code as.matrix(X)}."),
      "shape",
      expected = nrow(X) - 1L, found = ncol(X), call = call
    )
  }
  cv <- as_folds(cv, nrow(X), call = call)
  if (cv$kind == "loo") {
    abort(
      c("{.arg cv} must be folds or {.val gcv} for features in a file, not {.val loo}.",
        i = "Leave-one-out needs every row by itself: pass {.code as.matrix(X)}."),
      "folds",
      found = "loo", call = call
    )
  }
  list(X = X, folds = cv, fit_intercept = as_flag(fit_intercept, arg = "fit_intercept", call = call), prepared = NULL)
}

# The backend of a search on features in a file, if it can be made: double precision on the CPU.
store_backend <- function(score, options, backend, call) {
  if (score$word %in% c("correlation", "user")) {
    found <- if (score$word == "user") "a function" else "\"correlation\""
    abort(
      c("{.arg score_func} must be {.val r2} or {.val neg_mse} for features in a file, not {found}.",
        i = "Other scores need the predictions of single samples: pass {.code as.matrix(X)}."),
      "score",
      found = score$word, call = call
    )
  }
  if (options$coefs == "dual") {
    abort(
      c("{.arg return_coefs} must be {.val primal} or {.val none} for features in a file, not {.val dual}.",
        i = "There are fewer features than samples: primal coefficients are the smaller ones."),
      "conflict",
      found = "dual", call = call
    )
  }
  refuse_gpu(backend$wanted, "features in a file", call)
  if (backend$precision == "single") {
    warn_once(
      c("Computing in double precision: features in a file have no single precision.",
        i = "Leave {.arg precision} out. A store of float32 is read as it is."),
      "single_precision"
    )
  }
  utils::modifyList(backend, c(cpu_backend("double", "Features in a file are for the CPU."), wanted = "cpu"))
}
