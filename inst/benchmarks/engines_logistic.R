# The R sides of the logistic cases (engines.R). Coefficients come on the scale of X, with the intercepts as first row.

# Contiguous folds, as everywhere here.
fold_ids <- function(job) rep(seq_len(job$folds), block_sizes(job$n, job$folds))

# y is a vector where there is one target; X is standardised by the function itself, within the clock.
fit_logistic_case <- function(data, job, Y = data$Y, ...) {
  suppressMessages(suppressWarnings(voxridge::fit_logistic_ridge(data$X, if (ncol(Y) == 1L) Y[, 1L] else Y,
    lambda = data$alphas, device = "cpu", n_threads = job$threads, progress = FALSE, ...)))
}

logistic_coefs <- function(fit) rbind(fit$intercept, as.matrix(fit$coefs), deparse.level = 0)

logistic_engine <- function(fit, coefs = logistic_coefs, lambda = function(fit) NULL) {
  list(
    setup = function(job) suppressPackageStartupMessages(library(voxridge)),
    fit = fit,
    answer = function(fit, data, job) {
      coefs <- coefs(fit)
      if (job$output != "path") coefs <- coefs[, compared_targets(job$t), drop = FALSE]
      list(alphas = lambda(fit), coefs = coefs, fields = list(setting = "defaults"))
    },
    version = function() paste("voxridge", utils::packageVersion("voxridge"))
  )
}

# What the settings of glmnet say: which quadratic approximation it makes in each outer step.
glmnet_logistic_engine <- function(fit, answer) {
  list(
    settings = function(job) paste0("type.logistic=", c("Newton", "modified.Newton")),
    setup = function(job) suppressPackageStartupMessages(library(glmnet)),
    fit = function(data, job) {
      fit(data$X, data$Y[, 1], job, family = "binomial", alpha = 0, lambda = data$alphas, standardize = TRUE,
        thresh = 1e-7, type.logistic = sub(".*=", "", job$setting))
    },
    answer = function(fit, data, job) c(answer(fit, data), list(fields = list(setting = job$setting))),
    version = function() paste("glmnet", utils::packageVersion("glmnet"))
  )
}

# Elements `which` of a path that has all the penalties: glmnet drops the rest when it runs into its limit of passes.
glmnet_path_coefs <- function(path, lambdas, which = seq_along(lambdas)) {
  if (length(path$lambda) < length(lambdas)) stop("glmnet stopped after ", length(path$lambda), " penalties")
  unname(rbind(path$a0, as.matrix(path$beta))[, which, drop = FALSE])
}

logistic_engines <- list(
  logistic_cv = logistic_engine(
    function(data, job) fit_logistic_case(data, job, cv = fold_ids(job)),
    lambda = function(fit) fit$best_lambda
  ),
  logistic_cv_fold = logistic_engine(
    function(data, job) fit_logistic_case(data, job, cv = fold_ids(job), fold_scaling = "fold"),
    lambda = function(fit) fit$best_lambda
  ),
  logistic_path = logistic_engine(
    function(data, job) fit_logistic_case(data, job, cv = NULL, keep_path = TRUE),
    coefs = function(fit) rbind(fit$path$intercept, fit$path$coefs, deparse.level = 0)
  ),
  logistic_fit = logistic_engine(function(data, job) fit_logistic_case(data, job)),
  # ours against ours: Newton steps for every target on the shared products of samples, and one call per target
  ours_dual = logistic_engine(function(data, job) fit_logistic_case(data, job, solver = "dual")),
  ours_each_target = logistic_engine(
    function(data, job) {
      lapply(seq_len(job$t), function(j) {
        fit_logistic_case(data, job, data$Y[, j, drop = FALSE], solver = "primal", keep = "none")
      })
    },
    coefs = function(fits) vapply(fits, function(fit) c(fit$intercept, fit$coefs), numeric(fits[[1]]$dims[["p"]] + 1))
  ),
  glmnet_logistic_cv = glmnet_logistic_engine(
    function(X, y, job, ...) glmnet::cv.glmnet(X, y, foldid = fold_ids(job), type.measure = "deviance", ...),
    function(fit, data) {
      chosen <- which.min(abs(data$alphas / fit$lambda.min - 1))
      list(alphas = data$alphas[chosen], coefs = glmnet_path_coefs(fit$glmnet.fit, data$alphas, chosen))
    }
  ),
  glmnet_logistic_path = glmnet_logistic_engine(
    function(X, y, job, ...) glmnet::glmnet(X, y, ...),
    function(fit, data) list(coefs = glmnet_path_coefs(fit, data$alphas))
  )
)
