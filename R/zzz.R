.onUnload <- function(libpath) {
  stop_all_servers()
  # hooks of a server are called at a fork, whether the package is still there or not
  if (!SERVERS$has_run) library.dynam.unload("voxridge", libpath)
}
