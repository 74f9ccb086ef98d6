# What R does by itself for src/<package>.so, and the CUDA plugin in a folder of its own: R must not take it for the
# package's library. The record of the build and the plugin's interface are installed with or without the plugin.
put <- function(files, folder) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  file.copy(files[file.exists(files)], folder, overwrite = TRUE)
}
libs <- file.path(R_PACKAGE_DIR, paste0("libs", R_ARCH))
library_file <- paste0(R_PACKAGE_NAME, SHLIB_EXT)
put(c(library_file, "symbols.rds"), libs)
strip <- Sys.getenv("R_STRIP_SHARED_LIB")
if (nzchar(strip) && isTRUE(as.logical(Sys.getenv("_R_SHLIB_STRIP_", "FALSE")))) {
  system(paste(strip, shQuote(file.path(libs, library_file))))
}
put(c("cuda/voxridge_cuda.so", "cuda/build.dcf", "cuda/abi.h"), file.path(R_PACKAGE_DIR, "cuda"))
