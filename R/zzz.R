.onUnload <- function(libpath) {
  library.dynam.unload("voxridge", libpath)
}
