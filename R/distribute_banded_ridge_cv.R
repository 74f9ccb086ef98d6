BANDED_STAGES <- list()
