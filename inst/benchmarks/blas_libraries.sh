#!/bin/sh
# Fetches the BLAS libraries that the domain `blas` compares, beside the Python peers (tools/peers.sh). Nothing is
# installed: MKL goes into the peers' Python environment, Debian's packages are only unpacked.
#
#   sh inst/benchmarks/blas_libraries.sh
set -eu
dir=${VOXRIDGE_PEERS:-$HOME/.cache/voxridge-peers}
mkl=2026.2.0

if [ -x "$dir/bin/python" ]; then
  # without what it would bring along: the threads are those of GNU's OpenMP, which R has
  "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "mkl==$mkl" && echo "blas: mkl $mkl" ||
    echo "blas: mkl could not be installed"
else
  echo "blas: mkl left out, run tools/peers.sh first"
fi

if command -v apt-get >/dev/null 2>&1; then
  unpacked=$(dirname "$dir")/voxridge-blas
  fetched=$(mktemp -d)
  mkdir -p "$unpacked"
  for package in libopenblas0-pthread libopenblas0-openmp libblis4-pthread libblis4-openmp libblas3 liblapack3; do
    if (cd "$fetched" && apt-get download "$package" >/dev/null 2>&1 && dpkg-deb -x "$package"_*.deb "$unpacked"); then
      echo "blas: $package unpacked"
    else
      echo "blas: $package not available"
    fi
  done
  rm -r "$fetched"
fi
