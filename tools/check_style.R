# lintr over the R code of the package, its tests and its tools, by the rules of .lintr.
#
#   Rscript tools/check_style.R
#
# One line per finding, then "N passed, N failed, N skipped" (files).

if (!requireNamespace("lintr", quietly = TRUE)) {
  cat("skip: lintr is not installed\n0 passed, 0 failed, 1 skipped\n")
  quit(save = "no")
}
files <- list.files(c("R", "tests", "tools"), "\\.R$", recursive = TRUE, full.names = TRUE)
files <- setdiff(files, "R/RcppExports.R")
counts <- vapply(files, function(file) {
  lints <- lintr::lint(file)
  for (lint in lints) cat(sprintf("FAIL %s:%d: %s\n", file, lint$line_number, lint$message))
  length(lints)
}, 0L)
cat(sprintf("%d passed, %d failed, 0 skipped\n", sum(counts == 0L), sum(counts > 0L)))
quit(save = "no", status = as.integer(any(counts > 0L)))
