# The R sides of the scale cases (engines.R): ours, and ways that factor anew for every batch or target, written as
# simply as base R allows, through the same BLAS. All choose an alpha per target by the mean squared error and return
# coefficients per feature where the job asks for them; the others do so for one batch (or `sample` targets).

# ---- ours ------------------------------------------------------------------------------------

scale_cv <- function(job) if (job$cv == "folds") job$folds else job$cv

run_distributed <- function(data, job) {
  dir <- file.path(job$dir, paste0("run-", job$name))
  unlink(dir, recursive = TRUE)
  suppressMessages(suppressWarnings(voxridge::distribute_ridge_cv(data$X, data$store %||% data$Y,
    alphas = data$alphas, cv = scale_cv(job), score_func = "neg_mse", return_coefs = job$output,
    return_cv_scores = "mean", dir = dir, memory_gb = if (!is.null(job$memory_gb)) as.numeric(job$memory_gb),
    n_targets_batch = job$batch, n_threads = job$threads, progress = FALSE)))
}

distributed_answer <- function(fit, data, job) {
  coefs <- if (job$output != "none") fit$coefs[, seq_len(job$batch)]
  unlink(fit$dir, recursive = TRUE)
  list(alphas = fit$best_alphas, coefs = coefs)
}

# A number of /proc/<pid>: CPU seconds so far, in user and kernel mode.
process_seconds <- function(pid) {
  line <- readLines(file.path("/proc", pid, "stat"))
  fields <- strsplit(sub(".*\\) ", "", line), " ", fixed = TRUE)[[1]]
  ticks <- as.numeric(system2("getconf", "CLK_TCK", stdout = TRUE))
  sum(as.numeric(fields[12:13])) / ticks
}

process_memory_mb <- function(pid, field) {
  lines <- readLines(file.path("/proc", pid, "status"))
  as.numeric(gsub("[^0-9]", "", grep(paste0("^", field, ":"), lines, value = TRUE))) / 1024
}

worker_state <- new.env()

# Workers are started, and load the package, before the clock. Each waits a little, so that all get a future.
start_workers <- function(job) {
  suppressPackageStartupMessages(library(voxridge))
  future::plan(future::multisession, workers = I(job$workers))
  asked <- lapply(seq_len(job$workers), function(i) {
    future::future({
      loadNamespace("voxridge")
      Sys.sleep(0.5)
      Sys.getpid()
    }, seed = NULL)
  })
  worker_state$pids <- unique(unlist(lapply(asked, future::value)))
  stopifnot(length(worker_state$pids) == job$workers)
}

# The result has what the workers' processes took, and the seconds that their checkpoints tell.
run_workers <- function(data, job) {
  pids <- worker_state$pids
  if (identical(job$store, "yes") && is.null(worker_state$store)) {
    path <- file.path(job$dir, sprintf("Y-%d.f32", job$t))
    worker_state$store <- voxridge::target_store(data$Y, path, type = "float32", overwrite = TRUE)
  }
  data$store <- worker_state$store
  for (pid in pids) try(cat("5", file = file.path("/proc", pid, "clear_refs")), silent = TRUE)
  before <- process_memory_mb(pids[1], "VmRSS")
  cpu <- vapply(pids, process_seconds, 0)
  fit <- run_distributed(data, job)
  cpu <- vapply(pids, process_seconds, 0) - cpu
  logs <- lapply(list.files(file.path(fit$dir, "factors"), "\\.rds$", full.names = TRUE), function(path) {
    readRDS(path)$result$log
  })
  shares <- vapply(logs, function(log) log$seconds, 0)
  by_worker <- function(seconds, pid) max(tapply(seconds, pid, sum))
  batches <- fit$diagnostics$batches
  factor_files <- list.files(file.path(fit$dir, "factors"), full.names = TRUE)
  fit$measured <- list(
    worker_cpu_s = sum(cpu), busiest_cpu_s = max(cpu),
    worker_before_mb = before, worker_peak_mb = process_memory_mb(pids[1], "VmHWM"),
    shared_mb = (8 * job$n * job$p + sum(file.size(factor_files))) / 2^20,
    factor_s = by_worker(shares, vapply(logs, function(log) log$pid, 0L)), shares = length(shares),
    target_s = sum(batches$seconds), longest_s = by_worker(batches$seconds, batches$pid)
  )
  fit
}

# ---- ways that factor anew -------------------------------------------------------------------

# The first batch, or the first `sample` targets.
first_targets <- function(data, count) data$Y[, seq_len(count), drop = FALSE]

contiguous_folds <- function(job) split(seq_len(job$n), rep(seq_len(job$folds), block_sizes(job$n, job$folds)))

# Alpha by alpha, the scores of all targets: `rotated` has r rows, `shrink(alpha)` its r factors.
score_alphas <- function(alphas, left, rotated, shrink, Y) {
  vapply(alphas, function(alpha) colMeans((Y - left %*% (rotated * shrink(alpha)))^2), numeric(ncol(Y)))
}

choose_alphas <- function(losses, alphas) alphas[max.col(-matrix(losses, ncol = length(alphas)), "first")]

# What the published way does per batch (Ahmadi, Bellec and Glatard 2024): the singular value decomposition of the rows
# of each fold, scores of all alphas, then the same of all rows for the coefficients.
fit_batch_svd <- function(data, job) {
  Y <- first_targets(data, job$batch)
  losses <- 0
  for (held in contiguous_folds(job)) {
    s <- svd(data$X[-held, ])
    losses <- losses + score_alphas(data$alphas, data$X[held, ] %*% s$v, crossprod(s$u, Y[-held, ]),
      function(alpha) s$d / (s$d^2 + alpha), Y[held, ])
  }
  refit_svd(data$X, Y, choose_alphas(losses, data$alphas))
}

