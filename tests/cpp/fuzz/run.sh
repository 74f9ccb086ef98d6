#!/bin/sh
# Fuzzes what reads bytes from outside with libFuzzer under the address and undefined-behaviour sanitizers: `nifti`, the
# reader of images, `json_rows`, that of request bodies, and `http`, the connections of the scoring server.
#
#   sh tests/cpp/fuzz/run.sh [nifti|json_rows|http] [SECONDS] [WORK_DIR]
#
# Without a name each has its SECONDS (default: 60), one after the other. Needs clang. It starts from the seeds, which
# were made by hand (tests/cpp/run.sh replays them), and from what earlier runs found (corpus/NAME.tar.gz). New inputs
# that reach new code go to WORK_DIR/NAME/corpus (default: a temporary folder);
# `sh tests/cpp/fuzz/run.sh NAME merge WORK_DIR` packs the smallest set that covers what is known. The last line is
# "N passed, N failed".
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../../.." && pwd) || exit 1
names="nifti json_rows http"
case ${1:-} in
  nifti | json_rows | http) names=$1; shift ;;
esac
seconds=${1:-60}
work=${2:-}
if [ -z "$work" ]; then
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
fi
if ! command -v clang++ >/dev/null 2>&1; then
  echo "skip: no clang++"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi

# build NAME FILE...: with these files of the core.
build() {
  name=$1
  shift
  clang++ -std=c++17 -g -O1 -Wall -Wextra -Wpedantic -Werror -fsanitize=fuzzer,address,undefined,float-cast-overflow \
    -fno-sanitize-recover=all -I"$root/src" -o "$work/$name/fuzz" "$here/fuzz_$name.cpp" "$@" -lz
}

# fuzz NAME: all of it in WORK_DIR/NAME.
fuzz() {
  own=$work/$1
  core=$root/src/core
  mkdir -p "$own/corpus" "$own/known" || return 1
  case $1 in
    nifti) build nifti "$core"/nifti_[adhr]*.cpp "$core/byte_source.cpp" || return 1 ;;
    json_rows) build json_rows "$core"/json_*.cpp "$core/number_text.cpp" "$core/body_fault.cpp" || return 1 ;;
    http)
      # The core's threads ask BLAS for its own; here is none.
      echo 'namespace voxridge { bool single_blas_available() { return false; } }' >"$own/no_blas.cpp"
      files="$own/no_blas.cpp $here/../serve/http_reply.cpp"
      for part in predictor threads symbols memory body_fault json_rows json_text number_text binary_rows sha256; do
        files="$files $core/$part.cpp"
      done
      for part in admission connection connection_answers endpoint http_fields http_head metadata metrics metrics_text \
        refusal reply scorer served_model service; do
        files="$files $root/src/serve/$part.cpp"
      done
      # shellcheck disable=SC2086
      build http $files || return 1
      ;;
  esac
  if [ -f "$here/corpus/$1.tar.gz" ]; then
    gzip -dc "$here/corpus/$1.tar.gz" | tar -xf - -C "$own/known" || return 1
  fi
  if [ "$seconds" = merge ]; then
    mkdir -p "$own/merged"
    "$own/fuzz" -merge=1 "$own/merged" "$own/corpus" "$own/known" "$here/seeds/$1" || return 1
    ( cd "$own/merged" && tar --sort=name --mtime=@0 --owner=0 --group=0 -cf - . ) | gzip -9n >"$here/corpus/$1.tar.gz"
    return
  fi
  if "$own/fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$own/" "$own/corpus" "$own/known" "$here/seeds/$1" >"$own/log" 2>&1; then
    grep '^stat::' "$own/log"
    tail -n 1 "$own/log" | cut -c 1-120
  else
    tail -n 60 "$own/log"
    return 1
  fi
}

passed=0
failed=0
for name in $names; do
  if fuzz "$name"; then
    passed=$((passed + 1))
  else
    echo "FAIL $name"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
