# Events of an experiment in one form: list(onset, duration, amplitude, kind, kinds, run, n_scans).
#   onset, duration   seconds, from the first volume of the run
#   kind              number of the kind of event; `kinds` are their names in the order of the columns
#   run               number of the run; `n_scans` are the volumes of each
# Without trial_type all events are of one kind: a column of text may be what was meant.
warn_no_types <- function(events) {
  if ("trial_type" %in% names(events)) return(invisible(events))
  text <- names(events)[vapply(events, function(column) is.character(column) || is.factor(column), NA)]
  text <- setdiff(text, c("row", "run", "onset", "duration", "modulation"))
  if (!length(text)) return(invisible(events))
  warn(
    c("{.arg events} has no column {.code trial_type}: all events are taken as one kind.",
      i = "Is {.code {text[1]}} what you mean? Then rename it to {.code trial_type}."),
    "events",
    found = text
  )
}

as_events <- function(events, n_scans, tr, call = rlang::caller_env()) {
  files <- is.character(events) && !is.object(events)
  if (files) {
    n_scans <- scans_of_files(events, n_scans, call)
    events <- read_event_files(events, call)
  }
  check_event_table(events, call)
  warn_no_types(events)
  where <- if (files) events[["row"]] else seq_len(nrow(events))
  kind <- event_kinds(events[["trial_type"]], where, call)
  out <- list(
    onset = event_numbers(events, "onset", where, call),
    duration = event_numbers(events, "duration", where, call),
    amplitude = event_numbers(events, "modulation", where, call, default = 1),
    kind = kind$index,
    kinds = kind$names,
    run = event_runs(events[["run"]], n_scans, where, call),
    n_scans = unname(n_scans)
  )
  check_event_times(out, tr, where, call)
  out
}

check_event_table <- function(events, call) {
  if (!is.data.frame(events)) {
    found <- describe(events)
    abort(
      c("{.arg events} must be a data frame, or paths of events.tsv files, not {found}.",
        i = "It has the columns {.code onset} and {.code duration}, in seconds, and a row per event."),
      "events",
      found = found, call = call
    )
  }
  missing <- setdiff(c("onset", "duration"), names(events))
  if (length(missing)) abort_missing_column(missing, names(events), "events", call)
  if (nrow(events)) return(invisible(events))
  abort("{.arg events} must have at least one event, not none.", "events", found = 0L, call = call)
}

abort_missing_column <- function(missing, found, source, call) {
  abort(
    c("{.arg {source}} must have the {cli::qty(missing)}column{?s} {.code {missing}}, not only {.code {found}}.",
      i = "Onsets and durations are in seconds; the duration of a brief event is 0."),
    "events",
    expected = missing, found = found, call = call
  )
}

# Refuses the events at `bad`. `where`: what the user calls the rows.
check_rows <- function(bad, where, must, found, call, advice = NULL) {
  bad <- which(bad)
  if (!length(bad)) return(invisible())
  rows <- where[bad]
  shown <- first_few(rows)
  first <- if (is.character(found)) encodeString(found[bad[1L]], quote = "\"") else format(found[bad[1L]], digits = 15L)
  abort(
    c("{.arg events} must have {must}, not {first} ({cli::qty(length(rows))}row{?s} {shown}).", i = advice),
    "events",
    found = found[bad], where = rows, call = call
  )
}

# Numbers stay numbers, labels are text.
runs_as_shown <- function(runs) if (is.numeric(runs)) runs else as.character(runs)

# A column of numbers; all `default` where there is no such column.
event_numbers <- function(events, column, where, call, default = NULL) {
  x <- events[[column]]
  if (is.null(x)) return(rep(default, nrow(events)))
  text <- is.character(x)
  numbers <- if (text) suppressWarnings(as.double(x)) else if (is.logical(x) && all(is.na(x))) as.double(x) else x
  if (!is.numeric(numbers) || is.object(numbers) || length(dim(numbers)) > 1L) {
    found <- describe(x)
    abort(
      "The column {.code {column}} of {.arg events} must be numbers, not {found}.",
      "events",
      found = found, where = column, call = call
    )
  }
  must <- sprintf("a finite number as %s of every event", column)
  advice <- c(duration = "The duration of a brief event is 0.", modulation = "Without modulation an event has 1.")
  check_rows(!is.finite(numbers), where, must, x, call, unname(advice[column])[column %in% names(advice)])
  as.double(numbers)
}

check_event_times <- function(events, tr, where, call) {
  end <- events$n_scans[events$run] * tr
  check_rows(events$duration < 0, where, "durations of at least 0", events$duration, call)
  check_rows(events$onset < 0, where, "onsets of at least 0", events$onset, call,
             "Onsets are seconds from the first volume of the run.")
  late <- which(events$onset >= end)[1L]
  check_rows(events$onset >= end, where, sprintf("onsets before the end of their run (%s s)", format(end[late])),
             events$onset, call,
             "A run lasts {.code n_scans * tr}. Onsets are seconds from the first volume of their own run.")
}

