#!/bin/sh
# Does the check that is meant for a machine with a GPU (tools/gpu_check.sh) work, and notice faults? On the plugin for
# the host, in which the kernels' own text runs on the CPU.
#
#   sh tests/cuda/gpu_check.sh [BUILD_DIR]
#
# Needs a python3 with numpy. The last line is "N passed, N failed, N skipped".
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../.." && pwd) || exit 1
build=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/gpu_check.XXXXXX") || exit 1
trap 'rm -rf "$build"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0
failed=0
skipped=0

# check TEXT STATUS LOG
check() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
    printf 'ok   %s\n' "$1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$1"
    tail -n 30 "$3" | sed 's/^/       /'
  fi
}

finish() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ]
  exit
}

python=
for candidate in /usr/bin/python3 python3; do
  if "$candidate" -c 'import numpy' >/dev/null 2>&1; then python=$candidate; break; fi
done
if [ -z "$python" ]; then
  echo "skip: no python3 with numpy"
  skipped=1
  finish
fi

log=$build/log
plugin=$build/voxridge_cuda_host.so
sh "$here/run.sh" plugin "$plugin" >"$log" 2>&1
check "the plugin for the host builds" $? "$log"
[ "$failed" -eq 0 ] || finish

# The host may not touch memory of the device; no torch, which takes longer to load than all of this.
OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 VOXRIDGE_SHIM_GUARD=yes VOXRIDGE_PYTHON=$python VOXRIDGE_PEERS=$build
export OPENBLAS_NUM_THREADS PYTHONDONTWRITEBYTECODE VOXRIDGE_SHIM_GUARD VOXRIDGE_PYTHON VOXRIDGE_PEERS
sh "$root/tools/gpu_check.sh" --quick --without-r --plugin "$plugin" --out "$build/out" >"$log" 2>&1
check "it runs to the end, and all comparisons pass" $? "$log"
csv=$build/out/gpu-cpu-shim.csv
for section in functions searches permutations "full size" ceilings times; do
  grep -q "^$section,[^,]*,[0-9]" "$csv"
  check "the results have rows of '$section'" $? "$log"
done
[ "$(awk -F, 'NF != 6' "$csv" | wc -l)" -eq 0 ]
check "every row has six cells" $? "$csv"

# wrong TEXT SAYS EDIT: with a header that EDIT, for sed, makes wrong, the functions do not pass, and SAYS is said.
wrong() {
  sed "$3" "$root/src/cuda/abi.h" >"$build/abi.h"
  if "$python" "$root/tools/gpu_check.py" functions --quick --plugin "$plugin" --header "$build/abi.h" >"$log" 2>&1
  then status=1; else grep -q "$2" "$log"; status=$?; fi
  check "$1" "$status" "$log"
}
wrong "two functions that are exchanged are noticed" "product_sums double .* FAIL" \
  's/(\*error_sums)/(*other)/; s/(\*product_sums)/(*error_sums)/; s/(\*other)/(*product_sums)/'
wrong "another interface number is refused" "the plugin has interface" 's/\(VOXRIDGE_CUDA_ABI\) [0-9]*/\1 9999/'
wrong "a table of another size is refused" "the plugin's table has" 's/^} voxridge_cuda_table;/int (*more)(void); &/'

if command -v nvidia-smi >/dev/null 2>&1 || [ -e /dev/nvidia0 ]; then
  echo "skip: there may be a GPU here"
  skipped=$((skipped + 1))
else
  sh "$root/tools/gpu_check.sh" >"$log" 2>&1
  [ $? -eq 2 ] && [ "$(wc -l <"$log")" -eq 1 ] && grep -q "no GPU here" "$log"
  check "without a GPU it says so in one line" $? "$log"
fi
finish
