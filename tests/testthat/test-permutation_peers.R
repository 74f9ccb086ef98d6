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

# multtest (Bioconductor; Debian r-bioc-multtest) enumerates with B = 0. Its adjusted p are step-down: of the most
# extreme column they are those of the maximum, of the others at most that.
multtest_answers <- function(Y, first, test, side) {
  max_t <- getExportedValue("multtest", "mt.maxT")
  utils::capture.output(got <- max_t(t(Y), as.integer(first), test = test, side = side, B = 0))
  got[order(got$index), ]
}

test_that("all labels of two groups, every direction, as multtest has them", {
  skip_on_cran()
  skip_if_not_installed("multtest")
  for (sizes in list(c(3L, 5L), c(4L, 4L), c(2L, 7L))) {
    n <- sum(sizes)
    first <- withr::with_seed(n, sample(rep(c(TRUE, FALSE), sizes)))
    Y <- withr::with_seed(sizes[1L], matrix(rnorm(n * 12), n))
    sides <- c(two.sided = "abs", greater = "upper", less = "lower")
    for (alternative in names(sides)) {
      for (var_equal in c(TRUE, FALSE)) {
        want <- multtest_answers(Y, first, if (var_equal) "t.equalvar" else "t", sides[[alternative]])
        got <- suppressMessages(two_sample_permutation_test(Y, factor(first, c(TRUE, FALSE)), var_equal,
                                                            alternative = alternative))
        expect_true(got$exact)
        expect_equal(got$statistic, want$teststat, tolerance = 1e-10)
        expect_equal(got$p, want$rawp, tolerance = 1e-12)
        top <- which.max(switch(alternative, two.sided = abs(got$statistic), greater = got$statistic, -got$statistic))
        expect_equal(got$p_fwer[top], want$adjp[top], tolerance = 1e-12)
        expect_true(all(got$p_fwer >= want$adjp - 1e-12))
      }
    }
  }
})

test_that("exact p of two groups, with ties, as coin has them", {
  skip_on_cran()
  skip_if_not_installed("coin")
  first <- c(1, 1, 1, 0, 0, 0, 0, 1, 0)
  Y <- tied_data(9L, 8L, 3)
  Y <- Y[, apply(Y, 2L, stats::sd) > 0]
  coin <- function(name) getExportedValue("coin", name)
  for (alternative in c("two.sided", "greater", "less")) {
    got <- suppressMessages(two_sample_permutation_test(Y, factor(first, 1:0), alternative = alternative))
    want <- apply(Y, 2L, function(y) {
      test <- coin("oneway_test")(y ~ factor(first, 1:0), distribution = coin("exact")(), alternative = alternative)
      as.numeric(coin("pvalue")(test))
    })
    expect_equal(got$p, want, tolerance = 1e-10)
  }
})
