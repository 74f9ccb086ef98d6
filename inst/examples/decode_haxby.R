# Which of eight categories was shown? Decoding of an fMRI experiment, one category against the rest.
#
#   Rscript decode_haxby.R FOLDER
#
# FOLDER holds bold.nii.gz (x, y, z, volumes), mask.nii.gz, and attributes_literal.txt: per volume what was shown
# ("rest" for nothing) and the run. Voxels without linear trend, in units of their variation at rest, are averaged over
# the volumes of a block; ridge-penalised logistic regressions learn from all runs but one what the left-out one shows.

library(voxridge)

decode_haxby <- function(folder, lambda = NULL) {
  labels <- read.table(file.path(folder, "attributes_literal.txt"), col.names = c("shown", "run"))
  mask <- brain_mask(file.path(folder, "mask.nii.gz"))
  Y <- clean_runs(brain_matrix(file.path(folder, "bold.nii.gz"), mask), labels$run, detrend = 1, scale = "z",
                  reference = labels$shown == "rest")

  # one row per block of a category in a run
  task <- labels$shown != "rest"
  block <- paste(labels$run, labels$shown)[task]
  X <- rowsum(Y[task, ], block, reorder = FALSE) / as.vector(table(factor(block, unique(block))))
  first <- match(unique(block), block)
  shown <- labels$shown[task][first]
  runs <- labels$run[task][first]

  # a target per category, one penalty for all
  targets <- outer(shown, sort(unique(shown)), "==")
  colnames(targets) <- sort(unique(shown))
  fit <- fit_logistic_ridge(X, targets, lambda = lambda, cv = runs, local_lambda = FALSE, progress = FALSE)
  logits <- fit$cv$predictions
  guess <- colnames(targets)[max.col(logits, ties.method = "first")]
  list(fit = fit, X = X, shown = shown, runs = runs, logits = logits, guess = guess, correct = guess == shown)
}

if (sys.nframe() == 0L) {  # not where the file is sourced
  out <- decode_haxby(commandArgs(trailingOnly = TRUE)[1L])
  cat(sprintf("blocks: %d\nlambda: %.3g\naccuracy: %.4f\n", length(out$shown), out$fit$best_lambda[1L],
              mean(out$correct)))
  print(table(shown = out$shown, guess = out$guess))
}
