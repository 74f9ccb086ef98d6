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

# Out-of-fold decisions of RidgeClassifier or a logistic regression (one against the rest), folds by group, for each of
# the labellings (rows of `codes`, counted from 0): a list of samples x columns.
sklearn_decisions <- function(X, codes, groups, alpha, scaled = FALSE, model = "ridge", envir = parent.frame()) {
  folder <- withr::local_tempdir()
  write <- function(x, name) utils::write.table(format(x, digits = 17), file.path(folder, name), quote = FALSE,
                                                row.names = FALSE, col.names = FALSE)
  write(X, "X")
  write(codes, "codes")
  write(matrix(groups), "groups")
  script <- file.path(folder, "script.py")
  writeLines(SKLEARN_DECISIONS, script)
  args <- c(script, folder, format(alpha, digits = 17), as.integer(scaled), model)
  out <- suppressWarnings(system2(python_with_sklearn(), shQuote(args), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  lapply(seq_len(nrow(codes)), function(k) {
    unname(as.matrix(utils::read.table(file.path(folder, paste0("decision", k - 1L)))))
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
folder, alpha, scaled, kind = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "1", sys.argv[4]
X = np.loadtxt(folder + "/X", ndmin=2)
codes = np.loadtxt(folder + "/codes", ndmin=2).astype(int)
groups = np.loadtxt(folder + "/groups").astype(int)
for k, y in enumerate(codes):
    if kind == "ridge":
        model = RidgeClassifier(alpha=alpha, solver="cholesky")
    else:
        model = OneVsRestClassifier(LogisticRegression(C=1 / alpha, tol=1e-12, max_iter=100000))
    if scaled:
        model = make_pipeline(StandardScaler(), model)
    columns = 1 if y.max() == 1 else y.max() + 1
    out = np.zeros((len(y), columns))
    for train, test in LeaveOneGroupOut().split(X, y, groups):
        out[test] = model.fit(X[train], y[train]).decision_function(X[test]).reshape(len(test), -1)
    np.savetxt("%s/decision%d" % (folder, k), out, fmt="%.17g")
'
