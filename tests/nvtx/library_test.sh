#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What kind of library the injection is: library_test.sh LIBPPROF_NVTX.SO
# GOLDEN. It is loaded into programs that know nothing of it, so it shows them
# two entry points and no more, never leaves, takes no thread-local memory of
# those who came before it, and brings no second copy of the SDK.
set -u
library=$1 golden=$2
passed=0
failed=0

# check NAME COMMAND...
check() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

dynamic=$(readelf -dW "$library") || exit 1
symbols=$(nm -D --defined-only "$library") || exit 1
segments=$(readelf -lW "$library") || exit 1
has() { printf '%s\n' "$dynamic" | grep -q "$1"; }
has_not() { ! has "$1"; }
only_entry_points() {
  printf '%s\n' "$symbols" | sed 's/^[^ ]* . //' | LC_ALL=C sort |
    diff "$golden" -
}
# nothing FILTER: no symbol that is defined elsewhere matches.
none_undefined() { ! nm -D --undefined-only "$library" | grep -E "$1"; }
stack_is_data() {
  printf '%s\n' "$segments" | grep 'GNU_STACK' | grep -q ' RW '
}
small() { [ "$(wc -c <"$library")" -lt 1048576 ]; }

check "exports its entry points only" only_entry_points
check "is never unloaded (-z nodelete)" has 'FLAGS_1.*NODELETE'
check "needs libpprof.so.0" has 'NEEDED.*\[libpprof\.so\.0\]'
check "has a name" has 'SONAME.*\[libpprof_nvtx\.so'
check "finds libpprof.so.0 beside itself" has 'RUNPATH.*\$ORIGIN'
check "has no RPATH" has_not '(RPATH)'
check "binds to itself (-Bsymbolic)" has 'SYMBOLIC'
check "needs no static TLS" has_not 'STATIC_TLS'
check "needs neither zlib nor libyaml" has_not 'NEEDED.*lib\(z\|yaml\)'
check "no executable stack" stack_is_data
check "prints and ends nothing" none_undefined \
  ' (__)?(v?f?printf(_chk)?|f?puts|putchar|perror|abort|(_|quick_)?exit|_Exit)@'
check "is thin" small
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
