#!/bin/sh
# A Slurm cluster that lasts as long as a test: controller and nodes n1, n2, ... are processes of this machine, which
# listen on one of its own addresses and keep all they write in one folder. The system's own Slurm is left alone.
#
#   sh tools/slurm_single_node.sh run COMMAND...   starts a cluster, runs the command in it, stops the cluster;
#                                                  exit status: that of the command
#   sh tools/slurm_single_node.sh start            starts one and leaves it running; prints what `env` prints
#   sh tools/slurm_single_node.sh env              the settings of a shell that is to use it: eval "$(... env)"
#   sh tools/slurm_single_node.sh status           its nodes and jobs
#   sh tools/slurm_single_node.sh kill-node n1     ends a node and what runs on it as a loss of power would
#   sh tools/slurm_single_node.sh start-node n1    brings it back
#   sh tools/slurm_single_node.sh stop             ends it and removes its folder
#
# Settings: SLURM_CI_DIR (the folder; /tmp/slurm-ci.<uid>), SLURM_CI_PORT (the first of the nodes + 1 ports; 26817),
# SLURM_CI_NODES (2), SLURM_CI_CPUS (of each node; 2), SLURM_CI_MEM (of each node, MB; 2000), SLURM_CI_KEEP (1: `stop`
# leaves the folder, for its logs). Clusters side by side need a folder and ports each.
#
# A folder belongs to the call that made it, which leaves a marker there; where another has been, `start` and `run` do
# nothing. `stop` touches no folder without a marker and no process that was not started from this folder.
#
# Exit status 77: there can be no cluster here; stderr says why. 2: wrong use, or the folder or a port is taken.
# 1: it did not start.
#
# Needs the Debian packages slurm-wlm and munge. Where the kernel allows it (CAP_SYS_ADMIN) the daemons get a host name
# of their own, localhost; else the host name of the machine has to resolve to one of its addresses.
set -u

self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
user=$(id -un) || exit 1
folder=${SLURM_CI_DIR:-/tmp/slurm-ci.$(id -u)}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
port=${SLURM_CI_PORT:-26817}
n_nodes=${SLURM_CI_NODES:-2}
cpus=${SLURM_CI_CPUS:-2}
memory_mb=${SLURM_CI_MEM:-2000}
marker=$folder/started_by_slurm_single_node
SLURM_CONF=$folder/slurm.conf
PATH=$PATH:/usr/sbin:/sbin
export SLURM_CONF PATH

say() { printf 'slurm: %s\n' "$*" >&2; }
give_up() { status=$1; shift; say "$@"; exit "$status"; }
nodes() { seq -f 'n%g' "$n_nodes"; }

# ---- what this machine allows ----------------------------------------------------------------

check_settings() {
  for number in "$port" "$n_nodes" "$cpus" "$memory_mb"; do
    case $number in '' | 0* | *[!0-9]*) give_up 2 "'$number' is no whole number above 0" ;; esac
  done
  # the socket of munge has to fit into the 108 bytes of a socket's address
  [ "${#folder}" -le 90 ] || give_up 2 "the path of the folder is too long: $folder"
  case $folder in
    *[!A-Za-z0-9_./-]*) give_up 2 "the folder may have letters, digits and _ . / - in its name, not: $folder" ;;
  esac
}

check_programs() {
  for program in munged slurmctld slurmd sbatch squeue; do
    command -v "$program" >/dev/null 2>&1 || give_up 77 "$program is not installed (Debian: slurm-wlm, munge)"
  done
}

# Sets `host` and `address`: the name the daemons take this machine for, and where they listen.
choose_host() {
  if unshare --uts true 2>/dev/null; then
    host=localhost
    address=127.0.0.1
    return
  fi
  host=$(hostname) || give_up 77 "this machine has no host name"
  address=$(getent ahostsv4 "$host" | awk 'NR == 1 { print $1 }')
  [ -n "$address" ] || give_up 77 "no UTS namespace can be made here, and the host name '$host' does not resolve"
}

