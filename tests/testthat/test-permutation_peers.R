# scipy.stats.permutation_test, all arrangements. It compares doubles with a tolerance relative to the observed value:
# data without ties.

SCIPY <- '
import sys
import numpy as np
from scipy import stats
folder = sys.argv[1]
read = lambda name: np.loadtxt(folder + "/" + name, ndmin=2)
Y, x = read("Y"), read("x")[:, 0]
g = read("g")[:, 0] == 1
mean = lambda y, axis=-1: np.mean(y, axis=axis)
gap = lambda a, b, axis=-1: np.mean(a, axis=axis) - np.mean(b, axis=axis)
correlation = lambda a: stats.pearsonr(a, y).statistic
out = []
for j in range(Y.shape[1]):
    y = Y[:, j]
    for tail in ("two-sided", "greater", "less"):
        run = lambda data, f, kind, vec: stats.permutation_test(
            data, f, permutation_type=kind, vectorized=vec, n_resamples=np.inf, alternative=tail).pvalue
        out.append([run((y,), mean, "samples", True), run((y[g], y[~g]), gap, "independent", True),
                    run((x,), correlation, "pairings", False)])
np.savetxt(folder + "/out", np.array(out), fmt="%.17g")
'

python_with_scipy <- function() {
  candidates <- unique(c(Sys.which("python3"), "/usr/bin/python3"))
  works <- function(python) {
    nzchar(python) && file.exists(python) &&
      suppressWarnings(system2(python, c("-c", shQuote("from scipy.stats import permutation_test")), stdout = FALSE,
                               stderr = FALSE)) == 0L
  }
  c(Filter(works, candidates), NA)[[1L]]
}

test_that("all arrangements, every direction, as scipy has them", {
  skip_on_cran()
  python <- python_with_scipy()
  skip_if(is.na(python), "no python3 has scipy.stats.permutation_test (Debian: python3-scipy)")
  folder <- withr::local_tempdir()
  Y <- withr::with_seed(1, matrix(rexp(6 * 4) - 0.6, 6))
  x <- withr::with_seed(2, rnorm(6))
  g <- c(1, 1, 0, 0, 0, 0)
  for (name in c("Y", "x", "g")) {
    utils::write.table(format(get(name), digits = 17), file.path(folder, name), quote = FALSE, row.names = FALSE,
                       col.names = FALSE)
  }
  writeLines(SCIPY, file.path(folder, "script.py"))
  script <- shQuote(c(file.path(folder, "script.py"), folder))
  said <- suppressWarnings(system2(python, script, stdout = TRUE, stderr = TRUE))
  expect_null(attr(said, "status"), info = paste(said, collapse = "\n"))
  want <- array(t(as.matrix(utils::read.table(file.path(folder, "out")))), c(3, 3, 4))  # test, tail, column
  tails <- c("two.sided", "greater", "less")
  for (i in 1:3) {
    got <- suppressMessages(list(
      one_sample_permutation_test(Y, alternative = tails[i], two_sided = "double"),
      two_sample_permutation_test(Y, factor(g, c(1, 0)), alternative = tails[i], two_sided = "double"),
      correlation_permutation_test(x, Y, alternative = tails[i], two_sided = "double")
    ))
    for (k in 1:3) expect_equal(got[[k]]$p, want[k, i, ], tolerance = 1e-12)
  }
})
