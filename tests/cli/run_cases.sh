#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the command line's cases: run_cases.sh TOOL MAKE_LOGS RUN_CHILD LIBRARY
# [CASE... | - CASE...]; behind a `-` are those that it leaves out.
# cases/NAME.cmd is a shell script, run in an empty folder where $TOOL is the
# tool, $LOGS a folder with good.pplog and lossy.pplog, $TESTS this folder,
# $RUN_CHILD a program for `run`, and $RUN_LIBRARY libpprof_nvtx.so.
# What it prints must equal cases/NAME.stdout and NAME.stderr (a missing file:
# nothing), its exit status NAME.exit (a missing file: 0). With
# SET_EXACT_OUTPUT=1 a difference is written into the case, for review.
set -u

if [ $# -lt 4 ]; then
  echo "usage: run_cases.sh TOOL MAKE_LOGS RUN_CHILD LIBRARY [CASE...]" >&2
  exit 2
fi
absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
TOOL=$(absolute "$1")
make_logs=$(absolute "$2")
run_child=$(absolute "$3")
RUN_LIBRARY=$(readlink -f "$4")
shift 4
TESTS=$(dirname "$(absolute "$0")")
cases=$TESTS/cases
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
LOGS=$scratch/logs
# A short name: messages are cut where they grow long.
RUN_CHILD=$scratch/bin/run_child
mkdir "$scratch/bin"
cp "$run_child" "$RUN_CHILD"
LC_ALL=C.UTF-8
TZ=UTC
# Half an hour behind what make_logs makes: no log is old.
SOURCE_DATE_EPOCH=1700001800
export TOOL LOGS TESTS RUN_CHILD RUN_LIBRARY LC_ALL TZ SOURCE_DATE_EPOCH
unset PPROF_TEST_LONG PPROF_TEST_SEED NO_COLOR COLUMNS PPROF_CONFIG PPROF_OUTPUT PPROF_SET PPROF_ENABLE
unset NVTX_INJECTION64_PATH PPROF_NVTX PPROF_NVTX_CHAIN
mkdir "$LOGS"
"$make_logs" "$LOGS" || exit 1

# Compares $2 with the case's file $1; a missing file means `$3`.
compare() {
  if [ -f "$1" ]; then
    cat "$1" >"$scratch/expected"
  else
    printf '%s' "$3" >"$scratch/expected"
  fi
  cmp -s "$scratch/expected" "$2" && return 0
  if [ "${SET_EXACT_OUTPUT:-0}" = 1 ]; then
    cp "$2" "$1"
    [ "$(cat "$2")" = "$3" ] && rm "$1"
    return 0
  fi
  echo "--- $(basename "$1"), expected and got:"
  diff "$scratch/expected" "$2"
  return 1
}

limit=300
passed=0
failed=0
for cmd in "$cases"/*.cmd; do
  name=$(basename "$cmd" .cmd)
  case " $* " in
    " -"*" $name "*) continue ;;
    "  " | " - "* | *" $name "*) ;;
    *) continue ;;
  esac
  work=$scratch/$name
  mkdir "$work"
  # A case that hangs is named, and shows how far it came.
  (cd "$work" && timeout -k 5 "$limit" sh "$cmd" >"$scratch/out" \
    2>"$scratch/err" </dev/null)
  printf '%s\n' "$?" >"$scratch/code"
  # Paths of this run mean nothing in a case.
  for stream in out err; do
    sed "s|$RUN_CHILD|RUN_CHILD|g; s|$scratch|SCRATCH|g
      s|$RUN_LIBRARY|RUN_LIBRARY|g" "$scratch/$stream" >"$scratch/std$stream"
  done
  good=1
  compare "$cases/$name.stdout" "$scratch/stdout" "" || good=0
  compare "$cases/$name.stderr" "$scratch/stderr" "" || good=0
  compare "$cases/$name.exit" "$scratch/code" "0
" || good=0
  if [ $good = 1 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
  fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