# Ports of the kernel's table are hexadecimal, 0A is a listening socket.
check_ports() {
  for taken in $(seq "$port" $((port + n_nodes))); do
    awk -v port=":$(printf '%04X' "$taken")" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 }
      END { exit !found }' /proc/net/tcp && give_up 2 "port $taken is taken; choose others by SLURM_CI_PORT"
  done
  return 0
}

# The marker is made by the one call that finds none. A folder that is not empty is never taken over.
claim_folder() {
  mkdir -p "$folder" || give_up 2 "$folder cannot be made"
  [ -w "$folder" ] || give_up 2 "$folder cannot be written"
  if ! (set -C; echo "$$" >"$marker") 2>/dev/null; then
    give_up 2 "a cluster has been started in $folder; stop it, or choose another folder by SLURM_CI_DIR"
  fi
  if [ "$(find "$folder" -mindepth 1 -maxdepth 1 | wc -l)" -ne 1 ]; then
    rm -f "$marker"
    give_up 2 "$folder is not empty, and not by this script"
  fi
}

# ---- daemons ---------------------------------------------------------------------------------

# NoInAddrAny: no daemon listens on an address of another network. MinJobAge: finished jobs stay in squeue's view.
# A node that has been silent for SlurmdTimeout seconds is down.
write_configuration() {
  if [ "$n_nodes" -eq 1 ]; then
    names=n1 ports=$((port + 1))
  else
    names="n[1-$n_nodes]" ports="[$((port + 1))-$((port + n_nodes))]"
  fi
  cat >"$SLURM_CONF" <<CONFIGURATION
ClusterName=test
SlurmctldHost=$host($address)
SlurmctldPort=$port
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
PlugStackConfig=$folder/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,bf_interval=1
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=10
KillWait=2
UnkillableStepTimeout=10
MinJobAge=300
NodeName=$names NodeHostname=$host NodeAddr=$address Port=$ports RealMemory=$memory_mb CPUs=$cpus Sockets=1 \\
  CoresPerSocket=$cpus ThreadsPerCore=1 State=UNKNOWN
PartitionName=test Nodes=$names Default=YES DefaultTime=10 MaxTime=60 State=UP
CONFIGURATION
  : >"$folder/plugstack.conf"
}

# A daemon under the host name of the configuration.
as_host() {
  if grep -q '^SlurmctldHost=localhost(' "$SLURM_CONF"; then
    # shellcheck disable=SC2016
    unshare --uts sh -c 'hostname localhost && exec "$@"' sh "$@"
  else
    "$@"
  fi
}

start_daemons() {
  mkdir "$folder/state"
  for node in $(nodes); do mkdir "$folder/spool.$node"; done
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
  write_configuration
  # --force: the folder may be one that only this user can enter, and everybody who needs the socket is this user
  as_host munged --force --origin="$address" --key-file="$folder/munge.key" \
    --seed-file="$folder/munge.seed" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" 2>"$folder/munged.err" &&
    as_host slurmctld -i || return 1
  for node in $(nodes); do as_host slurmd -N "$node" || return 1; done
}

all_idle() { [ "$(timeout 2 sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" -eq "$n_nodes" ]; }

# wait_for SECONDS CONDITION...
wait_for() {
  tries=$(($1 * 10))
  shift
  while ! "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.1
  done
}

