#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the command line's cases: run_cases.sh TOOL MAKE_LOGS [CASE...].
# cases/NAME.cmd is a shell script, run in an empty folder where $TOOL is the
# tool, $LOGS a folder with good.pplog and lossy.pplog, and $TESTS this folder.
# What it prints must equal cases/NAME.stdout and NAME.stderr (a missing file:
# nothing), its exit status NAME.exit (a missing file: 0). With
# SET_EXACT_OUTPUT=1 a difference is written into the case, for review.
set -u

if [ $# -lt 2 ]; then
  echo "usage: run_cases.sh TOOL MAKE_LOGS [CASE...]" >&2
  exit 2
fi
absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
TOOL=$(absolute "$1")
make_logs=$(absolute "$2")
shift 2
TESTS=$(dirname "$(absolute "$0")")
cases=$TESTS/cases
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
LOGS=$scratch/logs
LC_ALL=C
TZ=UTC
export TOOL LOGS TESTS LC_ALL TZ
unset NO_COLOR PPROF_CONFIG PPROF_OUTPUT PPROF_SET PPROF_ENABLE
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

passed=0
failed=0
for cmd in "$cases"/*.cmd; do
  name=$(basename "$cmd" .cmd)
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  fi
  work=$scratch/$name
  mkdir "$work"
  (cd "$work" && sh "$cmd" >"$scratch/out" 2>"$scratch/err" </dev/null)
  printf '%s\n' "$?" >"$scratch/code"
  # Paths of this run's scratch folder mean nothing in a case.
  sed "s|$scratch|SCRATCH|g" "$scratch/out" >"$scratch/stdout"
  sed "s|$scratch|SCRATCH|g" "$scratch/err" >"$scratch/stderr"
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
