#!/bin/sh
# Builds the core and its tests with the address and undefined-behaviour sanitizers and runs them.
#
#   sh tests/cpp/run.sh [BUILD_DIR] [gtest options]
#
# BUILD_DIR (default: VOXRIDGE_BUILD_DIR, else a new temporary folder) keeps the object files, so a second run builds
# only what changed. The last line is "N passed, N failed".
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../.." && pwd) || exit 1
build=${1:-${VOXRIDGE_BUILD_DIR:-}}
[ "$#" -gt 0 ] && shift
if [ -z "$build" ]; then
  build=$(mktemp -d) || exit 1
  trap 'rm -rf "$build"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
fi
mkdir -p "$build" || exit 1
build=$(cd "$build" && pwd) || exit 1

broken() { printf '%s\n' "$*"; echo "0 passed, 1 failed"; exit 1; }
links() { printf 'int main() { return 0; }\n' | g++ -x c++ -o "$build/probe" - "$@" >/dev/null 2>&1; }

# Plain Armadillo lies in the package RcppArmadillo, since version 15 in a folder of its own.
package=$(Rscript --vanilla -e 'cat(system.file("include", package = "RcppArmadillo"))')
includes=
for folder in "$package/current" "$package"; do
  if [ -f "$folder/armadillo" ]; then includes="-isystem $folder"; break; fi
done
[ -n "$includes" ] || broken "no armadillo header in the R package RcppArmadillo"

if links -lopenblas; then libs=-lopenblas; else libs="-llapack -lblas"; fi
libs="$libs -lz"

if links -lgtest_main -lgtest -lpthread; then
  libs="-lgtest_main -lgtest $libs"
elif [ -f /usr/src/googletest/googletest/src/gtest-all.cc ]; then
  source=/usr/src/googletest/googletest
  [ -f "$build/libgtest.a" ] || {
    for part in gtest-all gtest_main; do
      g++ -std=c++17 -O1 -isystem "$source/include" -I"$source" -c -o "$build/$part.o" "$source/src/$part.cc" || break
    done
    ar rcs "$build/libgtest.a" "$build/gtest-all.o" "$build/gtest_main.o"
  } || broken "GoogleTest could not be built from $source"
  includes="$includes -isystem $source/include"
  libs="$build/libgtest.a $libs"
else
  broken "no GoogleTest: install libgtest-dev"
fi

make -j2 -s -f "$here/Makefile" BUILD="$build" ROOT="$root" INCLUDES="$includes" LIBS="$libs" ||
  broken "the core or its tests did not build"

# Two halves side by side. BLAS gets two threads, so that setting their number can be tested.
half() {
  GTEST_SHARD_INDEX=$1
  export GTEST_SHARD_INDEX
  log=$build/log$1
  shift
  "$build/core_tests" --gtest_color=no "$@" >"$log" 2>&1
  echo "exit status $?" >>"$log"
}
GTEST_TOTAL_SHARDS=2 OPENBLAS_NUM_THREADS=2 UBSAN_OPTIONS=print_stacktrace=1
export GTEST_TOTAL_SHARDS OPENBLAS_NUM_THREADS UBSAN_OPTIONS
half 0 "$@" &
half 1 "$@"
wait

count() { cat "$build/log0" "$build/log1" | grep -cE "$1"; }
passed=$(count '^\[       OK \]')
failed=$(count '^\[  FAILED  \] .*\([0-9]+ ms\)$')
# A half that ends early (a sanitizer's report, a crash) or reports leaks at its end is a failure that no test counted.
for log in "$build/log0" "$build/log1"; do
  case $(tail -n 1 "$log") in
    'exit status 0') ;;
    'exit status 1') grep -qE '^ *[0-9]+ FAILED TESTS?' "$log" || { failed=$((failed + 1)); tail -n 60 "$log"; } ;;
    *) failed=$((failed + 1)); tail -n 60 "$log" ;;
  esac
done
[ "$failed" -eq 0 ] || sed -n '/^\[ RUN /h; /^\[ RUN /!H; /^\[  FAILED  \].*ms)$/{g;p;}' "$build/log0" "$build/log1" | head -n 200
sed -n 's/^table //p' "$build/log0" "$build/log1"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
