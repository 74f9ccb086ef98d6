#' Images of a BIDS folder
#'
#' Lists the images of a folder in the Brain Imaging Data Structure, with what their names say.
#'
#' A name such as `sub-01_ses-2_task-rest_run-1_space-MNI_desc-preproc_bold.nii.gz` is a row. Files whose names have no
#' `sub-` are left out. Events and confounds are those files `*_events.tsv` and `*_desc-confounds_timeseries.tsv` (also
#' `*_desc-confounds_regressors.tsv` and `*_confounds.tsv`) below the same folder that agree in subject, session, task
#' and run.
#'
#' @param path The folder: a string. It is searched with all folders in it.
#' @param ... Values that the rows must have, by name, such as `suffix = "bold", task = c("rest", "nback")`: one or more
#'   strings for each of `sub`, `ses`, `task`, `run`, `space`, `desc`, `suffix`.
#'
#' @returns A data frame sorted by path, with the text columns `path`, `sub`, `ses`, `task`, `run`, `space`, `desc`,
#'   `suffix`, `events` and `confounds` (paths), NA where there is none. [brain_collection()] takes it as `paths`.
#' @section Errors:
#' `voxridge_error_argument` (no folder, an unknown name, no image that fits). See [voxridge-conditions].
#' @section Invariants:
#' Rows do not depend on the order in which the system lists files.
#' @source The Brain Imaging Data Structure specification, \url{https://bids-specification.readthedocs.io}.
#' @references
#' Gorgolewski, K. J., et al. (2016). The brain imaging data structure, a format for organizing and describing outputs
#' of neuroimaging experiments. Scientific Data 3, 160044. \doi{10.1038/sdata.2016.44}
#' @seealso [brain_collection()].
#' @examples
#' folder <- tempfile()
#' dir.create(folder)
#' name <- "sub-01_task-rest_run-1"
#' image <- array(rnorm(24), 2:4)
#' write_nifti(image, file.path(folder, paste0(name, "_bold.nii.gz")), affine = diag(4))
#' writeLines("onset\tduration", file.path(folder, paste0(name, "_events.tsv")))
#' table <- bids_table(folder, suffix = "bold")
#' table[c("sub", "task", "run", "suffix")]
#' basename(table$events)
#' @export
bids_table <- function(path, ...) {
  call <- rlang::current_env()
  folder <- as_path(path, call = call)
  if (!dir.exists(folder)) {
    abort("{.arg path} must be a folder, not {describe(path)}.", "argument", found = path)
  }
  wanted <- bids_filters(list(...), call)
  files <- each_once(folder, sort(list.files(folder, "^sub-", recursive = TRUE), method = "radix"))
  images <- parse_bids(files[grepl("\\.nii(\\.gz)?$", files)])
  keep <- Reduce(`&`, Map(function(values, name) images[[name]] %in% values, wanted, names(wanted)),
                 rep(TRUE, nrow(images)))
  if (!any(keep)) {
    what <- if (length(wanted)) " that {.arg ...} asks for"
    abort(paste0("{.arg path} must be a folder with images named as in BIDS", what,
                 ", not one with none of {nrow(images)}."), "argument", found = nrow(images))
  }
  images <- images[keep, ]
  tables <- parse_bids(files[endsWith(files, ".tsv")])
  is_confounds <- tables$suffix %in% "confounds" |
    tables$desc %in% "confounds" & tables$suffix %in% c("timeseries", "regressors")
  images$events <- bids_partner(images, tables[tables$suffix %in% "events", ])
  images$confounds <- bids_partner(images, tables[is_confounds, ])
  for (name in c("path", "events", "confounds")) {
    images[[name]] <- ifelse(is.na(images[[name]]), NA, file.path(folder, images[[name]]))
  }
  rownames(images) <- NULL
  images
}

# Without those that links between folders show a second time; the shortest path stays. A file that is a link itself
# is one of its own: programs that keep versions store equal files once.
each_once <- function(folder, files) {
  folders <- dirname(files)
  known <- unique(folders)
  key <- file.path(normalizePath(file.path(folder, known))[match(folders, known)], basename(files))
  order <- order(nchar(files))
  files[sort(order[!duplicated(key[order])])]
}

BIDS_ENTITIES <- c("sub", "ses", "task", "run", "space", "desc")

bids_filters <- function(wanted, call) {
  known <- c(BIDS_ENTITIES, "suffix")
  bad <- if (length(wanted) && is.null(names(wanted))) "" else setdiff(names(wanted), known)
  if (length(bad)) {
    found <- if (nzchar(bad[1L])) bad[1L] else "a value without a name"
    abort("{.arg ...} must be named {.or {.val {known}}}, not {.val {found}}.", "argument",
          expected = known, found = bad, call = call)
  }
  for (name in names(wanted)) {
    value <- wanted[[name]]
    if (is.character(value) && length(value) && !anyNA(value)) next
    found <- describe(value)
    abort(c("{.arg {name}} must be one or more strings, not {found}.", i = "Labels are text: {.code run = \"01\"}."),
          "argument", found = value, call = call)
  }
  wanted
}

# A row per file, from its name alone.
parse_bids <- function(files) {
  stems <- sub("\\.(nii(\\.gz)?|tsv)$", "", basename(files))
  parts <- strsplit(stems, "_", fixed = TRUE)
  entity <- function(name) {
    vapply(parts, function(part) {
      found <- part[startsWith(part, paste0(name, "-"))]
      if (length(found)) substring(found[1L], nchar(name) + 2L) else NA_character_
    }, "")
  }
  suffix <- vapply(parts, function(part) {
    last <- utils::tail(part, 1L)
    if (grepl("-", last, fixed = TRUE)) NA_character_ else last
  }, "")
  columns <- stats::setNames(lapply(BIDS_ENTITIES, entity), BIDS_ENTITIES)
  data.frame(path = files, columns, suffix = suffix)
}

# For each image the first table of the same subject, session, task and run; only where there is a task.
bids_partner <- function(images, tables) {
  key <- function(x) do.call(paste, c(unname(as.list(x[c("sub", "ses", "task", "run")])), sep = "\r"))
  found <- tables$path[match(key(images), key(tables))]
  ifelse(is.na(images$task), NA, found)
}
