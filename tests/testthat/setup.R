# Two threads in every test; the environment of the person who runs them decides nothing.
withr::local_options(voxridge.threads = 2L, cli.progress_show_after = 0, .local_envir = teardown_env())
withr::local_envvar(VOXRIDGE_NUM_THREADS = NA, .local_envir = teardown_env())
