#!/bin/sh
# Checks and times the CUDA plugin on a machine with a GPU: one command, less than 8 minutes, no network.
#
#   sh tools/gpu_check.sh                 everything that this machine allows
#     --out DIR        folder of the results, gpu-<device>.csv and .log (default: a new temporary one)
#     --quick          tiny sizes: does everything work?
#     --limit SECONDS  of the whole run (default 450); later steps are left out when it is used up
#     --without-r      R, where it is there, is not used
#     --plugin FILE    a plugin that is built already, also one for the host (tests/cuda/run.sh plugin FILE)
#     --library DIR    a library that voxridge is installed in already
#
# With R the package is built into a library of its own and does the searches; without R only the plugin is built, and
# Python drives its table of functions. Python with numpy also compares these functions one by one and measures the
# ceilings, and times torch where it has that. What is missing is told in one line and the rest is done.
#
# Exit status: 0 all comparisons passed, 1 one failed or was not done, 2 nothing could be checked (no GPU, or nothing
# to build or to run the plugin with), 64 wrong usage.
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
start=$(date +%s)
say() { printf 'gpu_check: %s\n' "$*"; }
end() { status=$1; shift; say "$@"; exit "$status"; }

out=
plugin=
library=
limit=450
quick=
with_r=yes
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --quick) quick=yes; shift; continue ;;
    --without-r) with_r=; shift; continue ;;
    --out | --plugin | --library | --limit) [ $# -ge 2 ] || end 64 "$1 needs a value" ;;
    *) end 64 "'$1' is not an option; see --help" ;;
  esac
  case $1 in
    --out) mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 64 ;;
    --plugin) [ -r "$2" ] || end 64 "cannot read $2"; plugin=$(cd "$(dirname "$2")" && pwd)/$(basename "$2") ;;
    --library) [ -d "$2/voxridge" ] || end 64 "no voxridge in $2"; library=$(cd "$2" && pwd) ;;
    --limit) limit=$2; [ "$limit" -gt 0 ] 2>/dev/null || end 64 "--limit must be a number of seconds, not '$2'" ;;
  esac
  shift 2
done

cd "$root" || exit 1
# shellcheck source=tools/common.sh
. "$root/tools/common.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
have() { command -v "$1" >/dev/null 2>&1; }
cores=$(nproc 2>/dev/null || echo 2)
[ "$cores" -le 16 ] || cores=16

# ---- rows and steps --------------------------------------------------------------------------

# row SECTION NAME VALUE UNIT BOUND RESULT
row() { printf '%s,%s,%s,%s,%s,%s\n' "$@" >>"$csv"; }

seconds_left() { echo $((limit - ($(date +%s) - start))); }

# step SECONDS NAME COMMAND...: runs it for so long at most. Status 124: it ran out of time, 75: it was not begun.
step() {
  allowed=$(seconds_left)
  if [ "$allowed" -lt 10 ]; then
    row steps "$2" "" "" "" "left out: no time"
    say "$2: left out, no time"
    return 75
  fi
  [ "$1" -ge "$allowed" ] || allowed=$1
  name=$2
  shift 2
  begun=$(date +%s)
  printf '\n== %s\n' "$name" >>"$log"
  $timeout "$allowed" "$@" >"$scratch/step.log" 2>&1
  status=$?
  cat "$scratch/step.log" >>"$log"
  [ "$status" -ne 137 ] || status=124
  case $status in
    0) say "$name: done in $(($(date +%s) - begun)) s" ;;
    124) say "$name: stopped after $allowed s"; row steps "$name" "" "" "" "stopped after $allowed s" ;;
    *) say "$name: ended with status $status"; tail -n 15 "$scratch/step.log" | sed 's/^/    /' ;;
  esac
  return "$status"
}

# must SECONDS NAME COMMAND...: a comparison; not to have ended well is a failure.
must() {
  step "$@" || row steps "$2" "" "" "" FAIL
}

# may SECONDS NAME COMMAND...: its own rows say what failed.
may() {
  step "$@" && return
  case $? in 75 | 124) ;; *) row steps "$2" "" "" "" "ended early, see the log" ;; esac
}

