# Draws man/figures/README-map.png from the experiment of vignettes/nifti-to-map.Rmd, with the installed package.
#
#   Rscript tools/readme_picture.R

code <- tempfile(fileext = ".R")
knitr::purl("vignettes/nifti-to-map.Rmd", code, documentation = 0L, quiet = TRUE)
grDevices::pdf(NULL)
experiment <- new.env()
for (expression in parse(code)) try(eval(expression, experiment), silent = TRUE)
dir.create("man/figures", showWarnings = FALSE)
grDevices::png("man/figures/README-map.png", 1000, 560, res = 120)
plot(experiment$fit, type = "map", slices = seq(4L, 11L), title = "Which voxels do the features predict?")
invisible(grDevices::dev.off())
