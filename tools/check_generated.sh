#!/bin/sh
# NAMESPACE, man/ and the RcppExports files are what roxygen2 and Rcpp make of the sources.
# The installed package is found through R_LIBS. Works on a copy; ends with "N passed, N failed, N skipped".
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
# shellcheck source=tools/common.sh
. "$root/tools/common.sh"

copy=$scratch/voxridge
mkdir "$copy"
for item in DESCRIPTION NAMESPACE R man src inst; do
  if [ -e "$root/$item" ]; then cp -R "$root/$item" "$copy/"; fi
done
if ! ( cd "$copy" && Rscript --no-save -e 'Rcpp::compileAttributes(".")' ) >"$scratch/log" 2>&1; then
  cat "$scratch/log"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

# Another roxygen2 may write the same page with other words.
wanted=$(sed -n 's/^RoxygenNote: *//p' "$root/DESCRIPTION")
found=$(Rscript --no-save -e 'cat(format(packageVersion("roxygen2")))' 2>/dev/null)
skipped=0
if [ "$wanted" = "$found" ]; then
  if ! ( cd "$copy" && Rscript --no-save -e 'roxygen2::roxygenise(".", load_code = "installed")' ) >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
  fi
  if grep -q '^x \|✖\|Warning' "$scratch/log"; then warnings=yes; else warnings=no; fi
else
  echo "skip: man/ was made by roxygen2 ${wanted:-(none)}, here is ${found:-none}"
  skipped=1
  warnings=no
fi

passed=0
failed=0
for item in NAMESPACE man R/RcppExports.R src/RcppExports.cpp; do
  if changes=$(diff -r "$root/$item" "$copy/$item" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $item is not what its generator writes; run Rcpp::compileAttributes() and roxygen2::roxygenise()"
    printf '%s\n' "$changes" | head -n 10
  fi
done
if [ "$warnings" = yes ]; then
  failed=$((failed + 1))
  echo "FAIL roxygen2 warns"
  cat "$scratch/log"
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
