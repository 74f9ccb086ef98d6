#!/bin/sh
# Read by configure: whether this build gets the CUDA plugin. configure_cuda() answers in CUDA_PLUGIN (empty: none), NVCC
# and NVCCFLAGS, and writes src/cuda/cuda_build.h, which the plugin includes, and src/cuda/build.dcf, which is installed
# so that the package can say what was built, or why nothing was.
#
#   --with-cuda[=DIR]    VOXRIDGE_CUDA=yes, =DIR   the plugin must be built; nvcc is DIR/bin/nvcc
#   --without-cuda       VOXRIDGE_CUDA=no          no plugin
#                        VOXRIDGE_CUDA=auto        the default: built where it can be
#   --with-cuda-arch=    VOXRIDGE_CUDA_ARCH=       compute capabilities, such as "80 90"; the default is below
#   --with-cuda-ccbin=   VOXRIDGE_CUDA_CCBIN=      the host compiler of nvcc; the default is R's C++17 compiler
#
# Options have the last word. nvcc is looked for in DIR, $NVCC, $CUDA_HOME, $CUDA_PATH, PATH and the places below.

cuda_places="/usr/local/cuda /opt/cuda"
cuda_default_arch="75 80 86 89 90 100 120"
# For nvcc in src/: nothing of R's flags, nothing of CUDA linked but the runtime, which becomes part of the plugin.
cuda_flags="-std=c++17 -O2 -Xcompiler -fPIC -Xcompiler -fvisibility=hidden -Xlinker --version-script=cuda/exports.map"
cuda_flags="$cuda_flags -cudart static -shared"

read_cuda_options() {
  cuda_want=${VOXRIDGE_CUDA:-auto}
  cuda_arch=${VOXRIDGE_CUDA_ARCH:-}
  cuda_ccbin=${VOXRIDGE_CUDA_CCBIN:-}
  for option in "$@"; do
    case $option in
      --with-cuda) cuda_want=yes ;;
      --without-cuda) cuda_want=no ;;
      --with-cuda=*) cuda_want=${option#*=} ;;
      --with-cuda-arch=*) cuda_arch=${option#*=} ;;
      --with-cuda-ccbin=*) cuda_ccbin=${option#*=} ;;
      *) say "$option: not an option of this package, ignored" ;;
    esac
  done
}

# Each step below sets cuda_why and fails where the plugin cannot be built.
find_nvcc() {
  NVCC_GIVEN=${NVCC:-}
  NVCC=
  case $cuda_want in
    auto | yes) ;;
    *)
      if test -x "$cuda_want/bin/nvcc"; then NVCC=`cd "$cuda_want/bin" && pwd`/nvcc; return 0; fi
      cuda_why="there is no $cuda_want/bin/nvcc"
      return 1 ;;
  esac
  if test -n "$NVCC_GIVEN"; then
    NVCC=`command -v "$NVCC_GIVEN"` && return 0
    cuda_why="NVCC is set to $NVCC_GIVEN, which is not there"
    return 1
  fi
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}"; do
    if test -n "$folder" && test -x "$folder/bin/nvcc"; then NVCC=$folder/bin/nvcc; return 0; fi
  done
  NVCC=`command -v nvcc` && return 0
  for folder in ${VOXRIDGE_CUDA_PLACES-$cuda_places}; do
    if test -x "$folder/bin/nvcc"; then NVCC=$folder/bin/nvcc; return 0; fi
  done
  cuda_why="nvcc was not found"
  return 1
}

ask_nvcc() {
  cuda_version=`"$NVCC" --version 2>/dev/null | sed -n 's/.*release \([0-9][0-9.]*\).*/\1/p'`
  if test -z "$cuda_version"; then cuda_why="$NVCC does not run"; return 1; fi
  known=`"$NVCC" --list-gpu-code 2>/dev/null | sed -n 's/^sm_//p' | tr '\n' ' '`
  architectures=
  for arch in `echo "${cuda_arch:-$cuda_default_arch}" | sed -e 's/[,;]/ /g' -e 's/sm_//g' -e 's/\.//g'`; do
    case " $known" in
      *" $arch "*) architectures="$architectures${architectures:+ }$arch" ;;
      *)  # one that was asked for must be there
        if test -n "$cuda_arch"; then
          cuda_why="nvcc $cuda_version knows no architecture $arch, only ${known% }"
          return 1
        fi ;;
    esac
  done
  if test -n "$architectures"; then return 0; fi
  cuda_why="nvcc $cuda_version knows none of the architectures $cuda_default_arch"
  return 1
}

