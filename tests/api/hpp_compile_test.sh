#!/bin/sh
# A program with every call of pprof.hpp compiles without one warning in each
# version of C++ and by each compiler that is here, with exceptions and without,
# with PPROF_DISABLE and without; with it, it links and runs without the
# library. An object that nobody holds is warned of. Run in the tree's root.
set -u

scratch=${TEST_TMPDIR:-$(mktemp -d)}
failed=0

# compile COMPILER STANDARD OPTION...
compile() {
  compiler=$1 standard=$2
  shift 2
  "$compiler" -x c++ "-std=$standard" -Wall -Wextra -pedantic -Werror -Wshadow \
    -Wconversion -I sdk/include "$@"
}

# check COMPILER STANDARD
check() {
  compile "$@" -c tests/api/hpp_calls.cc -o "$scratch/enabled.o" &&
    compile "$@" -fno-exceptions -fno-rtti -O2 -c tests/api/hpp_calls.cc \
      -o "$scratch/bare.o" &&
    compile "$@" -DPPROF_DISABLE -O0 tests/api/hpp_calls.cc \
      -o "$scratch/disabled" &&
    "$scratch/disabled" && return
  echo "FAILED: $1 -std=$2"
  failed=1
}

# In an optimised build nothing at all is left of markers.
check_nothing_left() {
  printf '%s\n' '#include <pprof/pprof.hpp>' \
    'void work() { pprof::scope here("work"); pprof::mark("point"); }' |
    compile "$1" c++17 -DPPROF_DISABLE -O2 -S - -o "$scratch/nothing.s"
  grep -q 'call\|jmp\|bl ' "$scratch/nothing.s" || return
  echo "FAILED: $1 leaves code with PPROF_DISABLE"
  failed=1
}

check_discarded() {
  printf '%s\n' '#include <pprof/pprof.hpp>' \
    'void work() { pprof::scope("gone at once"); }' |
    compile "$1" c++17 -fsyntax-only - 2>/dev/null || return
  echo "FAILED: $1 says nothing of an object that is gone at once"
  failed=1
}

for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  for standard in c++11 c++14 c++17 c++20; do
    check "$compiler" "$standard"
  done
  check_nothing_left "$compiler"
  check_discarded "$compiler"
done
exit "$failed"