# The kind of each event by number (`index`), and the names of the kinds.
event_kinds <- function(types, where, call) {
  if (is.null(types)) return(list(index = rep(1L, length(where)), names = "event"))
  if (!is.atomic(types) || length(dim(types)) > 1L) {
    found <- describe(types)
    abort("The column {.code trial_type} of {.arg events} must be text, a factor or numbers, not {found}.", "events",
          found = found, where = "trial_type", call = call)
  }
  check_rows(is.na(types) | !nzchar(as.character(types)), where, "a trial_type for every event", types, call,
             "Leave out events that are to have no column.")
  names <- if (is.factor(types)) levels(types) else sort(unique(as.vector(types)), method = "radix")
  list(index = match(as.vector(types), names), names = as.character(names))
}

# Numbers of the runs. Labels are the names of `n_scans`, or 1, 2, ...
event_runs <- function(runs, n_scans, where, call) {
  single <- length(n_scans) == 1L
  if (is.null(runs)) {
    if (single) return(rep(1L, length(where)))
    abort(
      c("{.arg events} must have the column {.code run} where {.arg n_scans} is of several runs
         ({length(n_scans)}), not be without it.",
        i = "For events of a single run give one number."),
      "events",
      expected = "run", call = call
    )
  }
  check_rows(is.na(runs), where, "a run for every event", runs, call)
  if (single && is.null(names(n_scans)) && length(unique(runs)) == 1L) return(rep(1L, length(where)))
  labels <- names(n_scans) %||% as.character(seq_along(n_scans))
  index <- match(as.character(runs), labels)
  check_rows(is.na(index), where, sprintf("runs of `n_scans` (%s)", first_few(labels)), runs_as_shown(runs),
             call, "Give {.arg n_scans} one number per run, named as the runs are, or unnamed for runs 1, 2, ...")
  index
}

# ---- files -----------------------------------------------------------------------------------

scans_of_files <- function(paths, n_scans, call) {
  absent <- which(is.na(paths) | !file.exists(paths) | dir.exists(paths))
  if (!length(paths) || length(absent)) {
    found <- if (length(paths)) encodeString(paths[absent[1L]], quote = "\"") else "no path"
    abort(
      c("{.arg events} must be paths of existing files, one per run, not {found}.",
        i = "Or a data frame with a row per event."),
      "events",
      found = paths[absent], where = absent, call = call
    )
  }
  if (length(n_scans) == 1L) return(rep(unname(n_scans), length(paths)))
  if (length(n_scans) == length(paths)) return(unname(n_scans))
  abort(
    c("{.arg n_scans} must have one number, or one per file of {.arg events} ({length(paths)}), not {length(n_scans)}.",
      i = "Each file has the events of one run."),
    "argument",
    expected = length(paths), found = length(n_scans), call = call
  )
}

# All as text: what is no number is told with its row.
read_event_files <- function(paths, call) {
  tables <- lapply(paths, read_event_file, call = call)
  columns <- lapply(tables, function(table) setdiff(names(table), "row"))
  optional <- intersect(c("trial_type", "modulation"), unlist(columns))
  for (run in seq_along(paths)) {
    missing <- setdiff(c("onset", "duration", optional), columns[[run]])
    if (length(missing)) abort_missing_column(missing, columns[[run]], basename(paths[run]), call)
  }
  used <- c("onset", "duration", optional, "row")
  all <- do.call(rbind, lapply(tables, function(table) table[used]))
  all$run <- rep(as.character(seq_along(paths)), vapply(tables, nrow, 0L))
  all
}

# The format knows no quotes and no comments: a field is what stands between two tabs. Quotes around a whole field, as R
# and spreadsheets write them, are taken off.
read_event_file <- function(path, call) {
  lines <- read_text(path, call)
  fields <- lapply(strsplit(lines, "\t", fixed = TRUE), function(x) sub("^\"(.*)\"$", "\\1", trimws(x)))
  names <- fields[[1L]]
  rows <- fields[-1L]
  long <- which(vapply(rows, function(x) any(nzchar(x[-seq_along(names)])), NA))
  if (length(long)) {
    found <- length(rows[[long[1L]]])
    abort(
      c("{.arg events} must have as many fields in every row as {.file {basename(path)}} has columns ({length(names)}),
         not {found} (row {long[1]}).",
        i = "Fields are separated by single tabs."),
      "events",
      expected = length(names), found = found, where = long, call = call
    )
  }
  values <- vapply(rows, function(x) c(x, character(length(names)))[seq_along(names)], names)
  values[values == "n/a"] <- NA
  table <- as.data.frame(matrix(values, length(rows), length(names), byrow = TRUE))
  names(table) <- names
  table$row <- sprintf("%d of %s", seq_along(rows), rep(basename(path), length(rows)))
  table
}

# The lines of a file that are not blank, as UTF-8 and without a byte order mark.
read_text <- function(path, call) {
  lines <- tryCatch(suppressWarnings(readLines(path, warn = FALSE)), error = function(cnd) {
    reason <- conditionMessage(cnd)
    abort("{.arg events} must be files that can be read, not {.file {path}} ({reason}).", "events", found = path,
          call = call)
  })
  lines[!validUTF8(lines)] <- iconv(lines[!validUTF8(lines)], "latin1", "UTF-8")
  Encoding(lines) <- "UTF-8"
  lines <- sub("^\ufeff", "", lines)
  lines <- lines[nzchar(trimws(lines))]
  if (length(lines)) return(lines)
  abort("{.arg events} must be files with a line of column names, not empty as {.file {path}}.", "events",
        found = path, call = call)
}
