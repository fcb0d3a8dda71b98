#!/bin/sh
# Every public header compiles alone, in each language version that a user may
# set, by each compiler that is here, with PPROF_DISABLE and without, without one
# warning: HEADER...
set -u

failed=0

# check COMPILER LANGUAGE STANDARD HEADER
check() {
  more=
  [ "$2" = c++ ] && more="-Wold-style-cast -Wzero-as-null-pointer-constant"
  modes=ENABLE
  case $3 in c11 | c++11 | c++2b) modes="ENABLE DISABLE" ;; esac
  for mode in $modes; do
    echo "#include <pprof/$(basename "$4")>" |
      "$1" -x "$2" "-std=$3" -Wall -Wextra -Wcast-align $more -pedantic \
        -Werror -fsyntax-only "-DPPROF_$mode" \
        -I sdk/include -I exporters/include -I config/include - && continue
    echo "FAILED: $1 -std=$3 $4, PPROF_$mode"
    failed=1
  done
}

check_header() {
  for compiler in ${COMPILERS:-gcc clang}; do
    command -v "$compiler" >/dev/null || continue
    case $1 in
      *.h)
        for standard in c11 c17; do
          check "$compiler" c "$standard" "$1"
        done
        ;;
    esac
    for standard in c++11 c++14 c++17 c++20 c++2b; do
      check "$compiler" c++ "$standard" "$1"
    done
  done
}

[ $# -gt 0 ] || { echo "no headers given" && exit 1; }
for header in "$@"; do check_header "$header"; done
exit "$failed"
