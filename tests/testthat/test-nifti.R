# Tests of R/nifti.R.
