# inst/batchtools/slurm.tmpl, as batchtools writes jobs of it.

test_that("a job of the template asks for what was asked for", {
  skip_if_not_installed("batchtools")
  withr::local_options(batchtools.verbose = FALSE)
  registry <- batchtools::makeRegistry(NA, make.default = FALSE)
  job <- function(resources) {
    functions <- batchtools::makeClusterFunctionsSlurm(slurm_template())
    jc <- list2env(list(job.name = "fit", log.file = "run.log", uri = "run.rds", job.hash = "one",
                        resources = resources))
    # what submitJob() hands to sbatch
    template <- environment(functions$submitJob)$template
    readLines(utils::getFromNamespace("cfBrewTemplate", "batchtools")(registry, template, jc))
  }
  full <- job(list(cpus = 4, memory = "8G", walltime = "02:00:00", partition = "long", account = "lab",
                   modules = c("gcc", "R/4.2")))
  expect_identical(full[1L], "#!/bin/bash")
  asked <- sub("#SBATCH ", "", grep("^#SBATCH", full, value = TRUE))
  expect_setequal(asked, c(
    "--job-name=fit", "--output=run.log", "--nodes=1", "--ntasks=1", "--no-requeue", "--cpus-per-task=4", "--mem=8G",
    "--time=02:00:00", "--partition=long", "--account=lab"
  ))
  # sbatch reads no option behind the first command
  expect_lt(max(grep("^#SBATCH", full)), match("set -e", full))
  expect_identical(grep("^module load", full, value = TRUE), c("module load gcc", "module load R/4.2"))
  expect_identical(full[length(full)], "exec Rscript -e 'batchtools::doJobCollection(\"run.rds\")'")
  bare <- job(list())
  expect_setequal(sub("=.*", "", grep("^#SBATCH", bare, value = TRUE)),
                  paste("#SBATCH", c("--job-name", "--output", "--nodes", "--ntasks", "--no-requeue",
                                     "--cpus-per-task")))
  expect_true("#SBATCH --cpus-per-task=1" %in% bare)
  expect_false(any(grepl("module load", bare)))
  expect_false(any(grepl("<%|^##", c(bare, full))))
})
