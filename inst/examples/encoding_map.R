# From image files to a map of scores: which voxels of an fMRI experiment are predicted by what was shown?
#
#   Rscript encoding_map.R FOLDER OUTPUT.nii.gz
#
# FOLDER holds bold.nii.gz (x, y, z, volumes), mask.nii.gz, and attributes_literal.txt: per volume what was shown
# ("rest" for nothing) and the run. The model: an indicator per category at delays of 1 to 4 volumes; voxels without
# quadratic trend and with unit variance in every run; ridge regression that predicts each run from the others.

library(voxridge)

encoding_map <- function(folder, output, alpha = 10, delays = 1:4) {
  labels <- read.table(file.path(folder, "attributes_literal.txt"), col.names = c("shown", "run"))
  categories <- setdiff(sort(unique(labels$shown)), "rest")
  shown <- outer(labels$shown, categories, "==") + 0
  colnames(shown) <- categories
  X <- delay_features(shown, delays, runs = labels$run)

  mask <- brain_mask(file.path(folder, "mask.nii.gz"))
  Y <- clean_runs(brain_matrix(file.path(folder, "bold.nii.gz"), mask), labels$run, detrend = 2, scale = "sd")

  held_out <- cross_val_predict_ridge(X, Y, alphas = alpha, cv = labels$run, fit_intercept = TRUE)$predictions
  r <- vapply(seq_len(ncol(Y)), function(j) cor(Y[, j], held_out[, j]), 0)
  r2 <- 1 - colSums((Y - held_out)^2) / colSums(scale(Y, scale = FALSE)^2)
  write_nifti(brain_map(r, mask), output, like = file.path(folder, "mask.nii.gz"), overwrite = TRUE)
  list(r = r, r2 = r2, mask = mask, path = output)
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 2L) {
  out <- encoding_map(arguments[1L], arguments[2L])
  cat(sprintf("voxels: %d\nmean R2: %.5f\nmean r: %.5f\nlargest r: %.4f\nvoxels with r > 0.2: %d\nmap: %s\n",
              out$mask$n, mean(out$r2), mean(out$r), max(out$r), sum(out$r > 0.2), out$path))
}
