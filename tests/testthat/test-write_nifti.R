# Tests of R/write_nifti.R.
