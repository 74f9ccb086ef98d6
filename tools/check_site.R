# Every help page and every vignette has its place on the site, and the site names nothing that is not there.
#
#   Rscript tools/check_site.R [ROOT]
#
# One line per finding, then "N passed, N failed, N skipped" (lists).

root <- c(commandArgs(trailingOnly = TRUE), ".")[1L]
if (!requireNamespace("yaml", quietly = TRUE)) {
  cat("skip: yaml is not installed\n0 passed, 0 failed, 1 skipped\n")
  quit(save = "no")
}
site <- yaml::read_yaml(file.path(root, "_pkgdown.yml"))
listed <- function(part) unlist(lapply(site[[part]], `[[`, "contents"))
there <- list(
  reference = sub("\\.Rd$", "", list.files(file.path(root, "man"), "\\.Rd$")),
  articles = sub("\\.Rmd$", "", list.files(file.path(root, "vignettes"), "\\.Rmd$"))
)
failed <- 0L
for (part in names(there)) {
  words <- c(
    sprintf("%s is not listed under %s", setdiff(there[[part]], listed(part)), part),
    sprintf("%s is listed under %s, but is not there", setdiff(listed(part), there[[part]]), part),
    sprintf("%s is listed twice under %s", unique(listed(part)[duplicated(listed(part))]), part)
  )
  if (length(words)) cat(paste("FAIL _pkgdown.yml:", words), sep = "\n")
  failed <- failed + (length(words) > 0L)
}
cat(sprintf("%d passed, %d failed, 0 skipped\n", length(there) - failed, failed))
quit(save = "no", status = as.integer(failed > 0L))
