#!/bin/sh
# A program with every marker compiles without one warning in each language
# version and by each compiler that is here, with PPROF_DISABLE and without;
# with it, it links and runs without the library. Run in the tree's root.
set -u

scratch=${TEST_TMPDIR:-$(mktemp -d)}
failed=0

# compile COMPILER LANGUAGE STANDARD OPTION...
compile() {
  compiler=$1 language=$2 standard=$3
  shift 3
  "$compiler" -x "$language" "-std=$standard" -Wall -Wextra -pedantic -Werror \
    -Wshadow -Wconversion -I sdk/include -I tests/api tests/api/disabled.c "$@"
}

# check COMPILER LANGUAGE STANDARD
check() {
  compile "$@" -c -o "$scratch/enabled.o" &&
    compile "$@" -DPPROF_DISABLE -O0 -o "$scratch/disabled" &&
    "$scratch/disabled" && return
  echo "FAILED: $1 -std=$3, answer $?"
  failed=1
}

for compiler in gcc clang; do
  command -v "$compiler" >/dev/null || continue
  check "$compiler" c c11
done
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  for standard in c++11 c++14 c++17 c++20; do
    check "$compiler" c++ "$standard"
  done
done
exit "$failed"
