#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# merge-tree.sh OUT LOG...: under mpirun or srun, all processes make one log of
# many: each its share of LOGs first, then two by two; OUT lies in a folder that
# all see. What it makes is the merge of all in one go, byte by byte.
set -eu

rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:-1}}}
out=$1
shift

[ "$size" -le $# ] || size=$#
[ "$rank" -lt "$size" ] || exit 0
at=0
for log; do
  shift
  [ $((at % size)) -ne "$rank" ] || set -- "$@" "$log"
  at=$((at + 1))
done
mine=$out.making-$rank
pprof-report merge "$@" -o "$mine"

width=1
while [ "$width" -lt "$size" ] && [ $((rank / width % 2)) -eq 0 ]; do
  other=$out.of-$((rank + width))
  if [ $((rank + width)) -lt "$size" ]; then
    until [ -e "$other" ]; do sleep 1; done
    pprof-report merge "$mine" "$other" -o "$mine.next"
    mv "$mine.next" "$mine"
    rm "$other"
  fi
  width=$((width * 2))
done

# A name is there when its file is whole.
if [ "$rank" -eq 0 ]; then
  mv "$mine" "$out"
else
  mv "$mine" "$out.of-$rank"
fi
