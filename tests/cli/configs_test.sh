#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The ready files of examples/config on the example pipeline: configs_test.sh
# PIPELINE TOOL, from the repository's root. Each must leave what its comment
# says, as read from the logs by a program of its own.
set -eu

absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
pipeline=$(absolute "$1")
tool=$(absolute "$2")
configs=$(absolute examples/config)
check=$(absolute tests/cli/configs_check.py)
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/configs.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset PPROF_CONFIG PPROF_OUTPUT PPROF_SET PPROF_ENABLE RANK
unset OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID

# run NAME REQUESTS: in an empty folder.
run() {
  echo "== $1 ${PPROF_SET:-}"
  rm -rf "$scratch/run"
  mkdir "$scratch/run"
  cd "$scratch/run"
  "$tool" config validate "$configs/$1.yaml"
  "$pipeline" --config "$configs/$1.yaml" --requests "$2"
}
# Prints a log's trace and what it is, for the checks.
look() {
  "$tool" check "$1" >check.txt
  "$tool" trace -o - "$1" >trace.json
  "$tool" info -f json "$1" >info.json
}

run first_look 24
look first_look.pplog
"$tool" check --strict first_look.pplog >check.txt
"$tool" summary first_look.pplog | cmp - first_look.txt
python3 "$check" first_look 24

run serving 40
[ "$(ls)" = "$(echo serving.*.0001.pplog)" ]
look serving.*.pplog
"$tool" check --strict serving.*.pplog >check.txt
python3 "$check" serving 40

# Small pieces, of which the last is kept: 240 requests fill one, or nearly.
PPROF_SET='rotate.size=64KiB;rotate.keep=1;requests.every=1' run serving 360
[ "$(ls | wc -l)" = 1 ]
[ ! -e serving.*.0001.pplog ]
"$tool" summary serving.*.pplog >tables.txt
"$tool" check serving.*.pplog >check.txt

PPROF_SET='flight_recorder.rules=[request > 1h]' run flight_recorder 8
[ -z "$(ls)" ]
PPROF_SET='flight_recorder.rules=["stage \"decode\" > 1ns"]' \
  run flight_recorder 8
[ "$(ls)" = "$(echo slow.*.pplog)" ]
look slow.*.pplog
python3 "$check" flight_recorder 8

run training 80
[ "$(ls *.txt *.gz)" = "training.0.trace.json.gz
training.0.txt
training.1.trace.json.gz
training.1.txt" ]
look training.pplog
python3 "$check" training 80

run timer_only 96
grep -q '^=*Perf Summary=*$' timer_only.txt
look timer_only.pplog
"$tool" check --strict timer_only.pplog >check.txt
python3 "$check" timer_only 96

export RANK=0
run many_ranks 8
RANK=1 "$pipeline" --config "$configs/many_ranks.yaml" --requests 8
"$tool" check rank0.pplog rank1.pplog >check.txt
[ "$(ls rank*)" = "rank0.pplog
rank1.pplog" ]
# The same with windows that every run meets.
windows='{at: 2026-01-01T00:00:00Z, duration: 20ms, every: 40ms}'
export PPROF_SET="capture=$windows"
run many_ranks 48
RANK=1 "$pipeline" --config "$configs/many_ranks.yaml" --requests 48
for rank in 0 1; do
  look rank$rank.pplog
  python3 "$check" many_ranks 48
done
"$tool" summary rank0.pplog rank1.pplog >tables.txt
"$tool" merge -o all.pplog rank0.pplog rank1.pplog
echo "passed"
