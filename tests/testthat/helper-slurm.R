# Tests on the cluster of tools/slurm_single_node.sh, which sets SLURM_CONF and SLURM_CI_TOOL.

# Not on a real cluster, where other jobs of the user are: the tests kill nodes and cancel jobs.
skip_without_slurm <- function() {
  testthat::skip_on_cran()
  testthat::skip_if(!all(nzchar(Sys.getenv(c("SLURM_CONF", "SLURM_CI_TOOL")))),
                    "SLURM_CONF or SLURM_CI_TOOL is unset (tools/slurm_single_node.sh sets them)")
  testthat::skip_if_not_installed("future.batchtools")
}

slurm_template <- function() system.file("batchtools", "slurm.tmpl", package = "voxridge", mustWork = TRUE)

# Two workers of Slurm, which take a node each; batchtools keeps its files in `folder`.
local_slurm <- function(folder, cpus = 2L, .local_envir = parent.frame()) {
  withr::local_dir(folder, .local_envir = .local_envir)
  local_workers(
    future.batchtools::batchtools_slurm, workers = 2L, template = slurm_template(),
    resources = list(cpus = cpus, memory = "800M", walltime = 5), .local_envir = .local_envir
  )
}

# For the shell: ends a worker of the run in `dir` that is still there. Every worker leaves a file named after it.
kill_slurm_worker <- function(dir) {
  sprintf("for file in %s/nodes/*_*.rds; do pid=${file##*_}; kill -9 ${pid%%.rds} && break; done", shQuote(dir))
}

slurm_tool <- function(command) paste("sh", shQuote(Sys.getenv("SLURM_CI_TOOL")), command)
