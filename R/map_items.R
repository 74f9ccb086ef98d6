#' Apply a function to every item of a collection
#'
#' Calls `f` with the matrix of every item, one at a time in each process, on the current [future::plan()].
#'
#' Under `plan(multisession)` and other plans the items are shared out among the workers, which read their files
#' themselves: paths are sent, not data. The result does not depend on the plan, also where `f` draws random numbers:
#' every item has its own stream, which follows from the state of R's generator (`set.seed()`). Packages that provide
#' the plan's workers, and the files, must be there on every worker.
#'
#' With `write_to` results go to files as soon as they are there: a number per voxel, a matrix with a column per voxel
#' or an array of the dimensions of the mask to `<name>.nii.gz` (as float32), anything else to `<name>.rds`, a list of
#' `key` and `result`. A reader sees the whole file or none. When the call is made again, items are not computed whose
#' file is there and was made of the same input (path, volumes, size, time) by the same code of `f` and the same
#' further arguments; other variables that `f` uses do not count. Files that `map_items()` did not write are never
#' replaced.
#'
#' @param x A [brain_collection()].
#' @param f A function of a matrix, volumes x voxels, with the attribute `mask`. If it has an argument `info`, it gets
#'   a list of `item` (name), `index` (number in `x`), `path` (NA for a matrix), `volumes` and `data` (the item's row of
#'   the data, or NULL).
#' @param ... Further arguments of `f`, by name.
#' @param write_to NULL (the default), or a folder for results; it is made if its parent is there.
#' @param on_error `"stop"` (the default): after all items have been tried, an error names those that failed; its field
#'   `results` has what there is. `"skip"`: a warning does.
#' @param progress TRUE shows a progress bar on the console (stderr) under `plan(sequential)`; never in scripts, tests
#'   and knitr.
#'
#' @returns Without `write_to` a named list of what `f` returned, in the order of the items; the condition where it
#'   failed (`on_error = "skip"`). With `write_to`, invisibly, a [brain_collection()] of the images that were written,
#'   or where some results are no images, the paths of all files, with the names of the items; without items that
#'   failed.
#' @section Errors:
#' `voxridge_error_item` (items that cannot be read, or for which `f` failed; fields `item`, their numbers,
#' `conditions` and `results`), `voxridge_error_file` (a folder that cannot be written, a full disk, a file of another
#' origin), `voxridge_error_type`, `voxridge_error_argument`. Warning `voxridge_warning_skipped_items`. See
#' [voxridge-conditions].
#' @section Invariants:
#' The same results in the same order under every plan. Calling again with `write_to` computes nothing.
#' @seealso [stack_items()], [collection_mean()].
#' @examples
#' mask <- brain_mask(array(1, c(4, 4, 3)), affine = diag(c(3, 3, 4, 1)))
#' set.seed(1)
#' designs <- list(a = matrix(rnorm(40 * 3), 40), b = matrix(rnorm(40 * 3), 40))
#' respond <- function(X) X %*% matrix(rnorm(3 * 48), 3) + rnorm(40 * 48)
#' runs <- brain_collection(lapply(designs, respond), mask)
#' fits <- map_items(runs, function(Y, info) {
#'   fit_ridge(designs[[info$item]], Y, alphas = 10^(-6:4), cv = 4, n_threads = 1)
#' })
#' dim(coef(fits$a))
#' folder <- tempfile()
#' means <- map_items(runs, colMeans, write_to = folder)
#' means
#' @export
map_items <- function(x, f, ..., write_to = NULL, on_error = c("stop", "skip"), progress = interactive()) {
  call <- rlang::current_env()
  validate_collection(x)
  check_function(f, call)
  on_error <- as_choice(on_error, c("stop", "skip"))
  dots <- list(...)
  if (length(dots) && (is.null(names(dots)) || any(!nzchar(names(dots))))) {
    abort("{.arg ...} must be further arguments of {.arg f} by name, not without.", "argument")
  }
  if (is.null(write_to)) {
    found <- map_over_items(x, list(f = f, dots = dots), "map", progress, call)
    finish_map(found, x, on_error, call)
    return(stats::setNames(found$results, x$names))
  }
  task <- output_task(x, f, dots, write_to, call)
  done <- vapply(seq_along(x$paths), function(i) finished_file(task, item_of(x, i)), "")
  todo <- which(is.na(done))
  found <- list(results = as.list(done), failed = rep(FALSE, length(done)))
  if (length(todo)) {
    made <- map_over_items(x, task, "write", progress, call, todo)
    found$results[todo] <- made$results
    found$failed[todo] <- made$failed
  }
  finish_map(found, x, on_error, call)
  written_items(unlist(found$results[!found$failed]), x, !found$failed, call)
}

