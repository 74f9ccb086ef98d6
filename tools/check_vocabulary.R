# Every argument of an exported function is a word of tools/vocabulary.txt, and every word there is in use.
#
#   Rscript tools/check_vocabulary.R [PACKAGE_ROOT]
#
# Reads NAMESPACE and R/*.R; the package need not be installed. One line per offence, then "N passed, N failed".

root <- c(commandArgs(trailingOnly = TRUE), ".")[1L]

# word -> meaning, from lines "word: meaning"
read_vocabulary <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  lines <- lines[nzchar(lines) & !startsWith(lines, "#")]
  stats::setNames(trimws(sub("^[^:]*:?", "", lines)), sub(" *:.*$", "", lines))
}

# Top-level functions of the sources: name -> argument names.
read_functions <- function(paths) {
  found <- list()
  for (expr in unlist(lapply(paths, function(path) as.list(parse(path, keep.source = FALSE))))) {
    is_assignment <- is.call(expr) && as.character(expr[[1L]])[1L] %in% c("<-", "=") && is.name(expr[[2L]])
    if (!is_assignment || !is.call(expr[[3L]]) || !identical(expr[[3L]][[1L]], as.name("function"))) next
    found[[as.character(expr[[2L]])]] <- as.character(names(expr[[3L]][[2L]]))
  }
  found
}

# Arguments of S3 methods other than the generic's own are words too.
GENERIC_WORDS <- c("x", "object", "...", "e1", "e2", "na.rm", "deparse.level", "recursive")

vocabulary <- read_vocabulary(file.path(root, "tools", "vocabulary.txt"))
functions <- read_functions(list.files(file.path(root, "R"), "\\.R$", full.names = TRUE))
namespace <- parseNamespaceFile(basename(normalizePath(root)), dirname(normalizePath(root)))
methods <- namespace$S3methods
exported <- intersect(c(namespace$exports, paste(methods[, 1L], methods[, 2L], sep = ".")), names(functions))

offences <- character()
passed <- 0L
say <- function(ok, ...) if (ok) passed <<- passed + 1L else offences <<- c(offences, sprintf(...))

say(length(exported) > 0L, "NAMESPACE exports nothing")
say(!anyDuplicated(names(vocabulary)), "twice in vocabulary.txt: %s",
    paste(unique(names(vocabulary)[duplicated(names(vocabulary))]), collapse = ", "))
say(!is.unsorted(order(tolower(names(vocabulary)), method = "radix")), "vocabulary.txt is not in alphabetical order")
for (word in names(vocabulary)) say(nzchar(vocabulary[[word]]), "`%s` has no meaning in vocabulary.txt", word)
for (name in sort(exported)) {
  unknown <- setdiff(functions[[name]], c(names(vocabulary), GENERIC_WORDS))
  say(!length(unknown), "%s(): not in vocabulary.txt: %s", name, paste(unknown, collapse = ", "))
}
unused <- setdiff(names(vocabulary), unlist(functions[exported]))
say(!length(unused), "in vocabulary.txt but no argument of an exported function: %s", paste(unused, collapse = ", "))

if (length(offences)) cat(paste("FAIL", offences), sep = "\n")
cat(sprintf("%d passed, %d failed\n", passed, length(offences)))
quit(save = "no", status = as.integer(length(offences) > 0L))