# watched SECONDS NAME COMMAND...: may, and the highest use of the device's memory meanwhile.
watched() {
  watcher=
  what=$2
  if [ -n "$gpu" ] && have nvidia-smi; then
    nvidia-smi -i "$device" --query-gpu=memory.used --format=csv,noheader,nounits -lms 200 >"$scratch/memory" 2>&1 &
    watcher=$!
  fi
  may "$@"
  [ -n "$watcher" ] || return 0
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  peak=$(grep -E '^[0-9]+$' "$scratch/memory" | sort -n | tail -n 1)
  [ -z "$peak" ] && return
  row memory "$what" "$(awk "BEGIN { printf \"%.2f\", $peak * 1048576 / 1e9 }")" GB "" "of all processes"
}

# python_part HOW SECONDS NAME PART [OPTION...], r_part HOW SECONDS NAME PART [OPTION...]: a part of gpu_check.py or
# gpu_check.R as a step. It is told to end a little before its time is over.
python_part() {
  how=$1 seconds=$2 name=$3 part=$4
  shift 4
  "$how" "$seconds" "$name" "$python" "$root/tools/gpu_check.py" "$part" --plugin "$plugin" --seed "$seed" \
    --csv "$csv" --seconds "$(own_seconds "$seconds")" ${quick:+--quick} "$@"
}
r_part() {
  how=$1 seconds=$2 name=$3 part=$4
  shift 4
  "$how" "$seconds" "$name" Rscript --no-save --no-restore "$root/tools/gpu_check.R" "$part" "seed=$seed" \
    "csv=$csv" "seconds=$(own_seconds "$seconds")" ${quick:+quick=yes} "$@"
}
own_seconds() {
  most=$(seconds_left)
  [ "$1" -ge "$most" ] || most=$1
  echo $((most > 20 ? most - 10 : 10))
}

# ---- 1. what is here -------------------------------------------------------------------------

device=${CUDA_VISIBLE_DEVICES:-0}
device=${device%%,*}
ask_driver() { nvidia-smi -i "$device" --query-gpu="$1" --format=csv,noheader 2>/dev/null; }
if have nvidia-smi && gpu=$(ask_driver name,driver_version) && [ -n "$gpu" ]; then
  say "GPU: $gpu"
else
  gpu=
  for file in /dev/nvidia[0-9]*; do [ ! -e "$file" ] || gpu=$file; done
  if [ -n "$gpu" ]; then say "GPU: $gpu, but no nvidia-smi: memory is not watched"; fi
fi
if [ -z "$gpu" ]; then
  [ -n "$plugin" ] || end 2 "no GPU here, so nothing was checked"
  say "no GPU here: going on with $plugin"
fi

# From configure: where nvcc is, what it can compile for, and how the plugin is compiled.
# shellcheck source=tools/configure_cuda.sh
. "$root/tools/configure_cuda.sh"
nvcc_works() {
  cuda_why=
  read_cuda_options
  find_nvcc && ask_nvcc
}
given=${VOXRIDGE_CUDA_ARCH:-}
[ -n "$given" ] || VOXRIDGE_CUDA_ARCH=$(ask_driver compute_cap | sed -n '1s/[^0-9]//gp')
# An nvcc older than the device compiles for what it knows, and the driver translates that.
if nvcc_works || { [ -n "$NVCC" ] && [ -z "$given" ] && VOXRIDGE_CUDA_ARCH='' && nvcc_works; }; then
  say "nvcc: $NVCC, toolkit $cuda_version, compiles for $architectures"
  export VOXRIDGE_CUDA_ARCH
else
  say "nvcc: no, $cuda_why"
  NVCC=
  [ -n "$plugin$library" ] || end 2 "no plugin was given and none can be built, so nothing was checked"
fi

