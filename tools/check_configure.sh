#!/bin/sh
# What configure decides about the CUDA plugin, with an R and toolkits that are small scripts: seconds, no compiler.
#
#   sh tools/check_configure.sh
#
# SHELLS names the shells that run configure (default: dash and bash). One line per test, the last is "N passed, N failed, N skipped".
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
unset NVCC CUDA_HOME CUDA_PATH VOXRIDGE_CUDA VOXRIDGE_CUDA_ARCH VOXRIDGE_CUDA_CCBIN

# ---- an R, a PATH without any nvcc, and toolkits ---------------------------------------------

mkdir -p "$scratch/R/bin" "$scratch/bin" "$scratch/tree/src/cuda" "$scratch/tree/tools"
for tool in sh cat cd cmp cp dirname echo env false grep ls mkdir mv printf pwd rm sed sort test tr true uname; do
  place=$(command -v "$tool") || continue
  case $place in /*) ln -s "$place" "$scratch/bin/$tool" ;; esac
done
cat >"$scratch/R/bin/R" <<'SCRIPT'
#!/bin/sh
case $3 in CXX17) echo "ccache the-cxx17 -std=gnu++17" ;; CC) echo true ;; esac
SCRIPT
printf '#!/bin/sh\n' >"$scratch/R/bin/Rscript"
chmod +x "$scratch/R/bin/R" "$scratch/R/bin/Rscript"
cp -p "$root/configure" "$root/cleanup" "$scratch/tree/"
cp "$root/tools/configure_cuda.sh" "$scratch/tree/tools/"
cp "$root/src/Makevars.in" "$scratch/tree/src/"

# toolkit FOLDER VERSION [refuses]: an nvcc that notes its arguments in $scratch/calls. `refuses`: what the trial build
# answers, "compiler" (unless told -allow-unsupported-compiler), "headers" or "run" (nothing works).
toolkit() {
  mkdir -p "$1/bin" "$1/lib64"
  : >"$1/lib64/libcublas.so"
  : >"$1/lib64/libcublas.so.$2"
  : >"$1/lib64/libcublasLt.so.$2"
  : >"$1/lib64/libcusolver.so.$(($2 - 1)).0.4"
  : >"$1/lib64/libcusolverMg.so.$(($2 - 1))"
  cat >"$1/bin/nvcc" <<SCRIPT
#!/bin/sh
echo "\$*" >>"$scratch/calls"
refuses=${3:-nothing}
test \$refuses != run || exit 127
case "\$*" in
  --version) echo "Cuda compilation tools, release $2.1, V$2.1.88" ;;
  --list-gpu-code) for arch in 75 80 86 87 90; do echo sm_\$arch; done ;;
  *--dryrun*) echo "#\\$ TOP=$1/bin/.." >&2 ;;
  *)
    case "\$refuses \$*" in
      compiler*-allow-unsupported-compiler*) exit 0 ;;
      compiler*) echo "host_config.h(1): #error -- unsupported GNU version!" >&2; exit 1 ;;
      headers*) echo "t.cu:1:10: fatal error: cublas_v2.h: No such file or directory" >&2; exit 1 ;;
    esac ;;
esac
exit 0
SCRIPT
  chmod +x "$1/bin/nvcc"
}
toolkit "$scratch/good" 13
toolkit "$scratch/other" 12
toolkit "$scratch/with space" 13
toolkit "$scratch/picky" 13 compiler
toolkit "$scratch/bare" 13 headers
toolkit "$scratch/broken" 13 run
toolkit "$scratch/no solver" 13
rm "$scratch/no solver/lib64/libcusolver"*

# ---- tests -----------------------------------------------------------------------------------

passed=0
failed=0
fresh=yes

# run_configure NAME=VALUE... -- OPTIONS...: runs it without a toolkit anywhere else; sets `status`, fills $scratch/out.
run_configure() {
  rm -f "$scratch/calls"
  : >"$scratch/calls"
  ( cd "$scratch/tree" || exit 1
    [ "$fresh" = no ] || $shell ./cleanup
    while [ "$#" -gt 0 ] && [ "$1" != -- ]; do
      export "${1?}"
      shift
    done
    [ "$#" -eq 0 ] || shift
    R_HOME=$scratch/R PATH=${SEARCH:-$scratch/bin} VOXRIDGE_CUDA_PLACES=${PLACES:-}
    export R_HOME PATH VOXRIDGE_CUDA_PLACES
    exec $shell ./configure "$@" ) >"$scratch/out" 2>&1
  status=$?
}

ok() {
  if [ "$2" = yes ]; then
    passed=$((passed + 1))
    printf 'ok   %s\n' "$shell: $1"
  else
    failed=$((failed + 1))
    printf 'FAIL %s\n' "$shell: $1 (status $status)"
    sed 's/^/       /' "$scratch/out" "$scratch/tree/src/cuda/build.dcf"
  fi
}

says() { grep -q -e "$1" "$scratch/out"; }
makes() { grep -q -e "$1" "$scratch/tree/src/Makevars"; }
records() { grep -qx -e "$1" "$scratch/tree/src/cuda/build.dcf"; }
header() { grep -qx -e "#define $1" "$scratch/tree/src/cuda/cuda_build.h"; }

# without TEST REASON, with TEST TOOLKIT: what every build without and with the plugin must look like.
without() {
  if [ "$status" -eq 0 ] && says "^configure: CUDA plugin: no, .*$2" && records 'Plugin: no' && records "Reason: .*$2.*" &&
    makes '^all:  *\$(SHLIB)$' && [ ! -e "$scratch/tree/src/cuda/cuda_build.h" ]; then ok "$1" yes; else ok "$1" no; fi
}
with() {
  if [ "$status" -eq 0 ] && says "^configure: CUDA plugin: toolkit .*$2/bin/nvcc" && records 'Plugin: yes' &&
    makes '^all: cuda/voxridge_cuda.so \$(SHLIB)$' && makes "'.*$2/bin/nvcc'" && ! makes 'gnu++17' &&
    [ ! -e "$scratch/tree/conftest.dir" ]; then ok "$1" yes; else ok "$1" no; fi
}
fails() {
  if [ "$status" -ne 0 ] && says "$2" && says 'was asked for'; then ok "$1" yes; else ok "$1" no; fi
}
also() { name=$1; shift; if "$@"; then ok "$name" yes; else ok "$name" no; fi; }

decisions() {
  run_configure
  without "no nvcc anywhere" "nvcc was not found"
  run_configure -- --with-cuda
  fails "--with-cuda without nvcc is an error" "nvcc was not found"
  run_configure VOXRIDGE_CUDA=yes
  fails "VOXRIDGE_CUDA=yes without nvcc is an error" "nvcc was not found"

  PLACES="$scratch/nowhere $scratch/good"
  run_configure
  with "a toolkit in the usual place" good
  also "architectures are those that nvcc knows" header 'VOXRIDGE_CUDA_ARCHITECTURES "75 80 86 90"'
  also "each has its code" makes 'arch=compute_80,code=sm_80 .*arch=compute_90,code=sm_90'
  also "the last is kept as PTX too" makes 'code=sm_90 -gencode arch=compute_90,code=compute_90 -o'
  also "cuBLAS has the toolkit's name" header 'VOXRIDGE_CUBLAS_NAMES "libcublas.so.13"'
  also "so has cuSOLVER, which counts on its own" header 'VOXRIDGE_CUSOLVER_NAMES "libcusolver.so.12"'
  also "its folder is known" header "VOXRIDGE_CUDA_LIBDIR \"$scratch/good/lib64\""
  also "the host compiler is R's, without ccache and flags" makes "-ccbin 'the-cxx17' -std=c++17"
  run_configure -- --without-cuda
  without "--without-cuda" "switched off"
  also "nvcc was not run" [ ! -s "$scratch/calls" ]
  run_configure VOXRIDGE_CUDA=no
  without "VOXRIDGE_CUDA=no" "switched off"
  run_configure VOXRIDGE_CUDA=no -- --with-cuda
  with "an option goes before the environment" good
  run_configure NVCC="$scratch/other/bin/nvcc" CUDA_HOME="$scratch/picky"
  with "NVCC goes first" other
  also "and brings its own cuBLAS" header 'VOXRIDGE_CUBLAS_NAMES "libcublas.so.12"'
  also "and cuSOLVER" header 'VOXRIDGE_CUSOLVER_NAMES "libcusolver.so.11"'
  run_configure CUDA_HOME="$scratch/nowhere" CUDA_PATH="$scratch/other"
  with "then CUDA_HOME and CUDA_PATH, where there is an nvcc" other
  SEARCH=$scratch/bin:$scratch/other/bin
  run_configure
  with "then PATH" other
  SEARCH=
  run_configure NVCC=no-such-nvcc
  without "an NVCC that is not there" "NVCC is set to no-such-nvcc"
  run_configure -- "--with-cuda=$scratch/other"
  with "--with-cuda=DIR" other
  run_configure "VOXRIDGE_CUDA=$scratch/with space"
  with "VOXRIDGE_CUDA=DIR, with a space in it" "with space"
  run_configure -- --with-cuda=/no/such
  fails "--with-cuda=DIR without an nvcc is an error, whatever else is there" "there is no /no/such/bin/nvcc"

  run_configure
  : >"$scratch/tree/src/cuda/voxridge_cuda.so"
  touch -t 200001010000 "$scratch/tree/src/cuda/cuda_build.h"
  fresh=no
  run_configure
  with "a second time in the same folder" good
  also "leaves the header as old as it was" \
    [ -n "$(find "$scratch/tree/src/cuda" -name cuda_build.h ! -newer "$root/configure")" ]
  run_configure -- --with-cuda-arch=80
  also "unless something else is asked for" \
    [ -z "$(find "$scratch/tree/src/cuda" -name cuda_build.h ! -newer "$root/configure")" ]
  run_configure -- --without-cuda
  without "without it where it was built before" "switched off"
  also "the old plugin is gone" [ ! -e "$scratch/tree/src/cuda/voxridge_cuda.so" ]
  fresh=yes

  run_configure -- "--with-cuda-arch=sm_80,9.0"
  with "--with-cuda-arch, in any spelling" good
  also "takes these and no others" header 'VOXRIDGE_CUDA_ARCHITECTURES "80 90"'
  run_configure VOXRIDGE_CUDA_ARCH="87"
  also "VOXRIDGE_CUDA_ARCH" header 'VOXRIDGE_CUDA_ARCHITECTURES "87"'
  run_configure VOXRIDGE_CUDA_ARCH="80 120"
  without "an architecture that nvcc does not know" "knows no architecture 120, only 75 80 86 87 90"
  run_configure -- --with-cuda --with-cuda-arch=120
  fails "the same where CUDA was asked for" "knows no architecture 120"
  run_configure -- --with-cuda-ccbin=g++-12
  also "--with-cuda-ccbin" makes "-ccbin 'g++-12'"
  run_configure VOXRIDGE_CUDA_CCBIN=clang++
  also "VOXRIDGE_CUDA_CCBIN" makes "-ccbin 'clang++'"
  run_configure -- --with-cuda-archs=80
  with "a misspelt option is told and ignored" good
  also "by its name" says '--with-cuda-archs=80: not an option'

  run_configure -- "--with-cuda=$scratch/picky"
  with "a toolkit that refuses the host compiler once" picky
  also "is told to go on" makes "-ccbin 'the-cxx17' -allow-unsupported-compiler"
  also "which is said" says 'does not support the-cxx17'
  run_configure -- "--with-cuda=$scratch/no solver"
  with "a toolkit without cuSOLVER" "no solver"
  also "takes the usual name" header 'VOXRIDGE_CUSOLVER_NAMES "libcusolver.so.12"'
  PLACES=$scratch/bare
  run_configure
  without "a toolkit without headers" "fatal error: cublas_v2.h"
  run_configure -- --with-cuda
  fails "the same where CUDA was asked for" "fatal error: cublas_v2.h"
  PLACES=$scratch/broken
  run_configure
  without "an nvcc that does not run" "broken/bin/nvcc does not run"
  PLACES=

  ( cd "$scratch/tree" && $shell ./cleanup )
  also "cleanup leaves what was there before" [ "$(cd "$scratch/tree" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" = \
    "./cleanup ./configure ./src/Makevars.in ./tools/configure_cuda.sh " ]
}

skipped=0
for shell in ${SHELLS:-dash bash}; do
  if ! command -v "$shell" >/dev/null 2>&1; then
    echo "skip: no $shell"
    skipped=$((skipped + 1))
    continue
  fi
  shell=$(command -v "$shell")
  decisions
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
