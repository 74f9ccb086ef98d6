#!/bin/sh
# Fuzzes the reader of images with libFuzzer under the address and undefined-behaviour sanitizers.
#
#   sh tests/cpp/fuzz/run.sh [SECONDS] [WORK_DIR]
#
# Needs clang. It starts from the seeds, which are images made by hand (tests/cpp/run.sh replays them), and from what
# earlier runs found (corpus/nifti.tar.gz). New inputs that reach new code go to WORK_DIR/corpus (default: a temporary
# folder); `sh tests/cpp/fuzz/run.sh merge WORK_DIR` packs the smallest set that covers what is known. The last line is
# "N passed, N failed".
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

mkdir -p "$work/known"
gzip -dc "$here/corpus/nifti.tar.gz" | tar -xf - -C "$work/known" || exit 1
if [ "$seconds" = merge ]; then
  mkdir -p "$work/merged"
  "$work/fuzz_nifti" -merge=1 "$work/merged" "$work/corpus" "$work/known" "$here/seeds/nifti" || exit 1
  ( cd "$work/merged" && tar --sort=name --mtime=@0 --owner=0 --group=0 -cf - . ) | gzip -9n >"$here/corpus/nifti.tar.gz"
  exit
fi
if "$work/fuzz_nifti" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
  -artifact_prefix="$work/" "$work/corpus" "$work/known" "$here/seeds/nifti" >"$work/log" 2>&1; then
  grep '^stat::' "$work/log"
  tail -n 1 "$work/log" | cut -c 1-120
  echo "1 passed, 0 failed"
else
  tail -n 60 "$work/log"
  echo "0 passed, 1 failed"
  exit 1
fi