# The first Python that has numpy and torch, else the first that has numpy.
python=
torch=no
peers=${VOXRIDGE_PEERS:-${HOME:-}/.cache/voxridge-peers}
for candidate in "${VOXRIDGE_PYTHON:-python3}" /usr/bin/python3 "$peers/bin/python"; do
  found=$("$candidate" -c 'import numpy, importlib.util as u
print("yes" if u.find_spec("torch") else "no")' 2>/dev/null) || continue
  if [ -z "$python" ] || { [ "$torch" = no ] && [ "$found" = yes ]; }; then
    python=$candidate
    torch=$found
  fi
done
if [ -n "$python" ]; then
  version=$("$python" -c 'import sys, numpy; print(sys.version.split()[0] + ", numpy " + numpy.__version__)')
  say "Python: $version, torch: $torch"
else
  say "Python: none with numpy, so functions are not compared one by one, and the ceilings are rough"
fi

if [ -n "$with_r" ] && ! have Rscript; then
  say "R: not here"
  with_r=
elif [ -n "$with_r" ]; then
  missing=$(Rscript --vanilla -e 'cat(Filter(function(p) !nzchar(system.file(package = p)),
    c("BH", "Rcpp", "RcppArmadillo", "cli", "generics", "rlang", "parallelly")))' 2>/dev/null)
  if [ -n "$missing" ]; then
    say "R: here, but without the packages $missing"
    with_r=
  else
    say "R: $(Rscript --vanilla -e 'cat(format(getRversion()))')"
  fi
fi
[ -n "$with_r$python" ] || end 2 "neither R nor a Python with numpy can run the plugin, so nothing was checked"

sanitizer=$(command -v compute-sanitizer || echo "${NVCC%/*}/compute-sanitizer")
[ -x "$sanitizer" ] || { sanitizer=; say "compute-sanitizer: not here"; }
timeout="timeout -k 5"
have timeout || { timeout=without_timeout; say "timeout: not here, so steps run to their end"; }
without_timeout() { shift; "$@"; }

[ -n "$out" ] || out=$(mktemp -d) || exit 1
csv=$out/gpu_check.csv
log=$out/gpu_check.log
: >"$log"
printf 'section,row,value,unit,bound,result\n' >"$csv"
row machine date "$(date +%Y-%m-%d)" "" "" ""
[ -z "$NVCC" ] || row machine toolkit "$cuda_version" "" "" ""
row machine cores "$cores" "" "" ""

# ---- 2. build --------------------------------------------------------------------------------

# The package into a library of its own, with the plugin or, where one is given, without.
install_package() {
  mkdir -p "$scratch/library"
  if [ -n "$plugin" ]; then wanted=no; else wanted=yes; fi
  # shellcheck disable=SC2119
  build_package >>"$log" &&
    step $((limit * 4 / 9)) "build of the package" env MAKEFLAGS="${MAKEFLAGS:--j$cores}" VOXRIDGE_CUDA="$wanted" NVCC="$NVCC" \
      R CMD INSTALL --no-docs --no-test-load --library="$scratch/library" "$tarball"
}

# The plugin alone, in a copy of its sources. In a subshell: the functions of configure set variables of their own.
build_plugin() (
  cp -R src/cuda "$scratch/cuda"
  find_cublas
  cat >"$scratch/cuda/cuda_build.h" <<HEADER
#define VOXRIDGE_CUBLAS_NAMES "$cublas"
#define VOXRIDGE_CUDA_LIBDIR "$cuda_libdir"
#define VOXRIDGE_CUDA_ARCHITECTURES "$architectures"
HEADER
  set --
  for arch in $architectures; do set -- "$@" -gencode "arch=compute_$arch,code=sm_$arch"; done
  set -- "$@" -gencode "arch=compute_$arch,code=compute_$arch"
  [ -z "${VOXRIDGE_CUDA_CCBIN:-}" ] || set -- "$@" -ccbin "$VOXRIDGE_CUDA_CCBIN"
  cd "$scratch" || exit 1
  # shellcheck disable=SC2086,SC2154
  step 240 "build of the plugin" "$NVCC" $cuda_flags "$@" -o voxridge_cuda.so cuda/plugin.cu
)

if [ -n "$with_r" ] && [ -z "$library" ]; then
  if install_package; then
    library=$scratch/library
  else
    say "R: the package could not be built, so R is not used"
    row steps "build of the package" "" "" "" "failed, see the log"
    with_r=
    [ -n "$python" ] || end 1 "no Python with numpy instead; the log is $log"
  fi
fi
if [ -z "$plugin" ] && [ -n "$library" ] && [ -r "$library/voxridge/cuda/voxridge_cuda.so" ]; then
  plugin=$library/voxridge/cuda/voxridge_cuda.so
fi
if [ -z "$plugin" ]; then
  [ -n "$NVCC" ] || end 2 "no plugin was given and none can be built, so nothing was checked"
  build_plugin || end 1 "the plugin could not be built; the log is $log"
  plugin=$scratch/voxridge_cuda.so
