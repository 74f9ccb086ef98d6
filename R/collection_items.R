# Items of a collection as matrices and in the form of the core, and the errors that name them.

# All that is needed to read item i, in this process or another.
item_of <- function(x, i) {
  list(
    item = x$names[i], index = i, path = x$paths[i], volumes = x$volumes[[i]], size = x$sizes[i],
    modified = x$modified[i], matrix = x$matrices[[i]], data = if (!is.null(x$data)) x$data[i, , drop = FALSE]
  )
}

# An item as brain_matrix() has it.
read_item <- function(item, mask, call) {
  if (!is.null(item$matrix)) return(structure(item$matrix, mask = mask))
  state <- core_file_states(item$path, TRUE)
  if (state$sizes != item$size || state$modified != item$modified) {
    abort_item(item$index, item$path, changed_text(item$path, state$sizes), "changed", state$sizes, call)
  }
  control <- core_control(1L, call = call)
  tryCatch(
    {
      rows <- core_nifti_rows(item$path, list(item$volumes), as.double(mask$index), control)
      attr(rows, "mask") <- mask
      rows
    },
    voxridge_error_file = function(cnd) {
      abort_item(item$index, item$path, cnd$message, cnd$where, cnd$found, call)
    }
  )
}

changed_text <- function(path, size) {
  paste(basename(path), if (size < 0) "is not there any more" else "has been changed since the collection was opened")
}

abort_item <- function(k, path, text, where, found, call) {
  advice <- if (where == "changed") "Open the collection again with {.fn brain_collection}." else NIFTI_ADVICE[where]
  if (is.na(advice)) advice <- "Leave the item out, for example with {.code x[-{k}]}."
  abort(
    c("{.arg x} must be a collection whose items can be read, not one whose item {k} cannot ({.file {basename(path)}}):
       {text}.", i = unname(advice)),
    "item",
    item = k, path = path, where = where, found = found, call = call
  )
}

# `groups`: from 0, one per item.
core_items <- function(x, groups = integer(length(x$paths))) {
  list(
    paths = ifelse(is.na(x$paths), "", x$paths), names = x$names,
    volumes = lapply(x$volumes, as.double), sizes = ifelse(is.na(x$sizes), -1, x$sizes),
    modified = ifelse(is.na(x$modified), 0, x$modified), matrices = x$matrices, groups = groups,
    index = as.double(x$mask$index), dim = as.double(x$mask$dim)
  )
}

# A call into the core that reads items: its errors begin with the number of the item.
run_items <- function(expr, x, call) {
  tryCatch(run_core(expr, call), voxridge_error_file = function(cnd) {
    k <- as.integer(sub(": .*", "", cnd$message))
    abort_item(k, x$paths[k], sub("^[0-9]+: ", "", cnd$message), cnd$where, cnd$found, call)
  })
}

# All files are looked at before any is read: what is known to fail should not take an hour to do so.
check_items_there <- function(x, on_error, call) {
  lazy <- which(vapply(x$matrices, is.null, NA))
  if (on_error == "skip" || !length(lazy)) return(invisible(x))
  now <- item_states(x, lazy)
  bad <- which(now$sizes != x$sizes[lazy] | now$modified != x$modified[lazy])
  if (!length(bad)) return(invisible(x))
  first <- bad[1L]
  path <- x$paths[lazy[first]]
  others <- if (length(bad) > 1L) paste0(", and ", count_label(length(bad) - 1L, "other"), " too")
  text <- paste0(changed_text(path, now$sizes[first]), others)
  abort_item(lazy[first], path, text, "changed", now$sizes[first], call)
}

# Items that were left out are a fact that must not pass unseen.
warn_skipped <- function(skipped, n) {
  if (!nrow(skipped)) return(invisible())
  names <- first_few(skipped$name)
  warn(
    c("{nrow(skipped)} of {n} items {?was/were} skipped ({names}).", i = "First reason: {skipped$reason[1]}."),
    "skipped_items",
    skipped = skipped
  )
}

# ---- settings that the functions over all items share ----------------------------------------

item_settings <- function(within, na, on_error, call) {
  within <- as_choice(within, c("none", "mean", "sd"), "within", call)
  na <- as_choice(na, c("propagate", "skip"), "na", call)
  on_error <- as_choice(on_error, c("stop", "skip"), "on_error", call)
  list(within = within, skip_missing = na == "skip", skip_failed = on_error == "skip", on_error = on_error)
}

check_reduction <- function(x, within, call) {
  if (within != "sd" || all(x$n_rows > 1L)) return(invisible(x))
  where <- which(x$n_rows < 2L)
  names <- first_few(x$names[where])
  abort(c("{.arg within} must be {.val none} or {.val mean} where items have one volume ({names}), not {.val sd}."),
        "conflict", where = where, found = "sd", call = call)
}

# Without a reduction items are compared row by row.
check_equal_rows <- function(x, within, call) {
  if (within != "none" || length(unique(x$n_rows)) == 1L) return(invisible(x))
  where <- which(x$n_rows != x$n_rows[1L])[1L]
  first <- x$n_rows[1L]
  found <- x$n_rows[where]
  abort(
    c("{.arg x} must have items of equal numbers of volumes ({first}), not {found} in item {where}
       ({.val {x$names[where]}}).",
      i = "Choose {.arg volumes} of {.fn brain_collection}, or reduce items first with {.arg within}."),
    "shape",
    expected = first, found = found, where = where, call = call
  )
}

check_item_count <- function(n, least, what, call) {
  if (n >= least) return(invisible(n))
  abort(paste0("{.arg x} must have at least {least} ", what, ", not {n}."), "shape",
        expected = least, found = n, call = call)
}

inform_passes <- function(passes, restarted) {
  if (passes < 2 || restarted) return(invisible())
  inform(c("The files were read {passes} times, a part of the voxels each time.",
           i = "More memory makes it fewer: {.code options(voxridge.memory_gb = )}."), "passes", passes = passes)
}
