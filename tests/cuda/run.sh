#!/bin/sh
# Tests of the CUDA plugin without a device: its text compiled for the host, under the sanitizers; then, where there is
# an nvcc, the plugin itself.
#
#   sh tests/cuda/run.sh [BUILD_DIR]      everything
#   sh tests/cuda/run.sh plugin OUT.so    only the plugin for the host, to run the package on in place of the real one
#
# NVCC names the compiler, VOXRIDGE_CUDA_ARCH the architectures ("75 80 90"; default: all that are meant to be supported
# and that this nvcc knows). BUILD_DIR (default: VOXRIDGE_BUILD_DIR, else a new temporary folder) keeps what was built
# for the host. The last line is "N passed, N failed, N skipped".
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../.." && pwd) || exit 1

links() { printf 'int main() { return 0; }\n' | g++ -x c++ -o /dev/null - "$@" >/dev/null 2>&1; }
if links -lopenblas; then blas=-lopenblas; else blas="-llapack -lblas"; fi

host_plugin() {
  # shellcheck disable=SC2086
  g++ -std=c++17 -O1 -ffp-contract=off -fPIC -shared -fvisibility=hidden -Wall -Wextra -Wpedantic -Werror \
    -Wl,--version-script="$root/src/cuda/exports.map" -I"$root/src" -o "$1" "$here/plugin_cpu.cpp" $blas -lpthread
}

if [ "${1:-}" = plugin ]; then
  [ "$#" -eq 2 ] || { echo "usage: run.sh plugin OUT.so"; exit 64; }
  host_plugin "$2"
  exit
fi

build=${1:-${VOXRIDGE_BUILD_DIR:-}}
if [ -z "$build" ]; then
  build=$(mktemp -d) || exit 1
  trap 'rm -rf "$build"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
fi
mkdir -p "$build" || exit 1
build=$(cd "$build" && pwd) || exit 1

passed=0
failed=0
skipped=0

# check TEXT STATUS [LOG]
check() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    printf 'ok   %s\n' "$1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    if [ -n "${3:-}" ]; then tail -n 40 "$3" | sed 's/^/       /'; fi
  fi
}

finish() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ]
  exit
}

# ---- the plugin's text on the host -----------------------------------------------------------

log=$build/log
UBSAN_OPTIONS=print_stacktrace=1 OPENBLAS_NUM_THREADS=1
export UBSAN_OPTIONS OPENBLAS_NUM_THREADS
make -j2 -s -f "$here/Makefile" BUILD="$build" ROOT="$root" BLAS="$blas" >"$log" 2>&1
status=$?
check "the tests build without warnings" "$status" "$log"
[ "$status" -eq 0 ] || finish

"$build/plugin_tests" >"$log" 2>&1
status=$?
line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
good=$(printf '%s' "$line" | sed 's/ passed.*//')
bad=$(printf '%s' "$line" | sed 's/.*, //; s/ failed//')
passed=$((passed + ${good:-0}))
failed=$((failed + ${bad:-0}))
if [ "${bad:-1}" -gt 0 ] || [ "$status" -ne 0 ]; then
  tail -n 60 "$log"
  [ "${bad:-0}" -gt 0 ] || failed=$((failed + 1))
fi

# fault NAME SAYS: the right kernel passes, the wrong one fails and SAYS so.
fault() {
  "$build/faults" "$1" right >"$log" 2>&1
  check "$1: the right kernel passes" $? "$log"
  if "$build/faults" "$1" wrong >"$log" 2>&1; then status=1; else grep -q "$2" "$log"; status=$?; fi
  check "$1: the planted fault is caught" "$status" "$log"
}
fault missing_barrier "wrong result under schedule"
fault read_outside "AddressSanitizer: heap-buffer-overflow"
fault divergent_shuffle "a lane named in the mask has ended"
fault shared_not_set "wrong result under schedule"
fault divergent_barrier "some threads never reach"
fault ended_lane "a lane named in the mask has ended"

# one_symbol PLUGIN: nothing but the entry is exported.
one_symbol() { [ "$(nm -D --defined-only "$1" | sed 's/.* //; s/@.*//')" = voxridge_cuda ]; }

host_plugin "$build/voxridge_cuda_host.so" >"$log" 2>&1
check "the plugin for the host builds" $? "$log"
nm -D --defined-only "$build/voxridge_cuda_host.so" >"$log" 2>&1
one_symbol "$build/voxridge_cuda_host.so"
check "it exports one symbol" $? "$log"
"$build/load" "$build/voxridge_cuda_host.so" >"$log" 2>&1
check "it loads and works" $? "$log"
cat "$log"

# ---- the CUDA plugin -------------------------------------------------------------------------

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! known=$("$nvcc" --list-gpu-code 2>/dev/null); then
  echo "skip: no nvcc, so the CUDA plugin was not compiled"
  skipped=$((skipped + 1))
  finish
fi
wanted=
last=
codes=
for arch in ${VOXRIDGE_CUDA_ARCH:-75 80 86 89 90 100 120}; do
  if printf '%s\n' "$known" | grep -qx "sm_$arch"; then
    wanted="$wanted -gencode arch=compute_$arch,code=sm_$arch"
    codes="$codes${codes:+ }$arch"
    last=$arch
  fi
done
wanted="$wanted -gencode arch=compute_$last,code=compute_$last"
plugin=$build/voxridge_cuda.so
start=$(date +%s)
# shellcheck disable=SC2086
"$nvcc" -std=c++17 -O2 $wanted --threads 2 -Werror all-warnings -Xptxas -v \
  -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra,-Werror -DVOXRIDGE_CUDA_ARCHITECTURES="\"$codes\"" \
  -Xlinker "--version-script=$root/src/cuda/exports.map" -cudart static -shared -o "$plugin" \
  "$root/src/cuda/plugin.cu" >"$log" 2>&1
status=$?
check "nvcc compiles the plugin for $codes ($(($(date +%s) - start)) s)" "$status" "$log"
[ "$status" -eq 0 ] || finish
grep -E 'spill' "$log" | grep -vE ' 0 bytes spill stores, 0 bytes spill loads' >"$build/spills"
grep -q 'bytes spill' "$log" && [ ! -s "$build/spills" ]
check "no kernel spills registers" $? "$build/spills"
printf 'most registers: %s\n' "$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$log" | sort -n | tail -n 1)"

nm -D --defined-only "$plugin" >"$log" 2>&1
one_symbol "$plugin"
check "the plugin exports one symbol" $? "$log"
readelf -d "$plugin" >"$log" 2>&1
grep -q NEEDED "$log" && ! grep NEEDED "$log" | grep -qE 'libcuda|libcublas|libcusolver|libnv'
check "it is not linked to a library of CUDA" $? "$log"
"$build/load" "$plugin" >"$log" 2>&1
check "it loads, and works or says why not" $? "$log"
cat "$log"
if grep -q '; works on ' "$log"; then
  # The sanitizer leaves the driver the addresses that it wants.
  VOXRIDGE_TEST_PLUGIN=$plugin ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0 \
    "$build/plugin_tests" copies_and_gemm functions scores refused_arguments memory_of_the_caller forked \
    gram eigen_of two_buffers >"$log" 2>&1
  check "the functions give the right results on the device" $? "$log"
else
  echo "skip: no device, so the CUDA plugin was not run"
  skipped=$((skipped + 1))
fi
printf 'size: %d kB\n' "$(($(wc -c <"$plugin") / 1024))"
finish
