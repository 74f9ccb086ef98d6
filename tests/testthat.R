options(voxridge.threads = 2L)
library(testthat)
library(voxridge)

test_check("voxridge")
