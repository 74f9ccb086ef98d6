# Tests of R/images.R.
