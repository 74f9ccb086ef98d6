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
        candidates = fit$diagnostics$gamma_index,
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

solve_banded_case <- function(Xs, Y, data, job, fit_intercept = FALSE) {
  voxridge::solve_banded_ridge_cv(Xs, Y,
    n_iter = data$gammas, alphas = data$alphas, cv = job$folds, score_func = "neg_mse", fit_intercept = fit_intercept,
    return_coefs = job$output, return_cv_scores = "mean", precision = job$precision, device = "cpu",
    n_threads = job$threads, progress = FALSE
  )
}

# Contiguous outer folds. In each: the search and the coefficients on the training rows, with an intercept so that
# nothing of the held-out rows is used; then predictions of the held-out rows and their R2. Kept per fold: the choices,
# R2 and the coefficients of compared_targets(), one fold below the other.
solve_nested_case <- function(data, job) {
  block <- rep(seq_len(job$outer), block_sizes(job$n, job$outer))
  compared <- compared_targets(job$t)
  folds <- lapply(seq_len(job$outer), function(k) {
    held <- block == k
    fit <- solve_banded_case(lapply(data$Xs, function(X) X[!held, , drop = FALSE]), data$Y[!held, , drop = FALSE],
      data, job, fit_intercept = TRUE)
    X <- do.call(cbind, lapply(unname(data$Xs), function(X) X[held, , drop = FALSE]))
    Y <- data$Y[held, , drop = FALSE]
    residuals <- Y - X %*% fit$coefs - rep(fit$intercept, each = nrow(Y))
    list(
      best_alphas = fit$best_alphas, gamma_index = fit$diagnostics$gamma_index, nodes = fit$diagnostics$info$n_nodes,
      coefs = fit$coefs[, compared, drop = FALSE],
      r2 = 1 - colSums(residuals^2) / colSums(sweep(Y, 2, colMeans(Y))^2)
    )
  })
  part <- function(name) lapply(folds, function(fold) fold[[name]])
  list(alphas = unlist(part("best_alphas")), candidates = unlist(part("gamma_index")),
    coefs = do.call(rbind, part("coefs")), nodes = unlist(part("nodes")), r2 = unlist(part("r2")))
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
  banded_cv = voxridge_engine(function(data, job) suppressWarnings(solve_banded_case(data$Xs, data$Y, data, job))),
  banded_nested = utils::modifyList(
    voxridge_engine(function(data, job) suppressWarnings(solve_nested_case(data, job))),
    list(answer = function(fit, data, job) {
      c(fit[c("alphas", "candidates", "coefs")], list(fields = list(
        nodes = c(fit$nodes, NA)[1], setting = "defaults", mean_r2 = mean(fit$r2)
      )))
    })
  ),

  # glmnet: objective 1/(2n) ||Y - XB||^2 + lambda/2 ||B||^2, so lambda = alpha / n. Folds have n (k - 1) / k rows, and
  # the grid is given for those, so that the scores, and the choice, are of the same problem as ours.
  glmnet_mgaussian = list(
    setup = function(job) suppressPackageStartupMessages(library(glmnet)),
    fit = function(data, job) {
      foldid <- rep(seq_len(job$folds), block_sizes(job$n, job$folds))
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
