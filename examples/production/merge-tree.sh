#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# merge-tree.sh OUT LOG...: under mpirun or srun, all processes make one log of
# many: each its share of LOGs first, then two by two; OUT lies in a folder that
# all see. What it makes is the merge of all in one go, byte by byte. Process 0
# exits as that merge would: with 4 where an input is damaged.
set -u

rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-1}}}
slurm=${SLURM_JOB_ID:+$SLURM_JOB_ID.${SLURM_STEP_ID:-0}.${SLURM_RESTART_COUNT:-0}}
job=${slurm:-${PMI_JOBID:-}}
# A number that Open MPI 4 draws for a job: its namespace comes from a process id.
if [ -n "${OMPI_COMM_WORLD_RANK:-}" ]; then
  job=${OMPI_MCA_orte_precondition_transports:-${PMIX_NAMESPACE:-}}
fi
job=${MERGE_TREE_JOB:-$job}
out=$1
shift

say() {
  echo "merge-tree.sh: $1" >&2
}

[ "$size" -le $# ] || size=$#
[ "$rank" -lt "$size" ] || exit 0
if [ "$size" -gt 1 ] && [ -z "$job" ]; then
  say "the launcher does not say which job this is: set MERGE_TREE_JOB, for all processes alike and for each job anew"
  exit 2
fi
at=0
for log; do
  shift
  [ $((at % size)) -ne "$rank" ] || set -- "$@" "$log"
  at=$((at + 1))
done

# What another job has left has other names. A process that fails merges no more,
# but still waits for the others and removes what they made.
mine=$out.${job:-$$}.$rank
code=0

# 4 is a result, too: of what could be read.
is_result() {
  [ "$code" -eq 0 ] || [ "$code" -eq 4 ]
}

take() {
  if is_result && [ "$1" -ne 0 ]; then code=$1; fi
}

merge() {
  is_result || return 0
  pprof-report merge --force "$@" -o "$mine.next" || take $?
  if is_result; then mv "$mine.next" "$mine" || take 2; fi
}

refuse_existing() {
  [ -e "$out" ] || return 0
  say "$out: exists, it will not be overwritten"
  take 2
}

refuse_existing
merge "$@"

width=1
while [ "$width" -lt "$size" ] && [ $((rank / width % 2)) -eq 0 ]; do
  next=$((rank + width))
  other=$out.$job.$next
  if [ "$next" -lt "$size" ]; then
    until [ -e "$other.done" ]; do sleep 1; done
    theirs=$(cat "$other.done") || theirs=2
    case $theirs in
      0 | 4) ;;
      *) say "process $rank: nothing is merged, as process $next ended with $theirs" ;;
    esac
    take "$theirs"
    merge "$mine" "$other"
    rm -f "$other" "$other.done"
  fi
  width=$((width * 2))
done

# A name is there when its file is whole. Process 0 tells of damage: launchers
# end all processes when one has failed.
if [ "$rank" -eq 0 ]; then
  refuse_existing
  if is_result; then mv "$mine" "$out" || take 2; fi
fi
is_result || rm -f "$mine" "$mine.next"
[ "$rank" -ne 0 ] || exit "$code"
{ echo "$code" >"$mine.next" && mv "$mine.next" "$mine.done"; } || exit 2
is_result || exit "$code"
