# Tests of R/brain_mask.R.
