#' Fit a ridge regression to every item of a collection
#'
#' Fits [fit_ridge()] to the images of each subject or run, on the current [future::plan()].
#'
#' A shortcut for [map_items()] with a function that calls [fit_ridge()], which is the way to anything else, such as
#' folds of each item or another model. With many items, `keep = "none"` leaves the images out of the fits.
#'
#' @param x A [brain_collection()]: each item is an `Y`, volumes x voxels.
#' @param designs What each `X` is: one numeric matrix, volumes x features, or data frame, for all items; or a list of
#'   them with one for each item, by the names of the items or, without names, in their order.
#' @param ... Arguments of [fit_ridge()] and [solve_ridge_cv()] for all fits, by name: `alphas`, `cv`, `keep`,
#'   `n_threads` and others. Give `n_threads = 1` where the plan has as many workers as there are cores.
#' @param on_error `"stop"` (the default): after all items have been tried, an error names those that failed; its field
#'   `results` has the fits of the others. `"skip"`: a warning does.
#' @param progress TRUE shows a progress bar on the console (stderr), which counts items, under `plan(sequential)`;
#'   never in scripts, tests and knitr.
#'
#' @returns A list of fits (class `voxridge_fit`) with the names of the items; the condition where an item failed
#'   (`on_error = "skip"`).
#' @section Errors:
#' Those of [map_items()], as `voxridge_error_item`; `voxridge_error_argument` (designs for other items, arguments that
#' [fit_ridge()] does not have), `voxridge_error_shape` (a design with another number of rows than its item has
#' volumes). See [voxridge-conditions].
#' @section Invariants: The fit of an item is that of `fit_ridge(designs[[item]], x[[item]], ...)`, under every plan.
#' @seealso [fit_ridge()], [map_items()], [stack_items()].
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' set.seed(1)
#' designs <- list(a = matrix(rnorm(40 * 3), 40), b = matrix(rnorm(40 * 3), 40))
#' respond <- function(X) X %*% matrix(rnorm(3 * 48), 3) + rnorm(40 * 48)
#' runs <- brain_collection(lapply(designs, respond), mask)
#' fits <- fit_items(runs, designs, alphas = 10^(-6:4), cv = 4, n_threads = 2)
#' sapply(fits, function(fit) mean(fit$scores))
#' dim(brain_map(fits$a, what = "scores"))
#' @export
fit_items <- function(x, designs, ..., on_error = c("stop", "skip"), progress = interactive()) {
  call <- rlang::current_env()
  validate_collection(x)
  on_error <- as_choice(on_error, c("stop", "skip"))
  settings <- fit_settings(list(...), call)
  designs <- item_designs(designs, x, call)
  fit <- function(Y, info, designs, settings) {
    X <- if (is_one_design(designs)) designs else designs[[info$item]]
    do.call(fit_ridge, c(list(quote(X), quote(Y)), settings))
  }
  map_items(x, fit, designs = designs, settings = settings, on_error = on_error, progress = progress)
}

fit_settings <- function(settings, call) {
  known <- setdiff(c(names(formals(fit_ridge)), names(formals(solve_ridge_cv))), c("X", "Y", "...", "progress"))
  named <- if (length(settings)) rlang::names2(settings) else character()
  bad <- setdiff(named, known)
  if (!length(bad)) return(c(settings, progress = FALSE))
  found <- if (nzchar(bad[1L])) encodeString(bad[1L], quote = "\"") else "a value without a name"
  close <- known[utils::adist(bad[1L], known) <= 2L]
  advice <- if (length(close)) "Did you mean {.arg {close[1]}}?" else "See {.fn fit_ridge}."
  abort(c("{.arg ...} must be arguments of {.fn fit_ridge} by name, not {found}.", i = advice), "argument",
        found = bad, call = call)
}

is_one_design <- function(designs) !is.list(designs) || is.object(designs)

# One design, or a list by the names of the items. Rows are looked at before any fit.
item_designs <- function(designs, x, call) {
  if (!is_one_design(designs)) {
    if (is.null(names(designs)) && length(designs) == length(x$paths)) names(designs) <- x$names
    lacking <- setdiff(x$names, names(designs))
    if (length(lacking)) {
      what <- if (is.null(names(designs))) "{length(designs)}" else "none for {first_few(lacking)}"
      abort(c(paste0("{.arg designs} must be one design, or a list with one for each of the {length(x$paths)} items,
                      not ", what, "."), i = "By the names of the items, or in their order."),
            "argument", expected = x$names, found = names(designs), call = call)
    }
    designs <- designs[x$names]
  }
  rows <- if (is_one_design(designs)) rep(NROW(designs), length(x$paths)) else vapply(designs, NROW, 0L)
  prepared <- inherits(designs, "voxridge_prepared")
  bad <- which(rows != x$n_rows)
  if (prepared || !length(bad)) return(designs)
  k <- bad[1L]
  abort("{.arg designs} must have a row for each volume of an item, not {rows[k]} where {.val {x$names[k]}} has
         {x$n_rows[k]}.", "shape", expected = x$n_rows[k], found = rows[k], where = bad, call = call)
}