# Everything before the marker leaves no trace; after it, what has been started is ended again.
start() {
  check_settings
  check_programs
  choose_host
  check_ports
  claim_folder
  trap stop_own EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  start_daemons && wait_for 10 all_idle && return 0
  say "the nodes are not ready:"
  for file in "$folder"/*.log "$folder"/munged.err; do printf '== %s\n' "$file"; tail -n 8 "$file"; done >&2
  [ "$host" = localhost ] || give_up 77 "no cluster under the host name '$host' at $address"
  exit 1
}

# ---- the processes of this cluster -----------------------------------------------------------

# Process $1 is a running program $2 that was started with this folder's configuration. A process that has ended stays a
# zombie where nobody collects it; it has no environment.
is_ours() {
  [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] &&
    tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -qxF "SLURM_CONF=$SLURM_CONF"
}

is_gone() { ! is_ours "$1" "$2"; }

# end_daemon PROGRAM PID_FILE
end_daemon() {
  pid=$(cat "$2" 2>/dev/null) && [ -n "$pid" ] && is_ours "$pid" "$1" || return 0
  kill "$pid" 2>/dev/null
  wait_for 5 is_gone "$pid" "$1" || kill -s KILL "$pid" 2>/dev/null
}

# Job steps: every job has a slurmstepd, which holds the log of its node open.
steps_of_node() {
  for process in /proc/[0-9]*; do
    is_ours "${process#/proc/}" slurmstepd || continue
    readlink "$process"/fd/* 2>/dev/null | grep -qxF "$folder/slurmd.$1.log" && echo "${process#/proc/}"
  done
}

# Children first are asked for, or they would be lost to process 1.
kill_tree() {
  children=$(cat "/proc/$1/task/"*/children 2>/dev/null)
  for child in $children; do ( kill_tree "$child" ); done
  kill -s KILL "$1" 2>/dev/null
}

kill_steps() { for step in $(steps_of_node "$1"); do kill_tree "$step"; done; }

check_node() {
  [ -f "$marker" ] || give_up 2 "no cluster has been started in $folder"
  [ -d "$folder/spool.${1:-}" ] || give_up 2 "there is no node '${1:-}'"
}

runs() { pid=$(cat "$folder/slurmd.$1.pid" 2>/dev/null) && is_ours "$pid" slurmd; }

kill_node() {
  check_node "$@"
  runs "$1" || give_up 2 "$1 is not running"
  kill -s KILL "$pid"
  rm -f "$folder/slurmd.$1.pid"
  kill_steps "$1"
}

start_node() {
  check_node "$@"
  if runs "$1"; then give_up 2 "$1 is running"; fi
  as_host slurmd -N "$1"
}

no_jobs() { [ -z "$(timeout 2 squeue -h 2>/dev/null)" ]; }

stop() {
  [ -e "$folder" ] || return 0
  [ -f "$marker" ] || { say "$folder is not by this script: nothing is done"; return 2; }
  pid=$(cat "$folder/slurmctld.pid" 2>/dev/null)
  if [ -n "$pid" ] && is_ours "$pid" slurmctld; then
    timeout 5 scancel --user="$user" >/dev/null 2>&1
    wait_for 5 no_jobs
  fi
  for spool in "$folder"/spool.*; do
    node=${spool##*/spool.}
    end_daemon slurmd "$folder/slurmd.$node.pid"
    kill_steps "$node"
  done
  end_daemon slurmctld "$folder/slurmctld.pid"
  end_daemon munged "$folder/munged.pid"
  if [ "${SLURM_CI_KEEP:-0}" = 1 ]; then
    say "the folder is kept: $folder"
    rm -f "$folder"/*.pid
  else
    rm -rf "$folder"
  fi
}

# At the end of `run`, unless the cluster has been stopped and another one started in its place.
stop_own() { [ "$(cat "$marker" 2>/dev/null)" != "$$" ] || stop; }

# ---- commands --------------------------------------------------------------------------------

# USER: batchtools asks for the jobs of $USER, which containers and CI may not set.
print_environment() {
  printf 'export %s\n' "SLURM_CONF=$SLURM_CONF" "USER=$user" "LOGNAME=$user" "SLURM_CI_DIR=$folder" \
    "SLURM_CI_NODES=$n_nodes" "SLURM_CI_TOOL=$self"
}

case ${1:-} in
  run)
    shift
    [ "$#" -gt 0 ] || give_up 2 "run needs a command"
    start
    eval "$(print_environment)"
    "$@"
    exit $?
    ;;
  start)
    start
    trap - EXIT
    print_environment
    ;;
  stop) stop ;;
  env) print_environment ;;
  status) sinfo -N -l && squeue -l ;;
  kill-node | start-node)
    command=$(echo "$1" | tr - _)
    shift
    "$command" "$@"
    ;;
  *)
    sed -n '2,/^set -u/ { /^#/ s/^# \{0,1\}//p; }' "$0" >&2
    exit 2
    ;;
esac
