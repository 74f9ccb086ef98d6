#!/bin/sh
# Runs the scoring server under load (load.cpp) with the thread sanitizer, then with the address and undefined-behaviour
# sanitizers; or, without a sanitizer, sees that its memory does not grow.
#
#   sh tests/cpp/serve/sanitize.sh [SECONDS] [BUILD_DIR]         SECONDS (default: 20) for each sanitizer
#   sh tests/cpp/serve/sanitize.sh soak [REQUESTS] [BUILD_DIR]   default: 1000000
#
# BUILD_DIR (default: a temporary folder) keeps the programs. The last line is "N passed, N failed".
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
root=$(cd "$here/../../.." && pwd) || exit 1
mode=load
[ "${1:-}" = soak ] && { mode=soak; shift; }
amount=${1:-}
work=${2:-}
if [ -z "$work" ]; then
  work=$(mktemp -d) || exit 1
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" || exit 1

# What a server needs of the core, and of the tests.
core="predictor threads symbols memory body_fault json_rows json_text number_text binary_rows sha256"
sources=$(ls "$root"/src/serve/*.cpp)
for name in $core; do sources="$sources $root/src/core/$name.cpp"; done
for name in served http_client http_reply load; do sources="$sources $here/$name.cpp"; done

# The core's threads ask BLAS for its own; here is none.
echo 'namespace voxridge { bool single_blas_available() { return false; } }' >"$work/no_blas.cpp"
sources="$sources $work/no_blas.cpp"

# build NAME OPTIONS...
build() {
  own=$work/$1
  shift
  mkdir -p "$own" || return 1
  options="-std=c++17 -g1 -Wall -Wextra -I$root/src $*"
  for source in $sources; do
    echo "$source"
  done | xargs -P 2 -I{} sh -c 'g++ '"$options"' -c -o "$1/$(basename "$2" .cpp).o" "$2"' sh "$own" {} || return 1
  # shellcheck disable=SC2086
  g++ $options -o "$own/load" "$own"/*.o -lpthread -ldl
}

passed=0
failed=0
# check NAME COMMAND...
check() {
  name=$1
  shift
  echo "$name:"
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "FAIL $name"
    failed=$((failed + 1))
  fi
}

TSAN_OPTIONS="halt_on_error=0 second_deadlock_stack=1" UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS UBSAN_OPTIONS
if [ "$mode" = soak ]; then
  check build build plain -O2
  check soak "$work/plain/load" soak "${amount:-1000000}"
else
  check "build thread" build thread -O1 -Wno-tsan -fsanitize=thread
  check thread "$work/thread/load" "${amount:-20}"
  check "build address" build address -O1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all \
    -fno-omit-frame-pointer
  check address "$work/address/load" "${amount:-20}"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
