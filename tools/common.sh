#!/bin/sh
# Read by the scripts in this folder (`.`): where things are, one language and encoding, clean-up at the end.
# The caller sets `root`, the top folder of the sources.

# The bare C locale cannot show what R prints in UTF-8; a locale that is set but not installed makes R warn.
if locale -a 2>/dev/null | grep -qix 'c\.utf-\{0,1\}8'; then LC_ALL=C.UTF-8; else LC_ALL=C; fi
LANGUAGE=en
export LC_ALL LANGUAGE

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Source package of a copy of the tree, so that nothing is written into it. Sets `tarball`.
# `build_package --no-resave-data` (or another option) builds the vignettes too.
build_package() {
  mkdir -p "$scratch/build" && ( cd "$scratch/build" && R CMD build "${1:---no-build-vignettes}" --no-manual "$root" ) \
    >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log"; return 1; }
  for tarball in "$scratch"/build/voxridge_*.tar.gz; do [ -f "$tarball" ]; done
}

# One number for everything the installed package is made of.
sources_sum() {
  ( cd "$root" && find DESCRIPTION NAMESPACE R src man inst configure cleanup \
      -type f ! -name '*.o' ! -name '*.so' -print 2>/dev/null | LC_ALL=C sort |
      while IFS= read -r file; do cksum "$file"; done | cksum )
}

# Exports VOXRIDGE_TEST_DATA as an absolute path: as given, or shared/ beside or inside the sources, or empty.
export_test_data() {
  if [ -z "${VOXRIDGE_TEST_DATA:-}" ]; then
    VOXRIDGE_TEST_DATA=
    for place in "$root/../shared" "$root/shared"; do
      if [ -d "$place/cases" ]; then VOXRIDGE_TEST_DATA=$place; break; fi
    done
  fi
  if [ -n "$VOXRIDGE_TEST_DATA" ]; then VOXRIDGE_TEST_DATA=$(cd "$VOXRIDGE_TEST_DATA" && pwd) || exit 1; fi
  export VOXRIDGE_TEST_DATA
}
