#!/bin/sh
# No wrong access, no use of what was never written, no leak, as valgrind's
# memcheck sees them: in the example programs, in what reads their log:
# HELLO PIPELINE PPROF-REPORT. Memory that a process shares with its end by
# design, such as a thread's block, is still reachable and no leak.
set -u

scratch=${TEST_TMPDIR:-$(mktemp -d)}
hello=$(realpath "$1")
pipeline=$(realpath "$2")
report=$(realpath "$3")
passed=0
failed=0

# check NAME COMMAND...
check() {
  name=$1
  shift
  if valgrind --quiet --error-exitcode=99 --leak-check=full \
    --errors-for-leak-kinds=definite,indirect --fair-sched=yes "$@" \
    >"$scratch/out" 2>&1; then
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    cat "$scratch/out"
    failed=$((failed + 1))
  fi
}

command -v valgrind >/dev/null || {
  echo "valgrind is missing: ./dev need valgrind"
  exit 1
}
cd "$scratch" || exit 1
# OpenCL's runtime has leaks of its own.
cat >run.yaml <<'END'
version: 1
output: run.pplog
capture: {warmup: 1, active: 2, repeat: 0}
devices: {mode: events, backends: [cpu]}
exports:
  - {format: chrome, path: run.trace.json.gz}
  - {format: json, path: run.report.json}
END
check "hello" "$hello"
check "the pipeline" "$pipeline" --config run.yaml --device cpu --requests 6
check "summary" "$report" summary run.pplog
check "trace" "$report" trace -o again.json run.pplog
check "info" "$report" info run.pplog
check "check" "$report" check run.pplog
check "merge" "$report" merge -o twice.pplog run.pplog
printf 'not a log' >bad.pplog
valgrind --quiet --error-exitcode=99 "$report" summary bad.pplog \
  >"$scratch/out" 2>&1
if [ $? -eq 3 ]; then
  passed=$((passed + 1))
else
  echo "FAILED: what is no log"
  cat "$scratch/out"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
