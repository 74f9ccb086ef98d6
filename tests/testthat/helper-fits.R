# Models without warnings about the ends of the grid.

fit_quietly <- function(...) muffle_edge(fit_ridge(..., progress = FALSE))

fit_bands_quietly <- function(...) muffle_edge(fit_banded_ridge(..., progress = FALSE))

# The elements of a solver's answer in a fit: identical, but for the time that the fit took.
expect_fields <- function(fit, solved) {
  testthat::expect_true(all(names(solved) %in% names(fit)))
  testthat::expect_type(fit$diagnostics$seconds, "double")
  fit$diagnostics$seconds <- NULL
  for (name in names(solved)) testthat::expect_identical(fit[[name]], solved[[name]], info = name)
}

# What a method prints, with the time masked.
printed <- function(x) sub("[0-9.e-]+ s$", "<seconds> s", utils::capture.output(print(x)))