fi
VOXRIDGE_CUDA_PLUGIN=$plugin
export VOXRIDGE_CUDA_PLUGIN
R_LIBS=${library:+$library:}${R_LIBS:-}
export R_LIBS
seed=$(($(date +%s) % 100000))
row machine seed "$seed" "" "" ""

if [ -n "$with_r" ]; then r_part step 60 "the package and the device" about
else python_part step 60 "the plugin and the device" about; fi
case $? in
  0) ;;
  3) end 2 "$(tail -n 1 "$scratch/step.log")" ;;
  *) end 1 "the plugin does not work; the log is $log" ;;
esac

# ---- 3. the sanitizer ------------------------------------------------------------------------

if [ -n "$sanitizer" ]; then
  if [ -n "$python" ]; then set -- "$python" tools/gpu_check.py functions --plugin "$plugin" --quick
  else set -- Rscript --no-save tools/gpu_check.R search quick=yes; fi
  step 60 "memcheck" "$sanitizer" --tool memcheck --target-processes all --error-exitcode 86 "$@"
  case $? in
    0) row memcheck "small cases" "" "" "" pass ;;
    86) row memcheck "small cases" "" "" "" FAIL ;;
    75 | 124) ;;
    *) row memcheck "small cases" "" "" "" "did not run, see the log" ;;
  esac
fi

# ---- 4. comparisons, 5. ceilings, 6. times ---------------------------------------------------

[ -z "$python" ] || python_part must 60 "functions of the table" functions
if [ -n "$with_r" ]; then r_part must 60 "searches, in R" search
else python_part must 60 "searches, from Python" search; fi

if [ -n "$python" ]; then python_part may 45 "ceilings" ceilings
else r_part may 45 "ceilings" ceilings; fi

if [ -n "$with_r" ]; then r_part must 60 "permutation tests, in R" permutations; fi
[ -z "$python" ] || python_part may 30 "kernels of permutation tests" permutations

for case in wide many; do
  if [ -n "$with_r" ]; then r_part watched 75 "ours in R ($case)" times "case=$case"
  else python_part watched 75 "ours from Python ($case)" times --case "$case"; fi
done
if [ "$torch" = yes ]; then
  for case in wide many; do python_part watched 75 "torch ($case)" torch --case "$case"; done
else
  row times torch "" "" "" "not installed"
fi

# ---- 7. the table ----------------------------------------------------------------------------

id=$(sed -n 's/^machine,device,\([^,]*\),.*/\1/p' "$csv" | tr '[:upper:]' '[:lower:]' |
  sed -n '1{s/[^a-z0-9][^a-z0-9]*/-/g;p;}')
mv "$csv" "$out/gpu-$id.csv"
mv "$log" "$out/gpu-$id.log"
csv=$out/gpu-$id.csv

echo
awk -F, '
  NR == 1 { next }
  $4 == "error" {
    if (!($1 in count)) order[++groups] = $1
    count[$1]++
    share = $5 > 0 ? $3 / $5 : ($3 > 0)
    if (share > worst[$1]) worst[$1] = share
    if ($6 == "FAIL") failed[$1]++
  }
  function line(section, what, value, unit, bound, result) {
    text = sprintf("%-10s %-62s %10s %-7s %7s  %s", section, what, value, unit, bound, result)
    sub(/ +$/, "", text)
    return text
  }
  $4 != "error" || $6 == "FAIL" { lines[++n] = line($1, $2, $3, $4, $5, $6) }
  END {
    print line("", "", "value", "", "bound", "")
    for (i = 1; i <= n; i++) print lines[i]
    for (g = 1; g <= groups; g++) {
      what = sprintf("%d compared; the largest error in units of its bound", count[order[g]])
      verdict = failed[order[g]] ? sprintf("%d FAILED", failed[order[g]]) : "pass"
      print line(order[g], what, sprintf("%.2g", worst[order[g]]), "", 1, verdict)
    }
  }' "$csv"
failures=$(grep -c ',FAIL$' "$csv")
echo "bound of a time: what the design aims at on an H200 in single precision"
say "$(($(date +%s) - start)) s, $failures failed; $csv"
[ "$failures" -eq 0 ]