# What the plugin includes, built as the plugin is: a toolkit without headers and a host compiler that nvcc refuses show
# here and not in the middle of the build.
try_nvcc() {
  if test -z "$cuda_ccbin"; then
    for word in `"$R_HOME/bin/R" CMD config CXX17`; do
      case $word in ccache | */ccache | -*) ;; *) cuda_ccbin=$word; break ;; esac
    done
  fi
  rm -rf conftest.dir
  mkdir conftest.dir
  cat > conftest.dir/trial.cu <<'TRIAL'
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <string>
#include <vector>
__global__ void fill(float* x) { x[threadIdx.x] = 1; }
extern "C" int trial(float* x) {
  std::vector<std::string> words(1);
  fill<<<1, 32>>>(x);
  return static_cast<int>(cudaGetLastError()) + static_cast<int>(words.size()) + CUBLAS_OP_N;
}
TRIAL
  for unsupported in "" "-allow-unsupported-compiler "; do
    # shellcheck disable=SC2086
    if (cd src && "$NVCC" -ccbin "$cuda_ccbin" $unsupported$cuda_flags -o ../conftest.dir/trial.so \
      ../conftest.dir/trial.cu) > conftest.dir/log 2>&1; then
      rm -rf conftest.dir
      return 0
    fi
  done
  line=`grep -i error conftest.dir/log | sed 1q`
  cuda_why="$NVCC $cuda_version with host compiler $cuda_ccbin cannot build a small program (${line:-no message})"
  rm -rf conftest.dir
  return 1
}

# The names that cuBLAS and cuSOLVER are opened by; they count on their own. The toolkit's root is what nvcc itself
# takes: its own folder says nothing where it is a wrapper or a link.
find_libraries() {
  root=`"$NVCC" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p' | sed 1q`
  if test -z "$root"; then root=`dirname "$NVCC"`/..; fi
  root=`cd "$root" 2>/dev/null && pwd`
  machine=`uname -m`
  cuda_libdir=
  cublas=libcublas.so.${cuda_version%%.*}
  case $cuda_version in 1[12].*) cusolver=libcusolver.so.11 ;; *) cusolver=libcusolver.so.12 ;; esac
  for folder in "$root/lib64" "$root/targets/$machine-linux/lib" "$root/targets/sbsa-linux/lib" "$root/lib" \
    "/usr/lib/$machine-linux-gnu"; do
    if test -z "`names_of libcublas`"; then continue; fi
    cuda_libdir=$folder
    cublas=`name_of libcublas "$cublas"`
    cusolver=`name_of libcusolver "$cusolver"`
    break
  done
}

# Names of a library in $folder, with the number of its interface; the expected one where it is there or none is.
names_of() { ls "$folder" 2>/dev/null | sed -n "s/^\($1\.so\.[0-9][0-9]*\).*/\1/p" | sort -u; }
name_of() {
  names=`names_of "$1"`
  case " "`echo $names`" " in *" $2 "* | "  ") echo "$2" ;; *) echo "$names" | sed 1q ;; esac
}

configure_cuda() {
  read_cuda_options "$@"
  CUDA_PLUGIN=
  NVCCFLAGS=
  cuda_why=
  if test "$cuda_want" = no; then
    cuda_why="it was switched off"
  elif find_nvcc && ask_nvcc && try_nvcc; then
    find_libraries
  fi
  if test -n "$cuda_why"; then
    rm -f src/cuda/cuda_build.h src/cuda/voxridge_cuda.so
    printf 'Plugin: no\nReason: %s\n' "$cuda_why" > src/cuda/build.dcf
    say "CUDA plugin: no, $cuda_why"
    case $cuda_want in auto | no) return 0 ;; esac
    echo "configure: CUDA was asked for ($cuda_want), so this is an error; VOXRIDGE_CUDA=auto builds without it" >&2
    return 1
  fi

  NVCCFLAGS="-ccbin '$cuda_ccbin' $unsupported$cuda_flags"
  for arch in $architectures; do
    NVCCFLAGS="$NVCCFLAGS -gencode arch=compute_$arch,code=sm_$arch"
  done
  NVCCFLAGS="$NVCCFLAGS -gencode arch=compute_$arch,code=compute_$arch"  # later ones translate this when they run it
  CUDA_PLUGIN=cuda/voxridge_cuda.so
  cat > conftest.h <<HEADER
#define VOXRIDGE_CUBLAS_NAMES "$cublas"
#define VOXRIDGE_CUSOLVER_NAMES "$cusolver"
#define VOXRIDGE_CUDA_LIBDIR "$cuda_libdir"
#define VOXRIDGE_CUDA_ARCHITECTURES "$architectures"
HEADER
  # as old as it was where it is the same: the plugin of an earlier build in this folder is then up to date
  if cmp -s conftest.h src/cuda/cuda_build.h; then rm conftest.h; else mv conftest.h src/cuda/cuda_build.h; fi
  cat > src/cuda/build.dcf <<RECORD
Plugin: yes
Toolkit: $cuda_version
Nvcc: $NVCC
Compiler: $cuda_ccbin
Architectures: $architectures
Cublas: $cublas
Cusolver: $cusolver
RECORD
  say "CUDA plugin: toolkit $cuda_version ($NVCC), host compiler $cuda_ccbin, architectures $architectures, $cublas, $cusolver"
  if test -n "$unsupported"; then
    say "CUDA plugin: this toolkit does not support $cuda_ccbin; a trial build with -allow-unsupported-compiler went well"
  fi
}
