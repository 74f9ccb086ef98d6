# scikit-learn, which shares no code with the package.

# The Python that imports it: VOXRIDGE_PYTHON, or the system's; NA where there is none.
python_with_sklearn <- local({
  found <- NULL
  function() {
    if (is.null(found)) {
      candidates <- unique(c(Sys.getenv("VOXRIDGE_PYTHON"), Sys.which("python3"), "/usr/bin/python3"))
      works <- function(python) {
        nzchar(python) && file.exists(python) &&
          suppressWarnings(system2(python, c("-c", shQuote("import sklearn")), stdout = FALSE, stderr = FALSE)) == 0L
      }
      found <<- c(Filter(works, candidates), NA)[[1L]]
    }
    found
  }
})

skip_without_sklearn <- function() {
  testthat::skip_on_cran()
  testthat::skip_if(is.na(python_with_sklearn()), "no python3 imports sklearn (Debian: python3-sklearn)")
}

# Out-of-fold decisions, folds by group. A job is a list of X, codes (a labelling a row, counted from 1), groups, alpha,
# scaled, model ("ridge" for RidgeClassifier, "logistic" for one against the rest). Per job a list over labellings of
# samples x columns.
sklearn_decisions <- function(jobs) {
  folder <- withr::local_tempdir()
  write <- function(x, name, k) {
    utils::write.table(format(x, digits = 17), file.path(folder, paste0(name, k)), quote = FALSE, row.names = FALSE,
                       col.names = FALSE)
  }
  for (k in seq_along(jobs)) {
    job <- jobs[[k]]
    write(job$X, "X", k)
    write(job$codes - 1L, "codes", k)
    write(matrix(job$groups), "groups", k)
    settings <- c(format(job$alpha, digits = 17), as.integer(job$scaled), job$model)
    writeLines(settings, file.path(folder, paste0("job", k)))
  }
  script <- file.path(folder, "script.py")
  writeLines(SKLEARN_DECISIONS, script)
  out <- suppressWarnings(system2(python_with_sklearn(), shQuote(c(script, folder, length(jobs))), stdout = TRUE,
                                  stderr = TRUE))
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  lapply(seq_along(jobs), function(k) {
    lapply(seq_len(nrow(jobs[[k]]$codes)), function(r) {
      unname(as.matrix(utils::read.table(file.path(folder, paste0("decision", k, "_", r - 1L)))))
    })
  })
}

SKLEARN_DECISIONS <- '
import sys
import numpy as np
from sklearn.linear_model import RidgeClassifier, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import LeaveOneGroupOut
folder = sys.argv[1]
for job in range(1, int(sys.argv[2]) + 1):
    alpha, scaled, kind = open("%s/job%d" % (folder, job)).read().split()
    X = np.loadtxt("%s/X%d" % (folder, job), ndmin=2)
    codes = np.loadtxt("%s/codes%d" % (folder, job), ndmin=2).astype(int)
    groups = np.loadtxt("%s/groups%d" % (folder, job)).astype(int)
    for k, y in enumerate(codes):
        if kind == "ridge":
            model = RidgeClassifier(alpha=float(alpha), solver="cholesky")
        else:
            model = OneVsRestClassifier(LogisticRegression(C=1 / float(alpha), tol=1e-12, max_iter=100000))
        if scaled == "1":
            model = make_pipeline(StandardScaler(), model)
        columns = 1 if y.max() == 1 else y.max() + 1
        out = np.zeros((len(y), columns))
        for train, test in LeaveOneGroupOut().split(X, y, groups):
            out[test] = model.fit(X[train], y[train]).decision_function(X[test]).reshape(len(test), -1)
        np.savetxt("%s/decision%d_%d" % (folder, job, k), out, fmt="%.17g")
'
