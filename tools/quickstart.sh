#!/bin/sh
# Installs what is missing, builds and installs voxridge, and fits one ridge model per voxel.
#
#   sh tools/quickstart.sh                        on data the package simulates
#   sh tools/quickstart.sh X.csv Y.csv [runs.csv] on yours (.csv, .tsv or .rds)
#
# X: samples x features, Y: samples x voxels, runs: one label per sample. Prints a table and saves
# voxridge-quickstart.png in the current folder. VOXRIDGE_LIB names another library to install into.
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
say() { printf 'quickstart: %s\n' "$*" >&2; }

case ${1:-} in
  -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
if [ $# -eq 1 ] || [ $# -gt 3 ]; then
  say "give X and Y (and the runs), or nothing. Usage: sh tools/quickstart.sh [X.csv Y.csv [runs.csv]]"
  exit 2
fi
for file in "$@"; do
  [ -r "$file" ] || { say "cannot read the file '$file'"; exit 2; }
done

sh "$root/tools/setup.sh" quickstart || exit 1
# shellcheck source=tools/common.sh
. "$root/tools/common.sh"

# The library R looks into by itself, so that library(voxridge) works afterwards.
library=${VOXRIDGE_LIB:-$(Rscript --vanilla -e 'cat(path.expand(strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1]][1]))')}
if ! { mkdir -p "$library" 2>/dev/null && [ -w "$library" ]; }; then
  say "'$library' cannot be written; installing into a temporary library"
  library=$scratch/library
  mkdir -p "$library"
fi
library=$(cd "$library" && pwd) || exit 1

stamp=$library/.voxridge-sources
if [ -d "$library/voxridge" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(sources_sum)" ]; then
  say "voxridge is up to date in $library"
else
  say "building voxridge and installing it into $library (a minute or two)"
  build_package || { say "the package could not be built"; exit 1; }
  rm -f "$stamp"
  MAKEFLAGS=-j2 R CMD INSTALL --library="$library" "$tarball" >"$scratch/install.log" 2>&1 ||
    { tail -n 30 "$scratch/install.log"; say "the package could not be installed"; exit 1; }
  sources_sum >"$stamp"
fi

R_LIBS=$library${R_LIBS:+:$R_LIBS} Rscript --no-save --no-restore "$root/tools/quickstart.R" "$@"
