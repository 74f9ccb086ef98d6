#!/bin/sh
# Installs what a bare Debian 12+ or Ubuntu 24.04+ lacks, and nothing where all is there (no network then).
#
#   sh tools/setup.sh quickstart     what building and running the package needs
#   sh tools/setup.sh test           that, and what its tests and R CMD check need
#
# Says one line per decision on stderr. Exit status 0: everything is in place.
set -u

role=${1:-quickstart}
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
oldest_r=4.2.0

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

case $role in
  quickstart | test) ;;
  *) fail "the role must be quickstart or test, not '$role'" ;;
esac

# package at least-version, as R names them
r_packages="BH:1.74 Rcpp:1.0.10 RcppArmadillo:0.12 cli:3.6.0 generics:0.1.0 rlang:1.0.6 parallelly:1.30 future:1.31 future.apply:1.10"
if [ "$role" = test ]; then
  r_packages="$r_packages testthat:3.1.6 withr:2.5.0 roxygen2:7.2.0 jsonlite:1.8 glmnet:4.1 lintr:3.0.0 ggplot2:3.4.0"
  r_packages="$r_packages knitr:1.40 rmarkdown:2.20 yaml:2.3 bigmemory:4.6 batchtools:0.9.16 future.batchtools:0.12 hdf5r:1.3"
fi

# R packages of the list above that are missing or too old.
missing_r_packages() {
  # shellcheck disable=SC2086
  Rscript --vanilla -e '
    for (item in strsplit(commandArgs(TRUE), ":", fixed = TRUE)) {
      found <- suppressWarnings(utils::packageDescription(item[1L], fields = "Version"))
      if (is.na(found) || package_version(found) < item[2L]) cat(item[1L], "")
    }' $r_packages 2>/dev/null
}

# Debian packages to install, one decision each.
wanted() {
  have Rscript || { echo r-base-core; }
  can_build || echo r-base-dev
  if have Rscript; then
    for package in $(missing_r_packages); do
      echo "r-cran-$(printf '%s' "$package" | tr '[:upper:]' '[:lower:]')"
    done
  else
    for item in $r_packages; do
      echo "r-cran-$(printf '%s' "${item%%:*}" | tr '[:upper:]' '[:lower:]')"
    done
  fi
  have_header zlib.h || echo zlib1g-dev
  # R's own BLAS is some twenty times slower, and has no single precision.
  fast_blas || echo libopenblas-dev
  if [ "$role" = test ]; then
    have_header gtest/gtest.h || echo libgtest-dev
    # what the tests of images compare with
    imports nibabel || echo python3-nibabel
    # what the tests of decoding compare with
    imports sklearn || echo python3-sklearn
    have nifti_tool || echo nifti-bin
    if [ -f "$root/tests/cpp/CMakeLists.txt" ] && ! have cmake; then echo cmake; fi
  fi
}

# What makes the checks more complete, and is done without where it cannot be installed.
wished() {
  [ "$role" = test ] || return 0
  have qpdf || echo qpdf
  have pandoc || echo pandoc
  have checkbashisms || echo devscripts
  # the cluster of tools/slurm_single_node.sh
  { [ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/slurmd ]; } || echo slurm-wlm
  [ -x /usr/sbin/munged ] || echo munge
}

# R packages that some tests compare with or read files by; those tests are skipped without them.
offered_peers() {
  [ "$role" = test ] && have Rscript && have apt-get && can_be_root || return 0
  for item in multtest:r-bioc-multtest coin:r-cran-coin rhdf5:r-bioc-rhdf5; do
    Rscript --vanilla -e "quit(status = !nzchar(system.file(package = '${item%%:*}')))" >/dev/null 2>&1 && continue
    case $(candidate_of "${item#*:}") in '' | '(none)') ;; *) echo "${item#*:}" ;; esac
  done
}

# A C++17 program links against the libraries that R names.
can_build() {
  have make && have g++ && have R && printf 'int main() { return 0; }\n' |
    eval "g++ -std=c++17 -x c++ -o /dev/null - $(for flags in LAPACK_LIBS BLAS_LIBS FLIBS; do R CMD config "$flags"; done |
      tr '\n' ' ')" >/dev/null 2>&1
}

