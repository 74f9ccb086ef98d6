#!/bin/sh
# All tests: layout, vocabulary, style, configure, a build without warnings, generated files, R tests, those on a Slurm
# cluster, C++ tests, the scoring server under sanitizers, the CUDA plugin and the check for machines with a GPU,
# reference cases.
#
#   sh tools/test.sh           everything
#   sh tools/test.sh ridge_cv  only the R tests of the files that match, after the build (slurm: on a cluster)
#
# VOXRIDGE_TEST_DATA: the folder that holds data/, cases/ and checks/ (default: shared/ beside or inside the sources);
# without it the tests on real data and the reference cases are skipped. The last line is "N passed, N failed, N skipped".
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
filter=${1:-}
cd "$root" || exit 1
sh tools/setup.sh test || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
# shellcheck source=tools/common.sh
. "$root/tools/common.sh"
export_test_data
echo "test data: ${VOXRIDGE_TEST_DATA:-none (VOXRIDGE_TEST_DATA is unset)}"
NOT_CRAN=true
# The package is built with its CUDA plugin for one architecture; tests/cuda/run.sh compiles it for all.
VOXRIDGE_CUDA_ARCH=${VOXRIDGE_CUDA_ARCH:-90}
export NOT_CRAN VOXRIDGE_CUDA_ARCH

# ---- suites and their sum --------------------------------------------------------------------

total_passed=0
total_failed=0
total_skipped=0

count() {
  total_passed=$((total_passed + $1))
  total_failed=$((total_failed + $2))
  total_skipped=$((total_skipped + $3))
}

# suite NAME COMMAND...: runs it; its last line says "N passed, N failed[, N skipped]". Without such a line, or with
# a bad exit status and no failure counted, the suite is one failure.
suite() {
  name=$1
  shift
  printf '\n== %s\n' "$name"
  log=$scratch/suite.log
  { "$@" </dev/null 2>&1; echo $? >"$scratch/status"; } | tee "$log"
  status=$(cat "$scratch/status")
  line=$(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$')
  if [ -z "$line" ]; then
    echo "($name did not say how it went; exit status $status)"
    count 0 1 0
    return 1
  fi
  # shellcheck disable=SC2086
  set -- $(printf '%s' "$line" | sed 's/[^0-9][^0-9]*/ /g')
  failures=$2
  if [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; then
    echo "($name ended with status $status)"
    failures=1
  fi
  count "$1" "$failures" "${3:-0}"
  [ "$failures" -eq 0 ]
}

finish() {
  printf '\n%d passed, %d failed, %d skipped\n' "$total_passed" "$total_failed" "$total_skipped"
  [ "$total_failed" -eq 0 ]
  exit $?
}

# ---- the package, built with every warning an error ------------------------------------------

# Headers of others are system headers, so only our own code is judged. The generated RcppExports.cpp casts
# function pointers by design.
strict_makevars() {
  includes=$(Rscript --vanilla -e 'cat(paste("-isystem", Filter(nzchar, c(R.home("include"), Sys.getenv("R_INCLUDE_DIR"),
    vapply(c("BH", "Rcpp", "RcppArmadillo"), function(p) system.file("include", package = p), ""))), collapse = " "))')
  cat <<MAKEVARS
VOXRIDGE_STRICT = $includes -Wall -Wextra -Wpedantic -Werror
CFLAGS = -O2 \$(VOXRIDGE_STRICT)
CXXFLAGS = -O2 \$(VOXRIDGE_STRICT)
CXX17FLAGS = -O2 \$(VOXRIDGE_STRICT)
RcppExports.o: CXX17FLAGS += -Wno-cast-function-type
MAKEVARS
}

install_strictly() {
  if ! build_package; then echo "0 passed, 1 failed"; return 1; fi
  strict_makevars >"$scratch/Makevars"
  mkdir -p "$scratch/library"
  if R_MAKEVARS_USER="$scratch/Makevars" MAKEFLAGS=-j2 \
    R CMD INSTALL --library="$scratch/library" "$tarball" >"$scratch/install.log" 2>&1; then
    grep -E '^(configure|checking)' "$scratch/install.log"
    echo "1 passed, 0 failed"
  else
    grep -nE 'error|Error|ERROR' "$scratch/install.log" | head -n 20
    tail -n 15 "$scratch/install.log"
    echo "0 passed, 1 failed"
    return 1
  fi
}

