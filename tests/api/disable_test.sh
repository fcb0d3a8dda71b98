#!/bin/sh
# A program with every marker compiles without one warning in each language
# version and by each compiler that is here, with PPROF_DISABLE and without;
# with it, it links and runs without the library. So does the program of README.md,
# which then leaves no log. Run in the tree's root.
set -u

scratch=${TEST_TMPDIR:-$(mktemp -d)}
failed=0
includes="-I sdk/include -I exporters/include -I config/include"

# compile COMPILER LANGUAGE STANDARD OPTION...
compile() {
  compiler=$1 language=$2 standard=$3
  shift 3
  "$compiler" -x "$language" "-std=$standard" -Wall -Wextra -pedantic -Werror \
    -Wshadow -Wconversion $includes -I tests/api tests/api/disabled.c "$@"
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

# No call is left of it, and none of its data.
check_hello() {
  sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$scratch/hello.c"
  gcc -O2 -Wall -Wextra -Werror -DPPROF_DISABLE $includes "$scratch/hello.c" \
    -o "$scratch/hello" || return
  mkdir -p "$scratch/run" && cd "$scratch/run" || return
  [ "$(../hello | wc -l)" -eq 20 ] && [ -z "$(ls -A)" ] &&
    ! nm "$scratch/hello" | grep -i pprof
}
(check_hello) || { echo "FAILED: README's hello" && failed=1; }
exit "$failed"
