#!/bin/sh
# Fuzzes the reader of images with libFuzzer under the address and undefined-behaviour sanitizers.
#
#   sh tests/cpp/fuzz/run.sh [SECONDS] [WORK_DIR]
#
# Needs clang. New inputs that reach new code go to WORK_DIR/corpus (default: a temporary folder), and the seeds in
# tests/cpp/fuzz/seeds are replayed by tests/cpp/run.sh. `sh tests/cpp/fuzz/run.sh merge WORK_DIR` writes the smallest
# set of inputs that covers what is known back into the seeds. The last line is "N passed, N failed".
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../../.." && pwd) || exit 1
seconds=${1:-60}
work=${2:-}
if [ -z "$work" ]; then
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work/corpus" || exit 1
if ! command -v clang++ >/dev/null 2>&1; then
  echo "skip: no clang++"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi

clang++ -std=c++17 -g -O1 -Wall -Wextra -Wpedantic -Werror -fsanitize=fuzzer,address,undefined,float-cast-overflow \
  -fno-sanitize-recover=all -I"$root/src" -o "$work/fuzz_nifti" "$here/fuzz_nifti.cpp" "$root"/src/core/nifti_[adhr]*.cpp \
  "$root/src/core/byte_source.cpp" -lz || { echo "0 passed, 1 failed"; exit 1; }

if [ "$seconds" = merge ]; then
  mkdir -p "$work/merged"
  "$work/fuzz_nifti" -merge=1 "$work/merged" "$work/corpus" "$here/seeds/nifti" || exit 1
  rm -f "$here/seeds/nifti"/*
  cp "$work/merged"/* "$here/seeds/nifti"/
  ls "$here/seeds/nifti" | wc -l
  exit 0
fi
if "$work/fuzz_nifti" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
  -artifact_prefix="$work/" "$work/corpus" "$here/seeds/nifti" >"$work/log" 2>&1; then
  grep '^stat::' "$work/log"
  tail -n 1 "$work/log" | cut -c 1-120
  echo "1 passed, 0 failed"
else
  tail -n 60 "$work/log"
  echo "0 passed, 1 failed"
  exit 1
fi