# Other BLAS builds (BLIS, MKL, ATLAS, Accelerate) are left as they are.
fast_blas() {
  if have Rscript; then
    Rscript --vanilla -e '
      blas <- tolower(c(extSoftVersion()[["BLAS"]], La_library()))
      blas <- c(blas, tolower(tryCatch(normalizePath(blas[1L]), error = function(e) "", warning = function(w) "")))
      quit(status = !any(grepl("openblas|blis|mkl|atlas|accelerate|veclib", blas)))' >/dev/null 2>&1
  else
    return 1
  fi
}

have_header() {
  have g++ && printf '#include <%s>\n' "$1" | g++ -x c++ -std=c++17 -fsyntax-only - >/dev/null 2>&1
}

# For the python3 of the path or that of the system, as the tests look for it.
imports() {
  for python in python3 /usr/bin/python3; do
    have "$python" && "$python" -c "import $1" >/dev/null 2>&1 && return 0
  done
  return 1
}

r_is_new_enough() {
  Rscript --vanilla -e "quit(status = getRversion() < '$oldest_r')" >/dev/null 2>&1
}

check_r() {
  have Rscript || return 0
  r_is_new_enough || fail "R $(Rscript --vanilla -e 'cat(format(getRversion()))') is too old: voxridge needs R >= $oldest_r." \
    "Debian 12 and Ubuntu 24.04 bring a newer one; for older systems CRAN's page 'R for Linux' tells how."
}

# Packages of the system are seen only by the R of the system.
check_r_is_the_systems() {
  have Rscript || return 0
  home=$(Rscript --vanilla -e 'cat(normalizePath(R.home()))' 2>/dev/null)
  [ "$home" = /usr/lib/R ] || fail "$(missing_r_packages)missing for the R at $home, which apt-get cannot serve." \
    "Install them from R with install.packages() and run this again."
}

can_be_root() { [ "$(id -u)" -eq 0 ] || { have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

apt() { as_root apt-get -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 -qq "$@" >>"$log" 2>&1; }

candidate_of() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p'; }

# Version $1 (as Debian writes it) is at least $2.
at_least() { dpkg --compare-versions "$1" ge "$2"; }

install_packages() {
  have apt-get || fail "this system has no apt-get. Install R >= $oldest_r, a C++17 and a Fortran compiler, make," \
    "and the R packages" "$(for item in $r_packages; do printf '%s ' "${item%%:*}"; done)"
  can_be_root || fail "administrator rights are needed; run as root:  apt-get install" "$@"
  log=$(mktemp) || exit 1
  trap 'rm -f "$log"' EXIT
  if [ -z "$(candidate_of r-base-core)" ] || [ "$(candidate_of r-base-core)" = "(none)" ] || ! lists_are_complete "$@"; then
    say "reading the package lists"
    apt update || fail_with_log "apt-get update failed"
  fi
  candidate=$(candidate_of r-base-core)
  case $candidate in
    '' | '(none)') fail "no r-base-core among the package sources (on Ubuntu it is in the component 'universe')" ;;
  esac
  at_least "$candidate" "$oldest_r" || fail "this system offers R $candidate, voxridge needs R >= $oldest_r." \
    "Debian 12 and Ubuntu 24.04 bring a newer one; for older systems CRAN's page 'R for Linux' tells how."
  say "installing" "$@"
  apt install -y --no-install-recommends "$@" && return 0
  say "once more with fresh package lists"
  apt update && apt install -y --no-install-recommends "$@" || fail_with_log "apt-get install failed"
}

lists_are_complete() {
  for name in "$@"; do
    case $(candidate_of "$name") in '' | '(none)') return 1 ;; esac
  done
}

fail_with_log() {
  tail -n 15 "$log" >&2
  fail "$@"
}

check_r
packages=$(wanted | sort -u | tr '\n' ' ')
more=$(wished | tr '\n' ' ')
if [ -n "$more" ]; then
  if have apt-get && can_be_root; then packages=$packages$more; else say "going on without $more"; fi
fi
if [ -n "$packages" ]; then
  case $packages in *r-cran-*) check_r_is_the_systems ;; esac
  # shellcheck disable=SC2086
  install_packages $packages
  check_r
  left=$(missing_r_packages)
  [ -z "$left" ] || fail "R packages still missing or too old: $left"
else
  say "everything for '$role' is in place"
fi
peers=$(offered_peers | tr '\n' ' ')
if [ -n "$peers" ]; then
  say "installing $peers"
  : "${log:=/dev/null}"
  # shellcheck disable=SC2086
  apt install -y --no-install-recommends $peers || say "going on without $peers"
fi
