#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# python_reader_test.sh LOG_DUMP PPLOG_PY LOG_DUMP_PY SAMPLES|LOG...
#
# The C reader and the Python one print the same lines for every log: those
# given, and those that SAMPLES (the log_samples program) makes.
set -u
dump=$1 reader=$2 python_dump=$3
shift 3
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/pplog.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/logs"
count=0
failed=0

compare() {
  count=$((count + 1))
  "$dump" "$1" >"$scratch/c" 2>/dev/null
  c_status=$?
  PYTHONPATH=$(dirname "$reader") PYTHONDONTWRITEBYTECODE=1 \
    python3 "$python_dump" "$1" >"$scratch/python" 2>"$scratch/error"
  python_status=$?
  if [ $c_status -ne $python_status ] || [ ! -s "$scratch/c" ] ||
    ! cmp -s "$scratch/c" "$scratch/python"; then
    echo "FAIL: $1 (exit $c_status and $python_status)"
    diff "$scratch/c" "$scratch/python" | head -5
    cat "$scratch/error"
    failed=$((failed + 1))
  fi
}

for given in "$@"; do
  case $given in
    *.pplog | *.part) compare "$given" ;;
    *) "$given" "$scratch/logs" || exit 1 ;;
  esac
done
for log in "$scratch"/logs/*.pplog; do
  [ -e "$log" ] && compare "$log"
done
echo "$count logs compared, $failed differ"
[ $count -gt 0 ] && [ $failed -eq 0 ]
