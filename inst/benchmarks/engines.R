# The R sides. Each engine has setup(job), fit(data, job), answer(fit, data, job) and version().
# answer() runs outside the clock and gives the chosen alphas, the coefficients of compared_targets(), and extra fields.

# Coefficients are compared on at most 40 targets, evenly spread.
compared_targets <- function(t) unique(round(seq(1, t, length.out = min(t, 40))))

voxridge_engine <- function(fit, alphas = function(fit) fit$best_alphas) {
  list(
    setup = function(job) suppressPackageStartupMessages(library(voxridge)),
    fit = fit,
    answer = function(fit, data, job) {
      coefs <- fit$coefs
      nodes <- c(fit$diagnostics$info$n_nodes, NA)[1]
      list(
        alphas = alphas(fit),
        coefs = if (!is.null(coefs)) coefs[, compared_targets(ncol(coefs)), drop = FALSE],
        fields = list(nodes = nodes, setting = "defaults")
      )
    },
    version = function() paste("voxridge", utils::packageVersion("voxridge"))
  )
}

# himalaya returns the mean score of the chosen alpha, ours with "mean" those of every alpha: nothing is left out.
solve_case <- function(data, job, local_alpha = TRUE) {
  voxridge::solve_ridge_cv(data$X, data$Y,
    alphas = data$alphas, cv = job$folds, local_alpha = local_alpha, score_func = "neg_mse", fit_intercept = FALSE,
    return_coefs = job$output, return_cv_scores = "mean", precision = job$precision, device = "cpu",
    n_threads = job$threads, progress = FALSE
  )
}

# One alpha per target, taken from the grid in turn, so that both sides use the same.
alpha_per_target <- function(alphas, t) rep_len(alphas, t)

r_engines <- list(
  ridge_cv = voxridge_engine(function(data, job) suppressWarnings(solve_case(data, job))),
  ridge_cv_shared = voxridge_engine(function(data, job) suppressWarnings(solve_case(data, job, local_alpha = FALSE))),
  ridge_fit = voxridge_engine(
    fit = function(data, job) {
      list(coefs = voxridge::ridge_svd(data$X, data$Y, alpha_per_target(data$alphas, job$t), n_threads = job$threads))
    },
    alphas = function(fit) NULL
  ),

  # glmnet: objective 1/(2n) ||Y - XB||^2 + lambda/2 ||B||^2, so lambda = alpha / n. Folds have n (k - 1) / k rows, and the
  # grid is given for those, so that the scores, and the choice, are of the same problem as ours.
  glmnet_mgaussian = list(
    setup = function(job) suppressPackageStartupMessages(library(glmnet)),
    fit = function(data, job) {
      foldid <- rep(seq_len(job$folds), times = job$n %/% job$folds + (seq_len(job$folds) <= job$n %% job$folds))
      n_train <- job$n * (job$folds - 1) / job$folds
      glmnet::cv.glmnet(data$X, data$Y,
        family = "mgaussian", alpha = 0, lambda = rev(data$alphas) / n_train, foldid = foldid,
        standardize = FALSE, standardize.response = FALSE, intercept = FALSE)
    },
    answer = function(fit, data, job) {
      n_train <- job$n * (job$folds - 1) / job$folds
      chosen <- data$alphas[which.min(abs(data$alphas / n_train - fit$lambda.min))]
      path <- rev(data$alphas[data$alphas >= chosen]) / job$n
      refit <- glmnet::glmnet(data$X, data$Y, family = "mgaussian", alpha = 0, lambda = path,
        standardize = FALSE, standardize.response = FALSE, intercept = FALSE)
      coefs <- vapply(refit$beta, function(b) as.numeric(b[, length(path)]), numeric(job$p))
      list(alphas = rep(chosen, job$t), coefs = coefs[, compared_targets(job$t), drop = FALSE],
        fields = list(setting = "defaults"))
    },
    version = function() paste("glmnet", utils::packageVersion("glmnet"))
  ),

  # dgemm of R's BLAS on 2000 x 2000, without R's own scan for NaN.
  blas_rate = list(
    setup = function(job) options(matprod = "blas"),
    fit = function(data, job) {
      if (is.null(blas_rate_state$A)) blas_rate_state$A <- matrix(stats::rnorm(4e6), 2000)
      blas_rate_state$A %*% blas_rate_state$A
    },
    answer = function(fit, data, job) list(fields = list(setting = "2000 x 2000", flops = 2 * 2000^3)),
    version = function() paste("BLAS", basename(extSoftVersion()[["BLAS"]]))
  )
)
blas_rate_state <- new.env()