check_function <- function(f, call) {
  if (is.function(f)) return(invisible(f))
  found <- describe(f)
  abort("{.arg f} must be a function of a matrix, volumes x voxels, not {found}.", "argument", found = found,
        call = call)
}

# list(results, failed): of the items `which`, a condition in the place of what failed. `task`: f, dots, and what the
# kind of job needs besides.
map_over_items <- function(x, task, kind, progress, call, which = seq_along(x$paths)) {
  sequential <- inherits(future::plan(), "sequential")
  bar <- start_progress(if (sequential) progress else as_flag(progress, call = call) && FALSE, "Items", call)
  on.exit(bar$close())
  items <- lapply(which, function(i) item_of(x, i))
  if (x$load == "memory") {  # the limit is there for what goes along unseen
    before <- options(future.globals.maxSize = Inf)
    on.exit(options(before), add = TRUE)
  }
  results <- future.apply::future_lapply(
    items, item_worker(task, kind, x$mask, if (!is.null(bar$report)) count_items(bar$report, length(which))),
    future.seed = TRUE, future.packages = "voxridge"
  )
  failed <- vapply(results, inherits, NA, "voxridge_failed_item")
  results[failed] <- lapply(results[failed], `[[`, "condition")
  list(results = results, failed = failed)
}

# What a worker gets: nothing but these arguments. `f` stands by itself, so that what it refers to is found and sent.
item_worker <- function(task, kind, mask, report) {
  f <- task$f
  task$f <- NULL
  function(item) {
    out <- work_on_item(item, f, task, kind, mask)
    if (!is.null(report)) report()
    out
  }
}

count_items <- function(report, total) {
  done <- 0
  function() {
    done <<- done + 1
    report(done, total)
  }
}

work_on_item <- function(item, f, task, kind, mask) {
  tryCatch(
    {
      Y <- read_item(item, mask, NULL)
      info <- item[c("item", "index", "path", "volumes", "data")]
      takes_info <- "info" %in% names(formals(args(f)))
      result <- do.call(f, c(list(quote(Y)), if (takes_info) list(info = quote(info)), task$dots), quote = FALSE)
      switch(kind,
        map = result,
        stack = stacked_row(result, task$row, task$n),
        write = write_item(result, item, task, mask)
      )
    },
    error = function(cnd) structure(list(condition = cnd), class = "voxridge_failed_item")
  )
}

failed_table <- function(found, x) {
  where <- which(found$failed)
  data.frame(item = where, name = x$names[where], reason = vapply(found$results[where], failure_text, ""))
}

failure_text <- function(cnd) {
  text <- cli::ansi_strip(conditionMessage(cnd))
  sub("^[^\n]*has an item whose", "", strsplit(text, "\n", fixed = TRUE)[[1L]][1L])
}

# Names every item that failed.
finish_map <- function(found, x, on_error, call) {
  table <- failed_table(found, x)
  n <- nrow(table)
  if (!n) return(invisible(found))
  if (on_error == "skip" && n < length(found$failed)) return(warn_skipped(table, length(found$failed)))
  names <- first_few(table$name)
  reasons <- paste0(table$name, ": ", table$reason)
  shown <- stats::setNames(utils::head(reasons, 3L), rep("x", min(n, 3L)))
  shown <- escape(shown)
  abort(
    c("{.arg x} must have items that can be read and that {.arg f} can work on, not {n} of {length(found$failed)} that
       failed ({names}).", shown, i = "The field {.field results} of this condition has those of the others."),
    "item",
    item = table$item, conditions = stats::setNames(found$results[found$failed], table$name),
    results = stats::setNames(found$results, x$names), call = call
  )
}
