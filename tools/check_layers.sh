#!/bin/sh
# The laws of layout that a machine can see: what may include what, what may not be called, how long a file may be.
# One line per law, then "N passed, N failed". Needs no R and no git.
set -u

cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0

# law TEXT OFFENDERS: holds where there are no offenders (file:line:text, one a line).
law() {
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    printf 'ok   %s\n' "$1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    printf '%s\n' "$2" | head -n 10 | sed 's/^/       /'
  fi
}

# The files below the folders given that have one of the endings, without generated ones.
sources() {
  find "$@" -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) \
    ! -name 'RcppExports*' -print 2>/dev/null | LC_ALL=C sort
}

r_files() { find R -type f -name '*.R' ! -name 'RcppExports.R' -print 2>/dev/null | LC_ALL=C sort; }

# Reads file names; prints file:line:text of lines that match, comments and string contents left out.
in_code() {
  while IFS= read -r file; do
    sed -e 's://.*$::' -e 's/"[^"]*"/""/g' "$file" | grep -nE -e "$1" | sed "s|^|$file:|"
  done
}

in_r_code() {
  while IFS= read -r file; do
    sed -e 's/"[^"]*"/""/g' -e 's/#.*$//' "$file" | grep -nE -e "$1" | sed "s|^|$file:|"
  done
}

# The same on whole lines: includes have their names in quotes.
in_lines() {
  while IFS= read -r file; do grep -nE -e "$1" "$file" | sed "s|^|$file:|"; done
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'

law "nothing under src/core, src/serve or src/cuda includes an R header" \
  "$(sources src/core src/serve src/cuda | in_lines "$include(R\.h|Rinternals|Rdefines|Rmath|Rcpp|RcppArmadillo|RcppEigen|R_ext/|r_[a-z]+\.h)")"
law "<armadillo> is included by src/core/arma.h alone" \
  "$(sources src | grep -v '^src/core/arma\.h$' | in_lines "${include}armadillo(\.h)?[>\"]")"
law "the core does not know the server" "$(sources src/core | in_lines "${include}(\.\./)?serve/")"
law "Boost is for the server alone" "$(sources src | grep -v '^src/serve/' | in_lines "${include}boost/")"
law "RcppArmadillo.h is included nowhere" "$(sources src | in_lines "${include}RcppArmadillo")"
law "the bindings reach the core's numbers through views, not through arma.h" \
  "$(find src -maxdepth 1 \( -name 'bind_*.cpp' -o -name 'r_*' \) -print 2>/dev/null | in_lines "${include}(core/)?arma\.h")"
law "no generator of the standard library, Armadillo or C" \
  "$(sources src | in_code '\<(std::)?(rand|srand|random_device|mt19937(_64)?|minstd_rand0?|default_random_engine|ranlux[0-9a-z_]+)\>|arma_rng|arma::rand[nuig]?\>|set_seed')"
law "the core does not use <random>" "$(sources src | in_lines "${include}random>")"
law "nothing under src prints" \
  "$(sources src | in_code '\<(std::)?(cout|cerr|clog)\>|(^|[^a-z_])(printf|puts|putchar|fprintf|perror) *\(|Rprintf|REprintf|Rcout|Rcerr')"
law "nothing under src ends the process" \
  "$(sources src | in_code '(^|[^a-zA-Z_.>])(abort|exit|_Exit|quick_exit|assert|terminate) *\(|std::(abort|exit|terminate)')"
law "no OpenMP" "$(sources src | in_code '#[[:space:]]*pragma[[:space:]]+omp|\<omp_[a-z_]+'; sources src | in_lines "${include}omp\.h")"
law "make files without GNU extensions" \
  "$(find src tests -name 'Makevars*' -print 2>/dev/null | in_lines '\+=|:=|\?=|\$\((shell|wildcard|patsubst|foreach)|^(ifeq|ifneq|ifdef|ifndef|endif)|^%|^\.[a-z]+\.o *:.*%')"
law "no optimisation, warning, standard or machine flags in make files" \
  "$(find src -name 'Makevars.*' -print 2>/dev/null | in_lines '(^|[ =])-(O[0-3s]|W[a-z]|std=|g([0-9 ]|$)|march|mtune|lopenblas)')"
law "R code raises classed conditions, not stop(), warning() or message()" \
  "$(r_files | in_r_code '(^|[^._a-zA-Z])(stop|warning|message) *\(')"
law "R code does not attach packages" "$(r_files | in_r_code '(^|[^._a-zA-Z])(library|require) *\(')"

too_long() { while IFS= read -r file; do awk -v most="$1" 'END { if (NR > most) print FILENAME ": " NR " lines" }' "$file"; done; }
law "R files have at most 400 lines" "$(r_files | too_long 400)"
law "C++ files have at most 300 lines" "$({ sources src; sources tests; } | too_long 300)"

defined_twice() {
  while IFS= read -r file; do sed -n 's/^\([A-Za-z_.][A-Za-z0-9_.]*\) <- function.*/\1/p' "$file"; done | LC_ALL=C sort | uniq -d
}
law "no R function is defined twice" "$(r_files | defined_twice)"

untested() {
  while IFS= read -r file; do
    name=$(basename "$file" .R)
    case $name in zzz | voxridge-package | import-standalone-*) continue ;; esac
    [ -f "tests/testthat/test-$name.R" ] || echo "$file has no tests/testthat/test-$name.R"
  done
}
law "every R file has its test file" "$(r_files | untested)"

# The places of one machine, and words of how the work was done. (The brackets keep this line from matching itself.)
places='(^|[^a-zA-Z0-9_.])/(wor[k]|far[m]|hom[e]|User[s]|roo[t])/[A-Za-z.]|/tmp/[b]ash|[s]ub-?agents?\>|\<[t]his session\>|[b]efore-stop'
texts() {
  find . -name .git -prune -o -type f \( -name '*.R' -o -name '*.Rd' -o -name '*.Rmd' -o -name '*.md' -o -name '*.cpp' \
    -o -name '*.h' -o -name '*.cu' -o -name '*.sh' -o -name '*.in' -o -name '*.txt' -o -name '*.yml' -o -name '*.csv' \
    -o -name '*.py' -o -name DESCRIPTION -o -name NAMESPACE -o -name configure -o -name cleanup -o -path './.ci/*' \) -print |
    grep -vE '^\./(\.git|shared|venv|\.venv|[^/]*\.Rcheck)/' | LC_ALL=C sort
}
law "texts name no folder of one machine" "$(texts | in_lines "$places")"

scripts() { find . -name .git -prune -o -type f \( -name '*.sh' -o -name configure -o -name cleanup \) -print | LC_ALL=C sort; }
bad_scripts() {
  while IFS= read -r file; do
    case $(head -n 1 "$file") in *bash*) continue ;; esac
    sh -n "$file" 2>&1
    if command -v checkbashisms >/dev/null 2>&1; then checkbashisms -f -p "$file" 2>&1; fi
  done
}
law "shell scripts are POSIX sh" "$(scripts | bad_scripts)"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