# The plugin for the host, on which the R tests run the package's GPU path (tests/cuda/run.sh).
host_plugin() {
  VOXRIDGE_TEST_PLUGIN=
  [ -f tests/cuda/run.sh ] && sh tests/cuda/run.sh plugin "$scratch/voxridge_cuda_host.so" >"$scratch/log" 2>&1 &&
    VOXRIDGE_TEST_PLUGIN=$scratch/voxridge_cuda_host.so
  export VOXRIDGE_TEST_PLUGIN
  [ -n "$VOXRIDGE_TEST_PLUGIN" ] || { cat "$scratch/log"; echo "(no plugin for the host: the R tests of the GPU path are skipped)"; }
}

cuda_tests() {
  if [ -f tests/cuda/run.sh ]; then
    # of all architectures, and not on the plugin that the R tests ran on
    ( unset VOXRIDGE_CUDA_ARCH VOXRIDGE_TEST_PLUGIN; sh tests/cuda/run.sh "$scratch/cuda" )
  else
    echo "skip: no tests/cuda/run.sh"
    echo "0 passed, 0 failed, 1 skipped"
  fi
}

gpu_check_tests() {
  if [ -f tests/cuda/gpu_check.sh ]; then
    ( unset VOXRIDGE_TEST_PLUGIN; sh tests/cuda/gpu_check.sh "$scratch" )
  else
    echo "skip: no tests/cuda/gpu_check.sh"
    echo "0 passed, 0 failed, 1 skipped"
  fi
}

# The tests that need a cluster, on one of their own; its ports differ between runs at the same time.
slurm_tests() {
  SLURM_CI_DIR=$scratch/slurm SLURM_CI_PORT=$((20000 + 3 * ($$ % 4000))) timeout 420 \
    sh tools/slurm_single_node.sh run Rscript --no-save tools/run_testthat.R '^slurm$'
  ended=$?
  [ "$ended" -ne 77 ] || { echo "skip: no Slurm cluster on this machine"; echo "0 passed, 0 failed, 1 skipped"; return 0; }
  return "$ended"
}

cpp_tests() {
  if [ -f tests/cpp/run.sh ]; then
    sh tests/cpp/run.sh "$scratch/cpp"
  else
    echo "skip: no tests/cpp/run.sh"
    echo "0 passed, 0 failed, 1 skipped"
  fi
}

server_tests() {
  if [ -f tests/cpp/serve/sanitize.sh ]; then
    sh tests/cpp/serve/sanitize.sh 10 "$scratch/serve"
  else
    echo "skip: no tests/cpp/serve/sanitize.sh"
    echo "0 passed, 0 failed, 1 skipped"
  fi
}

permutation_cases() {
  if [ -n "$VOXRIDGE_TEST_DATA" ] && [ -f "$VOXRIDGE_TEST_DATA/checks/run_permutation_cases.R" ]; then
    Rscript --no-save "$VOXRIDGE_TEST_DATA/checks/run_permutation_cases.R" "$VOXRIDGE_TEST_DATA/cases"
  else
    echo "skip: no permutation cases"
    echo "0 passed, 0 failed, 1 skipped"
  fi
}

reference_cases() {
  if [ -n "$VOXRIDGE_TEST_DATA" ] && [ -f "$VOXRIDGE_TEST_DATA/checks/run_cases.R" ]; then
    Rscript --no-save "$VOXRIDGE_TEST_DATA/checks/run_cases.R" "$VOXRIDGE_TEST_DATA/cases" '^(ridge|banded|predict|scores|split)/'
  else
    echo "skip: no reference cases"
    echo "0 passed, 0 failed, 1 skipped"
  fi
}

if [ -z "$filter" ]; then
  suite "layers" sh tools/check_layers.sh
  suite "vocabulary" Rscript --no-save tools/check_vocabulary.R "$root"
  suite "style" Rscript --no-save tools/check_style.R
  suite "site" Rscript --no-save tools/check_site.R "$root"
  suite "configure" sh tools/check_configure.sh
fi
suite "build" install_strictly || finish
R_LIBS=$scratch/library${R_LIBS:+:$R_LIBS}
export R_LIBS
host_plugin
if [ -n "$filter" ]; then
  case $filter in
    slurm) suite "R tests on Slurm" slurm_tests ;;
    *) suite "R tests ($filter)" Rscript --no-save tools/run_testthat.R "$filter" ;;
  esac
  finish
fi
suite "generated files" sh tools/check_generated.sh
suite "R tests" Rscript --no-save tools/run_testthat.R '^(?!slurm$)'
suite "R tests on Slurm" slurm_tests
suite "C++ tests" cpp_tests
suite "server under load" server_tests
suite "CUDA plugin" cuda_tests
suite "GPU check" gpu_check_tests
suite "reference cases" reference_cases
suite "permutation cases" permutation_cases
finish
