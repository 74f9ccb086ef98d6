# Programs that read and write NIfTI and share no code with the package: nibabel (Python) and nifti_tool (C).

# The Python that imports nibabel, looked for once; NA where there is none.
python_with_nibabel <- local({
  found <- NULL
  function() {
    if (is.null(found)) {
      candidates <- unique(c(Sys.which("python3"), "/usr/bin/python3"))
      works <- function(python) {
        nzchar(python) && file.exists(python) &&
          suppressWarnings(system2(python, c("-c", shQuote("import nibabel")), stdout = FALSE, stderr = FALSE)) == 0L
      }
      found <<- c(Filter(works, candidates), NA)[[1L]]
    }
    found
  }
})

skip_without_nibabel <- function() {
  testthat::skip_on_cran()
  testthat::skip_if(is.na(python_with_nibabel()), "no python3 imports nibabel (Debian: python3-nibabel)")
}

skip_without_nifti_tool <- function() {
  testthat::skip_on_cran()
  testthat::skip_if(!nzchar(Sys.which("nifti_tool")), "nifti_tool is not installed (Debian: nifti-bin)")
}

run_python <- function(code, args, folder) {
  script <- file.path(folder, "script.py")
  writeLines(code, script)
  out <- suppressWarnings(system2(python_with_nibabel(), shQuote(c(script, args)), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(out, "status"))) stop(paste(out, collapse = "\n"))
  out
}

# What nibabel finds in files: for each a list of dim, values (double), affine, header (named fields) and descrip, or of
# error.
nibabel_read <- function(paths) {
  folder <- withr::local_tempdir()
  list_file <- file.path(folder, "list")
  writeLines(enc2utf8(paths), list_file, useBytes = TRUE)
  run_python(NIBABEL_READ, c(list_file, folder), folder)
  lapply(seq_along(paths), function(k) {
    lines <- readLines(file.path(folder, paste0(k, ".txt")), encoding = "UTF-8")
    if (startsWith(lines[1L], "error")) return(list(error = lines[1L]))
    text <- function(name) sub("^[^ ]* ", "", grep(paste0("^", name, " "), lines, value = TRUE))
    numbers <- function(name) as.double(strsplit(text(name), " ")[[1L]])
    dim <- as.integer(numbers("dim"))
    fields <- c("pixdim", "qform_code", "sform_code", "units", "datatype")
    list(
      dim = dim,
      values = readBin(file.path(folder, paste0(k, ".bin")), "double", prod(dim), 8L, endian = "little"),
      affine = matrix(numbers("affine"), 4L, byrow = TRUE),
      header = sapply(fields, numbers, simplify = FALSE),
      descrip = text("descrip")
    )
  })
}

NIBABEL_READ <- '
import sys, warnings
import numpy as np, nibabel as nib
warnings.simplefilter("ignore")
folder = sys.argv[2]
for k, path in enumerate(open(sys.argv[1], encoding="utf-8").read().splitlines(), 1):
    with open("%s/%d.txt" % (folder, k), "w", encoding="utf-8") as out:
        try:
            image = nib.load(path)
            values = np.asanyarray(image.dataobj).astype("<f8")
            h = image.header
            raw = lambda x: " ".join(repr(float(v)) for v in np.ravel(x))
            out.write("dim %s\\naffine %s\\n" % (raw(image.shape), raw(image.affine)))
            for field in "pixdim qform_code sform_code datatype".split():
                out.write("%s %s\\n" % (field, raw(h[field])))
            out.write("units %s\\n" % raw(h["xyzt_units"]))
            out.write("descrip %s\\n" % h["descrip"].item().split(b"\\0")[0].decode("utf-8", "replace"))
            values.ravel(order="F").tofile("%s/%d.bin" % (folder, k))
        except Exception as problem:
            out.seek(0)
            out.truncate()
            out.write("error %s\\n" % problem)
'

# Files of every type, byte order, version and container, written by nibabel: a data frame of path, type, endian,
# version and container. All hold the same places: the ends of the type, 0, 1 and counting numbers.
nibabel_write_all <- function(folder) {
  out <- run_python(NIBABEL_WRITE, folder, folder)
  table <- utils::read.table(text = out, col.names = c("path", "type", "endian", "version", "container"))
  table$path <- file.path(folder, table$path)
  table
}

NIBABEL_WRITE <- '
import sys
import numpy as np, nibabel as nib
folder = sys.argv[1]
affine = np.array([[-2, 0.25, 0, 30], [0.5, 2, 0.125, -40], [0, -0.25, 3, -16.5], [0, 0, 0, 1]])
makers = {("nii", 1): nib.Nifti1Image, ("nii", 2): nib.Nifti2Image,
          ("img", 1): nib.Nifti1Pair, ("img", 2): nib.Nifti2Pair}
for name in "uint8 int16 int32 float32 float64 int8 uint16 uint32 int64 uint64".split():
    type = np.dtype(name)
    data = np.arange(60, dtype=name).reshape((5, 4, 3, 1), order="F")
    data = np.concatenate([data, data[::-1] * 2], axis=3)
    if type.kind == "f":
        data[0, 0, 0, 0], data[1, 0, 0, 0], data[2, 0, 0, 1] = np.finfo(type).max, np.finfo(type).tiny, -1 / 3
        data[3, 0, 0, 0], data[4, 0, 0, 0], data[4, 3, 2, 1] = np.nan, np.inf, -np.inf
    else:
        low, high = np.iinfo(type).min, np.iinfo(type).max
        if type.itemsize == 8:
            low, high = (0 if type.kind == "u" else -2**53), 2**53
        data[0, 0, 0, 0], data[4, 3, 2, 1], data[2, 1, 0, 1] = low, high, high - 1
    for order, endian in (("<", "little"), (">", "big")):
        for (container, version), make in makers.items():
            for ending in ("", ".gz"):
                header = make.header_class(endianness=order)
                header.set_data_dtype(type)
                header.set_xyzt_units("mm", "msec")
                header["descrip"] = name.encode()
                image = make(data.astype(type.newbyteorder(order)), affine, header, dtype=type)
                image.header.set_zooms((2.5, 2.5, 3, 1500))
                image.set_sform(affine, 3)
                path = "%s_%s_%d.%s%s" % (name, endian, version, container, ending)
                image.to_filename("%s/%s" % (folder, path))
                print(path, name, endian, version, container + ending)
'

# What nifti_tool says with -check_hdr and -check_nim, where it is not content.
nifti_tool_complaints <- function(paths) {
  unlist(lapply(c("-check_hdr", "-check_nim"), function(check) {
    out <- suppressWarnings(system2("nifti_tool", c(check, "-infiles", shQuote(paths)), stdout = TRUE, stderr = TRUE))
    good <- grepl("IS GOOD", out)
    c(out[!good], if (sum(good) != length(paths)) paste(check, "was not content with every file"))
  }))
}

# One field as nifti_tool shows it.
nifti_tool_field <- function(path, field) {
  out <- system2("nifti_tool", c("-disp_hdr", "-field", field, "-infiles", shQuote(path)), stdout = TRUE)
  line <- grep(paste0("^ *", field, " "), out, value = TRUE)
  strsplit(trimws(line), " +")[[1L]][-(1:3)]
}
