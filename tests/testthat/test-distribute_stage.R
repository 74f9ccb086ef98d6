test_that("units are dealt round-robin, and alone where few are left", {
  expect_identical(deal_units(1:7, 3L, FALSE), list(c(1L, 4L, 7L), c(2L, 5L), c(3L, 6L)))
  expect_identical(deal_units(c(4L, 9L), 2L, TRUE), list(4L, 9L))
  expect_length(deal_units(1:100, 2L, TRUE), 2L)
})

test_that("what goes along with a future stays small", {
  settings <- list(n_threads = 1L, memory_bytes = NULL, share_memory = TRUE, attempt = 1L, careful = FALSE, slots = 1L,
                   token = new_token())
  globals <- unit_globals(list(dir = tempdir(), key = "key"), "batches", 1:10000, settings)
  expect_lt(length(serialize(globals, NULL)), 1e5)
})

test_that("workers that do not see the folder are an error that says so", {
  report <- work_on_units(file.path(tempdir(), "nowhere"), "key", "batches", 1L, list())
  expect_identical(report$problem$what, "dir_not_shared")
  expect_kind(stop_where_final(join_reports(list(report), list(1L)), NULL), "dir_not_shared")
})

test_that("nodes whose BLAS is wrong are left out, and all of them are an error", {
  bad <- list(host = "n1", pid = 1L, problem = list(what = "blas_self_test", message = "its BLAS is wrong"))
  good <- list(host = "n2", pid = 2L, problem = NULL)
  expect_warning(stop_where_final(join_reports(list(bad, good), list(1L, 2L)), NULL),
                 class = "voxridge_warning_blas_self_test")
  expect_kind(stop_where_final(join_reports(list(bad, bad), list(1L, 2L)), NULL), "blas_self_test")
})

test_that("a plan without workers and forks of an unsafe BLAS are refused", {
  expect_identical(n_slots(5, NULL), as.integer(min(5, future::nbrOfWorkers())))
  skip_on_os("windows")
  skip_if_not(future::supportsMulticore(), "no multicore here")
  before <- future::plan(future::multicore, workers = 2)
  on.exit(future::plan(before))
  kind <- core_blas_info()$parallel
  if (kind %in% c("serial", "pthread")) {
    expect_null(check_forks(NULL))
    d <- random_problem(30, 5, 1100, 2)
    got <- distribute_quietly(d$X, d$Y, n_targets_batch = 512, n_threads = 1)
    future::plan(future::sequential)
    expect_identical(answers_of(got), answers_of(distribute_quietly(d$X, d$Y, n_threads = 1)))
  } else {
    expect_kind(check_forks(NULL), "fork_unsafe")
  }
})

test_that("USER is there for the scheduler, and is put back", {
  withr::local_envvar(USER = NA)
  restore <- set_user()
  expect_identical(Sys.getenv("USER"), Sys.info()[["user"]])
  restore()
  expect_identical(Sys.getenv("USER"), "")
  withr::local_envvar(USER = "somebody")
  set_user()()
  expect_identical(Sys.getenv("USER"), "somebody")
})

test_that("the plan is the user's after workers were renewed", {
  before <- future::plan(future::multisession, workers = 1)
  on.exit(future::plan(before))
  renew_plan()
  expect_s3_class(future::plan(), "multisession")
})
