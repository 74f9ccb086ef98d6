# Runs the R tests against the installed package.
#
#   Rscript tools/run_testthat.R [FILTER]
#
# FILTER: a Perl regular expression for names of files. Prints failures, unexpected warnings (one that nobody expects is
# a failure), skips and slow files, then "N passed, N failed, N skipped" (tests).

SLOW_SECONDS <- 10

library(testthat)
library(voxridge)
filter <- commandArgs(trailingOnly = TRUE)
results <- as.data.frame(test_dir(
  "tests/testthat", filter = if (length(filter)) filter[1L], perl = TRUE, package = "voxridge",
  load_package = "installed", reporter = CheckReporter$new(), stop_on_failure = FALSE, stop_on_warning = FALSE
))
# left behind by the reporter where a test failed
unlink("tests/testthat/testthat-problems.rds")
failed <- results$failed > 0L | results$error
warned <- !failed & results$warning > 0L
skipped <- !failed & !warned & results$skipped
for (i in which(warned)) cat(sprintf("FAIL unexpected warning in %s: %s\n", results$file[i], results$test[i]))
seconds <- tapply(results$real, results$file, sum)
for (file in names(seconds)[seconds > SLOW_SECONDS]) {
  cat(sprintf("slow: %s took %.1f s (at most %g are meant)\n", file, seconds[[file]], SLOW_SECONDS))
}
bad <- sum(failed | warned)
if (!nrow(results)) bad <- 1L
cat(sprintf("%d passed, %d failed, %d skipped\n", nrow(results) - sum(failed | warned | skipped), bad, sum(skipped)))
quit(save = "no", status = as.integer(bad > 0L))
