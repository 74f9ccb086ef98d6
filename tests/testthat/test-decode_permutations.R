env <- function() rlang::current_env()

plan <- function(values, n_permutations = 100L, within = "all", cv = rep(1:2, length.out = length(values)), seed = 1) {
  plan_labels(n_permutations, within, values, as_decode_folds(cv, length(values), env()), seed, env())
}

test_that("arrangements of labels are counted and enumerated, each once", {
  cases <- list(
    list(code = c(1, 1, 2, 2), block = rep(1, 4), m = 6), list(code = c(1, 2, 3), block = rep(1, 3), m = 6),
    list(code = c(1, 2, 1, 2, 2, 1), block = c(1, 1, 2, 2, 3, 3), m = 8),
    list(code = c(1, 2, 1, 3, 1, 1, 2), block = c(1, 2, 1, 2, 2, 1, 1), m = 4 * 6),
    list(code = c(5, 5, 5, 1), block = c("a", "a", "b", "b"), m = 2)
  )
  for (case in cases) {
    code <- match(case$code, sort(unique(case$code)))
    expect_identical(arrangement_number(code, case$block), case$m)
    orders <- arrangement_orders(code, case$block)
    expect_identical(nrow(orders), as.integer(case$m))
    expect_identical(orders[1L, order(orders[1L, ])], seq_along(code))
    labels <- matrix(code[orders], nrow(orders))
    expect_false(any(duplicated(labels)))
    # labels keep to their blocks
    for (r in seq_len(nrow(orders))) expect_identical(case$block[orders[r, ]], case$block)
    expect_true(any(apply(labels, 1L, identical, code)))
  }
  expect_gt(arrangement_number(rep(1:8, 12), rep(1:12, each = 8)), 1e55)
})

test_that("few arrangements are enumerated, many are drawn", {
  few <- plan(c("a", "b", "a", "b"))
  expect_true(few$exact)
  expect_identical(few$m, 6L)
  expect_identical(few$possible, 6)
  many <- plan(rep(c("a", "b"), 10))
  expect_false(many$exact)
  expect_identical(many$m, 100L)
  expect_identical(many$seed, 1)
  expect_null(many$rows$given)
  expect_identical(many$rows$stream, 3L)
  expect_null(plan(1:4, 0L, NULL))
})

test_that("what labels may change places within", {
  values <- rep(c("a", "b"), 6)
  runs <- rep(c("x", "y", "z"), each = 4)
  expect_null(plan(values, 5L)$rows$block)
  expect_identical(plan(values, 5L, NULL, cv = runs)$rows$block, rep(1:3, each = 4))
  expect_match(plan(values, 5L, NULL, cv = runs)$within, "3 labels of cv")
  expect_null(plan(values, 5L, NULL, cv = 3)$rows$block)
  expect_identical(plan(values, 5L, runs, cv = 3)$rows$block, rep(1:3, each = 4))
  expect_identical(plan(values, 5L, factor(runs), cv = 3)$within, "3 blocks")
  expect_refused(plan(values, 5L, "run"), "permute_within", "all")
  expect_refused(plan(values, 5L, 1:3), "permute_within", "12")
  expect_refused(plan(values, 5L, replace(runs, 2, NA)), "permute_within", "row 2")
  expect_refused(plan(values, 0L, "all"), "permute_within")
})

test_that("labels that cannot move are told, or refused", {
  y <- c("a", "a", "b", "b", "a", "b")
  blocks <- c(1, 1, 2, 2, 3, 3)
  expect_warning(got <- plan(y, 10L, blocks), class = "voxridge_warning_constant_labels")
  expect_identical(got$possible, 2)
  cnd <- expect_refused(plan(y, 10L, c(1, 1, 2, 2, 1, 2)), "permute_within", c("M = 1", "all"))
  expect_s3_class(cnd, "voxridge_error_argument")
})

test_that("p are the shares of all arrangements, by literal enumeration", {
  d <- class_problem(n_runs = 3, n_classes = 2, per_class = 1, p = 6, signal = 0.3)
  where <- roi(rep(1:3, 2))
  fit <- decode_quietly(d$X, d$y, cv = d$runs, where = where, n_permutations = 50)
  expect_true(fit$exact)
  expect_identical(fit$n_permutations, 8L)
  expect_null(fit$seed)
  expect_null(fit$p_ci)
  expect_identical(fit$min_p, 1 / 8)
  null <- vapply(0:7, function(r) {
    y <- d$y
    for (run in 1:3) if (bitwAnd(r, 2^(run - 1)) > 0) y[d$runs == run] <- rev(y[d$runs == run])
    decode_quietly(d$X, y, cv = d$runs, where = where)$pooled[, 1L]
  }, numeric(3L))
  expect_equal(fit$p[, 1L], rowMeans(null >= fit$pooled[, 1L] - 1e-9))
  best <- apply(null, 2L, max)
  expect_equal(fit$p_fwer[, 1L], vapply(fit$pooled[, 1L], function(a) mean(best >= a - 1e-9), 0))
  expect_equal(sort(fit$max_null[, 1L]), sort(apply(null, 2L, max)))
  expect_equal(fit$null_mean[, 1L], rowMeans(null))
  expect_equal(fit$q_fdr[, 1L], stats::p.adjust(fit$p[, 1L], "BH"))
})

test_that("random permutations count themselves", {
  d <- class_problem(n_runs = 5, n_classes = 3, p = 12, signal = 0.4)
  fit <- decode_quietly(d$X, d$y, cv = d$runs, where = roi(rep(1:4, 3)), n_permutations = 60, seed = 3,
                        metrics = c("accuracy", "auc"))
  expect_equal(fit$p, (fit$counts + 1) / 61)
  expect_true(all(fit$p_fwer >= fit$p))
  expect_identical(fit$min_p, 1 / 61)
  for (metric in fit$metrics) {
    expect_equal(fit$q_fdr[, metric], stats::p.adjust(fit$p[, metric], "BH"))
    want <- stats::binom.test(fit$counts[1L, metric], 60)$conf.int
    expect_equal(unname(fit$p_ci[1L, , metric]), as.vector(want), tolerance = 1e-8)
  }
  observed <- fit$pooled[, "accuracy"]
  expect_equal(fit$p_fwer[, "accuracy"],
               vapply(observed, function(a) (sum(fit$max_null[, "accuracy"] >= a - 1e-9) + 1) / 61, 0))
})

test_that("SIGINT ends permutations of a single location", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  worker <- start_r(c(sprintf("folder <- %s", deparse(folder)), '
X <- matrix(rnorm(400 * 100), 400)
y <- gl(8, 1, 400)
file.create(file.path(folder, "ready"))
outcome <- tryCatch({
  decode(X, y, cv = rep(1:10, each = 40), n_permutations = 30000, metrics = "auc", progress = FALSE)
  "finished"
}, interrupt = function(cnd) "interrupted")
ended <- as.numeric(Sys.time())
saveRDS(list(outcome = outcome, ended = ended), file.path(folder, "part"))
file.rename(file.path(folder, "part"), file.path(folder, "result"))
'), folder)
  withr::defer(tools::pskill(worker$pid, tools::SIGKILL))
  there <- function(name) function() file.exists(file.path(folder, name))
  expect_true(wait_until(there("ready"), 60))
  Sys.sleep(0.7)
  sent <- as.numeric(Sys.time())
  tools::pskill(worker$pid, tools::SIGINT)
  expect_true(wait_until(there("result"), 30))
  result <- readRDS(file.path(folder, "result"))
  expect_identical(result$outcome, "interrupted")
  expect_lt(result$ended - sent, 1)
})
