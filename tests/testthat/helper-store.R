# A classed error, and the argument that its first line names where it is one of an argument.
expect_kind <- function(expr, kind, arg = NULL) {
  cnd <- testthat::expect_error(expr, class = paste0("voxridge_error_", kind))
  if (inherits(cnd, "condition") && !is.null(arg)) {
    testthat::expect_match(cli::ansi_strip(conditionMessage(cnd)), paste0("`(", arg, ")`"))
  }
  invisible(cnd)
}
