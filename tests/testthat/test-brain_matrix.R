# Tests of R/brain_matrix.R.
