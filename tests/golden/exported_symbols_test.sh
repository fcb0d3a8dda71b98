#!/bin/sh
# The shared library exports exactly the public interface: LIBRARY GOLDEN.
# Adding a call means adding its line; a line never goes.
set -eu
export LC_ALL=C
nm -D --defined-only --extern-only "$1" | awk '{print $3}' | sort |
  diff -u "$2" - >"$TEST_TMPDIR/diff" && exit 0
echo "exported symbols differ from $2:"
cat "$TEST_TMPDIR/diff"
exit 1
