# Fitting in batches of targets: what it costs to factor once and deal batches to workers, beside ways that factor
# again. Each entry is one measurement (scale.R), which gives one or more rows. One thread everywhere.
#
# `batches`: how many batches the targets are dealt in; `cv`: "folds", "loo" or "gcv"; `sample`: how many targets a way
# is tried on that fits one after the other; `rounds`: turns of all sides; `warm_up`: "yes" runs each once before, which
# for the longer ones would only take time. `wanted` are the figures to reach, by the names of the rows' measures; small
# sizes have none.

scale_case <- function(id, what, measure, n, p, t, batches, ..., n_alphas = 11L, folds = 5L, cv = "folds",
                       output = "primal", rounds = 1L, warm_up = "no", wanted = c(), quick = list()) {
  list(id = paste0("scale-", id), what = what, measure = measure, n = n, p = p, t = t, batches = batches, cv = cv,
    n_alphas = n_alphas, folds = folds, output = output, rounds = rounds, spectra = "power", precision = "double",
    threads = 1L, warm_up = warm_up, wanted = wanted, quick = c(quick, list(rounds = 1L)), ...)
}

benchmark_cases <- function() {
  at_least <- function(ratio) c("CPU s" = paste("ratio >=", ratio))
  small <- list(n = 100L, p = 200L, t = 1200L, batches = 2L)
  tall <- list(n = 120L, p = 60L, t = 1200L, batches = 2L, sample = 3L)
  closed <- function(cv, what, ratio) {
    scale_case(cv, paste(what, "8 batches"), measure_refactoring, 2000L, 1200L, 2400L, batches = 8L, cv = cv,
      rounds = 3L, warm_up = "yes", peers = c(batch_svd_closed = "SVD in every batch"), wanted = at_least(ratio),
      quick = tall)
  }
  list(
    scale_case("batches", "5 folds, 11 alphas, 10 batches", measure_refactoring, 2000L, 4000L, 20000L, batches = 10L,
      peers = c(
        batch_svd = "SVD per fold in every batch",
        batch_gram = "Gram matrix per batch, its eigenvectors per fold",
        batch_solve = "solve_ridge_cv() per batch"
      ),
      wanted = at_least(4), quick = small),
    scale_case("workers", "5 folds, 11 alphas, 32 batches", measure_workers, 1000L, 2000L, 20000L, batches = 32L,
      output = "none", workers = c(1L, 2L, 4L), rounds = 2L,
      wanted = c("speed-up, 2 workers" = "ours >= 1.7", "CPU s against 1 worker, 2 workers" = "ours <= 1.1"),
      quick = c(small, list(workers = 1:2))),
    scale_case("in-memory", "5 folds, 11 alphas, all in this process", measure_refactoring, 1000L, 2000L, 20000L,
      batches = 8L, output = "none", rounds = 2L, peers = c(whole_solve = "solve_ridge_cv()"),
      wanted = c("CPU s" = "1 / ratio <= 1.1"), quick = small),
    closed("loo", "leave-one-out, 11 alphas,", 2.5),
    closed("gcv", "generalised cross-validation, 11 alphas,", 5),
    scale_case("targets", "generalised cross-validation, one fit per target", measure_refactoring, 2000L, 1200L, 2400L,
      batches = 8L, cv = "gcv", sample = 20L,
      peers = c(target_solve = "solve_ridge_cv() per target", target_lm_ridge = "MASS::lm.ridge() per target"),
      quick = tall),
    scale_case("memory", "5 folds, 11 alphas, targets in a file of float32", measure_worker_memory, 300L, 500L, 100000L,
      batches = 40L, output = "none", memory_gb = 0.1, few = 10000L,
      wanted = c("peak of the worker (MB)" = "1 / ratio <= 1.05", "beside X and factors (MB)" = "ours <= 105"),
      quick = list(n = 60L, p = 80L, t = 4000L, batches = 4L, few = 1000L))
  )
}
