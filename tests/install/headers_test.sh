#!/bin/sh
# Every public header compiles alone, in each language version that a user may
# set, by each compiler that is here, without one warning: HEADER...
set -u

failed=0

# check COMPILER LANGUAGE STANDARD HEADER
check() {
  echo "#include <pprof/$(basename "$4")>" |
    "$1" -x "$2" "-std=$3" -Wall -Wextra -pedantic -Werror -fsyntax-only \
      -I sdk/include -I exporters/include -I config/include - && return
  echo "FAILED: $1 -std=$3 $4"
  failed=1
}

check_header() {
  for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    case $1 in
      *.h)
        for standard in c11 c17; do
          check "$compiler" c "$standard" "$1"
        done
        ;;
    esac
    for standard in c++11 c++14 c++17 c++20; do
      check "$compiler" c++ "$standard" "$1"
    done
  done
}

[ $# -gt 0 ] || { echo "no headers given" && exit 1; }
for header in "$@"; do check_header "$header"; done
exit "$failed"
