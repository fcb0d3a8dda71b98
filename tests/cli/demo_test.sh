#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The example pipeline whole, as `./dev demo` runs it: demo_test.sh PIPELINE
# TOOL, from the repository's root. Its outputs must agree with its own
# reference, the report made in the process must equal the one made from the
# log, and the trace, recomputed by a program that shares no code, must agree
# with both. Then the same with a run that is killed.
set -eu

absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
pipeline=$(absolute "$1")
tool=$(absolute "$2")
config=$(absolute examples/config/pipeline.yaml)
recompute=$(absolute tests/cli/demo_recompute.py)
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset PPROF_CONFIG PPROF_OUTPUT PPROF_SET PPROF_ENABLE
cd "$scratch"

echo "== a run from start to stop"
"$pipeline" --config "$config" --requests 24
"$tool" summary --strict pipeline.pplog >tables.txt
"$tool" -f json -o log.report.json pipeline.pplog
cmp log.report.json pipeline.report.json
"$tool" --view requests --warmup 0 -f json -o requests.json pipeline.pplog
python3 "$recompute" pipeline.report.json pipeline.trace.json.gz requests.json
"$tool" trace -o log.trace.json pipeline.pplog
python3 "$recompute" log.report.json log.trace.json
"$tool" check --strict pipeline.pplog
for trace in pipeline.trace.json.gz log.trace.json; do
  for options in "" "--thread-sep --op-detail" "--view stages,requests" \
    "--style torch" "--style nsys"; do
    # shellcheck disable=SC2086
    "$tool" -f csv -o log.csv --force $options pipeline.pplog
    # shellcheck disable=SC2086
    "$tool" -f csv -o trace.csv --force $options "$trace"
    cmp log.csv trace.csv
  done
done

echo "== a run that is killed"
mkdir killed
cd killed
"$pipeline" --config "$config" --requests 100000 >out.txt 2>&1 &
pid=$!
# What is compared is there once an inference has ended.
until "$tool" -f csv --view model pipeline.pplog.part 2>said.txt |
  grep -q '^Inference,'; do
  kill -0 $pid
done
kill -9 $pid
wait $pid || true
spool=$("$tool" info pipeline.pplog.part |
  sed -n 's/^ *spool  *\(\/.*\)/\1/p')
if [ -e "$spool" ]; then
  "$tool" -f json -o dead.report.json "$spool"
  "$tool" recover "$spool"
  [ ! -e "$spool" ]
else # no memory-backed folder here: the log is all there is
  "$tool" -f json -o dead.report.json pipeline.pplog.part || [ $? = 4 ]
  "$tool" recover pipeline.pplog.part || [ $? = 4 ]
fi
[ ! -e pipeline.pplog.part ]
"$tool" check pipeline.pplog
"$tool" -f json -o log.report.json pipeline.pplog
cmp log.report.json dead.report.json
"$tool" trace -o log.trace.json pipeline.pplog
python3 "$recompute" log.report.json log.trace.json
echo "passed"