refit_svd <- function(X, Y, chosen, s = svd(X)) {
  list(alphas = chosen, coefs = s$v %*% (crossprod(s$u, Y) * (s$d / outer(s$d^2, chosen, "+"))))
}

# The same for p >= n through eigenvectors of the rows' inner products, which are made once in a batch.
fit_batch_gram <- function(data, job) {
  Y <- first_targets(data, job$batch)
  K <- tcrossprod(data$X)
  losses <- 0
  for (held in contiguous_folds(job)) {
    e <- eigen(K[-held, -held], symmetric = TRUE)
    losses <- losses + score_alphas(data$alphas, K[held, -held] %*% e$vectors, crossprod(e$vectors, Y[-held, ]),
      function(alpha) 1 / (e$values + alpha), Y[held, ])
  }
  chosen <- choose_alphas(losses, data$alphas)
  e <- eigen(K, symmetric = TRUE)
  dual <- e$vectors %*% (crossprod(e$vectors, Y) / outer(e$values, chosen, "+"))
  list(alphas = chosen, coefs = crossprod(data$X, dual))
}

# Leave-one-out or generalised cross-validation from one decomposition of X, no intercept.
fit_batch_closed <- function(data, job) {
  Y <- first_targets(data, job$batch)
  s <- svd(data$X)
  rotated <- crossprod(s$u, Y)
  outside <- colSums(Y^2) - colSums(rotated^2)
  losses <- vapply(data$alphas, function(alpha) {
    kept <- s$d^2 / (s$d^2 + alpha)
    if (job$cv == "gcv") return((outside + colSums((rotated * (1 - kept))^2)) / (job$n - sum(kept))^2)
    leverage <- drop(s$u^2 %*% kept)
    colMeans(((Y - s$u %*% (rotated * kept)) / (1 - leverage))^2)
  }, numeric(ncol(Y)))
  refit_svd(data$X, Y, choose_alphas(losses, data$alphas), s)
}

solve_targets <- function(data, job, Y) {
  fit <- suppressMessages(suppressWarnings(voxridge::solve_ridge_cv(data$X, Y,
    alphas = data$alphas, cv = scale_cv(job), score_func = "neg_mse", return_coefs = job$output,
    return_cv_scores = "mean", n_threads = job$threads, progress = FALSE)))
  list(alphas = fit$best_alphas, coefs = fit$coefs)
}

fit_each_target <- function(data, job) {
  fits <- lapply(seq_len(job$sample), function(j) solve_targets(data, job, data$Y[, j, drop = FALSE]))
  list(alphas = vapply(fits, function(fit) fit$alphas, 0), coefs = do.call(cbind, lapply(fits, `[[`, "coefs")))
}

# lm.ridge() scales the features and has an intercept: the same work, another penalty, so that only its time counts.
fit_each_lm_ridge <- function(data, job) {
  for (j in seq_len(job$sample)) {
    y <- data$Y[, j]
    fit <- MASS::lm.ridge(y ~ data$X, lambda = data$alphas)
    stats::coef(fit)[which.min(fit$GCV), ]
  }
  list()
}

scale_engine <- function(fit, answer, setup = function(job) NULL) {
  list(
    setup = function(job) {
      options(matprod = "blas")
      suppressPackageStartupMessages(library(voxridge))
      setup(job)
    },
    fit = fit, answer = answer,
    version = function() paste("voxridge", utils::packageVersion("voxridge"), "and R's BLAS",
      basename(extSoftVersion()[["BLAS"]]))
  )
}

# `count`: targets that were fitted; `times`: by how much to multiply.
partial_engine <- function(fit, count, unit) {
  answer <- function(fit, data, job) {
    n <- count(job)
    times <- switch(unit, batch = job$batches, target = job$t / n, all = 1)
    detail <- switch(unit, batch = sprintf("one batch of %d targets, times %d", n, times),
      target = sprintf("%d targets, times %g", n, times), all = "all targets")
    list(alphas = fit$alphas, coefs = fit$coefs[, compared_targets(n), drop = FALSE],
      fields = list(count = n, times = times, detail = detail))
  }
  scale_engine(fit, answer)
}

batch_engine <- function(fit) partial_engine(fit, function(job) job$batch, "batch")
target_engine <- function(fit) partial_engine(fit, function(job) job$sample, "target")

scale_engines <- list(
  distribute = scale_engine(run_distributed, distributed_answer),
  distribute_workers = scale_engine(run_workers, function(fit, data, job) {
    future::plan(future::sequential)
    c(distributed_answer(fit, data, job), list(fields = fit$measured))
  }, start_workers),
  batch_svd = batch_engine(fit_batch_svd),
  batch_gram = batch_engine(fit_batch_gram),
  batch_svd_closed = batch_engine(fit_batch_closed),
  batch_solve = batch_engine(function(data, job) solve_targets(data, job, first_targets(data, job$batch))),
  whole_solve = partial_engine(function(data, job) solve_targets(data, job, data$Y), function(job) job$t, "all"),
  target_solve = target_engine(fit_each_target),
  target_lm_ridge = target_engine(fit_each_lm_ridge)
)
